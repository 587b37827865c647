"""gpuops.tone.tonemap and gpuops.glow.d3d11 against float64 references in numpy."""

import json
import math
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuops import Gpu, GpuopsWarning, ParameterError
from gpuops.glow import d3d11
from gpuops.ops.tonemap import TonemapParams
from gpuops.params.operators import LOCAL, METERS, OPERATORS, TRANSFERS
from gpuops.params.region import Region, region_option
from gpuops.pixels.coding import Decoding, Encoding, unpack
from gpuops.tone.operators import CLIPPED
from gpuops.tone.tonemap import exposure, tonemap, tonemap_pixels

from .choices import each
from .reference import colour as colour_reference
from .reference import d3d11 as d3d11_reference
from .reference import tone as tonemap_reference
from .reference.images import on
from .tolerance import ROUNDINGS
from .tolerance import TONEMAP as TOLERANCE

POINTWISE = [name for name in OPERATORS if name not in LOCAL]
SLOW = settings(max_examples=20)


def light(shape: tuple[int, ...], stops: float = 20, seed: int = 0) -> np.ndarray:
    return np.exp2(np.random.default_rng(seed).uniform(-stops, stops, shape)).astype(np.float32)


def mapped(gpu: Gpu, pixels: np.ndarray, alpha: bool = False, **params: object) -> np.ndarray:
    settings = {"exposure": 0.0, "transfer": "linear"} | params
    return tonemap(gpu, on(gpu, pixels, alpha), TonemapParams(**settings)).numpy()  # type: ignore[arg-type]


def parameters_of(operator: str) -> dict[str, float]:
    return tonemap_reference.GIVEN.get(operator, {})


@pytest.mark.cases(99)
@pytest.mark.parametrize("operator", POINTWISE)
def test_operator_matches_its_publication(gpu, operator) -> None:
    pixels = light((3, 50, 101))
    pixels[:, :10] = light((3, 10, 101), 5, 1)
    pixels[:, 10:20] = light((10, 101))  # gray
    pixels[:, 20] = 0
    pixels[1, 21] = 0
    expected = tonemap_reference.OPERATORS[operator](pixels.astype(np.float64), 4.0)
    got = mapped(gpu, pixels, operator=operator, parameters=parameters_of(operator))
    np.testing.assert_allclose(got, expected, rtol=TOLERANCE["operator"], atol=TOLERANCE["operator"])


# Shaders that others published, evaluated in float64: "origin" says which. (A name is an operator's, and more.)
PUBLISHED = json.loads((Path(__file__).parent / "data" / "tonemap_published.json").read_text())


@pytest.mark.cases(99)
@pytest.mark.parametrize("name", PUBLISHED["results"])
def test_published_shaders_make_the_same(gpu, name) -> None:
    operator = name.partition(" ")[0]
    pixels = np.float32(PUBLISHED["light"]).T[:, np.newaxis]
    got = mapped(gpu, np.ascontiguousarray(pixels), operator=operator, parameters=parameters_of(operator))
    if operator == "hable":
        got = np.minimum(got, 1)
    expected = np.array(PUBLISHED["results"][name])
    if operator == "agx":  # the shaders map white to 0.9969
        expected = np.minimum(expected / tonemap_reference.AGX_END**2.2, 1)
    off = TOLERANCE["four digits" if name == "agx as published" else "operator"]
    np.testing.assert_allclose(got[:, 0].T, expected, rtol=0, atol=off)


