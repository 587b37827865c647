"""Structural similarity by each convention and on several scales, against skimage and scipy in float64."""

import math
from typing import Any

import numpy as np
import pytest
from skimage import metrics

from gpuops import Gpu, Image, ParameterError
from gpuops.metrics.ssim import multiscale_structural_similarity, shrunk, structural_similarity

from .choices import each
from .reference import metrics_ssim as reference
from .test_compare import noisy
from .tolerance import COMPARE as TOLERANCE

# What skimage is to be asked for by each convention, and the window's size.
CONVENTIONS: dict[str, tuple[dict[str, Any], int]] = {
    "wang": ({"gaussian_weights": True, "sigma": 1.5, "use_sample_covariance": False}, 11),
    "skimage": ({}, 7),
}
# One window; ends of vectors of 8; more than a strip of 128 columns, and than a band of 64 rows, of results.
SHAPES = [(0, 0), (3, 1), (7, 5), (8, 9), (53, 54), (55, 119), (1, 130), (70, 260)]


def of_skimage(a: np.ndarray, b: np.ndarray, convention: str) -> tuple[float, np.ndarray]:
    a, b = a.astype(np.float64), b.astype(np.float64)
    options = CONVENTIONS[convention][0]
    mean, full = metrics.structural_similarity(a, b, data_range=1.0, channel_axis=0, full=True, **options)
    return float(mean), full


def check(gpu: Gpu, rng: np.random.Generator, shape: tuple[int, int, int], convention: str) -> None:
    """Compares the mean and the map with skimage's."""
    a, b = noisy(rng, shape)
    mean, full = structural_similarity(gpu, a, b, data_range=1.0, convention=convention, full=True)
    expected, expected_map = of_skimage(a, b, convention)
    assert mean == pytest.approx(expected, abs=TOLERANCE["ssim"])
    np.testing.assert_allclose(full.numpy(), expected_map, rtol=0, atol=TOLERANCE["ssim map"])


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("beyond", SHAPES, ids=str)
def test_conventions_are_those_of_skimage(gpu, rng, beyond, convention) -> None:
    size = CONVENTIONS[convention][1]
    check(gpu, rng, (2, beyond[0] + size, beyond[1] + size), convention)


def test_known_values(gpu) -> None:
    for size, rgb, luma in (((96, 128), 0.9539414, 0.9420064), ((192, 256), 0.9773193, 0.9711001)):
        a, b = reference.pair(*size)
        assert structural_similarity(gpu, a, b, data_range=1.0) == pytest.approx(rgb, abs=1e-6)
        assert structural_similarity(gpu, a, b, data_range=1.0, luma=True) == pytest.approx(luma, abs=1e-6)
    for size, rgb, luma in (((192, 256), 0.9588132, 0.9692029), ((193, 257), 0.9600786, 0.9697528)):
        a, b = reference.pair(*size)
        assert multiscale_structural_similarity(gpu, a, b, data_range=1.0) == pytest.approx(rgb, abs=1e-6)
        found = multiscale_structural_similarity(gpu, a, b, data_range=1.0, luma=True)
        assert found == pytest.approx(luma, abs=1e-6)


@pytest.mark.parametrize("size", [(176, 176), (177, 211), (223, 180)], ids=str)
def test_multiscale(gpu, rng, size) -> None:
    a, b = noisy(rng, (2, *size))
    expected = reference.multiscale(a, b, 2.0)
    result = multiscale_structural_similarity(gpu, a, b, data_range=2.0)
    assert result == pytest.approx(expected, abs=TOLERANCE["ssim"]) and result < 0.999


def test_a_negative_mean_of_a_scale_counts_as_0(gpu, rng) -> None:
    a = rng.random((1, 180, 180), np.float32)
    assert reference.terms(a[0], 1 - a[0], 1.0)[1].mean() < -0.9
    assert multiscale_structural_similarity(gpu, a, 1 - a, data_range=1.0) == 0


@pytest.mark.parametrize(
    ("size", "factor"),
    [((1, 1), 2), ((1, 7), 3), ((5, 2), 4), ((12, 13), 5), ((30, 35), 2), ((30, 35), 3)],
    ids=str,
)
def test_shrunk(gpu, rng, size, factor) -> None:
    x = 1e4 + rng.random((2, *size), np.float32)
    if factor > 2 * min(size):
        return  # farther beyond the edge than images are mirrored
    expected = np.array([reference.averaged(plane, factor) for plane in x])
    found = shrunk(gpu, gpu.array(x), factor)
    np.testing.assert_allclose(found.numpy().sum(0, np.float64), expected, rtol=TOLERANCE["shrunk"])
    expected = np.array([reference.averaged(plane, 2) for plane in expected])
    found = shrunk(gpu, found, 2)
    np.testing.assert_allclose(found.numpy().sum(0, np.float64), expected, rtol=TOLERANCE["shrunk"])


def bright(kind: str, size: int = 64) -> tuple[np.ndarray, np.ndarray]:
    """Dark stripes with noise, and what is up to 10,000 times as bright beside them: one gray plane of two pictures."""
    noise, (y, x) = np.random.default_rng(5), np.mgrid[:size, :size]
    lit = {"pixel": x + y == 0, "half": x > size // 2, "lines": x % 8 == 3, "all": x >= 0, "none": x < 0}[
        kind
    ]
    a = 0.05 + 0.02 * (y % 2 == 0) + 1e4 * lit
    b = a + 0.02 * (x % 2 == 0) + 0.01 * noise.random((size, size))
    return a.astype(np.float32)[None], b.astype(np.float32)[None]


