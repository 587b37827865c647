"""Means over boxes of any size in nearly the same time, by sums of sums: launches of box.cl."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .gpu import Local
from .image import Image
from .planes import planewise

if TYPE_CHECKING:
    from .gpu import Gpu

_SOURCE = ("border", "box")
_STRIP, _BAND, _LONG = (
    256,
    256,
    4096,
)  # on a CPU: columns and rows of a work-item; columns where it is x alone
_CACHED = 1 << 19  # bytes of a work-item there: both axes at once only where its sums stay near
_LEVELS = 9  # box.cl's
_ITEMS, _PER = 256, 8  # elsewhere: of a group; results of each
_MOST_LOCAL = 32768  # bytes of a group elsewhere


@dataclass(frozen=True)
class Box:
    """What to average over: half-widths along (y, x); and what stands outside the image."""

    radii: tuple[int, int]
    border: str = "reflect"
    cval: float = 0.0


def box(gpu: Gpu, image: Image, mean: Box) -> Image:
    """The planar float32 Image averaged over (2·radius + 1) samples along both axes, as scipy.ndimage.uniform_filter.

    A radius of 0 leaves an axis as it is; with none larger, the input itself is the result. Sums are made of sums,
    never of differences: a value that is not finite stays within the box, and so does a large value's rounding. Within
    1e-6 of the largest value for boxes of 4096 samples along an axis.
    """
    if not any(mean.radii):
        return image
    if gpu.limits.lanes > 1 and _nbytes(mean.radii, _STRIP) <= min(_CACHED, gpu.limits.local_bytes):
        return _wide(gpu, image, mean, mean.radii, _STRIP)

    def make(at: slice) -> Image:
        part = image.planes(at)
        for axis in (1, 0):  # x first: rows are read in memory order
            if mean.radii[axis]:
                part = _axis(gpu, part, mean, axis)
        return part

    return planewise(image.shape[0], image.nbytes, make)


def _nbytes(radii: tuple[int, int], columns: int) -> int:
    """Local memory of a work-item of ``columns`` columns on a CPU."""
    return (2 * radii[0] + 3 + _LEVELS) * _pitch(radii, columns) * 4


def _pitch(radii: tuple[int, int], columns: int) -> int:
    return columns + -(-2 * radii[1] // 16) * 16 + 16


def _wide(gpu: Gpu, image: Image, mean: Box, radii: tuple[int, int], columns: int) -> Image:
    planes, height, width = image.shape
    high, across = (2 * radius + 1 for radius in radii)
    rows = -(-_BAND // high) * high  # whole blocks
    kernel = gpu.kernel(_SOURCE, "box", WIDE=True, **{f"BORDER_{mean.border.upper()}": True})
    result = image.like()
    axes = "".join(name for name, radius in zip("xy", radii[::-1], strict=True) if radius)
    gpu.launch(
        kernel, (-(-width // columns), -(-height // rows), planes), image, result, height, width, *radii, columns, rows,
        _pitch(radii, columns), 1.0 / (high * across), float(mean.cval), Local(_nbytes(radii, columns)),
        local=(1, 1, 1), label=f"box {axes}", traffic=2 * image.nbytes,
    )  # fmt: skip
    return result


def _axis(gpu: Gpu, image: Image, mean: Box, axis: int) -> Image:
    """Along one axis."""
    radius = mean.radii[axis]
    radii = (0, radius) if axis else (radius, 0)
    if gpu.limits.lanes > 1:
        columns = _LONG if axis else _STRIP
        while (fits := _nbytes(radii, columns) <= gpu.limits.local_bytes) is False and columns > 16:
            columns //= 2
        if fits:
            return _wide(gpu, image, mean, radii, columns)
    else:
        defines = {f"BORDER_{mean.border.upper()}": True, "ALONG_X": axis == 1, "PER": _PER}
        kernel = gpu.kernel(_SOURCE, "box_local", **defines)
        items = min(_ITEMS, kernel.work_group, gpu.limits.work_group)
        most = min(_MOST_LOCAL, gpu.limits.local_bytes)
        for across in (1,) if axis else (32, 16, 8):
            along = max(1, items // across)
            tile = _PER * along
            nbytes = 2 * across * (tile + 2 * radius) * 4
            if across > items or nbytes > most:
                continue
            planes, height, width = image.shape
            outer, n, inner = (planes * height, width, 1) if axis else (planes, height, width)
            result = image.like()
            tiles = -(-n // tile) * along
            size, local = (
                ((outer, tiles), (1, along)) if axis else ((inner, tiles, outer), (across, along, 1))
            )
            gpu.launch(
                kernel, size, image, result, outer, n, inner, radius,
                1.0 / (2 * radius + 1), float(mean.cval), Local(nbytes), local=local,
                label=f"box {'x' if axis else 'y'} local", traffic=2 * image.nbytes,
            )  # fmt: skip
            return result
    return _by_levels(gpu, image, mean, axis)


def _by_levels(gpu: Gpu, image: Image, mean: Box, axis: int) -> Image:
    """Along one axis in several launches, whose sums of four times as many samples each go through global memory."""
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
        defines = {f"BORDER_{mean.border.upper()}": True, "ALONG_X": axis == 1, "FIRST": count == 1}
        kernel = gpu.kernel(_SOURCE, "box_level", LEVEL=True, **defines)
        gpu.launch(
            kernel, size, here, above, result, outer, n, inner, radius, count, done, digit,
            1.0 if more else 1.0 / (2 * radius + 1), float(mean.cval), local=kernel.fit(64, *[1] * (len(size) - 1)),
            label=f"box {'x' if axis else 'y'} level", traffic=2 * image.nbytes,
        )  # fmt: skip
        here, count, done = above or result, count * 4, done + digit * count
    return result