def test_known_values(gpu) -> None:
    """Values that can be checked by hand, so that reference and kernel cannot be wrong together."""

    def gray(operator: str, v: float, **params: object) -> float:
        return float(mapped(gpu, np.full((3, 1, 1), v, np.float32), operator=operator, **params)[1, 0, 0])

    assert gray("reinhard", 1) == pytest.approx(0.5)
    assert gray("reinhard-extended", 4, white=4) == pytest.approx(1)
    assert gray("hable", 11.2 / 2) == pytest.approx(1)
    assert gray("aces-narkowicz", 1) == pytest.approx(2.54 / 3.16)
    assert gray("khronos-neutral", 0.5) == pytest.approx(0.46)
    assert gray("khronos-neutral", 1.04) == pytest.approx(
        1 - 0.24**2 / 0.48
    )  # gray, so desaturation changes nothing
    assert gray("drago", 0.18 * 9, white=0.18 * 9) == pytest.approx(1) and gray("agx", 2.0**-13) == 0
    assert gray("agx", 2.0**5) == 1
    # The published sigmoid is 0.4967 at its pivot, and 0.99858 at white, which is 1 here.
    assert gray("agx", 0.18) == pytest.approx((0.4967 / 0.99858) ** 2.2, abs=TOLERANCE["pivot"])
    assert gray("aces-hill", 1e6) == 1


@pytest.mark.exhaustive
@SLOW
@given(operator=st.sampled_from(POINTWISE), seed=st.integers(0, 2**16), stops=st.integers(1, 60))
def test_brighter_gray_never_becomes_darker(gpu, operator, seed, stops) -> None:
    gray = np.sort(light((1, 997), stops, seed))
    got = mapped(gpu, np.stack([gray] * 3), operator=operator, parameters=parameters_of(operator))
    if operator in ("reinhard-extended", "linear"):
        got = got / np.maximum(1, got.max(axis=-1, keepdims=True))
    # AgX's polynomial and rounding may dip by a float32 epsilon or so.
    luminance = np.tensordot(np.float32(tonemap_reference.REC709), got, 1)
    assert np.diff(luminance).min() >= -ROUNDINGS


BOUNDED = sorted(CLIPPED | {"reinhard"})


@pytest.mark.cases(99)
@pytest.mark.parametrize("operator", BOUNDED)
def test_the_brightest_gray_is_white(gpu, operator) -> None:
    """Exactly, from the light on that an operator says: a golden look's is its own colour."""
    bright = np.float32([2.0**40, 2.0**60, 3.4e38, np.inf])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GpuopsWarning)
        got = mapped(gpu, np.stack([bright[None]] * 3), operator=operator, parameters=parameters_of(operator))
    if operator == "agx-golden":
        expected = tonemap_reference.agx_golden(np.full((3, 1, 1), 2.0**40), 0)
        np.testing.assert_allclose(got, np.repeat(expected, 4, -1), atol=TOLERANCE["operator"])
    elif operator == "reinhard-devlin":  # light x becomes about the share 1 / (1 + x^(contrast − 1))
        assert got.min() > 0.9999 and (got[..., 1:] == 1).all()
    else:
        assert (got == 1).all()


@pytest.mark.exhaustive
@SLOW
@given(
    operator=st.sampled_from(sorted(CLIPPED)),
    seed=st.integers(0, 2**16),
    stops=st.integers(1, 60),
    even=st.booleans(),
)
def test_nothing_above_white(gpu, operator, seed, stops, even) -> None:
    pixels = light((3, 1, 997), stops, seed)
    if even:
        pixels = np.exp2(np.rint(np.log2(pixels)))  # the reciprocals of powers of two are exact
    got = mapped(gpu, pixels, operator=operator, parameters=parameters_of(operator))
    assert got.max() <= 1


@pytest.mark.parametrize(("chroma", "adaptation"), [(0.0, 1.0), (1.0, 0.5), (0.0, 0.0)])
def test_photoreceptors_adapt_as_asked(gpu, chroma, adaptation) -> None:
    """Reinhard and Devlin 2005, eqs. 1 to 8: channels together or by themselves, to the image or to the pixel."""
    pixels = light((3, 40, 50), 6)
    given = {"contrast": 0.7, "intensity": -0.5, "chroma": chroma, "adaptation": adaptation, "mean": 0.3}
    got = mapped(gpu, pixels, operator="reinhard-devlin", parameters=given)
    c = pixels.astype(np.float64)
    y = np.tensordot(tonemap_reference.REC709, c, 1)
    adapted = adaptation * (chroma * c + (1 - chroma) * y) + (1 - adaptation) * 0.3
    expected = c / (c + (np.exp(0.5) * adapted) ** 0.7)
    np.testing.assert_allclose(got, expected, atol=TOLERANCE["operator"])


