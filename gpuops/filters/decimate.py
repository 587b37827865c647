"""Decimation to a coarse grid: launches of decimate.cl and decimate_wide.cl."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..gpu import Local
from ..image import Image
from ..pixels.coding import Decoding, unpack
from ..programs import in_largest_group
from .grids import LEAST_ITEMS, Grids, band_of, bases_of, coarse_columns, items_of
from .layout import FOUR, LANES, Layout

if TYPE_CHECKING:
    from ..gpu import Gpu, Kernel

# Coarse rows that are in local memory together.
_ROWS = 8
# Fine columns of a work-item on CPUs.
_TILE = 256
# Coarse rows of a work-item on CPUs.
_BAND = 64
# Coarse rows of a work-item on llvmpipe, whose loops end after 65535 rounds.
_SHORT_BAND = 8


def decimated(gpu: Gpu, image: Image, grids: Grids, decoding: Decoding | None = None) -> Image:
    """Returns the coarse image of planes; on CPUs also of pixels (height, width, channels), with a decoding."""
    y, x, planes = grids.y, grids.x, image.shape[0]

    def build(items: int) -> Kernel | None:
        kernel = gpu.kernel(
            ("border", "fours", "coarse_weights", "decimate"), "decimate", ROWS=_ROWS, MOST=y.most,
            WIDEST=len(x.gathered), ALIGNED=x.fine % FOUR == 0, SPACED=round(x.fine / x.coarse) % 2 == 0,
            ITEMS=items, **grids.defines,
        )  # fmt: skip
        return kernel if bases_of(kernel, grids) >= y.taps else None

    found = None
    if not gpu.limits.is_cpu:
        found = in_largest_group(build, items_of(gpu, grids, planes), LEAST_ITEMS)
    if found is None:
        return _wide(gpu, image, grids, decoding)
    kernel, items = found
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


def _wide(gpu: Gpu, image: Image, grids: Grids, decoding: Decoding | None) -> Image:
    y, x = grids.y, grids.x
    layout = Layout.of(image, decoding.alpha if decoding else image.alpha, pixels=decoding is not None)
    tile = _TILE * layout.channels
    if decoding and tile * (y.taps + LANES) * 4 > gpu.limits.local_bytes:
        return _wide(gpu, unpack(image, decoding), grids, None)
    small = gpu.empty((layout.planes * layout.channels, y.coarse, x.coarse))
    small.alpha = layout.alpha
    table, scale = decoding.arguments(image) if decoding else (None, 1.0)
    defines = {**grids.defines, "TILE": tile, "ROWS": LANES}
    if decoding:
        defines |= decoding.defines(image) | layout.defines(image.dtype, LANES)
    sources = (
        "border",
        *(("lanes", "colour", "decode") if decoding else ()),
        "load_sixteen",
        "decimate_wide",
    )
    kernel = gpu.kernel(sources, "decimate_wide", **defines)
    most = coarse_columns(x, _TILE)
    band = _BAND if gpu.limits.lanes > 1 else _SHORT_BAND
    gpu.launch(
        kernel, (-(-x.coarse // most), -(-y.coarse // band), layout.planes), image, small,
        *grids.tables(gpu, "down", wide=True), y.fine, x.fine, y.low, x.low, y.coarse, x.coarse, most, band,
        float(grids.cval), table, scale, local=(1, 1, 1), label="gaussian decimate",
    )  # fmt: skip
    return small
