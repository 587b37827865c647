"""Arguments that scripts give to the library: Images of other types, byte orders, numbers in place of sequences."""

from collections.abc import Callable

import numpy as np
import pytest
import pywt
import scipy.fft

from gpuops import Gpu, Image, ParameterError, files, fourier, wavelets
from gpuops.filters.bilateral import bilateral, denoise_bilateral
from gpuops.filters.blur import blur, gaussian_filter, uniform_filter
from gpuops.filters.convolve import convolve
from gpuops.filters.median import median_filter
from gpuops.fourier import real
from gpuops.fourier.peaks import peaks
from gpuops.fourier.registration import phase_cross_correlation
from gpuops.glow.bloom import bloom
from gpuops.metrics.compare import mean_squared_error, peak_signal_noise_ratio, structural_similarity
from gpuops.metrics.counts import counts
from gpuops.metrics.delta_e import delta_e
from gpuops.metrics.flip import flip as flip_metric
from gpuops.metrics.pu21 import pu21
from gpuops.metrics.ssimulacra2 import ssimulacra2
from gpuops.metrics.statistics import channel_statistics, statistics
from gpuops.ops.bloom import BloomParams
from gpuops.ops.blur import BlurParams
from gpuops.ops.crop import OPERATION as crop
from gpuops.ops.crop import CropParams
from gpuops.ops.deconvolve import OPERATION as deconvolve
from gpuops.ops.deconvolve import DeconvolveParams
from gpuops.ops.filter import OPERATION as filter_
from gpuops.ops.filter import FilterParams
from gpuops.ops.flip import OPERATION as flip
from gpuops.ops.flip import FlipParams
from gpuops.ops.grade import OPERATION as grade
from gpuops.ops.grade import GradeParams
from gpuops.ops.merge import OPERATION as merge
from gpuops.ops.merge import MergeParams
from gpuops.ops.resize import OPERATION as resize
from gpuops.ops.resize import ResizeParams
from gpuops.ops.rotate import OPERATION as rotate
from gpuops.ops.rotate import RotateParams
from gpuops.ops.sharpen import OPERATION as sharpen
from gpuops.ops.sharpen import SharpenParams
from gpuops.ops.tonemap import TonemapParams
from gpuops.params.bilateral import BilateralParams
from gpuops.params.dwt import DwtParams, ShrinkParams
from gpuops.params.region import Region
from gpuops.pixels.coding import download
from gpuops.tone.tonemap import tonemap
from gpuops.wavelets.denoise import denoise

from .choices import each

OF_PLANES: dict[str, Callable[[Gpu, Image], object]] = {
    "bilateral": lambda gpu, x: bilateral(gpu, x, BilateralParams(0.1, 1.0)),
    "bloom": lambda gpu, x: bloom(gpu, x, BloomParams()),
    "blur": lambda gpu, x: blur(gpu, x, BlurParams((2.0, 2.0))),
    "box": lambda gpu, x: blur(gpu, x, BlurParams(radius=(1, 1), kind="box")),
    "channel_statistics": channel_statistics,
    "convolve": lambda gpu, x: convolve(gpu, x, np.ones((3, 3))),
    "counts": lambda gpu, x: counts(gpu, x, x),
    "crop": lambda gpu, x: crop(gpu, x, CropParams(Region(0, 0, 2, 2))),
    "deconvolve": lambda gpu, x: deconvolve(gpu, x, DeconvolveParams(sigma=1.0)),
    "delta_e": lambda gpu, x: delta_e(gpu, x, x),
    "denoise": lambda gpu, x: denoise(gpu, x, DwtParams("haar"), ShrinkParams(threshold=0.1)),
    "denoise_bilateral": lambda gpu, x: denoise_bilateral(gpu, x, sigma_color=0.1),
    "download": lambda _gpu, x: download(x, np.uint8),
    "filter": lambda gpu, x: filter_(gpu, x, FilterParams("lowpass", ("0.1",))),
    "flip": lambda gpu, x: flip(gpu, x, FlipParams("both")),
    "FLIP": lambda gpu, x: flip_metric(gpu, x, x),
    "gaussian_filter": lambda gpu, x: gaussian_filter(gpu, x, 1.0),
    "grade": lambda gpu, x: grade(gpu, x, GradeParams(exposure=1.0)),
    "mean_squared_error": lambda gpu, x: mean_squared_error(gpu, x, x),
    "merge": lambda gpu, x: merge(gpu, x, MergeParams()),
    "peaks": lambda gpu, x: peaks(gpu, x, 1),
    "psnr": lambda gpu, x: peak_signal_noise_ratio(gpu, x, x, data_range=1.0),
    "pu21": pu21,
    "resize": lambda gpu, x: resize(gpu, x, ResizeParams(scale=(0.5, 0.5))),
    "rotate": lambda gpu, x: rotate(gpu, x, RotateParams(30.0)),
    "sharpen": lambda gpu, x: sharpen(gpu, x, SharpenParams()),
    "ssim": lambda gpu, x: structural_similarity(gpu, x, x, data_range=1.0),
    "ssimulacra2": lambda gpu, x: ssimulacra2(gpu, x, x),
    "statistics": statistics,
    "tonemap": lambda gpu, x: tonemap(gpu, x, TonemapParams(exposure=0.0)),
    "turn": lambda gpu, x: rotate(gpu, x, RotateParams(90.0)),
    "uniform_filter": lambda gpu, x: uniform_filter(gpu, x, 3),
}
OTHERS = {
    "uint8": np.zeros((3, 64, 64), np.uint8),
    "float64": np.zeros((3, 64, 64)),
    "two axes": np.zeros((64, 64), np.float32),
    "four axes": np.zeros((1, 3, 64, 64), np.float32),
    "no rows": np.zeros((3, 0, 64), np.float32),
}


