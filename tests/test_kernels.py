"""Every kernel of clkernels/ in every variant that the library chooses, on small images, against references.

Small, because tests/on_every_opencl runs this file on every OpenCL implementation there is, Oclgrind's interpreter
among them; larger images and properties are the other modules' business. Operations run planned for a CPU and for a
GPU, and ``test_nothing_was_left_out`` fails for a kernel, or a branch of the preprocessor, without a case.

Of independent choices (type × channels × curve …) each pair occurs, not each combination: builds take most of the time.
"""

import os
import re
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, cached_property, partial
from importlib import import_module
from itertools import product
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyopencl as cl
import pytest
import pywt
import scipy.fft
import scipy.ndimage
from scipy import ndimage

import clkernels
from gpuops import Gpu, GpuopsWarning, Image
from gpuops import fourier as fft
from gpuops.bench import fft_ways as bench_fft_ways
from gpuops.chain import Chain
from gpuops.filters import bilateral_grid, both_axes
from gpuops.filters.bilateral import bilateral
from gpuops.filters.blur import blur, blur_pixels
from gpuops.filters.box import Box, box
from gpuops.filters.clang import CLANG
from gpuops.filters.convolve import convolve
from gpuops.filters.median import median
from gpuops.fourier import spectrum
from gpuops.fourier.engine import planner
from gpuops.glow import d3d11, mip_rows, starburst
from gpuops.glow import mip as bloom_mip
from gpuops.glow.bloom import bloom, bloom_pixels
from gpuops.gpu import GeneratedSource, Kernel, Limits
from gpuops.image import COMPLEX_HALF
from gpuops.metrics import flip_tiles, reduction
from gpuops.metrics.compare import difference, mean_squared_error
from gpuops.metrics.flip import flip, hdr_flip
from gpuops.metrics.ssim import structural_similarity
from gpuops.metrics.statistics import all_statistics, statistics, statistics_and_mip
from gpuops.ops.bloom import BloomParams
from gpuops.ops.blur import BlurParams
from gpuops.ops.grade import GradeParams
from gpuops.ops.tonemap import TonemapParams
from gpuops.params.bilateral import BilateralParams
from gpuops.params.bloom import Aperture
from gpuops.params.border import BORDERS
from gpuops.params.dither import NOISES, Dither
from gpuops.params.dwt import DwtParams, ShrinkParams
from gpuops.params.fft import VIEWS, FftParams, SpectrumParams, filter_option
from gpuops.params.operators import LOCAL, OPERATORS, TRANSFERS
from gpuops.params.white_balance import Illuminant
from gpuops.pixels import blue_noise, light
from gpuops.pixels.coding import Decoding, Encoding, Losses, download, losses, pack, upload
from gpuops.pixels.colour import LINEAR, SRGB, of_primaries
from gpuops.pixels.curves import LINEAR_CURVE, SRGB_CURVE, Cube, Curve, Hlg, Parametric, Sampled
from gpuops.pixels.primaries import IDENTITY, NAMED
from gpuops.pixels.spaces import working
from gpuops.pixels.unfilter import unfiltered
from gpuops.tone import contact_sheet, white_balance
from gpuops.tone.fusion import shifted
from gpuops.tone.local import OPERATORS as LOCAL_OPERATORS
from gpuops.tone.local import Light, reinhard_local
from gpuops.tone.tonemap import tonemap, tonemap_pixels
from gpuops.wavelets import (
    bands,
    dwt2,
    idwt2,
    in_place,
    iswt2,
    laan,
    shrink,
    strips,
    swt2,
    threshold,
    transform,
    two_levels,
    wavedec2,
    waverec2,
)
from gpuops.wavelets import statistics as band_statistics
from gpuops.wavelets import tiled_level as tile
from gpuops.wavelets.denoise import denoise

from . import choices, png_filters, tolerance
from .choices import each, pairs
from .reference import borders, metrics_ssim
from .reference import colour as colour_reference
from .reference import d3d11 as d3d11_reference
from .reference import filters as filters_reference
from .reference import flip as flip_reference
from .reference import glow as glow_reference
from .reference import local_tone as tonemap_local_reference
from .reference import lut as lut_reference
from .reference import metrics as metrics_reference
from .reference import tables as profile_tables
from .reference import tone as tonemap_reference
from .reference.colour import srgb_light, srgb_signal
from .reference.fourier import error, picture_error
from .reference.images import close, decoded, encoded, on
from .reference.wavelets import flat, integer_line, mirrored, stationary_bands, vc2_level_of, wavelet_of
from .test_image import pixels_of
from .test_working import luminance
from .tolerance import KERNELS as TOLERANCE

# The tests of operations and metrics, some of whose checks are done here on small images.
OF = """
bloom chain changed compare counts delta_e dwt fft filter filtered_by_rows flip_metric lut median merge
mix ocio operations pixelmatch pointwise pu21 pyramid reduce register ssim ssimulacra2 starburst streaming
tolerant tonemap_local z_test
"""
of = SimpleNamespace(**{name: import_module(f".test_{name}", __package__) for name in OF.split()})

# Odd both ways: five groups of 256, three by two of 16 × 16, and a remainder after vectors of 4, 8, 16 and 32.
# The operations' own tests touch each kernel; its variants are seen by `pytest -m ''`, on every OpenCL.
pytestmark = pytest.mark.exhaustive

SHAPE = (29, 37)
LAYOUTS = {1: False, 2: True, 3: False, 4: True}  # channels: is the last one alpha?


def every_pair(**choices: Any) -> pytest.MarkDecorator:
    """Parametrises a test so that any two choices meet; planning for a CPU or a GPU is one of them."""
    return pytest.mark.parametrize(
        ("gpu", *choices), pairs(("cpu", "gpu"), *choices.values()), indirect=["gpu"]
    )


in_turns = partial(choices.in_turns, fixture="gpu")


RAN: set[str] = set()


@pytest.fixture(autouse=True)
def noted(request: pytest.FixtureRequest) -> None:
    """Notes what runs, by name and by name with parameters."""
    RAN.update((request.node.originalname, request.node.name))


# -- the device under test ----------------------------------------------------------------------------------------


class Recorder(Gpu):
    """A device that claims other limits than it has, so that plans are those of other devices, and notes launches."""

    # (source's name, kernel's name) -> the defines of each variant launched, on all Recorders
    launched: ClassVar[defaultdict[tuple[str, str], list[dict[str, object]]]] = defaultdict(list)

    def __init__(self, **claims: int) -> None:
        super().__init__()
        self._claims = claims
        self._variants: dict[int, tuple[Any, str, dict[str, object]]] = {}

    @cached_property
    def limits(self) -> Limits:
        """The device's limits, but for what is claimed; sizes are never more than it has."""
        real = super().limits
        sizes = ("work_group", "local_bytes")
        claims = {k: min(v, getattr(real, k)) if k in sizes else v for k, v in self._claims.items()}
        if "is_cpu" in claims:  # the native functions of Intel's runtime have 14 bits on some CPUs
            claims["native"] = not claims["is_cpu"] and self.device.platform.vendor != INTEL
        if self.device.platform.name == "rusticl":
            claims["lanes"] = real.lanes  # llvmpipe's compiler takes minutes for eight pixels of AgX at once
        return replace(real, **claims)

    def empty(self, shape: Sequence[int], dtype: npt.DTypeLike = np.float32) -> Image:
        """Makes arrays of exactly this size (a pool rounds up), so that Oclgrind sees accesses beyond; NaN or −1."""
        host = np.full(max(1, int(np.prod(shape)) * np.dtype(dtype).itemsize), 255, np.uint8)
        buffer = cl.Buffer(self.context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=host)
        return Image(self, buffer, tuple(int(n) for n in shape), np.dtype(dtype))

    def kernels(self, requests: Any) -> list[Kernel]:
        kernels = super().kernels(requests)
        for request, kernel in zip(requests, kernels, strict=True):
            self._variants[id(kernel)] = request
        return kernels

    def launch(self, kernel: Kernel, *args: Any, **options: Any) -> Any:
        self._note(kernel)
        return super().launch(kernel, *args, **options)

    def bind(self, kernel: Kernel, *args: Any, **options: Any) -> Any:
        self._note(kernel)
        return super().bind(kernel, *args, **options)

    def _note(self, kernel: Kernel) -> None:
        source, name, defines = self._variants[id(kernel)]
        parts = source if isinstance(source, tuple) else (source,)
        values = {key: value for key, value in defines.items() if value not in (None, False)}
        for part in parts:
            if isinstance(part, GeneratedSource):  # its defines hold for the sources that follow
                for undef, key, value in re.findall(r"^#(undef|define) (\w+)(.*)$", part.text, re.MULTILINE):
                    values = {k: v for k, v in values.items() if k != key}
                    if undef == "define":
                        values[key] = value.strip() or True
            self.launched["generated" if isinstance(part, GeneratedSource) else part, name].append(values)


PROFILES: dict[str, dict[str, int]] = {
    # Eight pixels a work-item, straight from global memory.
    "cpu": {"is_cpu": True, "lanes": 8},
    # Groups that share local memory, as much of both as every GPU has.
    "gpu": {"is_cpu": False, "lanes": 1, "work_group": 256, "local_bytes": 32768},
    # The same, but where no level of wavelets is small, and where small levels have several tiles or one.
    **{
        name: {"is_cpu": False, "lanes": 1, "work_group": 256, "local_bytes": 32768, "compute_units": units}
        for name, units in (("large gpu", 2), ("gpu of many units", 6), ("gpu of a unit", 1))
    },
    # Groups halved until they fit.
    "tiny cpu": {"is_cpu": True, "lanes": 8, "work_group": 16, "local_bytes": 1024},
    "tiny gpu": {"is_cpu": False, "lanes": 1, "work_group": 16, "local_bytes": 1024},
    # Strips of sixteen columns.
    "narrow cpu": {"is_cpu": True, "lanes": 8, "local_bytes": 2048},
    # Transforms of more than 32 points in several launches.
    "least cpu": {"is_cpu": True, "lanes": 8, "work_group": 16, "local_bytes": 256},
    "least gpu": {"is_cpu": False, "lanes": 1, "work_group": 16, "local_bytes": 256},
}


@cache
def device(profile: str) -> Recorder:
    return Recorder(**PROFILES[profile])


@pytest.fixture(params=["cpu", "gpu"])
def gpu(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorder]:
    """The device under test, planned for as a CPU and as a GPU."""
    if request.param == "large gpu":
        monkeypatch.setattr(tile, "pays", lambda *_, **__: False)
    yield device(request.param)


@pytest.fixture(params=["tiny cpu", "tiny gpu"])
def tiny(request: pytest.FixtureRequest) -> Iterator[Recorder]:
    """Gives Recorders with hardly any local memory, and groups of 16."""
    yield device(request.param)


# -- pixels -------------------------------------------------------------------------------------------------------

DTYPES = ("uint8", "uint16", "float16", "float32")
CURVES: dict[str, Any] = {
    "": lambda v: v,
    "linearise": lambda v: np.copysign(srgb_light(np.abs(v)), v),
    "encode": lambda v: np.copysign(srgb_signal(np.abs(v)), v),
}


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_unpack_of_five_channels(gpu, rng, dtype) -> None:
    pixels = (rng.random((*SHAPE, 5)) * (255 if dtype == "uint8" else 1)).astype(dtype)
    largest = 255 if dtype == "uint8" else 1
    expected = np.moveaxis(pixels.astype(np.float64), -1, 0) / largest
    np.testing.assert_allclose(upload(gpu, pixels).numpy(), expected, rtol=0, atol=tolerance.ROUNDINGS)


@every_pair(dtype=DTYPES, channels=LAYOUTS, curve=CURVES)
def test_unpack_and_pack(gpu, rng, dtype, channels, curve) -> None:
    alpha, colours = LAYOUTS[channels], channels - LAYOUTS[channels]
    multiplied = alpha and DTYPES.index(dtype) % 2 == 0
    wanted = {curve: True} if curve else {}
    most = np.iinfo(dtype).max if dtype.startswith("u") else 1

    pixels = pixels_of(rng, dtype, (*SHAPE, channels))
    expected = (pixels.astype(np.float64) / most).transpose(2, 0, 1)
    expected[:colours] = CURVES[curve](expected[:colours])
    if multiplied:
        expected[:colours] *= expected[colours:]
    image = upload(gpu, pixels, alpha=alpha, premultiply=multiplied, **wanted)  # type: ignore[arg-type]
    np.testing.assert_allclose(image.numpy(), expected, rtol=TOLERANCE["curve"], atol=TOLERANCE["near black"])

    values = rng.uniform(0.2, 1, (channels, *SHAPE)).astype(np.float32)
    values[0, 3, 4:8] = 2, -1, np.nan, np.inf
    values[-1, 5] = 0  # alpha 0, by which colours cannot be divided
    expected = values.astype(np.float64)
    if multiplied:
        expected[:colours] /= np.where(expected[colours:] > 0, expected[colours:], 1)
    expected[:colours] = CURVES[curve](expected[:colours])
    unpremultiply = {"unpremultiply": multiplied}
    got, lost = download(on(gpu, values, alpha), dtype, **wanted, **unpremultiply)
    result = got.astype(np.float64).transpose(2, 0, 1)
    finite = np.isfinite(expected)
    if dtype.startswith("u"):
        level = np.nan_to_num(expected * most, nan=0.0, posinf=most, neginf=0.0)
        assert np.abs(result - np.clip(level, 0, most)).max() <= 0.5 + TOLERANCE["curve"] * most
        assert lost.not_finite == (~finite).sum()
        assert lost.clipped == (finite & ((level < -0.5) | (level > most + 0.5))).sum()
    else:
        rounding = 2.0**-11 if dtype == "float16" else TOLERANCE["curve"]
        np.testing.assert_allclose(result, expected, rtol=rounding, atol=TOLERANCE["near black"])
        assert lost.clipped == lost.not_finite == 0


