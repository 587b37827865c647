"""Tolerance of place: the densest window of different pixels, and pixels that have no like within a radius.

The first is what pixelmatch calls windowSize: it tells a change from scattered noise. The second is the radius
tolerance of ITK's comparison of pictures: it forgives edges that moved.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, overload

import numpy as np

from ..errors import ParameterError
from ..image import Image
from ..operands import Operand
from ..records import dataclass
from .pairs import bytes_on_device, operands, spans

if TYPE_CHECKING:
    from ..figures import Figure
    from ..gpu import Gpu
    from .band import Band
    from .pair import Pair


# Results of a work-item, as in tolerant.cl.
_RUN = 64
# Sums of a row are 16 bits.
_MOST = 65535


@dataclass(frozen=True)
class WorstWindow:
    """A square of ``size`` pixels a side, with ``count`` of them different, and the place of its first pixel."""

    count: int
    row: int
    column: int
    size: int


def densest_window(gpu: Gpu, mask: Operand, n: int) -> WorstWindow:
    """Returns the window of n × n pixels that has the most different ones; of equal windows the first.

    Parameters
    ----------
    mask : Image or array (rows, columns) of uint8, or of bool
        Odd values are different pixels: the mask of :func:`gpuops.metrics.pixelmatch.pixelmatch` is one.
    n : int
        1 … 65535. It is cut to the picture's sides, so that a window is always a square inside.

    Raises
    ------
    ParameterError
        Another type or shape, or an n out of range.
    """
    image = bytes_on_device(gpu, mask, "a mask (rows, columns)", (0, 0))
    if not 1 <= n <= _MOST:
        raise ParameterError(f"a window of 1 … {_MOST} pixels a side is needed, not {n}")
    height, width = image.shape
    n = min(n, height, width)
    rows, columns = height - n + 1, width - n + 1
    sums = gpu.empty((height, columns), np.uint16)
    names = "window_rows", "window_columns"
    one, other = gpu.kernels([(("lanes", "sums", "tolerant"), name, {"WIDTH": 1}) for name in names])
    gpu.launch(
        one, (-(-columns // _RUN), height), image, sums, width, height, n,
        local=one.fit(1, 1 if gpu.limits.is_cpu else 64), traffic=image.nbytes + sums.nbytes,
    )  # fmt: skip
    local = other.fit(1 if gpu.limits.is_cpu else 32, 1)
    groups = -(-columns // (8 * local[0])), -(-rows // (_RUN * local[1]))
    partial = gpu.empty((groups[0] * groups[1], 2), np.uint32)
    size = groups[0] * local[0], groups[1] * local[1]
    gpu.launch(other, size, sums, partial, columns, height, n, local=local, traffic=sums.nbytes)
    counts, places = partial.numpy().T
    count = int(counts.max())
    row, column = divmod(int(places[counts == count].min()), columns)
    return WorstWindow(count, row, column, n)


@overload
def within_radius(
    gpu: Gpu, image_true: Operand, image_test: Operand, *, radius: int, tolerance: float, both: bool = ...,
    rows: slice | None = ..., full: Literal[False] = ...,
) -> int: ...  # fmt: skip
@overload
def within_radius(
    gpu: Gpu, image_true: Operand, image_test: Operand, *, radius: int, tolerance: float, both: bool = ...,
    rows: slice | None = ..., full: Literal[True],
) -> tuple[int, Image]: ...  # fmt: skip
def within_radius(
    gpu: Gpu,
    image_true: Operand,
    image_test: Operand,
    *,
    radius: int,
    tolerance: float,
    both: bool = True,
    rows: slice | None = None,
    full: bool = False,
) -> int | tuple[int, Image]:
    """Counts the pixels that have no like in the other picture within a radius.

    Parameters
    ----------
    image_true, image_test : Image or array (channels, rows, columns)
        Values of any kind.
    radius : int
        0 or more: the likes of a pixel are sought in a square of 2 · radius + 1 pixels a side, as far as it is inside.
    tolerance : float
        Pixels are alike if no channel differs by more.
    both : bool
        A pixel counts if either picture's has no like in the other. Without it only those of ``image_true`` are sought,
        as in ITK's comparison: then a dot that is new in ``image_test`` is forgiven.
    rows : slice, optional
        The rows that count, and of which the Image is; the others are their neighbours.
    full : bool
        Whether to return an Image (rows, columns) of uint8 too, with 1 for pixels that count.

    Raises
    ------
    ParameterError
        Different shapes, or an option out of range.

    Notes
    -----
    NaN is like NaN only, and an infinity like itself.
    """
    if radius < 0:
        raise ParameterError(f"radius must be 0 or more, not {radius}")
    if not 0 <= tolerance < math.inf:
        raise ParameterError(f"tolerance must be a number of 0 or more, not {tolerance}")
    a, b = operands(gpu, image_true, image_test)
    channels, height, width = a.shape
    lanes = gpu.limits.lanes
    kernel = gpu.kernel(("lanes", "sums", "tolerant"), "within_radius", WIDTH=lanes, BOTH=both, MASK=full)
    start, stop, _ = (rows or slice(None)).indices(height)
    items, groups, span = spans(kernel, (stop - start) * width, lanes)
    partial = gpu.empty((groups,), np.uint32)
    mask = gpu.empty((stop - start, width), np.uint8) if full else None
    gpu.launch(
        kernel, (groups * items,), a, b, partial, mask, width, height, channels, np.uint32(start * width),
        np.uint32(stop * width), np.uint32(span), min(radius, max(height, width)), float(tolerance),
        local=(items,), traffic=a.nbytes + b.nbytes + (mask.nbytes if mask else 0),
    )  # fmt: skip
    count = int(partial.numpy().sum(dtype=np.int64))
    return (count, mask) if mask is not None else count


def fit(figure: Figure, pair: Pair) -> Figure:
    """Returns the record of a figure that looks as far as the radius."""
    radius = min(pair.how.radius, max(pair.reference.height, pair.reference.width))
    return replace(figure, above=radius, below=radius)


def alone(band: Band) -> int:
    """Returns how many pixels of the rows that count have no like nearby."""
    how, rows, tolerance = band.how, band.counted, band.how.tolerance * band.pair.data_range
    return within_radius(band.gpu, *band.stored, radius=how.radius, tolerance=tolerance, rows=rows)
