"""The spectrum of an image axis by axis: some rows at a time, and then some columns at a time; and what that takes.

This is for devices that have no room for a whole transform. Each of the first functions does the part of
:mod:`gpuops.fourier.spectrum` for one axis. The others tell how much of a device's memory a spectrum takes, as a whole
or axis by axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from ..errors import ParameterError
from ..gpu import Gpu
from ..image import COMPLEX_HALF, Image, Part
from ..params.fft import SpectrumParams
from ..tiles.memory import ROUNDED, no_room
from ..tiles.planes import in_turn
from ..tiles.rectangles import cut
from .api import problem_of
from .engine.passes import passes
from .engine.problem import Problem
from .engine.radices import next_fast_len
from .engine.transform import plan
from .spectrum import check_finite, multiply, unweighed, weighed
from .spectrum import padded as padded_size

Size = tuple[int, int]
Shape = tuple[int, int, int]

# Bytes of a part on the device, rows or columns: larger parts are no faster.
ENOUGH = 1 << 26
# Columns that a work-item takes together, at most.
LANES = 8
# Rows, or columns, whose memory is computed together to get the memory of one.
SEVERAL = 64
# Tables of complex numbers, each as long as an axis or as its convolution, that transforms of one axis keep.
_TABLES = 5
# Bytes that counts, windows and other small things take.
_SMALL = 1 << 14


def stored(params: SpectrumParams) -> np.dtype[np.generic]:
    """The type of a spectrum's numbers."""
    kinds = {"half": COMPLEX_HALF, "single": np.dtype(np.complex64), "double": np.dtype(np.complex128)}
    return kinds[params.precision]


def width(transform: Size, params: SpectrumParams) -> int:
    """The columns of a spectrum over ``transform`` (rows, columns)."""
    return transform[1] // 2 + 1 if params.half else transform[1]


def of_rows(gpu: Gpu, image: Image, transform: Size, params: SpectrumParams) -> Image:
    """Window, and transform of rows: planar float32 → (planes, rows, columns of the spectrum).

    The image's ``part`` says which rows of a picture it has.
    """
    return plan(gpu, along(image.shape, transform, params))(weighed(gpu, image, params))


def of_columns(gpu: Gpu, panel: Image, first: int, transform: Size, params: SpectrumParams) -> Image:
    """Transform of columns, padded with zeros, filter and mask: columns of a spectrum from ``first`` on.

    Raises ParameterError for NaN or infinite pixels, which a transform spreads over everything.
    """
    planes, _, columns = panel.shape
    shape = planes, transform[0], columns
    values = plan(gpu, down(panel.shape, shape, transform[0], params, inverse=False))(panel)
    if first == 0 and values.dtype != COMPLEX_HALF:  # halves have a smaller range
        check_finite(values)
    multiply(gpu, values, transform, params.filter, params.mask, transform, first)
    return values


def columns_back(gpu: Gpu, panel: Image, rows: int, params: SpectrumParams) -> Image:
    """Inverse transform of columns of a spectrum; only the first ``rows`` rows are wanted."""
    planes, points, columns = panel.shape
    return plan(gpu, down(panel.shape, (planes, rows, columns), points, params, inverse=True))(panel)


def rows_back(
    gpu: Gpu, values: Image, columns: int, wanted: int, params: SpectrumParams, *, first: int, height: int
) -> Image:
    """Inverse transform of rows ``first``, … of a picture of ``height`` rows, divided by the window: planar float32.

    The transform has ``columns`` points, the picture ``wanted`` columns.
    """
    image = plan(gpu, along_back(values.shape, columns, params))(values)
    if wanted < columns:
        image = cut(image, (0, 0), (image.shape[1], wanted))
    if params.window != "none":
        image.part = Part(first, height)
    return unweighed(gpu, image, params)


def down(given: Sequence[int], made: Shape, points: int, params: SpectrumParams, *, inverse: bool) -> Problem:
    """The transform of columns of ``points``: arrays of the shape ``given`` become arrays of the shape ``made``."""
    return problem_of(params, "c2c", 1, given, made, (points, made[2]), inverse=inverse, down=True)


def along(shape: Sequence[int], transform: Size, params: SpectrumParams) -> Problem:
    """The transform of rows of a real image."""
    planes, rows, _ = shape
    made = planes, rows, width(transform, params)
    return problem_of(params, "r2c", 1, shape, made, (rows, transform[1]))


def along_back(shape: Sequence[int], columns: int, params: SpectrumParams) -> Problem:
    """The inverse transform of rows of a spectrum of this shape, over ``columns`` points, whose result is real."""
    planes, rows, _ = shape
    kind, made = "c2r" if params.half else "c2c", (planes, rows, columns)
    return problem_of(params, kind, 1, shape, made, (rows, columns), inverse=True, reals=not params.half)


# -- the device's memory ------------------------------------------------------------------------------------------


class Parts(NamedTuple):
    """How many rows of all planes, and how many columns of one plane, are on the device at a time."""

    rows: int
    columns: int


