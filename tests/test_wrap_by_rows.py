"""Pictures that wrap around, by rows: what is beyond an end is the other one.

That results are those of the whole, which are scipy's, is seen by tests/test_streaming.py.
"""

from collections.abc import Iterator

import numpy as np
import pytest

from gpuops import files
from gpuops.files import Picture
from gpuops.image import Image, Part
from gpuops.tiles import edges
from gpuops.tiles.window import PIXELS, PLANES

from .conftest import in_blocks


def test_what_is_not_finite_goes_around(clpix, tmp_path, monkeypatch, rng) -> None:
    """It has an effect beyond the other edge, and is counted once."""
    monkeypatch.chdir(tmp_path)
    pixels = rng.random((60, 21, 3), np.float32)
    pixels[1, 3, 0], pixels[58, 15, 2] = np.nan, np.inf
    files.write("a.exr", Picture(pixels, linear=True))
    command = "blur", "a.exr", "--sigma", "2", "--border", "wrap", "-o"
    whole = clpix(*command, "whole.exr")
    in_blocks(monkeypatch, per_halo=0.3)
    rows = clpix(*command, "rows.exr")
    assert (
        whole.code == rows.code == 0
        and rows.err == whole.err
        and rows.err.count("2 values are NaN or infinite") == 1
    )
    found = [files.read(name).pixels for name in ("whole.exr", "rows.exr")]
    np.testing.assert_array_equal(*found)
    assert np.isnan(found[1][-1, 3, 0]) and not np.isfinite(found[1][0, 15, 2])


@pytest.mark.parametrize("row_axis", [PLANES, PIXELS])
@pytest.mark.parametrize(("height", "halo"), [(1, 7), (5, 5), (9, 4), (13, 40)])
def test_rows_beyond_the_ends_are_numpys(gpu, height, halo, row_axis) -> None:
    rng = np.random.default_rng(height)
    shape = (2, height, 3) if row_axis == PLANES else (height, 3, 2)
    values = rng.integers(0, 256, shape).astype(np.float32 if row_axis == PLANES else np.uint8)

    def blocks(wanted: tuple[int, int], rows: int) -> Iterator[Image]:
        for first in range(wanted[0], wanted[1], rows):
            at = slice(first, min(first + rows, wanted[1]))
            image = gpu.array(np.ascontiguousarray(values[:, at] if row_axis == PLANES else values[at]))
            image.part = Part(first, height)
            yield image

    widths = [(halo, halo) if axis == row_axis else (0, 0) for axis in range(3)]
    expected = np.pad(values, widths, "wrap")
    for rows in (1, 3, height):
        beyond = edges.Edges(height, halo, row_axis)
        for part in beyond.parts:
            beyond.fill(blocks(part, rows))
        found = list(beyond.around(blocks((0, height), rows)))
        np.testing.assert_array_equal(np.concatenate([image.numpy() for image in found], row_axis), expected)
        firsts = np.cumsum([-halo, *(image.shape[row_axis] for image in found)])[:-1]
        assert [image.part for image in found] == [Part(first, height) for first in firsts]
