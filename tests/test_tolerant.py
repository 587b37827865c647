"""The densest window, and pixels without a like within a radius, against numpy."""

from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from gpuops import Gpu, ParameterError
from gpuops.metrics.tolerant import WorstWindow, densest_window, within_radius

# One pixel; less than a vector of eight columns; runs of 64 ± 1; primes.
SHAPES = [(1, 1), (1, 9), (7, 1), (5, 7), (64, 8), (65, 63), (131, 97), (40, 257)]


def densest(mask: np.ndarray, n: int) -> WorstWindow:
    n = min(n, *mask.shape)
    counts = sliding_window_view(mask & 1, (n, n)).sum((2, 3), dtype=int)
    row, column = np.unravel_index(counts.argmax(), counts.shape)
    return WorstWindow(int(counts.max()), int(row), int(column), n)


def lonely(a: np.ndarray, b: np.ndarray, radius: int, tolerance: float) -> np.ndarray:
    """Pixels of (channels, rows, columns) ``a`` that have no like in ``b``."""
    _, height, width = a.shape
    found = np.zeros((height, width), bool)
    for dy in range(-radius, radius + 1):
        for dx in range(-radius, radius + 1):
            here = slice(max(0, -dy), min(height, height - dy)), slice(max(0, -dx), min(width, width - dx))
            there = slice(max(0, dy), min(height, height + dy)), slice(max(0, dx), min(width, width + dx))
            p, q = a[(slice(None), *here)], b[(slice(None), *there)]
            with np.errstate(invalid="ignore"):
                error = np.abs(p - q)
            error = np.where(
                (p == q) | (np.isnan(p) & np.isnan(q)), 0, np.where(np.isnan(error), np.inf, error)
            )
            found[here] |= (error <= np.float32(tolerance)).all(0)
    return ~found


def check_window(gpu: Gpu, rng: np.random.Generator, shape: tuple[int, int]) -> None:
    """Asserts that windows of several sizes are those of the reference."""
    for share in (0.0, 0.03, 0.5, 1.0):
        mask = (rng.random(shape) < share) * rng.choice(np.array([1, 2, 255], np.uint8), shape)
        for n in (1, 2, 7, 30, 1000):
            assert densest_window(gpu, mask, n) == densest(mask, n)


def check_radius(gpu: Gpu, rng: np.random.Generator, shape: tuple[int, int, int]) -> None:
    """Asserts that pixels without a like are those of the reference."""
    a = rng.integers(0, 6, shape).astype(np.float32)
    b = np.roll(a, 1, 2)
    b[:, ::3, ::2] += rng.integers(-2, 3, b[:, ::3, ::2].shape)
    a[0, -1, -1], b[-1, 0, 0] = np.nan, np.inf
    for radius, tolerance in ((0, 0.0), (1, 0.5), (2, 1.0), (3, 0.0)):
        for both in (False, True):
            expected = lonely(a, b, radius, tolerance)
            if both:
                expected |= lonely(b, a, radius, tolerance)
            options: dict[str, Any] = {"radius": radius, "tolerance": tolerance, "both": both}
            count, mask = within_radius(gpu, a, b, full=True, **options)
            np.testing.assert_array_equal(mask.numpy(), expected)
            assert count == expected.sum() == within_radius(gpu, a, b, **options)
            some = slice(shape[1] // 3, shape[1])
            count, mask = within_radius(gpu, a, b, rows=some, full=True, **options)
            np.testing.assert_array_equal(mask.numpy(), expected[some])
            assert count == expected[some].sum()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_densest_window(gpu, rng, shape) -> None:
    check_window(gpu, rng, shape)


def test_first_of_equal_windows(gpu) -> None:
    mask = np.zeros((200, 300), bool)
    mask[150, 20] = mask[70, 290] = mask[70, 100] = True
    assert densest_window(gpu, mask, 5) == WorstWindow(1, 66, 96, 5)
    assert densest_window(gpu, np.zeros_like(mask), 5) == WorstWindow(0, 0, 0, 5)
    mask[150, 22] = True
    assert densest_window(gpu, mask, 5) == WorstWindow(2, 146, 18, 5)


@pytest.mark.parametrize("shape", SHAPES[:6], ids=str)
def test_within_radius(gpu, rng, shape) -> None:
    for channels in (1, 3):
        check_radius(gpu, rng, (channels, *shape))


def test_a_new_dot_counts_unless_one_picture_is_sought(gpu) -> None:
    a = np.zeros((9, 9), np.float32)
    b = a.copy()
    b[4, 4] = 1
    assert within_radius(gpu, a, b, radius=1, tolerance=0.1) == 1
    assert within_radius(gpu, a, b, radius=1, tolerance=0.1, both=False) == 0
    assert within_radius(gpu, b, a, radius=1, tolerance=0.1, both=False) == 1
    assert within_radius(gpu, np.roll(b, 1, 0), b, radius=1, tolerance=0.1) == 0
    # A radius beyond the picture is the whole of it.
    assert within_radius(gpu, np.roll(b, 4, 0), b, radius=2**31 - 1, tolerance=0.1) == 0


def test_what_is_not_finite_is_like_itself_only(gpu) -> None:
    a = np.zeros((1, 8), np.float32)
    for wrong in (np.nan, np.inf, -np.inf):
        b = a.copy()
        b[0, 3] = wrong
        assert within_radius(gpu, a, b, radius=2, tolerance=1e30) == 1
        assert within_radius(gpu, b, b.copy(), radius=0, tolerance=0.0) == 0
        assert within_radius(gpu, np.roll(b, 1), b, radius=1, tolerance=0.0) == 0


def test_bad_input(gpu) -> None:
    for mask, n, message in (
        (np.zeros((2, 3), np.float32), 2, "a mask"),
        (np.zeros((1, 2, 3), np.uint8), 2, "a mask"),
        (np.zeros((2, 3), np.uint8), 0, "a window of 1"),
    ):
        with pytest.raises(ParameterError, match=message):
            densest_window(gpu, mask, n)
    for radius, tolerance, message in ((-1, 0, "radius"), (1, -1, "tolerance"), (1, np.nan, "tol")):
        with pytest.raises(ParameterError, match=message):
            within_radius(gpu, np.zeros((2, 3)), np.zeros((2, 3)), radius=radius, tolerance=tolerance)
