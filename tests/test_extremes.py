"""Numbers at the ends of float32 and of halves, through operations on pictures, against numpy's and scipy's float64."""

from collections.abc import Callable

import numpy as np
import pytest
import pywt
from scipy import ndimage

from gpuops import fourier as fft
from gpuops.filters.blur import blur
from gpuops.filters.convolve import convolve
from gpuops.glow.bloom import bloom
from gpuops.metrics.compare import mean_squared_error, peak_signal_noise_ratio
from gpuops.metrics.counts import counts
from gpuops.metrics.statistics import statistics
from gpuops.ops.bloom import BloomParams
from gpuops.ops.blur import BlurParams
from gpuops.pixels.coding import download, upload
from gpuops.wavelets import wavedec2, waverec2

from .choices import each
from .tolerance import BLUR, CONVOLVE, DWT, FFT, ROUNDINGS

SHAPE = (1, 24, 37)
GRAIN = 2.0**-149  # the step of subnormal numbers, by which each rounding of a sum may be off


def picture(name: str) -> np.ndarray:
    """Values of one kind, the same in every run."""
    rng = np.random.default_rng(1)
    made = {
        "denormals": rng.random(SHAPE) * 1e-38,
        "one denormal": np.full(SHAPE, 1e-40),
        "negative zeros": np.full(SHAPE, -0.0),
        "halves": rng.random(SHAPE) * 65504,
        "the largest half": np.full(SHAPE, 65504.0),
        "large": (rng.random(SHAPE) - 0.5) * 1e36,
        "ratios": np.where(rng.random(SHAPE) > 0.9, 1e30, 1e-30),
    }
    return made[name].astype(np.float32)


PICTURES = ("denormals", "one denormal", "negative zeros", "halves", "the largest half", "large", "ratios")
Filter = Callable[[np.ndarray], np.ndarray]
BLURS: dict[str, tuple[BlurParams, Filter]] = {
    "direct": (
        BlurParams(sigma=(2, 3), truncate=4, method="direct"),
        lambda x: ndimage.gaussian_filter(x, (0, 2, 3)),
    ),
    "local": (
        BlurParams(sigma=(2, 3), truncate=4, method="local"),
        lambda x: ndimage.gaussian_filter(x, (0, 2, 3)),
    ),
    "multirate": (
        BlurParams(sigma=(6, 9), method="multirate"),
        lambda x: ndimage.gaussian_filter(x, (0, 6, 9), truncate=9),
    ),
    "fft": (
        BlurParams(sigma=(2, 3), truncate=4, method="fft"),
        lambda x: ndimage.gaussian_filter(x, (0, 2, 3)),
    ),
    "box": (BlurParams(kind="box", radius=(3, 9)), lambda x: ndimage.uniform_filter(x, (0, 7, 19))),
    "median": (BlurParams(kind="median", radius=(2, 2)), lambda x: ndimage.median_filter(x, (1, 5, 5))),
}


@each(name=PICTURES, kind=BLURS)
def test_blurs(gpu, kind, name) -> None:
    x, (params, reference) = picture(name), BLURS[kind]
    # Fft's sums contain all pixels, and are not normalised.
    x *= 1e-6 if kind == "fft" and name == "large" else 1
    got, expected = blur(gpu, gpu.array(x), params).numpy(), reference(x.astype(np.float64))
    assert np.abs(got - expected).max() <= BLUR["coarse"] * np.abs(expected).max() + 400 * GRAIN


@each(name=PICTURES, method=["direct", "local", "fft"])
def test_convolution(gpu, method, name) -> None:
    x, w = picture(name)[0], np.random.default_rng(2).random((3, 5)) - 0.3
    x *= 1e-6 if method == "fft" and name == "large" else 1
    expected = ndimage.convolve(x.astype(np.float64), w)
    got = convolve(gpu, x, w, method=method)
    assert np.abs(got - expected).max() <= CONVOLVE["fft"] * np.abs(w).sum() * np.abs(x).max() + 400 * GRAIN


@pytest.mark.parametrize("name", PICTURES)
def test_transforms(gpu, name) -> None:
    """Forwards as in float64, and back again."""
    x = picture(name)[0]
    x *= 1e-6 if name == "large" else 1  # sums contain all pixels, and are normalised at the end
    exact, most = x.astype(np.float64), float(np.abs(x).max())
    spectrum = fft.rfft2(gpu, x)
    expected = np.fft.rfft2(exact)
    assert np.abs(spectrum - expected).max() <= FFT["value"] * np.abs(expected).max() + 400 * GRAIN
    assert np.abs(fft.irfft2(gpu, spectrum, x.shape) - x).max() <= FFT["value"] * most + 400 * GRAIN
    for wavelet in ("haar", "db4", "bior4.4"):
        bands = wavedec2(gpu, x, wavelet, level=1)
        known = pywt.wavedec2(exact, wavelet, level=1)
        for got, wanted in zip((bands[0], *bands[1]), (known[0], *known[1]), strict=True):
            assert np.abs(got - wanted).max() <= 2 * DWT["coefficients"] * most + 400 * GRAIN
        back = waverec2(gpu, bands, wavelet)[: x.shape[0], : x.shape[1]]
        assert np.abs(back - x).max() <= DWT["round trip"] * most + 400 * GRAIN


