"""Decimation to a coarse grid: launches of decimate.cl and decimate_wide.cl."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .gpu import Local
from .grids import FOUR, Grids, band_of, bases_of, coarse_columns, is_wide_enough, items_of, layout
from .image import Image
from .pixels import Decoding, unpack

if TYPE_CHECKING:
    from .gpu import Gpu

_ROWS = 8  # coarse rows in local memory together
_COPIED = 256  # values of a table that is copied to local memory, at most
_TILE, _BAND, _LANES = (
    256,
    64,
    16,
)  # on CPUs: fine columns and coarse rows of a work-item; coarse rows in local memory


def decimated(gpu: Gpu, image: Image, grids: Grids, decoding: Decoding | None = None) -> Image:
    """The coarse image of planes, or of pixels (height, width, channels) if there is a decoding."""
    if gpu.limits.is_cpu:
        return _wide(gpu, image, grids)
    y, x = grids.y, grids.x
    alpha = decoding.alpha if decoding else image.alpha
    planes, channels, together = layout(image, alpha, pixels=decoding is not None)
    small = gpu.empty((planes * channels, y.coarse, x.coarse))
    small.alpha = alpha
    sources: tuple[str, ...] = ("border", "fours", "window", "decimate")
    defines = grids.defines(
        ROWS=_ROWS, MOST=y.most, WIDEST=len(x.gathered), ALIGNED=x.fine * channels % FOUR == 0,
        SPACED=round(x.fine / x.coarse * channels) % 2 == 0,
    )  # fmt: skip
    table, scale = None, 1.0
    if decoding:
        sources = ("border", "lanes", "colour", "decode", *sources[1:])
        table, scale = decoding.arguments(image)
        copied = table is not None and table.shape[0] <= _COPIED
        defines |= {"WIDTH": 1, **decoding.defines(image, "__local" if copied else "__global")}
        defines |= {"INTERLEAVED": channels, "CHANNELS": together, "COLOURS": together - alpha}
        defines["BYTES"] = image.dtype.itemsize
        defines["CODES"] = table.shape[0] if table and copied else None
    items = items_of(gpu, x.fine, y.coarse, planes, channels)
    while True:
        kernel = gpu.kernel(sources, "decimate", **defines, ITEMS=items)
        if kernel.fit(items) == (items,) and bases_of(kernel, grids) >= y.taps:
            break
        items //= 2
        if not is_wide_enough(items, channels):
            return decimated(gpu, unpack(image, decoding), grids) if decoding else _wide(gpu, image, grids)
    most = coarse_columns(
        x, (items * FOUR - (FOUR - 1)) // channels
    )  # a group's first value is a multiple of four
    tiles = -(-x.coarse // most)
    band = band_of(gpu, y.coarse, tiles * planes, items, most=bases_of(kernel, grids) - y.taps + 1)
    gpu.launch(
        kernel, (tiles * items, -(-y.coarse // band), planes), image, small, *grids.tables(gpu, "down"),
        y.fine, x.fine, y.low, x.low, y.coarse, x.coarse, most, band, float(grids.cval), table, scale,
        Local((band + y.taps - 1) * grids.base_bytes), local=(items, 1, 1), label="gaussian decimate",
        traffic=image.nbytes + small.nbytes,
    )  # fmt: skip
    return small


def _wide(gpu: Gpu, image: Image, grids: Grids) -> Image:
    y, x = grids.y, grids.x
    planes = image.shape[0]
    small = image.like((planes, y.coarse, x.coarse))
    kernel = gpu.kernel(
        ("border", "decimate_wide"), "decimate_wide", **grids.defines(TILE=_TILE, ROWS=_LANES)
    )
    most = coarse_columns(x, _TILE)
    gpu.launch(
        kernel, (-(-x.coarse // most), -(-y.coarse // _BAND), planes), image, small,
        *grids.tables(gpu, "down", wide=True),
        y.fine, x.fine, y.low, x.low, y.coarse, x.coarse, most, _BAND, float(grids.cval),
        local=(1, 1, 1), label="gaussian decimate", traffic=image.nbytes + small.nbytes,
    )  # fmt: skip
    return small
