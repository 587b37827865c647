"""Transforms that read and write pixels, real numbers alone, or halves, against numpy in double precision."""

from dataclasses import replace

import numpy as np
import pytest

from gpuops import Gpu, ParameterError
from gpuops import fourier as fft
from gpuops.fourier import spectrum
from gpuops.image import COMPLEX_HALF
from gpuops.params.fft import FftParams, SpectrumParams, filter_option
from gpuops.pixels.coding import Decoding, Encoding, losses, pack
from gpuops.reuse import Plans

from .reference.colour import srgb_signal
from .reference.fourier import error
from .test_fft import small_primes
from .tolerance import FFT as TOLERANCE
from .tolerance import HALF

# Both ends of the type's range; even and odd columns, whose last passes differ; padding; whole spectra.
WRITTEN = [
    ((48, 30), "auto", "uint8", 3, {}),
    ((48, 30), "auto", "uint16", 4, {"half": False, "shift": True}),
    ((17, 31), "auto", "float16", 2, {"shift": True}),
    ((17, 31), "auto", "uint8", 1, {"half": False}),
    ((20, 32), "local", "uint8", 3, {}),
    ((21, 30), "local", "uint16", 2, {"pad": "5"}),
    ((9, 13), "local", "float32", 3, {"half": False, "pad": "fast"}),
    ((12, 20), "global", "uint8", 4, {"pad": "pow2"}),
    ((5, 6), "global", "uint16", 3, {"half": False}),
    ((1, 1), "auto", "uint8", 1, {}),
    ((1, 7), "local", "uint8", 3, {}),
]


def spectra(rng: np.random.Generator, size: tuple[int, int], channels: int, params: SpectrumParams):
    """An image beyond 0 … 1 at both ends, of the transform's size, and its transform in double precision."""
    image = rng.random((channels, *spectrum.padded(size, params.pad))) * 1.4 - 0.2
    values = (np.fft.rfft2 if params.half else np.fft.fft2)(image, norm="ortho")
    if params.shift:
        values = np.fft.fftshift(values, -2 if params.half else (-2, -1))
    return image, values


@pytest.mark.parametrize(("size", "method", "dtype", "channels", "options"), WRITTEN)
def test_pixels_are_written_as_by_their_own_kernel(gpu, rng, size, method, dtype, channels, options) -> None:
    params = SpectrumParams(**options, how=FftParams(method))
    image, values = spectra(rng, size, channels, params)
    values, alpha, encoding = values.astype(np.complex64), channels in (2, 4), Encoding(np.dtype(dtype))
    transform = image.shape[1:]
    pixels, lost = spectrum.pixels_of(gpu, values, size, transform, params, encoding, alpha)
    planar = spectrum.image_of(gpu, values, size, transform, params)
    planar.alpha = alpha
    packed, lost_there = pack(planar, encoding)
    got = pixels.numpy()
    np.testing.assert_array_equal(got, packed.numpy())
    assert losses(lost) == losses(lost_there)
    exact = np.moveaxis(image[:, : size[0], : size[1]], 0, -1)
    if dtype[0] == "u":
        largest = np.iinfo(dtype).max
        level = np.clip(exact, 0, 1) * largest
        assert np.abs(got - level).max() < 0.5 + TOLERANCE["value"] * largest
        beyond = np.count_nonzero((exact < -0.5 / largest) | (exact > 1 + 0.5 / largest))
        assert abs(losses(lost).clipped - beyond) <= 2
    else:
        rounding = HALF if dtype == "float16" else 0
        np.testing.assert_allclose(got, exact, rtol=rounding, atol=2 * TOLERANCE["value"])


def test_what_no_pixel_can_hold(gpu) -> None:
    values = np.zeros((3, 6, 5), np.complex64)
    values[:, 0, 0] = (np.nan, 2.0, -3.0)  # frequency 0, the sum of all pixels
    for dtype, expected, clipped, not_finite in (
        ("uint8", (0, round(2 / 48 * 255), 0), 48, 48),
        ("float16", (np.nan, 2 / 48, -3 / 48), 0, 0),
    ):
        pixels, lost = fft.irfft2_to_pixels(gpu, gpu.array(values), (6, 8), dtype)
        np.testing.assert_allclose(
            pixels.numpy(), np.broadcast_to(expected, (6, 8, 3)), rtol=HALF, equal_nan=True
        )
        assert (lost.clipped, lost.not_finite) == (clipped, not_finite)


def test_there_and_back_in_bytes(gpu, rng) -> None:
    pixels = rng.integers(0, 256, (37, 46, 3), dtype=np.uint8)
    there = fft.rfft2_of_pixels(gpu, gpu.array(pixels), "ortho")
    back, lost = fft.irfft2_to_pixels(gpu, there, (37, 46), np.uint8, "ortho")
    np.testing.assert_array_equal(back.numpy(), pixels)
    assert lost.clipped == lost.not_finite == 0
    with pytest.raises(ParameterError, match="half spectrum"):
        fft.irfft2_to_pixels(gpu, there, (37, 50), np.uint8)
    with pytest.raises(ParameterError, match="pixels are"):
        fft.irfft2_to_pixels(gpu, there, (37, 46), np.int16)


