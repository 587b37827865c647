"""The spectrum of an image and back, and pictures of it."""

from __future__ import annotations

from dataclasses import replace
from math import log, pi, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError, check_name
from ..files.operands import luminance_of, picture
from ..gpu import Argument, Gpu
from ..image import COMPLEX_HALF, Image, Part
from ..params.fft import FILTERS, ODD, SHAPES, VIEWS, FrequencyFilter, SpectrumParams
from ..params.files import FileOperand
from ..pixels.coding import Decoding, Encoding, pack, unpack
from ..space import Space
from ..tiles.planes import planewise, planewise_to_host
from . import of_pixels
from .api import problem_of
from .engine.radices import next_fast_len
from .engine.transform import plan

Array = npt.NDArray[Any]

#: Where a window is below this factor, an image cannot be restored: rounding errors would grow as much.
LEAST_WINDOW = 1e-4
# About how many numbers of a spectrum a picture's black and white are chosen by.
_SAMPLE = 1 << 20
# Bytes of a window's factors that are counted at a time.
_AT_ONCE = 1 << 24


def spectrum(gpu: Gpu, image: Image, params: SpectrumParams) -> Image:
    """Window, transform, filter, shift: planar float32 Image → complex Image (planes, rows, columns).

    Raises ParameterError for NaN or infinite pixels, which a transform spreads over everything.
    """
    _, rows, columns = image.shape
    image = weighed(gpu, image, params)
    size = padded((rows, columns), params.pad)
    made = image.shape[0], size[0], size[1] // 2 + 1 if params.half else size[1]
    values = plan(gpu, problem_of(params, "r2c", 2, image.shape, made, size))(image)
    if values.dtype != COMPLEX_HALF:  # halves have a smaller range: Record.arrays checks them
        check_finite(values)
    multiply(gpu, values, size, params.filter, params.mask, size)
    return shifted(gpu, values, params.half) if params.shift else values


def weighed(gpu: Gpu, image: Image, params: SpectrumParams) -> Image:
    """The image in the precision of a transform, times its window; its ``part`` says which rows of a picture it has."""
    part = image.part
    if params.precision == "double":
        image = gpu.array(image.numpy().astype(np.float64))
        image.part = part
    return image if params.window == "none" else windowed(gpu, image, params.window)


def unweighed(gpu: Gpu, image: Image, params: SpectrumParams) -> Image:
    """The inverse of :func:`weighed`: float32, divided by the window."""
    if params.window != "none":
        image = windowed(gpu, image, params.window, divide=True)
    return image if image.dtype == np.float32 else gpu.array(image.numpy().astype(np.float32))


def values_of(gpu: Gpu, pixels: Image, decoding: Decoding, params: SpectrumParams) -> npt.NDArray[np.generic]:
    """:func:`spectrum` of pixels (height, width, channels), on the host: complex64, complex128 or COMPLEX_HALF."""
    image = unpack(pixels, decoding)
    return planewise_to_host(image.shape[0], image.nbytes, lambda at: spectrum(gpu, image.planes(at), params))


def image_of(
    gpu: Gpu,
    values: npt.NDArray[np.generic],
    size: tuple[int, int],
    transform: tuple[int, int],
    params: SpectrumParams,
) -> Image:
    """The image whose :func:`spectrum` is ``values``: ``size`` of the image, ``transform`` after padding."""

    def image(at: slice) -> Image:
        part = gpu.array(values[at])
        if params.shift:
            part = shifted(gpu, part, params.half, back=True)
        return unweighed(gpu, of_pixels.back(gpu, part, size, transform, params), params)

    return planewise(len(values), values.nbytes, image)


def pixels_of(
    gpu: Gpu,
    values: npt.NDArray[np.generic],
    size: tuple[int, int],
    transform: tuple[int, int],
    params: SpectrumParams,
    encoding: Encoding,
    alpha: bool,
) -> tuple[Image, Image]:
    """:func:`image_of` as pixels, and counts of what did not fit: as :func:`gpuops.pixels.coding.pack` gives them."""
    image = image_of(gpu, values, size, transform, params)
    image.alpha = alpha
    return pack(image, encoding)


