"""Means over boxes by sums of sums, in nearly the same time for any size: launches of box.cl."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..gpu import Gpu, Kernel, Local
from ..image import Image
from ..params.border import by_axis, define
from ..records import dataclass
from ..tiles.planes import Planes, by_axes, planewise

# The kernels' source files.
_SOURCE = ("border", "box")
# Columns of a CPU's work-item.
_STRIP = 256
# Rows of a CPU's work-item, about: whole blocks of at least so many rows.
_BAND = 256
# Columns of a CPU's work-item where only x is averaged.
_LONG = 4096
# Bytes of a CPU's work-item, at most, for both axes at once: its sums must stay in the cache.
_CACHED = 1 << 19
# The number of levels in box.cl.
_LEVELS = 9
# Samples of a block on other devices.
_BLOCK = 16
# The radius from which blocks have twice as many samples.
_WIDE = 256
# Work-items of a group on other devices.
_ITEMS = 256
# Blocks of each work-item along y.
_PER = 4
# Columns of a group along y; the first number that fits is taken.
_ACROSS = (32, 16, 8)
# Bytes of local memory of a group on other devices, at most.
_MOST_LOCAL = 32768


@dataclass(frozen=True)
class Box:
    """The box to average over: its half-widths along (y, x), and the border mode and value outside the image."""

    radii: tuple[int, int]
    border: str = "reflect"
    cval: float = 0.0


def box(gpu: Gpu, image: Image, mean: Box) -> Image:
    """Averages a planar float32 Image over (2·radius + 1) samples along both axes, as scipy.ndimage.uniform_filter.

    A radius of 0 leaves an axis as it is; if both are 0, the input itself is the result. Sums are made of sums, never
    of differences: a value that is not finite has an effect only within the box, as has a large value's rounding. The
    error is within 1e-6 of the largest value for boxes of 4096 samples along an axis.
    """
    if not any(mean.radii):
        return image
    axes = [axis for axis in (1, 0) if mean.radii[axis]]  # x first: rows are read in memory order
    if gpu.limits.lanes == 1:
        groups = {axis: group for axis in axes if (group := _Group.of(gpu, image.shape, mean, axis))}
        if len(groups) == len(axes):
            result = image.like()

            def along(source: Planes, target: Planes, planes: int, axis: int) -> None:
                groups[axis].launch(source, target, planes, mean, axis)

            by_axes(image, result, axes, image.shape[1:], along)
            return result
    if gpu.limits.lanes > 1 and _nbytes(mean.radii, _STRIP) <= min(_CACHED, gpu.limits.local_bytes):
        return _wide(gpu, image, mean, mean.radii, _STRIP)

    def make(at: slice) -> Image:
        part = image.planes(at)
        for axis in axes:
            part = _axis(gpu, part, mean, axis)
        return part

    return planewise(image.shape[0], image.nbytes, make)


@dataclass(frozen=True)
class _Group:
    """Work-items that take blocks of an axis through local memory."""

    kernel: Kernel
    items: tuple[int, int]  # work-items across the axis and along it
    tile: int  # results along the axis
    local_bytes: int

    def launch(self, source: Planes, target: Planes, planes: int, mean: Box, axis: int) -> None:
        """Averages ``planes`` planes along the axis."""
        (image, first_in), (result, first_out) = source, target
        (across, along), radius, (_, height, width) = self.items, mean.radii[axis], image.shape
        start, to = (np.uint64(first * height * width) for first in (first_in, first_out))
        outer, n, inner = (planes * height, width, 1) if axis else (planes, height, width)
        tiles = -(-n // self.tile) * along
        size, local = ((outer, tiles), (1, along)) if axis else ((inner, tiles, outer), (across, along, 1))
        self.kernel.gpu.launch(
            self.kernel, size, image, result, start, to, outer, n, inner, radius,
            1.0 / (2 * radius + 1), float(mean.cval), Local(self.local_bytes), local=local,
            label=f"box {'x' if axis else 'y'} local", traffic=8 * outer * n * inner,
        )  # fmt: skip

    @classmethod
    def of(cls, gpu: Gpu, shape: Sequence[int], mean: Box, axis: int) -> _Group | None:
        """Returns a group for which local memory is enough; None where the box is too wide."""
        radius, n = mean.radii[axis], shape[1 + axis]
        block = min(_BLOCK if radius < _WIDE else 2 * _BLOCK, 1 << (2 * radius).bit_length() - 1)
        per, common = 1 if axis else _PER, 2 * radius // block - 1
        defines = {**define(by_axis(mean.border)[axis]), "ALONG_X": axis == 1, "BLOCK": block, "PER": per}
        kernel = gpu.kernel(_SOURCE, "box_blocks", **defines)
        items = min(_ITEMS, kernel.work_group, gpu.limits.work_group)
        shapes = [(1, items), (1, items // 4)] if axis else [(c, items // c) for c in _ACROSS]
        for across, most in shapes:
            if not most:
                continue
            tiles = -(-n // (per * most * block))
            along = -(-n // (tiles * per * block))  # the number that makes all tiles alike
            nbytes = 8 * across * (per * along + common)
            if axis:  # local memory holds the samples as well
                nbytes += 4 * (along * block + 2 * radius) * (block + 1) // block
            if nbytes <= min(_MOST_LOCAL, gpu.limits.local_bytes):
                return cls(kernel, (across, along), per * along * block, nbytes)
        return None


def _nbytes(radii: tuple[int, int], columns: int) -> int:
    """Returns the bytes of local memory of a CPU's work-item of ``columns`` columns."""
    return (2 * radii[0] + 3 + _LEVELS) * _pitch(radii, columns) * 4


