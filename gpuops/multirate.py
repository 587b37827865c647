"""A Gaussian of large σ at about one read and one write: on a coarse grid, between two short Gaussians.

Along each axis: a Gaussian of SHORT coarse steps (coarse.py) and decimation to steps of σ/LEAST or less; the Gaussian
whose variance is what is left; interpolation by the short Gaussian again. All three dampen aliases, of which less than
2e-5 of the response's peak is left.

Source: multirate filtering as in Crochiere & Rabiner, Multirate Digital Signal Processing, 1983; decimation before a
recursive Gaussian in Deriche, "Recursively implementing the Gaussian and its derivatives", INRIA 1893, 1993.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from .coarse import Axis, Two, axis
from .image import Image

if TYPE_CHECKING:
    from .gpu import Gpu, Kernel

# Of a group: fine columns; coarse rows in local memory, and in all. On CPUs, of interpolation: columns, coarse rows.
_TILE, _ROWS, _BAND, _WIDE_TILE, _WIDE_LINES = 256, 16, 64, 128, 32


def gaussian(
    gpu: Gpu,
    image: Image,
    sigma: Two,
    border: str,
    cval: float,
    rest: Callable[[Image, Two], Image],
    into: Image | None = None,
) -> Image:
    """Gaussian blur of a planar float32 Image, of ``sigma`` (y, x) of which one at least has a coarse grid.

    ``rest`` blurs the coarse image by what is left. ``into``: the result's memory, which may be the input's.
    """
    y, x = (axis(n, s, border) for n, s in zip(image.shape[1:], sigma, strict=True))
    coarse = rest(_decimated(gpu, image, y, x, border, cval), (y.sigma, x.sigma))
    return _interpolated(gpu, coarse, image.like() if into is None else into, y, x, border)


def _decimated(gpu: Gpu, image: Image, y: Axis, x: Axis, border: str, cval: float) -> Image:
    planes, height, width = image.shape
    coarse = image.like((planes, y.coarse, x.coarse))

    def build(wide: bool) -> Kernel:
        more = {"WIDE": True} if wide else {"MOST": int(np.diff(y.starts).max())}
        return _kernel(gpu, "decimate", y, x, border, TILE=_TILE, BAND=_BAND, ROWS=_ROWS, **more)

    wide = gpu.limits.is_cpu
    kernel = build(wide)
    if not wide and kernel.fit(_TILE) != (_TILE,):
        wide, kernel = True, build(True)
    columns, items = _columns(x, _TILE), 1 if wide else _TILE
    gpu.launch(
        kernel, (-(-x.coarse // columns) * items, -(-y.coarse // _BAND), planes), image, coarse,
        *_tables(gpu, "down", y, x), height, width, y.low, x.low, y.coarse, x.coarse, columns, float(cval),
        local=(items, 1, 1), label="gaussian decimate", traffic=image.nbytes + coarse.nbytes,
    )  # fmt: skip
    return coarse


def _interpolated(gpu: Gpu, coarse: Image, result: Image, y: Axis, x: Axis, border: str) -> Image:
    planes, height, width = result.shape
    wide = gpu.limits.is_cpu
    tile, band = (_WIDE_TILE, _WIDE_LINES - y.taps + 1) if wide else (1, _BAND)
    kernel = _kernel(gpu, "interpolate", y, x, border, TILE=tile, BAND=band, WIDE=wide)
    size = -(-width // tile), -(-(y.coarse + y.taps - 1) // band), planes
    gpu.launch(
        kernel, size, coarse, result, *_tables(gpu, "up", y, x), height, width, y.low, y.coarse, x.coarse,
        local=(1, 1, 1) if wide else kernel.fit(_TILE, 1, 1), label="gaussian interpolate",
        traffic=coarse.nbytes + result.nbytes,
    )  # fmt: skip
    return result


def _kernel(gpu: Gpu, name: str, y: Axis, x: Axis, border: str, **defines: int) -> Kernel:
    defines |= {f"BORDER_{border.upper()}": True, "TAPS_Y": y.taps, "TAPS_X": x.taps}
    return gpu.kernel(("border", name), name, **defines)


@lru_cache(64)
def _columns(x: Axis, tile: int) -> int:
    """Coarse columns whose fine ones are never more than ``tile``."""
    for columns in range(min(tile, x.coarse), 1, -1):
        first = np.arange(0, x.coarse, columns)
        last = np.minimum(first + columns, x.coarse) - 1 + x.taps
        if (x.starts[last] - x.starts[first]).max() <= tile:
            return columns
    return 1


def _tables(gpu: Gpu, way: str, y: Axis, x: Axis) -> list[Image]:
    """Of ``down`` or ``up``, on the device."""

    def make() -> list[Image]:
        across = (x.starts, x.gathered()) if way == "down" else (x.bases[x.inside], x.up)
        return [gpu.array(table) for table in (y.starts, y.down if way == "down" else y.up, *across)]

    return gpu.kept((way, y, x), make)
