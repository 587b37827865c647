"""Unsharp mask against its formula in double, with scipy's Gaussian."""

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from gpuops.ops.sharpen import OPERATION as sharpen
from gpuops.ops.sharpen import SharpenParams

from . import tolerance

TOLERANCE = tolerance.SHARPEN
IDENTITIES = [SharpenParams(amount=0), SharpenParams(sigma=0)]


def reference(x: np.ndarray, colours: int, p: SharpenParams) -> np.ndarray:  # type: ignore[type-arg]
    modes = ("reflect", "reflect", "wrap" if p.border == "wrap-x" else "reflect")
    d = x - gaussian_filter(x, (0, p.sigma, p.sigma), mode=modes, truncate=8)
    if p.of == "colours" or colours == 1:
        sharp = np.where(abs(d) <= p.threshold, x, np.maximum(x + p.amount * d, np.minimum(x, 0)))
    else:
        y, dy = (np.tensordot((0.2126, 0.7152, 0.0722), planes[:3], 1) for planes in (x, d))
        gain = np.maximum(1 + p.amount * dy / np.where(y > 0, y, 1), 0)
        sharp = x * np.where((abs(dy) <= p.threshold) | (y <= 0), 1, gain)
    return np.concatenate([sharp[:colours], x[colours:]])


@pytest.mark.parametrize("sigma", [1.5, 9.0])
def test_a_panorama_has_no_seam(gpu, rng, sigma) -> None:
    """A turned panorama is turned when it is sharpened."""
    x = rng.gamma(0.5, 2, (3, 24, 96)).astype(np.float32)
    params = SharpenParams(sigma, border="wrap-x")
    straight, turned = (sharpen(gpu, gpu.array(v), params).numpy() for v in (x, np.roll(x, 32, axis=2)))
    np.testing.assert_allclose(turned, np.roll(straight, 32, axis=2), rtol=0, atol=TOLERANCE * x.max())
    usual = sharpen(gpu, gpu.array(x), SharpenParams(sigma)).numpy()
    assert np.abs(usual - straight)[:, :, 0].max() > 100 * TOLERANCE * x.max()
