"""Convolution against scipy and numpy in float64."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import ndimage

from gpuops import DeviceError, GpuopsWarning, ParameterError
from gpuops.files import Picture
from gpuops.filters.convolve import convolve, kernel_for, kernel_from_picture
from gpuops.params.border import BORDERS

from .choices import each
from .reference import borders
from .reference.filters import convolved as expected
from .tolerance import CONVOLVE as TOLERANCE
from .tolerance import ROUNDINGS

METHODS = tuple(TOLERANCE)
# image, kernel: one pixel; a row; even; beyond one block of 16 taps; a vector of 32 with and without edges; the tile
# 16 × 64 ± 1; a kernel larger than the image
CASES = [
    ((1, 1), (1, 1)), ((1, 1), (3, 3)), ((1, 40), (1, 5)), ((37, 1), (4, 1)), ((5, 3), (2, 2)),
    ((33, 130), (3, 3)), ((33, 130), (17, 18)), ((65, 17), (16, 33)), ((64, 64), (1, 40)),
    ((7, 9), (20, 31)),
]  # fmt: skip


def close(result: np.ndarray, wanted: np.ndarray, x: np.ndarray, w: np.ndarray, method: str) -> None:
    assert result.shape == wanted.shape and result.dtype == np.float32
    assert np.abs(result - wanted).max() <= TOLERANCE[method] * np.abs(w).sum() * np.abs(x).max()


@each(method=METHODS, mode=BORDERS, shape__size=CASES)
def test_is_its_definition(gpu, rng, shape, size, mode, method) -> None:
    x, w = rng.standard_normal(shape), rng.standard_normal(size)
    close(convolve(gpu, x, w, mode=mode, cval=0.7, method=method), expected(x, w, mode, 0.7), x, w, method)


@pytest.mark.cases(1)
@pytest.mark.parametrize("method", METHODS)
def test_is_scipys(gpu, rng, method) -> None:
    x, w = rng.standard_normal((2, 40, 50)), rng.standard_normal((6, 9))
    for mode in BORDERS:
        wanted = np.stack([borders.filtered(ndimage.convolve, p, w, mode=mode, reach=9, cval=-2) for p in x])
        close(convolve(gpu, x, w, mode=mode, cval=-2, method=method), wanted, x, w, method)


@pytest.mark.parametrize("method", METHODS)
def test_a_kernel_for_each_plane(gpu, rng, method) -> None:
    x, w = rng.standard_normal((3, 40, 50)), rng.standard_normal((3, 5, 4))
    wanted = np.stack([ndimage.convolve(p, k) for p, k in zip(x, w, strict=True)])
    close(convolve(gpu, x, w, method=method), wanted, x, w, method)


@pytest.mark.parametrize("method", ["direct", "local"])
def test_more_taps_than_one_launch_takes(gpu, rng, method) -> None:
    x, w = rng.standard_normal((20, 100)), rng.standard_normal((130, 120))
    close(convolve(gpu, x, w, method=method), expected(x, w, "reflect", 0), x, w, method)


def test_image_in_image_out(gpu, rng) -> None:
    x, w = rng.random((4, 20, 30)).astype(np.float32), rng.random((3, 3)).astype(np.float32)
    image = gpu.array(x)
    image.alpha = True
    result = convolve(gpu, image, gpu.array(w))
    assert result.alpha and result.shape == image.shape
    assert np.array_equal(result.numpy(), convolve(gpu, x, w)) and np.array_equal(image.numpy(), x)


def test_nan_reaches_as_far_as_the_kernel(gpu) -> None:
    x = np.ones((30, 60))
    x[10, 20] = np.nan
    for method in ("direct", "local"):
        result = convolve(gpu, x, np.ones((3, 5)), method=method)
        assert np.isnan(result[9:12, 18:23]).all() and np.isnan(result).sum() == 15
    with pytest.raises(ParameterError, match=r"the image has NaN or infinite pixels.*--method direct"):
        convolve(gpu, x, np.ones((3, 5)), method="fft")


@pytest.mark.parametrize(("weights", "message"), [
    (np.ones((2, 3, 3)), r"\(rows, columns\) or \(3, rows, columns\) for 3 planes"),
    (np.ones(3), "weights must be"),
    (np.ones((0, 3)), "weights must be"),
    (np.full((2, 2), np.nan), "4 values that are not finite"),
    (np.array([[1, np.inf]]), "1 value that is not finite"),
    (np.array([[1, 1e39]]), "1 value that is not finite"),  # it overflows in float32
    (np.ones((2, 2), complex), "real weights"),
])  # fmt: skip
def test_refused_weights(gpu, weights, message) -> None:
    with pytest.raises(ParameterError, match=message):
        convolve(gpu, np.ones((3, 5, 5)), weights)


def test_refused_parameters(gpu) -> None:
    x, w = np.ones((3, 3)), np.ones((1, 1))
    with pytest.raises(ParameterError, match="unknown border 'round'"):
        convolve(gpu, x, w, mode="round")
    with pytest.raises(ParameterError, match="unknown method 'fast': use one of auto"):
        convolve(gpu, x, w, method="fast")
    with pytest.raises(ParameterError, match="constant must be finite"):
        convolve(gpu, x, w, mode="constant", cval=float("nan"))
    with pytest.raises(ParameterError, match="two or more dimensions"):
        convolve(gpu, np.ones(3), w)


def test_kernel_of_a_picture(gpu, rng) -> None:
    floats = rng.random((4, 5, 3)).astype(np.float32)
    plain = kernel_from_picture(gpu, Picture(floats, linear=True), normalise=False)
    np.testing.assert_array_equal(plain, floats.transpose(2, 0, 1))
    scaled = kernel_from_picture(gpu, Picture(floats, linear=True), normalise=True)
    np.testing.assert_allclose(scaled.sum((1, 2)), 1)
    codes = np.array([[[0], [188], [255]]], np.uint8)
    linear = kernel_from_picture(gpu, Picture(codes), normalise=False)
    np.testing.assert_allclose(linear, [[[0, 0.502886, 1]]], rtol=0, atol=ROUNDINGS)  # IEC 61966-2-1


def test_alpha_of_a_kernel_is_ignored(gpu) -> None:
    pixels = np.array([[[3.0, 0.5]]], np.float32)
    with pytest.warns(GpuopsWarning, match="alpha is ignored"):
        kernel = kernel_from_picture(gpu, Picture(pixels, alpha=True, linear=True), normalise=False)
    assert kernel.tolist() == [[[3.0]]]


def test_refused_kernels(gpu) -> None:
    def read(values: list[list[float]], *, normalise: bool = True) -> None:
        kernel_from_picture(
            gpu, Picture(np.array(values, np.float32)[..., None], linear=True), normalise=normalise
        )

    for values in ([[0.0, 0.0]], [[-1.0, 1.0]], [[0.1, -0.3], [0.1, 0.1]]):
        with pytest.raises(ParameterError, match="sum to 0: use --no-normalise"):
            read(values)
        read(values, normalise=False)
    with pytest.raises(ParameterError, match="1 value that is not finite"):
        read([[float("nan"), 1.0]], normalise=False)


def test_kernel_for_the_planes_there_are(gpu) -> None:
    gray, colour = np.ones((1, 2, 2)), np.arange(12.0).reshape(3, 2, 2)
    rgb, mono = gpu.empty((3, 4, 4)), gpu.empty((1, 4, 4))
    rgba = gpu.empty((4, 4, 4))
    rgba.alpha = True
    assert kernel_for(rgb, gray) is gray and kernel_for(rgb, colour) is colour
    assert np.array_equal(kernel_for(rgba, colour), np.concatenate([colour, colour.mean(0)[None]]))
    with pytest.warns(GpuopsWarning, match="their mean is used"):
        assert np.array_equal(kernel_for(mono, colour), colour.mean(0)[None])


def test_rows_beyond_local_memory(gpu, rng, monkeypatch) -> None:
    """A row of pairs and its mirror image must fit: else the transform is refused, and not chosen."""
    monkeypatch.setitem(vars(gpu), "limits", replace(gpu.limits, local_bytes=128))
    x, w = rng.random((30, 40)), rng.random((18, 18))
    with pytest.raises(
        DeviceError, match=r"rows of 60 points do not fit .* local memory: choose another method"
    ):
        convolve(gpu, x, w, method="fft")
    close(convolve(gpu, x, w), expected(x, w, "reflect", 0), x, w, "direct")


#: No kernel leaves everything as it is by its declaration alone.
IDENTITIES: list[object] = []
