"""Tests what survives in each file format: docs/formats.md says what its script finds, and sizes are any."""

import runpy
from itertools import zip_longest
from pathlib import Path
from pkgutil import iter_modules

import numpy as np
import pytest

from gpuops.files import Picture, format_of, formats, read, write
from gpuops.files.formats import every

from .choices import needs, of_formats, some
from .conftest import run_python

SCRIPT = runpy.run_path(str(Path(__file__).parents[1] / "docs" / "formats.py"))


@needs("pillow_heif", "formats")
def test_documented_tables_are_true(tmp_path) -> None:
    document = SCRIPT["DOCUMENT"].read_text(encoding="utf-8")
    documented = document.partition(SCRIPT["BEGIN"])[2].partition(SCRIPT["END"])[0].strip()
    lines = zip_longest(documented.splitlines(), SCRIPT["tables"](tmp_path).splitlines())
    wrong = [line for line, true in lines if line != true]
    assert not wrong[:3], "run: python docs/formats.py"


@some(fmt=of_formats(SCRIPT["WRITTEN"]), size=[(1, 1), (1, 7), (7, 1), (3, 2000)])
def test_extreme_sizes(fmt, size, tmp_path, rng) -> None:
    if min(size) < fmt.least:
        pytest.skip("its encoder needs some pixels each way")
    dtype = fmt.dtypes[-1]
    values = (
        rng.random((*size, 3)) * (65535 if dtype == "uint16" else 255 if dtype == "uint8" else 1)
    ).astype(dtype)
    if fmt.name == "GIF":
        values &= 0xC0  # few colours
    path = tmp_path / f"p{fmt.extension}"
    write(path, Picture(values))
    back = read(path).pixels
    assert back.shape == values.shape
    assert fmt.lossy or np.array_equal(back, values)


@needs("pillow_heif", "formats")
def test_a_file_is_of_one_format(tmp_path) -> None:
    """Whatever its name is, so that it does not matter in which order formats are asked."""
    for fmt in SCRIPT["WRITTEN"]:
        path = tmp_path / f"picture{fmt.extension}"
        SCRIPT["save"](
            path, Picture(np.zeros((40, 40, 3), fmt.dtypes[0]), linear=fmt.dtypes[0][0] == "f"), fmt
        )
        head = path.read_bytes()[:64]
        assert [str(other) for other in every() if other.is_in(head, str(path))] == [format_of(path).name]


def test_a_format_is_named_as_its_usual_extension() -> None:
    names = {module.name for module in iter_modules(formats.__path__)} - {"record"}
    assert {fmt.extension[1:] for fmt in every()} == names
    extensions = [extension for fmt in every() for extension in fmt.extensions]
    assert len(set(extensions)) == len(extensions)


def test_only_the_formats_of_a_run_are_loaded(tmp_path) -> None:
    write(tmp_path / "a.png", Picture(SCRIPT["pixels"]("uint8", 3)))
    code = (
        "import sys, gpuops.files as files\n"
        "def show(*names): print(*sorted(name for name in sys.modules if name.startswith(names)))\n"
        "show('OpenImageIO', 'isal', 'pyopencl', 'PIL')\n"
        "files.format_of('b.qoi'); files.write(sys.argv[2], files.read(sys.argv[1]))\n"
        "show('gpuops.files.formats.', 'PIL', 'OpenImageIO', 'imageio', 'tifffile')"
    )
    lines = run_python("-c", code, tmp_path / "a.png", tmp_path / "b.png", check=True).stdout.split("\n")
    assert lines == ["", " ".join(f"gpuops.files.formats.{name}" for name in ("png", "qoi", "record")), ""]