@every_pair(dtype=["uint8", "uint16"], channels=[1, 3])
def test_whole_numbers_as_they_are(gpu, rng, dtype, channels) -> None:
    """Ties go to even numbers; what is beyond the type is counted."""
    most = np.iinfo(dtype).max
    pixels = pixels_of(rng, dtype, (*SHAPE, channels))
    np.testing.assert_array_equal(upload(gpu, pixels, scale=1.0).numpy(), pixels.transpose(2, 0, 1))
    values = rng.integers(0, 4 * most, (channels, *SHAPE)).astype(np.float32) / 4
    values[0, 3, :3] = -0.75, most + 0.75, np.nan
    for scale in (1.0, 0.25):
        made, lost = pack(on(gpu, values), Encoding(np.dtype(dtype), scale=scale))
        levels = np.nan_to_num(values * scale, nan=0).transpose(1, 2, 0)
        np.testing.assert_array_equal(made.numpy(), np.rint(np.clip(levels, 0, most)))
        beyond = (levels < -0.5) | (levels > most + 0.5)
        assert lost.numpy().tolist() == [beyond.sum(), 1]


FORMS: dict[str, tuple[Curve, ...]] = {
    "light": (LINEAR_CURVE,),
    "powers": (SRGB_CURVE, Parametric(1.8), Parametric(2.0, 1.25, -0.25, 0.0, 0.2)),
    "samples": (Sampled((0.0, 0.1, 0.3, 1.0)),),
    "both": (SRGB_CURVE, Parametric(1.8), Sampled((0.0, 0.1, 0.3, 1.0))),
    "scene": (Hlg(),),
}


@every_pair(dtype=DTYPES, channels=LAYOUTS, form=FORMS, mixed=(False, True))
def test_light(gpu, rng, dtype, channels, form, mixed) -> None:
    alpha, colour_count = LAYOUTS[channels], channels - LAYOUTS[channels]
    most = np.iinfo(dtype).max if dtype.startswith("u") else 1
    curves = FORMS[form] if colour_count == 3 else FORMS[form][:1]
    space = of_primaries(NAMED["Rec. 2020" if form == "scene" else "ACES AP0"], *curves)
    if not mixed:
        space = replace(space, matrix=IDENTITY)
    pixels = pixels_of(rng, dtype, (*SHAPE, channels))
    if form == "scene":
        pixels = np.abs(pixels)  # luminance of mixed signs is a difference of large numbers
    expected = pixels.astype(np.float64) / most
    for c in range(colour_count):
        v = expected[..., c]
        if form == "samples" or (form == "both" and c == 2):
            expected[..., c] = np.interp(v, [0, 1 / 3, 2 / 3, 1], [0, 0.1, 0.3, 1])
        elif form not in ("light", "scene"):
            powers = srgb_light, lambda v: v**1.8, lambda v: np.maximum(1.25 * v - 0.25, 0) ** 2
            expected[..., c] = np.copysign(powers[c](np.abs(v)), v)
    if form == "scene":
        expected[..., :colour_count] = colour_reference.hlg_light(expected[..., :colour_count].clip(0, 1))
    if colour_count == 3:
        expected[..., :3] = expected[..., :3] @ np.reshape(space.matrix, (3, 3)).T
    allowed = tolerance.COLOUR["five digits" if form == "scene" else "curve"]  # of luminance
    close(light.of_pixels(gpu.array(pixels), space, alpha=alpha).numpy(), expected, allowed)


@every_pair(dtype=DTYPES, channels=(3, 4), primaries=("Rec. 709", "ACES AP1"))
def test_light_by_a_table(gpu, rng, dtype, channels, primaries) -> None:
    """Tables of affine functions are exact: here those of CIELAB's f, on both sides of its joint."""
    matrix, offset = rng.uniform(0, 0.3, (3, 3)), np.array([0.02, 0.05, 0.1])
    entries = np.zeros((5, 5, 5, 4), np.float32)
    entries[..., :3] = (profile_tables.grid(5)[:, ::-1] @ matrix.T + offset).reshape(5, 5, 5, 3)
    space = replace(LINEAR, cube=Cube(entries.tobytes(), b"")).relative_to(
        of_primaries(NAMED[primaries], LINEAR_CURVE)
    )
    pixels = pixels_of(rng, dtype, (*SHAPE, channels))
    values = pixels.astype(np.float64) / (np.iinfo(dtype).max if dtype.startswith("u") else 1)
    f = values[..., :3].clip(0, 1) @ matrix.T + offset
    xyz = np.where(f > 6 / 29, f**3, 3 * (6 / 29) ** 2 * (f - 4 / 29)) * (0.9642, 1.0, 0.8249)
    values[..., :3] = xyz @ profile_tables.D50_TO_SRGB.T @ np.reshape(space.matrix, (3, 3)).T
    close(light.of_pixels(gpu.array(pixels), space, alpha=channels == 4).numpy(), values, TOLERANCE["curve"])


def test_copy(gpu, rng) -> None:
    values = rng.random((1073, 4), np.float32)
    result = gpu.empty(values.shape)
    kernel = gpu.kernel("copy", "copy")
    gpu.launch(kernel, (1073,), gpu.array(values), result, np.uint64(1073), local=kernel.fit(256))
    np.testing.assert_array_equal(result.numpy(), values)


# -- between steps -------------------------------------------------------------------------------------------------


@every_pair(
    channels=LAYOUTS, spaces=product((LINEAR, SRGB), repeat=2), multiplied=product((False, True), repeat=2)
)
def test_conversions(gpu, rng, channels, spaces, multiplied) -> None:
    of.chain.test_converted(gpu, rng, channels, *spaces, *multiplied)


@every_pair(other=(False, True), alpha=(False, True), masked=(False, True))
def test_mixtures(gpu, rng, tmp_path, other, alpha, masked) -> None:
    of.mix.test_formula(gpu, rng, (7, 13), other, alpha, masked, 0.3, tmp_path)


@every_pair(powers=[(1, 1, 1), (2, 0.5, 0)], channels=[1, 3, 4])
def test_fusion(gpu, rng, tmp_path, channels, powers) -> None:
    of.merge.check(gpu, rng, tmp_path, (13, 18, channels), powers)


def test_alignment(gpu, rng) -> None:
    of.merge.test_shifts_are_found_whatever_the_exposure(gpu, rng, (5, -7))
    x = rng.random((2, 9, 13)).astype(np.float32)
    found = shifted(gpu, on(gpu, x), 2, -3).numpy()
    expected = np.pad(x, ((0, 0), (0, 2), (3, 0)), "edge")[:, 2:, :13]
    np.testing.assert_array_equal(found, expected)


def test_shaders_of_opencolorio(gpu, rng) -> None:
    of.ocio.check_shader(gpu, rng)


# Of the numbers of channels each meets each plan, and each operation has one without alpha and one with alpha.
@pytest.mark.parametrize("name", of.operations.NEWER)
@pytest.mark.parametrize(("gpu", "channels"), [("cpu", 2), ("gpu", 3)], indirect=["gpu"])
def test_declared_operations(gpu, rng, name, channels) -> None:
    of.operations.skip_without_package(name)
    of.operations.check(
        gpu, name, rng.gamma(0.5, 2, (channels, *SHAPE)).astype(np.float32), alpha=LAYOUTS[channels]
    )


@pytest.mark.parametrize("profile", ["narrow cpu", "tiny cpu", "tiny gpu"])
def test_resize_in_parts(profile, rng) -> None:
    """Several strips, bands and chunks of samples; groups of 16."""
    of.operations.check(device(profile), "resize", rng.random((1, 67, 331)).astype(np.float32), alpha=False)


# -- neighbourhoods -----------------------------------------------------------------------------------------------


def separable(x: np.ndarray, params: BlurParams) -> np.ndarray:
    for axis, radius in enumerate(params.radii):
        weights = np.array(params.weights(axis))
        widths = [(0, 0), (0, 0), (0, 0)]
        widths[axis + 1] = (radius, radius)
        padded = borders.pad(x, widths, params.border, params.cval)
        x = np.apply_along_axis(np.convolve, axis + 1, padded, weights, "valid")
    return x


@in_turns(("border",), [(border,) for border in BORDERS])
def test_blur(gpu, rng, border) -> None:
    x = rng.random((2, *SHAPE))
    for params in (
        BlurParams(sigma=(2.2, 1.1), border=border, cval=0.3),
        BlurParams(kind="box", radius=(31, 40), border=border, cval=-1),  # the box is larger than the image
    ):
        close(blur(gpu, on(gpu, x), params).numpy(), separable(x, params), TOLERANCE["blur"])
    # Rows have a part away from the edges.
    wide, params = rng.random((1, 3, 100)), BlurParams(sigma=(0, 2), border=border)
    close(blur(gpu, on(gpu, wide), params).numpy(), separable(wide, params), TOLERANCE["blur"])


# On coarse grids; and with groups at both edges and between.
@in_turns(
    ("border", "sigma", "method", "size"),
    [
        *((border, sigma, "multirate", (23, 75))
          for border, sigma in zip(BORDERS, 2 * [(5.0, 9.0), (0.0, 30.0), (40.0, 1.0)], strict=True)),
        *((border, (17.0, 9.0), "auto", (24, 1300)) for border in ("reflect", "reflect", "wrap", "wrap")),
    ],
)  # fmt: skip
def test_wide_blurs(gpu, rng, border, sigma, method, size) -> None:
    x, params = rng.random((2, *size)), BlurParams(sigma=sigma, border=border, cval=0.3, method=method)
    expected = scipy.ndimage.gaussian_filter(x, (0, *sigma), mode=borders.modes(border), cval=0.3, truncate=9)
    close(blur(gpu, on(gpu, x), params).numpy(), expected, TOLERANCE["wide blur"])


@every_pair(border=["reflect", "constant", "wrap-x"], radii=[(2, 7), (33, 0), (0, 40)])
def test_box(gpu, rng, radii, border) -> None:
    x = rng.random((2, *SHAPE))
    params = BlurParams(kind="box", radius=radii, border=border, cval=-1)
    close(box(gpu, on(gpu, x), Box(radii, border, -1.0)).numpy(), separable(x, params), TOLERANCE["blur"])


def test_box_without_local_memory(rng) -> None:
    """Level by level, where not even a block fits."""
    gpu, x = Recorder(**PROFILES["tiny gpu"] | {"local_bytes": 64, "lanes": 1}), rng.random((2, *SHAPE))
    params = BlurParams(kind="box", radius=(9, 11))
    close(box(gpu, on(gpu, x), Box((9, 11))).numpy(), separable(x, params), TOLERANCE["blur"])


def test_box_in_small_groups(tiny, rng) -> None:
    x = rng.random((2, *SHAPE))
    for radii in ((1, 2), (0, 9), (11, 0)):
        params = BlurParams(kind="box", radius=radii)
        close(box(tiny, on(tiny, x), Box(radii)).numpy(), separable(x, params), TOLERANCE["blur"])