@pytest.mark.exhaustive
@SLOW
@given(operator=st.sampled_from(list(OPERATORS)), stops=st.integers(-20, 20), seed=st.integers(0, 2**16))
def test_exposure_is_light_times_a_power_of_two(gpu, operator, stops, seed) -> None:
    pixels = light((3, 1, 211), 20, seed)
    values = parameters_of(operator)
    got = mapped(gpu, pixels, operator=operator, parameters=values, exposure=float(stops))
    brighter = mapped(gpu, pixels * np.float32(2.0**stops), operator=operator, parameters=values)
    np.testing.assert_array_equal(got, brighter)


ODD = np.float32(
    [np.nan, np.inf, -np.inf, 0, -0.0, -1, 3e38, -3e38, 1e30, 1e-30, 1e-45, 1e-38, 65504, 1, 0.18]
)


@pytest.mark.exhaustive
@SLOW
@given(
    mapping=st.sampled_from(
        [(o, "linear") for o in OPERATORS] + [("linear", t) for t in TRANSFERS if t != "auto"]
    ),
    meter=st.sampled_from(list(METERS)),
    exposure_=st.sampled_from([None, -60.0, 0.0, 3.0, 60.0]),
    height=st.integers(1, 40),
    width=st.integers(1, 40),
    seed=st.integers(0, 2**16),
)
def test_always_finite(gpu, mapping, meter, exposure_, height, width, seed) -> None:
    operator, transfer = mapping
    pixels = np.random.default_rng(seed).choice(ODD, (3, height, width))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GpuopsWarning)
        got = mapped(gpu, pixels, operator=operator, transfer=transfer, meter=meter, exposure=exposure_)
    assert np.isfinite(got).all() and got.min() >= 0


@pytest.mark.cases(2)
@pytest.mark.parametrize("operator", OPERATORS)
def test_even_images(gpu, operator) -> None:
    for value in (0.0, -0.0, np.nan, np.inf, -1.0, 3e38, 1e-45):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GpuopsWarning)
            got = mapped(gpu, np.full((3, 3, 5), value, np.float32), operator=operator, exposure=None)
        assert np.isfinite(got).all()
        np.testing.assert_allclose(
            got, np.broadcast_to(got[:, :1, :1], got.shape), rtol=ROUNDINGS * (operator in LOCAL)
        )
        if not value > 0 or value < 1e-40:
            assert got.max() < TOLERANCE["operator"]  # black stays black


def test_repairs_are_counted_in_one_warning(gpu) -> None:
    pixels = np.full((3, 20, 30), 0.5, np.float32)
    pixels[0, 0, :2] = np.nan
    pixels[1, 0, 1] = np.inf  # the pixel still counts as NaN
    pixels[2, 5, 5] = -np.inf
    pixels[:, 7, :4] = -0.1
    with pytest.warns(GpuopsWarning) as caught:
        got = mapped(gpu, pixels, operator="linear")
    assert [str(w.message) for w in caught] == [
        "pixels repaired before tone mapping: 2 NaN, 1 infinite, 4 negative (NaN and negative light became black, "
        "infinite light white)"
    ]
    assert (got[0, 0, :2] == 0).all() and (got[:, 7, :4] == 0).all() and got[2, 5, 5] == 0
    assert got[1, 0, 1] == np.float32(2.0**60)