@pytest.mark.parametrize("name", ["halves", "the largest half", "large", "ratios", "negative zeros"])
def test_statistics(gpu, name) -> None:
    x = picture(name)
    found, exact = statistics(gpu, gpu.array(x)), x.astype(np.float64)
    assert (found.finite, found.nan, found.infinite) == (x.size, 0, 0)
    assert (found.minimum, found.maximum) == (exact.min(), exact.max())
    assert found.mean == pytest.approx(exact.mean(), rel=ROUNDINGS, abs=ROUNDINGS * np.abs(exact).mean())
    lit = exact[exact > 0]
    if lit.size:
        assert found.log_mean == pytest.approx(np.exp(np.log(lit).mean()), rel=ROUNDINGS)
    assert found.negative == np.count_nonzero(exact < 0)


@pytest.mark.parametrize("scale", [1e-40, 1e-25, 1e-15, 1.0, 1e15, 1e25, 3e37])
def test_comparison(gpu, scale) -> None:
    """Squares of differences are far beyond float32 where these are."""
    rng = np.random.default_rng(3)
    a, b = ((rng.random((3, 20, 31)) * scale).astype(np.float32) for _ in range(2))
    exact = a.astype(np.float64) - b
    rmse = np.sqrt((exact**2).mean())
    assert counts(gpu, a, b).max == pytest.approx(np.abs(exact).max(), rel=ROUNDINGS)
    assert mean_squared_error(gpu, a, b) ** 0.5 == pytest.approx(rmse, rel=ROUNDINGS)
    psnr = peak_signal_noise_ratio(gpu, a, b, data_range=1.0)
    assert psnr == pytest.approx(-20 * np.log10(rmse), rel=ROUNDINGS)


@each(name=PICTURES, way=["direct", "local", "gaussians", "fft"])
def test_bloom_is_finite(gpu, way, name) -> None:
    x = np.repeat(picture(name), 3, 0)
    how = {"reads": way} if way in ("direct", "local") else {"method": way}
    got = bloom(gpu, gpu.array(x), BloomParams(strength=0.5, radius=0.2, **how)).numpy()
    assert np.isfinite(got).all() and np.abs(got).max() <= np.abs(x).max() * (1 + 2 * BLUR["coarse"])


@pytest.mark.parametrize("alpha", [1e-45, 1e-40, 2.0**-126, 6e-8, 1.0])
def test_colours_over_the_least_alpha(gpu, alpha) -> None:
    """No reciprocal of it overflows: colour over alpha is at most 1 here, and 0 stays 0."""
    pixels = np.zeros((4, 9, 4), np.float32)
    pixels[..., 3] = alpha
    pixels[..., :2] = 0.5, 1.0
    image = upload(gpu, pixels, alpha=True, premultiply=True)
    back, _ = download(image, np.float32, unpremultiply=True)
    assert np.isfinite(back).all() and (back[..., 2] == 0).all()
    if alpha > 1e-38 or back[0, 0, 3] > 0:
        assert back[..., :2].max() <= 1 + ROUNDINGS
    if alpha > 1e-37:
        np.testing.assert_allclose(back[..., :2], pixels[..., :2], rtol=ROUNDINGS)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float16"])
def test_ends_of_depths(gpu, dtype) -> None:
    """Finite values beyond a type become its ends, infinities too, NaN 0; least halves come back as they are."""
    ends = np.float32([0.0, -0.0, 1e-45, -1e-45, 1.0, 65504.0, 3.4e38, -3.4e38, np.inf, -np.inf, np.nan])
    image = gpu.array(np.ascontiguousarray(ends[None, None]))
    got, _ = download(image, dtype)
    if dtype == "float16":
        expected = np.clip(ends, -65504, 65504)
        expected[-3:] = np.inf, -np.inf, np.nan
        np.testing.assert_array_equal(got.ravel(), expected.astype(np.float16))
        halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
        halves = halves[np.isfinite(halves)].reshape(1, -1, 1)
        back, _ = download(upload(gpu, halves), np.float16)
        np.testing.assert_array_equal(back.view(np.uint16), halves.view(np.uint16))
    else:
        most = np.iinfo(dtype).max
        expected = np.clip(np.nan_to_num(ends, nan=0, posinf=1, neginf=0), 0, 1) * most
        np.testing.assert_array_equal(got.ravel(), np.rint(expected))
