"""Transforms in slabs, of images larger than the memory that they may use: bit for bit those of the whole image."""

from typing import Any

import numpy as np
import pytest

from gpuops import DeviceError, Gpu, Report
from gpuops.params.dwt import MODES, DwtParams, ShrinkParams
from gpuops.tiles import memory
from gpuops.tiles.ends import HostImage
from gpuops.wavelets import dwt2, idwt2, multilevel, transform, wavedec2, waverec2
from gpuops.wavelets.denoise import denoise

from .choices import each, some
from .tolerance import DWT, SHRINK

TINY = 64_000  # bytes: images of these tests must be split


@pytest.fixture
def slabs_of_seven(monkeypatch) -> None:
    """Slabs make seven pairs of rows."""
    monkeypatch.setattr(memory, "units", lambda *_, **__: 7)


def recomposed(
    gpu: Gpu, bands: list[np.ndarray | None], params: DwtParams, shape: tuple[int, int]
) -> np.ndarray:
    given = next(band for band in bands if band is not None)
    found = np.full((given.shape[0], *shape), -1, given.dtype)
    on_host = [None if band is None else HostImage(gpu, band) for band in bands]
    multilevel.recompose(on_host, params, HostImage(gpu, found), memory=TINY)
    return found


def decomposed(gpu: Gpu, x: np.ndarray, params: DwtParams, *, overlap: bool = True) -> list[np.ndarray]:
    bands = multilevel.decompose(HostImage(gpu, x), params, memory=TINY, overlap=overlap)
    assert all(isinstance(band, HostImage) for band in bands)
    return [band.numpy() for band in bands]


def whole(gpu: Gpu, x: np.ndarray, params: DwtParams) -> list[np.ndarray]:
    return [band.numpy() for band in transform.flat(*transform.decompose(gpu.array(x), params))]


# One wavelet of each way to compute, and filters of different lengths; every mode; odd and even sides.
CASES = [
    *(("bior4.4", mode, False) for mode in MODES),
    *(("bior2.2", mode, True) for mode in ("mirror", "periodization", "symmetric")),
    *(("db5", mode, False) for mode in ("periodic", "periodization", "antireflect")),
    ("vc2-fidelity", "vc2", True),
    ("dd13/7", "mirror", False),
]


@pytest.mark.cases(2)
@some(wavelet__mode__integer=CASES, overlap=[True, False])
def test_slabs_give_what_the_whole_does(gpu, rng, slabs_of_seven, wavelet, mode, integer, overlap) -> None:
    for shape, levels in (((97, 40), 1), ((98, 31), 3), ((128, 40), 2)):
        params = DwtParams(wavelet, mode, levels, integer=integer)
        x = rng.random((2, *shape), dtype=np.float32)
        if integer:
            x = (x * 255).astype(np.int32)
        expected = whole(gpu, x, params)
        names = [name for name, _ in transform.band_shapes(params, shape, levels)]
        found = decomposed(gpu, x, params, overlap=overlap)
        for name, ours, theirs in zip(names, found, expected, strict=True):
            np.testing.assert_array_equal(ours, theirs, name)
        low, details = transform.nested([gpu.array(band) for band in expected])
        image = transform.recompose(low, details, params, shape).numpy()
        np.testing.assert_array_equal(recomposed(gpu, expected, params, shape), image)