@each(other=OTHERS, name=OF_PLANES)
def test_images_that_are_no_planes_of_float32_are_refused(gpu, name, other) -> None:
    """Kernels would read beyond the end of what is smaller."""
    with pytest.raises(ParameterError, match=r"\(planes, height, width\) of float32 is needed, not \("):
        OF_PLANES[name](gpu, gpu.array(OTHERS[other]))


def test_median_of_an_image_keeps_its_type(gpu, rng) -> None:
    pixels = rng.integers(0, 255, (2, 9, 12), np.uint8)
    assert np.array_equal(median_filter(gpu, gpu.array(pixels), 3).numpy(), median_filter(gpu, pixels, 3))
    with pytest.raises(ParameterError, match="float64"):
        median_filter(gpu, gpu.array(pixels.astype(np.float64)), 3)


@pytest.mark.parametrize("of", [fourier.fftn, fourier.irfftn, real.dct, real.idstn])
def test_functions_of_arrays_refuse_images(gpu, of) -> None:
    with pytest.raises(ParameterError, match="takes arrays"):
        of(gpu, gpu.array(np.zeros((1, 4, 4), np.float32)))


@pytest.mark.parametrize("dtype", [">f4", ">f8", ">i2", ">u4"])
def test_images_have_the_machine_s_byte_order(gpu, rng, dtype) -> None:
    """FITS files have the other one."""
    values = (rng.random((2, 5, 7)) * 100).astype(dtype)
    image = gpu.array(values)
    assert image.dtype.isnative and image.dtype == values.dtype.newbyteorder("=")
    assert np.array_equal(image.numpy(), values)


@pytest.mark.parametrize("dtype", ["?", "u1", "i4", "i8", "f2", "f4", "f8", ">f8"])
def test_precision_is_that_of_scipy_and_pywavelets(gpu, rng, dtype) -> None:
    if dtype.endswith("f8") and not gpu.limits.double:
        pytest.skip("the device has no double precision")
    values = (rng.random((16, 24)) * 1023).astype(dtype)
    native = values.astype(values.dtype.newbyteorder("="))
    found = [
        (real.dct(gpu, values), scipy.fft.dct(native)),
        (real.idstn(gpu, values), scipy.fft.idstn(native)),
        (fourier.fft2(gpu, values), scipy.fft.fft2(native)),
        (fourier.irfft2(gpu, values), scipy.fft.irfft2(native)),
        (wavelets.dwt2(gpu, values, "db2")[0], pywt.dwt2(native, "db2")[0]),
        (wavelets.waverec2(gpu, [values, (values, None, values)], "haar"),
         pywt.waverec2([native, (native, None, native)], "haar")),
        (wavelets.wpdec2(gpu, values, "haar")["d"], pywt.dwt2(native, "haar")[1][2]),
        (wavelets.iswt2(gpu, wavelets.swt2(gpu, values, "db3", 2), "db3"),
         pywt.iswt2(pywt.swt2(native, "db3", 2), "db3")),
    ]  # fmt: skip
    if dtype != "f2":  # of which pywt.threshold makes halves
        for mode in ("soft", "hard", "garrote", "greater", "less"):
            theirs = native if native.dtype.kind == "f" else native.astype(np.float64)
            found.append(
                (wavelets.threshold(gpu, values, 300.25, mode, 7), pywt.threshold(theirs, 300.25, mode, 7))
            )
    if values.dtype.kind == "f":
        found.append((wavelets.dwt2(gpu, values * 1j, "db2")[1][2], pywt.dwt2(native * 1j, "db2")[1][2]))
    for number, (ours, theirs) in enumerate(found):
        double = theirs.real.dtype == np.float64 and gpu.limits.double
        assert not gpu.limits.double or ours.dtype == theirs.dtype, number
        limit = (1e-14 if double else 2e-6) * np.abs(theirs).max()
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=limit, err_msg=str(number))


