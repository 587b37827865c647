"""The installed package works outside of the tree."""

from pathlib import Path

import pytest

from .conftest import beside, run_python

ROOT = Path(__file__).parent.parent


def files_in(folder: Path) -> set[str]:
    """The files below a folder, but for what Python makes of them."""
    return {
        file.relative_to(folder).as_posix()
        for file in folder.rglob("*")
        if file.is_file() and file.suffix != ".pyc"
    }


@pytest.mark.exhaustive
def test_the_installed_program_runs_outside_the_tree(tmp_path) -> None:
    target = tmp_path / "site"
    done = run_python(
        *["-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--target"], target, ROOT
    )
    assert done.returncode == 0, done.stderr
    assert not (target / "cli").exists() and not (target / "tests").exists()
    for source, installed in (("cli", "clpix"), ("gpuops", "gpuops"), ("clkernels", "clkernels")):
        assert not files_in(ROOT / source) - files_in(target / installed), "pyproject.toml leaves out files"

    def run(*args: str) -> str:
        done = run_python(*args, cwd=tmp_path, env=beside(target))
        assert done.returncode == 0, done.stderr
        return done.stdout

    places = run(
        "-c", "import clpix, gpuops, clkernels; print(clpix.__file__, gpuops.__file__, clkernels.__file__)"
    )
    assert all(place.startswith(str(target)) for place in places.split())
    assert (target / "gpuops" / "py.typed").exists()
    run(
        "-c",
        "from gpuops.regress.html import write_page; from gpuops.regress.outcome import Run\n"
        "from gpuops.regress.outcome import from_json, to_json; write_page('x.html', from_json(to_json(Run([]))))",
    )
    image = str(ROOT / "samples" / "sunset.exr")
    run("-m", "clpix", "bloom", image, "--tonemap", "agx", "-o", "out.png", "--timing")
    assert (tmp_path / "out.png").stat().st_size > 100_000
