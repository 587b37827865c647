"""The spectrum of an image and back, and pictures of it."""

from __future__ import annotations

from math import log, pi
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError
from ..image import Image
from ..params.fft import FILTERS, SHAPES, VIEWS, FilterParams, SpectrumParams
from .api import run
from .planner import next_fast_len

if TYPE_CHECKING:
    from ..gpu import Argument, Gpu

#: Where a window is below this, its image cannot be restored: rounding errors would grow as much.
LEAST_WINDOW = 1e-4


def spectrum(gpu: Gpu, image: Image, params: SpectrumParams) -> Image:
    """Window, transform, filter, shift: planar float32 Image → complex Image (planes, rows, columns)."""
    _, rows, columns = image.shape
    if params.precision == "double":
        image = gpu.array(image.numpy().astype(np.float64))
    if params.window != "none":
        image = _windowed(gpu, image, (rows, columns), params.window)
    size = padded((rows, columns), params.pad)
    result = run(gpu, image, "r2c" if params.half else "c2c", False, size, params.norm, params.how)
    if params.filter is not None:
        result = _filtered(gpu, result, size, params.filter)
    return shifted(gpu, result, params.half) if params.shift else result


def image_of(
    gpu: Gpu,
    values: Image,
    size: tuple[int, int],
    transform: tuple[int, int],
    params: SpectrumParams,
) -> Image:
    """The image whose :func:`spectrum` is ``values``: ``size`` of the image, ``transform`` after padding."""
    if params.shift:
        values = shifted(gpu, values, params.half, back=True)
    kind = "c2r" if params.half else "c2c"
    result = run(gpu, values, kind, True, transform, params.norm, params.how)
    if size != transform or params.window != "none" or not params.half:
        result = _windowed(gpu, result, size, params.window, divide=True)
    return result if result.dtype == np.float32 else gpu.array(result.numpy().astype(np.float32))


def picture(gpu: Gpu, image: Image, params: SpectrumParams, view: str) -> Image:
    """A picture of the spectrum of an image's colours, to be looked at: values 0 … 1, to be stored as they are.

    Magnitudes are scaled to the brightest values but for 1 in 10000, their logarithm from the darkest 1 % on (six
    powers of ten at most); phases from −π to π; real and imaginary parts around medium gray.
    """
    values = spectrum(gpu, without_alpha(image), params)
    if view not in VIEWS:
        raise ParameterError(f"unknown view {view!r}: use one of {', '.join(VIEWS)}")
    count = int(np.prod(values.shape))
    raw, result = gpu.empty(values.shape), gpu.empty(values.shape)
    _launch(gpu, "spectrum_view", values, count, values, raw, count, VIEWS.index(view))
    if view == "phase":
        low, high = -pi, pi
    else:
        sample = raw.numpy().ravel()[:: max(1, count // 2**20)].astype(np.float64)
        low, high = (float(v) for v in np.percentile(sample, (1, 99.99)))
        if view == "log-magnitude":
            low = max(low, high - log(1e6))
        elif view in ("real", "imag"):
            high = max(abs(low), abs(float(np.percentile(sample, 99))))
            low = -high
        else:
            low = 0.0
    gain = 1.0 / (high - low) if high > low else 1.0
    _launch(gpu, "spectrum_levels", raw, count, raw, result, count, float(low), float(gain))
    result.linear = False
    return result


def without_alpha(image: Image) -> Image:
    """The colour planes of an image, sharing its memory: alpha is the last plane."""
    shape = (image.colours, *image.shape[1:])
    return Image(image.gpu, image.buffer, shape, image.dtype, linear=image.linear)


def padded(size: tuple[int, int], pad: str) -> tuple[int, int]:
    """The transform's size for an image's."""
    if pad == "none":
        return size
    rows, columns = (
        1 << (n - 1).bit_length() if pad == "pow2" else next_fast_len(n) if pad == "fast" else n + int(pad)
        for n in size
    )
    return rows, columns


def window(name: str, n: int) -> npt.NDArray[np.float64]:
    """A periodic window of ``n`` points (scipy.signal.get_window), computed in float64."""
    terms = {"none": (1.0,), "hann": (0.5, 0.5), "hamming": (0.54, 0.46), "blackman": (0.42, 0.5, 0.08)}[name]
    if n == 1:
        return np.ones(1)
    angle = 2 * np.pi * np.arange(n) / n
    values: npt.NDArray[np.float64] = np.sum(
        [(-1) ** k * a * np.cos(k * angle) for k, a in enumerate(terms)], axis=0
    )
    return values


def lost_pixels(name: str, size: tuple[int, int]) -> int:
    """How many pixels of an image a window makes too small to be restored."""
    if name == "none":
        return 0
    y, x = (window(name, n).astype(np.float32) for n in size)
    return int(np.count_nonzero(np.multiply.outer(y, x) < LEAST_WINDOW))


def shifted(gpu: Gpu, values: Image, half: bool, back: bool = False) -> Image:
    """Frequency 0 to the middle of rows, and of columns unless they are half a spectrum's; or back."""
    planes, rows, columns = values.shape
    dy, dx = rows // 2, 0 if half else columns // 2
    if back:
        dy, dx = rows - dy, columns - dx
    result = values.like()
    _launch(
        gpu, "spectrum_shift", values, planes * rows * columns, values, result, planes, rows, columns, dy, dx
    )
    return result


def _filtered(gpu: Gpu, values: Image, size: tuple[int, int], f: FilterParams) -> Image:
    planes, rows, columns = values.shape
    result = values.like()
    _launch(
        gpu, "spectrum_filter", values, planes * rows * columns, values, result, planes, columns, size,
        FILTERS.index(f.kind), SHAPES.index(f.shape), f.order, f.low, f.high, f.centre,
    )  # fmt: skip
    return result


def _windowed(gpu: Gpu, image: Image, size: tuple[int, int], name: str, divide: bool = False) -> Image:
    """The real part, cropped to ``size``, times the window, or divided by it."""
    planes, in_rows, in_columns = image.shape
    rows, columns = size
    double = image.dtype.name in ("float64", "complex128")
    result = image.like((planes, rows, columns), np.float64 if double else np.float32)
    y, x = (None, None) if name == "none" else (gpu.array(window(name, n).astype(np.float32)) for n in size)
    _launch(
        gpu, "spectrum_window", image, planes * rows * columns, image, y, x, result, planes, in_rows, in_columns,
        rows, columns, LEAST_WINDOW, COMPLEX=image.dtype.kind == "c", DIVIDE=divide,
    )  # fmt: skip
    return result


def _launch(gpu: Gpu, name: str, like: Image, size: int, *args: Argument, **defines: bool) -> None:
    real = "double" if like.dtype.name in ("float64", "complex128") else "float"
    kernel = gpu.kernel("spectrum", name, REAL=real, **defines)
    gpu.launch(
        kernel, (size,), *args, local=kernel.fit(256), label=name.replace("_", " "), traffic=2 * like.nbytes
    )
