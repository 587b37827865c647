"""ΔE 76, CIEDE2000 and ΔE ITP against their formulas in float64, published pairs of colours, and scikit-image."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from skimage import color

from gpuops import Gpu, GpuopsWarning, ParameterError, notes
from gpuops.metrics.delta_e import METHODS, delta_e

from .reference import metrics_delta_e as reference
from .tolerance import DELTA_E as TOLERANCE

Array = npt.NDArray[Any]

SHAPES = [(1, 1), (1, 7), (5, 1), (17, 31), (8, 64), (101, 97)]

# Sharma, Wu and Dalal (2005), table 1: L, a, b of two colours and their CIEDE2000.
SHARMA = np.array(
    [
        (50, 2.6772, -79.7751, 50, 0, -82.7485, 2.0425),
        (50, 3.1571, -77.2803, 50, 0, -82.7485, 2.8615),
        (50, 2.8361, -74.0200, 50, 0, -82.7485, 3.4412),
        (50, -1.3802, -84.2814, 50, 0, -82.7485, 1.0000),
        (50, -1.1848, -84.8006, 50, 0, -82.7485, 1.0000),
        (50, -0.9009, -85.5211, 50, 0, -82.7485, 1.0000),
        (50, 0, 0, 50, -1, 2, 2.3669),
        (50, -1, 2, 50, 0, 0, 2.3669),
        (50, 2.49, -0.001, 50, -2.49, 0.0009, 7.1792),
        (50, 2.49, -0.001, 50, -2.49, 0.0010, 7.1792),
        (50, 2.49, -0.001, 50, -2.49, 0.0011, 7.2195),
        (50, 2.49, -0.001, 50, -2.49, 0.0012, 7.2195),
        (50, -0.001, 2.49, 50, 0.0009, -2.49, 4.8045),
        (50, -0.001, 2.49, 50, 0.0010, -2.49, 4.8045),
        (50, -0.001, 2.49, 50, 0.0011, -2.49, 4.7461),
        (50, 2.5, 0, 50, 0, -2.5, 4.3065),
        (50, 2.5, 0, 73, 25, -18, 27.1492),
        (50, 2.5, 0, 61, -5, 29, 22.8977),
        (50, 2.5, 0, 56, -27, -3, 31.9030),
        (50, 2.5, 0, 58, 24, 15, 19.4535),
        (50, 2.5, 0, 50, 3.1736, 0.5854, 1.0000),
        (50, 2.5, 0, 50, 3.2972, 0, 1.0000),
        (50, 2.5, 0, 50, 1.8634, 0.5757, 1.0000),
        (50, 2.5, 0, 50, 3.2592, 0.3350, 1.0000),
        (60.2574, -34.0099, 36.2677, 60.4626, -34.1751, 39.4387, 1.2644),
        (63.0109, -31.0961, -5.8663, 62.8187, -29.7946, -4.0864, 1.2630),
        (61.2901, 3.7196, -5.3901, 61.4292, 2.2480, -4.9620, 1.8731),
        (35.0831, -44.1164, 3.7933, 35.0232, -40.0716, 1.5901, 1.8645),
        (22.7233, 20.0904, -46.6940, 23.0331, 14.9730, -42.5619, 2.0373),
        (36.4612, 47.8580, 18.3852, 36.2715, 50.5065, 21.2231, 1.4146),
        (90.8027, -2.0831, 1.4410, 91.1528, -1.6435, 0.0447, 1.4441),
        (90.9257, -0.5406, -0.9208, 88.6381, -0.8985, -0.7239, 1.5381),
        (6.7747, -0.2908, -2.4247, 5.8714, -0.0985, -2.2286, 0.6377),
        (2.0776, 0.0795, -1.1350, 0.9033, -0.0636, -0.5514, 0.9082),
    ]
)


def light(rng: np.random.Generator, shape: tuple[int, ...], noise: float = 0.05) -> tuple[Array, Array]:
    """Two pictures that differ, with dark, bright and negative light in them."""
    a = rng.gamma(0.4, 0.5, shape) - 0.01
    b = a * rng.normal(1, noise, shape)
    return a.astype(np.float32), b.astype(np.float32)


@notes.silence()
def check(gpu: Gpu, a: Array, b: Array, method: str, **options: Any) -> None:
    """Asserts that all figures and the map are those of the reference."""
    expected = reference.of_light(method, a, b, **options)
    threshold = float(np.median(expected)) + 1e-3  # no pixel is within the tolerance of it, as a rule
    sure = np.abs(expected - threshold) > 10 * TOLERANCE[method]
    figures, differences = delta_e(gpu, a, b, method=method, threshold=threshold, full=True, **options)
    got = differences.numpy()
    np.testing.assert_allclose(got[0], expected, rtol=TOLERANCE["relative"], atol=TOLERANCE[method])
    assert figures.mean == pytest.approx(got.astype(np.float64).mean(), rel=1e-9)
    assert figures.max == got.max()
    assert (figures.row, figures.column) == np.unravel_index(got[0].argmax(), got[0].shape)
    assert abs(figures.above - (expected > threshold).sum()) <= (~sure).sum()
    assert figures.pixels == got.size
    assert delta_e(gpu, a, b, method=method, threshold=threshold, **options) == figures


def check_coordinates(gpu: Gpu, a: Array, b: Array, method: str) -> None:
    """Asserts that the differences of coordinates are those of the reference."""
    expected = reference.delta(method, a.astype(np.float64), b.astype(np.float64))
    figures, differences = delta_e(gpu, a, b, method=method, coordinates=True, full=True)
    got = differences.numpy()[0]
    np.testing.assert_allclose(got, expected, rtol=TOLERANCE["relative"], atol=TOLERANCE[method])
    assert figures.max == got.max()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("planes", [1, 3])
def test_differences_of_light(
    gpu: Gpu, rng: np.random.Generator, method: str, shape: tuple[int, int], planes: int
) -> None:
    a, b = light(rng, (planes, *shape))
    check(gpu, a, b, method)


def test_white_of_itp(gpu: Gpu, rng: np.random.Generator) -> None:
    check(gpu, *light(rng, (3, 9, 11)), "itp", white=100.0)


@pytest.mark.parametrize("swapped", [False, True])
def test_published_pairs_of_ciede2000(gpu: Gpu, swapped: bool) -> None:
    p, q = np.moveaxis(SHARMA[:, :6].reshape(34, 2, 3), 1, 0)
    a, b = (v.T[:, np.newaxis].astype(np.float32) for v in ((q, p) if swapped else (p, q)))
    _, differences = delta_e(gpu, a, b, method="2000", coordinates=True, full=True)
    np.testing.assert_allclose(differences.numpy().ravel(), SHARMA[:, 6], rtol=0, atol=5e-5 + 1e-5)


def test_published_pairs_of_itp(gpu: Gpu) -> None:
    # colour-science's tests of delta_E_ITP
    a = np.array([(0.4885468072, -0.04739350675, 0.07475401302), (0.5965650331, -0.2083210482, 0.3699729716)])
    b = np.array([(0.4899203231, -0.04567508203, 0.07361341775), (0.596263079, -0.1629742033, 0.3617767026)])
    _, differences = delta_e(
        gpu, a.T[:, np.newaxis], b.T[:, np.newaxis], method="itp", coordinates=True, full=True
    )
    np.testing.assert_allclose(differences.numpy().ravel(), [1.426572247, 17.36012552], atol=1e-4)


@pytest.mark.parametrize(
    ("one", "other", "expected"), [(100, 101, 0.71927), (203, 204, 0.36985), (0, 0.005, 10.85)]
)
def test_grays_of_itp(gpu: Gpu, one: float, other: float, expected: float) -> None:
    a, b = (np.full((1, 2, 3), nits / 203, np.float32) for nits in (one, other))
    got = delta_e(gpu, a, b, method="itp")
    assert got.max == pytest.approx(expected, abs=TOLERANCE["itp"] + 5e-3 * (expected > 10))
    assert got.above == (6 if expected > 1 else 0)


def test_itp_is_of_displayed_light(gpu: Gpu, rng: np.random.Generator) -> None:
    """PQ is steep at 0: a signed curve would make differences of hundreds out of values that no display shows."""
    negative = rng.uniform(-0.1, -1e-6, (2, 1, 9, 11)).astype(np.float32)
    with pytest.warns(GpuopsWarning, match="^198 negative values of light count as 0 for ΔE ITP"):
        assert delta_e(gpu, *negative, method="itp").max == 0
    with pytest.warns(GpuopsWarning, match="^1 negative"):
        black, wide = (
            np.zeros((3, 1, 1), np.float32),
            np.array([1.6, -0.08, -0.5], np.float32).reshape(3, 1, 1),
        )
        expected = reference.of_light("itp", black, wide)[
            0, 0
        ]  # green is beyond Rec. 709, blue beyond Rec. 2020
        assert delta_e(gpu, black, wide, method="itp").max == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("noise", [60, 2, 0.01])
def test_ciede2000_is_that_of_skimage(gpu: Gpu, rng: np.random.Generator, noise: float) -> None:
    a = np.stack([rng.uniform(0, 100, (53, 61)), *rng.normal(0, 40, (2, 53, 61))]).astype(np.float32)
    b = (a + rng.normal(0, noise, a.shape)).astype(np.float32)
    expected = color.deltaE_ciede2000(a.astype(float), b.astype(float), channel_axis=0)
    figures, differences = delta_e(gpu, a, b, method="2000", coordinates=True, full=True)
    np.testing.assert_allclose(differences.numpy()[0], expected, rtol=2e-6, atol=1e-5)
    assert figures.mean == pytest.approx(expected.mean(), rel=1e-6)


@pytest.mark.parametrize("method", METHODS)
@notes.silence()
def test_what_is_not_finite_counts(gpu: Gpu, rng: np.random.Generator, method: str) -> None:
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
    assert delta_e(gpu, a, b, method=method).max > 100
    assert delta_e(gpu, b, b.copy(), method=method).max == 0


def test_every_run_gives_the_same(gpu: Gpu, rng: np.random.Generator) -> None:
    a, b = (gpu.array(v) for v in light(rng, (3, 211, 307)))
    assert len({delta_e(gpu, a, b) for _ in range(5)}) == 1


@pytest.mark.parametrize(
    ("shapes", "options", "message"),
    [
        (((3, 4, 5), (3, 5, 4)), {}, "shapes differ"),
        (((2, 4, 5), (2, 4, 5)), {}, "gray or RGB without alpha"),
        (((1, 4, 5), (1, 4, 5)), {"coordinates": True}, "three planes of coordinates"),
        (((3, 4, 5), (3, 4, 5)), {"method": "94"}, "method"),
        (((3, 4, 5), (3, 4, 5)), {"white": 0.0}, "white"),
        (((3, 4, 5), (3, 4, 5)), {"threshold": math.nan}, "threshold"),
        (((3, 4, 5), (3, 4, 5)), {"threshold": math.inf}, "threshold"),
    ],
)
def test_bad_input(gpu: Gpu, shapes: Any, options: dict[str, Any], message: str) -> None:
    a, b = (np.zeros(shape, np.float32) for shape in shapes)
    with pytest.raises(ParameterError, match=message):
        delta_e(gpu, a, b, **options)
