"""Starbursts against Fraunhofer's integral in closed form, and bloom by them against its definition in numpy."""

import math

import numpy as np
import pytest
from scipy import ndimage
from scipy.special import j1

from gpuops import DeviceError, ParameterError
from gpuops.errors import TooLongError
from gpuops.glow import starburst
from gpuops.glow.bloom import bloom
from gpuops.ops.bloom import BloomParams
from gpuops.params.bloom import Aperture

from .reference.glow import burst as reference
from .reference.glow import polygon_transform as transform
from .reference.images import on
from .tolerance import ROUNDINGS
from .tolerance import STARBURST as TOLERANCE

Array = np.ndarray


def check(kernel: Array, expected: Array) -> None:
    """Alike as a whole and relative to what is around."""
    around = ndimage.uniform_filter(expected, (0, 5, 5), mode="constant")
    inside = around > 1e-9 * around.max()
    assert kernel.shape == expected.shape
    assert np.abs(kernel - expected).sum((1, 2)).max() <= TOLERANCE["kernel"]
    assert (np.abs(kernel - expected)[inside] / around[inside]).max() <= TOLERANCE["pixel"]
    np.testing.assert_allclose(kernel.sum((1, 2), dtype=np.float64), 1, rtol=TOLERANCE["sum"])
    assert kernel.min() >= 0


def test_a_round_aperture_makes_airys_pattern(gpu) -> None:
    pattern = starburst._pattern(gpu, Aperture(roundness=1.0)).numpy()[0]
    v = np.maximum(np.arange(pattern.shape[1]) * starburst._STEP, 1e-9)
    envelope = np.minimum(1, 8 / (np.pi * v**3))
    assert (np.abs(pattern - (2 * j1(v) / v) ** 2) / envelope).max() <= TOLERANCE["pattern"]


