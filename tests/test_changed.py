"""Where two pictures differ: every pixel that does is found, and figures are the same as of whole pictures."""

from dataclasses import replace

import numpy as np
import pytest

from gpuops import Gpu, ParameterError
from gpuops.files import Picture
from gpuops.files.picture import DTYPES
from gpuops.metrics import band as module
from gpuops.metrics.band import changed
from gpuops.metrics.flip import flip
from gpuops.metrics.flip_tiles import BLOCK
from gpuops.metrics.measure import Pair, measure
from gpuops.params.comparing import Comparing, MeasuredPair
from gpuops.params.thresholds import Thresholds

from .choices import some

FIGURES = ("max", "mean", "rmse", "psnr", "flip", "ssim", "de2000")
SIZES = [(1, 1), (1, 9), (40, 1), (37, 3), (19, 18), (33, 70), (64, 128)]


def two(rng: np.random.Generator, shape: tuple[int, int, int], dtype: str) -> tuple[Picture, Picture]:
    """Two pictures of which a few pixels differ, in one channel each, the first and the last among them."""
    values = rng.integers(0, 255, shape)
    a = values.astype(dtype) if dtype.startswith("u") else (values / 255).astype(dtype)
    b = a.copy()
    size = shape[0] * shape[1]
    for place in {0, size - 1, *rng.integers(0, size, size // 60)}:
        b[place // shape[1], place % shape[1], rng.integers(shape[2])] += 1
    alpha, linear = shape[2] in (2, 4), dtype == "float32"
    return Picture(a, alpha=alpha, linear=linear), Picture(b, alpha=alpha, linear=linear)


@some(size=SIZES, dtype=DTYPES)
def test_every_pixel_that_differs_is_found(rng, monkeypatch, size, dtype) -> None:
    monkeypatch.setattr(module, "_MOST", 1)
    for channels in (1, 2, 3, 4):
        a, b = two(rng, (*size, channels), dtype)
        found = changed(a, b)
        assert found is not None
        rows, columns = np.divmod(found.places, size[1])
        assert (np.diff(found.places) > 0).all()
        for picture, part in zip((a, b), found.pictures, strict=True):
            np.testing.assert_array_equal(part.pixels[0], picture.pixels[rows, columns])
        differ = (a.pixels != b.pixels).any(axis=2)
        assert differ[rows, columns].sum() == differ.sum()
        assert found.blocks.shape == (-(-size[0] // BLOCK), -(-size[1] // BLOCK))
        assert all(found.blocks[y // BLOCK, x // BLOCK] for y, x in np.argwhere(differ))


def test_pictures_of_two_kinds_are_not_taken_apart(rng) -> None:
    a, b = two(rng, (40, 50, 3), "uint8")
    assert changed(a, b) is not None and changed(a, Picture(b.pixels.astype(np.uint16))) is None
    assert changed(a, replace(b, linear=True)) is None
    assert changed(a, Picture(np.dstack([b.pixels, b.pixels[..., :1]]), alpha=True)) is None
    assert changed(a, Picture(255 - b.pixels)) is None  # differs everywhere


def both_ways(
    gpu: Gpu, monkeypatch: pytest.MonkeyPatch, a: Picture, b: Picture, how: Comparing, thresholds: Thresholds
) -> tuple[MeasuredPair, MeasuredPair]:
    """Measures two pictures where they differ, and as a whole."""
    apart = Pair.of(gpu, b, a, how)
    assert next(apart.bands(())).changed is not None
    found = measure(apart, thresholds)
    with monkeypatch.context() as patch:
        patch.setattr("gpuops.metrics.band.changed", lambda *_: None)
        return found, measure(Pair.of(gpu, b, a, how), thresholds)


@some(dtype=DTYPES, channels=[1, 3, 4])
def test_figures_are_those_of_whole_pictures(gpu, rng, monkeypatch, dtype, channels) -> None:
    a, b = two(rng, (83, 101, channels), dtype)
    thresholds = Thresholds(fail=0.5 / 255)
    for how in (
        Comparing(metrics=FIGURES),
        Comparing(metrics=FIGURES, alpha=False),
        Comparing(metrics=FIGURES, space="linear"),
        Comparing(metrics=FIGURES, ignore=((0, 0, 30, 40), (90, 80, 11, 3))),
    ):
        apart, whole = both_ways(gpu, monkeypatch, a, b, how, thresholds)
        for metric, value in whole.figures.items():
            assert apart.figures[metric] == pytest.approx(value, rel=1e-6), metric
        assert replace(apart, figures={}) == replace(whole, figures={})
        if dtype.startswith("u") and how.space == "auto":  # sums of levels are exact
            for metric in ("max", "mean", "rmse", "psnr"):
                assert apart.figures[metric] == whole.figures[metric], metric


def test_values_that_are_not_finite(gpu, rng, monkeypatch) -> None:
    a, b = two(rng, (60, 70, 3), "float32")
    a.pixels[5, 5], b.pixels[5, 5] = np.nan, -np.float32(np.nan)  # equal, though their bits are not
    a.pixels[6, 6], b.pixels[6, 6] = 0.0, -0.0
    how = Comparing(metrics=("max", "mean", "rmse", "psnr", "flip"))
    apart, whole = both_ways(gpu, monkeypatch, a, b, how, Thresholds())
    assert apart.figures == pytest.approx(whole.figures, rel=1e-6)
    assert apart.differing == whole.differing == (a.pixels != b.pixels).sum() - 3
    b.pixels[50, 60, 1] = np.nan
    apart, whole = both_ways(gpu, monkeypatch, a, b, how, Thresholds())
    assert apart.figures == pytest.approx(whole.figures, nan_ok=True)
    assert (apart.bad, apart.missed, str(apart.worst)) == (whole.bad, whole.missed, str(whole.worst))
    assert apart.worst is not None and (apart.worst.x, apart.worst.y) == (60, 50)


def check_flip_of_blocks(gpu: Gpu, rng: np.random.Generator, shape: tuple[int, int], ppd: float) -> None:
    """Asserts that FLIP is the same if it is told which blocks differ."""
    a = rng.random((3, *shape), np.float32)
    b = a.copy()
    b[1, shape[0] // 2, shape[1] // 3] += 0.5
    blocks = np.zeros((-(-shape[0] // BLOCK), -(-shape[1] // BLOCK)), bool)
    blocks[shape[0] // 2 // BLOCK, shape[1] // 3 // BLOCK] = True
    expected, map_ = flip(gpu, a, b, ppd=ppd, full=True)
    found, told = flip(gpu, a, b, ppd=ppd, blocks=blocks, full=True)
    assert found == expected and expected.maximum > 0
    np.testing.assert_array_equal(told.numpy(), map_.numpy())
    assert flip(gpu, a, b, ppd=ppd, blocks=np.zeros_like(blocks)).maximum == 0


@pytest.mark.parametrize("ppd", [3.0, 67.0])
def test_flip_may_be_told_where_pictures_differ(gpu, rng, ppd) -> None:
    check_flip_of_blocks(gpu, rng, (150, 203), ppd)
    with pytest.raises(ParameterError, match=r"\(1, 2\) blocks of 16 × 16 pixels are needed"):
        flip(gpu, np.zeros((3, 9, 20)), np.zeros((3, 9, 20)), blocks=np.zeros((2, 2), bool))
