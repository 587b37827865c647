"""The way back from a coarse grid: launches of interpolate.cl and interpolate_wide.cl."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..gpu import Local
from ..image import Image
from ..pixels.coding import Encoding, pack
from ..programs import in_largest_group
from .grids import Grids, band_of, bases_of, items_of, segment
from .layout import FOUR, LANES, WIDTH, Layout

if TYPE_CHECKING:
    from ..gpu import Gpu, Kernel

# Coarse rows that are in local memory together, about.
_ROWS = 6
# Columns of a work-item on CPUs.
_TILE = 128
# Coarse rows of a work-item on CPUs.
_LINES = 32


def interpolated_pixels(gpu: Gpu, small: Image, grids: Grids, encoding: Encoding) -> tuple[Image, Image]:
    """Returns the fine image's pixels (height, width, channels), and counters as in encode.cl; for CPUs."""
    planes, size = small.shape[0], (grids.y.fine, grids.x.fine)
    if _wide_bytes(grids, planes) > gpu.limits.local_bytes:
        return pack(interpolated(gpu, small, small.like((planes, *size)), grids), encoding)
    result, lost = gpu.empty((*size, planes), encoding.dtype), gpu.zeros((2,), np.uint32)
    return _wide(gpu, small, result, grids, encoding, lost), lost


def interpolated(gpu: Gpu, small: Image, result: Image, grids: Grids) -> Image:
    """Writes the fine image's planes to ``result`` and returns it."""
    y, x, planes = grids.y, grids.x, small.shape[0]

    def build(items: int) -> Kernel | None:
        kernel = gpu.kernel(
            ("border", "fours", "coarse_weights", "interpolate"), "interpolate",
            ROWS=y.taps * max(1, _ROWS // y.taps), MOST=y.most, ALIGNED=x.fine % FOUR == 0,
            SEGMENT=segment(x, items * FOUR, 1), ITEMS=items, **grids.defines,
        )  # fmt: skip
        return kernel if bases_of(kernel, grids) >= 1 else None

    found = None if gpu.limits.is_cpu else in_largest_group(build, items_of(gpu, grids, planes))
    if found is None:
        return _wide(gpu, small, result, grids)
    kernel, items = found
    rows, tiles = y.coarse + y.taps - 1, -(-x.fine // (items * FOUR))
    band = band_of(gpu, rows, tiles, items, planes, most=bases_of(kernel, grids))
    gpu.launch(
        kernel, (tiles * items, -(-rows // band), planes), small, result, *grids.tables(gpu, "up"), y.fine, x.fine,
        y.low, y.coarse, x.coarse, band, Local(band * grids.base_bytes), local=(items, 1, 1),
        label="gaussian interpolate",
    )  # fmt: skip
    return result


def _wide(
    gpu: Gpu,
    small: Image,
    result: Image,
    grids: Grids,
    encoding: Encoding | None = None,
    lost: Image | None = None,
) -> Image:
    y, x = grids.y, grids.x
    layout = Layout.of(result, small.alpha, pixels=encoding is not None)
    band, tile = _LINES - y.taps + 1, _TILE * layout.channels
    most = segment(x, tile, layout.channels)
    defines = {**grids.defines, "TILE": tile, "BAND": band}
    if encoding:
        defines |= encoding.defines(layout.channels, alpha=layout.alpha)
        defines |= layout.defines(encoding.dtype, LANES)
    sources = (
        "border",
        "lanes",
        *(("colour", "encode") if encoding else ()),
        "store_sixteen",
        "interpolate_wide",
    )
    kernel = gpu.kernel(sources, "interpolate_wide", **{**defines, "WIDTH": WIDTH})
    size = -(-x.fine // _TILE), -(-(y.coarse + y.taps - 1) // band), layout.planes
    gpu.launch(
        kernel, size, small, result, *grids.tables(gpu, "up", wide=True), y.fine, x.fine, y.low, y.coarse, x.coarse,
        most, encoding.codes(gpu) if encoding else None, lost, Local(layout.channels * most * _LINES * 4),
        local=(1, 1, 1), label="gaussian interpolate",
    )  # fmt: skip
    return result


def _wide_bytes(grids: Grids, channels: int) -> int:
    """Returns the bytes of local memory that interpolate_wide.cl needs."""
    tile = _TILE * channels
    return (segment(grids.x, tile, channels) * channels + tile) * _LINES * 4
