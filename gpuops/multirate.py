"""A Gaussian of large σ at about one read and one write: on a coarse grid.

Along each axis: a short window and decimation to steps of σ/LEAST or less (coarse.py); the filter that is left; and
interpolation by the window again. All three dampen aliases, of which less than 2e-5 of the response's peak is left.

Source: multirate filtering as in Crochiere & Rabiner, Multirate Digital Signal Processing, 1983; decimation before a
recursive Gaussian in Deriche, "Recursively implementing the Gaussian and its derivatives", INRIA 1893, 1993.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from . import coarse
from .coarse import Axis, Left, Two
from .image import Image
from .separable import Taps, convolve_axes

if TYPE_CHECKING:
    from .gpu import Gpu, Kernel

_LEAST_AGAIN = 12.0  # σ on a coarse grid from which a still coarser one is worth its launches
# Of a group: work-items, fine columns of each, coarse rows in local memory; groups of a compute unit, at least.
_ITEMS, _COLUMNS, _ROWS, _LINES, _GROUPS = 128, 4, 8, 6, 4
_LEAST_BAND, _NARROWEST = (
    12,
    96,
)  # coarse rows of a group, and fine columns: fewer would be little beside the margins
# On CPUs: fine columns and coarse rows of a work-item, coarse rows in local memory. Interpolation: columns, coarse rows.
_TILE, _BAND, _LANES, _WIDE_TILE, _WIDE_LINES = 256, 64, 16, 128, 32


def gaussian(
    gpu: Gpu, image: Image, sigma: Two, border: str, cval: float, into: Image | None = None
) -> Image:
    """Gaussian blur of a planar float32 Image, of ``sigma`` (y, x) of which one at least has a coarse grid.

    ``into``: the result's memory, which may be the input's.
    """
    return _filtered(gpu, image, (Left(sigma[0]), Left(sigma[1])), border, cval, into)


def _filtered(
    gpu: Gpu, image: Image, left: tuple[Left, Left], border: str, cval: float, into: Image | None
) -> Image:
    y, x = (coarse.axis(n, todo, border) for n, todo in zip(image.shape[1:], left, strict=True))
    small = _decimated(gpu, image, y, x, border, cval)
    sigma = y.left.sigma, x.left.sigma
    if max(sigma) >= _LEAST_AGAIN and coarse.is_coarser(small.shape, sigma, border):
        small = _filtered(gpu, small, (y.left, x.left), border, cval, small)
    else:
        weights = y.left.weights(), x.left.weights()
        small = convolve_axes(gpu, small, Taps(weights, border, cval, name="gaussian"))
    return _interpolated(gpu, small, image.like() if into is None else into, y, x, border)


def _decimated(gpu: Gpu, image: Image, y: Axis, x: Axis, border: str, cval: float) -> Image:
    planes, height, width = image.shape
    small = image.like((planes, y.coarse, x.coarse))
    wide, items = gpu.limits.is_cpu, _ITEMS
    while not wide:
        kernel = _kernel(
            gpu,
            "decimate",
            y,
            x,
            border,
            ITEMS=items,
            COLUMNS=_COLUMNS,
            ROWS=_ROWS,
            MOST=_most(y),
            WIDEST=len(x.gathered()),
        )
        if kernel.fit(items) == (items,):
            break
        items //= 2
        wide = items * _COLUMNS < _NARROWEST
    if wide:
        kernel, items = _kernel(gpu, "decimate", y, x, border, TILE=_TILE, ROWS=_LANES, WIDE=True), 1
    columns = _columns(x, _TILE if wide else items * _COLUMNS)
    tiles = -(-x.coarse // columns)
    band = _BAND if wide else _band(gpu, y.coarse, tiles * planes)
    gpu.launch(
        kernel, (tiles * items, -(-y.coarse // band), planes), image, small,
        *_tables(gpu, "down", y, x), height, width, y.low, x.low, y.coarse, x.coarse, columns, band, float(cval),
        local=(items, 1, 1), label="gaussian decimate", traffic=image.nbytes + small.nbytes,
    )  # fmt: skip
    return small


def _interpolated(gpu: Gpu, small: Image, result: Image, y: Axis, x: Axis, border: str) -> Image:
    planes, height, width = result.shape
    if gpu.limits.is_cpu:
        kernel = _kernel(
            gpu, "interpolate", y, x, border, TILE=_WIDE_TILE, BAND=_WIDE_LINES - y.taps + 1, WIDE=True
        )
        local, tile, band = (1, 1, 1), _WIDE_TILE, _WIDE_LINES - y.taps + 1
    else:
        items = _ITEMS
        while True:
            tile = items * _COLUMNS
            kernel = _kernel(
                gpu, "interpolate", y, x, border, ITEMS=items, COLUMNS=_COLUMNS, ROWS=_LINES, MOST=_most(y),
                SEGMENT=_segment(x, tile),
            )  # fmt: skip
            if kernel.fit(items) == (items,) or items == 1:
                break
            items //= 2
        local = (items, 1, 1)
        band = _band(gpu, y.coarse + y.taps - 1, -(-width // tile) * planes)
    size = -(-width // tile) * local[0], -(-(y.coarse + y.taps - 1) // band), planes
    gpu.launch(
        kernel, size, small, result, *_tables(gpu, "up", y, x), height, width, y.low, y.coarse, x.coarse, band,
        local=local, label="gaussian interpolate", traffic=small.nbytes + result.nbytes,
    )  # fmt: skip
    return result


def _band(gpu: Gpu, rows: int, columns: int) -> int:
    """Coarse rows of a group, of ``rows``, where groups stand ``columns`` side by side: all groups run at once."""
    bands = max(1, _GROUPS * gpu.limits.compute_units // columns)
    return max(_LEAST_BAND, -(-rows // bands))


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


def _most(y: Axis) -> int:
    """Fine samples of one base."""
    return int(np.diff(y.starts).max())


@lru_cache(64)
def _segment(x: Axis, tile: int) -> int:
    """Coarse columns that ``tile`` fine ones, from a multiple of it on, are made of."""
    bases = x.bases[x.inside]
    first = np.arange(0, x.fine, tile)
    last = np.minimum(first + tile, x.fine) - 1
    return int((bases[last] - bases[first]).max()) + x.taps


def _tables(gpu: Gpu, way: str, y: Axis, x: Axis) -> list[Image]:
    """Of ``down`` or ``up``, on the device."""

    def make() -> list[Image]:
        across = (x.starts, x.gathered()) if way == "down" else (x.bases[x.inside], x.up)
        return [gpu.array(table) for table in (y.starts, y.down if way == "down" else y.up, *across)]

    return gpu.kept((way, y, x), make)
