"""Both axes of a coarse grid, and their tables on the device, which decimation and interpolation share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..image import Image
from ..params.border import by_axis, define
from . import coarse
from .coarse import Axis, Left
from .layout import FOUR

if TYPE_CHECKING:
    from ..gpu import Define, Gpu, Kernel

# Work-items of a group, at most.
_ITEMS = 128
# Groups of _ITEMS that a compute unit runs at once.
_GROUPS = 4
# Coarse rows of a group, at least: its margins are about as large.
_LEAST_BAND = 4
# Work-items of a group, at least, so that it has more columns than margins.
LEAST_ITEMS = 24


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
        items // 2 >= LEAST_ITEMS
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
