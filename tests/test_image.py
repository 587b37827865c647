"""Conversion between files' pixels and planar float images, on the device."""

import numpy as np
import pytest

from gpuops import ParameterError
from gpuops.pixels.coding import download, upload

from .choices import each, pairs
from .reference.colour import srgb_light, srgb_signal
from .tolerance import ROUNDING

DTYPES = ["uint8", "uint16", "float16", "float32"]


def pixels_of(rng: np.random.Generator, dtype: str, shape: tuple[int, int, int]) -> np.ndarray:
    if dtype.startswith("u"):
        return rng.integers(0, np.iinfo(dtype).max + 1, shape).astype(dtype)
    return rng.uniform(-2, 8, shape).astype(dtype)


@each(dtype__channels__size=pairs(DTYPES, [1, 2, 3, 4], [(1, 1), (1, 7), (31, 17)]))
def test_pixels_come_back_exactly(gpu, rng, dtype, channels, size) -> None:
    pixels = pixels_of(rng, dtype, (*size, channels))
    image = upload(gpu, pixels, alpha=channels in (2, 4))
    assert image.shape == (channels, *size)
    back, losses = download(image, dtype)
    np.testing.assert_array_equal(back, pixels)
    assert losses.clipped == losses.not_finite == 0


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_every_code_survives_linear_light(gpu, dtype) -> None:
    count = np.iinfo(dtype).max + 1
    pixels = np.arange(count, dtype=dtype).reshape(count // 256, 256, 1)
    image = upload(gpu, pixels, linearise=True)
    expected = srgb_light(pixels[..., 0] / (count - 1))
    np.testing.assert_allclose(image.numpy()[0], expected, rtol=ROUNDING)
    np.testing.assert_array_equal(download(image, dtype, encode=True)[0], pixels)


def test_8_bit_encoding_rounds_as_float64_does(gpu, rng) -> None:
    values = np.concatenate([rng.uniform(-0.01, 1.01, 60000), rng.uniform(0, 0.004, 5536)]).astype(np.float32)
    exact = np.clip(srgb_signal(values.astype(np.float64)), 0, 1) * 255
    settled = np.abs(exact - np.floor(exact) - 0.5) > 1e-4  # on a step itself float32 may fall on either side
    codes = download(gpu.array(values.reshape(1, 256, 256)), "uint8", encode=True)[0].ravel()
    np.testing.assert_array_equal(codes[settled], np.rint(exact)[settled])
    assert np.abs(codes - exact).max() <= 0.5001


def test_losses_are_counted(gpu) -> None:
    values = np.array([[-1, 0, 0.5, 1, 1.0001, 3, np.nan, np.inf, -np.inf]], np.float32)
    pixels, losses = download(gpu.array(values[None]), "uint8")
    np.testing.assert_array_equal(pixels[0, :, 0], [0, 0, 128, 255, 255, 255, 0, 255, 0])
    assert (losses.clipped, losses.not_finite) == (2, 3)  # 1.0001 rounds to 255: nothing is lost
    pixels, losses = download(gpu.array(values[None] * 65504), "float16")
    assert (losses.clipped, losses.not_finite) == (2, 0)  # −65504 fits; 65510.5 and 196512 do not
    assert np.isnan(pixels[0, 6, 0]) and np.isposinf(pixels[0, 7, 0])
    same, losses = download(gpu.array(values[None]), "float32")
    np.testing.assert_array_equal(same[0, :, 0], values[0])
    assert losses.clipped == 0


@pytest.mark.parametrize("encode", [False, True])
def test_losses_of_encoded_values_are_counted(gpu, encode) -> None:
    values = np.array([[[0.0, 1.0, 1.001, 1.2, -0.2, -1e-6, np.nan]]], np.float32)
    for dtype in ("uint8", "uint16"):
        losses = download(gpu.array(values), dtype, encode=encode)[1]
        assert losses.not_finite == 1
        # 1.001 is half a level of 8 bits away; −1e-6 becomes −0.85 levels of 16 bits once encoded.
        assert losses.clipped == (2 if dtype == "uint8" else 3 + encode)


def test_wrong_pixels_are_refused(gpu) -> None:
    with pytest.raises(ParameterError, match="height, width, channels"):
        upload(gpu, np.zeros((4, 4), np.uint8))
    with pytest.raises(ParameterError, match="int32"):
        upload(gpu, np.zeros((4, 4, 1), np.int32))
