"""Counts of differences against numpy in float64, and against OpenImageIO's own comparison."""

import dataclasses
import math
from typing import Any

import numpy as np
import OpenImageIO as oiio
import pytest

from gpuops import Gpu, ParameterError
from gpuops.metrics.counts import Counts, Threshold, counts

from .reference.metrics_counts import figures
from .tolerance import COMPARE

SHAPES = [(1, 1, 1), (3, 1, 7), (1, 5, 1), (4, 17, 31), (3, 8, 64), (2, 101, 97), (5, 13, 9)]
THRESHOLDS = (Threshold(0.02), Threshold(0.1), Threshold(0.05, 0.3), Threshold(0.0, 0.9))


def pair(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Two pictures of which half of the values differ, by errors of all sizes."""
    a = rng.gamma(0.6, 0.5, shape) - 0.05
    b = a + rng.normal(0, 0.1, shape) * rng.random(shape) * (rng.random(shape) < 0.5)
    return a.astype(np.float32), b.astype(np.float32)


def spoiled(rng: np.random.Generator, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same with a tenth of their pixels NaN and infinite, alike, in one of them, and unlike."""
    wrong = np.array([np.nan, np.inf, -np.inf], np.float32)
    a, b = a.copy(), b.copy()
    for x in (a, b):
        at = rng.random(a.shape) < 0.03
        x[at] = rng.choice(wrong, at.sum())
    at = rng.random(a.shape) < 0.03
    a[at] = b[at] = rng.choice(wrong, at.sum())
    return a, b


def assert_are(got: Counts, expected: dict[str, Any]) -> None:
    found = {name: getattr(got, name) for name in expected}
    for name in ("mean", "rms", "finite_mean", "finite_rms"):
        assert found.pop(name) == pytest.approx(expected.pop(name), rel=COMPARE["mse"]), name
    worst = found.pop("worst")
    if expected["differing"]:
        np.testing.assert_array_equal(dataclasses.astuple(worst), expected.pop("worst"))
    else:
        assert worst is None
        del expected["worst"]
    assert found == expected


def check(gpu: Gpu, rng: np.random.Generator, shape: tuple[int, ...]) -> None:
    """Asserts that all figures are the reference's, with and without masks and values that are not finite."""
    for a, b in ((first := pair(rng, shape)), spoiled(rng, *first), (first[0], first[0].copy())):
        assert_are(counts(gpu, a, b, THRESHOLDS), figures(a, b, THRESHOLDS))
        mask = rng.integers(0, 3, shape[1:]).astype(np.uint8)
        assert_are(counts(gpu, a, b, THRESHOLDS, mask=mask), figures(a, b, THRESHOLDS, mask))


@pytest.mark.cases(1)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_figures(gpu, rng, shape) -> None:
    check(gpu, rng, shape)


def test_ignored_rectangles_and_masks(gpu, rng) -> None:
    a, b = pair(rng, (3, 21, 30))
    shown = np.ones((21, 30), np.uint8)
    shown[2:9, 3:30] = shown[20:21, 0:1] = 0
    ignored = [(3, 2, 30, 9), (0, 20, 1, 21)]
    assert_are(counts(gpu, a, b, THRESHOLDS, ignored=ignored), figures(a, b, THRESHOLDS, shown))
    mask = rng.random((21, 30)) < 0.5
    both = figures(a, b, THRESHOLDS, shown * mask)
    for one in (mask, mask.astype(np.uint8) * 200, gpu.array(mask.astype(np.uint8))):
        assert_are(counts(gpu, a, b, THRESHOLDS, mask=one, ignored=ignored), dict(both))
    nothing = counts(gpu, a, b, THRESHOLDS, ignored=[(0, 0, 30, 21)])
    assert (nothing.pixels, nothing.max, nothing.mean, nothing.worst) == (0, 0, 0, None)


def test_the_worst_is_the_first_in_reading_order(gpu) -> None:
    a = np.zeros((3, 300, 200), np.float32)
    b = a.copy()
    b[0, 250, 7] = b[2, 30, 190] = b[1, 30, 190] = b[0, 30, 191] = 0.5
    worst = counts(gpu, a, b).worst
    assert worst is not None and dataclasses.astuple(worst) == (30, 190, 1, 0.0, 0.5)
    b[2, 299, 199] = np.nan
    worst = counts(gpu, a, b).worst
    assert worst is not None and (worst.row, worst.column, worst.channel) == (299, 199, 2)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_never_passes(gpu, wrong) -> None:
    a = np.full((3, 9, 9), 0.5, np.float32)
    b = a.copy()
    b[1, 4, 4] = wrong
    for pictures in ((a, b), (b, a)):
        got = counts(gpu, *pictures, [Threshold(1e30), Threshold(math.inf, math.inf)])
        assert got.bad == (1, 1) and (got.max, got.mean, got.rms) == (math.inf, math.inf, math.inf)
        assert got.as_idiff() == ((0, 0), math.inf)  # by its first value that is not finite idiff is fooled
    assert counts(gpu, b, b.copy(), [Threshold(0)]).bad == (0,)


@pytest.mark.parametrize("size", [1e-30, 1e-20, 1e18, 1e25, 3e38])
def test_errors_whose_squares_float32_does_not_hold(gpu, rng, size) -> None:
    a = (rng.normal(0, 0.3, (2, 33, 41)).clip(-1, 1) * size).astype(np.float32)
    b = (rng.normal(0, 0.3, (2, 33, 41)).clip(-1, 1) * size).astype(np.float32)
    if size == 3e38:
        a[0, 0, 0], b[0, 0, 0] = size, -size  # their difference overflows
    got = counts(gpu, a, b, [Threshold(size / 2)])
    expected = figures(a, b, [Threshold(size / 2)])
    assert (got.bad, got.max) == (expected["bad"], expected["max"])
    assert got.mean == pytest.approx(expected["mean"], rel=1e-6)
    assert got.rms == pytest.approx(expected["rms"], rel=1e-6)


def test_every_run_gives_the_same(gpu, rng) -> None:
    a, b = (gpu.array(x) for x in pair(rng, (3, 211, 307)))
    assert len({counts(gpu, a, b, THRESHOLDS) for _ in range(5)}) == 1


@pytest.mark.parametrize("fail", [(0.05, 0.0), (0.02, 0.25), (0.0, 0.0)])
@pytest.mark.parametrize("odd", [False, True])
def test_counts_are_those_of_openimageio(gpu, rng, fail, odd) -> None:
    a, b = pair(rng, (3, 61, 47))
    if odd:
        a[0, 7, 8], b[0, 30, 2], b[1, 40, 40] = np.nan, np.inf, -np.inf
        a[1, 3, 3], b[1, 3, 3] = np.inf, -np.inf
    one, other = (oiio.ImageBuf(np.ascontiguousarray(x.transpose(1, 2, 0))) for x in (a, b))
    theirs = oiio.ImageBufAlgo.compare(one, other, fail[0], 0.1, fail[1], 0.0)
    ours = counts(gpu, a, b, [Threshold(*fail), Threshold(0.1)])
    bad, largest = ours.as_idiff()
    for mine, its in zip(bad, (theirs.nfail, theirs.nwarn), strict=True):
        assert 0 <= mine - its <= (1 if odd else 0)
    assert largest == pytest.approx(theirs.maxerror)
    assert all(n >= idiffs + odd for n, idiffs in zip(ours.bad, bad, strict=True))
    if not odd:
        assert ours.worst is not None
        assert (ours.worst.row, ours.worst.column, ours.worst.channel) == (
            theirs.maxy,
            theirs.maxx,
            theirs.maxc,
        )
        assert (ours.mean, ours.rms) == pytest.approx((theirs.meanerror, theirs.rms_error), rel=1e-6)


@pytest.mark.parametrize(("options", "message"), [
    ({"thresholds": [Threshold(0.1)] * 5}, "4 thresholds at most"),
    ({"mask": np.zeros((4, 4), np.uint8)}, "a mask"),
    ({"mask": np.zeros((4, 5), np.float32)}, "a mask"),
    ({"ignored": [(0, 0, 6, 4)]}, "the rectangle"),
    ({"ignored": [(2, 2, 2, 4)]}, "the rectangle"),
])  # fmt: skip
def test_bad_input(gpu, options, message) -> None:
    with pytest.raises(ParameterError, match=message):
        counts(gpu, np.zeros((3, 4, 5)), np.zeros((3, 4, 5)), **options)


def test_bad_pictures_and_thresholds(gpu) -> None:
    with pytest.raises(ParameterError, match="shapes differ"):
        counts(gpu, np.zeros((3, 4, 5)), np.zeros((3, 5, 4)))
    for numbers in ((-0.1,), (math.nan,), (0.1, -1.0), (0.1, math.nan)):
        with pytest.raises(ParameterError, match="thresholds must be"):
            Threshold(*numbers)
