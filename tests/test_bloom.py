"""Bloom against its definition in numpy float64."""

import warnings

import numpy as np
import pytest
from scipy import ndimage

from gpuops import GpuopsWarning, ParameterError
from gpuops.glow.bloom import bloom, bloom_pixels
from gpuops.glow.octaves import octaves
from gpuops.ops.bloom import BloomParams
from gpuops.ops.tonemap import TonemapParams
from gpuops.pixels.coding import Decoding, Encoding

from .choices import each, some
from .reference.glow import bloom as reference
from .reference.glow import bloom_of_gaussians as of_gaussians
from .reference.glow import bloom_stages as stages
from .reference.glow import over
from .reference.images import close, on
from .tolerance import BLOOM as TOLERANCE
from .tolerance import ROUNDINGS

READS = ("direct", "local")
# 1 × 1; one row; one column; smaller than the 6 × 6 support; odd; a vector of 16 ± 1; group of 16 ± 1; over two groups
SHAPES = [(1, 1), (1, 7), (9, 1), (2, 3), (5, 5), (33, 47), (17, 15), (32, 64), (70, 131)]


def hdr(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Mostly dim, some very bright, some negative."""
    return np.exp(rng.normal(-1, 2, shape)).astype(np.float32) * rng.choice([1, 1, 1, 1, 1, -0.1], shape)


@each(reads=READS, shape=SHAPES)
def test_mip_is_its_definition(gpu, rng, shape, reads) -> None:
    x = hdr(rng, 3, *shape)
    params = BloomParams(strength=0.7, radius=0.3, reads=reads)
    close(bloom(gpu, on(gpu, x), params).numpy(), reference(x, params), TOLERANCE["mip"])


@pytest.mark.cases(1)
@some(
    reads=READS,
    shape=[(64, 96), (100, 256), (126, 96), (127, 128), (128, 128), (129, 96), (132, 96), (256, 70)],
)
def test_levels_that_end_in_every_way(gpu, rng, shape, reads) -> None:
    """Going up takes two levels at once: the rows of either are even or odd, and light stands on the last ones."""
    x = np.zeros((1, *shape), np.float32)
    x[:, -3:] = rng.random((1, 3, shape[1]))
    params = BloomParams(strength=1.0, radius=0.3, reads=reads, karis=False)
    close(bloom(gpu, on(gpu, x), params).numpy(), reference(x, params), TOLERANCE["mip"])


@pytest.mark.cases(5)
@some(
    reads=READS,
    options=[
        {"karis": False}, {"blend": "add", "strength": 3.0}, {"threshold": 0.8},
        {"threshold": 0.8, "knee": 0.0}, {"threshold": 0.8, "knee": 1.0, "blend": "add"},
        {"threshold": 8.0, "exposure": 3.0}, {"radius": 0.0}, {"radius": 0.002}, {"radius": 1.0},
        {"strength": 1.0},
    ],
)  # fmt: skip
def test_options_are_their_definitions(gpu, rng, options, reads) -> None:
    x = hdr(rng, 3, 45, 70)
    params = BloomParams(**({"strength": 0.4, "reads": reads} | options))
    close(bloom(gpu, on(gpu, x), params).numpy(), reference(x, params), TOLERANCE["mip"])


@pytest.mark.cases(1)
@some(reads=READS, colours=[1, 3], blend=["energy", "add"])
def test_alpha_glows_along(gpu, rng, colours, blend, reads) -> None:
    alpha = np.zeros((1, 40, 52))
    alpha[:, 10:30, 20:37] = rng.random((20, 17))
    alpha[:, 15:20] = 1
    x = np.concatenate([np.abs(hdr(rng, colours, 40, 52)) * alpha, alpha]).astype(np.float32)
    params = BloomParams(strength=0.5, threshold=0.5, blend=blend, reads=reads)
    result = bloom(gpu, on(gpu, x, alpha=True), params)
    assert result.alpha
    pixels = result.numpy()
    close(pixels, reference(x, params, alpha=True), TOLERANCE["mip"])
    assert (pixels[-1] >= x[-1]).all() and (pixels[-1] <= 1).all() and (pixels[-1][x[-1] == 1] == 1).all()
    assert pixels[-1][x[-1] == 0].max() > 0


def test_gaussians_are_scipys(gpu, rng) -> None:
    x = np.abs(hdr(rng, 3, 50, 64)).astype(np.float32)
    for options in ({}, {"blend": "add"}, {"threshold": 1.0}):
        params = BloomParams(method="gaussians", strength=0.6, **options)
        close(bloom(gpu, on(gpu, x), params).numpy(), of_gaussians(x, params), TOLERANCE["gaussians"])


@pytest.mark.parametrize("planes", [1, 3])
def test_a_kernel_is_the_glow(gpu, rng, planes) -> None:
    x, kernel = np.abs(hdr(rng, 3, 41, 30)).astype(np.float32), rng.random((planes, 9, 12))
    kernel /= kernel.sum((1, 2), keepdims=True)
    params = BloomParams(method="fft", strength=0.6)
    glow = np.stack([ndimage.convolve(p, kernel[c % planes]) for c, p in enumerate(x.astype(np.float64))])
    expected = over(x.astype(np.float64), x.astype(np.float64), glow, params, alpha=False)
    close(bloom(gpu, on(gpu, x), params, kernel).numpy(), expected, TOLERANCE["gaussians"])


@pytest.mark.exhaustive
def test_many_channels_fit_local_memory(gpu, rng) -> None:
    """A tile of 10 planes needs a smaller group than the usual one."""
    x = rng.random((10, 40, 33)).astype(np.float32)
    params = BloomParams(strength=1.0, reads="local")
    close(bloom(gpu, on(gpu, x), params).numpy(), reference(x, params), TOLERANCE["mip"])


def test_scales_with_the_light(gpu, rng) -> None:
    """Linear without threshold and Karis average, over all of HDR's range: nothing is clipped."""
    x = np.abs(hdr(rng, 3, 31, 40)).astype(np.float32)
    params = BloomParams(strength=0.5, karis=False)
    small, large = (bloom(gpu, on(gpu, x * f), params).numpy() for f in (2.0**-20, 2.0**30))
    assert np.array_equal(small * 2.0**50, large)


@pytest.mark.parametrize("reads", READS)
def test_an_impulse_glows_evenly(gpu, reads) -> None:
    """Sum 1, symmetric about its pixel's corner of the coarsest grid, and as wide as promised."""
    x = np.zeros((1, 256, 256), np.float32)
    x[0, 128, 128] = 1
    params = BloomParams(strength=1.0, radius=0.05, karis=False, reads=reads)
    glow = bloom(gpu, on(gpu, x), params).numpy()[0].astype(np.float64)
    assert glow.sum() == pytest.approx(1, abs=ROUNDINGS) and glow.min() >= 0
    np.testing.assert_allclose(glow, glow.T, rtol=0, atol=ROUNDINGS * glow.max())
    at = np.arange(256) - 128.0
    mean = (glow.sum(0) * at).sum()
    spread = (glow.sum(0) * (at - mean) ** 2).sum()
    promised = sum(share * sigma**2 for sigma, share in octaves(params, 256))
    assert spread == pytest.approx(promised, rel=TOLERANCE["mip"])


def test_overwriting_the_input(gpu, rng) -> None:
    x = hdr(rng, 3, 37, 50)
    for reads in READS:
        for method in ("mip", "gaussians"):
            params = BloomParams(strength=0.5, reads=reads, method=method)
            image = on(gpu, x)
            fresh = bloom(gpu, image, params).numpy()
            assert bloom(gpu, image, params, overwrite_input=True) is image
            assert np.array_equal(image.numpy(), fresh)


@pytest.mark.cases(1)
@pytest.mark.parametrize("method", ["direct", "local", "gaussians"])
def test_pixels_that_are_not_finite_do_not_spread(gpu, rng, method) -> None:
    x = np.abs(hdr(rng, 4, 50, 67)).astype(np.float32)
    x[3] = 1
    x[0, 10, 10], x[1, 49, 66], x[2, 20, 5], x[3, 7, 7] = np.nan, np.inf, -np.inf, np.nan
    how = {"reads": method} if method != "gaussians" else {"method": method}
    params = BloomParams(strength=0.5, **how)
    with pytest.warns(GpuopsWarning, match="4 pixels were not finite"):
        result = bloom(gpu, on(gpu, x, alpha=True), params).numpy()
    assert np.isfinite(result).all()
    if method != "gaussians":
        close(result, reference(x, params, alpha=True), TOLERANCE["mip"])
    assert result[1, 49, 66] == pytest.approx(65504, rel=0.01)


@pytest.mark.cases(1)
@pytest.mark.parametrize("reads", READS)
def test_the_largest_values_overflow_nothing(gpu, reads) -> None:
    x = np.full((3, 20, 21), np.finfo(np.float32).max, np.float32)
    x[:, 10:] *= -1
    for options in ({}, {"threshold": 1.0}, {"karis": False, "blend": "add", "strength": 100.0}):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert np.isfinite(bloom(gpu, on(gpu, x), BloomParams(reads=reads, **options)).numpy()).all()


@pytest.mark.parametrize(("options", "message"), [
    ({"strength": -0.1}, "strength must be from 0 to 100, not -0.1"),
    ({"strength": 1.5}, "0 … 1 with the blend energy"),
    ({"blend": "add", "strength": float("inf")}, "0 to 100"),
    ({"radius": -1}, "radius must be from 0 to 1"),
    ({"threshold": -1}, "threshold must be from 0 to 1e"),
    ({"knee": 2}, "knee"),
    ({"exposure": float("nan")}, "with numbers from -60 to 60, not nan"),
    ({"method": "magic"}, "unknown method 'magic': use one of mip, gaussians, fft"),
    ({"reads": "texture"}, "unknown reads 'texture': use one of"),
    ({"border": "wrap"}, "unknown border 'wrap': did you mean 'wrap-x'"),
])  # fmt: skip
def test_refused_parameters(options, message) -> None:
    with pytest.raises(ParameterError, match=message):
        BloomParams(**options)


def test_a_kernel_needs_its_method(gpu) -> None:
    image = gpu.array(np.ones((1, 2, 2), np.float32))
    with pytest.raises(ParameterError, match="needs the method fft, not mip"):
        bloom(gpu, image, BloomParams(), np.ones((1, 1)))


def test_pixels_are_tone_mapped_to_light(gpu) -> None:
    """Tone mapping must give light: an encoding of its own would come on top of a display's."""
    pixels = gpu.array(np.ones((2, 3, 3), np.float16))
    for display in (TonemapParams(), TonemapParams(transfer="linear", dither=255)):
        with pytest.raises(ParameterError, match="use the transfer linear"):
            bloom_pixels(gpu, pixels, BloomParams(), Decoding(), Encoding(np.dtype(np.uint8)), display)


def with_alpha(
    rng: np.random.Generator, colours: int, kind: str, size: tuple[int, int] = (40, 56)
) -> np.ndarray:
    """Straight colours of a scene with a lamp, and an alpha that is opaque, absent in places, or anything."""
    height, width = size
    pixels = rng.random((*size, colours + 1)).astype(np.float32) * 0.2
    pixels[10:14, 20:25, :colours] = (80, 60, 20)[:colours]
    alpha = {"opaque": 1.0, "any": rng.random(size), "holes": rng.random(size) * (rng.random(size) > 0.5)}[
        kind
    ]
    pixels[..., -1] = alpha
    if kind == "holes":
        pixels[: height // 2, : width // 2, -1] = 0
    return pixels


@pytest.mark.cases(1)
@each(
    kind=["opaque", "any", "holes"],
    colours=[1, 3],
    depth=["uint8", "uint16", "float16", "float32"],
    way=["direct", "local", "gaussians"],
)
def test_the_operator_takes_straight_colours(gpu, rng, way, depth, colours, kind) -> None:
    """Pixels of every depth, read by kernels of their own (direct, gaussians) or by those of the glow (local)."""
    pixels, light = with_alpha(rng, colours, kind), depth.startswith("f")
    if not light:
        pixels = np.rint(np.clip(pixels, 0, 1) * np.iinfo(depth).max)
    pixels = pixels.astype(depth)
    decoding = Decoding(True, linearise=not light, premultiply=True)
    encoding = Encoding(np.dtype(np.float32), unpremultiply=True)
    how = {"method": way} if way == "gaussians" else {"reads": way}
    params = BloomParams(strength=0.6, exposure=2.0, radius=0.05, **how)
    display = TonemapParams("agx", exposure=2.0, transfer="linear")
    got, _ = bloom_pixels(gpu, gpu.array(pixels), params, decoding, encoding, display)
    glowing = of_gaussians if way == "gaussians" else reference
    expected, _, _ = stages(pixels, params, decoding, encoding, "agx", glowing=glowing)
    got = got.numpy()
    assert got[..., :colours].max() <= 1
    np.testing.assert_allclose(got[..., -1], expected[..., -1], rtol=0, atol=TOLERANCE["gaussians"])
    # Where alpha is tiny, the glow's rounding and the cut of its Gaussians are divided by it.
    covered = expected[..., -1] > 1e-3
    allowed = TOLERANCE["displayed gaussians" if way == "gaussians" else "displayed"]
    off = allowed / np.minimum(expected[covered][:, -1:], 1)
    assert (np.abs(got - expected)[covered][:, :colours] <= off).all()


# Numbers of columns that halve without a remainder, down to one or not; others; and fewer than the support.
AROUND = [(32, 64), (61, 128), (64, 40), (40, 8), (9, 2), (30, 1), (31, 67), (5, 3)]
WAYS = {
    "direct": {"reads": "direct"}, "local": {"reads": "local"}, "gaussians": {"method": "gaussians"},
    "starburst": {"method": "fft"}, "kernel": {"method": "fft"},
}  # fmt: skip


def panorama(rng: np.random.Generator, height: int, width: int) -> np.ndarray:
    """Smooth light all around with a lamp on the seam."""
    x = ndimage.gaussian_filter(rng.random((3, height, width)), (0, 2, 4), mode="wrap")
    x[:, height // 2, :2] = 50
    return x.astype(np.float32)


def kernel_of(way: str) -> np.ndarray | None:
    if way != "kernel":
        return None
    at = np.arange(-9, 10)
    kernel = np.exp(-np.abs(at[:, None]) / 2 - np.abs(at) / 3)
    return kernel / kernel.sum()


@pytest.mark.cases(1)
@each(reads=READS, shape=AROUND)
def test_around_is_its_definition(gpu, rng, shape, reads) -> None:
    x = hdr(rng, 4, *shape)
    x[-1] = rng.random(shape)
    for options in ({}, {"threshold": 0.5, "blend": "add"}):
        params = BloomParams(strength=0.7, reads=reads, border="wrap-x", **options)
        result = bloom(gpu, on(gpu, x, alpha=True), params).numpy()
        close(result, reference(x, params, alpha=True), TOLERANCE["mip"])


@pytest.mark.cases(1)
@pytest.mark.parametrize("way", WAYS)
def test_turning_a_panorama_turns_its_glow(gpu, rng, way) -> None:
    """The mip chain's by multiples of its coarsest pixel, bit for bit; others' by anything, within rounding."""
    x, params = panorama(rng, 64, 128), BloomParams(strength=0.8, border="wrap-x", **WAYS[way])
    by = 8 if way in READS else 37
    glow, turned = (bloom(gpu, on(gpu, v), params, kernel_of(way)).numpy() for v in (x, np.roll(x, by, -1)))
    exact = way in READS
    allowed = 0 if exact else ROUNDINGS * x.max()
    np.testing.assert_allclose(np.roll(glow, by, -1), turned, rtol=0, atol=allowed)


IDENTITIES = [BloomParams(strength=0), BloomParams(strength=0, method="gaussians")]
