"""Both axes of a coarse grid, and their tables on the device: what :mod:`gpuops.decimate` and its way back share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from . import coarse
from .coarse import Axis, Left
from .gpu import Source
from .image import Image
from .params.border import by_axis, define

if TYPE_CHECKING:
    from .gpu import Define, Gpu, Kernel

FOUR = 4  # values of a work-item, see fours.cl
LANES, WIDTH = 16, 8  # on CPUs: values together, see load_sixteen.cl; those that are encoded together
ITEMS = 128  # of a group, at most
# Groups of a compute unit, of ITEMS, which run at once: for planes, and for pixels, which take less room.
GROUPS = 4, 5
_LEAST_BAND, _NARROWEST = 4, 96  # coarse rows of a group, and its fine columns: margins come to these


@dataclass(frozen=True)
class Grids:
    """Both axes, coarse and fine, and what stands outside."""

    y: Axis
    x: Axis
    border: str
    cval: float

    @classmethod
    def of(
        cls, size: tuple[int, ...], left: tuple[Left, Left], border: str, cval: float, *, whole: bool
    ) -> Grids:
        """For an image of ``size`` (height, width) of which ``left`` is to be done, by ``whole`` steps if it can be."""
        modes = by_axis(border)
        axes = [(n, todo.sigma, mode) for n, todo, mode in zip(size, left, modes, strict=True)]
        steps: list[float] = [coarse.whole_step(*axis) for axis in axes] if whole else [0]
        if not all(steps):
            steps = [coarse.step(*axis) for axis in axes]
        y, x = (coarse.axis(*axis) for axis in zip(size, left, modes, steps, strict=True))
        return cls(y, x, border, cval)

    @property
    def whole(self) -> bool:
        """Whether both axes have cells, all alike."""
        return self.y.whole > 0 and self.x.whole > 0

    def cells(self) -> tuple[Source, dict[str, Define]]:
        """Of these, weights and defines of decimate_cells.cl and interpolate_cells.cl."""
        steps: dict[str, Define] = {"TAPS": coarse.TAPS, "STEP_Y": self.y.whole, "STEP_X": self.x.whole}
        return _weights(self.y.whole, self.x.whole), steps | {**define(self.border), "ALIGNED": True}

    def defines(self, **more: Define) -> dict[str, Define]:
        """Those of all kernels here, and more."""
        return {**define(self.border), "TAPS_Y": self.y.taps, "TAPS_X": self.x.taps} | more

    def tables(self, gpu: Gpu, way: str, *, wide: bool = False) -> list[Image]:
        """Of the kernels ``down`` or ``up``, on the device: see decimate.cl, and decimate_wide.cl for ``wide``."""
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
        """Of the weights of a base's rows in local memory."""
        return self.y.most * self.y.taps * 4


@dataclass(frozen=True)
class Layout:
    """Of planes, or of a file's pixels: how many groups take each by itself, and a pixel's channels."""

    planes: int
    channels: int
    alpha: bool
    pixels: bool

    @classmethod
    def of(cls, image: Image, alpha: bool, *, pixels: bool) -> Layout:
        """That of planar ``image``, or of pixels (height, width, channels)."""
        planes, channels = (1, image.shape[2]) if pixels else (image.shape[0], 1)
        return cls(planes, channels, alpha, pixels)

    def defines(self, dtype: np.dtype[np.generic], lanes: int) -> dict[str, Define]:
        """What of the defines of decode.cl and encode.cl is others for a work-item that owns ``lanes`` values."""
        together = self.channels if self.alpha else lanes
        return {
            "WIDTH": 1,
            "BYTES": dtype.itemsize,
            "INTERLEAVED": self.channels,
            "CHANNELS": together,
            "COLOURS": together - self.alpha,
        }

    def coarse(self, gpu: Gpu, grids: Grids) -> Image:
        """The coarse image's memory, planar."""
        small = gpu.empty((self.planes * self.channels, grids.y.coarse, grids.x.coarse))
        small.alpha = self.alpha
        return small


def items_of(gpu: Gpu, grids: Grids, layout: Layout, items: int = ITEMS) -> int:
    """Work-items of a group: fewer for small images, so that there are groups for all compute units."""
    values = grids.x.fine * layout.channels
    while (
        is_wide_enough(items // 2, layout)
        and -(-values // (items * FOUR)) * layout.planes * grids.y.coarse
        < _LEAST_BAND * gpu.limits.compute_units
    ):
        items //= 2
    return items


def is_wide_enough(items: int, layout: Layout) -> bool:
    """Whether a group has more columns than margins."""
    return items * FOUR >= _NARROWEST * layout.channels


def band_of(
    gpu: Gpu, rows: int, tiles: int, items: int, layout: Layout, groups: tuple[int, int], most: int
) -> int:
    """Coarse rows of a group, of ``rows``, where ``tiles`` groups make a row: all groups run at once."""
    at_once = groups[layout.pixels] * ITEMS // items * gpu.limits.compute_units
    bands = max(1, at_once // (tiles * layout.planes))
    return min(most, max(_LEAST_BAND, -(-rows // bands)))


def bases_of(kernel: Kernel, grids: Grids, beside: int = 0) -> int:
    """How many bases' weights fit in local memory beside what the kernel has there, and so many bytes more."""
    return (kernel.gpu.limits.local_bytes - kernel.local_bytes - beside) // grids.base_bytes


@lru_cache(64)
def coarse_columns(x: Axis, tile: int) -> int:
    """Coarse columns, anywhere, that are made of ``tile`` fine ones at most, if each were made of as many as any."""
    starts, widest = x.starts, len(x.gathered)
    for columns in range(min(tile, x.coarse), 1, -1):
        if (starts[columns - 1 : x.coarse] - starts[: x.coarse - columns + 1]).max() + widest <= tile:
            return columns
    return 1


@lru_cache(64)
def segment(x: Axis, tile: int, channels: int) -> int:
    """Coarse columns that ``tile`` values of pixels, from a multiple of it on, are made of."""
    bases, values = x.bases[x.inside], x.fine * channels
    first = np.arange(0, values, tile)
    last = np.minimum(first + tile, values) - 1
    return int((bases[last // channels] - bases[first // channels]).max()) + x.taps


@lru_cache(4)
def _weights(step_y: int, step_x: int) -> Source:
    """Of cells, as constants."""
    text = "".join(
        f"__constant float {way}_{name}[{len(v)}] = {{{', '.join(f'{w:.9e}f' for w in v)}}};\n"
        for name, step in (("Y", step_y), ("X", step_x))
        for way, v in zip(("DOWN", "UP"), coarse.cell(step), strict=True)
    )
    return Source("weights", text)


def _everywhere(y: Axis) -> npt.NDArray[np.float32]:
    """``up`` from ``low`` on, 0 where there is no image."""
    result = np.zeros_like(y.down)
    result[y.inside] = y.up
    return result
