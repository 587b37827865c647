"""Comparison against scikit-image in float64."""

import math

import numpy as np
import pytest
from skimage import metrics

from gpuops import ParameterError
from gpuops.files import Picture
from gpuops.metrics.compare import (
    difference,
    mean_squared_error,
    pair,
    peak_signal_noise_ratio,
    structural_similarity,
)
from gpuops.metrics.counts import counts

from .reference.metrics import skimage_ssim
from .tolerance import COMPARE as TOLERANCE

# One value; less than a vector of four; just above; prime; tile of SSIM ± 1; several groups.
SHAPES = [
    (1, 1), (1, 3), (5, 1), (17, 31), (26, 42), (27, 43), (25, 41), (3, 97, 101), (2, 3, 64, 70),
    (1, 700, 300),
]  # fmt: skip


def noisy(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    a = rng.random(shape, np.float32)
    return a, (a + rng.normal(0, 0.05, shape)).astype(np.float32)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_errors_are_those_of_skimage(gpu, rng, shape) -> None:
    a, b = noisy(rng, shape)
    wide = a.astype(np.float64), b.astype(np.float64)
    assert mean_squared_error(gpu, a, b) == pytest.approx(
        metrics.mean_squared_error(*wide), rel=TOLERANCE["mse"]
    )
    expected = metrics.peak_signal_noise_ratio(*wide, data_range=2.0)
    assert peak_signal_noise_ratio(gpu, a, b, data_range=2.0) == pytest.approx(
        expected, abs=TOLERANCE["psnr"]
    )


def test_structural_similarity_of_integer_levels(gpu, rng) -> None:
    a = rng.integers(0, 256, (40, 50), np.uint8)
    b = np.clip(a.astype(int) + rng.integers(-9, 10, a.shape), 0, 255).astype(np.uint8)
    assert structural_similarity(gpu, a, b) == pytest.approx(skimage_ssim(a, b, 255), abs=TOLERANCE["ssim"])
    expected = metrics.peak_signal_noise_ratio(a, b)
    assert peak_signal_noise_ratio(gpu, a, b) == pytest.approx(expected, abs=TOLERANCE["psnr"])


def test_many_small_squares_do_not_vanish_beside_large_ones(gpu) -> None:
    n = 1 << 22  # 4 Mpixel of errors whose float32 sum, one after the other, would stand still at 2²⁴
    a = np.zeros((2048, n // 2048), np.float32)
    b = np.full_like(a, 1.0)
    b[0, 0] = 5000.0
    exact = (n - 1 + 5000.0**2) / n
    assert mean_squared_error(gpu, a, b) == pytest.approx(exact, rel=1e-12)


def test_what_is_not_finite_against_another_value_is_an_infinite_error(gpu) -> None:
    for one, other in ((np.nan, 0.5), (0.5, np.nan), (np.inf, 0.5), (np.inf, -np.inf), (np.inf, np.nan)):
        a, b = np.zeros((2, 1, 13, 13), np.float32)
        a[0, 2, 3], b[0, 2, 3] = one, other
        assert mean_squared_error(gpu, a, b) == math.inf
        assert peak_signal_noise_ratio(gpu, a, b, data_range=1.0) == -math.inf
        assert peak_signal_noise_ratio(gpu, a, a.copy(), data_range=1.0) == math.inf


def test_difference_picture(gpu, rng) -> None:
    a, b = noisy(rng, (4, 13, 17))
    b[:, 0, 0] = a[:, 0, 0]
    first, second = gpu.array(a), gpu.array(b)
    plain = difference(gpu, first, second, 3.0)
    np.testing.assert_allclose(plain.numpy(), np.minimum(np.abs(a - b) * 3, 1), rtol=1e-6)
    assert not plain.alpha
    first.alpha = second.alpha = True
    shown = difference(gpu, first, second, 3.0).numpy()
    d = np.abs(a - b) * 3
    np.testing.assert_allclose(shown, np.minimum(np.maximum(d[:3], d[3]), 1), rtol=1e-6)
    assert (shown[:, 0, 0] == 0).all()


def test_levels_of_8_and_16_bits_compare_exactly(gpu, rng) -> None:
    narrow = np.arange(256, dtype=np.uint8).repeat(3).reshape(16, 16, 3)
    wide = narrow.astype(np.uint16) * 257
    a, b, data_range = pair(gpu, Picture(narrow), Picture(wide))
    assert data_range == 65535 and counts(gpu, a, b).differing == 0
    wide[2, 3, 1] += 1
    a, b, data_range = pair(gpu, Picture(narrow), Picture(wide))
    assert (counts(gpu, a, b).max, data_range) == (1, 65535)
    other = narrow ^ 1
    a, b, data_range = pair(gpu, Picture(narrow), Picture(other))
    assert (counts(gpu, a, b).max, data_range) == (1, 255)


def test_alpha_counts_unless_left_out(gpu) -> None:
    a = np.full((12, 12, 4), 9, np.uint8)
    b = a.copy()
    b[..., 3] = 19
    pictures = Picture(a, alpha=True), Picture(b, alpha=True)
    first, second, data_range = pair(gpu, *pictures)
    assert (counts(gpu, first, second).max, data_range) == (10, 255)
    first, second, data_range = pair(gpu, *pictures, alpha=False)
    assert counts(gpu, first, second).differing == 0
    colours = Picture(np.ascontiguousarray(a[..., :3]))
    with pytest.raises(ParameterError, match="RGBA and RGB; --alpha drop"):
        pair(gpu, pictures[0], colours)
    assert pair(gpu, pictures[0], colours, alpha=False)[0].shape == (3, 12, 12)


def test_operands_without_meaning(gpu) -> None:
    a = np.zeros((12, 12), np.float32)
    with pytest.raises(ParameterError, match="shapes differ"):
        mean_squared_error(gpu, a, a[:, :-1])
    with pytest.raises(ParameterError, match="data_range is needed for float32"):
        peak_signal_noise_ratio(gpu, a, a)
    with pytest.raises(ParameterError, match="data_range must be"):
        structural_similarity(gpu, a, a, data_range=0)
    with pytest.raises(ParameterError, match="sizes differ: 2×3 and 3×2"):
        pair(gpu, Picture(np.zeros((3, 2, 1), np.uint8)), Picture(np.zeros((2, 3, 1), np.uint8)))
