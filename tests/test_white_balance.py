"""gpuops.tone.white_balance: published chromaticities and matrices, and images in numpy."""

import math
from dataclasses import replace

import numpy as np
import pytest

from gpuops import Gpu, GpuopsWarning, Image, ParameterError
from gpuops.glow.bloom import bloom_pixels
from gpuops.ops.bloom import BloomParams
from gpuops.ops.tonemap import TonemapParams
from gpuops.params.contact_sheet import ContactSheetParams
from gpuops.params.lut import LutParams
from gpuops.params.operators import LOCAL, METERS
from gpuops.params.region import Region
from gpuops.params.white_balance import Illuminant, WhiteBalance, white_balance_option
from gpuops.pixels.coding import Decoding, Encoding, unpack
from gpuops.tone import contact_sheet, white_balance
from gpuops.tone import curves as tone_curve
from gpuops.tone.lut import Lut
from gpuops.tone.metering import metered
from gpuops.tone.tonemap import exposure, tonemap, tonemap_pixels

from .reference import tone as tonemap_reference
from .reference.tone import REC709
from .tolerance import DOUBLE, LUT, ROUNDINGS, TONEMAP, TONEMAP_LOCAL
from .tolerance import WHITE_BALANCE as TOLERANCE

WARM = Illuminant(2856.0, -0.004)


def uv(xy: tuple[float, float]) -> np.ndarray:
    x, y = xy
    return np.array([4 * x, 6 * y]) / (12 * y - 2 * x + 3)