@pytest.mark.cases(1)
@pytest.mark.parametrize("method", ["filterbank", "laan", "in-place", "strip"])
def test_methods(gpu, rng, slabs_of_seven, method) -> None:
    x = rng.random((1, 110, 52), dtype=np.float32)
    params = DwtParams("bior4.4", "symmetric" if method == "filterbank" else "mirror", 2, method)
    bands: list[np.ndarray | None] = [*decomposed(gpu, x, params)]
    for ours, theirs in zip(bands, whole(gpu, x, params), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    back = recomposed(gpu, bands, params, (110, 52))
    np.testing.assert_allclose(back, x, rtol=0, atol=DWT["round trip"])


def test_bands_that_are_none(gpu, rng, slabs_of_seven) -> None:
    x = rng.random((1, 110, 52), dtype=np.float32)
    params = DwtParams("bior2.2", "symmetric", 2)
    bands: list[np.ndarray | None] = [*whole(gpu, x, params)]
    zeros = [np.zeros_like(band) for band in bands if band is not None]
    for missing in ([0], [1, 2, 3], [4, 6]):
        some = [None if k in missing else band for k, band in enumerate(bands)]
        full = [zeros[k] if k in missing else band for k, band in enumerate(bands)]
        np.testing.assert_array_equal(
            recomposed(gpu, some, params, (110, 52)), recomposed(gpu, full, params, (110, 52))
        )


def test_no_level(gpu, rng, monkeypatch) -> None:
    """Rows only come and go: the rows that go must not be overwritten by those that come."""
    monkeypatch.setattr(memory, "ENOUGH", 1)
    params = DwtParams(levels=0)
    for planes in (1, 2):
        x = rng.random((planes, 300, 70), dtype=np.float32)
        for _ in range(5):
            (found,) = decomposed(gpu, x, params)
            np.testing.assert_array_equal(found, x)
            np.testing.assert_array_equal(recomposed(gpu, [x], params, (300, 70)), x)


def test_memory_is_no_more_than_allowed(opened, rng) -> None:
    """A device that has a quarter of the image's bytes, in single and double precision and plane by plane."""
    x = rng.random((2900, 93), dtype=np.float32)
    large = opened()
    for data, levels in ((x, 3), (x.astype(np.float64), 2), (np.stack([x, x + 1j * x]), 2)):
        if data.dtype == np.float64 and not large.limits.double:
            continue
        limit = data.nbytes // 4
        small = opened(report=Report(), memory=limit)
        assert small.report is not None
        coefficients = wavedec2(small, data, "bior4.4", "symmetric", levels)
        for ours, theirs in zip(
            flat(coefficients), flat(wavedec2(large, data, "bior4.4", "symmetric", levels)), strict=True
        ):
            assert ours.dtype == theirs.dtype
            np.testing.assert_array_equal(ours, theirs)
        back = waverec2(small, coefficients, "bior4.4", "symmetric", shape=data.shape[-2:])
        np.testing.assert_array_equal(
            back, waverec2(large, coefficients, "bior4.4", "symmetric", shape=data.shape[-2:])
        )
        assert 0 < small.report.peak_device_bytes <= limit
        low, details = dwt2(small, data, "db3")
        np.testing.assert_array_equal(low, dwt2(large, data, "db3")[0])
        expected = idwt2(large, (low, (details[0], None, details[2])), "db3")
        np.testing.assert_array_equal(idwt2(small, (low, (details[0], None, details[2])), "db3"), expected)


def test_pixels_in_slabs(opened, rng) -> None:
    """The samples of a channel's row are not neighbours in pixels (height, width, channels)."""
    pixels = rng.random((2900, 41, 3), dtype=np.float32)
    small, large = opened(memory=pixels.nbytes // 4), opened()
    ours, theirs = (wavedec2(gpu, pixels, "bior4.4", "symmetric", 2, (0, 1)) for gpu in (small, large))
    for one, other in zip(flat(ours), flat(theirs), strict=True):
        np.testing.assert_array_equal(one, other)
    back = waverec2(small, ours, "bior4.4", "symmetric", (0, 1), shape=pixels.shape[:2])
    assert back.shape == pixels.shape
    np.testing.assert_array_equal(
        back, waverec2(large, theirs, "bior4.4", "symmetric", (0, 1), shape=pixels.shape[:2])
    )


@pytest.mark.cases(1)
@each(spins=[1, 2], mode=["mirror", "smooth"])
def test_denoising_in_slabs(opened, rng, spins, mode) -> None:
    x = 0.5 + 0.1 * rng.standard_normal((3, 1900, 61)).astype(np.float32)
    limit = 3 * x.nbytes
    small, large = opened(report=Report(), memory=limit), opened()
    arguments = DwtParams("bior4.4", mode, 3), ShrinkParams(threshold=0.1, space="opponent")
    expected = denoise(large, x, *arguments, spins=spins)
    np.testing.assert_array_equal(denoise(small, x, *arguments, spins=spins), expected)
    assert small.report is not None and 0 < small.report.peak_device_bytes <= limit
    # Estimates are sums over other parts, so they differ by rounding.
    arguments = DwtParams("bior4.4", mode), ShrinkParams("bayes")
    expected = denoise(large, x, *arguments, spins=spins)
    found = denoise(small, x, *arguments, spins=spins)
    assert found.shape == x.shape and found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=0, atol=SHRINK["denoise"])


def flat(coefficients: list[Any]) -> list[np.ndarray]:
    return [coefficients[0], *(band for level in coefficients[1:] for band in level)]


def test_too_little_memory(opened, rng) -> None:
    x = rng.random((200, 1000), dtype=np.float32)
    with pytest.raises(DeviceError, match=r"rows of 4 kB need .* MB of the device.s memory, of 100 kB"):
        wavedec2(opened(memory=100_000), x, "bior4.4", "mirror", 2)
