"""Both axes of a coarse grid, and the ways down to it and back: launches of decimate.cl and interpolate.cl.

CPUs have decimate_wide.cl and interpolate_wide.cl.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ..gpu import Define, Gpu, Kernel, Local
from ..image import Image
from ..params.border import by_axis, define
from ..pixels.coding import Decoding, Encoding, pack, unpack
from ..programs import in_largest_group
from ..tiles.rectangles import rows_of
from . import coarse
from .coarse import Axis, Left
from .layout import FOUR, LANES, WIDTH, Layout

# Work-items of a group, at most.
_ITEMS = 128
# Groups of _ITEMS that a compute unit runs at once.
_GROUPS = 4
# Coarse rows of a group, at least: its margins are about as large.
_LEAST_BAND = 4
# Work-items of a group, at least, so that it has more columns than margins.
_LEAST_ITEMS = 24


@dataclass(frozen=True)
class Grids:
    """Both axes, coarse and fine, and the border mode and value outside."""

    y: Axis
    x: Axis
    border: str
    cval: float

    @classmethod
    def of(cls, size: tuple[int, ...], left: tuple[Left, Left], border: str, cval: float) -> Grids:
        """The grids for an image of ``size`` (height, width) on which ``left`` is still to be done."""
        axes = zip(size, left, by_axis(border), strict=True)
        y, x = (coarse.axis(n, todo, mode, coarse.step(n, todo.sigma, mode)) for n, todo, mode in axes)
        return cls(y, x, border, cval)

    def part(self, first: int, count: int) -> tuple[Grids, int]:
        """Returns the grids of ``count`` rows from ``first`` on, and the first coarse row of them."""
        y, start = self.y.part(first, count)
        return replace(self, y=y), start

    @property
    def defines(self) -> dict[str, Define]:
        """The defines that all these kernels take."""
        return {**define(self.border), "TAPS_Y": self.y.taps, "TAPS_X": self.x.taps}

    def tables(self, gpu: Gpu, way: str, *, wide: bool = False) -> list[Image]:
        """The tables of the kernels ``down`` or ``up`` on the device: see decimate.cl (``wide``: decimate_wide.cl)."""
        y, x, down = self.y, self.x, way == "down"

        def make() -> list[Image]:
            along = y.down if down else y.up
            if not wide:
                along = y.by_base(along if down else _everywhere(y))
            across = (x.starts, x.gathered) if down else (x.bases[x.inside], x.up)
            return [gpu.array(table) for table in (y.starts, along, *across)]

        return gpu.kept((way, y, x, wide), make)

    @property
    def base_bytes(self) -> int:
        """Bytes of local memory for the weights of one base's rows."""
        return self.y.most * self.y.taps * 4


