"""Blurs and convolutions of pictures that wrap around, by rows: the same as numpy's and scipy's, and as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import ndimage

from gpuops import files
from gpuops.files import Picture
from gpuops.image import Image, Part
from gpuops.rows import edges
from gpuops.rows.window import PIXELS, PLANES

from .choices import thinned
from .conftest import Run

Array = npt.NDArray[Any]

KERNEL = np.outer([1, 2, 0, 5], [3, 1, 1]).astype(np.float32)
# Steps, and what scipy makes of a plane.
WAYS: dict[tuple[str, ...], Callable[[Array], Array]] = {
    ("blur", "--sigma", "2", "--truncate", "3"): lambda x: ndimage.gaussian_filter(
        x, 2, mode="wrap", truncate=3
    ),
    ("blur", "--sigma", "9"): lambda x: ndimage.gaussian_filter(x, 9, mode="wrap", truncate=8),
    ("blur", "--sigma-x", "2", "--sigma-y", "70"): lambda x: ndimage.gaussian_filter(
        x, (70, 2), mode="wrap", truncate=8
    ),
    ("blur", "--sigma-x", "30", "--sigma-y", "1"): lambda x: ndimage.gaussian_filter(
        x, (1, 30), mode="wrap", truncate=8
    ),
    ("blur", "--kind", "box", "--radius", "12"): lambda x: ndimage.uniform_filter(x, 25, mode="wrap"),
    ("blur", "--kind", "median", "--radius", "2"): lambda x: ndimage.median_filter(x, 5, mode="wrap"),
    ("blur", "--kind", "motion", "--length", "7", "--angle", "90"): lambda x: ndimage.uniform_filter1d(
        x, 7, axis=0, mode="wrap"
    ),
    ("convolve", "--kernel", "k.exr"): lambda x: ndimage.convolve(x, KERNEL / KERNEL.sum(), mode="wrap"),
}
# The values that differ: codes, and shares of the largest value. A coarse grid is within 5e-5 of a Gaussian's peak.
TOLERANCE = {"uint8": 1.0, "uint16": 12.0, "float16": 1e-3, "float32": 2e-4}


@pytest.fixture
def by_rows(clpix: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Run]:
    """Runs a command by rows, in small blocks, and makes sure that it is done so."""

    def run(*command: object, times: int = 1) -> Run:
        found: list[edges.Edges] = []
        with monkeypatch.context() as patch:
            patch.setattr("gpuops.batch.room.is_too_large", lambda *_: True)
            patch.setattr("gpuops.rows.schedule._ENOUGH", 1 << 12)
            patch.setattr("gpuops.rows.schedule._PER_HALO", 0.3)
            known = edges.Edges.known
            patch.setattr(
                edges.Edges, "known", lambda self, *given: found.append(self) or known(self, *given)
            )
            done = clpix(*command)
        assert done.code == 0, done.err
        assert len(found) == times
        return done

    return run


def samples(shape: tuple[int, int, int], dtype: str) -> Array:
    """All codes, or light."""
    rng = np.random.default_rng(sum(shape))
    if np.dtype(dtype).kind == "u":
        return rng.integers(0, np.iinfo(dtype).max + 1, shape).astype(dtype)
    return rng.gamma(0.5, 1, shape).astype(dtype)


def saved(path: Path, pixels: Array) -> Path:
    light = pixels.dtype.kind == "f"
    files.write(path, Picture(pixels, alpha=pixels.shape[2] in (2, 4), linear=light), overwrite=True)
    return path


FILES = [
    ("png", "uint8", (101, 29, 3)), ("tif", "float32", (1, 17, 1)), ("exr", "float16", (41, 23, 3)),
    ("png", "uint16", (37, 40, 3)), ("exr", "float32", (67, 29, 1)), ("tif", "uint8", (53, 31, 1)),
    ("tif", "float32", (5, 33, 3)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("way", "file"),
    thinned([(way, FILES[(k + n) % 7]) for n, way in enumerate(WAYS) for k in (0, 3)], 4, arguments=2),
    ids=str,
)
def test_is_scipys(by_rows, tmp_path, monkeypatch, way, file) -> None:
    """In double precision; also of pictures that are lower than what a pixel depends on, several times."""
    monkeypatch.chdir(tmp_path)
    files.write("k.exr", Picture(KERNEL[..., None], linear=True))
    suffix, dtype, shape = file
    pixels = samples(shape, dtype)
    path, out = saved(tmp_path / f"a.{suffix}", pixels), f"out.{suffix}"
    by_rows(way[0], path, *way[1:], "--border", "wrap", "--space", "encoded", "-o", out)
    found = files.read(out).pixels
    expected = np.stack([WAYS[way](plane) for plane in np.moveaxis(pixels.astype(float), 2, 0)], 2)
    assert found.shape == shape and found.dtype == dtype
    unit = 1.0 if found.dtype.kind == "u" else expected.max()
    assert np.abs(found - expected).max() <= TOLERANCE[dtype] * unit


def test_what_is_not_finite_goes_around(clpix, by_rows, tmp_path, monkeypatch) -> None:
    """It has an effect beyond the other edge, and is counted once."""
    monkeypatch.chdir(tmp_path)
    pixels = samples((60, 21, 3), "float32")
    pixels[1, 3, 0], pixels[58, 15, 2] = np.nan, np.inf
    saved(Path("a.exr"), pixels)
    command = "blur", "a.exr", "--sigma", "2", "--border", "wrap", "-o"
    whole, rows = clpix(*command, "whole.exr"), by_rows(*command, "rows.exr")
    assert whole.code == 0 and rows.err == whole.err and rows.err.count("2 values are NaN or infinite") == 1
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