@pytest.mark.cases(1)
@pytest.mark.parametrize("alpha", [False, True])
@pytest.mark.parametrize("operator", ["agx", "agx-golden", "reinhard", "drago"])
def test_gray_is_rgb_with_equal_channels(gpu, operator, alpha) -> None:
    gray = light((1, 17, 19), 6)
    coverage = np.random.default_rng(1).random((1, 17, 19), np.float32)
    pixels = np.concatenate([gray, coverage]) if alpha else gray
    got = mapped(gpu, pixels, alpha, operator=operator, transfer="srgb", exposure=None)
    rgb = mapped(gpu, np.concatenate([gray] * 3), operator=operator, exposure=None)
    luminance = np.tensordot(tonemap_reference.REC709, rgb.astype(np.float64), 1)
    np.testing.assert_allclose(got[0], colour_reference.srgb_signal(luminance), atol=TOLERANCE["operator"])
    if alpha:
        np.testing.assert_array_equal(got[1], coverage[0])


@pytest.mark.parametrize("planes", [2, 4, 5])
def test_other_numbers_of_channels_are_refused(gpu, planes) -> None:
    with pytest.raises(ParameterError, match=f"gray or RGB image, .* not one of {planes} channels"):
        mapped(gpu, np.ones((planes, 3, 3), np.float32))
    with pytest.raises(ParameterError, match="channels"):
        d3d11.tonemap(gpu, on(gpu, np.ones((planes, 3, 3), np.float32)))


@pytest.mark.cases(1)
@pytest.mark.parametrize("method", ["local", "direct"])
def test_meters(gpu, method) -> None:
    pixels = light((3, 90, 70), 8)
    pixels[:, 0] = 0
    y = np.tensordot(tonemap_reference.REC709, pixels.astype(np.float64), 1)
    log = np.log2(y[1:])
    v, u = ((np.arange(n) + 0.5) / n - 0.5 for n in y.shape)
    weight = np.exp(-8 * (u[np.newaxis] ** 2 + v[1:, np.newaxis] ** 2))
    low, high = np.percentile(log, [10, 90])
    expected = {
        "mean": y.mean(),
        "log-mean": 2 ** log.mean(),
        "histogram": 2 ** log[(log >= low) & (log <= high)].mean(),
        "center": 2 ** ((weight * log).sum() / weight.sum()),
    }
    image = on(gpu, pixels)
    for meter in METERS:
        got = exposure(gpu, image, TonemapParams(meter=meter, key=0.25, method=method))
        off = TOLERANCE["histogram exposure" if meter == "histogram" else "exposure"]
        assert abs(math.log2(got * expected[meter] / 0.25)) <= off, meter
        result = tonemap(
            gpu, image, TonemapParams("linear", meter=meter, key=0.25, transfer="linear", method=method)
        ).numpy()
        np.testing.assert_allclose(result, pixels * np.float32(got), rtol=TOLERANCE["product"])


@pytest.mark.cases(99)
@pytest.mark.parametrize(("region", "part"), [
    (Region(3, 5, 20, 11), np.s_[5:16, 3:23]),
    (Region(0, 0, 37, 29), np.s_[:, :]),
    (Region(36, 28, 1, 1), np.s_[28:, 36:]),
    (Region(0, 7, 37, 2), np.s_[7:9]),
    (Region(25, 50, 50, 50, percent=True), np.s_[14:, 9:28]),  # all pixels that it touches
    (Region(0, 0, 100, 100, percent=True), np.s_[:, :]),
    (Region(99.9, 0, 0.1, 0.1, percent=True), np.s_[:1, 36:]),
])  # fmt: skip
def test_meters_read_their_region_alone(gpu, region, part) -> None:
    pixels = light((4, 29, 37), 8)
    inside = np.ascontiguousarray(pixels[(slice(None), *np.atleast_1d(part))])
    for meter in METERS:
        expected = exposure(gpu, on(gpu, inside, alpha=True), TonemapParams(meter=meter))
        assert (
            exposure(gpu, on(gpu, pixels, alpha=True), TonemapParams(meter=meter, meter_region=region))
            == expected
        )


