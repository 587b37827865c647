"""The way back from a coarse grid: launches of interpolate.cl and interpolate_wide.cl."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .gpu import Local
from .grids import FOUR, Grids, band_of, bases_of, items_of, layout, segment
from .image import Image
from .pixels import Encoding

if TYPE_CHECKING:
    from .gpu import Gpu

_ROWS = 6  # coarse rows in local memory together
_TILE, _LINES = 128, 32  # on CPUs: columns and rows of a work-item


def interpolated(
    gpu: Gpu,
    small: Image,
    result: Image,
    grids: Grids,
    encoding: Encoding | None = None,
    lost: Image | None = None,
) -> Image:
    """The fine image's planes; or its pixels (height, width, channels) if there is an encoding, and what they lost."""
    if gpu.limits.is_cpu:
        return _wide(gpu, small, result, grids)
    y, x = grids.y, grids.x
    planes, channels, together = layout(result, small.alpha, pixels=encoding is not None)
    sources: tuple[str, ...] = ("border", "fours", "window", "interpolate")
    defines = grids.defines(
        ROWS=y.taps * max(1, _ROWS // y.taps), MOST=y.most, ALIGNED=x.fine * channels % FOUR == 0
    )
    table = None
    if encoding:
        sources = ("border", "lanes", "colour", "encode", *sources[1:])
        table = encoding.codes(gpu)
        defines |= {"WIDTH": 1, **encoding.defines(together, alpha=small.alpha), "INTERLEAVED": channels}
        defines |= {
            "BYTES": encoding.dtype.itemsize,
            "CODES_SPACE": "__local",
            "CODES": table.shape[0] if table else None,
        }
    items = items_of(gpu, x.fine, y.coarse, planes, channels)
    copied = table.nbytes if table else 4
    while True:
        tile = items * FOUR
        kernel = gpu.kernel(
            sources, "interpolate", **defines, ITEMS=items, SEGMENT=segment(x, tile, channels)
        )
        if (kernel.fit(items) == (items,) and bases_of(kernel, grids, copied) >= 1) or items == 1:
            break
        items //= 2
    rows, tiles = y.coarse + y.taps - 1, -(-x.fine * channels // tile)
    band = band_of(gpu, rows, tiles * planes, items, most=bases_of(kernel, grids, copied))
    gpu.launch(
        kernel, (tiles * items, -(-rows // band), planes), small, result, *grids.tables(gpu, "up"),
        y.fine, x.fine, y.low, y.coarse, x.coarse, band, table, lost, Local(band * grids.base_bytes),
        Local(copied), local=(items, 1, 1), label="gaussian interpolate", traffic=small.nbytes + result.nbytes,
    )  # fmt: skip
    return result


def _wide(gpu: Gpu, small: Image, result: Image, grids: Grids) -> Image:
    y, x = grids.y, grids.x
    band = _LINES - y.taps + 1
    defines = grids.defines(TILE=_TILE, BAND=band)
    kernel = gpu.kernel(("border", "interpolate_wide"), "interpolate_wide", **defines)
    size = -(-x.fine // _TILE), -(-(y.coarse + y.taps - 1) // band), result.shape[0]
    gpu.launch(
        kernel, size, small, result, *grids.tables(gpu, "up", wide=True), y.fine, x.fine, y.low, y.coarse, x.coarse,
        local=(1, 1, 1), label="gaussian interpolate", traffic=small.nbytes + result.nbytes,
    )  # fmt: skip
    return result
