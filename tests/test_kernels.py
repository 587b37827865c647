"""Every kernel of clkernels/ in every variant that the library chooses, on small images, against references.

Small, because tests/on_every_opencl runs this file on every OpenCL implementation there is, Oclgrind's interpreter
among them; larger images and properties are the other modules' business. Each operation runs twice, planned for a CPU
and for a GPU, and ``test_nothing_was_left_out`` fails for a kernel, or a branch of the preprocessor, without a case.

Of independent choices (type × channels × curve …) each pair occurs, not each combination: builds take most of the time.
"""

from __future__ import annotations

import os
import re
import warnings
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import pywt
import scipy.fft
from scipy import ndimage

import clkernels
from gpuops import Gpu, GpuopsWarning, Image, d3d11, fft
from gpuops.bloom import bloom
from gpuops.blur import blur
from gpuops.compare import compare, difference
from gpuops.convolve import convolve
from gpuops.dwt import bands, dwt2, idwt2, pyramid, shrink, threshold, wavedec2, waverec2
from gpuops.dwt.wavelets import WAVELETS
from gpuops.fft import spectrum
from gpuops.gpu import Kernel, Limits, Source
from gpuops.image import download, upload
from gpuops.params.bloom import BloomParams
from gpuops.params.blur import BlurParams
from gpuops.params.border import BORDERS
from gpuops.params.compare import CompareParams
from gpuops.params.dwt import MODES
from gpuops.params.fft import VIEWS, FftParams, SpectrumParams, filter_option
from gpuops.params.tonemap import OPERATORS, TRANSFERS, WHITE, TonemapParams
from gpuops.reduce import statistics
from gpuops.tonemap import tonemap

from . import d3d11_reference, test_bloom, test_compare, test_convolve, test_dwt, test_fft, test_reduce
from . import tonemap_reference as operators
from .test_image import linear_to_srgb, pixels_of, srgb_to_linear

Array = npt.NDArray[Any]

# Odd both ways: five groups of 256, three by two of 16 × 16, and a rest behind every vector of 4, 8, 16 or 32.
SHAPE = (29, 37)
LAYOUTS = {1: False, 2: True, 3: False, 4: True}  # channels: is the last one alpha?

TOLERANCE = {
    "curve": 4e-6,  # relative: powers by log2 and exp2 of 3 ulp each
    "blur": 1e-6,  # of the largest value: float32, taps one after the other
    "operator": 4e-6,  # absolute, and relative above 1: as "curve", of one operator and one transfer
    "fft": 6e-7,  # relative L2; sinpi and cospi may be off by 4 ulp
    "fft double": 1e-14,
}


# -- the device under test ----------------------------------------------------------------------------------------


class Recorder(Gpu):
    """A device that claims other limits than it has, so that plans are those of other devices, and notes launches."""

    # (source's name, kernel's name) -> the defines of each variant launched, on all Recorders
    launched: defaultdict[tuple[str, str], list[dict[str, object]]] = defaultdict(list)

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
        return replace(real, **claims)

    def kernel(self, source: Any, name: str, **defines: Any) -> Kernel:
        kernel = super().kernel(source, name, **defines)
        self._variants[id(kernel)] = source, name, defines
        return kernel

    def launch(self, kernel: Kernel, *args: Any, **options: Any) -> Any:
        self._note(kernel)
        return super().launch(kernel, *args, **options)

    def bind(self, kernel: Kernel, *args: Any, **options: Any) -> Any:
        self._note(kernel)
        return super().bind(kernel, *args, **options)

    def _note(self, kernel: Kernel) -> None:
        source, name, defines = self._variants[id(kernel)]
        parts = source if isinstance(source, tuple) else (source,)
        generated = "\n".join(part.text for part in parts if isinstance(part, Source))
        values = dict(re.findall(r"^#define (\w+) (.*)$", generated, re.MULTILINE))
        values |= {key: value for key, value in defines.items() if value not in (None, False)}
        for part in parts:
            self.launched["generated" if isinstance(part, Source) else part, name].append(values)


PROFILES: dict[str, dict[str, int]] = {
    # Eight pixels a work-item, straight from global memory.
    "cpu": {"is_cpu": True, "lanes": 8},
    # Groups that share local memory, as much of both as every GPU has.
    "gpu": {"is_cpu": False, "lanes": 1, "work_group": 256, "local_bytes": 32768},
    # Groups halved until they fit, transforms of more than 128 points in several launches.
    "tiny cpu": {"is_cpu": True, "lanes": 8, "work_group": 16, "local_bytes": 1024},
    "tiny gpu": {"is_cpu": False, "lanes": 1, "work_group": 16, "local_bytes": 1024},
}