@pytest.mark.cases(1)
@pytest.mark.parametrize(("dtype", "channels"), [("uint8", 3), ("uint16", 4), ("float16", 1), ("float32", 2)])
def test_a_region_of_pixels(gpu, dtype, channels) -> None:
    values = np.random.default_rng(1).random((29, 37, channels)) * 0.9 + 0.1
    codes = (values * (np.iinfo(dtype).max if dtype[0] == "u" else 1)).astype(dtype)
    decoding = Decoding(alpha=channels in (2, 4), linearise=dtype[0] == "u")
    to = Encoding(np.dtype(np.float32))
    params = TonemapParams("linear", transfer="linear", meter_region=Region(3, 5, 20, 11))
    got, _ = tonemap_pixels(gpu, gpu.array(codes), params, decoding, to)
    planes = unpack(gpu.array(codes), decoding)
    expected = tonemap(gpu, planes, params).numpy()
    np.testing.assert_allclose(np.moveaxis(got.numpy(), -1, 0), expected, rtol=TOLERANCE["operator"])
    part = unpack(gpu.array(codes[5:16, 3:23]), decoding)
    np.testing.assert_allclose(
        expected[0], planes.numpy()[0] * np.float32(exposure(gpu, part, TonemapParams())), rtol=ROUNDINGS
    )  # fmt: skip


def test_the_scene_is_all_of_the_image(gpu) -> None:
    pixels = light((3, 29, 37), 3)
    pixels[:, 20, 20] = 1000
    image = on(gpu, pixels)
    region = Region(0, 0, 10, 10)
    scale = exposure(gpu, image, TonemapParams(meter_region=region))
    for operator in ("reinhard-extended", "reinhard-devlin"):
        params = TonemapParams(operator, meter_region=region, transfer="linear")
        plain = TonemapParams(operator, exposure=math.log2(scale), transfer="linear")
        ours, theirs, off = tonemap(gpu, image, params), tonemap(gpu, image, plain), TOLERANCE["metered"]
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=off, atol=ROUNDINGS)


@each(region=[Region(30, 0, 8, 5), Region(0, 29, 1, 1), Region(0, 0, 1000, 1), Region(37, 0, 1, 1)])
def test_regions_beyond_the_image_are_refused(gpu, region) -> None:
    with pytest.raises(ParameterError, match=rf"region {region} is not inside the image of 37 × 29 pixels"):
        mapped(gpu, light((3, 29, 37)), exposure=None, meter_region=region)


def test_white_defaults_to_the_brightest_pixel(gpu) -> None:
    pixels = light((3, 9, 9), 3)
    y = np.tensordot(tonemap_reference.REC709, pixels.astype(np.float64), 1)
    got = mapped(gpu, pixels, operator="reinhard-extended")
    assert np.tensordot(tonemap_reference.REC709, got, 1).max() == pytest.approx(1, rel=ROUNDINGS)
    np.testing.assert_allclose(
        got, mapped(gpu, pixels, operator="reinhard-extended", white=y.max()), rtol=ROUNDINGS
    )
    # An image with nothing above white is left as it is, rather than brightened.
    dim = pixels / 100
    np.testing.assert_allclose(mapped(gpu, dim, operator="reinhard-extended"), dim, rtol=ROUNDINGS)


