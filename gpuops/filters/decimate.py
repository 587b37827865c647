"""Decimation to a coarse grid: launches of decimate.cl and decimate_wide.cl."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..gpu import Local
from ..image import Image
from ..pixels.coding import Decoding, unpack
from .grids import Grids, band_of, bases_of, coarse_columns, is_wide_enough, items_of
from .layout import FOUR, LANES, Layout

if TYPE_CHECKING:
    from ..gpu import Define, Gpu

# Coarse rows that are in local memory together.
_ROWS = 8
# Values of a table that is copied to local memory, at most.
_COPIED = 256
# Fine columns of a work-item on CPUs.
_TILE = 256
# Coarse rows of a work-item on CPUs.
_BAND = 64
# Coarse rows of a work-item on llvmpipe, whose loops end after 65535 rounds.
_SHORT_BAND = 8


def decimated(gpu: Gpu, image: Image, grids: Grids, decoding: Decoding | None = None) -> Image:
    """Returns the coarse image of planes, or of pixels (height, width, channels) if there is a decoding."""
    if gpu.limits.is_cpu:
        return _wide(gpu, image, grids, decoding)
    y, x = grids.y, grids.x
    layout = Layout.of(image, decoding.alpha if decoding else image.alpha, pixels=decoding is not None)
    small = _empty(gpu, grids, layout)
    table, scale = decoding.arguments(image) if decoding else (None, 1.0)
    copied = table is not None and table.shape[0] <= _COPIED
    defines = grids.defines(
        ROWS=_ROWS,
        MOST=y.most,
        WIDEST=len(x.gathered),
        ALIGNED=x.fine * layout.channels % FOUR == 0,
        SPACED=round(x.fine / x.coarse * layout.channels) % 2 == 0,
    )
    defines |= _reading(image, layout, decoding, FOUR)
    if table and copied:
        defines |= {"CODES": table.shape[0], "SPACE": "__local"}
    sources = _sources(decoding, "fours", "coarse_weights", "decimate")
    items = items_of(gpu, grids, layout)
    while True:
        kernel = gpu.kernel(sources, "decimate", **defines, ITEMS=items)
        if kernel.fit(items) == (items,) and bases_of(kernel, grids) >= y.taps:
            break
        items //= 2
        if not is_wide_enough(items, layout):
            return _wide(gpu, image, grids, decoding)
    # A group's first value is a multiple of four.
    most = coarse_columns(x, (items * FOUR - (FOUR - 1)) // layout.channels)
    tiles = -(-x.coarse // most)
    band = band_of(gpu, y.coarse, tiles, items, layout, most=bases_of(kernel, grids) - y.taps + 1)
    gpu.launch(
        kernel, (tiles * items, -(-y.coarse // band), layout.planes), image, small, *grids.tables(gpu, "down"), y.fine,
        x.fine, y.low, x.low, y.coarse, x.coarse, most, band, float(grids.cval), table, scale,
        Local((band + y.taps - 1) * grids.base_bytes), local=(items, 1, 1), label="gaussian decimate",
    )  # fmt: skip
    return small


def _wide(gpu: Gpu, image: Image, grids: Grids, decoding: Decoding | None) -> Image:
    y, x = grids.y, grids.x
    layout = Layout.of(image, decoding.alpha if decoding else image.alpha, pixels=decoding is not None)
    tile = _TILE * layout.channels
    if decoding and tile * (y.taps + LANES) * 4 > gpu.limits.local_bytes:
        return _wide(gpu, unpack(image, decoding), grids, None)
    small = _empty(gpu, grids, layout)
    table, scale = decoding.arguments(image) if decoding else (None, 1.0)
    defines = grids.defines(TILE=tile, ROWS=LANES) | _reading(image, layout, decoding, LANES)
    kernel = gpu.kernel(_sources(decoding, "load_sixteen", "decimate_wide"), "decimate_wide", **defines)
    most = coarse_columns(x, _TILE)
    band = _BAND if gpu.limits.lanes > 1 else _SHORT_BAND
    gpu.launch(
        kernel, (-(-x.coarse // most), -(-y.coarse // band), layout.planes), image, small,
        *grids.tables(gpu, "down", wide=True), y.fine, x.fine, y.low, x.low, y.coarse, x.coarse, most, band,
        float(grids.cval), table, scale, local=(1, 1, 1), label="gaussian decimate",
    )  # fmt: skip
    return small


def _sources(decoding: object, *kernel: str) -> tuple[str, ...]:
    return ("border", *(("lanes", "colour", "decode") if decoding else ()), *kernel)


def _reading(image: Image, layout: Layout, decoding: Decoding | None, lanes: int) -> dict[str, Define]:
    """Returns the defines for pixels; ``lanes`` values are decoded together where they need not be whole pixels."""
    return decoding.defines(image) | layout.defines(image.dtype, lanes) if decoding else {}


def _empty(gpu: Gpu, grids: Grids, layout: Layout) -> Image:
    """The coarse image's memory, planar."""
    small = gpu.empty((layout.planes * layout.channels, grids.y.coarse, grids.x.coarse))
    small.alpha = layout.alpha
    return small