def picture_of_pixels(
    gpu: Gpu, pixels: Image, decoding: Decoding, params: SpectrumParams, view: str, *, shaded: bool = True
) -> Image:
    """A picture of the spectrum of the colours of pixels (height, width, channels): values 0 … 1, to be stored as they
    are. Unless it is to be ``shaded``, it has the numbers themselves, as a ``view`` of
    :data:`gpuops.params.fft.VIEWS` names them.

    Magnitudes are scaled to the brightest value, 1 in 10000 left out; their logarithm begins at the darkest 1 % and
    covers six powers of ten at most. Phases go from −π to π; real and imaginary parts are around medium gray. Raises
    ParameterError as :func:`spectrum`.
    """
    half = half_view_of_pixels(gpu, pixels, decoding, params, view)
    rows, columns = half.shape[1], padded((1, pixels.shape[1]), params.pad)[1]
    sample = half.numpy().ravel()[:: every(prod(half.shape))] if shaded else None
    middle = (rows // 2, columns // 2) if params.shift else (0, 0)
    return whole_view(gpu, half, columns, middle, view, None if sample is None else levels(sample, view))


def half_view_of_pixels(
    gpu: Gpu, pixels: Image, decoding: Decoding, params: SpectrumParams, view: str
) -> Image:
    """Columns 0 … n // 2 of the numbers that a ``view`` of pixels (height, width, channels) has, with frequency 0 at
    the first one: (colours, rows, n // 2 + 1)."""
    check_name("view", view, VIEWS)
    image, how = unpack(pixels, decoding).without_alpha(), of_picture(params)
    return planewise(
        image.shape[0], image.nbytes, lambda at: viewed(gpu, spectrum(gpu, image.planes(at), how), view)
    )


def of_picture(params: SpectrumParams) -> SpectrumParams:
    """The parameters of the spectrum that a picture is made from."""
    return replace(params, half=True, shift=False)


def whole_view(
    gpu: Gpu,
    half: Image,
    columns: int,
    middle: tuple[int, int],
    view: str,
    levels: tuple[float, float] | None,
) -> Image:
    """All of half a view, (planes, rows, columns // 2 + 1), with frequency 0 at ``middle``: shades between the
    ``levels`` of black and white, or the numbers themselves."""
    planes, rows, _ = half.shape
    result = gpu.empty((planes, rows, columns))
    result.linear = False
    if levels is None:
        result.space = Space(as_is=True, unknown="numbers of a spectrum")
    low, high = levels or (0.0, 1.0)
    gain = 1.0 / (high - low) if high > low else 1.0
    _launch(
        gpu, "spectrum_levels", half, (columns, rows, planes), half, result, rows, columns, *middle,
        view in ODD, levels is not None, low, gain, traffic=half.nbytes + result.nbytes,
    )  # fmt: skip
    return result


def viewed(gpu: Gpu, values: Image, view: str) -> Image:
    """The real numbers that a picture shows of complex ones."""
    result = gpu.empty(values.shape)
    count, lanes = int(np.prod(values.shape)), gpu.limits.lanes
    _launch(
        gpu, "spectrum_view", values, -(-count // lanes), values, result, count, VIEWS.index(view),
        traffic=values.nbytes + result.nbytes, lanes=lanes,
    )  # fmt: skip
    return result


def every(count: int) -> int:
    """The step from one number of the sample for :func:`levels` to the next, among ``count`` numbers."""
    return max(1, count // _SAMPLE)


def levels(sample: npt.NDArray[Any], view: str) -> tuple[float, float]:
    """The values that are shown black and white, chosen by a sample of all values."""
    if view == "phase":
        return -pi, pi
    low, high, brightest = (float(v) for v in np.percentile(sample.astype(np.float64), (1, 99, 99.99)))
    if view == "log-magnitude":
        return max(low, brightest - log(1e6)), brightest
    if view in ("real", "imag"):
        most = max(abs(low), abs(high))
        return -most, most
    return 0.0, brightest


def check_finite(values: Image) -> None:
    """Raises ParameterError for pixels that are not finite: frequency 0 is the sum of all pixels, and shows them."""
    if not np.isfinite(values.pixel(0, 0)).all():
        raise ParameterError("has pixels that are NaN or infinite, which a transform spreads over all of it")


def padded(size: tuple[int, int], pad: str) -> tuple[int, int]:
    """The transform's size for an image of ``size``."""
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
    """The number of an image's pixels that a window makes too small to be restored."""
    if name == "none":
        return 0
    y, x = (window(name, n).astype(np.float32) for n in size)
    count = max(1, _AT_ONCE // x.nbytes)
    parts = (np.multiply.outer(y[at : at + count], x) for at in range(0, len(y), count))
    return sum(int(np.count_nonzero(part < LEAST_WINDOW)) for part in parts)


def shifted(gpu: Gpu, values: Image, half: bool, back: bool = False) -> Image:
    """Moves frequency 0 to the middle of the rows, and of the columns unless they are half a spectrum; or ``back``."""
    planes, rows, columns = values.shape
    dy, dx = rows // 2, 0 if half else columns // 2
    if back:
        dy, dx = rows - dy, columns - dx
    result = values.like()
    _launch(
        gpu, "spectrum_shift", values, planes * rows * columns, values, result, planes, rows, columns, dy, dx
    )
    return result


def multiply(
    gpu: Gpu,
    values: Image,
    transform: tuple[int, int],
    filter_: FrequencyFilter | None,
    mask: FileOperand | None,
    size: tuple[int, int],
    first: int = 0,
) -> None:
    """Multiplies the spectrum over ``transform``, or its columns from ``first`` on, by what is given, in place.

    ``size``: the mask's. Raises ParameterError as :func:`mask_factors`.
    """
    if filter_ is not None:
        _filter(gpu, values, transform, filter_, first)
    if mask is not None:
        _mask(gpu, values, mask, size, transform, first)


def _filter(gpu: Gpu, values: Image, size: tuple[int, int], f: FrequencyFilter, first: int) -> None:
    planes, rows, columns = values.shape
    notches = gpu.array(np.array(f.notches or [(0, 0, 0)], np.float32))  # a kernel needs some memory
    _launch(
        gpu, "spectrum_filter", values, planes * rows * columns, values, planes, columns, first, size,
        FILTERS.index(f.kind), SHAPES.index(f.shape), f.order, f.low, f.high, notches, len(f.notches),
    )  # fmt: skip


def _mask(
    gpu: Gpu, values: Image, mask: FileOperand, size: tuple[int, int], transform: tuple[int, int], first: int
) -> None:
    planes, rows, columns = values.shape
    factors = gpu.kept(
        ("factors", mask, size, transform), lambda: gpu.array(mask_factors(mask, size, transform))
    )
    _launch(
        gpu, "spectrum_mask", values, planes * rows * columns, values, factors, planes, rows, columns, first,
        factors.shape[1],
    )  # fmt: skip


def mask_factors(operand: FileOperand, size: tuple[int, int], transform: tuple[int, int]) -> Array:
    """Returns the numbers by which a mask multiplies a spectrum: float32, the transform's rows and columns.

    The mask's picture has frequency 0 at (rows // 2, columns // 2). Black is 0 and white 1; floats count as they are.
    The factor of a frequency is the mean of its place and the opposite one: filtered pictures are real.

    Parameters
    ----------
    size, transform : (int, int)
        Rows and columns of the mask, and of the transform: as many, or twice as many. Between the mask's places its
        values are interpolated.

    Raises
    ------
    ParameterError
        A mask of another size, or with values that are not finite.
    """
    mask = picture(operand)
    if (mask.height, mask.width) != size:
        raise ParameterError(
            f"{operand}: the mask has {mask.width} × {mask.height} pixels and the spectrum {size[1]} × {size[0]}: "
            "resize it"
        )
    values = luminance_of(mask)[0]
    if not np.isfinite(values).all():
        raise ParameterError(f"{operand}: a mask needs finite values")
    values = np.fft.ifftshift(values)
    values = (values + np.roll(values[::-1, ::-1], 1, (0, 1))) / 2
    for axis in (0, 1):
        if transform[axis] == 2 * size[axis]:
            values = _doubled(values, axis)
    assert values.shape == transform
    multiply_by: Array = values.astype(np.float32)
    return multiply_by


def _doubled(values: Array, axis: int) -> Array:
    """Returns values of a periodic function, and those half-way between them by linear interpolation."""
    between = (values + np.roll(values, -1, axis)) / 2
    shape = [*values.shape]
    shape[axis] *= 2
    result: Array = np.stack([values, between], axis + 1).reshape(shape)
    return result


def offset(gpu: Gpu, image: Image, by: float) -> Image:
    """Adds a number to the colours of a planar float32 Image, premultiplied where it has alpha, in place."""
    count = prod(image.shape[1:])
    _launch(
        gpu, "spectrum_offset", image, image.colours * count, image, image.colours, np.uint64(count), by,
        ALPHA=image.alpha,
    )  # fmt: skip
    return image


def windowed(gpu: Gpu, image: Image, name: str, divide: bool = False) -> Image:
    """The image times the window of the whole picture, or divided by it; its ``part`` says which rows it has."""
    planes, rows, columns = image.shape
    result = image.like()
    part = image.part or Part(0, rows)
    down = window(name, part.height)[part.first : part.first + rows]
    y, x = (gpu.array(factors.astype(np.float32)) for factors in (down, window(name, columns)))
    _launch(
        gpu, "spectrum_window", image, planes * rows * columns, image, y, x, result, planes, rows, columns,
        LEAST_WINDOW, DIVIDE=divide,
    )  # fmt: skip
    return result


def _launch(
    gpu: Gpu,
    name: str,
    like: Image,
    size: int | tuple[int, int, int],
    *args: Argument,
    traffic: int | None = None,
    lanes: int = 1,
    **defines: bool,
) -> None:
    real = "double" if like.dtype.name in ("float64", "complex128") else "float"
    half = like.dtype == COMPLEX_HALF
    gpu.compute(
        ("lanes", "spectrum"), name, (size,) if isinstance(size, int) else size, *args, group=256,
        label=name.replace("_", " "), traffic=2 * like.nbytes if traffic is None else traffic, REAL=real, WIDTH=lanes,
        STORED_HALF=half, **defines,
    )  # fmt: skip
