"""The fixture ``clpix_regress``, in runs of pytest of their own."""

import json
from pathlib import Path

import pytest
from PIL import Image

from gpuops.device import cache

from .conftest import run_python

pytest_plugins = ("pytester",)

TESTS = """
import numpy as np
import pytest

def picture(value=100, dtype=np.uint8):
    x = np.arange(20 * 30 * 3).reshape(20, 30, 3) % 90 + value
    return x.astype(dtype)

def test_plain(clpix_regress):
    clpix_regress.check(picture())

@pytest.mark.clpix(max_error=0.02)
@pytest.mark.parametrize("k", [1, 2])
def test_noise(clpix_regress, k):
    clpix_regress.check(picture(100 + SHIFT * k), f"noise/{k}")

def test_light(clpix_regress):
    clpix_regress.check(picture(dtype=np.float32) / 50)
    clpix_regress.check(picture()[..., 0], max_error=0.5)
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.setenv("CLPIX_CACHE_DIR", str(cache.cache_folder()))  # which a home of its own does not have
    pytester.makepyfile(test_it=TESTS.replace("SHIFT", "0"))
    return pytester


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.*"))


def test_update_then_compare(project) -> None:
    project.runpytest_subprocess().assert_outcomes(failed=4)  # there are no references
    project.runpytest_subprocess("--clpix-update").assert_outcomes(passed=4)
    made = "noise/1.png noise/2.png test_it/test_light-2.png test_it/test_light.exr test_it/test_plain.png"
    assert names(project.path / "references") == made.split()
    project.runpytest_subprocess().assert_outcomes(passed=4)
    project.makepyfile(test_it=TESTS.replace("SHIFT", "4"))
    result = project.runpytest_subprocess()  # 4 levels of 255 pass, 8 do not
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["failed*noise/2.png*max 0.031*max-error allows 0.02*worst at*"])


def test_options_say_where(project) -> None:
    options = ("--clpix-references", "refs", "--clpix-results", "out")
    project.runpytest_subprocess("--clpix-update", *options).assert_outcomes(passed=4)
    assert names(project.path / "refs") == names(project.path / "out") != []


def test_xdist_hands_over_what_workers_found(project) -> None:
    pytest.importorskip("xdist")
    project.runpytest_subprocess("--clpix-update").assert_outcomes(passed=4)
    project.makeini("[pytest]\nclpix_report = report.html\n")
    project.runpytest_subprocess("-n", "2").assert_outcomes(passed=4)
    page = (project.path / "report.html").read_text("utf-8")
    for name in names(project.path / "references"):
        assert name in page


def test_files_and_wrong_pictures(pytester) -> None:
    pytester.makepyfile(
        """
        import numpy as np
        from gpuops import files

        def test_file(clpix_regress, tmp_path):
            files.write(tmp_path / "a.png", files.Picture(np.full((4, 5, 3), 9, np.uint8)))
            clpix_regress.check(tmp_path / "a.png", name="sub/mine")

        def test_shape(clpix_regress):
            clpix_regress.check(np.zeros((2, 2, 2, 2), np.uint8))

        def test_threshold(clpix_regress):
            clpix_regress.check(np.zeros((2, 2), np.uint8), max_flp=1)
        """
    )
    result = pytester.runpytest_subprocess("--clpix-update")
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(["*pixels must be (height, width*", "*did you mean 'max-flip'*"])
    assert (pytester.path / "references" / "sub" / "mine.png").is_file()


def test_the_plugin_is_cheap_to_load() -> None:
    program = (
        "import json, sys; before = set(sys.modules); import clpix.pytest_plugin;"
        "print(json.dumps(sorted({name.partition('.')[0] for name in set(sys.modules) - before})))"
    )
    text = run_python("-c", program, check=True).stdout
    assert not {"numpy", "pyopencl", "gpuops", "click", "imageio"} & set(json.loads(text))


def test_update_replaces_the_reference_that_was_compared(pytester, monkeypatch) -> None:
    """The nearest of several, or that of the platform; the others stay."""
    monkeypatch.setenv("CLPIX_CACHE_DIR", str(cache.cache_folder()))
    for name, value in {"a.png": 90, "a.png.also/x.png": 30, "b.png": 90, "@linux/b.png": 30}.items():
        path = pytester.path / "references" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (8, 8), (value,) * 3).save(path)
    pytester.makepyfile("""
        import numpy as np
        import pytest

        @pytest.mark.parametrize("name", ["a", "b"])
        def test(clpix_regress, name):
            clpix_regress.check(np.full((8, 8, 3), 33, np.uint8), name)
    """)
    pytester.runpytest_subprocess().assert_outcomes(failed=2)
    pytester.runpytest_subprocess("--clpix-update").assert_outcomes(passed=2)
    pytester.runpytest_subprocess().assert_outcomes(passed=2)
    folder = pytester.path / "references"
    values = {
        name: Image.open(folder / name).getpixel((0, 0))[0] for name in names(folder) if name.endswith("png")
    }
    assert values == {"a.png": 90, "a.png.also/x.png": 33, "b.png": 90, "@linux/b.png": 33}
