"""How much of a device's memory a spectrum takes: as a whole, or axis by axis."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

from ..errors import ParameterError, TooLongError
from ..params.fft import SpectrumParams
from ..tiles.memory import ROUNDED, no_room
from ..tiles.planes import in_turn
from . import axes
from .api import problem_of
from .axes import Shape, Size
from .engine.passes import passes
from .engine.problem import Problem
from .engine.radices import next_fast_len

if TYPE_CHECKING:
    from ..gpu import Gpu

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


class Parts(NamedTuple):
    """How many rows of all planes, and how many columns of one plane, are on the device at a time."""

    rows: int
    columns: int


def fits(gpu: Gpu, pixels: Shape, nbytes: int, params: SpectrumParams, *, inverse: bool = False) -> bool:
    """Whether a device has room for the transform of a picture as a whole.

    ``pixels`` is the picture's shape (height, width, channels), and ``nbytes`` what its pixels take.
    """
    height, width, channels = pixels
    limits, size = gpu.limits, padded(pixels, params)
    planes = in_turn(channels, 4 * prod(pixels))[0].stop
    spectrum = planes, size[0], axes.width(size, params)
    image = planes, height, width
    item = axes.stored(params).itemsize
    if inverse:
        kind = "c2r" if params.half else "c2c"
        problem = problem_of(params, kind, 2, spectrum, image, size, inverse=True, reals=not params.half)
    else:
        problem = problem_of(params, "r2c", 2, image, spectrum, size)
    try:
        needed = peak(gpu, problem)
    except TooLongError:
        raise
    except ParameterError:  # beyond what its addresses reach
        return False
    after = 2 * prod(spectrum) * item if inverse or params.filter or params.shift else 0
    after += 4 * prod(size) if params.mask else 0
    needed += nbytes + 4 * prod(pixels) + after + tables(size, params) + _SMALL
    largest = max(prod(spectrum) * item, nbytes, 4 * prod(pixels))
    return needed * ROUNDED <= limits.global_bytes and largest <= limits.max_alloc_bytes


def padded(pixels: Shape, params: SpectrumParams) -> Size:
    """The transform's size for a picture of the shape (height, width, channels)."""
    from .spectrum import padded

    return padded((pixels[0], pixels[1]), params.pad)


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
    height, width, channels = pixels
    limits, size = gpu.limits, padded(pixels, params)
    columns, item = axes.width(size, params), axes.stored(params).itemsize
    fixed = tables(size, params) + _SMALL + (4 * prod(size) if params.mask else 0)
    real = 4 * channels * width
    double = params.precision == "double"
    copies = (1 + (params.window != "none") + planes_beside) * (3 if double else 1)
    each = row_peak(gpu, (channels, height, width), size, params) + (copies + 2) * real + 3 * row
    after = (1 if params.filter is not None else 0) + 1
    column = column_peak(gpu, height, size, params) + after * size[0] * item
    room = limits.global_bytes / ROUNDED - fixed
    found = []
    for what, most, bytes_, one in (
        ("rows", height, each, max(real * (2 if double else 1), channels * columns * item)),
        ("columns", columns, column, size[0] * item),
    ):
        fitting = int(room // bytes_)
        if fitting < 1 or one > limits.max_alloc_bytes:
            words = f"{what} of a transform of {size[0]}×{size[1]} need"
            raise no_room(gpu, words, (fixed + bytes_) * ROUNDED)
        found.append(min(most, fitting, limits.max_alloc_bytes // one, max(1, ENOUGH // one)))
    rows, columns = found
    return Parts(rows, whole_lanes(columns))


def whole_lanes(columns: int) -> int:
    """Columns of a part, if so many fit: a multiple of those that a work-item takes together."""
    return columns - columns % LANES if columns > LANES else columns


def row_peak(gpu: Gpu, shape: Shape, size: Size, params: SpectrumParams) -> float:
    """The most bytes that a row of planes (planes, height, width) takes in its transform, and back, over ``size``."""
    planes, height, width = shape
    count = min(SEVERAL, height)
    there = peak(gpu, axes.along((planes, count, width), size, params))
    back = peak(gpu, axes.along_back((planes, count, axes.width(size, params)), size[1], params))
    return max(there, back) / count


def column_peak(gpu: Gpu, height: int, size: Size, params: SpectrumParams) -> float:
    """The same of a column of ``height`` numbers of a spectrum."""
    count = min(SEVERAL, axes.width(size, params))
    panel, made = (1, height, count), (1, size[0], count)
    there = peak(gpu, axes.down(panel, made, size[0], params, inverse=False))
    back = peak(gpu, axes.down(made, panel, size[0], params, inverse=True))
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
