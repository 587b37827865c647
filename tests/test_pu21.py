"""PU21 against its formula in float64, its published shape, and PSNR and SSIM of its values."""

import numpy as np
import pytest
from skimage import metrics

from gpuops import Gpu, ParameterError
from gpuops.metrics.compare import peak_signal_noise_ratio, structural_similarity
from gpuops.metrics.pu21 import PEAK, pu21

from .reference.metrics import skimage_ssim
from .tolerance import PU21 as TOLERANCE

# gfxdisp/pu21, pu21_encoder.m: the parameters of "banding_glare".
P = (0.353487901, 0.3734658629, 8.277049286e-05, 0.9062562627, 0.09150303166, 0.9099517204, 596.3148142)


def reference(nits: np.ndarray) -> np.ndarray:
    y = np.clip(nits.astype(np.float64), 0.005, 10000) ** P[3]
    value = np.maximum(P[6] * (((P[0] + P[1] * y) / (1 + P[2] * y)) ** P[4] - P[5]), 0)
    return np.where(np.isfinite(nits), value, nits)


def light(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Light of all stops from 0.001 to 20000, with some negative."""
    x = np.exp(rng.uniform(np.log(1e-3), np.log(2e4), shape)).astype(np.float32)
    x[..., ::7] *= -1
    return x


def check(gpu: Gpu, rng: np.random.Generator, shape: tuple[int, ...]) -> None:
    """Asserts that values are those of the formula, for colours and for the luminance."""
    x = light(rng, shape)
    np.testing.assert_allclose(pu21(gpu, x, white=1.0), reference(x), atol=TOLERANCE)
    if shape[0] == 3:
        y = np.tensordot([0.212656, 0.715158, 0.072186], x.astype(np.float64), 1)[np.newaxis]
        got = pu21(gpu, x / np.float32(203), luminance=True)
        np.testing.assert_allclose(got, reference(y), atol=2 * TOLERANCE)


def test_anchors(gpu, rng) -> None:
    check(gpu, rng, (3, 17, 31))
    nits = np.array([[0.1, 1, 100, 1000, 10000, 0, 1e30]], np.float32)
    expected = [5.71707, 36.54391, 256.38390, 420.09692, 595.39392, 0, 595.39392]
    np.testing.assert_allclose(pu21(gpu, nits, white=1.0)[0], expected, atol=TOLERANCE + 1e-5)


def test_what_is_not_finite_and_alpha_stay(gpu) -> None:
    x = np.array([np.nan, np.inf, -np.inf, 1.0], np.float32).reshape(1, 2, 2)
    got = pu21(gpu, x)
    np.testing.assert_array_equal(got.ravel()[:3], x.ravel()[:3])
    image = gpu.array(np.stack([x[0], x[0]]))
    image.alpha = True
    result = pu21(gpu, image)
    assert result.alpha
    np.testing.assert_array_equal(result.numpy()[1], x[0])


def test_metrics_of_values(gpu, rng) -> None:
    a = light(rng, (3, 40, 30))
    b = (a * rng.normal(1, 0.1, a.shape)).astype(np.float32)
    p, q = reference(a), reference(b)
    one, other = (pu21(gpu, gpu.array(x), white=1.0) for x in (a, b))
    expected = metrics.peak_signal_noise_ratio(p, q, data_range=PEAK)
    assert peak_signal_noise_ratio(gpu, one, other, data_range=PEAK) == pytest.approx(expected, abs=1e-4)
    assert structural_similarity(gpu, one, other, data_range=PEAK) == pytest.approx(
        skimage_ssim(p, q, PEAK), abs=2e-5
    )
    bad = a.copy()
    bad[1, 20, 20] = np.nan
    assert peak_signal_noise_ratio(gpu, one, pu21(gpu, gpu.array(bad), white=1.0), data_range=PEAK) == -np.inf


def test_bad_input(gpu) -> None:
    with pytest.raises(ParameterError, match="gray or RGB"):
        pu21(gpu, np.zeros((2, 3, 4)))
    with pytest.raises(ParameterError, match="white"):
        pu21(gpu, np.zeros((3, 4)), white=0.0)
