"""The way back from a coarse grid: launches of interpolate.cl and interpolate_wide.cl."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..gpu import Local
from ..image import Image
from ..pixels.coding import Encoding, pack
from .grids import Grids, band_of, bases_of, items_of, segment
from .layout import FOUR, LANES, WIDTH, Layout

if TYPE_CHECKING:
    from ..gpu import Define, Gpu

# Coarse rows that are in local memory together, about.
_ROWS = 6
# Columns of a work-item on CPUs.
_TILE = 128
# Coarse rows of a work-item on CPUs.
_LINES = 32


def interpolated(gpu: Gpu, small: Image, result: Image, grids: Grids) -> Image:
    """Writes the fine image's planes to ``result`` and returns it."""
    _launch(gpu, small, result, grids, None, None)
    return result


def interpolated_pixels(gpu: Gpu, small: Image, grids: Grids, encoding: Encoding) -> tuple[Image, Image]:
    """Returns the fine image's pixels (height, width, channels), and counters as in encode.cl."""
    size = grids.y.fine, grids.x.fine
    if gpu.limits.is_cpu and _wide_bytes(grids, small.shape[0]) > gpu.limits.local_bytes:
        return pack(interpolated(gpu, small, small.like((small.shape[0], *size)), grids), encoding)
    result, lost = gpu.empty((*size, small.shape[0]), encoding.dtype), gpu.zeros((2,), np.uint32)
    _launch(gpu, small, result, grids, encoding, lost)
    return result, lost


def _launch(
    gpu: Gpu, small: Image, result: Image, grids: Grids, encoding: Encoding | None, lost: Image | None
) -> None:
    if gpu.limits.is_cpu:
        _wide(gpu, small, result, grids, encoding, lost)
        return
    y, x = grids.y, grids.x
    layout = Layout.of(result, small.alpha, pixels=encoding is not None)
    defines = grids.defines(
        ROWS=y.taps * max(1, _ROWS // y.taps), MOST=y.most, ALIGNED=x.fine * layout.channels % FOUR == 0
    )
    defines |= {"WIDTH": 1} | _writing(layout, encoding, FOUR)
    table = encoding.codes(gpu) if encoding else None
    if encoding:
        defines |= {"CODES": table.shape[0] if table else None, "CODES_SPACE": "__local"}
    sources, copied = (
        _sources(encoding, "fours", "encode_four", "coarse_weights", "interpolate"),
        table.nbytes if table else 4,
    )
    items = items_of(gpu, grids, layout)
    while True:
        tile = items * FOUR
        defines["SEGMENT"] = segment(x, tile, layout.channels)
        kernel = gpu.kernel(sources, "interpolate", **defines, ITEMS=items)
        if (kernel.fit(items) == (items,) and bases_of(kernel, grids, copied) >= 1) or items == 1:
            break
        items //= 2
    rows, tiles = y.coarse + y.taps - 1, -(-x.fine * layout.channels // tile)
    band = band_of(gpu, rows, tiles, items, layout, most=bases_of(kernel, grids, copied))
    gpu.launch(
        kernel, (tiles * items, -(-rows // band), layout.planes), small, result, *grids.tables(gpu, "up"), y.fine,
        x.fine, y.low, y.coarse, x.coarse, band, table, lost, Local(band * grids.base_bytes), Local(copied),
        local=(items, 1, 1), label="gaussian interpolate",
    )  # fmt: skip


def _wide(
    gpu: Gpu, small: Image, result: Image, grids: Grids, encoding: Encoding | None, lost: Image | None
) -> None:
    y, x = grids.y, grids.x
    layout = Layout.of(result, small.alpha, pixels=encoding is not None)
    band, tile = _LINES - y.taps + 1, _TILE * layout.channels
    most = segment(x, tile, layout.channels)
    defines = grids.defines(TILE=tile, BAND=band)
    defines |= _writing(layout, encoding, LANES) | {"WIDTH": WIDTH}
    kernel = gpu.kernel(
        _sources(encoding, "store_sixteen", "interpolate_wide"), "interpolate_wide", **defines
    )
    size = -(-x.fine // _TILE), -(-(y.coarse + y.taps - 1) // band), layout.planes
    gpu.launch(
        kernel, size, small, result, *grids.tables(gpu, "up", wide=True), y.fine, x.fine, y.low, y.coarse, x.coarse,
        most, encoding.codes(gpu) if encoding else None, lost, Local(layout.channels * most * _LINES * 4),
        local=(1, 1, 1), label="gaussian interpolate",
    )  # fmt: skip


def _wide_bytes(grids: Grids, channels: int) -> int:
    """Returns the bytes of local memory that interpolate_wide.cl needs."""
    tile = _TILE * channels
    return (segment(grids.x, tile, channels) * channels + tile) * _LINES * 4


def _sources(encoding: Encoding | None, *kernel: str) -> tuple[str, ...]:
    return ("border", "lanes", *(("colour", "encode") if encoding else ()), *kernel)


def _writing(layout: Layout, encoding: Encoding | None, lanes: int) -> dict[str, Define]:
    """Returns the defines for pixels; ``lanes`` values are encoded together where they need not be whole pixels."""
    if not encoding:
        return {}
    return encoding.defines(layout.channels, alpha=layout.alpha) | layout.defines(encoding.dtype, lanes)