# From a file's depth to a file's depth: each type, number of channels and border.
@in_turns(
    ("source", "target", "channels", "border", "size"),
    [
        ("uint8", "uint8", 3, "reflect", (19, 61)),
        ("float32", "float32", 4, "constant", (19, 61)),
        ("uint16", "float16", 1, "wrap", (19, 61)),
        ("float16", "uint16", 3, "nearest", (19, 61)),
        ("float32", "uint8", 3, "mirror", (19, 61)),
        ("uint8", "uint8", 4, "reflect", (16, 40)),  # steps of four and eight samples divide the sides
        ("uint16", "uint16", 2, "wrap", (16, 40)),
        ("float16", "float32", 1, "constant", (16, 40)),
        ("uint16", "uint16", 2, "mirror", (19, 61)),
        ("uint8", "uint8", 3, "reflect", (19, 61)),
    ],
)
def test_blur_of_pixels(gpu, rng, source, target, channels, border, size) -> None:
    alpha, coded = LAYOUTS[channels], target.startswith("u")
    pixels = pixels_of(rng, source, (*size, channels))
    sigma = {(19, 61): (3.2, 6.0) if channels < 4 else (30.0, 17.0), (16, 40): (17.0, 10.0)}[size]
    params = BlurParams(sigma=sigma, border=border, cval=0.4)
    decoding = Decoding(alpha, linearise=not source.startswith("f"), premultiply=alpha)
    encoding = Encoding(np.dtype(target), encode=coded, unpremultiply=alpha)
    made, lost = blur_pixels(gpu, gpu.array(pixels), params, decoding, encoding)
    blurred = scipy.ndimage.gaussian_filter(
        decoded(pixels, decoding), (0, *sigma), mode=borders.modes(border), cval=0.4, truncate=9
    )
    expected, got = encoded(blurred, encoding, alpha), made.numpy().astype(float)
    assert made.shape == pixels.shape and made.dtype == target
    if coded:
        most = np.iinfo(target).max
        clipped = np.count_nonzero((expected * most < -0.5) | (expected * most > most + 0.5))
        assert losses(lost).clipped == pytest.approx(clipped, abs=2)
        levels = np.rint(expected.clip(0, 1) * most)
        assert np.abs(got - levels).max() <= (2 if target == "uint16" else 1)
        assert (got != levels).mean() < 0.02  # the two may round differently
    else:
        rounding = 2 * tolerance.HALF if target == "float16" else 0
        atol = TOLERANCE["wide blur"] * np.abs(expected).max()
        np.testing.assert_allclose(got, expected, rtol=rounding, atol=atol)


# The same for narrow blurs, in one kernel where types are equal, and with a NaN: rows of whole words and others, each
# number of channels; groups in the middle of a row and at its ends.
@in_turns(
    ("dtype", "shape", "border"),
    [
        ("uint8", (11, 300, 3), "reflect"),
        ("uint8", (13, 61, 4), "constant"),
        ("uint16", (13, 67, 2), "wrap"),
        ("float16", (9, 520, 1), "mirror"),
        ("float32", (5, 13, 3), "nearest"),
    ],
)
def test_narrow_blur_of_pixels(gpu, rng, dtype, shape, border) -> None:
    alpha, coded = LAYOUTS[shape[2]], dtype.startswith("u")
    pixels = pixels_of(rng, dtype, shape)
    if dtype == "float32":
        pixels[3, 11, 1] = np.nan
    # With this sigma lines of four channels fit into 32 KB of local memory.
    sigma = (0.4 if alpha else 0.7, 1.2)
    params = BlurParams(sigma=sigma, border=border, cval=0.4)
    decoding = Decoding(alpha, linearise=coded, premultiply=alpha)
    encoding = Encoding(np.dtype(dtype), encode=coded, unpremultiply=alpha)
    got, lost = blur_pixels(gpu, gpu.array(pixels), params, decoding, encoding)
    expected = encoded(separable(decoded(pixels, decoding), params), encoding, alpha)
    assert got.shape == shape and got.dtype == dtype and losses(lost) == Losses(0, 0)
    if coded:
        levels = np.rint(expected.clip(0, 1) * np.iinfo(dtype).max)
        assert np.abs(got.numpy().astype(int) - levels).max() <= 1
    else:
        rounding = 2 * tolerance.HALF if dtype == "float16" else TOLERANCE["other kernels"]
        atol = TOLERANCE["blur"] * np.nanmax(np.abs(expected))
        np.testing.assert_allclose(got.numpy(), expected, rtol=rounding, atol=atol)


@pytest.mark.parametrize("sigma", [(1250, 0), (0, 1250)])
def test_blur_of_many_taps(rng, sigma) -> None:
    """10001, which no driver's limit on the rounds of a loop may cut off (llvmpipe's is 65535 a work-item)."""
    gpu, x, params = (
        device("cpu"),
        rng.random((1, 7, 11)),
        BlurParams(sigma=sigma, truncate=4.0, method="direct"),
    )
    close(blur(gpu, on(gpu, x), params).numpy(), separable(x, params), 10 * TOLERANCE["blur"])


def test_blur_of_many_rows(rng, monkeypatch) -> None:
    """A tile's rows in one band, but for the limit: of 1000 rows llvmpipe leaves out the last."""
    monkeypatch.setattr(both_axes, "_GROUPS", 0)
    gpu, x, params = device("cpu"), rng.random((1, 1500, 4)), BlurParams(sigma=(3, 1), method="local")
    close(blur(gpu, on(gpu, x), params).numpy(), separable(x, params), TOLERANCE["blur"])


@in_turns(("border",), [(border,) for border in BORDERS])
def test_convolve(gpu, rng, border) -> None:
    x = rng.standard_normal((2, *SHAPE))
    for size, method in (((4, 5), ""), ((3, 18), ""), ((5, 4), "fft")):
        w = rng.standard_normal((2, *size))
        method = method or ("direct" if gpu.limits.is_cpu else "local")
        expected = [filters_reference.convolved(p, k, border, 0.7) for p, k in zip(x, w, strict=True)]
        got = convolve(gpu, x, w, mode=border, cval=0.7, method=method)
        scale = np.abs(w).sum() * np.abs(x).max()
        assert np.abs(got - np.stack(expected)).max() <= tolerance.CONVOLVE[method] * scale


def check_bilateral(gpu: Recorder, x: np.ndarray, params: BilateralParams, alpha: bool = False) -> None:
    got = bilateral(gpu, on(gpu, x, alpha), params).numpy()
    close(got, filters_reference.bilateral(x, params, alpha), tolerance.BILATERAL["definition"])


@pytest.mark.parametrize("border", ["wrap-x", "constant"])
def test_bilateral(gpu, rng, border) -> None:
    check_bilateral(gpu, rng.random((1, *SHAPE)), BilateralParams(0.3, 1.0, border=border, cval=0.3))


@in_turns(("channels",), [(n,) for n in LAYOUTS])
def test_bilateral_of_channels(gpu, rng, channels) -> None:
    x = rng.random((channels, 11, 37))
    check_bilateral(gpu, x, BilateralParams(0.4, 1.5, 5, "round"), LAYOUTS[channels])


def test_bilateral_beyond_local_memory(tiny, rng) -> None:
    for radius in (1, 3, 8):  # a small tile, a smaller tile, and no tile
        for border in ("reflect", "constant"):
            params = BilateralParams(0.4, 1.5, 2 * radius + 1, border=border, cval=0.3)
            check_bilateral(tiny, rng.random((1, 13, 21)), params)


# Wide cells, and narrow cells with more bins than a group takes.
@pytest.mark.parametrize(("sigmas", "shape"), [((0.3, 6.0), SHAPE), ((0.03, 1.0), (11, 17))])
def test_bilateral_grid(gpu, rng, sigmas, shape) -> None:
    check_bilateral_grid(gpu, rng.random(shape), *sigmas)


def check_bilateral_grid(gpu: Gpu, x: np.ndarray, *sigmas: float) -> None:
    x[3, 4:6] = np.nan, np.inf
    got = bilateral_grid.bilateral(gpu, on(gpu, x[np.newaxis]), *sigmas).numpy()[0]
    expected, known = tonemap_local_reference.bilateral(x, *sigmas), np.isfinite(x)
    off = np.abs(got[known] - expected[known]).max()
    assert off <= tolerance.TONEMAP_LOCAL["grid"] * sigmas[0]
    np.testing.assert_array_equal(got[~known], x[~known])


# Straight-line code, merges and histograms; all types of pixels, of 8, 16 and 32 bits; each border.
@pytest.mark.parametrize(("border", "dtype", "radius"), [
    ("reflect", "uint8", (1, 1)), ("mirror", "float32", (2, 1)), ("nearest", "uint16", (3, 4)),
    ("wrap", "int16", (0, 4)), ("constant", "uint8", (5, 6)), ("constant", "float32", (6, 5)),
])  # fmt: skip
def test_median(gpu, rng, border, dtype, radius) -> None:
    x = of.median.values(rng, (2 if max(radius) < 5 else 1, 11, 37), dtype)
    expected = filters_reference.median(x, radius, border, 3)
    np.testing.assert_array_equal(median(gpu, gpu.array(x), radius, border, 3).numpy(), expected)
    wide = np.ascontiguousarray(np.moveaxis(x, 0, 2))
    if max(radius) == 1:
        got = median(gpu, gpu.array(wide), radius, border, 3, interleaved=True).numpy()
        np.testing.assert_array_equal(np.moveaxis(got, 2, 0), expected)


@in_turns(("channels",), [(n,) for n in LAYOUTS])
def test_bloom(gpu, rng, channels) -> None:
    alpha = LAYOUTS[channels]
    x = np.abs(of.bloom.hdr(rng, channels, *SHAPE))
    if alpha:
        x[-1] = np.clip(x[-1], 0, 1)
    x[0, 20, 30] = np.nan
    params = BloomParams(strength=0.7, radius=0.3, threshold=0.5, karis=channels > 2)
    with pytest.warns(GpuopsWarning, match="1 pixel was not finite"):
        result = bloom(gpu, on(gpu, x, alpha), params).numpy()
    close(result, glow_reference.bloom(x, params, alpha), tolerance.BLOOM["mip"])