@cache
def device(profile: str) -> Recorder:
    return Recorder(**PROFILES[profile])


@pytest.fixture(params=["cpu", "gpu"])
def gpu(request: pytest.FixtureRequest) -> Iterator[Recorder]:
    """The device under test, planned for as a CPU and as a GPU."""
    yield device(request.param)


@pytest.fixture(params=["tiny cpu", "tiny gpu"])
def tiny(request: pytest.FixtureRequest) -> Iterator[Recorder]:
    """The same with hardly any local memory, and groups of 16."""
    yield device(request.param)


def on(gpu: Gpu, pixels: Array, alpha: bool = False) -> Image:
    """Planar pixels as an Image."""
    image = gpu.array(pixels.astype(np.float32))
    image.alpha = alpha
    return image


def close(result: Array, expected: Array, tolerance: float) -> None:
    """Within ``tolerance`` of the largest value."""
    assert result.shape == expected.shape
    assert np.abs(result - expected).max() <= tolerance * max(1.0, np.abs(expected).max())


# -- pixels -------------------------------------------------------------------------------------------------------

DTYPES = ("uint8", "uint16", "float16", "float32")
CURVES: dict[str, Any] = {
    "": lambda v: v,
    "linearise": lambda v: np.copysign(srgb_to_linear(np.abs(v)), v),
    "encode": lambda v: np.copysign(linear_to_srgb(np.abs(v)), v),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("channels", LAYOUTS)
def test_unpack_and_pack(gpu: Recorder, rng: np.random.Generator, dtype: str, channels: int) -> None:
    alpha, colours = LAYOUTS[channels], channels - LAYOUTS[channels]
    turn = DTYPES.index(dtype) + channels  # each curve meets each type and each number of channels
    curve = list(CURVES)[turn % 3]
    multiplied = alpha and turn % 2 == 0
    wanted = {curve: True} if curve else {}
    most = np.iinfo(dtype).max if dtype.startswith("u") else 1

    pixels = pixels_of(rng, dtype, (*SHAPE, channels))
    expected = (pixels.astype(np.float64) / most).transpose(2, 0, 1)
    expected[:colours] = CURVES[curve](expected[:colours])
    if multiplied:
        expected[:colours] *= expected[colours:]
    image = upload(gpu, pixels, alpha=alpha, premultiply=multiplied, **wanted)  # type: ignore[arg-type]
    np.testing.assert_allclose(image.numpy(), expected, rtol=TOLERANCE["curve"], atol=1e-7)

    values = rng.uniform(0, 1, (channels, *SHAPE)).astype(np.float32)
    values[0, 3, 4:8] = 2, -1, np.nan, np.inf
    values[-1, 5] = 0  # nothing to divide by
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
        np.testing.assert_allclose(result, expected, rtol=rounding, atol=1e-7)
        assert lost.clipped == lost.not_finite == 0


def test_copy(gpu: Recorder, rng: np.random.Generator) -> None:
    values = rng.random((1073, 4), np.float32)
    result = gpu.empty(values.shape)
    kernel = gpu.kernel("copy", "copy")
    gpu.launch(kernel, (1073,), gpu.array(values), result, np.uint64(1073), local=kernel.fit(256))
    np.testing.assert_array_equal(result.numpy(), values)


# -- neighbourhoods -----------------------------------------------------------------------------------------------


def separable(x: Array, params: BlurParams) -> Array:
    for axis, radius in enumerate(params.radii):
        weights = np.array(params.weights(axis))
        constant = {"constant_values": params.cval} if params.border == "constant" else {}
        widths = [(0, 0), (0, 0), (0, 0)]
        widths[axis + 1] = (radius, radius)
        padded = np.pad(x, widths, mode=test_convolve.PAD[params.border], **constant)  # type: ignore[call-overload]
        x = np.apply_along_axis(np.convolve, axis + 1, padded, weights, "valid")
    return x


@pytest.mark.parametrize("border", BORDERS)
def test_blur(gpu: Recorder, rng: np.random.Generator, border: str) -> None:
    x = rng.random((2, *SHAPE))
    for params in (
        BlurParams(sigma=(2.2, 1.1), border=border, cval=0.3),
        BlurParams(kind="box", radius=(31, 40), border=border, cval=-1),  # reaches around the image
    ):
        close(blur(gpu, on(gpu, x), params).numpy(), separable(x, params), TOLERANCE["blur"])


@pytest.mark.parametrize("border", BORDERS)
def test_convolve(gpu: Recorder, rng: np.random.Generator, border: str) -> None:
    x = rng.standard_normal((2, *SHAPE))
    for size, method in (((4, 5), ""), ((3, 18), ""), ((5, 4), "fft")):
        w = rng.standard_normal((2, *size))
        method = method or ("direct" if gpu.limits.is_cpu else "local")
        expected = [test_convolve.expected(p, k, border, 0.7) for p, k in zip(x, w, strict=True)]
        got = convolve(gpu, x, w, mode=border, cval=0.7, method=method)
        scale = np.abs(w).sum() * np.abs(x).max()
        assert np.abs(got - np.stack(expected)).max() <= test_convolve.TOLERANCE[method] * scale


@pytest.mark.parametrize("channels", LAYOUTS)
def test_bloom(gpu: Recorder, rng: np.random.Generator, channels: int) -> None:
    alpha = LAYOUTS[channels]
    x = np.abs(test_bloom.hdr(rng, channels, *SHAPE))
    if alpha:
        x[-1] = np.clip(x[-1], 0, 1)
    x[0, 20, 30] = np.nan
    params = BloomParams(strength=0.7, radius=0.3, threshold=0.5, karis=channels > 2)
    with pytest.warns(GpuopsWarning, match="1 pixel was not finite"):
        result = bloom(gpu, on(gpu, x, alpha), params).numpy()
    test_bloom.close(result, test_bloom.reference(x, params, alpha), test_bloom.TOLERANCE["mip"])


@pytest.mark.parametrize("channels", [1, 4])
def test_bloom_of_gaussians(gpu: Recorder, rng: np.random.Generator, channels: int) -> None:
    alpha = LAYOUTS[channels]
    x = np.abs(test_bloom.hdr(rng, channels, *SHAPE))
    if alpha:
        x[-1] = np.clip(x[-1], 0, 1)
    params = BloomParams(method="gaussians", strength=0.6, radius=0.05, threshold=0.5)
    light = test_bloom.weigh(x.astype(np.float64), params.threshold, params.knee, channels - alpha)
    glow = sum(share * ndimage.gaussian_filter(light, (0, s, s)) for s, share in params.octaves(SHAPE[0]))
    expected = test_bloom.over(x.astype(np.float64), light, glow, params, alpha)
    result = bloom(gpu, on(gpu, x, alpha), params).numpy()
    test_bloom.close(result, expected, test_bloom.TOLERANCE["gaussians"])


@pytest.mark.parametrize("channels", LAYOUTS)
def test_d3d11(gpu: Recorder, channels: int) -> None:
    alpha, colours = LAYOUTS[channels], channels - LAYOUTS[channels]
    y, x = np.mgrid[: SHAPE[0], : SHAPE[1]]
    spot = 30 * np.exp(-((x - 12) ** 2 + (y - 14) ** 2) / 200)
    scene = (np.random.default_rng(1).random((colours, *SHAPE)) * 0.8 + spot).astype(np.float32)
    image = on(gpu, np.concatenate([scene, scene[:1]]) if alpha else scene, alpha)
    three = scene if colours == 3 else np.repeat(scene, 3, 0)
    level = 0.6 * 1.445 / 255  # of the bright pass in 8 bits, which rounding may flip
    for name in ("tonemap", "bloom"):
        got = getattr(d3d11, name)(gpu, image).numpy()
        expected = getattr(d3d11_reference, name)(three)[:colours]
        np.testing.assert_allclose(got[:colours], expected, rtol=2e-6, atol=level)
        if alpha:
            np.testing.assert_array_equal(got[-1], scene[0])
    np.testing.assert_allclose(
        d3d11.blur(gpu, image).numpy()[:colours], d3d11_reference.blur(scene), rtol=1e-6
    )


# -- pixel by pixel, and all pixels -------------------------------------------------------------------------------


@pytest.mark.parametrize("operator", OPERATORS)
def test_tonemap(gpu: Recorder, operator: str) -> None:
    # Every operator both ways; layouts, transfers and dither take turns, and differently on the two.
    turn = list(OPERATORS).index(operator) + (0 if gpu.limits.is_cpu else 5)
    channels, transfer = (3, 1, 4, 2)[turn % 4], TRANSFERS[(turn + turn // 4) % 4]
    dither = 255 if turn % 3 == 0 else None
    alpha, colours = LAYOUTS[channels], channels - LAYOUTS[channels]
    white = 4.0 if operator in WHITE else None
    pixels = test_reduce.light((channels, *SHAPE), turn)
    expected = pixels.astype(np.float64)
    three = expected[:3] if colours == 3 else np.repeat(expected[:1], 3, 0)
    mapped = operators.OPERATORS[operator](three, 4.0)
    if colours == 1:
        mapped = operators.luminance(mapped)[np.newaxis]
    encode = {
        "srgb": operators.srgb,
        "pq": operators.pq,
        "gamma": lambda v: v ** (1 / 2.2),
        "linear": lambda v: v,
    }
    expected[:colours] = encode[transfer](np.maximum(mapped, 0))
    pixels[0, 9, 9] = np.nan

    params = TonemapParams(operator, exposure=0.0, transfer=transfer, gamma=2.2, white=white, dither=dither)
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


@pytest.mark.parametrize("method", ["tiles", "direct"])
@pytest.mark.parametrize("colours", [1, 3])
def test_reduce(gpu: Recorder, colours: int, method: str) -> None:
    pixels = test_reduce.light((colours, *SHAPE))
    pixels.flat[[0, 7, 99]] = np.nan, np.inf, -3
    values = pixels[0].astype(np.float64) if colours == 1 else test_reduce.luminance(pixels)
    image = on(gpu, pixels)
    full = statistics(gpu, image, method=method)
    test_reduce.check(full, values)
    v, u = ((np.arange(n) + 0.5) / n - 0.5 for n in SHAPE)
    lit = np.isfinite(values) & (values > 0)
    weight = np.exp(-8 * (u[np.newaxis] ** 2 + v[:, np.newaxis] ** 2))[lit]
    for histogram in (True, False):
        centred = statistics(gpu, image, histogram=histogram, centre=True, method=method)
        expected = (weight * np.log2(values[lit])).sum() / weight.sum()
        assert centred.centre_log2 == pytest.approx(expected, abs=1e-5)
        assert replace(centred, centre_log2=full.centre_log2) == full
    assert statistics(gpu, image, histogram=False, method=method) == full


def test_compare(gpu: Recorder, rng: np.random.Generator) -> None:
    a, b = test_compare.noisy(rng, (4, *SHAPE))
    first, second = on(gpu, a), on(gpu, b)
    result = compare(gpu, first, second, CompareParams())
    assert result.rmse == pytest.approx(np.sqrt(np.mean((a.astype(float) - b) ** 2)), rel=1e-6)
    assert result.max == np.abs(a - b).max() and result.differing == (a != b).sum()
    assert result.ssim == pytest.approx(
        test_compare.skimage_ssim(a, b, 1.0), abs=test_compare.TOLERANCE["ssim"]
    )
    assert compare(gpu, first, first, CompareParams()).equal
    shown = np.minimum(np.abs(a - b) * 3, 1)
    np.testing.assert_allclose(difference(gpu, first, second, 3.0).numpy(), shown, rtol=1e-6)
    first.alpha = second.alpha = True
    np.testing.assert_allclose(
        difference(gpu, first, second, 3.0).numpy(), np.maximum(shown[:3], shown[3]), rtol=1e-6
    )


# -- Fourier transforms -------------------------------------------------------------------------------------------


def fourier(gpu: Gpu, z: Array, params: FftParams = FftParams(), tolerance: str = "fft") -> None:
    """All kinds of transform of complex ``z`` and its real part; ``z`` in single or double precision."""
    x, exact = np.ascontiguousarray(z.real), z.astype(complex)
    half, shape = scipy.fft.rfft2(exact.real), z.shape[-2:]
    for got, expected in (
        (fft.fft2(gpu, z, params=params), scipy.fft.fft2(exact)),
        (fft.ifft2(gpu, z, params=params), scipy.fft.ifft2(exact)),
        (fft.rfft2(gpu, x, params=params), half),
        (fft.fft2(gpu, x, params=params), scipy.fft.fft2(exact.real)),
        (fft.irfft2(gpu, half.astype(z.dtype), s=shape, params=params), exact.real),
    ):
        assert test_fft.error(got, expected) < TOLERANCE[tolerance]


@pytest.mark.parametrize(
    ("shape", "how"),
    [
        ((15, 28), ("auto", "auto", "auto")),
        ((17, 6), ("local", "auto", "table")),  # 17: Bluestein's convolution
        ((13, 16), ("global", "4", "compute")),
        ((19, 9), ("global", "auto", "table")),
        ((11, 8), ("local", "2", "compute")),
    ],
    ids=str,
)
def test_fourier(
    gpu: Recorder, rng: np.random.Generator, shape: tuple[int, int], how: tuple[str, str, str]
) -> None:
    fourier(gpu, test_fft.noise(rng, 3, *shape), FftParams(*how))


@pytest.mark.parametrize("shape", [(9, 180), (180, 9), (2, 131), (131, 2)], ids=str)
def test_fourier_beyond_local_memory(
    tiny: Recorder, rng: np.random.Generator, shape: tuple[int, int]
) -> None:
    """180 points in two halves; 131 by a convolution through global memory."""
    fourier(tiny, test_fft.noise(rng, 1, *shape))


def test_fourier_in_double_precision(gpu: Recorder, rng: np.random.Generator) -> None:
    if gpu.limits.double:
        fourier(gpu, test_fft.noise(rng, 2, 17, 12).astype(complex), tolerance="fft double")


@pytest.mark.parametrize("precision", ["single", "double"])
def test_spectrum(gpu: Recorder, rng: np.random.Generator, precision: str) -> None:
    if precision == "double" and not gpu.limits.double:
        return
    x = rng.random((2, 15, 14), np.float32)
    image, blackman = on(gpu, x), [spectrum.window("hamming", n) for n in x.shape[1:]]
    weights = np.multiply.outer(*blackman)
    for half in (True, False):
        params = SpectrumParams(window="hamming", pad="1", half=half, shift=True, precision=precision)
        values = spectrum.spectrum(gpu, image, params)
        expected = (np.fft.rfft2 if half else np.fft.fft2)(x * weights, s=(16, 15), norm="ortho")
        assert test_fft.error(values.numpy(), np.fft.fftshift(expected, -2 if half else (-2, -1))) < 1e-6
        back = spectrum.image_of(gpu, values, (15, 14), (16, 15), params)
        np.testing.assert_allclose(back.numpy(), x, atol=2e-5)
    fy, fx = np.fft.fftfreq(15)[:, None], np.fft.rfftfreq(14)
    gauss = 2.0 ** -((np.hypot(fy, fx) / 0.2) ** 2)
    plain = SpectrumParams(precision=precision, filter=filter_option("lowpass", "0.2"))
    got = spectrum.spectrum(gpu, image, plain).numpy()
    assert test_fft.error(got, np.fft.rfft2(x, norm="ortho") * gauss) < 2e-6
    for view in VIEWS:
        shown = spectrum.picture(gpu, image, SpectrumParams(half=False, precision=precision), view).numpy()
        assert shown.min() >= 0 and shown.max() <= 1 and np.ptp(shown) > 0.9
    phase = spectrum.picture(gpu, image, SpectrumParams(half=False, precision=precision), "phase").numpy()
    turned = np.angle(np.fft.fft2(x)) / (2 * np.pi) + 0.5 - phase
    assert np.abs(turned - np.rint(turned)).max() < 1e-5


# -- wavelets -----------------------------------------------------------------------------------------------------

LIFTED = test_dwt.LIFTING
# Each wavelet by each method that it has; each mode, of which mirror needs one with steps.
WAYS = [(name, "lifting") for name in LIFTED] + [(name, "filterbank") for name in WAVELETS]
MODE_OF = [m for m in MODES if m != "mirror"]
CASES = [(name, method, MODE_OF[(3 * i + 1) % len(MODE_OF)]) for i, (name, method) in enumerate(WAYS)]


@pytest.mark.parametrize(("name", "method", "mode"), CASES, ids=str)
def test_wavelets(gpu: Recorder, rng: np.random.Generator, name: str, method: str, mode: str) -> None:
    x = rng.standard_normal((2, 27, 37)).astype(np.float32)
    ours = dwt2(gpu, x, name, mode, method=method)
    theirs = pywt.dwt2(x.astype(float), test_dwt.reference(name), mode)
    test_dwt.assert_close(ours, theirs)
    expected = pywt.idwt2(theirs, test_dwt.reference(name), mode)
    back = idwt2(gpu, ours, name, mode, method=method)
    close(back, expected, 3e-6)
    close(idwt2(gpu, ours, name, mode, method=method, shape=(27, 37)), x, 3e-6)
