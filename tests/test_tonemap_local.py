"""gpuops.tone.local and gpuops.filters.bilateral_grid against float64 references in numpy and scipy."""

import math
from pathlib import Path

import numpy as np
import pytest

from gpuops import Gpu, Image, ParameterError, files
from gpuops.filters import bilateral_grid
from gpuops.glow.bloom import bloom, bloom_pixels
from gpuops.ops.bloom import BloomParams
from gpuops.ops.tonemap import TonemapParams
from gpuops.params.operators import LOCAL
from gpuops.params.operators import OPERATORS as KNOWN
from gpuops.pixels.coding import Decoding, Encoding
from gpuops.tone.local import OPERATORS, Light
from gpuops.tone.tonemap import exposure as metered
from gpuops.tone.tonemap import tonemap

from .reference import local_tone as reference
from .reference.tone import luminance
from .tolerance import ROUNDINGS
from .tolerance import TONEMAP_LOCAL as TOLERANCE

SAMPLES = Path(__file__).parent.parent / "samples"


def photograph(rows: slice, columns: slice) -> np.ndarray:
    """Linear light (3, …) of an HDR sample."""
    pixels = files.read(str(SAMPLES / "courtyard.exr")).pixels[rows, columns, :3]
    return np.ascontiguousarray(pixels.transpose(2, 0, 1), np.float32)


def gains(
    gpu: Gpu, light: np.ndarray, operator: str, exposure: float = 1.0, **parameters: float
) -> np.ndarray:
    result = OPERATORS[operator](gpu, Light(gpu.array(light), exposure), **parameters)
    assert result.shape == (1, *light.shape[1:]) and not result.alpha
    return result.numpy()[0]


def luminance_of(light: np.ndarray) -> np.ndarray:
    """The luminance of gray or RGB; NaN and negative light are black."""
    repaired = np.maximum(np.nan_to_num(light.astype(np.float64)), 0)
    return luminance(repaired) if len(light) == 3 else repaired[0]


def check_dodging(gpu: Gpu, light: np.ndarray, exposure: float, key: float = 0.18, phi: float = 8.0) -> None:
    expected = reference.dodging(luminance_of(light) * exposure, key, phi)
    got = gains(gpu, light, "reinhard-local", exposure, key=key, phi=phi)
    off = TOLERANCE["threshold"]
    either = [expected.gains(0.05 + d) for d in (-off, 0, off)]
    agree = [np.isclose(got, e, rtol=TOLERANCE["reinhard-local"], atol=0) for e in either]
    assert np.any(agree, axis=0).all() and agree[1].mean() > 0.99


