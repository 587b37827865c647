"""Shrinking, denoising and keeping the largest coefficients, against PyWavelets, scikit-image and numpy."""

import math

import numpy as np
import pytest
import pywt
from scipy.fft import dct, idct
from skimage.restoration import denoise_wavelet

from gpuops.errors import ParameterError
from gpuops.params.dwt import DENOISE_SPACES, ESTIMATES, DwtParams, KeepParams, ShrinkParams, threshold_option
from gpuops.wavelets import shrink, statistics, threshold, transform, wavedec2
from gpuops.wavelets.denoise import denoise
from gpuops.wavelets.keep import keep
from gpuops.wavelets.wavelets import WAVELETS

from .reference.images import shades_and_edges
from .tolerance import DOUBLE
from .tolerance import DWT as OF_TRANSFORM
from .tolerance import SHRINK as TOLERANCE


@pytest.fixture
def scene() -> np.ndarray:
    return shades_and_edges()


@pytest.fixture
def noisy(scene: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One plane of it with noise of σ = 0.05, well inside [0, 1], where skimage clips."""
    return 0.25 + scene[0].astype(float) / 2 + 0.05 * rng.standard_normal(scene.shape[1:])


@pytest.mark.cases(99)
@pytest.mark.parametrize("substitute", [0.0, -2.5])
@pytest.mark.parametrize("mode", shrink.MODES)
def test_threshold_is_pywts(gpu, rng, mode, substitute) -> None:
    x = rng.standard_normal((3, 20, 31)).astype(np.float32)
    x[0, 0, :5] = 0.7, -0.7, 0.0, np.inf, -np.inf  # the threshold itself is not below it
    for value in (0.7, -0.7) if mode in ("greater", "less") else (0.7,):
        with np.errstate(all="ignore"):
            expected = pywt.threshold(x, np.float32(value), mode, substitute)
        result = threshold(gpu, x, value, mode, substitute)
        np.testing.assert_allclose(result, expected, atol=TOLERANCE["shrink"])


def test_threshold_of_zero_leaves_everything(gpu, rng) -> None:
    x = rng.standard_normal((5, 7)).astype(np.float32)
    x[0, :3] = 0, np.nan, 1e-38
    for mode in ("soft", "hard", "garrote"):
        np.testing.assert_array_equal(threshold(gpu, x, 0, mode), x)


def test_bad_thresholds(gpu) -> None:
    x = np.zeros((4, 4))
    for value, mode, message in [
        (-1, "soft", "0 or more"),
        (math.nan, "hard", "finite"),
        (1, "firm", "use one of soft, hard, garrote, greater, less"),
    ]:
        with pytest.raises(ParameterError, match=message):
            threshold(gpu, x, value, mode)


def test_thresholds_as_text() -> None:
    for text, expected in (("0.25", (0.25, None)), ("bayes", (None, "bayes")), ("Visu:0.5", (0.5, "visu"))):
        assert threshold_option(text) == pytest.approx(expected)
    for text, message in (
        ("bays", "did you mean 'bayes'"),
        ("visu:", "a number"),
        ("2:1", "unknown threshold"),
    ):
        with pytest.raises(ParameterError, match=message):
            threshold_option(text)


SHAPES = [(1, 1, 1), (2, 1, 2), (3, 5, 7), (2, 300, 401), (2, 300, 400)]


def values(rng: np.random.Generator, shape: tuple[int, ...]) -> list[np.ndarray]:
    """Arrays: normal values; few different ones, so that most are equal; zeros; values of all orders of magnitude."""
    wide = rng.standard_normal(shape) * 2.0 ** rng.integers(-140, 120, shape)
    return [
        v.astype(np.float32)
        for v in (rng.standard_normal(shape), rng.integers(-3, 4, shape), np.zeros(shape), wide)
    ]


@pytest.mark.parametrize("shape", SHAPES)
def test_medians_and_largest_are_numpys(gpu, rng, shape) -> None:
    for x, y in zip(values(rng, shape), values(rng, (shape[0], 9, 2)), strict=True):
        found = statistics.medians(gpu.array(x))
        np.testing.assert_array_equal(found, np.median(np.abs(x).astype(float), axis=(1, 2)))
        ordered = np.sort(np.abs(np.concatenate([x[:1].ravel(), y[:1].ravel()])))
        bands = [gpu.array(x), gpu.array(np.zeros((shape[0], 0, 3), np.float32)), gpu.array(y)]
        for count in {1, len(ordered) // 3, len(ordered) - 1, len(ordered)} - {0}:
            value, reached = statistics.largest(bands, 1, count)
            assert (value, reached) == (ordered[-count], np.count_nonzero(ordered >= value))


def test_mean_squares_as_in_double(gpu, rng) -> None:
    for shape in SHAPES:
        x = (1 + 1e-4 * rng.standard_normal(shape)).astype(np.float32)
        found = statistics.mean_squares([gpu.array(x), gpu.array(np.zeros((shape[0], 0, 4), np.float32))])
        expected = (x.astype(float) ** 2).mean(axis=(1, 2))
        np.testing.assert_allclose(found, [expected, 0 * expected], rtol=TOLERANCE["mean square"])


def test_mean_squares_that_overflow_are_infinite(gpu) -> None:
    """An infinite mean square means that nothing is taken for noise."""
    x = np.full((1, 40, 40), 1e25, np.float32)
    assert statistics.mean_squares([gpu.array(x)]) == np.inf
    x[0, ::2] = -1e25
    x += 1e23 * np.random.default_rng(0).standard_normal(x.shape).astype(np.float32)
    result = denoise(gpu, x, DwtParams(levels=1), ShrinkParams("bayes"))
    np.testing.assert_allclose(result, x, rtol=OF_TRANSFORM["round trip"])


@pytest.mark.parametrize("kind", ["soft", "hard", "garrote"])
@pytest.mark.parametrize("estimate", ESTIMATES)
def test_thresholds_and_bands_are_those_of_the_formulas(gpu, noisy, kind, estimate) -> None:
    first, *levels = pywt.wavedec2(noisy, "db2", "periodization", 3)
    sigma = np.median(np.abs(levels[-1][2])) / 0.6744897501960817
    params = DwtParams("db2", "periodization", 3)
    bands = transform.decompose(gpu.array(noisy[None].astype(np.float32)), params)
    shrinking = ShrinkParams(kind, 0.9, estimate)
    limits = shrink.thresholds(*bands, "db2", shrinking)
    shrunk = [band for level in shrink.shrink(*bands, "db2", shrinking) for band in level]
    expected = [band for level in levels for band in level]
    for limit, ours, theirs in zip(limits, shrunk, expected, strict=True):
        t = 0.9 * (
            sigma * np.sqrt(2 * np.log(noisy.size))
            if estimate == "visu"
            else sigma**2 / np.sqrt(max(np.mean(theirs**2) - sigma**2, 1e-30))
        )
        if np.abs(theirs).max() < t:  # nothing but noise: any threshold will do
            assert limit[0] > np.abs(theirs).max()
        else:
            assert limit[0] == pytest.approx(t, rel=TOLERANCE["threshold"])
        # Values at the threshold may fall on either side by rounding.
        near = np.abs(np.abs(theirs) - t) > TOLERANCE["shrunk"]
        result = pywt.threshold(theirs, t, kind)
        np.testing.assert_allclose(ours.numpy()[0][near], result[near], rtol=0, atol=TOLERANCE["shrunk"])
    assert first.shape == bands[0].shape[1:]


@pytest.mark.parametrize("mode", ["soft", "hard"])
def test_bayes_is_skimages(gpu, noisy, mode) -> None:
    options = {"wavelet": "db2", "wavelet_levels": 3, "method": "BayesShrink", "mode": mode}
    params = DwtParams("db2", "symmetric", 3), ShrinkParams(mode, estimate="bayes")
    expected = denoise_wavelet(noisy, **options)
    np.testing.assert_allclose(denoise(gpu, noisy, *params), expected, atol=TOLERANCE["denoise"])
    shifts = [(down, right) for down in range(3) for right in range(3)]
    extended = [np.pad(noisy, ((down, 0), (right, 0)), mode="reflect") for down, right in shifts]
    images = [denoise_wavelet(image, **options) for image in extended]
    expected = np.mean([image[d:, r:] for image, (d, r) in zip(images, shifts, strict=True)], axis=0)
    np.testing.assert_allclose(denoise(gpu, noisy, *params, spins=3), expected, atol=TOLERANCE["denoise"])


@pytest.mark.parametrize("space", DENOISE_SPACES)
def test_colours_are_denoised_in_a_space(gpu, scene, rng, space) -> None:
    """YCbCr is scikit-image's. Opponent colours are the orthonormal DCT-II of red, green and blue."""
    rgb = 0.25 + scene[:3] / 2 + 0.05 * rng.standard_normal(scene[:3].shape)
    options = {
        "wavelet": "db2", "wavelet_levels": 3, "method": "BayesShrink", "mode": "soft", "channel_axis": 0,
    }  # fmt: skip
    planes = dct(rgb, axis=0, norm="ortho") if space == "opponent" else rgb
    # It clips to the range of images unless the values are outside, as differences are.
    expected = denoise_wavelet(planes, **options, convert2ycbcr=space == "ycbcr")
    if space == "opponent":
        expected = idct(expected, axis=0, norm="ortho")
    params = DwtParams("db2", "symmetric", 3), ShrinkParams("bayes", space=space)
    np.testing.assert_allclose(denoise(gpu, rgb, *params), expected, rtol=0, atol=TOLERANCE["colours"])
    with_alpha = gpu.array(np.concatenate([rgb, scene[3:]]).astype(np.float32))
    with_alpha.alpha = True
    found = denoise(gpu, with_alpha, *params).numpy()
    np.testing.assert_allclose(found[:3], expected, rtol=0, atol=TOLERANCE["colours"])
    np.testing.assert_array_equal(found[3], scene[3])
    # Gray has one plane in any space.
    gray = denoise(gpu, rgb[0], params[0], ShrinkParams("bayes"))
    np.testing.assert_array_equal(denoise(gpu, rgb[0], *params), gray)


@pytest.mark.parametrize("kind", ESTIMATES)
def test_shrinking_takes_noise_away(gpu, rng, scene, kind) -> None:
    sigma = np.array([0.05, 0.1, 0.02, 0.0], np.float32)
    noisy = scene + sigma[:, None, None] * rng.standard_normal(scene.shape).astype(np.float32)
    image = gpu.array(noisy)
    image.alpha = True
    params = DwtParams(levels=4)
    first, details = transform.decompose(image, params)
    np.testing.assert_allclose(shrink.noise_of(details[-1], "bior4.4")[:3], sigma[:3], rtol=0.1)
    result = denoise(gpu, image, params, ShrinkParams(kind))
    assert result.alpha
    before, after = (np.sqrt(np.mean((v - scene) ** 2, axis=(1, 2))) for v in (noisy, result.numpy()))
    # VisuShrink's threshold is for the largest noise of all: it smooths more, and so gains less.
    assert (after[:3] < (0.6 if kind == "bayes" else 0.95) * before[:3]).all()
    np.testing.assert_array_equal(result.numpy()[3], noisy[3])  # alpha is no picture of noise
    spun = denoise(gpu, image, params, ShrinkParams(kind), spins=2).numpy()
    assert (np.mean((spun - scene) ** 2, axis=(1, 2))[:3] < after[:3] ** 2).all()
    # A factor of 0 on the estimate changes nothing.
    for bands, same in zip(
        details, shrink.shrink(first, details, "bior4.4", ShrinkParams(kind, 0.0)), strict=True
    ):
        for band, kept in zip(bands, same, strict=True):
            np.testing.assert_array_equal(band.numpy(), kept.numpy())


@pytest.mark.parametrize("name", ["haar", "bior2.2", "bior4.4", "dd13/7", "db3"])
def test_noise_in_every_band(gpu, rng, name) -> None:
    white = rng.standard_normal((1, 512, 512), dtype=np.float32)
    _, details = transform.decompose(gpu.array(white), DwtParams(name, "symmetric", 3))
    for bands, sigmas in zip(details, shrink.noise_levels(details, name), strict=True):
        measured = [band.numpy().std() for band in bands]
        np.testing.assert_allclose(sigmas, measured, rtol=0.06)  # the estimate has 64 × 64 samples
    assert shrink.noise_of(details[-1], name) == pytest.approx(1, rel=0.02)
    low, high = (np.array(taps) for taps in WAVELETS[name].decompose)
    twice = np.convolve(low, np.kron(low, [1, 0]))  # both levels' filters in one
    then_high = np.convolve(low, np.kron(high, [1, 0]))
    expected = [(low @ low, high @ high), (twice @ twice, then_high @ then_high)]
    np.testing.assert_allclose(shrink.noise_variances(name, 2), expected, rtol=DOUBLE)


@pytest.mark.parametrize("shape", [(1, 1), (1, 300), (300, 1), (2, 2), (3, 5)])
def test_denoising_of_small_images(gpu, rng, shape) -> None:
    noisy = 0.5 + 0.1 * rng.standard_normal(shape)
    result = denoise(gpu, noisy, DwtParams(levels=3), ShrinkParams("visu"), spins=3)
    assert result.shape == shape and np.isfinite(result).all()
    if max(shape) > 100:
        assert result.std() < 0.05  # the noise of a single line is estimated, too


def test_bad_denoising(gpu, noisy) -> None:
    bayes = ShrinkParams("bayes")
    for spins in (0, 65):
        with pytest.raises(ParameterError, match="from 1 to 64"):
            denoise(gpu, noisy, DwtParams(), bayes, spins=spins)
    with pytest.raises(ParameterError, match="lossless"):
        denoise(gpu, noisy, DwtParams("5/3", integer=True), bayes)
    noisy[3, 4] = np.nan
    with pytest.raises(ParameterError, match="NaN or infinite"):
        denoise(gpu, noisy, DwtParams(), bayes)
    for planes in (2, 4):
        with pytest.raises(ParameterError, match="opponent colours needs a gray or RGB image"):
            stack = np.ones((planes, 8, 8), np.float32)
            denoise(gpu, stack, DwtParams(), ShrinkParams("bayes", space="opponent"))
    with pytest.raises(ParameterError, match="unknown space to denoise in 'lab'"):
        ShrinkParams("bayes", space="lab")
    for kind, amount, estimate, message in [
        ("visu", None, "bayes", "two estimates"),
        ("soft", None, None, "needs a threshold"),
        ("soft", -1.0, None, "0 or more"),
        ("firm", 1.0, None, "unknown way"),
        ("hard", None, "sure", "unknown estimate"),
    ]:
        with pytest.raises(ParameterError, match=message):
            ShrinkParams(kind, amount, estimate)
    for percent in (0, -1, 100.1, math.nan):
        with pytest.raises(ParameterError, match="at most 100"):
            KeepParams(percent)


@pytest.mark.parametrize("percent", [0.001, 5, 60, 100])
def test_kept_are_the_largest(gpu, scene, rng, percent) -> None:
    noisy = (scene + 0.01 * rng.standard_normal(scene.shape)).astype(np.float32)
    image = gpu.array(noisy)
    image.alpha = True
    params = DwtParams("db2", "periodization", 3)
    bands = transform.decompose(image, params)
    ours, theirs = transform.flat(*bands), pywt.wavedec2(noisy.astype(float), "db2", "periodization", 3)
    found, kept = keep(ours, KeepParams(percent))
    magnitudes = np.concatenate([np.abs(band.numpy()[:3]).ravel() for band in ours])
    assert kept.coefficients == magnitudes.size == scene[:3].size
    assert kept.kept == max(1, round(magnitudes.size * percent / 100))
    assert kept.threshold == np.sort(magnitudes)[-kept.kept]
    for band, all_of_it in zip(found, ours, strict=True):
        before, after = all_of_it.numpy(), band.numpy()
        np.testing.assert_array_equal(after[:3], np.where(np.abs(before) >= kept.threshold, before, 0)[:3])
        np.testing.assert_array_equal(after[3], before[3])
    # In an orthogonal transform the error is exactly the left-out coefficients, the least for this number.
    squares = np.concatenate(
        [np.ravel(band[:3]) ** 2 for band in (theirs[0], *(b for t in theirs[1:] for b in t))]
    )
    left_out = np.sort(squares)[: squares.size - kept.kept].sum()
    result = transform.recompose(*transform.nested(found), params, image.shape[1:])
    error = ((result.numpy()[:3].astype(float) - noisy[:3]) ** 2).sum()
    assert error == pytest.approx(left_out, rel=TOLERANCE["threshold"], abs=TOLERANCE["denoise"])


def test_equals_of_the_last_one_kept_are_kept(gpu) -> None:
    x = np.tile(np.array([[1.0, 0.0], [0.0, 0.0]]), (8, 8))  # haar: a quarter each of cA, cH, cV, cD, all 0.5
    first, *details = wavedec2(gpu, gpu.array(x[None].astype(np.float32)), "haar", "periodization", 1)
    _, kept = keep(transform.flat(first, details), KeepParams(10))
    assert (kept.kept, kept.coefficients, kept.threshold) == (256, 256, pytest.approx(0.5))
