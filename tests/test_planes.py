"""Large images plane by plane: the results are those of all planes at once."""

import numpy as np
import pytest

from gpuops.filters.convolve import convolve
from gpuops.fourier import spectrum
from gpuops.params.dwt import DwtParams, KeepParams, ShrinkParams
from gpuops.params.fft import SpectrumParams
from gpuops.pixels.coding import Decoding, Encoding
from gpuops.tiles import planes
from gpuops.tiles.ends import DeviceImage, HostImage
from gpuops.wavelets import multilevel, shrink, stored, transform
from gpuops.wavelets.denoise import denoise
from gpuops.wavelets.keep import keep

from .reference.fourier import error
from .tolerance import CONVOLVE, DWT, FFT, ROUNDING, ROUNDINGS


@pytest.fixture
def in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every image is large."""
    monkeypatch.setattr(planes, "_AT_ONCE", 0)


def test_planes_are_copied_and_put(gpu, rng) -> None:
    x = rng.random((3, 5, 7), dtype=np.float32)
    image = gpu.array(x)
    image.alpha = False
    assert image.planes(slice(0, 3)) is image
    part = image.planes(slice(1, 2))
    np.testing.assert_array_equal(part.numpy(), x[1:2])
    image.put(slice(2, 3), part)
    np.testing.assert_array_equal(image.numpy(), x[[0, 1, 1]])


def test_spectra(gpu, rng, in_turn) -> None:
    x = rng.random((3, 17, 30), dtype=np.float32)
    for params in (SpectrumParams(), SpectrumParams(half=False, shift=True)):
        pixels = gpu.array(np.moveaxis(x, 0, -1))
        values = spectrum.values_of(gpu, pixels, Decoding(), params)
        expected = (np.fft.rfft2 if params.half else np.fft.fft2)(x, norm="ortho")
        expected = np.fft.fftshift(expected, (-2, -1)) if params.shift else expected
        assert error(values, expected) < FFT["single"]
        back = spectrum.image_of(gpu, values, (17, 30), (17, 30), params).numpy()
        np.testing.assert_allclose(back, x, rtol=0, atol=FFT["value"])


@pytest.mark.parametrize("colours", [1, 3])
def test_convolution(gpu, rng, monkeypatch, colours) -> None:
    x, kernel = rng.random((3, 17, 30)), rng.random((colours, 5, 4))
    whole = convolve(gpu, x, kernel, method="fft")
    monkeypatch.setattr(planes, "_AT_ONCE", 0)
    parts = convolve(gpu, x, kernel, method="fft")
    np.testing.assert_allclose(parts, whole, rtol=0, atol=CONVOLVE["fft"] * np.abs(whole).max())


def test_wavelets(gpu, rng, monkeypatch) -> None:
    x = rng.random((3, 17, 30), dtype=np.float32)
    for levels in (0, 2):
        params = DwtParams("bior4.4", "mirror", levels)
        whole = transform.flat(*transform.decompose(gpu.array(x), params))
        with monkeypatch.context() as patch:
            patch.setattr(planes, "_AT_ONCE", 0)
            parts = transform.flat(*transform.decompose(gpu.array(x), params))
        assert len(parts) == len(whole) == 1 + 3 * levels
        for part, band in zip(parts, whole, strict=True):
            np.testing.assert_array_equal(part.numpy(), band.numpy())


@pytest.mark.parametrize("params", [DwtParams(levels=2), DwtParams("bior2.2", levels=2, integer=True)])
def test_stored_wavelets(gpu, rng, monkeypatch, params) -> None:
    x = np.round(rng.random((4, 17, 30)) * 255).astype(np.float32) / 255
    image = gpu.array(x)
    image.alpha = True
    pixels = np.moveaxis(np.round(x * 255).astype(np.uint8), 0, -1)
    about = stored.StoredBands(params, image.shape, "uint8", alpha=True, linear=False)

    def coefficients() -> dict[str, np.ndarray]:
        source = stored.source_of(gpu, pixels, Decoding(alpha=True), about)
        first, details = transform.nested(stored.coefficients(DeviceImage(source.whole()), params))
        if not params.integer:
            details = shrink.shrink(first, details, params.wavelet, ShrinkParams("bayes"))
        return stored.named(transform.flat(first, details), about)

    whole = coefficients()
    monkeypatch.setattr(planes, "_AT_ONCE", 0)
    parts = coefficients()
    assert list(parts) == list(whole) == list(about.bands())
    for name, band in parts.items():
        np.testing.assert_allclose(band, whole[name], rtol=ROUNDINGS)
    sink = stored.sink_of(about, Encoding(np.dtype(np.float32)))
    multilevel.recompose(stored.host_bands(gpu, parts, about), params, sink)
    back = np.moveaxis(sink.pixels, -1, 0)
    assert np.abs(back[-1] - x[-1]).max() < DWT["round trip"]  # alpha is not shrunk
    if params.integer:  # whole levels, divided by 255 to the device's accuracy
        assert np.abs(back - x).max() < 3 * ROUNDING


def test_denoised_and_kept_wavelets(gpu, rng, monkeypatch) -> None:
    image = gpu.array(rng.random((4, 17, 30), dtype=np.float32))
    image.alpha = True
    params = DwtParams(levels=2)

    def both() -> list[np.ndarray]:
        found, _ = keep(transform.flat(*transform.decompose(image, params)), KeepParams(20))
        denoised = denoise(gpu, image, params, ShrinkParams("bayes"), spins=2)
        restored = HostImage(gpu, np.empty(image.shape, np.float32))
        multilevel.recompose(found, params, restored)
        return [denoised.numpy(), restored.array]

    whole = both()
    monkeypatch.setattr(planes, "_AT_ONCE", 0)
    for part, all_at_once in zip(both(), whole, strict=True):
        np.testing.assert_allclose(part, all_at_once, rtol=0, atol=ROUNDINGS)