def test_dither_is_triangular_seeded_and_inside_the_range(gpu) -> None:
    flat = np.full((3, 128, 256), 0.4, np.float32)
    plain = mapped(gpu, flat, operator="linear")
    noise = (mapped(gpu, flat, operator="linear", dither=255) - plain) * 255
    assert np.abs(noise).max() <= 1 and np.abs(noise).max() > 0.98 and abs(noise.mean()) < 0.01
    assert noise.var() == pytest.approx(1 / 6, rel=0.02)  # of two uniform numbers of one code
    histogram = np.histogram(noise, 20, (-1, 1))[0] / noise.size
    centres = np.arange(-0.95, 1, 0.1)
    np.testing.assert_allclose(histogram, 0.1 * (1 - np.abs(centres)), atol=0.004)
    for other in (noise[:, 1:], noise[:, :, 1:]):  # neighbours and channels are uncorrelated
        assert (
            abs(np.corrcoef(noise[:, : other.shape[1], : other.shape[2]].ravel(), other.ravel())[0, 1]) < 0.02
        )
    assert np.abs(np.corrcoef(noise.reshape(3, -1)) - np.eye(3)).max() < 0.02
    again = (mapped(gpu, flat, operator="linear", dither=255) - plain) * 255
    np.testing.assert_array_equal(noise, again)
    assert (noise != (mapped(gpu, flat, operator="linear", dither=255, seed=1) - plain) * 255).mean() > 0.99
    # Dithering exists so that the mean survives rounding.
    code = np.rint(mapped(gpu, flat, operator="linear", dither=255) * 255)
    assert code.mean() == pytest.approx(0.4 * 255, abs=0.02)
    for end in (0.0, 1.0):
        got = mapped(gpu, np.full((3, 64, 64), end, np.float32), operator="linear", dither=255)
        assert got.min() >= 0 and got.max() <= 1


def test_blue_noise_has_no_low_frequencies(gpu) -> None:
    flat = np.full((3, 128, 192), 0.4, np.float32)
    noise = (mapped(gpu, flat, operator="linear", dither=255, noise="blue") - np.float32(0.4)) * 255
    assert np.abs(noise).max() <= 1 and noise.var() == pytest.approx(1 / 6, rel=1e-3)
    assert np.abs(np.corrcoef(noise.reshape(3, -1)) - np.eye(3)).max() < 0.03
    for plane in noise:
        power = np.abs(np.fft.fft2(plane[:64, :64] - plane.mean())) ** 2
        radius = np.hypot(*np.meshgrid(np.fft.fftfreq(64), np.fft.fftfreq(64)))
        low, high = power[(radius > 0) & (radius < 0.15)].mean(), power[radius > 0.35].mean()
        assert low < 0.02 * high
    again = (mapped(gpu, flat, operator="linear", dither=255, noise="blue") - np.float32(0.4)) * 255
    np.testing.assert_array_equal(noise, again)
    other = (mapped(gpu, flat, operator="linear", dither=255, noise="blue", seed=7) - np.float32(0.4)) * 255
    assert (noise != other).mean() > 0.98


@pytest.mark.parametrize("operator", ["linear", "reinhard", "hable"])
def test_gamut_keeps_hue_and_luminance(gpu, operator) -> None:
    pixels = light((3, 40, 60), 5)
    pixels[:, 0] = light((60,), 5)  # gray
    given = {"operator": operator, "parameters": parameters_of(operator)}
    plain = mapped(gpu, pixels, **given).astype(np.float64)
    kept = mapped(gpu, pixels, gamut="hue", **given).astype(np.float64)
    assert kept.min() >= 0 and kept.max() <= 1
    fits = plain.max(0) <= 1
    np.testing.assert_allclose(kept[:, fits], plain[:, fits], atol=TOLERANCE["operator"])
    before, after = (np.tensordot(tonemap_reference.REC709, v, 1) for v in (plain, kept))
    np.testing.assert_allclose(after, np.minimum(before, 1), atol=2 * TOLERANCE["operator"])
    bright = ~fits & (before < 0.98)  # the remaining colour has the same direction
    ways = [(v - y)[:, bright] for v, y in ((plain, before), (kept, after))]
    lengths = [np.sqrt((w**2).sum(0)) for w in ways]
    assert bright.any() and ((ways[0] * ways[1]).sum(0) / np.prod(lengths, 0)).min() > 1 - ROUNDINGS
    np.testing.assert_allclose(kept[:, bright].max(0), 1, rtol=0, atol=ROUNDINGS)