def fits(gpu: Gpu, pixels: Shape, nbytes: int, params: SpectrumParams, *, inverse: bool = False) -> bool:
    """Whether a device has room for the transform of a picture as a whole.

    ``pixels`` is the picture's shape (height, width, channels), and ``nbytes`` what its pixels take.
    """
    height, wide, channels = pixels
    limits, size = gpu.limits, padded(pixels, params)
    planes = in_turn(channels, 4 * prod(pixels))[0].stop
    spectrum = planes, size[0], width(size, params)
    image = planes, height, wide
    item = stored(params).itemsize
    if inverse:
        kind = "c2r" if params.half else "c2c"
        problem = problem_of(params, kind, 2, spectrum, image, size, inverse=True, reals=not params.half)
    else:
        problem = problem_of(params, "r2c", 2, image, spectrum, size)
    try:
        needed = peak(gpu, problem)
    except ParameterError:  # beyond what its addresses reach
        return False
    after = 2 * prod(spectrum) * item if inverse or params.filter or params.shift else 0
    after += 4 * prod(size) if params.mask else 0
    needed += nbytes + 4 * prod(pixels) + after + tables(size, params) + _SMALL
    largest = max(prod(spectrum) * item, nbytes, 4 * prod(pixels))
    return needed * ROUNDED <= limits.global_bytes and largest <= limits.max_alloc_bytes


def padded(pixels: Shape, params: SpectrumParams) -> Size:
    """The transform's size for a picture of the shape (height, width, channels)."""
    return padded_size((pixels[0], pixels[1]), params.pad)


def parts(gpu: Gpu, pixels: Shape, row: int, params: SpectrumParams, *, planes_beside: int = 0) -> Parts:
    """How much of each axis a device has room for at a time.

    Parameters
    ----------
    pixels
        The picture's shape (height, width, channels).
    row
        The bytes of a row of its file's pixels.
    planes_beside
        Copies of a row's planes that a conversion takes.

    Raises
    ------
    DeviceError
        There is no room for a single row, or a single column.
    """
    height, wide, channels = pixels
    limits, size = gpu.limits, padded(pixels, params)
    columns, item = width(size, params), stored(params).itemsize
    fixed = tables(size, params) + _SMALL + (4 * prod(size) if params.mask else 0)
    real = 4 * channels * wide
    double = params.precision == "double"
    copies = (1 + (params.window != "none") + planes_beside) * (3 if double else 1)
    each = row_peak(gpu, (channels, height, wide), size, params) + (copies + 2) * real + 3 * row
    after = (1 if params.filter is not None else 0) + 1
    column = column_peak(gpu, height, size, params) + after * size[0] * item
    room = limits.global_bytes / ROUNDED - fixed
    counts = []
    for what, most, bytes_, one in (
        ("rows", height, each, max(real * (2 if double else 1), channels * columns * item)),
        ("columns", columns, column, size[0] * item),
    ):
        fitting = int(room // bytes_)
        if fitting < 1 or one > limits.max_alloc_bytes:
            words = f"{what} of a transform of {size[0]}×{size[1]} need"
            raise no_room(gpu, words, (fixed + bytes_) * ROUNDED)
        counts.append(min(most, fitting, limits.max_alloc_bytes // one, max(1, ENOUGH // one)))
    rows, columns = counts
    return Parts(rows, whole_lanes(columns))


def whole_lanes(columns: int) -> int:
    """Columns of a part, if so many fit: a multiple of those that a work-item takes together."""
    return columns - columns % LANES if columns > LANES else columns


def row_peak(gpu: Gpu, shape: Shape, size: Size, params: SpectrumParams) -> float:
    """The most bytes that a row of planes (planes, height, width) takes in its transform, and back, over ``size``."""
    planes, height, wide = shape
    count = min(SEVERAL, height)
    there = peak(gpu, along((planes, count, wide), size, params))
    back = peak(gpu, along_back((planes, count, width(size, params)), size[1], params))
    return max(there, back) / count


def column_peak(gpu: Gpu, height: int, size: Size, params: SpectrumParams) -> float:
    """The same of a column of ``height`` numbers of a spectrum."""
    count = min(SEVERAL, width(size, params))
    panel, made = (1, height, count), (1, size[0], count)
    there = peak(gpu, down(panel, made, size[0], params, inverse=False))
    back = peak(gpu, down(made, panel, size[0], params, inverse=True))
    return max(there, back) / count


def peak(gpu: Gpu, problem: Problem) -> float:
    """The most bytes that a transform takes on a device, its input and its result included."""
    item = problem.stored.itemsize
    shape, dtype = problem.result
    read = problem.real if problem.real_in else problem.stored
    most, source = 0, 0
    for p in passes(gpu.limits, problem):
        target = p.temporary * item
        most, source = max(most, source + target), target
    return prod(problem.in_shape) * read.itemsize + prod(shape) * dtype.itemsize + most


def tables(size: Size, params: SpectrumParams) -> int:
    """Bytes of the tables that transforms of both axes keep."""
    item = 16 if params.precision == "double" else 8
    return _TABLES * item * sum(next_fast_len(2 * n) for n in size)
