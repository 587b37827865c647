"""Tests what survives in each file format: docs/formats.md says what its script finds, and sizes are any."""

import runpy
from itertools import zip_longest
from pathlib import Path

import numpy as np
import pytest

from gpuops.files import Picture, read, write
from gpuops.params.storage import GAIN_MAP

from .choices import needs, of_formats, some

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
    if fmt.name in ("JPEG 2000", GAIN_MAP):
        pytest.skip("its encoder needs 32 or 8 pixels each way")
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
    assert fmt.name in SCRIPT["LOSSY"] or np.array_equal(back, values)
