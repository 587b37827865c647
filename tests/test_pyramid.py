"""The picture of all bands: where they are, and that they can be seen."""

from typing import Any

import numpy as np
import pytest

from gpuops import Gpu, Image
from gpuops.params.dwt import DwtParams
from gpuops.tiles.ends import DeviceImage
from gpuops.wavelets import pyramid, transform

from .reference.images import shades_and_edges
from .tolerance import ROUNDINGS


@pytest.fixture
def scene() -> np.ndarray:
    return shades_and_edges()


def encoded(gpu: Gpu, planes: np.ndarray, *, alpha: bool = False) -> Image:
    image = gpu.array(planes)
    image.alpha, image.linear = alpha, False
    return image


def shown(image: Image, params: DwtParams, white: float = 1.0) -> np.ndarray:
    return painted(*transform.decompose(image, params), white)


def painted(approximation: Image, details: Any, white: float) -> np.ndarray:
    bands = transform.flat(approximation, details)
    picture = DeviceImage(approximation.gpu.empty(pyramid.size(bands)))
    pyramid.paint(bands, picture, white)
    return picture.image.numpy()


def test_every_band_is_shown_about_mid_gray(gpu, scene) -> None:
    values = shown(encoded(gpu, scene, alpha=True), DwtParams(levels=2))
    assert values.shape == (3, 128 + 2, 160 + 2)  # colours, and a line between bands
    assert values.min() == 0.0 and 0.9 < values.max() <= 1.0
    np.testing.assert_allclose(values[:, :32, :40].mean(axis=(1, 2)), scene[:3].mean(axis=(1, 2)), atol=0.02)
    for y, x in (
        (slice(66, None), slice(82, None)),
        (slice(0, 65), slice(82, None)),
        (slice(33, 65), slice(41, 81)),
    ):
        assert abs(np.median(values[:, y, x]) - 0.5) < 0.05 and values[:, y, x].std() > 0.02
    np.testing.assert_array_equal(values[:, 65, :], 0)
    np.testing.assert_array_equal(values[:, :, 81], 0)


def test_lines_are_all_of_one_width(gpu, scene) -> None:
    """Zeros fill the rest of a band's place, for bands of any size; two of the three longest lines lie in one row."""
    for params in (
        DwtParams(levels=5),
        DwtParams("db4", "symmetric", 3),
        DwtParams("db4", "periodization", 7),
    ):
        values = shown(encoded(gpu, scene[:1, :127, :131] + 0.01), params)[0]
        height, width = values.shape
        assert ((values == 0).all(axis=1).sum(), (values == 0).all(axis=0).sum()) == (1, 1)
        assert ((values == 0).sum(axis=1) < width / 2).sum() == height - 2


def test_shades_of_one_level(gpu) -> None:
    flat, level = np.full((1, 8, 8), 0.25, np.float32), DwtParams("haar", levels=1)
    np.testing.assert_allclose(np.unique(shown(encoded(gpu, flat), level)), [0, 0.25, 0.5])
    light = gpu.array(flat)  # linear: 0.25 is shown as the sRGB code 0.537099
    np.testing.assert_allclose(np.unique(shown(light, level)), [0, 0.5, 0.537099], rtol=0, atol=ROUNDINGS)
    whole = shown(
        encoded(gpu, (flat * 1020).astype(np.int32)), DwtParams("haar", levels=1, integer=True), 255
    )
    np.testing.assert_allclose(np.unique(whole), [0, 0.5, 1.0], rtol=0, atol=ROUNDINGS)


@pytest.mark.parametrize("lamp", [1.0, 1e4, 1e30])
def test_one_bright_lamp_does_not_hide_the_rest(gpu, scene, lamp) -> None:
    scene[:, 70, 30] = lamp
    values = shown(gpu.array(scene), DwtParams(levels=1))
    assert values[:, 65:, 81:].std() > 0.02


def test_few_lines_on_black_are_shown(gpu) -> None:
    values = np.zeros((1, 64, 64), np.float32)
    values[0, 20, 20] = 1e-3
    found = shown(encoded(gpu, values), DwtParams(levels=1))[0, 33:, 33:]
    assert 0.5 < found.max() - found.min() <= 1 and np.median(found) == 0.5


@pytest.mark.parametrize("shape", [(1, 1), (1, 300), (300, 1), (3, 2)])
def test_small_images(gpu, scene, shape) -> None:
    for levels in (0, 1, 9):
        for mode in ("mirror", "symmetric"):
            values = shown(encoded(gpu, np.resize(scene, (3, *shape))), DwtParams("haar", mode, levels))
            assert np.isfinite(values).all() and values.min() >= 0 and values.max() <= 1
        whole = encoded(gpu, np.resize(scene * 255, (3, *shape)).astype(np.int32))
        shades = shown(whole, DwtParams("haar", levels=levels, integer=True), 255)
        assert shades.min() >= 0 and shades.max() <= 1
