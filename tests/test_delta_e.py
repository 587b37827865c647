"""ΔE 76, CIEDE2000 and ΔE ITP against their formulas in float64, published pairs of colours, and scikit-image."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpuops import Gpu, GpuopsWarning, ParameterError, notes
from gpuops.metrics.delta_e import METHODS, delta_e

from .choices import each
from .reference import metrics_delta_e as reference
from .tolerance import DELTA_E as TOLERANCE

SHAPES = [(1, 1), (1, 7), (5, 1), (17, 31), (8, 64), (101, 97)]

# Sharma, Wu and Dalal (2005), table 1: L, a, b of two colours and their CIEDE2000.
SHARMA = np.loadtxt(Path(__file__).parent / "data" / "ciede2000.csv", delimiter=",")


def light(
    rng: np.random.Generator, shape: tuple[int, ...], noise: float = 0.05
) -> tuple[np.ndarray, np.ndarray]:
    """Two pictures that differ, with dark, bright and negative light in them."""
    a = rng.gamma(0.4, 0.5, shape) - 0.01
    b = a * rng.normal(1, noise, shape)
    return a.astype(np.float32), b.astype(np.float32)


@notes.silence()
def check(gpu: Gpu, a: np.ndarray, b: np.ndarray, method: str, **options: Any) -> None:
    """Asserts that all figures and the map are those of the reference."""
    expected = reference.of_light(method, a, b, **options)
    threshold = float(np.median(expected)) + 1e-3  # no pixel is within the tolerance of it, as a rule
    sure = np.abs(expected - threshold) > 10 * TOLERANCE[method]
    figures, differences = delta_e(gpu, a, b, method=method, threshold=threshold, full=True, **options)
    got = differences.numpy()
    np.testing.assert_allclose(got[0], expected, rtol=TOLERANCE["relative"], atol=TOLERANCE[method])
    assert figures.mean == pytest.approx(got.astype(np.float64).mean(), rel=1e-9) and figures.max == got.max()
    assert (figures.row, figures.column) == np.unravel_index(got[0].argmax(), got[0].shape)
    assert abs(figures.above - (expected > threshold).sum()) <= (~sure).sum() and figures.pixels == got.size
    assert delta_e(gpu, a, b, method=method, threshold=threshold, **options) == figures


def check_coordinates(gpu: Gpu, a: np.ndarray, b: np.ndarray, method: str) -> None:
    """Asserts that the differences of coordinates are those of the reference."""
    expected = reference.delta(method, a.astype(np.float64), b.astype(np.float64))
    figures, differences = delta_e(gpu, a, b, method=method, coordinates=True, full=True)
    got = differences.numpy()[0]
    np.testing.assert_allclose(got, expected, rtol=TOLERANCE["relative"], atol=TOLERANCE[method])
    assert figures.max == got.max()


@each(method=METHODS, shape=SHAPES, planes=[1, 3])
def test_differences_of_light(gpu, rng, method, shape, planes) -> None:
    a, b = light(rng, (planes, *shape))
    check(gpu, a, b, method)


def test_white_of_itp(gpu, rng) -> None:
    check(gpu, *light(rng, (3, 9, 11)), "itp", white=100.0)


@pytest.mark.parametrize("swapped", [False, True])
def test_published_pairs_of_ciede2000(gpu, swapped) -> None:
    p, q = np.moveaxis(SHARMA[:, :6].reshape(34, 2, 3), 1, 0)
    a, b = (v.T[:, np.newaxis].astype(np.float32) for v in ((q, p) if swapped else (p, q)))
    _, differences = delta_e(gpu, a, b, method="2000", coordinates=True, full=True)
    np.testing.assert_allclose(differences.numpy().ravel(), SHARMA[:, 6], rtol=0, atol=5e-5 + 1e-5)


def test_published_pairs_of_itp(gpu) -> None:
    # colour-science's tests of delta_E_ITP
    a = np.array([(0.4885468072, -0.04739350675, 0.07475401302), (0.5965650331, -0.2083210482, 0.3699729716)])
    b = np.array([(0.4899203231, -0.04567508203, 0.07361341775), (0.596263079, -0.1629742033, 0.3617767026)])
    _, differences = delta_e(
        gpu, a.T[:, np.newaxis], b.T[:, np.newaxis], method="itp", coordinates=True, full=True
    )
    np.testing.assert_allclose(differences.numpy().ravel(), [1.426572247, 17.36012552], atol=1e-4)


@each(one__other__expected=[(100, 101, 0.71927), (203, 204, 0.36985), (0, 0.005, 10.85)])
def test_grays_of_itp(gpu, one, other, expected) -> None:
    a, b = (np.full((1, 2, 3), nits / 203, np.float32) for nits in (one, other))
    got = delta_e(gpu, a, b, method="itp")
    assert got.max == pytest.approx(expected, abs=TOLERANCE["itp"] + 5e-3 * (expected > 10))
    assert got.above == (6 if expected > 1 else 0)


def test_itp_is_of_displayed_light(gpu, rng) -> None:
    """PQ is steep at 0: a signed curve would make differences of hundreds out of values that no display shows."""
    negative = rng.uniform(-0.1, -1e-6, (2, 1, 9, 11)).astype(np.float32)
    with pytest.warns(GpuopsWarning, match="^values of light that count as 0 for ΔE ITP.*: 198 negative"):
        assert delta_e(gpu, *negative, method="itp").max == 0
    with pytest.warns(GpuopsWarning, match=": 1 negative$"):
        wide = np.reshape([1.6, -0.08, -0.5], (3, 1, 1)).astype(
            np.float32
        )  # green is within Rec. 2020, not blue
        black = np.zeros_like(wide)
        expected = reference.of_light("itp", black, wide)[0, 0]
        assert delta_e(gpu, black, wide, method="itp").max == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("method", METHODS)
@notes.silence()
def test_what_is_not_finite_counts(gpu, rng, method) -> None:
    a, _ = light(rng, (3, 13, 17))
    a[0, 3, 4], a[1, 5, 6], a[2, 7, 8] = np.nan, np.inf, -np.inf
    same = delta_e(gpu, a, a.copy(), method=method, threshold=0.0)
    assert (same.mean, same.max, same.above, same.row, same.column) == (0, 0, 0, 0, 0)
    for wrong in (np.nan, np.inf, -np.inf):
        b = a.copy()
        b[1, 9, 2] = wrong
        b[0, 11, 3] = wrong
        got = delta_e(gpu, a, b, method=method)
        assert (got.mean, got.max, got.row, got.column, got.above) == (math.inf, math.inf, 9, 2, 2)
        assert delta_e(gpu, b, a, method=method) == got
    # The two infinities differ; a channel that is NaN in both does not hide the others.
    b = a.copy()
    b[1, 5, 6] = -np.inf
    assert delta_e(gpu, a, b, method=method).max == math.inf
    b = a.copy()
    b[1, 3, 4] += 0.5
    got = delta_e(gpu, a, b, method=method)
    assert (got.row, got.column) == (3, 4) and 1 < got.max < 1000
    # What overflows is no small difference.
    b = a.copy()
    b[:, 2, 2] = 3e38
    assert delta_e(gpu, a, b, method=method).max > 100 and delta_e(gpu, b, b.copy(), method=method).max == 0


@pytest.mark.parametrize(("shapes", "options", "message"), [
    (((3, 4, 5), (3, 5, 4)), {}, "shapes differ"),
    (((2, 4, 5), (2, 4, 5)), {}, "gray or RGB without alpha"),
    (((1, 4, 5), (1, 4, 5)), {"coordinates": True}, "three planes of coordinates"),
    (((3, 4, 5), (3, 4, 5)), {"method": "94"}, "method"),
    (((3, 4, 5), (3, 4, 5)), {"white": 0.0}, "white"),
    (((3, 4, 5), (3, 4, 5)), {"threshold": math.nan}, "threshold"),
    (((3, 4, 5), (3, 4, 5)), {"threshold": math.inf}, "threshold"),
])  # fmt: skip
def test_bad_input(gpu, shapes, options, message) -> None:
    a, b = (np.zeros(shape, np.float32) for shape in shapes)
    with pytest.raises(ParameterError, match=message):
        delta_e(gpu, a, b, **options)