@pytest.mark.parametrize("kind", ["pixel", "half", "lines", "all", "none"])
def test_bright_pixels_beside_dark_ones(gpu, kind) -> None:
    """No pixel takes digits from windows that it is not in, and flat areas keep theirs at any brightness."""
    a, b = bright(kind)
    for convention in CONVENTIONS:
        luminance, contrast = reference.terms(a[0], b[0], 1.0, convention)
        for first, second in ((a, b), (b, a)):
            found = structural_similarity(gpu, first, second, data_range=1.0, convention=convention)
            assert found == pytest.approx((luminance * contrast).mean(), abs=TOLERANCE["ssim"])
    a, b = bright(kind, 176)
    found = multiscale_structural_similarity(gpu, a, b, data_range=1.0)
    assert found == pytest.approx(reference.multiscale(a, b, 1.0), abs=TOLERANCE["ssim"])


@pytest.mark.parametrize("size", [(383, 400), (384, 400), (641, 643)], ids=str)
def test_images_are_seen_at_the_authors_distance(gpu, rng, size) -> None:
    a, b = noisy(rng, (1, *size))
    factor = {383: 1, 384: 2, 641: 3}[size[0]]
    luminance, contrast = reference.terms(*(reference.averaged(v[0], factor) for v in (a, b)), 1.0)
    result, full = structural_similarity(gpu, a, b, data_range=1.0, downsample=True, full=True)
    assert result == pytest.approx((luminance * contrast).mean(), abs=TOLERANCE["ssim"])
    assert full.shape == (1, *(-(-n // factor) for n in size))


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_equal_images_have_exactly_1_with_nan_and_infinity_in_them(gpu, rng, convention) -> None:
    a = 100 * rng.random((3, 180, 190), np.float32)
    a[0, 0, 0], a[0, 5, 6], a[2, 70, 181], a[1, 7, 8] = np.nan, np.inf, -np.inf, np.nan
    result = structural_similarity(gpu, a, a.copy(), data_range=1.0, convention=convention)
    assert result == 1 and multiscale_structural_similarity(gpu, a, a.copy(), data_range=1.0) == 1


@pytest.mark.parametrize("place", [(0, 0, 0), (1, 64, 128)], ids=str)
@each(one__other=[(np.nan, 0.5), (0.5, np.nan), (0.5, -np.inf), (np.inf, 0.5), (np.inf, -np.inf)])
def test_what_is_not_finite_against_another_value_gives_nan(gpu, rng, place, one, other) -> None:
    a, b = noisy(rng, (2, 180, 190))
    a[place], b[place] = one, other
    mean, full = structural_similarity(gpu, a, b, data_range=1.0, full=True)
    assert math.isnan(mean) and math.isnan(multiscale_structural_similarity(gpu, a, b, data_range=1.0))
    near = np.zeros(a.shape, bool)
    plane, row, column = place
    near[plane, max(row - 5, 0) : row + 6, max(column - 5, 0) : column + 6] = True
    np.testing.assert_array_equal(np.isfinite(full.numpy()), ~near)


def test_images_on_the_device_runs_and_the_map_give_the_same_bits(gpu, rng) -> None:
    a, b = noisy(rng, (3, 201, 307))
    first, second = gpu.array(a), gpu.array(b)
    for function in (structural_similarity, multiscale_structural_similarity):
        assert function(gpu, first, second, data_range=1.0) == function(gpu, a, b, data_range=1.0)
    mean, full = structural_similarity(gpu, first, second, data_range=1.0, full=True)
    assert isinstance(full, Image) and mean == structural_similarity(gpu, a, b, data_range=1.0)


def test_operands_without_meaning(gpu) -> None:
    a = np.zeros((3, 175, 300), np.float32)
    with pytest.raises(ParameterError, match="176×176 pixels or more, not 300×175: use SSIM"):
        multiscale_structural_similarity(gpu, a, a, data_range=1.0)
    with pytest.raises(ParameterError, match="7×7 pixels or more, not 6×175"):
        structural_similarity(gpu, a[..., :6], a[..., :6], data_range=1.0, convention="skimage")
    with pytest.raises(ParameterError, match="11×11 pixels or more, not 1×1"):
        structural_similarity(gpu, a[:, :1, :1], a[:, :1, :1], data_range=1.0)
    with pytest.raises(ParameterError, match="unknown convention 'matlab': use one of wang, skimage"):
        structural_similarity(gpu, a, a, data_range=1.0, convention="matlab")
    with pytest.raises(ParameterError, match="luma needs an image of one or three planes, not of 4"):
        structural_similarity(gpu, *np.zeros((2, 4, 20, 20)), data_range=1.0, luma=True)
    for function in (structural_similarity, multiscale_structural_similarity):
        with pytest.raises(ParameterError, match="data_range is needed for float32"):
            function(gpu, a, a)
        with pytest.raises(ParameterError, match="shapes differ"):
            function(gpu, a, a[..., 1:], data_range=1.0)
        with pytest.raises(ParameterError, match="shapes differ"):
            function(gpu, gpu.array(a), gpu.array(a[..., 1:]), data_range=1.0)