def _pitch(radii: tuple[int, int], columns: int) -> int:
    return columns + -(-2 * radii[1] // 16) * 16 + 16


def _wide(gpu: Gpu, image: Image, mean: Box, radii: tuple[int, int], columns: int) -> Image:
    planes, height, width = image.shape
    high, across = (2 * radius + 1 for radius in radii)
    rows = -(-_BAND // high) * high  # whole blocks
    kernel = gpu.kernel(_SOURCE, "box", WIDE=True, **define(mean.border))
    result = image.like()
    axes = "".join(name for name, radius in zip("xy", radii[::-1], strict=True) if radius)
    gpu.launch(
        kernel, (-(-width // columns), -(-height // rows), planes), image, result, height, width, *radii, columns, rows,
        _pitch(radii, columns), 1.0 / (high * across), float(mean.cval), Local(_nbytes(radii, columns)),
        local=(1, 1, 1), label=f"box {axes}",
    )  # fmt: skip
    return result


def _axis(gpu: Gpu, image: Image, mean: Box, axis: int) -> Image:
    """Averages along one axis."""
    radius = mean.radii[axis]
    radii = (0, radius) if axis else (radius, 0)
    if gpu.limits.lanes > 1:
        columns = _LONG if axis else _STRIP
        while (fits := _nbytes(radii, columns) <= gpu.limits.local_bytes) is False and columns > 16:
            columns //= 2
        if fits:
            return _wide(gpu, image, mean, radii, columns)
    return _by_levels(gpu, image, mean, axis)


def _by_levels(gpu: Gpu, image: Image, mean: Box, axis: int) -> Image:
    """Averages along one axis in several launches, by way of global memory.

    Each launch makes sums of four times as many samples as the one before it.
    """
    radius = mean.radii[axis]
    planes, height, width = image.shape
    outer, n, inner = (planes * height, width, 1) if axis else (planes, height, width)
    extent = n + 2 * radius
    size = (extent, outer) if axis else (inner, extent, outer)
    result, here, count, done = image.like(), image, 1, 0
    while count <= 2 * radius + 1:
        more = 4 * count <= 2 * radius + 1
        above = gpu.empty((outer, extent, inner)) if more else None
        digit = (2 * radius + 1) // count % 4
        gpu.compute(
            _SOURCE, "box_level", size, here, above, result, outer, n, inner, radius, count, done, digit,
            1.0 if more else 1.0 / (2 * radius + 1), float(mean.cval), group=64,
            label=f"box {'x' if axis else 'y'} level", traffic=2 * image.nbytes, LEVEL=True, ALONG_X=axis == 1,
            FIRST=count == 1, **define(by_axis(mean.border)[axis]),
        )  # fmt: skip
        here, count, done = above or result, count * 4, done + digit * count
    return result