@pytest.mark.cases(1)
@pytest.mark.parametrize("local_bytes", [1 << 16, 1024])
@pytest.mark.parametrize("size", [(17, 34), (38, 9)])
@pytest.mark.parametrize("half", [False, True])
def test_pixels_of_convolutions(gpu, rng, monkeypatch, size, local_bytes, half) -> None:
    """Prime factors that Bluestein's convolution transforms, in one launch or, of little local memory, in several."""
    small_primes(monkeypatch)
    few = min(local_bytes, gpu.limits.local_bytes)
    monkeypatch.setitem(vars(gpu), "limits", replace(gpu.limits, local_bytes=few))
    monkeypatch.setattr(gpu, "plans", Plans())
    pixels = rng.integers(0, 256, (*size, 3), dtype=np.uint8)
    params = SpectrumParams(precision="half" if half else "single")
    values = spectrum.values_of(gpu, gpu.array(pixels), Decoding(), params)
    got = values["real"] + 1j * values["imag"].astype(float) if half else values
    expected = np.fft.rfft2(np.moveaxis(pixels / 255, 2, 0), norm="ortho")
    assert error(got, expected) < (TOLERANCE["half"] * passes(gpu) ** 0.5 if half else TOLERANCE["single"])
    assert any(p.convolved or p.schedule.length for plan in gpu.plans.values() for p in plan.passes)
    back, _ = spectrum.pixels_of(gpu, values, size, size, params, Encoding(np.dtype(np.uint8)), False)
    np.testing.assert_array_equal(back.numpy(), pixels)


def test_planes_in_turn(gpu, rng, monkeypatch) -> None:
    """Large images, plane by plane, are read and written as small ones are in whole."""
    monkeypatch.setattr("gpuops.tiles.planes._AT_ONCE", 1000)
    pixels = rng.integers(0, 65536, (20, 26, 4), dtype=np.uint16)
    params = SpectrumParams(shift=True)
    values = spectrum.values_of(gpu, gpu.array(pixels), Decoding(alpha=True), params)
    expected = np.fft.rfft2(np.moveaxis(pixels / 65535, 2, 0), norm="ortho")
    assert error(values, np.fft.fftshift(expected, -2)) < TOLERANCE["single"]
    for encode in (False, True):  # channels other than alpha go through the curve
        encoding = Encoding(np.dtype(np.uint8), encode=encode)
        got, _ = spectrum.pixels_of(gpu, values, (20, 26), (20, 26), params, encoding, True)
        light = pixels / 65535
        if encode:
            colours = light[..., :3]
            curved = srgb_signal(colours)
            light = np.concatenate([curved, light[..., 3:]], -1)
        assert np.abs(got.numpy() - light * 255).max() < 0.51


def passes(gpu: Gpu) -> int:
    return len(next(reversed(gpu.plans.values())).passes)


@pytest.mark.cases(1)
@pytest.mark.parametrize(("size", "method", "options"), [
    ((40, 36), "auto", {}), ((17, 31), "auto", {"half": False, "shift": True}),
    ((17, 31), "local", {"pad": "5"}), ((12, 20), "local", {"half": False}), ((8, 16), "global", {}),
    ((4, 9), "global", {"half": False, "pad": "pow2"}),
])  # fmt: skip
def test_half_precision(gpu, rng, size, method, options) -> None:
    """Complex numbers are halves between passes and in the end; what is rounded to 8 bits comes back."""
    pixels = rng.integers(0, 256, (*size, 3), dtype=np.uint8)
    params = SpectrumParams(**options, precision="half", how=FftParams(method))
    values = spectrum.values_of(gpu, gpu.array(pixels), Decoding(), params)
    assert values.dtype == COMPLEX_HALF
    transform = spectrum.padded(size, params.pad)
    whole = np.fft.rfft2 if params.half else np.fft.fft2
    expected = whole(np.moveaxis(pixels / 255, 2, 0), s=transform, norm="ortho")
    if params.shift:
        expected = np.fft.fftshift(expected, -2 if params.half else (-2, -1))
    got = values["real"] + 1j * values["imag"].astype(float)
    assert error(got, expected) < TOLERANCE["half"] * passes(gpu) ** 0.5
    back, _ = spectrum.pixels_of(gpu, values, size, transform, params, Encoding(np.dtype(np.uint8)), False)
    np.testing.assert_array_equal(back.numpy(), pixels)


def test_half_precision_filters(gpu, rng) -> None:
    pixels = rng.random((18, 20, 1), np.float32)
    params = SpectrumParams(precision="half", filter=filter_option("lowpass", "0.2"))
    got = spectrum.values_of(gpu, gpu.array(pixels), Decoding(), params)
    r = np.hypot(np.fft.fftfreq(18)[:, None], np.fft.rfftfreq(20))
    expected = np.fft.rfft2(pixels[..., 0], norm="ortho") * 2.0 ** -((r / 0.2) ** 2)
    assert (
        error(got["real"][0] + 1j * got["imag"][0].astype(float), expected) < TOLERANCE["half, eight times"]
    )


@pytest.mark.parametrize("params", [FftParams("global", "2"), FftParams("local")])
def test_sums_stay_in_range(gpu, monkeypatch, params) -> None:
    """1024 times 200 is beyond halves; each of several passes takes its part of the scale."""
    monkeypatch.setitem(
        vars(gpu), "limits", replace(gpu.limits, local_bytes=1024)
    )  # the method local takes two passes
    x = np.zeros((2, 1024), COMPLEX_HALF)
    x["real"] = 200
    gpu.plans.clear()
    try:
        y = fft.fft(gpu, x, norm="ortho", params=params)
        assert passes(gpu) > 1
    finally:
        gpu.plans.clear()
    assert np.isfinite(y["real"]).all() and y["real"][0, 0] == pytest.approx(6400, rel=2 * HALF)