@pytest.mark.parametrize("dtype", ["f4", ">f4", ">f8", "u1"])
def test_registration_of_two_types(gpu, rng, dtype) -> None:
    values = np.round(rng.random((32, 40)) * 255)
    shift, _, _ = phase_cross_correlation(gpu, values, np.roll(values, (3, -5), (0, 1)).astype(dtype))
    assert shift.tolist() == [-3, 5]


def test_numbers_in_place_of_sequences(gpu, rng) -> None:
    x = rng.random((4, 6, 5)).astype(np.float32)
    for ours, theirs in [
        (fourier.fftn, scipy.fft.fftn),
        (fourier.irfftn, scipy.fft.irfftn),
        (real.dctn, scipy.fft.dctn),
        (real.idstn, scipy.fft.idstn),
    ]:
        for options in [
            {"axes": np.int64(0)},
            {"s": 3, "axes": -2},
            {"s": (-1, 7)},
            {"axes": np.array([2, 0])},
        ]:
            wanted = theirs(x.astype(np.float64), **options)
            found = ours(gpu, x, **options)
            assert found.shape == wanted.shape
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-5 * np.abs(wanted).max())


def test_lengths_are_whole_numbers(gpu) -> None:
    with pytest.raises(TypeError):
        fourier.fft(gpu, np.zeros(4), 2.5)  # type: ignore[call-overload]
    with pytest.raises(ParameterError, match=r"shape \(3, 0, 4\)"):
        fourier.fft(gpu, np.zeros((3, 0, 4)), axis=0)
    with pytest.raises(ParameterError, match="planes, rows, columns"):
        fourier.fft2(gpu, gpu.array(np.zeros((4, 4), np.float32)))


@pytest.mark.parametrize("level", [1.5, 2.5, "2"])
def test_levels_are_whole_numbers(gpu, level) -> None:
    for function in (wavelets.wavedec2, wavelets.wpdec2):
        with pytest.raises(ParameterError, match="levels must be a whole number"):
            function(gpu, np.ones((16, 16)), "haar", level=level)


@pytest.mark.parametrize("name", [None, 3, pywt.Wavelet("db2")])
def test_wavelets_are_given_by_their_names(gpu, name) -> None:
    with pytest.raises(ParameterError, match="unknown wavelet"):
        wavelets.dwt2(gpu, np.ones((8, 8)), name)


@pytest.mark.parametrize("count", [0, -1])
def test_no_peaks_to_look_for(gpu, count) -> None:
    with pytest.raises(ParameterError, match="at least one"):
        peaks(gpu, gpu.array(np.ones((1, 8, 8), np.float32)), count)


def test_fast_lengths_are_the_smallest() -> None:
    for n in (0, -7):
        with pytest.raises(ParameterError, match="1 or more"):
            fourier.next_fast_len(n)
    smooth = sorted(
        2**a * 3**b * 5**c * 7**d for a in range(14) for b in range(9) for c in range(6) for d in range(5)
    )
    for n in range(1, 5000):
        assert fourier.next_fast_len(n) == next(m for m in smooth if m >= n)
    assert fourier.next_fast_len(10**15 + 1) >= 10**15 + 1


@pytest.mark.parametrize("make", [
    lambda: BlurParams((1, 2, 3)),  # type: ignore[arg-type]
    lambda: BlurParams(("a", 1)),  # type: ignore[arg-type]
    lambda: BlurParams(np.array([2.0, 2.0])),  # type: ignore[arg-type]
    lambda: ResizeParams(size=512),  # type: ignore[arg-type]
    lambda: ResizeParams(size=("a", "b")),  # type: ignore[arg-type]
])  # fmt: skip
def test_parameters_of_another_kind_are_refused(make) -> None:
    with pytest.raises(ParameterError, match=r"^(sigma|size) cannot be .*: give "):
        make()


@pytest.mark.parametrize("name", ["a.png", "a.tif", "a.ppm"])
def test_pictures_of_the_other_byte_order(tmp_path, rng, name) -> None:
    values = rng.integers(0, 65536, (3, 5, 3), np.uint16)
    picture = files.Picture(values.astype(">u2"))
    assert picture.pixels.dtype.isnative
    files.write(tmp_path / name, picture)
    assert np.array_equal(files.read(tmp_path / name).pixels, values)


@pytest.mark.parametrize("name", ["a.png", "a.tif", "a.ppm", "a.bmp", "a.tga", "a.npz"])
def test_pixels_that_were_read_can_be_changed(tmp_path, name) -> None:
    files.write(tmp_path / name, files.Picture(np.zeros((2, 3, 3), np.uint8)))
    pixels = files.read(tmp_path / name).pixels
    pixels[0, 0] = 7
    assert pixels.sum() == 21
