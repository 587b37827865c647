"""Images in another size: launches of resize.cl, and on CPUs of resize_wide.cl where resize_down.py is not for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..gpu import Gpu, Local
from ..image import Image
from ..passes import Pass
from ..rows.window import rows_of
from ..tiles.planes import Planes, by_axes
from .resampling import ResampledAxis, Weights, weights
from .resize_down import Axes, Shrinking

if TYPE_CHECKING:
    Shape = tuple[int, int, int]

_Y, _X = 0, 1
# On CPUs: rows of a vector; bytes of a vector; results of a work-item's row, and columns that it works on at a time, at
# most; work-items of a compute unit, where there are rows enough.
_LANES, _BYTES, _WIDEST, _SHARES = 16, 64, 2048, 8
# On CPUs: sums of one pass over both axes, for each of two passes that take as long.
_DEARER = 2
# On other devices: columns of a group and results of each, along y; results of a group, along x; samples that a group
# has in local memory at a time, at most.
_COLUMNS, _ROWS, _ITEMS, _SAMPLES = 32, 8, 128, 2048

# The share of the device's memory, and the bytes, that rows of the input may take for one row of the result. More of
# them are made narrower first, as it takes long to keep and to join them.
_SHARE_OF_ROWS, _MOST_OF_ROWS = 1 / 64, 1 << 23


@dataclass(frozen=True)
class _Table:
    """The spans and weights of an axis on the device, and the most samples of a result."""

    spans: Image
    weights: Image
    most: int

    @property
    def nbytes(self) -> int:
        """Bytes on the device."""
        return self.spans.nbytes + self.weights.nbytes

    @classmethod
    def of(cls, gpu: Gpu, taps: Weights) -> _Table:
        """The table. On CPUs a result's weights are together, else all results' first weights come first."""
        spans = np.stack([taps.first, taps.count], axis=1).astype(np.int32)
        by_tap = not _by_vectors(gpu)
        return cls(gpu.array(spans), gpu.array(taps.weights.T if by_tap else taps.weights), taps.most)

    @classmethod
    def kept(cls, gpu: Gpu, axis: ResampledAxis, filter: str) -> _Table:
        """The table of a whole axis, which is kept."""
        key = "resize", axis, filter, _by_vectors(gpu)
        return gpu.kept(key, lambda: cls.of(gpu, weights(axis, filter)))


# Those of both axes.
Tables = tuple[_Table, _Table]


def resized(gpu: Gpu, image: Image, axes: Axes, filter: str, rows: tuple[int, int] | None = None) -> Image:
    """Resamples both axes (y, x) of a planar float32 Image; it is the result itself where both stay as they are.

    ``filter`` is one of :data:`gpuops.filters.resampling.FILTERS`. ``rows`` are the first and the end of the result's
    rows that are to be made of an Image that is a part of a picture and has the rows that these need; the axes are
    those of the whole.
    """
    if all(axis.stays for axis in axes):
        return image
    first, end = rows or (0, axes[_Y].result)
    result = image.like((image.shape[0], end - first, axes[_X].result))
    across = across_first(gpu, axes, filter)
    if not _by_vectors(gpu):
        tables = _tables(gpu, image, axes, filter, rows)
        _in_groups(gpu, image, axes, tables, result, first=_X if across else _Y)
    elif not across:
        _in_vectors(gpu, image, axes, filter, result, rows)
    else:
        between = image.like((*image.shape[:2], axes[_X].result))
        down, along = (ResampledAxis.of(n, n) for n in between.shape[1:])
        _in_vectors(gpu, image, (down, axes[_X]), filter, between, None)
        between.part = image.part
        _in_vectors(gpu, between, (axes[_Y], along), filter, result, rows)
    return result


def _tables(gpu: Gpu, image: Image, axes: Axes, filter: str, rows: tuple[int, int] | None) -> Tables:
    """The tables of all rows of the result, or of some."""
    columns = _Table.kept(gpu, axes[_X], filter)
    if rows is None:
        return _Table.kept(gpu, axes[_Y], filter), columns
    assert image.part is not None
    return _Table.of(gpu, weights(axes[_Y], filter).part(*rows, image.part.first)), columns


def across_first(gpu: Gpu, axes: Axes, filter: str) -> bool:
    """Says whether rows are resampled first, and then columns: where that takes fewer sums."""
    most = [weights(axis, filter).most for axis in axes]
    sums = [_sums(axes, most, first) for first in (_Y, _X)]
    return sums[_Y] > _DEARER * sums[_X] if _by_vectors(gpu) else sums[_Y] >= sums[_X]


def aligned(gpu: Gpu) -> int:
    """Returns the number of which a part's first row of the result is to be a multiple, for the whole's sums."""
    return 1 if _by_vectors(gpu) else _group(gpu)[1]


def _by_vectors(gpu: Gpu) -> bool:
    """Says whether the device is a CPU with vectors and local memory for them."""
    return gpu.limits.vectors and _widest(gpu) > 0


def _sums(axes: Axes, most: list[int], first: int) -> int:
    """How many weights meet a sample if an axis is taken ``first``."""
    then = 1 - first
    between = axes[first].result * (axes[then].size * most[first])
    return between + axes[first].result * axes[then].result * most[then]


def _widest(gpu: Gpu) -> int:
    """How many vectors fit in half of a CPU's local memory, in whole blocks, but no more than are of use."""
    return min(_WIDEST, gpu.limits.local_bytes // (2 * _BYTES) // _LANES * _LANES)


def _in_vectors(
    gpu: Gpu, image: Image, axes: Axes, filter: str, result: Image, made: tuple[int, int] | None
) -> None:
    """Both axes by a CPU's vectors, down the columns first; all rows of the result are ``made``, or some."""
    shrinking = Shrinking.of(gpu, axes, filter)
    if shrinking is not None:
        shrinking.launch(gpu, image, result, made)
        return
    planes, rows, columns = result.shape
    strip, chunk = (min(_widest(gpu), -(-n // _LANES) * _LANES) for n in (columns, image.shape[2]))
    sources = ("lanes", "store_sixteen", "block_columns", "resize_wide")
    kernel = gpu.kernel(sources, "resize_wide", WIDTH=8)
    strips, (y, x) = -(-columns // strip), _tables(gpu, image, axes, filter, made)
    band = max(1, strips * planes * rows // (_SHARES * gpu.limits.compute_units) // _LANES) * _LANES
    gpu.launch(
        kernel, (strips, -(-rows // band), planes), image, y.spans, y.weights, x.spans, x.weights, result,
        *image.shape[1:], rows, columns, y.most, x.most, strip, band, chunk, Local(chunk * _BYTES),
        Local(strip * _BYTES), local=(1, 1, 1), label="resize yx",
    )  # fmt: skip


def _in_groups(gpu: Gpu, image: Image, axes: Axes, tables: Tables, result: Image, *, first: int) -> None:
    """One axis after the other; one that stays is left out."""
    todo = [axis for axis in (first, 1 - first) if not axes[axis].stays]
    between = [*image.shape[1:]]
    between[first] = result.shape[1 + first]

    def along(source: Planes, target: Planes, planes: int, axis: int) -> None:
        _axis(gpu, source, target, planes, axis, tables[axis])

    by_axes(image, result, todo, between, along)


def _axis(gpu: Gpu, source: Planes, target: Planes, planes: int, axis: int, table: _Table) -> None:
    """Resamples ``planes`` planes along one axis."""
    (image, first_in), (result, first_out) = source, target
    rows, columns = image.shape[1:]
    offsets = (np.uint64(first_in * rows * columns), np.uint64(first_out * result.shape[1] * result.shape[2]))
    kernel = gpu.kernel("resize", "resize", ROWS=axis == _X)
    size: tuple[int, ...]
    if axis == _X:
        local = kernel.fit(_ITEMS, 1)
        size, side, dims = (result.shape[2], planes * rows), 1, (columns, result.shape[2], 1)
    else:
        local = _group(gpu)
        size, side, dims = (columns, result.shape[1], planes), local[0], (rows, result.shape[1], columns)
    samples = min(_SAMPLES, gpu.limits.local_bytes // 4) // side
    gpu.launch(
        kernel, size, image, table.spans, table.weights, result, *offsets, *dims, samples, Local(samples * side * 4),
        local=local, label=f"resize {'yx'[axis]}",
        traffic=4 * planes * (rows * columns + result.shape[1] * result.shape[2]),
    )  # fmt: skip


def _group(gpu: Gpu) -> tuple[int, ...]:
    """The columns of a group, its results of each, and 1, along y."""
    return gpu.kernel("resize", "resize", ROWS=False).fit(_COLUMNS, _ROWS, 1)


# -- by rows, as they come: each row of the result is made as in the whole picture --------------------------------


def passes(gpu: Gpu, shape: Shape, axes: Axes, filter: str) -> tuple[Pass, ...]:
    """Returns the passes that resample both axes (y, x) of a picture of this shape (planes, height, width).

    Sums are taken in the order of :func:`resized`, unless a row of the result needs many rows of
    the input.
    """
    y, x = axes
    if y.stays:
        return () if x.stays else (_across(shape, x, filter),)
    if x.stays:
        return (_down(gpu, shape, axes, filter),)
    both = _down(gpu, shape, axes, filter)
    window = 4 * shape[0] * shape[2] * both.window
    crowded = x.result < x.size and window > min(_SHARE_OF_ROWS * gpu.limits.global_bytes, _MOST_OF_ROWS)
    if not crowded and not across_first(gpu, axes, filter):
        return (both,)
    across = _across(shape, x, filter)
    return across, _down(gpu, across.shape, (y, ResampledAxis.of(x.result, x.result)), filter)


def sums_as_whole(gpu: Gpu, shape: Shape, axes: Axes, filter: str) -> bool:
    """Says whether :func:`passes` take sums in the order of the whole picture."""
    return len(passes(gpu, shape, axes, filter)) < 2 or across_first(gpu, axes, filter)


def _across(shape: Shape, x: ResampledAxis, filter: str) -> Pass:
    """Resamples each row."""
    planes, height, _ = shape

    def make(gpu: Gpu, image: Image, first: int, end: int) -> Image:
        assert image.part is not None
        rows = rows_of(image, slice(first - image.part.first, end - image.part.first))
        return resized(gpu, rows, (ResampledAxis.of(end - first, end - first), x), filter)

    return Pass((planes, height, x.result), lambda first, end: (first, end), make, bytes_per_value=8.0)


def _down(gpu: Gpu, shape: Shape, axes: Axes, filter: str) -> Pass:
    """Resamples columns, and then rows if they do not stay."""
    y, x = axes
    taps, align = weights(y, filter), aligned(gpu)

    def make(gpu: Gpu, image: Image, first: int, end: int) -> Image:
        return resized(gpu, image, axes, filter, (first, end))

    each = 4.0 if x.stays else 12.0
    return Pass((shape[0], y.result, x.result), taps.needs, make, taps.window(align), align, each)