@pytest.mark.parametrize("blades", [3, 4, 6, 9])
def test_a_polygon_makes_rays(gpu, blades) -> None:
    """Along the ray and off it, over four and more powers of ten."""
    aperture = Aperture(blades)
    pattern = starburst._pattern(gpu, aperture).numpy()[0]
    angles = np.linspace(0, starburst._sector(aperture), len(pattern))[:, None]
    v = np.arange(pattern.shape[1]) * starburst._STEP
    expected = abs(transform(blades, v * np.cos(angles), v * np.sin(angles))) ** 2
    ray, between = slice(0, 4), slice(len(pattern) // 2, len(pattern) // 2 + 30)
    for where, first, last, kind in (
        (ray, 1, 900, "ray"),
        (between, 1, 100, "ray"),
        (between, 100, 700, "between rays"),
    ):
        at = (v >= first) & (v < last)
        near, exact = (ndimage.uniform_filter1d(p[where].mean(0), 30)[at] for p in (pattern, expected))
        assert np.abs(near / exact - 1).max() <= TOLERANCE[kind]


def test_colour_matching_functions() -> None:
    """The observer's own values, CIE 1931, at the peaks and between them: the fit is within 0.02 or so."""
    nm = np.array([450.0, 500.0, 555.0, 600.0, 650.0])
    expected = [
        [0.3362, 0.0049, 0.5121, 1.0622, 0.2835],
        [0.0380, 0.3230, 1.0000, 0.6310, 0.1070],
        [1.7721, 0.2720, 0.0057, 0.0008, 0.0000],
    ]
    np.testing.assert_allclose(starburst.xyz(nm), expected, rtol=0, atol=TOLERANCE["cie"])


@pytest.mark.cases(1)
@pytest.mark.parametrize(("aperture", "radius", "reach"), [
    (Aperture(6, 17.0), 40.0, 30.0),  # a pixel is two samples wide
    (Aperture(5), 100.0, 25.5),  # a pixel is less than a sample wide
    (Aperture(8, -100.0), 12.0, 12.0),  # a pixel is many samples wide
], ids=str)  # fmt: skip
def test_kernel(gpu, aperture, radius, reach) -> None:
    kernel = starburst.starburst(gpu, aperture, radius, reach)
    check(kernel, reference(aperture, reach, starburst.RADIUS / radius, every=5))


def test_small_radii_leave_all_in_the_pixel(gpu) -> None:
    """The light beyond the pixel grows as the radius does, through one pixel and on."""
    outside = []
    for radius in (0.0, 0.25, 0.5, 1.0, 1.01):
        kernel = starburst.starburst(gpu, Aperture(), radius)[1]
        outside.append(1 - float(kernel[len(kernel) // 2, len(kernel) // 2]))
    assert outside[0] == pytest.approx(0, abs=ROUNDINGS)
    for times, less in ((4, outside[1]), (2, outside[2])):
        assert outside[3] == pytest.approx(times * less, rel=TOLERANCE["small"])
    assert outside[4] == pytest.approx(1.01 * outside[3], rel=0.02)


@pytest.mark.parametrize(("planes", "alpha"), [(1, False), (2, True), (3, False), (4, True)])
def test_bloom_is_its_definition(gpu, rng, planes, alpha) -> None:
    """Light by the kernel in darkness, and what would leave stays."""
    x = np.exp(rng.normal(-1, 2, (planes, 33, 47)))
    if alpha:
        x[-1] = np.clip(x[-1], 0, 1)
    params = BloomParams(
        method="fft", strength=0.6, radius=0.3, blend="add", blades=5, blade_angle=30.0, roundness=0.2
    )
    kernel = starburst.starburst(gpu, params.aperture, 0.3 * 33, 33).astype(np.float64)
    kernel = kernel[:planes] if planes > 2 else kernel[[3] * planes]
    glow = np.stack([ndimage.convolve(p, k, mode="constant") for p, k in zip(x, kernel, strict=True)])
    inside = np.stack(
        [ndimage.convolve(np.ones(p.shape), k, mode="constant") for p, k in zip(x, kernel, strict=True)]
    )
    added = 0.6 * (glow + (1 - inside) * x)
    if alpha:
        added[-1] = np.clip(added[-1], 0, 1 - x[-1])
    result = bloom(gpu, on(gpu, x, alpha), params).numpy()
    assert np.abs(result - (x + added)).max() <= TOLERANCE["convolution"] * x.max()


def test_light_is_kept(gpu, rng) -> None:
    params = BloomParams(method="fft", strength=1.0, radius=0.4)
    constant = np.full((3, 30, 50), 7.3, np.float32)
    np.testing.assert_allclose(
        bloom(gpu, on(gpu, constant), params).numpy(), constant, rtol=TOLERANCE["convolution"]
    )
    x = rng.random((3, 30, 50)) ** 8
    result = bloom(gpu, on(gpu, x), params).numpy()
    np.testing.assert_allclose(result.mean((1, 2), dtype=np.float64), x.mean((1, 2)), rtol=ROUNDINGS)


def test_what_is_kept_is_for_one_size_and_aperture(gpu, rng) -> None:
    params = BloomParams(method="fft", strength=1.0, radius=0.2)
    x, other = rng.random((3, 20, 30)), rng.random((3, 31, 17))
    first = bloom(gpu, on(gpu, x), params).numpy()
    bloom(gpu, on(gpu, other), params)
    np.testing.assert_array_equal(bloom(gpu, on(gpu, x), params).numpy(), first)
    turned = BloomParams(method="fft", strength=1.0, radius=0.2, blades=5)
    assert np.abs(bloom(gpu, on(gpu, x), turned).numpy() - first).max() > 1e-4


def test_local_memory_too_small(gpu, monkeypatch) -> None:
    def too_long(*_: object) -> None:
        raise TooLongError("rows")

    monkeypatch.setattr(starburst.fft, "convolution", too_long)
    gpu.plans.pop("starburst", None)
    with pytest.raises(DeviceError, match="use a smaller radius or image"):
        starburst.glow(gpu, on(gpu, np.ones((1, 8, 8))), Aperture(), 0.1)


@pytest.mark.parametrize(("options", "message"), [
    ({"blades": 2}, "from 3 to 32"), ({"blades": 33}, "from 3 to 32"), ({"blades": 5.5}, "blades"),
    ({"angle": math.inf}, "angle"), ({"angle": math.nan}, "angle"), ({"roundness": -0.1}, "roundness"),
    ({"roundness": 1.1}, "roundness"), ({"roundness": math.nan}, "roundness"),
])  # fmt: skip
def test_refused_parameters(options, message) -> None:
    with pytest.raises(ParameterError, match=message):
        Aperture(**options)