@pytest.mark.parametrize(("params", "message"), [
    ({"operator": "aces"}, "aces-narkowicz or aces-hill"),
    ({"operator": "filmic"}, "use one of linear, reinhard,"), ({"meter": "spot"}, "log-mean"),
    ({"transfer": "hlg"}, "pq"), ({"method": "tiles"}, "local, direct"), ({"exposure": math.nan}, "exposure"),
    ({"exposure": 1000.0}, "with numbers from -60 to 60, not 1000"), ({"key": 0.0}, "key"),
    ({"key": math.inf}, "key"), ({"percentiles": (90.0, 10.0)}, "percentiles"),
    ({"percentiles": (10.0, 10.0)}, "percentiles"), ({"percentiles": (-1.0, 50.0)}, "percentiles"),
    ({"percentiles": (50.0, 101.0)}, "percentiles"), ({"percentiles": (math.nan, 50.0)}, "percentiles"),
    ({"percentiles": (10.0, math.nan)}, "percentiles"), ({"white": 2.0}, "agx has no white point"),
    ({"operator": "hable", "white": -1.0}, "white"), ({"operator": "hable", "white": math.nan}, "white"),
    ({"gamma": 0.0}, "gamma"), ({"dither": 0}, "dither"), ({"noise": "pink"}, "triangular, blue"),
    ({"gamut": "cut"}, "clip, hue"),
    ({"parameters": {"contrast": 1.0}}, "agx has no parameter 'contrast': it has none"),
    ({"operator": "sigmoid", "parameters": {"contrast": 99.0}}, "contrast of sigmoid must be from 0.1 to 10"),
    ({"operator": "hable", "parameters": {"bias": 1.0}}, "hable has no parameter 'bias': it has white"),
    ({"operator": "hable", "parameters": {"white": 1.0}, "white": 1.0}, "twice"), ({"seed": -1}, "seed"),
])  # fmt: skip
def test_bad_parameters(params, message) -> None:
    with pytest.raises(ParameterError, match=message):
        TonemapParams(**params)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *(
            (text, "X,Y,W,H")
            for text in ("", "1,2,3", "1,2,3,4,5", "1,2,3,x", "1,2,3%,4%", "-1,0,5,5", "0.5,0,5,5")
        ),
        *((text, "X,Y,W,H") for text in ("0,0,inf,5", "nan%,0%,5%,5%")),
        *((text, "width and a height") for text in ("0,0,0,5", "0,0,5,0")),
        ("60%,0%,50%,50%", "beyond 100 %"),
    ],
)
def test_bad_regions(text, message) -> None:
    with pytest.raises(ParameterError, match=message):
        region_option(text)


def test_regions() -> None:
    assert region_option("1, 2,30,40") == Region(1, 2, 30, 40)
    assert region_option("0%,33.3%,70%,66.7%").within(10, 20) == (0, 3, 14, 7)
    for i in range(10):  # tenths have no exact binary form
        assert Region(i * 10, 0, 10, 100, percent=True).within(7, 1000) == (i * 100, 0, 100, 7)
    assert Region(40, 40, 20, 20, percent=True).within(1, 1) == (0, 0, 1, 1)


D3D11_SIZES = [(1, 1), (7, 9), (17, 121), (920, 16), (61, 1000)]