@pytest.mark.parametrize("shape", [(1, 1), (1, 50), (61, 1), (37, 53), (120, 131)])
def test_dodging_is_the_papers(gpu, rng, shape) -> None:
    light = np.exp2(rng.uniform(-6, 4, (3, *shape))).astype(np.float32)
    light[:, shape[0] // 2 :] /= 64
    check_dodging(gpu, light, 1.0)


@pytest.mark.parametrize(("key", "phi"), [(0.18, 8.0), (0.36, 8.0), (0.18, 1.0)])
def test_dodging_of_a_photograph(gpu, key, phi) -> None:
    check_dodging(gpu, photograph(slice(100, 260), slice(200, 420)), 0.5, key, phi)


def test_dodging_keeps_contrast_that_the_curve_takes(gpu, rng) -> None:
    """Stripes in bright light: the curve divides by their own luminance, dodging by that around them."""
    stripes = np.where(np.arange(96) % 8 < 4, 2.0, 2.6) * np.ones((3, 80, 1))
    light = stripes.astype(np.float32)
    mapped = light[0] * gains(gpu, light, "reinhard-local")
    curve = light[0] / (1 + light[0])
    assert np.ptp(mapped[20:60, 20:76]) > 2 * np.ptp(curve)


@pytest.mark.parametrize("sigma", [1.0, 3.0, 6.5])
def test_grid_is_the_bilateral_filter(gpu, sigma) -> None:
    x = np.log10(np.maximum(luminance(photograph(slice(120, 190), slice(230, 330))), 1e-4))
    expected = reference.bilateral(x, 0.4, sigma)
    got = bilateral_grid.bilateral(gpu, gpu.array(x[None].astype(np.float32)), 0.4, sigma).numpy()[0]
    assert np.abs(got - expected).max() <= TOLERANCE["grid"] * 0.4
    rms = np.sqrt(((got - expected) ** 2).mean())
    assert rms <= TOLERANCE["grid rms"] * 0.4 and 20 * math.log10(np.ptp(x) / rms) > 60
    assert np.abs(x - expected).max() > 0.1  # so the operator has changed the image


@pytest.mark.parametrize(("shape", "sigmas"), [
    ((1, 1), (0.3, 1.0)), ((1, 40), (0.05, 4.1)), ((35, 1), (2.0, 9.0)), ((7, 5), (0.3, 1e20)),
    ((33, 47), (0.05, 4.1)), ((33, 47), (0.3, 1e20)),
])  # fmt: skip
def test_grids_of_any_size(gpu, rng, shape, sigmas) -> None:
    x = rng.random(shape)
    got = bilateral_grid.bilateral(gpu, gpu.array(x[None].astype(np.float32)), *sigmas).numpy()[0]
    assert np.abs(got - reference.bilateral(x, *sigmas)).max() <= TOLERANCE["grid"] * min(sigmas[0], 1)


@pytest.mark.parametrize("sigma", [1300.0, 1e20])
def test_grids_of_large_cells(gpu, rng, sigma) -> None:
    """More pixels in a cell than llvmpipe's loops have rounds; and beside many of one value few of another."""
    x = rng.random((320, 1400))
    x[5, :3] = 40.0
    got = bilateral_grid.bilateral(gpu, gpu.array(x[None].astype(np.float32)), 2.0, sigma).numpy()[0]
    np.testing.assert_allclose(got[5, :3], 40, rtol=ROUNDINGS)
    if sigma == 1e20:
        some = np.s_[6:46, :60]  # these stand for all pixels, within 0.29/√2400
        np.testing.assert_allclose(got[some], reference.bilateral(x[some], 2.0, sigma), atol=0.02)


def test_grid_keeps_constants_and_edges(gpu) -> None:
    for value in (0.0, -7.25, 1e20):
        x = np.full((1, 30, 45), value, np.float32)
        np.testing.assert_array_equal(bilateral_grid.bilateral(gpu, gpu.array(x), 0.1, 5.0).numpy(), x)
    step = np.where(np.arange(60) < 30, -1.0, 1.0).astype(np.float32) * np.ones((1, 40, 1), np.float32)
    got = bilateral_grid.bilateral(gpu, gpu.array(step), 0.2, 6.0).numpy()
    np.testing.assert_allclose(got, step, rtol=0, atol=TOLERANCE["even"])


def test_what_is_not_finite_has_no_part_in_a_grid(gpu, rng) -> None:
    x = rng.random((30, 41))
    x[4, 5:9] = np.nan, np.inf, -np.inf, np.nan
    x[-1, -1] = np.inf
    image = gpu.array(x[None].astype(np.float32))
    got = bilateral_grid.bilateral(gpu, image, 0.3, 3.0).numpy()[0]
    expected = reference.bilateral(x, 0.3, 3.0)
    known = np.isfinite(x)
    np.testing.assert_array_equal(got[~known], x[~known].astype(np.float32))
    assert np.abs(got[known] - expected[known]).max() <= TOLERANCE["grid"] * 0.3
    for overwrite in (False, True):
        empty = gpu.array(np.full((1, 5, 6), np.nan, np.float32))
        result = bilateral_grid.bilateral(gpu, empty, 0.3, 3.0, overwrite_input=overwrite)
        assert (result is empty) == overwrite and np.isnan(result.numpy()).all()


def test_grids_without_meaning_are_refused(gpu) -> None:
    x = gpu.array(np.linspace(0, 1, 64, dtype=np.float32).reshape(1, 8, 8))
    for sigmas in ((0.1, 0.5), (0.1, math.nan), (0.0, 2.0), (-1.0, 2.0), (1e-4, 2.0), (math.inf, 2.0)):
        with pytest.raises(ParameterError):
            bilateral_grid.bilateral(gpu, x, *sigmas)
    with pytest.raises(ParameterError, match="one plane"):
        bilateral_grid.bilateral(gpu, gpu.array(np.zeros((3, 8, 8), np.float32)), 0.1, 2.0)


def check_durand(gpu: Gpu, light: np.ndarray, exposure: float) -> None:
    """Against the definition of the filter, and more narrowly with the grid's own base."""
    size = max(light.shape[1:])
    y = luminance_of(light) * exposure
    lit = y >= 2.0**-40
    with np.errstate(divide="ignore"):
        y = np.where(lit, np.log10(y), np.nan)
    got = gains(
        gpu, light, "durand", exposure, shadows=0.0, highlights=0.0, sigma_spatial=0.1, base_contrast=8.0
    )
    grid = bilateral_grid.bilateral(gpu, gpu.array(y[None].astype(np.float32)), 0.4, 0.1 * size).numpy()[0]
    scale = 10 ** y[lit].mean() / 0.18
    expected = scale * reference.durand(y[lit], grid[lit].astype(np.float64), 8.0)
    np.testing.assert_allclose(got[lit], expected, rtol=TOLERANCE["durand"])
    expected = scale * reference.durand(y[lit], reference.bilateral(y, 0.4, 0.1 * size)[lit], 8.0)
    assert np.abs(np.log10(got[lit] / expected)).max() <= 2 * TOLERANCE["grid"] * 0.4


@pytest.mark.parametrize("exposure", [0.3, 1e3])
def test_durand_is_the_papers(gpu, exposure) -> None:
    check_durand(gpu, photograph(slice(120, 190), slice(230, 330)), exposure)


def test_durands_base_has_the_contrast_asked_for(gpu) -> None:
    """A bright flat half becomes 1, and a dark one 1/contrast; a smaller contrast stays."""
    light = np.ones((3, 60, 90), np.float32)
    for dark, contrast, expected in ((2.0**-12, 50.0, 1 / 50), (2.0**-12, 5.0, 1 / 5), (0.5, 50.0, 0.5)):
        light[:, :, :45] = dark
        y = light[0] * gains(
            gpu, light, "durand", 0.18 / math.sqrt(dark), base_contrast=contrast, shadows=0.0, highlights=0.0
        )
        y *= 0.18 / math.sqrt(dark)
        np.testing.assert_allclose(y[:, :45], expected, rtol=TOLERANCE["durand"])
        np.testing.assert_allclose(y[:, 45:], 1, rtol=TOLERANCE["durand"])


def test_durand_leaves_shadows_and_highlights_out(gpu) -> None:
    light = np.maximum(photograph(slice(100, 300), slice(200, 500)), 1e-4)
    y = np.log10(luminance(light.astype(np.float64)))
    exposure = 0.18 / 10 ** y.mean()
    y += math.log10(exposure)
    base = bilateral_grid.bilateral(gpu, gpu.array(y[None].astype(np.float32)), 0.4, 6.0).numpy()[0]
    got = gains(gpu, light, "durand", exposure, shadows=10.0, highlights=5.0, base_contrast=5.0)
    expected = reference.durand(y, base.astype(np.float64), 5.0, 10.0, 5.0)
    assert np.abs(np.log2(got / expected)).max() <= 2 * TOLERANCE["ends"]


@pytest.mark.parametrize("operator", OPERATORS)
def test_even_images(gpu, operator) -> None:
    for value in (0.0, np.nan, np.inf, -1.0, 3e38, 1e-45, 0.18, 7.0):
        got = gains(gpu, np.full((3, 3, 5), value, np.float32), operator)
        assert np.isfinite(got).all()
        np.testing.assert_allclose(got, got[0, 0], rtol=ROUNDINGS)
    if operator == "reinhard-local":
        for level in (0.0, 0.18, 100.0):
            got = gains(gpu, np.full((3, 20, 30), level, np.float32), operator, 2.0)
            np.testing.assert_allclose(got, 1 / (1 + 2 * level), rtol=TOLERANCE["even"])


@pytest.mark.parametrize("operator", OPERATORS)
def test_bad_pixels_are_black_or_white_and_nothing_around(gpu, operator) -> None:
    light = np.full((3, 40, 40), 0.5, np.float32)
    light[:, :20] = 0.05
    bad = light.copy()
    bad[0, 10, 10], bad[:, 30, 30], bad[1, 30, 5] = np.nan, np.inf, -np.inf
    black = light.copy()
    black[0, 10, 10], black[:, 30, 30], black[1, 30, 5] = 0, 0, 0
    got, expected = gains(gpu, bad, operator), gains(gpu, black, operator)
    assert got[30, 30] * 2.0**60 >= 1
    got[30, 30] = expected[30, 30]
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("operator", OPERATORS)
def test_gray_and_alpha(gpu, rng, operator) -> None:
    gray = np.exp2(rng.uniform(-4, 4, (1, 31, 43))).astype(np.float32)
    expected = gains(gpu, np.repeat(gray, 3, 0), operator)
    np.testing.assert_allclose(gains(gpu, gray, operator), expected, rtol=TOLERANCE["durand"])
    image = gpu.array(np.concatenate([gray, rng.random((1, 31, 43), np.float32)]))
    image.alpha = True
    np.testing.assert_array_equal(
        OPERATORS[operator](gpu, Light(image)).numpy()[0], gains(gpu, gray, operator)
    )


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("colours", [1, 3])
def test_tonemap_multiplies_by_the_gain(gpu, rng, operator, colours) -> None:
    light = np.exp2(rng.uniform(-6, 6, (colours, 31, 45))).astype(np.float32)
    image = gpu.array(light)
    scale = metered(gpu, image, TonemapParams())
    expected = light * scale * OPERATORS[operator](gpu, Light(image, scale)).numpy()
    got = tonemap(gpu, image, TonemapParams(operator, transfer="linear"))
    assert got.linear
    np.testing.assert_allclose(got.numpy(), expected, rtol=ROUNDINGS)


@pytest.mark.parametrize("operator", OPERATORS)
def test_after_bloom(gpu, operator) -> None:
    light = photograph(slice(100, 221), slice(200, 403))
    params, display = BloomParams(strength=0.3), TonemapParams(operator, exposure=1.0, transfer="linear")
    pixels, coding = gpu.array(np.moveaxis(light, 0, -1).copy()), (Decoding(), Encoding(np.dtype(np.float32)))
    got, _ = bloom_pixels(gpu, pixels, params, *coding, display)
    expected = tonemap(gpu, bloom(gpu, gpu.array(light), params), display).numpy()
    np.testing.assert_allclose(np.moveaxis(got.numpy(), -1, 0), expected, rtol=ROUNDINGS)


def test_parameters_are_those_that_are_named(gpu) -> None:
    """Each of those that params names has an effect, and the defaults of both are the same."""
    assert set(OPERATORS) == LOCAL
    light = photograph(slice(100, 300), slice(200, 500))
    other = {"phi": 4.0, "threshold": 0.2, "base_contrast": 5.0, "shadows": 20.0, "highlights": 20.0}
    other |= {"sigma_spatial": 0.1, "sigma_color": 0.1}
    for operator in OPERATORS:
        names = KNOWN[operator].parameters
        usual = gains(gpu, light, operator, 0.5)
        defaults = {name: parameter.default or 0.0 for name, parameter in names.items()}
        np.testing.assert_array_equal(gains(gpu, light, operator, 0.5, **defaults), usual)
        for name in names:
            assert (gains(gpu, light, operator, 0.5, **{name: other[name]}) != usual).any(), name


def test_what_has_no_meaning_is_refused(gpu) -> None:
    image: Image = gpu.array(np.ones((2, 3, 3), np.float32))
    with pytest.raises(ParameterError, match="not one of 2 channels"):
        OPERATORS["durand"](gpu, Light(image))


@pytest.mark.parametrize("channels", [1, 3])
def test_a_panorama_has_no_seam(gpu, rng, channels) -> None:
    """A turned panorama is turned when it is mapped by dodging and burning."""
    x = rng.gamma(0.3, 2, (channels, 32, 128)).astype(np.float32)
    params = TonemapParams("reinhard-local", 1.0, border="wrap-x")
    straight, turned = (tonemap(gpu, gpu.array(v), params).numpy() for v in (x, np.roll(x, 64, axis=2)))
    np.testing.assert_allclose(turned, np.roll(straight, 64, axis=2), rtol=0, atol=1e-5)
    usual = tonemap(gpu, gpu.array(x), TonemapParams("reinhard-local", 1.0)).numpy()
    assert np.abs(usual - straight)[:, :, [0, -1]].max() > 1e-3


def test_operators_without_a_border(clpix, tmp_path) -> None:
    files.write(tmp_path / "a.exr", files.Picture(np.ones((4, 5, 3), np.float32), linear=True))
    for operator in ("agx", "durand", "reinhard-local"):
        out = tmp_path / "a.png"
        run = clpix("tonemap", tmp_path / "a.exr", "--operator", operator, "--border", "wrap-x", "-o", out)
        refused = operator != "reinhard-local"
        assert (run.code, "reinhard-local alone" in run.err) == (2 * refused, refused)
        assert out.exists() != refused