def light(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Random light of which the channels differ."""
    tint = np.array([3, 1, 0.3, 1])[: shape[0], np.newaxis, np.newaxis]
    return (np.exp2(np.random.default_rng(seed).uniform(-6, 6, shape)) * tint).astype(np.float32)


def on(gpu: Gpu, pixels: np.ndarray) -> Image:
    image = gpu.array(pixels)
    image.alpha = len(pixels) in (2, 4)
    return image


def balanced(pixels: np.ndarray, balance: Illuminant | tuple[float, float, float]) -> np.ndarray:
    return np.tensordot(white_balance.matrix(balance), pixels.astype(np.float64), 1)


def mapped(gpu: Gpu, pixels: np.ndarray, balance: WhiteBalance, **params: object) -> np.ndarray:
    settings = {
        "operator": "linear", "exposure": 0.0, "transfer": "linear", "white_balance": balance,
    } | params  # fmt: skip
    return tonemap(gpu, on(gpu, pixels), TonemapParams(**settings)).numpy()  # type: ignore[arg-type]


def test_black_bodies_and_daylight() -> None:
    """Of daylight D50, D55, D65, and D75, as the CIE has them."""
    for temperature, x, y in ((2000, 0.5267, 0.4133), (2856, 0.4476, 0.4074), (10000, 0.2807, 0.2884)):
        assert white_balance.planckian(temperature) == pytest.approx((x, y), abs=TOLERANCE["planckian"])
    for temperature, x, y in (
        (5003, 0.34567, 0.35850), (5503, 0.33242, 0.34743), (6504, 0.31271, 0.32902), (7504, 0.29902, 0.31485),
    ):  # fmt: skip
        assert white_balance.daylight(temperature) == pytest.approx((x, y), abs=TOLERANCE["daylight"])
        assert white_balance.chromaticity(Illuminant(temperature)) == white_balance.daylight(temperature)


@pytest.mark.parametrize("temperature", [1667, 2222, 2856, 4000, 6999, 25000])
@pytest.mark.parametrize("tint", [-0.02, 0.002])
def test_tint_is_a_distance_along_the_isotherm(temperature, tint) -> None:
    start, end = (uv(white_balance.chromaticity(Illuminant(temperature, t))) for t in (0.0, tint))
    step = end - start
    assert np.linalg.norm(step) == pytest.approx(abs(tint), abs=DOUBLE)
    assert np.sign(step[1]) == np.sign(tint)  # green is up
    # The step goes across the locus of black bodies, whose cubics change at 2222 and 4000 K.
    near = [t for t in (temperature - 0.5, temperature + 0.5) if 1667 <= t <= 25000]
    if temperature not in (2222, 4000):
        near = near if len(near) == 2 else sorted([temperature, *near])
        along = np.subtract(*(uv(white_balance.planckian(t)) for t in near))
        assert abs(along @ step) <= TOLERANCE["isotherm"] * np.linalg.norm(along) * abs(tint)


def test_d65_needs_no_adaptation() -> None:
    np.testing.assert_allclose(white_balance.adaptation(white_balance.D65), np.eye(3), rtol=0, atol=DOUBLE)
    np.testing.assert_allclose(
        white_balance.matrix(Illuminant(6504.0)), np.eye(3), rtol=0, atol=TOLERANCE["D65"]
    )


def test_bradford_is_the_published() -> None:
    """Lindbloom, *Chromatic Adaptation*, D50 to D65, of the white points of ASTM E308."""

    def xy(x: float, z: float) -> tuple[float, float]:
        return x / (x + 1 + z), 1 / (x + 1 + z)

    published = [
        [0.9555766, -0.0230393, 0.0631636],
        [-0.0282895, 1.0099416, 0.0210077],
        [0.0122982, -0.0204830, 1.3299098],
    ]
    got = white_balance.adaptation(xy(0.96422, 0.82521), xy(0.95047, 1.08883))
    np.testing.assert_allclose(got, published, rtol=0, atol=TOLERANCE["Bradford"])


@pytest.mark.parametrize("balance", [Illuminant(1667.0), WARM, Illuminant(5600.0, 0.01), Illuminant(25000.0)])
def test_the_light_becomes_white_and_keeps_its_luminance(balance) -> None:
    x, y = white_balance.chromaticity(balance)
    to_xyz = tonemap_reference.rgb_to_xyz([(0.64, 0.33), (0.30, 0.60), (0.15, 0.06)])
    rgb = np.linalg.solve(to_xyz, [x / y, 1, (1 - x - y) / y])
    np.testing.assert_allclose(white_balance.matrix(balance) @ rgb, [1, 1, 1], rtol=DOUBLE)


def test_gray_world_makes_means_equal() -> None:
    means = np.array([0.5, 0.3, 0.01])
    result = means * white_balance.gray_world(means.tolist())
    np.testing.assert_allclose(result, REC709 @ means, rtol=DOUBLE)
    for black in ([0.0, 0.0, 0.0], [math.nan] * 3, [-1.0, 0.0, math.nan]):
        assert white_balance.gray_world(black) == (1, 1, 1)
    for missing in ([1.0, 1.0, 0.0], [1.0, -1.0, 1.0], [1.0, math.nan, 1.0], [1.0, 1.0, 1e-9]):
        with pytest.raises(ParameterError, match="light in every channel"):
            white_balance.gray_world(missing)


def test_options() -> None:
    expected = {
        "none": None, "gray-world": "gray-world", "1.5, 1,.75": (1.5, 1, 0.75), "5600K": Illuminant(5600),
        "5600": Illuminant(5600), "3200k,-0.01": Illuminant(3200, -0.01),
    }  # fmt: skip
    assert {text: white_balance_option(text) for text in expected} == expected


@pytest.mark.parametrize(("message", "texts"), [
    ("gray-world", ("", "daylight", "1,2,3,4", "K", "5600K,1,1")),
    ("a gain must be", ("0,1,1", "1,nan,1", "1,1,inf")),
    ("from 1667 to 25000 K", ("1600K", "25001", "nan")),
    ("from -0.05 to 0.05", ("5600K,0.06", "5600K,nan")),
])  # fmt: skip
def test_bad_options(message, texts) -> None:
    for text in texts:
        with pytest.raises(ParameterError, match=message):
            white_balance_option(text)


def test_light_without_blue_cannot_be_made_white() -> None:
    with pytest.raises(ParameterError, match="too coloured"):
        white_balance.matrix(Illuminant(1700.0, 0.03))
    with pytest.raises(ParameterError, match="gray-world"):
        TonemapParams(white_balance="grey")


@pytest.mark.parametrize("balance", [WARM, Illuminant(9000.0), (1.5, 1.0, 0.75)])
def test_planes_and_pixels(gpu, balance) -> None:
    pixels = light((4, 29, 37))
    got = mapped(gpu, pixels, balance)
    expected = np.maximum(balanced(pixels[:3], balance), 0)
    np.testing.assert_allclose(got[:3], expected, atol=TOLERANCE["image"] * pixels.max())
    np.testing.assert_array_equal(got[3], pixels[3])
    interleaved = gpu.array(np.ascontiguousarray(np.moveaxis(pixels, 0, -1)))
    params = TonemapParams("linear", exposure=0.0, transfer="linear", white_balance=balance)
    same, _ = tonemap_pixels(gpu, interleaved, params, Decoding(alpha=True), Encoding(np.dtype(np.float32)))
    np.testing.assert_array_equal(np.moveaxis(same.numpy(), -1, 0), got)


def test_what_becomes_negative_is_clipped_and_not_counted(gpu) -> None:
    pixels = np.zeros((3, 5, 7), np.float32)
    pixels[2] = 1  # blue, which candlelight lacks
    assert (balanced(pixels, WARM) < 0).any()
    got = mapped(gpu, pixels, WARM)
    np.testing.assert_allclose(got, np.maximum(balanced(pixels, WARM), 0), rtol=0, atol=TOLERANCE["image"])
    pixels[0, 0, 0], pixels[1, 0, 1], pixels[1, 0, 2] = np.nan, np.inf, -1
    with pytest.warns(GpuopsWarning, match="1 NaN, 1 infinite, 1 negative") as caught:
        got = mapped(gpu, pixels, WARM)
    assert len(caught) == 1 and np.isfinite(got).all() and got.min() >= 0


@pytest.mark.parametrize("meter", METERS)
def test_metering_sees_the_balanced_light(gpu, meter) -> None:
    pixels = light((3, 40, 30))
    # Colours that stay within Rec. 709, because metering comes before clipping.
    pixels = balanced(pixels, Illuminant(4500.0)).clip(1e-3).astype(np.float32)
    after = balanced(pixels, (2.0, 1.0, 0.5)).astype(np.float32)
    got = exposure(gpu, on(gpu, pixels), TonemapParams(meter=meter, white_balance=(2.0, 1.0, 0.5)))
    assert got == pytest.approx(exposure(gpu, on(gpu, after), TonemapParams(meter=meter)), rel=ROUNDINGS)
    assert got != pytest.approx(exposure(gpu, on(gpu, pixels), TonemapParams(meter=meter)), rel=1e-2)
    for operator in ("linear", "reinhard-extended", "reinhard-devlin"):
        options = {"operator": operator, "exposure": None, "meter": meter}
        result = mapped(gpu, pixels, (2.0, 1.0, 0.5), **options)
        expected, off = mapped(gpu, after, (1.0, 1.0, 1.0), **options), TONEMAP["metered"]
        np.testing.assert_allclose(result, expected, rtol=off, atol=ROUNDINGS)


@pytest.mark.parametrize("method", ["local", "direct"])
def test_gray_world_of_planes_and_pixels(gpu, method) -> None:
    pixels = light((4, 29, 37))
    got = mapped(gpu, pixels, "gray-world", method=method)
    luminance = float(REC709 @ pixels[:3].astype(np.float64).mean((1, 2)))
    np.testing.assert_allclose(got[:3].mean((1, 2), dtype=np.float64), luminance, rtol=ROUNDINGS)
    interleaved = gpu.array(np.ascontiguousarray(np.moveaxis(pixels, 0, -1)))
    params = TonemapParams("linear", 0.0, transfer="linear", white_balance="gray-world", method=method)
    same, _ = tonemap_pixels(gpu, interleaved, params, Decoding(alpha=True), Encoding(np.dtype(np.float32)))
    np.testing.assert_allclose(np.moveaxis(same.numpy(), -1, 0), got, rtol=ROUNDINGS)


@pytest.mark.parametrize("balance", [WARM, "gray-world", (1.0, 1.0, 1.0)])
def test_gray_images_are_refused(gpu, balance) -> None:
    for pixels in (light((1, 5, 7)), light((2, 5, 7))):
        with pytest.raises(ParameterError, match="a gray image has no colour"):
            mapped(gpu, pixels, balance)


def test_sheets_and_curves(gpu) -> None:
    pixels = light((3, 30, 40))
    image = on(gpu, pixels)
    names = ("agx", "reinhard-extended")
    params = TonemapParams(white_balance="gray-world", meter_region=Region(0, 0, 50, 100, percent=True))
    found = metered(gpu, image, params, names)
    gains = white_balance.gray_world(pixels[:, :, :20].astype(np.float64).mean((1, 2)).tolist())
    assert found.params.white_balance == pytest.approx(gains, rel=ROUNDINGS)
    y = np.tensordot(REC709, balanced(pixels, gains), 1)
    assert found.exposure == pytest.approx(np.log2(0.18) - np.log2(y[:, :20]).mean(), abs=TONEMAP["exposure"])
    look = found.look("reinhard-extended")
    assert look.value("white") == pytest.approx(max(1, y.max() * 2**found.exposure), rel=TONEMAP["metered"])
    one = TonemapParams("reinhard-extended", white_balance="gray-world", meter_region=params.meter_region)
    ours, theirs, off = tonemap(gpu, image, look), tonemap(gpu, image, one), TONEMAP["metered"]
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=off, atol=ROUNDINGS)
    curves = tone_curve.curves(gpu, [found.look(name) for name in names])
    plain = tone_curve.curves(gpu, [TonemapParams("agx", exposure=found.exposure), look])
    for curve, same in zip(curves, plain, strict=True):
        np.testing.assert_array_equal(curve.signal[: same.signal.size], same.signal[: curve.signal.size])
    sheet = ContactSheetParams(("linear",), stops=(0.0,))
    flat = on(gpu, np.full((3, 20, 20), 0.2, np.float32) * np.float32([1, 0.5, 0.25])[:, None, None])
    codes = contact_sheet.contact_sheet(gpu, flat, TonemapParams(white_balance="gray-world"), sheet)
    assert (codes == codes[..., :1]).all()


def test_bloom_refuses_it(gpu) -> None:
    pixels = gpu.array(np.ones((9, 9, 3), np.float32))
    display = TonemapParams(exposure=0.0, transfer="linear", white_balance=WARM)
    with pytest.raises(ParameterError, match="no white balance"):
        bloom_pixels(gpu, pixels, BloomParams(), Decoding(), Encoding(np.dtype(np.uint8)), display)


def test_looks_get_balanced_light(gpu) -> None:
    """A table of codes, which otherwise are taken as a file has them."""
    axis = np.linspace(0, 1, 5)
    table = np.stack(np.meshgrid(axis, axis, axis, indexing="ij")[::-1], axis=-1) ** 2
    codes = np.random.default_rng(0).integers(0, 256, (29, 37, 3), np.uint8)
    decoding, encoding = Decoding(linearise=True), Encoding(np.dtype(np.float32))
    params = TonemapParams(LutParams(Lut(table)), exposure=0.0, white_balance=(0.9, 0.5, 0.7))
    got, _ = tonemap_pixels(gpu, gpu.array(codes), params, decoding, encoding)
    planes = tonemap(gpu, unpack(gpu.array(codes), decoding), params).numpy()
    np.testing.assert_allclose(np.moveaxis(got.numpy(), -1, 0), planes, rtol=0, atol=LUT["table"])
    light = unpack(gpu.array(codes), decoding).numpy() * np.float32([0.9, 0.5, 0.7])[:, None, None]
    before = tonemap(gpu, gpu.array(light), replace(params, white_balance=None)).numpy()
    np.testing.assert_allclose(planes, before, rtol=0, atol=LUT["table"])


@pytest.mark.parametrize("operator", sorted(LOCAL))
def test_local_operators_see_balanced_light(gpu, operator) -> None:
    pixels = light((3, 40, 30))
    gains = np.float32([0.9, 0.5, 1.7])[:, np.newaxis, np.newaxis]
    got = mapped(gpu, pixels, (0.9, 0.5, 1.7), operator=operator, exposure=None)
    expected = mapped(gpu, pixels * gains, (1.0, 1.0, 1.0), operator=operator, exposure=None)
    off = TONEMAP_LOCAL["durand"]
    np.testing.assert_allclose(got, expected, rtol=off, atol=off / 10)