def items_of(gpu: Gpu, grids: Grids, planes: int) -> int:
    """Returns the work-items of a group: fewer for small images, so that all compute units get groups."""
    items = _ITEMS
    while (
        items // 2 >= _LEAST_ITEMS
        and -(-grids.x.fine // (items * FOUR)) * planes * grids.y.coarse
        < _LEAST_BAND * gpu.limits.compute_units
    ):
        items //= 2
    return items


def band_of(gpu: Gpu, rows: int, tiles: int, items: int, planes: int, most: int) -> int:
    """Returns how many of the coarse ``rows`` a group takes, where ``tiles`` groups stand side by side.

    All groups then run at once.
    """
    bands = max(1, _GROUPS * _ITEMS // items * gpu.limits.compute_units // (tiles * planes))
    return min(most, max(_LEAST_BAND, -(-rows // bands)))


def bases_of(kernel: Kernel, grids: Grids) -> int:
    """Returns how many bases' weights fit in local memory beside the kernel's own."""
    return (kernel.gpu.limits.local_bytes - kernel.local_bytes) // grids.base_bytes


@lru_cache(64)
def coarse_columns(x: Axis, tile: int) -> int:
    """Returns how many neighbouring coarse columns ``tile`` fine ones are enough for, wherever they begin.

    Every coarse column counts as made of as many fine ones as the widest.
    """
    starts, widest = x.starts, len(x.gathered)
    for columns in range(min(tile, x.coarse), 1, -1):
        if (starts[columns - 1 : x.coarse] - starts[: x.coarse - columns + 1]).max() + widest <= tile:
            return columns
    return 1


@lru_cache(64)
def segment(x: Axis, tile: int, channels: int) -> int:
    """Returns how many coarse columns ``tile`` values of pixels are made of, at most.

    The values begin at a multiple of ``tile``.
    """
    bases, values = x.bases[x.inside], x.fine * channels
    first = np.arange(0, values, tile)
    last = np.minimum(first + tile, values) - 1
    return int((bases[last // channels] - bases[first // channels]).max()) + x.taps


def _everywhere(y: Axis) -> npt.NDArray[np.float32]:
    """The weights ``up`` from ``low`` on, 0 outside the image."""
    result = np.zeros_like(y.down)
    result[y.inside] = y.up
    return result


# -- the way down -----------------------------------------------------------------------------------------------------

# Coarse rows that are in local memory together.
_DOWN_ROWS = 8
# Fine columns of a work-item on CPUs.
_DOWN_TILE = 256
# Coarse rows of a work-item on CPUs.
_DOWN_BAND = 64
# Coarse rows of a work-item on llvmpipe, whose loops end after 65535 rounds.
_DOWN_SHORT_BAND = 8


def decimated(gpu: Gpu, image: Image, grids: Grids, decoding: Decoding | None = None) -> Image:
    """Returns the coarse image of planes; on CPUs also of pixels (height, width, channels), with a decoding."""
    y, x, planes = grids.y, grids.x, image.shape[0]

    def build(items: int) -> Kernel | None:
        kernel = gpu.kernel(
            ("border", "fours", "coarse_weights", "decimate"), "decimate", ROWS=_DOWN_ROWS, MOST=y.most,
            WIDEST=len(x.gathered), ALIGNED=x.fine % FOUR == 0, SPACED=round(x.fine / x.coarse) % 2 == 0,
            ITEMS=items, **grids.defines,
        )  # fmt: skip
        return kernel if bases_of(kernel, grids) >= y.taps else None

    group = None
    if not gpu.limits.is_cpu:
        group = in_largest_group(build, items_of(gpu, grids, planes), _LEAST_ITEMS)
    if group is None:
        return _decimated_wide(gpu, image, grids, decoding)
    kernel, items = group
    small = image.like((planes, y.coarse, x.coarse))
    # A group's first value is a multiple of four.
    most = coarse_columns(x, items * FOUR - (FOUR - 1))
    tiles = -(-x.coarse // most)
    band = band_of(gpu, y.coarse, tiles, items, planes, most=bases_of(kernel, grids) - y.taps + 1)
    gpu.launch(
        kernel, (tiles * items, -(-y.coarse // band), planes), image, small, *grids.tables(gpu, "down"), y.fine, x.fine,
        y.low, x.low, y.coarse, x.coarse, most, band, float(grids.cval), Local((band + y.taps - 1) * grids.base_bytes),
        local=(items, 1, 1), label="gaussian decimate",
    )  # fmt: skip
    return small


def _decimated_wide(gpu: Gpu, image: Image, grids: Grids, decoding: Decoding | None) -> Image:
    y, x = grids.y, grids.x
    layout = Layout.of(image, decoding.alpha if decoding else image.alpha, pixels=decoding is not None)
    tile = _DOWN_TILE * layout.channels
    if decoding and tile * (y.taps + LANES) * 4 > gpu.limits.local_bytes:
        return _decimated_wide(gpu, unpack(image, decoding), grids, None)
    small = gpu.empty((layout.planes * layout.channels, y.coarse, x.coarse))
    small.alpha = layout.alpha
    table, scale = decoding.arguments(image) if decoding else (None, 1.0)
    defines = {**grids.defines, "TILE": tile, "ROWS": LANES}
    if decoding:
        defines |= decoding.defines(image) | layout.defines(image.dtype, LANES)
    decode = ("lanes", "colour", "decode") if decoding else ()
    sources = ("border", *decode, "load_sixteen", "decimate_wide")
    kernel = gpu.kernel(sources, "decimate_wide", **defines)
    most = coarse_columns(x, _DOWN_TILE)
    band = _DOWN_BAND if gpu.limits.lanes > 1 else _DOWN_SHORT_BAND
    gpu.launch(
        kernel, (-(-x.coarse // most), -(-y.coarse // band), layout.planes), image, small,
        *grids.tables(gpu, "down", wide=True), y.fine, x.fine, y.low, x.low, y.coarse, x.coarse, most, band,
        float(grids.cval), table, scale, local=(1, 1, 1), label="gaussian decimate",
    )  # fmt: skip
    return small


# -- the way back -----------------------------------------------------------------------------------------------------

# Coarse rows that are in local memory together, about.
_UP_ROWS = 6
# Columns of a work-item on CPUs.
_UP_TILE = 128
# Coarse rows of a work-item on CPUs.
_UP_LINES = 32


def interpolated_pixels(
    gpu: Gpu, small: Image, grids: Grids, encoding: Encoding, rows: tuple[int, int]
) -> tuple[Image, Image]:
    """Returns pixels (height, width, channels) of rows of the fine image, and counters as in encode.cl; for CPUs.

    ``rows`` are the first and the end of these.
    """
    planes, size = small.shape[0], (grids.y.fine, grids.x.fine)
    if _bytes_of_wide(grids, planes) > gpu.limits.local_bytes:
        fine = interpolated(gpu, small, small.like((planes, *size)), grids)
        return pack(rows_of(fine, rows[0], rows[1] - rows[0]), encoding)
    shape = rows[1] - rows[0], grids.x.fine, planes
    result, lost = gpu.empty(shape, encoding.dtype), gpu.zeros((2,), np.uint32)
    return _interpolated_wide(gpu, small, result, grids, rows, encoding, lost), lost


def interpolated(gpu: Gpu, small: Image, result: Image, grids: Grids) -> Image:
    """Writes the fine image's planes to ``result`` and returns it."""
    y, x, planes = grids.y, grids.x, small.shape[0]

    def build(items: int) -> Kernel | None:
        kernel = gpu.kernel(
            ("border", "fours", "coarse_weights", "interpolate"), "interpolate",
            ROWS=y.taps * max(1, _UP_ROWS // y.taps), MOST=y.most, ALIGNED=x.fine % FOUR == 0,
            SEGMENT=segment(x, items * FOUR, 1), ITEMS=items, **grids.defines,
        )  # fmt: skip
        return kernel if bases_of(kernel, grids) >= 1 else None

    group = None if gpu.limits.is_cpu else in_largest_group(build, items_of(gpu, grids, planes))
    if group is None:
        return _interpolated_wide(gpu, small, result, grids, (0, y.fine))
    kernel, items = group
    rows, tiles = y.coarse + y.taps - 1, -(-x.fine // (items * FOUR))
    band = band_of(gpu, rows, tiles, items, planes, most=bases_of(kernel, grids))
    gpu.launch(
        kernel, (tiles * items, -(-rows // band), planes), small, result, *grids.tables(gpu, "up"), y.fine, x.fine,
        y.low, y.coarse, x.coarse, band, Local(band * grids.base_bytes), local=(items, 1, 1),
        label="gaussian interpolate",
    )  # fmt: skip
    return result


def _interpolated_wide(
    gpu: Gpu,
    small: Image,
    result: Image,
    grids: Grids,
    rows: tuple[int, int],
    encoding: Encoding | None = None,
    lost: Image | None = None,
) -> Image:
    y, x = grids.y, grids.x
    layout = Layout.of(result, small.alpha, pixels=encoding is not None)
    band, tile = _UP_LINES - y.taps + 1, _UP_TILE * layout.channels
    most = segment(x, tile, layout.channels)
    defines = {**grids.defines, "TILE": tile, "BAND": band}
    if encoding:
        defines |= encoding.defines(layout.channels, alpha=layout.alpha)
        defines |= layout.defines(encoding.dtype, LANES)
    encode = ("colour", "encode") if encoding else ()
    sources = ("border", "lanes", *encode, "store_sixteen", "interpolate_wide")
    kernel = gpu.kernel(sources, "interpolate_wide", **{**defines, "WIDTH": WIDTH})
    size = -(-x.fine // _UP_TILE), -(-(y.coarse + y.taps - 1) // band), layout.planes
    gpu.launch(
        kernel, size, small, result, *grids.tables(gpu, "up", wide=True), y.fine, x.fine, *rows, y.low, y.coarse,
        x.coarse, most, encoding.codes(gpu) if encoding else None, lost, Local(layout.channels * most * _UP_LINES * 4),
        local=(1, 1, 1), label="gaussian interpolate",
    )  # fmt: skip
    return result


def _bytes_of_wide(grids: Grids, channels: int) -> int:
    """Returns the bytes of local memory that interpolate_wide.cl needs."""
    tile = _UP_TILE * channels
    return (segment(grids.x, tile, channels) * channels + tile) * _UP_LINES * 4