# From a file's depth to a file's depth: each type, number of channels and curve; with an operator and without; rows of
# a multiple of four pixels and others; levels that fit local memory together and such that do not.
@pytest.mark.parametrize(("source", "target", "channels", "operator", "shape", "border"), [
    ("float16", "uint8", 3, "agx", (36, 260), "reflect"), ("float16", "uint8", 3, "linear", (21, 74), "reflect"),
    ("uint8", "uint8", 3, "aces-narkowicz", (20, 24), "reflect"), ("uint8", "uint8", 4, None, (29, 38), "reflect"),
    ("uint16", "uint16", 2, "reinhard", SHAPE, "reflect"), ("uint16", "float16", 1, None, (100, 6), "reflect"),
    ("float32", "float32", 3, "hable", (4, 1), "reflect"), ("float32", "uint8", 4, None, (75, 131), "reflect"),
    ("float32", "float32", 4, "agx", (40, 96), "wrap-x"), ("float32", "float32", 4, "agx", (40, 100), "wrap-x"),
])  # fmt: skip
def test_bloom_of_pixels(monkeypatch, rng, source, target, channels, operator, shape, border) -> None:
    gpu, alpha = device("gpu"), LAYOUTS[channels]
    light, encoded = source.startswith("f"), target.startswith("u")
    if light:
        pixels = of.bloom.hdr(rng, *shape, channels).astype(source)
        pixels[shape[0] // 2, 0, 0] = np.nan
        pixels[-1, -1, -1] = 0.5
        if alpha:
            pixels[..., -1] = rng.random(shape)
    else:
        pixels = pixels_of(rng, source, (*shape, channels))
    decoding = Decoding(alpha, linearise=not light, premultiply=alpha)
    encoding = Encoding(np.dtype(target), encode=encoded, unpremultiply=alpha)
    display = TonemapParams(operator, exposure=1.0, transfer="linear") if operator else None
    threshold = 0.0 if operator == "agx" else 0.5
    params = BloomParams(strength=0.7, radius=0.3, threshold=threshold, exposure=1.0, border=border)
    metered = channels in (2, 3)
    asked = replace(params, exposure=None) if metered else params
    expected, broken, negative = glow_reference.bloom_stages(
        pixels, params, decoding, encoding, operator, metered=metered
    )
    most = np.iinfo(target).max if encoded else 1
    beyond = {"u": (expected * most < -0.5) | (expected * most > most + 0.5), "f": np.abs(expected) > 65504}
    clipped = 0 if target == "float32" else np.count_nonzero(beyond[target[0]])
    expected = np.rint(np.clip(expected, 0, 1) * most) if encoded else expected
    for local_bytes in (32768, 256) if source == "float32" else (256,):
        monkeypatch.setattr(bloom_mip, "_LOCAL_SMALL", local_bytes)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            made, lost = bloom_pixels(gpu, gpu.array(pixels), asked, decoding, encoding, display)
        got, said = made.numpy().astype(float), " ".join(str(w.message) for w in caught)
        assert losses(lost) == Losses(clipped, 0)
        assert (f"{broken} pixel" in said and "not finite" in said) == (broken > 0)
        assert (f"{negative} negative" in said) == (negative > 0)
        if encoded:
            assert np.abs(got - expected).max() <= (2 if target == "uint16" else 1)
            assert (got != expected).mean() < 0.02  # the two methods may round differently
        else:
            rounding = 2 * tolerance.HALF if target == "float16" else TOLERANCE["other kernels"]
            np.testing.assert_allclose(got, expected, rtol=rounding, atol=tolerance.BLOOM["displayed"])


# Rows that go round: they halve without a rest, or are stretched before and after; and Gaussians.
@pytest.mark.parametrize(("gpu", "channels", "width", "way"), [
    *(("cpu", 3, 96, "wrap-x"), ("gpu", 4, 70, "wrap-x"), ("gpu", 1, 2, "wrap-x"), ("cpu", 2, 33, "wrap-x")),
    *(("cpu", 1, 37, "gaussians"), ("gpu", 4, 37, "gaussians")),
], indirect=["gpu"])  # fmt: skip
def test_bloom_of_panoramas_and_gaussians(gpu, rng, channels, width, way) -> None:
    alpha, around = LAYOUTS[channels], way == "wrap-x"
    x = np.abs(of.bloom.hdr(rng, channels, 40 if around else 29, width))
    if alpha:
        x[-1] = np.clip(x[-1], 0, 1)
    how: dict[str, Any] = {"border": way} if around else {"method": way}
    definition = glow_reference.bloom if around else glow_reference.bloom_of_gaussians
    for options in ({"threshold": 0.5}, {"radius": 0.6}) if around else ({"radius": 0.05, "threshold": 0.5},):
        params = BloomParams(strength=0.6, **how, **options)
        result = bloom(gpu, on(gpu, x, alpha), params).numpy()
        close(result, definition(x, params, alpha), tolerance.BLOOM["mip" if around else "gaussians"])


@pytest.mark.parametrize("channels", [1, 3])
def test_bloom_by_rows(gpu, rng, monkeypatch, channels) -> None:
    x = np.abs(of.bloom.hdr(rng, channels, *SHAPE)).astype(np.float32)
    x[0, 20, 30] = np.nan
    params = BloomParams(threshold=0.5, strength=0.6, radius=0.1)
    monkeypatch.setattr(mip_rows, "level_held", lambda *_: 2)
    with pytest.warns(GpuopsWarning, match="1 pixel was not finite"):
        result = of.streaming.by_rows(gpu, Chain(params), x, 9)
    close(result, glow_reference.bloom(x, params, alpha=False), tolerance.BLOOM["mip"])


@pytest.mark.parametrize("channels", [1, 4])
def test_bloom_by_starbursts(gpu, monkeypatch, channels) -> None:
    """The reach is shorter, and wavelengths are fewer, so that the transform is smaller than usual."""
    alpha, aperture = LAYOUTS[channels], Aperture(5, 20.0)
    nm = np.linspace(420.0, 650.0, 5)
    farthest = 0.25 * starburst.RADIUS * starburst.GREEN / nm[0]
    small = {
        "REACH": 0.25, "_NM": nm, "_FARTHEST": farthest, "_SIZE": farthest / (0.6 * np.pi), "_LENGTH": 64,
    }  # fmt: skip
    for name, value in small.items():
        monkeypatch.setattr(starburst, name, value)
    kernel = starburst.starburst(gpu, aperture, 30.0)
    of.starburst.check(kernel, glow_reference.burst(aperture, 7.5, starburst.RADIUS / 30, every=1))

    x = np.abs(of.bloom.hdr(np.random.default_rng(1), channels, *SHAPE))
    for around in (False, True):
        image = on(gpu, x, alpha)
        glow = starburst.glow(gpu, image, aperture, 30 / SHAPE[0], around=around).numpy()

        def convolved(v: np.ndarray, k: np.ndarray, around: bool = around) -> np.ndarray:
            beyond = k.shape[1] // 2 if around else 0
            wide = np.pad(v, [(0, 0), (beyond, beyond)], mode="wrap")
            return ndimage.convolve(wide, k, mode="constant")[:, beyond : beyond + v.shape[1]]

        kernels = (kernel[3:] if channels == 1 else kernel).astype(np.float64)
        for got, plane, k in zip(glow, x.astype(np.float64), kernels, strict=True):
            inside = convolved(np.ones(SHAPE), k)
            expected = convolved(plane, k) + (1 - inside) * plane
            assert np.abs(got - expected).max() <= tolerance.STARBURST["convolution"] * x.max()


@in_turns(("channels",), [(n,) for n in LAYOUTS])
def test_d3d11(gpu, channels) -> None:
    alpha, colours = LAYOUTS[channels], channels - LAYOUTS[channels]
    y, x = np.mgrid[: SHAPE[0], : SHAPE[1]]
    spot = 30 * np.exp(-((x - 12) ** 2 + (y - 14) ** 2) / 200)
    scene = (np.random.default_rng(1).random((colours, *SHAPE)) * 0.8 + spot).astype(np.float32)
    image = on(gpu, np.concatenate([scene, scene[:1]]) if alpha else scene, alpha)
    three = scene if colours == 3 else np.repeat(scene, 3, 0)
    flip, off = tolerance.TONEMAP["d3d11 flip"], tolerance.TONEMAP["operator"]
    for name in ("tonemap", "bloom"):
        got = getattr(d3d11, name)(gpu, image).numpy()
        expected = getattr(d3d11_reference, name)(three)[:colours]
        if alpha and name == "tonemap":  # colours are divided by alpha before they are mapped
            light = d3d11_reference.mapped(scene / scene[:1].astype(float), d3d11_reference.metered(three))
            expected = scene[:1] * np.clip(light + 0.6 * d3d11_reference.glow(three)[:colours], 0, 1)
        np.testing.assert_allclose(
            got[:colours], expected, rtol=off, atol=flip * (scene.max() if alpha else 1)
        )
        if alpha:
            np.testing.assert_array_equal(got[-1], scene[0])
    blurred = d3d11.blur(gpu, image).numpy()
    np.testing.assert_allclose(blurred[:colours], d3d11_reference.blur(scene), rtol=tolerance.ROUNDINGS)
    if alpha:
        over = d3d11_reference.blur(scene[:1]) / d3d11_reference.WEIGHTS.sum() ** 2
        np.testing.assert_allclose(blurred[-1:], over, rtol=tolerance.ROUNDINGS)
    scene[0, 3, 5], scene[0, 4, 6] = np.nan, -np.inf
    with pytest.warns(GpuopsWarning, match="1 NaN, 1 infinite"):
        got = d3d11.bloom(gpu, on(gpu, scene[:1], alpha=False)).numpy()
    assert (got[0, 3, 5], got[0, 4, 6]) == pytest.approx((0, -65504), abs=2)


# -- pixel by pixel, and all pixels -------------------------------------------------------------------------------


@in_turns(("operator",), [(name,) for name in OPERATORS if name not in LOCAL])
def test_tonemap(gpu, operator) -> None:
    # Layouts, transfers and dither take turns.
    turn = list(OPERATORS).index(operator) + (0 if gpu.limits.is_cpu else 5)
    channels, transfer = (3, 1, 4, 2)[turn % 4], TRANSFERS[1:][(turn + turn // 4) % 4]
    dither = 255 if turn % 3 == 0 else None
    alpha, colours = LAYOUTS[channels], channels - LAYOUTS[channels]
    given = tonemap_reference.GIVEN.get(operator, {})
    pixels = of.reduce.light((channels, *SHAPE), turn)
    expected = pixels.astype(np.float64)
    three = expected[:3] if colours == 3 else np.repeat(expected[:1], 3, 0)
    mapped = tonemap_reference.OPERATORS[operator](three, 4.0)
    if colours == 1:
        mapped = tonemap_reference.luminance(mapped)[np.newaxis]
    encode = {
        "srgb": colour_reference.srgb_signal,
        "pq": tonemap_reference.pq,
        "gamma": lambda v: v ** (1 / 2.2),
        "linear": lambda v: v,
    }
    expected[:colours] = encode[transfer](np.maximum(mapped, 0))
    pixels[0, 9, 9] = np.nan

    params = TonemapParams(
        operator, exposure=0.0, transfer=transfer, gamma=2.2, dither=dither, parameters=given
    )
    with pytest.warns(GpuopsWarning, match="1 NaN"):
        got = tonemap(gpu, on(gpu, pixels, alpha), params).numpy()
    got[:, 9, 9] = expected[:, 9, 9]
    noise = got - expected
    allowed = TOLERANCE["operator"] * np.maximum(1, np.abs(expected))
    if dither:
        inside = expected[:colours] < 1
        assert 0.1 / 255 < noise[:colours][inside].std() < 1 / 255
        allowed[:colours] += 1 / 255
    assert (np.abs(noise) <= allowed).all()


def test_white_balance(gpu) -> None:
    pixels = of.reduce.light((4, *SHAPE), 6)
    light = Illuminant(2856.0, -0.004)
    expected = np.maximum(np.tensordot(white_balance.matrix(light), pixels[:3].astype(np.float64), 1), 0)
    params = TonemapParams("linear", exposure=-6.0, transfer="linear", white_balance=light)
    got = tonemap(gpu, on(gpu, pixels, alpha=True), params).numpy()
    close(got[:3], expected / 64, tolerance.WHITE_BALANCE["image"])
    np.testing.assert_array_equal(got[3:], pixels[3:])
    balance = white_balance.matrix(light)
    gains = reinhard_local(gpu, Light(on(gpu, pixels, alpha=True), 1 / 64, balance)).numpy()
    close(gains, reinhard_local(gpu, Light(on(gpu, expected), 1 / 64)).numpy(), TOLERANCE["other kernels"])


@pytest.mark.parametrize("channels", [2, 3])
def test_tile(gpu, channels) -> None:
    pixels = np.random.default_rng(channels).normal(0.5, 0.5, (channels, *SHAPE)).astype(np.float32)
    image = on(gpu, pixels, LAYOUTS[channels])
    for height, width in ((7, 10), SHAPE):
        expected = lut_reference.reduced(pixels, height, width, alpha=LAYOUTS[channels])
        close(contact_sheet.averaged(image, height, width).numpy(), expected, TOLERANCE["blur"])


@in_turns(("case", "channels"), [("largest", 3), ("two curves", 2), ("shaper", 4), ("two", 1)])
def test_lut(gpu, case, channels) -> None:
    params = of.lut.CASES[case]
    alpha, colours = LAYOUTS[channels], channels - LAYOUTS[channels]
    pixels = of.lut.light(SHAPE)
    three = pixels if colours == 3 else np.repeat(pixels[:1], 3, 0)
    expected = lut_reference.mapped(params, three)
    if colours == 1:
        expected = tonemap_reference.luminance(expected)[np.newaxis]
    image = on(gpu, np.concatenate([pixels[:colours], pixels[:1]])[:channels], alpha)
    got = tonemap(gpu, image, TonemapParams(params, exposure=0.0, transfer="linear")).numpy()
    # Two curves of sRGB, and a table between them that may be steep.
    np.testing.assert_allclose(got[:colours], expected, atol=2 * TOLERANCE["operator"])
    if alpha:
        np.testing.assert_array_equal(got[-1], pixels[0])


def test_tonemap_of_planes_of_whole_words(gpu, rng) -> None:
    x = rng.random((3, 4, 6))
    params = TonemapParams("reinhard-channels", exposure=1.0, transfer="linear")
    close(tonemap(gpu, on(gpu, x), params).numpy(), 2 * x / (1 + 2 * x), TOLERANCE["operator"])


def test_tonemap_of_other_primaries(gpu) -> None:
    """Luminance is that of the primaries."""
    x = of.reduce.light((3, *SHAPE), 4)
    image = on(gpu, x)
    image.space = replace(image.space, colour=working("acescg"))
    y = np.tensordot(luminance("acescg"), x.astype(np.float64), 1)
    found = tonemap(gpu, image, TonemapParams("reinhard", exposure=0.0, transfer="linear")).numpy()
    close(found, x / (1 + y), TOLERANCE["operator"])


@pytest.mark.parametrize("noise", NOISES)
def test_pack_with_noise(gpu, noise) -> None:
    """Noise of less than a code leaves the mean as it is, and whole codes and alpha alone."""
    image = on(gpu, np.full((2, 64, 65), 100.4 / 255))
    image.alpha = True
    pixels, _ = pack(image, Encoding(np.dtype(np.uint8), dither=Dither(noise, 2)))
    found = pixels.numpy().astype(float)
    assert np.all(found[..., 1] == 100)
    assert abs(found[..., 0].mean() - 100.4) < 5 * 0.5 / 64 and np.abs(found[..., 0] - 100.4).max() < 1.5
    codes = np.arange(256).reshape(1, 16, 16)
    same, _ = pack(on(gpu, codes / 255), Encoding(np.dtype(np.uint8), dither=Dither(noise)))
    np.testing.assert_array_equal(same.numpy()[..., 0], codes[0])


def test_tonemap_blue_noise_and_gamut(gpu) -> None:
    pixels = of.reduce.light((3, *SHAPE), 3)
    params = TonemapParams("linear", exposure=0.0, transfer="linear", gamut="hue")
    plain = tonemap(gpu, on(gpu, pixels), params).numpy()
    luminance = tonemap_reference.luminance(pixels.astype(np.float64))
    np.testing.assert_allclose(
        tonemap_reference.luminance(plain), np.minimum(luminance, 1), atol=TOLERANCE["operator"]
    )
    noisy = tonemap(gpu, on(gpu, pixels), replace(params, dither=255, noise="blue", seed=2)).numpy()
    y, x = np.mgrid[: SHAPE[0], : SHAPE[1]]
    texture = blue_noise.triangular(2)
    for c in range(3):
        expected = plain[c] + texture[(y + 43 * c) % 64, (x + 21 * c) % 64] / 255
        np.testing.assert_allclose(noisy[c], expected.clip(0, 1), rtol=0, atol=tolerance.ROUNDINGS)


@in_turns(
    ("source", "target", "channels", "operator", "transfer"),
    [
        (np.float16, np.uint8, 3, "agx", "linear"), (np.float32, np.uint8, 3, "reinhard", "linear"),
        (np.uint8, np.uint8, 4, "linear", "linear"), (np.uint16, np.uint16, 1, "hable", "linear"),
        (np.float32, np.float16, 2, "reinhard", "linear"), (np.float32, np.float32, 4, "drago", "pq"),
        (np.uint16, np.uint8, 3, "khronos-neutral", "srgb"),
    ],
)  # fmt: skip
def test_tonemap_pixels(gpu, source, target, channels, operator, transfer) -> None:
    """Pixels of any type are read and written."""
    alpha, colours = LAYOUTS[channels], channels - LAYOUTS[channels]
    light = of.reduce.light((channels, *SHAPE), 7) / 8
    if alpha:
        light[-1] %= 1
    pixels = np.moveaxis(light, 0, -1)
    if np.dtype(source).kind == "u":
        pixels = np.clip(np.rint(pixels * np.iinfo(source).max), 0, np.iinfo(source).max)
    pixels = np.ascontiguousarray(pixels.astype(source))
    decoding = Decoding(alpha, linearise=np.dtype(source).kind == "u")
    encoding = Encoding(np.dtype(target), encode=np.dtype(target).kind == "u" and transfer == "linear")
    parameters = tonemap_reference.GIVEN.get(operator, {})
    params = TonemapParams(operator, exposure=0.5, transfer=transfer, parameters=parameters)
    got, lost = tonemap_pixels(gpu, gpu.array(pixels), params, decoding, encoding)
    expected = np.moveaxis(pixels.astype(np.float64), -1, 0)
    if np.dtype(source).kind == "u":
        expected /= np.iinfo(source).max
        expected[:colours] = srgb_light(expected[:colours])
    exposed = np.repeat(expected[:colours], 3 // colours, 0) * 2**0.5
    mapped = np.maximum(tonemap_reference.OPERATORS[operator](exposed, 4.0), 0)
    mapped = mapped if colours == 3 else tonemap_reference.luminance(mapped)
    curves = {"srgb": colour_reference.srgb_signal, "pq": tonemap_reference.pq, "linear": lambda v: v}
    expected[:colours] = curves["srgb" if encoding.encode else transfer](mapped)
    expected, clipped = np.moveaxis(expected, 0, -1), 0
    if np.dtype(target).kind == "u":
        most = np.iinfo(target).max
        clipped = np.count_nonzero(expected * most > most + 0.5)
        off = np.abs(got.numpy().astype(int) - np.rint(expected.clip(0, 1) * most))
        assert off.max() <= 1 and (off > 0).mean() < 0.01
    else:
        rtol = 2 * tolerance.HALF if target == np.float16 else TOLERANCE["operator"]
        np.testing.assert_allclose(got.numpy(), expected, rtol=rtol, atol=TOLERANCE["operator"])
    assert losses(lost).clipped == pytest.approx(clipped, abs=2)


@pytest.mark.parametrize("operator", sorted(LOCAL))
def test_tonemap_local(gpu, operator) -> None:
    light = of.reduce.light((3, *SHAPE), 1)
    if operator == "durand":
        # A factor of 100 in light has 15 bins, and an interpreter takes long for each.
        light = np.clip(light[:, :11, :13], 0.1, 10)
    light[0, 9, 9] = np.nan
    (of.tonemap_local.check_durand if operator == "durand" else of.tonemap_local.check_dodging)(
        gpu, light, 1.0
    )
    # The pixels' gains go to the kernel that all operators share.
    gray, scale = light[1:2], 2.0**-3
    params = TonemapParams(operator, exposure=-3.0, transfer="linear")
    half = gpu.array(gray.transpose(1, 2, 0).astype(np.float16))
    expected = gray * scale * LOCAL_OPERATORS[operator](gpu, Light(half, scale, decoding=Decoding())).numpy()
    got, _ = tonemap_pixels(gpu, half, params, Decoding(), Encoding(np.dtype(np.float32)))
    np.testing.assert_allclose(got.numpy()[..., 0], expected[0], rtol=2 * tolerance.HALF)


@pytest.mark.parametrize("curve", ["linearise", "encode"])
def test_tonemap_pixels_by_a_curve(gpu, curve) -> None:
    """Floats through the sRGB curve, there or back, before anything else; NaN is counted after it."""
    pixels = np.random.default_rng(5).random((*SHAPE, 4), np.float32)
    pixels[3, 4, 1] = np.nan
    decoding = Decoding(True, **{curve: True})
    params = TonemapParams("linear", exposure=1.0, transfer="linear")
    with pytest.warns(GpuopsWarning, match="1 NaN"):
        got, _ = tonemap_pixels(gpu, gpu.array(pixels), params, decoding, Encoding(np.dtype(np.float32)))
    light = {"linearise": srgb_light, "encode": srgb_signal}[curve](pixels[..., :3])
    light[3, 4, 1] = 0
    np.testing.assert_allclose(
        got.numpy()[..., :3], 2 * light, rtol=TOLERANCE["curve"], atol=TOLERANCE["near black"]
    )
    np.testing.assert_array_equal(got.numpy()[..., 3], pixels[..., 3])


@every_pair(method=["tiles", "direct"], colours=[1, 3])
def test_reduce(gpu, monkeypatch, colours, method) -> None:
    pixels = of.reduce.light((colours, *SHAPE))
    pixels.flat[[0, 7, 99]] = np.nan, np.inf, -3
    values = pixels[0].astype(np.float64) if colours == 1 else metrics_reference.luminance(pixels)
    image = on(gpu, pixels)
    full = statistics(gpu, image, method=method)
    of.reduce.check(full, values)
    v, u = ((np.arange(n) + 0.5) / n - 0.5 for n in SHAPE)
    lit = np.isfinite(values) & (values > 0)
    weight = np.exp(-8 * (u[np.newaxis] ** 2 + v[:, np.newaxis] ** 2))[lit]
    for histogram in (True, False):
        centred = statistics(gpu, image, histogram=histogram, centre=True, method=method)
        expected = (weight * np.log2(values[lit])).sum() / weight.sum()
        assert centred.centre_log2 == pytest.approx(expected, abs=tolerance.REDUCE["centre"])
        assert replace(centred, centre_log2=full.centre_log2) == full
    assert statistics(gpu, image, histogram=False, method=method) == full
    monkeypatch.setattr(reduction, "_ON_HOST", 1)  # so that any number of tiles is reduced on the device
    of.reduce.check(statistics(gpu, image, method=method), values)


@pytest.mark.parametrize("method", ["tiles", "direct"])
def test_reduce_through_stages(gpu, method) -> None:
    pixels = of.reduce.light((3, *SHAPE))
    stages = of.pointwise.stages([GradeParams(exposure=1)], 3, 3)
    found = statistics(gpu, on(gpu, pixels), stages=stages, method=method)
    of.reduce.check(found, metrics_reference.luminance(2 * pixels))


@in_turns(
    ("before", "after", "channels", "way"),
    [
        ("float16", "uint8", 3, (2, False, True, False)),
        ("uint8", "uint8", 4, (1, True, True, True)),
        ("uint16", "uint16", 1, (3, True, True, False)),
        ("float32", "uint8", 2, (1, False, False, True)),
        ("float32", "float16", 4, (2, False, False, True)),
        ("uint8", "float32", 3, (0, True, False, False)),
    ],
)
def test_stages_of_pixels(gpu, rng, before, after, channels, way) -> None:
    of.pointwise.check(gpu, rng, before, after, channels, way)


@pytest.mark.parametrize("channels", [3, 4])
def test_reduce_all(gpu, monkeypatch, channels) -> None:
    """Planes with two colours and alpha, and pixels, multiplied by it; with and without RGB's luminance."""
    monkeypatch.setattr(reduction, "_ON_HOST", 1)
    pixels = of.reduce.light((channels, *SHAPE), channels)
    pixels.flat[[0, 7, 99]] = np.nan, np.inf, -3
    image, decoding = on(gpu, pixels, alpha=True), None
    if channels == 4:
        image = gpu.array(np.ascontiguousarray(pixels.transpose(1, 2, 0)))
        decoding = Decoding(alpha=True, premultiply=True)
        pixels[:3] *= pixels[3]
    of_luminance, found = all_statistics(gpu, image, decoding=decoding)
    for got, plane in zip(found, pixels.astype(np.float64), strict=True):
        of.reduce.check(got, plane)
    assert (of_luminance is None) == (channels == 3)
    if of_luminance is not None:
        of.reduce.check(of_luminance, metrics_reference.luminance(pixels[:3]))


def test_reduce_codes(gpu, rng) -> None:
    of.reduce.check_codes(gpu, rng, 4, Decoding(alpha=True, linearise=True))


@pytest.mark.parametrize(("channels", "width"), [(1, 37), (4, 36)])
def test_reduce_mip(gpu, channels, width) -> None:
    """Planes have rows that begin anywhere, and weights about the centre; pixels are read in whole words."""
    pixels = of.reduce.light((channels, SHAPE[0], width), channels)
    image, decoding = on(gpu, pixels), None
    if channels == 4:
        image, decoding = gpu.array(np.ascontiguousarray(pixels.transpose(1, 2, 0))), Decoding(alpha=True)
    centre = channels == 1
    got, mip = statistics_and_mip(gpu, image, decoding=decoding, centre=centre, histogram=centre)
    of.reduce.alike(got, statistics(gpu, image, decoding=decoding, centre=centre, histogram=centre))
    close(mip.numpy(), metrics_reference.halved(pixels[:3]), TOLERANCE["blur"])


def test_compare(gpu, rng) -> None:
    a, b = of.compare.noisy(rng, (4, *SHAPE))
    first, second = on(gpu, a), on(gpu, b)
    mse = np.mean((a.astype(float) - b) ** 2)
    assert mean_squared_error(gpu, first, second) == pytest.approx(mse, rel=tolerance.COMPARE["mse"])
    assert mean_squared_error(gpu, first, first) == 0
    ssim = structural_similarity(gpu, first, second, data_range=1.0)
    assert ssim == pytest.approx(metrics_reference.skimage_ssim(a, b, 1.0), abs=tolerance.COMPARE["ssim"])
    shown = np.minimum(np.abs(a - b) * 3, 1)
    same = tolerance.ROUNDINGS
    np.testing.assert_allclose(difference(gpu, first, second, 3.0).numpy(), shown, rtol=same)
    first.alpha = second.alpha = True
    shown = np.maximum(shown[:3], shown[3])
    np.testing.assert_allclose(difference(gpu, first, second, 3.0).numpy(), shown, rtol=same)


@pytest.mark.parametrize("convention", of.ssim.CONVENTIONS)
def test_ssim(gpu, rng, convention) -> None:
    """Two strips of columns and two bands of rows."""
    of.ssim.check(gpu, rng, (1, 77, 13), convention)
    of.ssim.check(gpu, rng, (1, 13, 141), convention)
    x = rng.random((3, *SHAPE)).astype(np.float32)
    y = np.tensordot(metrics_ssim.LUMA, x, 1)
    luma = structural_similarity(gpu, x, x * x, data_range=1.0, luma=True, convention=convention)
    expected = np.tensordot(metrics_ssim.LUMA, x.astype(float) ** 2, 1)
    assert luma == pytest.approx(
        of.ssim.of_skimage(y[None], expected[None], convention)[0], abs=tolerance.COMPARE["ssim"]
    )
    for factor in (2, 3):
        of.ssim.test_shrunk(gpu, rng, SHAPE, factor)


def test_ssim_of_bright_pixels(gpu) -> None:
    for kind in ("pixel", "half", "all"):
        a, b = of.ssim.bright(kind, 30)
        for convention in of.ssim.CONVENTIONS:
            luminance, contrast = metrics_ssim.terms(a[0], b[0], 1.0, convention)
            options: dict[str, Any] = {"data_range": 1.0, "convention": convention, "luma": True}
            colours = (np.repeat(plane, 3, 0) for plane in (a, b))
            for found in (
                structural_similarity(gpu, a, b, **options),
                structural_similarity(gpu, *colours, **options, full=True)[0],
            ):
                assert found == pytest.approx((luminance * contrast).mean(), abs=tolerance.COMPARE["ssim"])


@pytest.mark.parametrize("planes", [1, 3])
def test_ssimulacra2(gpu, rng, planes) -> None:
    """Two bands of rows; two strips of columns; half a cell at the end."""
    of.ssimulacra2.check(gpu, rng, (planes, 67, 8) if planes == 1 else (planes, 9, 141))


@every_pair(method=of.delta_e.METHODS, planes=[1, 3])
def test_delta_e(gpu, rng, method, planes) -> None:
    a, b = of.delta_e.light(rng, (planes, *SHAPE))
    of.delta_e.check(gpu, a, b, method)
    if planes == 3:
        of.delta_e.check_coordinates(gpu, a * 50, b * 50, method)


@pytest.mark.parametrize("name", ["discs with alpha", "slopes and opaque", "pixel"])
def test_pixelmatch(gpu, name) -> None:
    of.pixelmatch.check(gpu, name, (0.05,))


def test_tolerance_of_place(gpu, rng) -> None:
    of.tolerant.check_window(gpu, rng, SHAPE)
    of.tolerant.check_radius(gpu, rng, (2, 11, 13))


@pytest.mark.parametrize("ppd", [3.0, 67.0, 130.0])
def test_flip(gpu, rng, ppd) -> None:
    """Short filters, filters longer than the image, and such that loops remain loops."""
    check_flip(gpu, rng, SHAPE, ppd)
    of.changed.check_flip_of_blocks(gpu, rng, (37, 150), ppd)


def check_flip(gpu: Recorder, rng: np.random.Generator, shape: tuple[int, int], ppd: float) -> None:
    a, b = of.flip_metric.noisy(rng, (3, *shape))
    result, errors = flip(gpu, a, b, ppd=ppd, full=True)
    expected = flip_reference.flip(a, b, ppd)
    assert np.abs(errors.numpy()[0] - expected).max() <= tolerance.FLIP["pixel"]
    assert result.mean == pytest.approx(expected.mean(), abs=tolerance.FLIP["mean"])
    assert flip(gpu, a, a.copy()).maximum == 0


@pytest.mark.parametrize("curve", ["aces", "reinhard"])
def test_hdr_flip(gpu, rng, monkeypatch, curve) -> None:
    """There are more exposures than a GPU's launch takes at a time."""
    monkeypatch.setattr(flip_tiles, "_ROUNDS", 600)
    a, b = of.flip_metric.noisy(rng, (3, 11, 13))
    at = np.linspace(-6, 6, 5)
    expected, _ = flip_reference.hdr_flip(a, b, at, curve, 10.0)
    result, errors, _ = hdr_flip(gpu, a, b, ppd=10.0, tone_map=curve, exposures=(-6, 6), count=5, full=True)
    assert np.abs(errors.numpy()[0] - expected).max() <= tolerance.FLIP["pixel"]
    assert result.mean == pytest.approx(expected.mean(), abs=tolerance.FLIP["mean"])
    automatic = hdr_flip(gpu, a, b, ppd=10.0, tone_map=curve).exposures
    assert automatic == pytest.approx(flip_reference.exposures(a, curve), abs=1e-6)


def test_heat(gpu) -> None:
    of.flip_metric.test_heat_has_the_colours_of_magma(gpu)


@pytest.mark.parametrize("planes", [1, 3])
def test_pu21(gpu, rng, planes) -> None:
    of.pu21.check(gpu, rng, (planes, *SHAPE))


@pytest.mark.parametrize("channels", [1, 4])
def test_z_test(gpu, rng, channels) -> None:
    of.z_test.check(gpu, rng, (channels, *SHAPE))


@pytest.mark.parametrize("channels", [1, 3])
def test_counts(gpu, rng, channels) -> None:
    of.counts.check(gpu, rng, (channels, *SHAPE))


# -- Fourier transforms -------------------------------------------------------------------------------------------


KINDS = ("fft2", "ifft2", "rfft2", "irfft2", "fft2 of real")


def fourier(
    gpu: Gpu, z: np.ndarray, kinds=KINDS, params: FftParams = fft.api.DEFAULT, tolerance: str = "fft"
) -> None:
    """Transforms of complex ``z``, its real part or half spectrum; in single or double precision as ``z`` is."""
    exact = z.astype(complex)
    data = {
        "rfft2": np.ascontiguousarray(z.real),
        "fft2 of real": np.ascontiguousarray(z.real),
        "irfft2": scipy.fft.rfft2(exact.real).astype(z.dtype),
    }
    for kind in kinds:
        name, options = kind.split()[0], {"s": z.shape[-2:]} if kind == "irfft2" else {}
        x = data.get(kind, z)
        expected = getattr(scipy.fft, name)(x.astype(complex if x.dtype.kind == "c" else float), **options)
        got = getattr(fft, name)(gpu, x, params=params, **options)
        assert error(got, expected) < TOLERANCE[tolerance], kind


@pytest.mark.parametrize("method", ["auto", "local"])
def test_fourier(gpu, rng, monkeypatch, method) -> None:
    fourier(gpu, of.fft.noise(rng, 3, 17, 28), ("fft2",), FftParams(method))  # 17: on CPUs in loops
    of.fft.small_primes(monkeypatch)
    gpu.plans.clear()
    fourier(gpu, of.fft.noise(rng, 3, 17, 28), params=FftParams(method))  # and by Bluestein's convolution


def test_fourier_of_a_large_prime_through_global_memory(gpu, rng) -> None:
    fourier(gpu, of.fft.noise(rng, 1, 2, 67), ("fft2",), FftParams("global"))  # on CPUs in a loop


def test_fourier_of_rows_joined(rng, monkeypatch) -> None:
    gpu = device("gpu")
    monkeypatch.setattr(planner.Planner, "joined", lambda _, n, divided, *__: 1 + (n % 2 == divided % 2 == 0))
    fourier(gpu, of.fft.noise(rng, 2, 20, 42), ("fft2", "ifft2", "rfft2", "irfft2"))


@pytest.mark.parametrize("profile", ["gpu", "least gpu"])
@pytest.mark.parametrize(("shape", "joined"), [((22, 52), 1), ((22, 52), 2), ((3, 22), 1)])
def test_fourier_of_shared_primes(rng, monkeypatch, profile, shape, joined) -> None:
    """11 and 13 points that several work-items transform, alone or not; real and imaginary parts in turn, too."""
    of.fft.shared_primes(monkeypatch)
    monkeypatch.setattr(planner.Planner, "joined", lambda *_: joined)
    fourier(device(profile), of.fft.noise(rng, 2, *shape), ("fft2", "ifft2", "rfft2", "irfft2"))


def test_fourier_of_shared_primes_without_tables_and_in_double(rng, monkeypatch) -> None:
    of.fft.shared_primes(monkeypatch)
    gpu, z = device("gpu"), of.fft.noise(rng, 2, 22, 26)
    fourier(gpu, z, ("fft2",), FftParams("local", twiddle="compute"))
    if gpu.limits.double:
        fourier(gpu, z.astype(complex), ("fft2",), tolerance="fft double")


def test_convolution_of_rows_joined(rng, monkeypatch) -> None:
    gpu = device("gpu")
    if (
        gpu.device.platform.name.startswith("Intel")
        and gpu.limits.lanes == 1
        and gpu.device.type & cl.device_type.CPU
    ):
        pytest.skip("its compiler is wrong unless told not to optimise; for CPUs no such plan is made")
    monkeypatch.setattr(planner.Planner, "joined", lambda _, n, divided, *__: 1 + (n % 2 == divided % 2 == 0))
    x, w = rng.standard_normal((2, 12, 31)), rng.random((5, 4))
    expected = [filters_reference.convolved(p, w, "mirror", 0) for p in x]
    got = convolve(gpu, x, w, mode="mirror", method="fft")
    assert np.abs(got - np.stack(expected)).max() <= tolerance.CONVOLVE["fft"] * w.sum() * 4


def test_fourier_of_real_rows(gpu, rng) -> None:
    for n in (24, 26):
        for length in (n, n + 1, n - 1):  # odd numbers leave a pair without its second
            x = rng.standard_normal((9, length)).astype(np.float32)
            half = scipy.fft.rfft(x.astype(float), n)
            assert error(fft.rfft(gpu, x, n), half) < TOLERANCE["fft"]
            assert (
                error(fft.irfft(gpu, half.astype(np.complex64), n), scipy.fft.irfft(half, n))
                < TOLERANCE["fft"]
            )


@pytest.mark.parametrize("method", ["auto", "global"])
def test_fourier_in_half_storage(gpu, rng, method) -> None:
    x = np.empty((1, 20, 13), COMPLEX_HALF)
    x["real"], x["imag"] = rng.standard_normal((2, *x.shape))
    y = fft.fft2(gpu, x, norm="ortho", params=FftParams(method))
    expected = scipy.fft.fft2(x["real"] + 1j * x["imag"].astype(float), norm="ortho")
    assert error(y["real"] + 1j * y["imag"].astype(float), expected) < tolerance.FFT["half, eight times"]


@every_pair(dtype=DTYPES, height=[9, 36])
def test_fourier_of_pixels(gpu, rng, dtype, height) -> None:
    pixels = (rng.random((height, 12, 3)) * (255 if dtype[0] == "u" else 1)).astype(dtype)
    largest = np.iinfo(dtype).max if dtype[0] == "u" else 1
    expected = np.fft.rfft2(np.moveaxis(pixels.astype(float) / largest, 2, 0))
    assert error(fft.rfft2_of_pixels(gpu, pixels), expected) < TOLERANCE["fft"]


@every_pair(dtype=DTYPES, size=[(12, 32), (9, 13)])
def test_fourier_to_pixels(gpu, rng, dtype, size) -> None:
    x = rng.random((3, *size)) * 1.2 - 0.1
    half = gpu.array(np.fft.rfft2(x).astype(np.complex64))
    got, lost = fft.irfft2_to_pixels(gpu, half, size, dtype)
    shown = np.moveaxis(x, 0, -1)
    if dtype[0] == "u":
        largest = np.iinfo(dtype).max
        shown = np.clip(shown, 0, 1) * largest
        assert lost.clipped > 0 and np.abs(got.numpy() - shown).max() < 0.5 + tolerance.FFT["value"] * largest
    else:
        rounding = tolerance.HALF if dtype == "float16" else 0
        np.testing.assert_allclose(got.numpy(), shown, rtol=rounding, atol=2 * tolerance.FFT["value"])


@pytest.mark.parametrize("form", [bench_fft_ways.ZEROS, bench_fft_ways.INTERLEAVED])
def test_fourier_of_other_layouts(gpu, rng, form) -> None:
    z = of.fft.noise(rng, 2, 9, 16)
    way = bench_fft_ways.way(gpu, bench_fft_ways.Variant(FftParams(), form), z)
    exact = z.real.astype(float) if form == bench_fft_ways.ZEROS else np.moveaxis(z.astype(complex), 0, -1)
    axes = (1, 2) if form == bench_fft_ways.ZEROS else (0, 1)
    there = way.there(way.source)
    assert error(there.numpy(), np.fft.fft2(exact, axes=axes, norm="ortho")) < TOLERANCE["fft"]
    assert error(way.back(there).numpy(), exact) < TOLERANCE["fft"]


@pytest.mark.parametrize("radix", ["8", "32"])
def test_fourier_by_sums(gpu, rng, radix) -> None:
    params = FftParams("local", radix, butterfly="direct")
    fourier(gpu, of.fft.noise(rng, 1, 3, 64), ("fft2",), params)


@each(method__radix__kinds=[("global", "4", KINDS), ("local", "2", ("fft2",)), ("auto", "auto", ("fft2",))])
def test_fourier_without_tables(gpu, rng, method, radix, kinds) -> None:
    fourier(gpu, of.fft.noise(rng, 3, 12, 26), kinds, FftParams(method, radix, "compute"))


@pytest.mark.parametrize(("profile", "shape"), [
    ("least cpu", (37, 42)), ("least gpu", (37, 42)), ("least gpu", (42, 37)), ("least cpu", (272, 9)),
    ("least gpu", (272, 9)), ("least cpu", (2, 306)), ("least gpu", (2, 306)),
], ids=str)  # fmt: skip
def test_fourier_beyond_local_memory(rng, monkeypatch, shape, profile) -> None:
    """42 points in two halves; 272 and 306 with the first and the second half by Bluestein's convolution; 37 by one
    through global memory."""
    of.fft.small_primes(monkeypatch)
    fourier(device(profile), of.fft.noise(rng, 1, *shape), ("rfft2", "irfft2"))


def test_fourier_in_double_precision(gpu, rng) -> None:
    if gpu.limits.double:
        z = of.fft.noise(rng, 2, 17, 28).astype(complex)
        fourier(gpu, z, ("rfft2", "irfft2"), tolerance="fft double")


def test_registration(gpu, rng) -> None:
    for normalization in ("phase", None):
        of.register.test_skimage(gpu, rng, (32, 41), 10, normalization)


def test_masks_of_spectra(gpu, rng, tmp_path) -> None:
    of.filter.test_masks(gpu, rng, (7, 12), "highpass", tmp_path)
    x, mask = rng.random((2, 7, 12), np.float32), rng.random((7, 12))
    file = of.filter.mask_file(tmp_path / "mask.tif", mask)
    for precision in ("half", "double") if gpu.limits.double else ("half",):
        params = SpectrumParams(half=False, precision=precision, mask=file)
        found = spectrum.spectrum(gpu, on(gpu, x), params).numpy()
        if precision == "half":
            found = found["real"] + 1j * found["imag"].astype(float)
        expected = np.fft.fft2(of.filter.masked(x.astype(float), mask.astype(np.float32)), norm="ortho")
        allowed = tolerance.FFT["half, eight times"] if precision == "half" else TOLERANCE["fft"]
        assert error(found, expected) < allowed


def test_filters_by_axes(gpu) -> None:
    """Surroundings of real and of complex numbers; a filter of frequencies, and Wiener's, some columns at a time."""
    of.filtered_by_rows.check_surroundings(gpu)
    for params in (of.filtered_by_rows.FILTERS[0][1], of.filtered_by_rows.FILTERS[4][1]):
        of.filtered_by_rows.check_axes(gpu, params, (7, 10), 5, 3)


def test_spectrum_in_half_storage(gpu, rng) -> None:
    for size, half in (((16, 24), True), ((9, 13), True), ((8, 10), False)):
        pixels = rng.integers(0, 256, (*size, 2), np.uint8)
        low = filter_option("lowpass", "0.3")
        for chosen in (None, low):
            params = SpectrumParams(half=half, shift=True, precision="half", filter=chosen)
            values = spectrum.values_of(gpu, gpu.array(pixels), Decoding(), params)
            expected = (np.fft.rfft2 if half else np.fft.fft2)(np.moveaxis(pixels / 255, 2, 0), norm="ortho")
            if chosen:
                columns = np.fft.rfftfreq(size[1]) if half else np.fft.fftfreq(size[1])
                r = np.hypot(np.fft.fftfreq(size[0])[:, None], columns)
                expected *= 2.0 ** -((r / 0.3) ** 2)
            expected = np.fft.fftshift(expected, -2 if half else (-2, -1))
            found = values["real"] + 1j * values["imag"].astype(float)
            assert error(found, expected) < tolerance.FFT["half, eight times"]
            if chosen is None:
                encoding = Encoding(np.dtype(np.uint8))
                back, _ = spectrum.pixels_of(gpu, values, size, size, params, encoding, False)
                np.testing.assert_array_equal(back.numpy(), pixels)


@pytest.mark.parametrize("precision", ["single", "double"])
def test_spectrum(gpu, rng, precision) -> None:
    if precision == "double" and not gpu.limits.double:
        return
    x = rng.random((2, 16, 27), np.float32)
    image, hamming = on(gpu, x), [spectrum.window("hamming", n) for n in x.shape[1:]]
    for half in (True, False):
        params = SpectrumParams(window="hamming", pad="1", half=half, shift=True, precision=precision)
        values = spectrum.spectrum(gpu, image, params)
        padded = (np.fft.rfft2 if half else np.fft.fft2)(
            x * np.multiply.outer(*hamming), s=(17, 28), norm="ortho"
        )
        expected = np.fft.fftshift(padded, -2 if half else (-2, -1))
        assert error(values.numpy(), expected) < TOLERANCE["fft"]
        back = spectrum.image_of(gpu, values.numpy(), x.shape[1:], (17, 28), params)
        difference = (back.numpy() - x) * np.multiply.outer(*hamming)
        assert np.abs(difference).max() < tolerance.FFT["value"]
    r = np.hypot(np.fft.fftfreq(17)[:, None], np.fft.rfftfreq(28))
    low = SpectrumParams(pad="1", precision=precision, filter=filter_option("lowpass", "0.2"))
    got = spectrum.spectrum(gpu, image, low).numpy()
    assert error(got, np.fft.rfft2(x, s=(17, 28), norm="ortho") * 2.0 ** -((r / 0.2) ** 2)) < TOLERANCE["fft"]
    whole = SpectrumParams(pad="1", half=False, precision=precision)
    for view in VIEWS:
        pixels = gpu.array(np.moveaxis(x, 0, -1))
        shown = spectrum.picture_of_pixels(gpu, pixels, Decoding(), whole, view).numpy()
        assert picture_error(shown, x, view, shift=False) < tolerance.FFT["picture"]


# -- wavelets -----------------------------------------------------------------------------------------------------

# Lifting steps of all kinds, filters short and long, and each with another of PyWavelets' modes.
WAYS = [
    *((name, "lifting") for name in ("haar", "bior2.2", "bior4.4", "dd9/7", "dd13/7", "vc2-fidelity")),
    *((name, "filterbank") for name in ("bior4.4", "db2", "coif17")),
]
CASES = [
    *((*way, mode) for way, mode in zip(WAYS, pywt.Modes.modes, strict=True)),
    ("bior2.2", "lifting", "antireflect"),  # its levels in one pass treat edges in their own way
    ("bior2.2", "lifting", "antisymmetric"),
]
LARGE = pytest.mark.parametrize("gpu", ["cpu", "large gpu"], indirect=True)


@in_turns(("name", "method", "mode"), CASES, ("cpu", "large gpu"))
def test_wavelets(gpu, rng, name, method, mode) -> None:
    x = rng.standard_normal((2, *SHAPE)).astype(np.float32)
    ours = dwt2(gpu, x, name, mode, method=method)
    theirs = pywt.dwt2(x.astype(float), wavelet_of(name), mode)
    of.dwt.assert_close(ours, theirs)
    expected = pywt.idwt2(theirs, wavelet_of(name), mode)
    close(idwt2(gpu, ours, name, mode, method=method), expected, TOLERANCE["wavelet"])
    close(idwt2(gpu, ours, name, mode, method=method, shape=SHAPE), x, TOLERANCE["wavelet"])


# Every wavelet is lifted; the other methods run the same steps in other places.
@pytest.mark.parametrize(("gpu", "name", "method"), [
    *product(["cpu", "large gpu"], of.dwt.LIFTING, ["lifting"]),
    *(("cpu", "haar", "laan"), ("large gpu", "dd13/7", "laan")),
    *(("cpu", "bior2.2", "in-place"), ("large gpu", "bior4.4", "in-place")),
], indirect=["gpu"])  # fmt: skip
def test_wavelets_mirrored(gpu, rng, name, method) -> None:
    x = rng.standard_normal(SHAPE).astype(np.float32)
    ours = dwt2(gpu, x, name, "mirror", method=method)
    of.dwt.assert_close(ours, mirrored(x, name))
    close(idwt2(gpu, ours, name, "mirror", method=method), x, TOLERANCE["wavelet"])
    if method == "laan" or name == "dd13/7":  # in-place refuses odd lengths there
        ours = dwt2(gpu, x, name, "periodization", method=method)
        of.dwt.assert_close(ours, pywt.dwt2(x.astype(float), wavelet_of(name), "periodization"))
        close(idwt2(gpu, ours, name, "periodization", shape=SHAPE, method=method), x, TOLERANCE["wavelet"])


@pytest.mark.parametrize("gpu", ["gpu of many units", "gpu of a unit"], indirect=True)
@each(name__mode=[("haar", "zero"), ("bior4.4", "symmetric"), ("bior2.2", "antireflect")])
def test_wavelets_by_tiles(gpu, rng, name, mode) -> None:
    """Several tiles; and one, whose rows are lifted in several rounds."""
    x = rng.standard_normal((2, *SHAPE)).astype(np.float32)
    ours = dwt2(gpu, x, name, mode)
    of.dwt.assert_close(ours, pywt.dwt2(x.astype(float), wavelet_of(name), mode))
    close(idwt2(gpu, ours, name, mode, shape=SHAPE), x, TOLERANCE["wavelet"])


@pytest.mark.parametrize("gpu", ["gpu"], indirect=True)
@each(name__mode=[("haar", "periodization"), ("bior2.2", "mirror"), ("bior4.4", "symmetric")])
def test_two_levels_of_wavelets(gpu, rng, monkeypatch, name, mode) -> None:
    """Two levels are one pass: several groups, whose columns and rows overlap and go beyond all edges."""
    monkeypatch.setattr(two_levels, "_LEAST_SAMPLES", 0)
    monkeypatch.setattr(two_levels, "_MOST_REACH", {False: 4, True: 4})
    monkeypatch.setattr(two_levels, "_ITEMS", 8)
    monkeypatch.setattr(two_levels, "_LEAST", 2)
    shape, params = (2, 29, 88), DwtParams(name, mode, 2)
    image = gpu.array(rng.standard_normal(shape).astype(np.float32))
    ours = transform.decompose(image, params)
    back = transform.recompose(*ours, params, shape[1:]).numpy()
    monkeypatch.setattr(two_levels, "fitting", lambda *_, **__: None)
    theirs = transform.decompose(image, params)
    for mine, band in zip(transform.flat(*ours), transform.flat(*theirs), strict=True):
        np.testing.assert_array_equal(mine.numpy(), band.numpy())
    np.testing.assert_array_equal(back, transform.recompose(*theirs, params, shape[1:]).numpy())


@pytest.mark.parametrize(("gpu", "name", "method"), [
    *(("cpu", "bior2.2", "lifting"), ("gpu", "bior2.2", "lifting"), ("gpu", "haar", "lifting")),
    *(("cpu", "dd13/7", "lifting"), ("gpu", "bior2.2", "laan"), ("cpu", "haar", "in-place")),
], indirect=["gpu"])  # fmt: skip
def test_wavelets_in_whole_numbers(gpu, rng, name, method) -> None:
    x = rng.integers(0, 65536, SHAPE).astype(np.int64)
    low, high = (half.T for half in integer_line(x.T, name))
    (a, v), (h, d) = (integer_line(half, name) for half in (low, high))
    ours = dwt2(gpu, x, name, "mirror", integer=True, method=method)
    for mine, theirs in zip(flat(ours), (a, h, v, d), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    np.testing.assert_array_equal(idwt2(gpu, ours, name, "mirror", integer=True, method=method), x)


@pytest.mark.parametrize("profile", ["cpu", "gpu", "tiny gpu", "tiny cpu"])
def test_wavelets_in_place(profile, rng) -> None:
    """Many chunks, in a power of two and otherwise, whose long cycles are cut; in groups of any size."""
    params = DwtParams("haar", "mirror", 2, "in-place", integer=True)
    gpu = device(profile)
    for shape, table in product([(3, 300), (67, 4), (16, 64)], in_place.TABLES):
        x = rng.integers(0, 65536, (2, *shape)).astype(np.int32)
        expected, image = gpu.array(x), gpu.array(x)
        laan.decompose(expected, params, 2)
        in_place.decompose(image, params, 2, chunk=8, table=table)
        np.testing.assert_array_equal(image.numpy(), expected.numpy())
        in_place.recompose(image, params, 2, chunk=8, table=table)
        np.testing.assert_array_equal(image.numpy(), x)


@LARGE
def test_wavelets_of_wide_images(gpu, rng) -> None:
    """Several groups, whose work-items read many samples of a row one by one, some of them put aside at either end."""
    x = rng.standard_normal((7, 2301)).astype(np.float32)
    ours = dwt2(gpu, x, "bior4.4", "symmetric")
    of.dwt.assert_close(ours, pywt.dwt2(x.astype(float), "bior4.4", "symmetric"))
    close(idwt2(gpu, ours, "bior4.4", "symmetric", shape=x.shape), x, TOLERANCE["wavelet"])


@pytest.mark.parametrize("name", ["haar", "bior4.4"])
def test_wavelets_in_strips(gpu, rng, name) -> None:
    """Several strips and bands, of which one is cut off; runs of all lengths; and by vectors, where sides allow it.

    Of the first image they do not, though the second level's width alone would.
    """
    for shape, levels in [((1 + (name == "haar"), 39, 1039), 2), ((1, 6, 2048), None)]:
        x = rng.standard_normal(shape).astype(np.float32)
        levels = levels or strips.most_levels(gpu.array(x), DwtParams(name))
        params = DwtParams(name, "mirror", levels, "strip")
        ours = transform.decompose(gpu.array(x), params)
        theirs = transform.decompose(gpu.array(x), DwtParams(name, "mirror", levels, tile="local"))
        scale = np.abs(theirs[0].numpy()).max()
        for mine, band in zip(transform.flat(*ours), transform.flat(*theirs), strict=True):
            assert mine.shape == band.shape
            np.testing.assert_allclose(mine.numpy(), band.numpy(), atol=TOLERANCE["wavelet"] * scale)
        close(transform.recompose(*ours, params, shape[1:]).numpy(), x, TOLERANCE["wavelet"])


def test_wavelets_in_tall_strips(rng) -> None:
    """One band of so many rows would be cut off: llvmpipe's loops end after 65535 rounds a work-item."""
    gpu, x = device("cpu"), rng.standard_normal((1, 840, 8)).astype(np.float32)
    params = DwtParams("bior4.4", "mirror", 1, "strip")
    ours = transform.decompose(gpu.array(x), params)
    theirs = transform.decompose(gpu.array(x), replace(params, method="laan"))
    for mine, band in zip(transform.flat(*ours), transform.flat(*theirs), strict=True):
        np.testing.assert_allclose(mine.numpy(), band.numpy(), atol=TOLERANCE["wavelet"] * np.abs(x).max())
    close(transform.recompose(*ours, params, x.shape[1:]).numpy(), x, TOLERANCE["wavelet"])


@pytest.mark.parametrize(
    ("gpu", "name"),
    [("cpu", "vc2-haar-shift"), ("gpu", "vc2-fidelity"), ("cpu", "vc2-9/7"), ("gpu", "vc2-9/7")],
    indirect=["gpu"],
)
def test_wavelets_of_vc2(gpu, rng, name) -> None:
    x = rng.integers(0, 65536, (28, 36)).astype(np.int64)
    ours = dwt2(gpu, x, name, "vc2", integer=True)
    for mine, theirs in zip(flat(ours), flat(vc2_level_of(x, name)), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    np.testing.assert_array_equal(idwt2(gpu, ours, name, "vc2", integer=True), x)


@LARGE
def test_wavelets_in_double_precision(gpu, rng) -> None:
    if not gpu.limits.double:
        pytest.skip("no double precision")
    for name in ("bior4.4", "db5"):
        of.dwt.assert_is_pywts(gpu, rng.standard_normal(SHAPE), name, "symmetric", 1)


def test_stationary_wavelets(gpu, rng) -> None:
    x = rng.standard_normal((2, 12, 20)).astype(np.float32)
    ours = swt2(gpu, x, "db2", 2)
    for mine, theirs in zip(stationary_bands(ours), stationary_bands(pywt.swt2(x, "db2", 2)), strict=True):
        of.dwt.assert_near(mine, theirs)
    of.dwt.assert_near(iswt2(gpu, ours, "db2"), x)


def test_wavelets_in_small_groups(tiny, rng) -> None:
    x = rng.standard_normal((2, *SHAPE)).astype(np.float32)
    ours = wavedec2(tiny, x, "bior2.2", "symmetric", 2)
    of.dwt.assert_close(ours, pywt.wavedec2(x.astype(float), "bior2.2", "symmetric", 2))
    close(waverec2(tiny, ours, "bior2.2", "symmetric", shape=SHAPE), x, TOLERANCE["wavelet"])
    # Rows in segments, and columns in narrow blocks of several bands.
    tall = rng.standard_normal((99, 151)).astype(np.float32)
    ours = dwt2(tiny, tall, "bior2.2", "periodization", method="laan")
    of.dwt.assert_close(ours, pywt.dwt2(tall.astype(float), "bior2.2", "periodization"))
    back = idwt2(tiny, ours, "bior2.2", "periodization", shape=tall.shape, method="laan")
    close(back, tall, TOLERANCE["wavelet"])
    np.testing.assert_array_equal(
        band_statistics.medians(tiny.array(x)), np.median(np.abs(x.astype(float)), axis=(1, 2))
    )
    mean = (x.astype(float) ** 2).mean((1, 2))
    np.testing.assert_allclose(
        band_statistics.mean_squares([tiny.array(x)])[0], mean, rtol=tolerance.SHRINK["mean square"]
    )


def test_bands(gpu, rng) -> None:
    x = rng.standard_normal((2, *SHAPE)).astype(np.float32)
    for mode in shrink.MODES:
        expected, allowed = pywt.threshold(x, 0.7, mode), tolerance.SHRINK["shrink"]
        np.testing.assert_allclose(threshold(gpu, x, 0.7, mode), expected, atol=allowed)
    np.testing.assert_array_equal(
        band_statistics.medians(gpu.array(x)), np.median(np.abs(x.astype(float)), axis=(1, 2))
    )
    ordered = np.sort(np.abs(np.concatenate([x.ravel(), x[:, :3].ravel()])))
    both = [gpu.array(x), gpu.array(np.ascontiguousarray(x[:, :3]))]
    assert band_statistics.largest(both, 2, 77) == (ordered[-77], np.count_nonzero(ordered >= ordered[-77]))
    # The image is extended and cropped: without shrinking, the mean of all shifts is the image.
    nothing = denoise(gpu, x, DwtParams("haar", levels=1), ShrinkParams(threshold=0.0), spins=2)
    close(nothing, x, TOLERANCE["wavelet"])
    four = rng.standard_normal((4, *SHAPE)).astype(np.float32)
    cosines = scipy.fft.dct(four[:3], axis=0, norm="ortho")
    mixed = shrink.to_space(gpu.array(four), "opponent")
    close(mixed.numpy(), np.concatenate([cosines, four[3:]]), TOLERANCE["wavelet"])
    close(shrink.to_rgb(mixed, "opponent").numpy(), four, TOLERANCE["wavelet"])
    levels = rng.integers(0, 256, x.shape).astype(np.int32)
    mean = (x.astype(float) ** 2).mean((1, 2))
    np.testing.assert_allclose(
        band_statistics.mean_squares([gpu.array(x)])[0], mean, rtol=tolerance.SHRINK["mean square"]
    )
    for values in (x, levels):
        # One level of one band: the approximation is shown as it is, the detail about mid gray.
        linear = values is x
        first, detail = gpu.array(values), gpu.array(values)
        first.linear = detail.linear = linear
        shown = of.pyramid.painted(first, [(detail, detail, detail)], white=1.0 if linear else 255.0)
        plain = np.clip(values / (2 if linear else 255), 0, 1)
        expected = srgb_signal(plain) if linear else plain
        np.testing.assert_allclose(shown[:, : SHAPE[0], : SHAPE[1]], expected, atol=TOLERANCE["operator"])
        half_way = np.sort(np.abs(values), axis=None)[-round(values.size / 20)]
        gray = 0.5 + 0.5 * values / (np.abs(values) + half_way)
        np.testing.assert_allclose(
            shown[:, SHAPE[0] + 1 :, SHAPE[1] + 1 :], gray, rtol=0, atol=tolerance.ROUNDINGS
        )
    floats = bands.from_levels(gpu.array(levels), 255)
    np.testing.assert_allclose(floats.numpy(), levels / 255, rtol=2 * tolerance.ROUNDING)
    np.testing.assert_array_equal(bands.to_levels(floats, 255).numpy(), levels)
    if gpu.limits.double:
        wide = bands.in_precision(floats, np.dtype(np.float64))
        np.testing.assert_array_equal(wide.numpy(), floats.numpy().astype(np.float64))
        np.testing.assert_array_equal(bands.in_precision(wide, np.dtype(np.float32)).numpy(), floats.numpy())


# -- small groups -------------------------------------------------------------------------------------------------


def test_small_groups(tiny, rng) -> None:
    """Kernels that share local memory run in groups and tiles that are halved until they fit."""
    x = rng.random((3, *SHAPE)).astype(np.float32)
    image = on(tiny, x)
    method = {"method": "direct" if tiny.limits.is_cpu else "local"}
    params = BlurParams(sigma=(2.2, 1.1))
    close(blur(tiny, image, params).numpy(), separable(x, params), TOLERANCE["blur"])
    coarse = BlurParams(sigma=(9.0, 9.0), method="multirate")
    close(blur(tiny, image, coarse).numpy(), separable(x, coarse), tolerance.BLUR["coarse"])
    w = rng.standard_normal((3, 18))
    expected = np.stack([filters_reference.convolved(p, w, "reflect", 0) for p in x])
    close(convolve(tiny, x, w, **method), expected, np.abs(w).sum() * TOLERANCE["blur"])
    glow = BloomParams(strength=0.7, radius=0.3)
    close(bloom(tiny, image, glow).numpy(), glow_reference.bloom(x, glow), tolerance.BLOOM["mip"])
    np.testing.assert_allclose(
        d3d11.blur(tiny, image).numpy(), d3d11_reference.blur(x), rtol=tolerance.ROUNDINGS
    )
    for method in ("tiles", "direct"):
        of.reduce.check(statistics(tiny, image, method=method), metrics_reference.luminance(x))
    of.reduce.check(statistics_and_mip(tiny, image)[0], metrics_reference.luminance(x))
    check_bilateral_grid(tiny, x[0].astype(float), 0.1, 6.0)
    of.tonemap_local.check_durand(tiny, x, 1.0)
    for radius in ((2, 2), (6, 6)):
        got = median(tiny, on(tiny, x[:, :9]), radius).numpy()
        np.testing.assert_array_equal(got, filters_reference.median(x[:, :9], radius))
    other = on(tiny, x[::-1])
    of.counts.check(tiny, rng, (3, *SHAPE))
    of.delta_e.check(tiny, x, x[::-1], "2000")
    of.pixelmatch.check(tiny, "discs", (0.1,))
    of.tolerant.check_window(tiny, rng, SHAPE)
    of.tolerant.check_radius(tiny, rng, (1, 11, 13))
    of.z_test.check(tiny, rng, (3, *SHAPE))
    ssim = structural_similarity(tiny, image, other, data_range=1.0)
    assert ssim == pytest.approx(
        metrics_reference.skimage_ssim(x, x[::-1], 1.0), abs=tolerance.COMPARE["ssim"]
    )
    of.ssim.check(tiny, rng, (1, *SHAPE), "skimage")
    of.ssimulacra2.check(tiny, rng, (1, *SHAPE))

    check_flip(tiny, rng, SHAPE, 20.0)


# -- the whole of it ----------------------------------------------------------------------------------------------

# Kernels with generated butterflies. Those of canary.cl, which say "kernel", are run before a device is used at all.
GENERATED = {("generated", "fft_local"), ("generated", "fft_global"), ("generated", "fft_wide")}
# Not for llvmpipe, whose loops end after 65535 rounds.
FOR_VECTORS = {
    ("box", "box"), ("both_axes_wide", "both_wide"), ("dwt_level_wide", "level_wide"),
    ("fft_wide", "fft_wide"), ("generated", "fft_wide"), ("resize_down", "resize_down"),
    ("resize_wide", "resize_wide"),
}  # fmt: skip
FOR_DOUBLE = {("dwt_bands", "widen"), ("dwt_bands", "narrow")}
INTEL = "Intel(R) Corporation"
FOR_GPUS = {"NATIVE", "DENORMS_ARE_ZERO", "FINITE"}  # what comes with native functions
FOR_CLANG = {
    ("median", "CLANG"),
    ("fetch_ahead", "CLANG"),
}  # branches for compilers that only some devices have


@pytest.mark.parametrize(
    ("channels", "dtype"),
    [(1, "uint8"), (2, "uint8"), (3, "uint8"), (4, "uint8"), (1, "uint16"), (3, "uint16"), (4, "uint16")],
)
def test_unfilter(gpu, rng, channels, dtype) -> None:
    for width in (6, 75):
        pixels = rng.integers(0, np.iinfo(dtype).max + 1, (11, width, channels)).astype(dtype)
        rows = png_filters.filtered(pixels, [3, 4, 0, 1, 2, 4, 4, 3, 2, 1, 4])
        found = unfiltered(gpu.array(rows), pixels.shape, pixels.dtype)
        np.testing.assert_array_equal(found.numpy(), pixels)


def test_nothing_was_left_out(request) -> None:
    """Every kernel was launched, and every name that the preprocessor asks for was there and was not, or had two
    values: so every branch was built and run."""
    functions = {name for name in vars(request.module) if name.startswith("test_")}
    items = {item.name for item in request.session.items if item.path == request.path}
    if (functions | items) - RAN or "CLPIX_SHARE_OF_CASES" in os.environ:
        pytest.skip("needs the whole file in one process")
    kernels = GENERATED | {
        (source, name)
        for source in clkernels.names()
        for name in re.findall(r"__kernel\b[^;{]*?\bvoid\s+(\w+)\(", clkernels.text(source))
    }
    if device("cpu").limits.lanes == 1:
        kernels -= FOR_VECTORS
    if not device("cpu").limits.double:
        kernels -= FOR_DOUBLE
    assert not sorted(kernels - set(Recorder.launched)), "kernels without a case"
    if device("cpu").limits.lanes == device("gpu").limits.lanes:
        return  # half of the branches are for other devices
    values = defaultdict(set)
    for (source, _), variants in Recorder.launched.items():
        for switch, variant in product(switches(source), variants):
            values[source, switch].add(str(variant.get(switch)))
    once = {switch for switch, seen in values.items() if len(seen) < 2}
    if device("cpu").device.platform.name not in CLANG:
        once -= FOR_CLANG
    if device("cpu").device.platform.vendor == INTEL:
        once = {(source, switch) for source, switch in once if switch not in FOR_GPUS}
    assert not sorted(once), "branches without a case"


def switches(source: str) -> set[str]:
    """Names whose definition decides which lines of a source are compiled; but PLANAR, which is that PIXEL is not, and
    what a compiler defines."""
    if source == "generated":
        return set()
    text = clkernels.text(source)
    conditions = " ".join(re.findall(r"^\s*#\s*(?:if|ifdef|ifndef|elif)\b(.*)$", text, re.MULTILINE))
    return set(re.findall(r"[A-Za-z_]\w*", re.sub(r"//.*", "", conditions))) - {
        "defined", "PLANAR", "POCL_DEVICE_ADDRESS_BITS", "__NV_CL_C_VERSION",
    }  # fmt: skip