def scene(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Smooth light with a bright spot, so that there is something to bloom."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[: shape[1], : shape[2]]
    spot = 30 * np.exp(-((x - shape[2] / 3) ** 2 + (y - shape[1] / 2) ** 2) / 200)
    return (rng.random(shape) * 0.8 + spot).astype(np.float32)


@pytest.mark.parametrize("method", ["local", "direct"])
@pytest.mark.parametrize("size", D3D11_SIZES)
def test_d3d11_within_a_level_of_8_bits(gpu, size, method) -> None:
    pixels = scene((3, *size))
    got = d3d11.tonemap(gpu, on(gpu, pixels), method)
    assert got.linear
    levels = colour_reference.srgb_signal(got.numpy().astype(np.float64)) * 255
    expected = colour_reference.srgb_signal(d3d11_reference.tonemap(pixels)) * 255
    assert np.abs(levels - expected).max() <= TOLERANCE["d3d11"]
    got = d3d11.blur(gpu, on(gpu, pixels), method).numpy()
    np.testing.assert_allclose(got, d3d11_reference.blur(pixels), rtol=ROUNDINGS)
    got = d3d11.bloom(gpu, on(gpu, pixels), method).numpy()
    np.testing.assert_allclose(
        got, d3d11_reference.bloom(pixels), rtol=ROUNDINGS, atol=TOLERANCE["d3d11 flip"]
    )


@pytest.mark.parametrize(
    ("size", "with_bloom", "method"),
    [((7, 9), True, "local"), ((61, 100), True, "direct"), ((7, 9), False, "direct")],
)
def test_d3d11_composed_frame(gpu, size, with_bloom, method) -> None:
    """The blurred scene is what is mapped; the luminance and the bloom are of the scene before the blur."""
    pixels = scene((3, *size))
    got = d3d11.tonemap(gpu, on(gpu, pixels), method, with_bloom=with_bloom, blurred=True).numpy()
    expected = d3d11_reference.tonemap(pixels, with_bloom=with_bloom, blurred=True)
    flip = TOLERANCE["d3d11 flip"] if with_bloom else ROUNDINGS
    np.testing.assert_allclose(got, expected, rtol=TOLERANCE["operator"], atol=flip)
    before = d3d11_reference.blur(pixels)
    assert np.abs(expected - d3d11_reference.tonemap(before, with_bloom=with_bloom)).max() > 0.05


@pytest.mark.parametrize("blurred", [False, True])
@pytest.mark.parametrize("colours", [1, 3])
def test_d3d11_alpha(gpu, colours, blurred) -> None:
    """Premultiplied in and out, with straight colours mapped; what is opaque is as it is without alpha."""
    pixels = scene((colours, 40, 50))
    coverage = np.random.default_rng(1).random((1, 40, 50), np.float32)
    coverage[:, :5], coverage[:, 35:] = 0, 1
    three = np.repeat(pixels, 4 - colours, 0)[:3] if colours == 1 else pixels
    for alpha in (np.ones_like(coverage), coverage):
        light = (three * alpha).astype(np.float64)
        shown, over = (
            (d3d11_reference.blur(light), d3d11_reference.blur(alpha)) if blurred else (light, alpha)
        )
        over = over / d3d11_reference.WEIGHTS.sum() ** 2 if blurred else over
        straight = np.divide(shown, over, out=shown.copy(), where=over > 0)
        mapped = d3d11_reference.mapped(straight, d3d11_reference.metered(light))
        expected = over * np.clip(mapped + 0.6 * d3d11_reference.glow(light), 0, 1)
        image = on(gpu, np.concatenate([pixels * alpha, alpha]), alpha=True)
        got = d3d11.tonemap(gpu, image, blurred=blurred).numpy()
        np.testing.assert_allclose(
            got[:colours], expected[:colours], rtol=TOLERANCE["operator"], atol=TOLERANCE["d3d11 flip"]
        )
        np.testing.assert_allclose(got[-1:], over, rtol=ROUNDINGS)
        if alpha.min() == 1:
            opaque = d3d11.tonemap(gpu, on(gpu, pixels), blurred=blurred).numpy()
            np.testing.assert_allclose(got[:colours], opaque, rtol=TOLERANCE["operator"])


@pytest.mark.parametrize("method", ["local", "direct"])
@pytest.mark.parametrize("value", [0.0, np.nan, -np.inf, 3e38])
def test_d3d11_is_finite(gpu, value, method) -> None:
    pixels = scene((3, 33, 35))
    pixels[0, 3::8, 4::8] = value
    for image in (pixels, np.full_like(pixels, value)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GpuopsWarning)
            for effect in (d3d11.tonemap, d3d11.bloom):
                assert np.isfinite(effect(gpu, on(gpu, image), method).numpy()).all()


#: Every tone mapping changes what light stands for.
IDENTITIES: list[object] = []
