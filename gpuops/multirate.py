"""A Gaussian of large σ at about one read and one write: on a coarse grid.

Along each axis: a short window and decimation to steps of σ/LEAST or less (coarse.py); the filter that is left; and
interpolation by the window again. All three dampen aliases, of which less than 2e-5 of the response's peak is left.

Source: multirate filtering as in Crochiere & Rabiner, Multirate Digital Signal Processing, 1983; decimation before a
recursive Gaussian in Deriche, "Recursively implementing the Gaussian and its derivatives", INRIA 1893, 1993.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from . import coarse
from .coarse import Axis, Left, Two
from .gpu import Local
from .image import Image
from .pixels import Decoding, Encoding, unpack
from .separable import Taps, convolve_axes

if TYPE_CHECKING:
    from .gpu import Define, Gpu, Kernel

_LEAST_AGAIN = (
    40.0,
    12.0,
)  # σ on a coarse grid from which a still coarser one is worth its launches; on CPUs
# A group's work-items, and coarse rows in local memory; of groups of a compute unit, as many as run at once.
_ITEMS, _ROWS, _LINES, _GROUPS = 128, 8, 6, 4
_CODES = 256  # of a table that is copied to local memory, at most
_LEAST_BAND, _NARROWEST = 4, 96  # coarse rows of a group, and its fine columns: margins come to these
# On CPUs: fine columns and coarse rows of a work-item, coarse rows in local memory; interpolation's columns and rows.
_TILE, _BAND, _LANES, _WIDE_TILE, _WIDE_LINES = 256, 64, 16, 128, 32


@dataclass(frozen=True)
class _Grids:
    """Both axes, coarse and fine, and what stands outside."""

    y: Axis
    x: Axis
    border: str
    cval: float

    def defines(self, **more: Define) -> dict[str, Define]:
        """Those of all kernels here, and more."""
        return {f"BORDER_{self.border.upper()}": True, "TAPS_Y": self.y.taps, "TAPS_X": self.x.taps} | more


def gaussian(
    gpu: Gpu, image: Image, sigma: Two, border: str, cval: float, into: Image | None = None
) -> Image:
    """Gaussian blur of a planar float32 Image, of ``sigma`` (y, x) of which one at least has a coarse grid.

    ``into``: the result's memory, which may be the input's.
    """
    return _filtered(gpu, image, (Left(sigma[0]), Left(sigma[1])), border, cval, into)


def gaussian_of_pixels(
    gpu: Gpu, pixels: Image, decoding: Decoding, encoding: Encoding, sigma: Two, border: str, cval: float
) -> tuple[Image, Image]:
    """From pixels (height, width, channels) to pixels, on a GPU; and counters as in encode.cl.

    Both kernels at the ends read and write pixels themselves.
    """
    height, width, channels = pixels.shape
    grids = _grids((channels, height, width), (Left(sigma[0]), Left(sigma[1])), border, cval)
    small = _coarsely(gpu, _decimated(gpu, pixels, grids, decoding), grids)
    result, lost = gpu.empty(pixels.shape, encoding.dtype), gpu.zeros((2,), np.uint32)
    _interpolated(gpu, small, result, grids, encoding, lost)
    return result, lost


def _filtered(
    gpu: Gpu, image: Image, left: tuple[Left, Left], border: str, cval: float, into: Image | None
) -> Image:
    grids = _grids(image.shape, left, border, cval)
    if gpu.limits.is_cpu:
        small = _coarsely(gpu, _decimated_wide(gpu, image, grids), grids)
        return _interpolated_wide(gpu, small, image.like() if into is None else into, grids)
    small = _coarsely(gpu, _decimated(gpu, image, grids), grids)
    return _interpolated(gpu, small, image.like() if into is None else into, grids)


def _grids(shape: tuple[int, ...], left: tuple[Left, Left], border: str, cval: float) -> _Grids:
    y, x = (coarse.axis(n, todo, border) for n, todo in zip(shape[1:], left, strict=True))
    return _Grids(y, x, border, cval)


def _coarsely(gpu: Gpu, small: Image, grids: _Grids) -> Image:
    """What is left to do, on the coarse grid or on one coarser still."""
    left, border, cval = (grids.y.left, grids.x.left), grids.border, grids.cval
    sigma = left[0].sigma, left[1].sigma
    if max(sigma) >= _LEAST_AGAIN[gpu.limits.is_cpu] and coarse.is_coarser(small.shape, sigma, border):
        return _filtered(gpu, small, left, border, cval, small)
    return convolve_axes(
        gpu, small, Taps((left[0].weights(), left[1].weights()), border, cval, name="gaussian")
    )


def _decimated(gpu: Gpu, image: Image, grids: _Grids, decoding: Decoding | None = None) -> Image:
    """The coarse image of planes, or of pixels if there is a decoding."""
    y, x = grids.y, grids.x
    planes, channels, columns = _shares(image, decoding is not None)
    small = gpu.empty((planes * channels, y.coarse, x.coarse))
    small.alpha = decoding.alpha if decoding else image.alpha
    sources: tuple[str, ...] = ("border", "window", "decimate")
    defines = grids.defines(COLUMNS=columns, ROWS=_ROWS if channels == 1 else 4, MOST=y.most)
    defines["WIDEST"] = len(x.gathered)
    table, scale = None, 1.0
    if decoding:
        sources = ("border", "lanes", "colour", "decode", "window", "decimate")
        table, scale = decoding.arguments(image)
        copied = table is not None and table.shape[0] <= _CODES
        defines |= {"WIDTH": 1, **decoding.defines(image, "__local" if copied else "__global")}
        defines["CODES"] = table.shape[0] if copied and table else None
    items = _items(gpu, x.fine, y.coarse, planes, columns)
    while True:
        kernel = gpu.kernel(sources, "decimate", **defines, ITEMS=items)
        if kernel.fit(items) == (items,):
            break
        items //= 2
        if items * columns < _NARROWEST:
            if decoding:
                return _decimated(gpu, unpack(image, decoding), grids)
            return _decimated_wide(gpu, image, grids)
    most = _columns(x, items * columns)
    if channels > 1:
        most = max(1, min(most, items // channels))  # all are made in one turn of the group
    tiles = -(-x.coarse // most)
    band = _band(gpu, y.coarse, tiles * planes, items, most=_bases(kernel, y) - y.taps + 1)
    gpu.launch(
        kernel, (tiles * items, -(-y.coarse // band), planes), image, small, *_tables(gpu, "down", y, x),
        y.fine, x.fine, y.low, x.low, y.coarse, x.coarse, most, band, float(grids.cval), table, scale,
        Local((band + y.taps - 1) * _of_base(y)), local=(items, 1, 1), label="gaussian decimate",
        traffic=image.nbytes + small.nbytes,
    )  # fmt: skip
    return small


def _interpolated(
    gpu: Gpu,
    small: Image,
    result: Image,
    grids: _Grids,
    encoding: Encoding | None = None,
    lost: Image | None = None,
) -> Image:
    """The fine image's planes, or its pixels if there is an encoding."""
    y, x = grids.y, grids.x
    planes, channels, columns = _shares(result, encoding is not None)
    sources: tuple[str, ...] = ("border", "window", "interpolate")
    lines = None
    defines = grids.defines(COLUMNS=columns, ROWS=_LINES, MOST=y.most)
    if encoding:
        sources = ("border", "lanes", "colour", "encode", "window", "interpolate")
        defines |= {"WIDTH": 1, **encoding.defines(channels, alpha=small.alpha)}
        lines = encoding.lines(gpu)
        defines["LINES"] = lines.shape[0] if lines else None
    items = _items(gpu, x.fine, y.coarse, planes, columns)
    while True:
        tile = items * columns
        kernel = gpu.kernel(sources, "interpolate", **defines, ITEMS=items, SEGMENT=_segment(x, tile))
        if kernel.fit(items) == (items,) or items == 1:
            break
        items //= 2
    rows, tiles = y.coarse + y.taps - 1, -(-x.fine // tile)
    band = _band(gpu, rows, tiles * planes, items, most=_bases(kernel, y))
    steps = encoding.steps(gpu) if encoding else None
    gpu.launch(
        kernel, (tiles * items, -(-rows // band), planes), small, result, *_tables(gpu, "up", y, x),
        y.fine, x.fine, y.low, y.coarse, x.coarse, band, steps, lines, lost, Local(band * _of_base(y)),
        local=(items, 1, 1), label="gaussian interpolate", traffic=small.nbytes + result.nbytes,
    )  # fmt: skip
    return result


def _decimated_wide(gpu: Gpu, image: Image, grids: _Grids) -> Image:
    y, x = grids.y, grids.x
    planes = image.shape[0]
    small = image.like((planes, y.coarse, x.coarse))
    kernel = gpu.kernel(
        ("border", "decimate_wide"), "decimate_wide", **grids.defines(TILE=_TILE, ROWS=_LANES)
    )
    most = _columns(x, _TILE)
    tables = _tables(gpu, "down", y, x, wide=True)
    gpu.launch(
        kernel, (-(-x.coarse // most), -(-y.coarse // _BAND), planes), image, small, *tables,
        y.fine, x.fine, y.low, x.low, y.coarse, x.coarse, most, _BAND, float(grids.cval),
        local=(1, 1, 1), label="gaussian decimate", traffic=image.nbytes + small.nbytes,
    )  # fmt: skip
    return small


def _interpolated_wide(gpu: Gpu, small: Image, result: Image, grids: _Grids) -> Image:
    y, x = grids.y, grids.x
    band = _WIDE_LINES - y.taps + 1
    defines = grids.defines(TILE=_WIDE_TILE, BAND=band)
    kernel = gpu.kernel(("border", "interpolate_wide"), "interpolate_wide", **defines)
    size = -(-x.fine // _WIDE_TILE), -(-(y.coarse + y.taps - 1) // band), result.shape[0]
    gpu.launch(
        kernel, size, small, result, *_tables(gpu, "up", y, x, wide=True), y.fine, x.fine, y.low, y.coarse, x.coarse,
        local=(1, 1, 1), label="gaussian interpolate", traffic=small.nbytes + result.nbytes,
    )  # fmt: skip
    return result


def _shares(image: Image, pixels: bool) -> tuple[int, int, int]:
    """Planes that groups take each by itself; channels and columns of a work-item."""
    return (1, image.shape[2], 2 if image.shape[2] < 4 else 1) if pixels else (image.shape[0], 1, 4)


def _items(gpu: Gpu, width: int, rows: int, planes: int, columns: int) -> int:
    """Work-items of a group: fewer for small images, so that there are groups for all compute units."""
    items = _ITEMS
    while (
        items * columns // 2 >= _NARROWEST
        and -(-width // (items * columns)) * planes * rows < _LEAST_BAND * gpu.limits.compute_units
    ):
        items //= 2
    return items


def _band(gpu: Gpu, rows: int, columns: int, items: int, most: int) -> int:
    """Coarse rows of a group, of ``rows``, where groups stand ``columns`` side by side: all groups run at once."""
    bands = max(1, _GROUPS * _ITEMS // items * gpu.limits.compute_units // columns)
    return min(most, max(_LEAST_BAND, -(-rows // bands)))


def _of_base(y: Axis) -> int:
    """Bytes of a base's weights in local memory."""
    return y.most * y.taps * 4


def _bases(kernel: Kernel, y: Axis) -> int:
    """How many bases' weights fit in local memory beside what the kernel has there."""
    return (kernel.gpu.limits.local_bytes - kernel.local_bytes) // _of_base(y)


@lru_cache(64)
def _columns(x: Axis, tile: int) -> int:
    """Coarse columns whose fine ones are never more than ``tile``."""
    for columns in range(min(tile, x.coarse), 1, -1):
        first = np.arange(0, x.coarse, columns)
        last = np.minimum(first + columns, x.coarse) - 1 + x.taps
        if (x.starts[last] - x.starts[first]).max() <= tile:
            return columns
    return 1


@lru_cache(64)
def _segment(x: Axis, tile: int) -> int:
    """Coarse columns that ``tile`` fine ones, from a multiple of it on, are made of."""
    bases = x.bases[x.inside]
    first = np.arange(0, x.fine, tile)
    last = np.minimum(first + tile, x.fine) - 1
    return int((bases[last] - bases[first]).max()) + x.taps


def _tables(gpu: Gpu, way: str, y: Axis, x: Axis, *, wide: bool = False) -> list[Image]:
    """Of ``down`` or ``up``, on the device."""

    def make() -> list[Image]:
        down = way == "down"
        along = y.down if down else y.up
        if not wide:
            along = y.by_base(along if down else _everywhere(y))
        across = (x.starts, x.gathered) if down else (x.bases[x.inside], x.up)
        return [gpu.array(table) for table in (y.starts, along, *across)]

    return gpu.kept((way, y, x, wide), make)


def _everywhere(y: Axis) -> npt.NDArray[np.float32]:
    """``up`` from ``low`` on, 0 where there is no image."""
    result = np.zeros_like(y.down)
    result[y.inside] = y.up
    return result
