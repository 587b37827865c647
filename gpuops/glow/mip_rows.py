"""Bloom by its mip chain where a picture's rows come in parts.

The coarse image is a level of the chain, and then the total of it and of all coarser ones. The second sweep makes the
finer levels of some rows anew, and goes up from that total. The levels' rows are those of the whole picture, as the
first row of a part is a multiple of 2 to the number of halvings.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..image import Image
from ..tiles.course import beside
from ..tiles.rectangles import copy, cut
from . import mip
from .bloom import composite, light_of, stretched
from .by_rows import Coarse, Shape
from .mip_ends import Ends, halved
from .octaves import columns, levels

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..ops.bloom import BloomParams

# The share of the device's memory that the coarse level and all that are coarser may take.
_SHARE = 1 / 4
# What the levels take together, as a multiple of the first of them: 1 + 1/4 + 1/16 + …
_ALL_LEVELS = 4 / 3
# Bytes for each value of a part of the picture that the levels above the one that is held take, and the result.
_BYTES_PER_VALUE = 8.0
# The same where rows are stretched: light, stretched light, and the glow as well.
_STRETCHED = 20.0
# A row of the level n depends on fewer than this · 2^n of the picture's rows beside its own: 3 of the level above.
_DOWN = 3
# A row of the result depends on fewer than this · 2^n of the picture's rows beside its own: 4 of any level above.
_UP = 4


def level_held(gpu: Gpu, shape: Shape, params: BloomParams) -> int:
    """Returns the number of the level that stays on the device: the finest one that is small enough."""
    last = len(levels(params, shape[1])) - 1
    most = _SHARE * gpu.limits.global_bytes
    return next((n for n in range(1, last) if _ALL_LEVELS * _bytes(shape, params, n) <= most), last)


def halo(gpu: Gpu, shape: Shape, params: BloomParams) -> int:
    """Returns how many rows above and below a row of the result depends on, beside the level that is held."""
    return _UP << level_held(gpu, shape, params)


def fixed_bytes(gpu: Gpu, shape: Shape, params: BloomParams) -> float:
    """Returns the bytes that the level, and those that are coarser, take on the device."""
    return _ALL_LEVELS * _bytes(shape, params, level_held(gpu, shape, params))


def coarse_of(gpu: Gpu, shape: Shape, params: BloomParams) -> Coarse:
    """Returns the coarse image of a picture, which is to be filled."""
    return MipLevels(gpu, shape, params)


class MipLevels(Coarse):
    """A coarse level of a whole picture, and then the total of it and of all coarser ones."""

    def __init__(self, gpu: Gpu, shape: Shape, params: BloomParams) -> None:
        super().__init__(shape, params, halo(gpu, shape, params), fixed_bytes(gpu, shape, params))
        self.level = level_held(gpu, shape, params)
        self.bytes_per_value = _STRETCHED if self._samples != shape[2] else _BYTES_PER_VALUE
        # Light that was stretched needs no threshold any more, and its glow is laid over the picture by itself.
        stretches = self._samples != shape[2]
        self._way = replace(params, strength=1.0, threshold=0.0) if stretches else params
        self._shares = levels(params, shape[1])
        self._needs = beside(shape[1], _DOWN << self.level, 1 << self.level)
        self._factor = 1.0
        self._image = gpu.empty(_shape_of(shape, params, self.level))

    @property
    def align(self) -> int:
        return 1 << self.level

    @property
    def _samples(self) -> int:
        """The columns of the chain's level 0."""
        return columns(self.params, *self.shape[1:])

    def needs(self, first: int, end: int) -> tuple[int, int]:
        return self._needs(first, end)

    def add(self, image: Image, first: int, end: int) -> None:
        gpu, height, start = image.gpu, self.shape[1], self.needs(first, end)[0]
        image = self._level_0(image)
        levels = [image]
        mip.way(gpu, self._way).down(gpu, Ends(image, image, None), self._way, levels, self.level + 1)
        last = self._image.shape[1] if end == height else -(-end >> self.level)
        begin, made = -(-first >> self.level), levels[-1]
        planes, _, columns = made.shape
        copy(
            made, (begin - (start >> self.level), 0), self._image, (begin, 0), (planes, last - begin, columns)
        )

    def settle(self) -> None:
        gpu, levels = self._image.gpu, [self._image]
        ends, shares = Ends(self._image, self._image, None), self._shares[self.level :]
        way = mip.way(gpu, self._way)
        factor = way.total(gpu, ends, self._way, levels, shares, first=False)
        self._factor = way.climb(gpu, ends, self._way, levels, shares, factor, 1)

    def over(self, image: Image) -> Image:
        gpu, result = image.gpu, image if image.owned else image.like()
        not_finite = gpu.zeros((1,), np.uint32)  # it counts rows twice that two parts have
        if self._samples == self.shape[2]:
            self._climb(image, Ends(image, result, not_finite))
            return result
        glow = self._level_0(image)
        self._climb(image, Ends(glow, glow, None))
        glow = stretched(gpu, glow, self.shape[2])
        composite(gpu, image, glow, result, self.params, not_finite, self._shares[0])
        return result

    def _level_0(self, image: Image) -> Image:
        """Returns the rows of level 0 for some rows of the picture."""
        if self._samples == self.shape[2]:
            return image
        return stretched(image.gpu, light_of(image.gpu, image, self.params), self._samples)

    def _climb(self, image: Image, ends: Ends) -> None:
        """Goes down to the level that is held, and up from its total."""
        gpu, levels, way = image.gpu, [ends.source], mip.way(image.gpu, self._way)
        way.down(gpu, ends, self._way, levels, self.level)
        levels.append(self._rows(image))
        way.over(gpu, ends, self._way, levels, self._shares, self._factor)

    def _rows(self, image: Image) -> Image:
        """Returns the total's rows that belong to rows of the picture."""
        assert image.part is not None
        first = image.part.first
        end = min(self._image.shape[1], -(-(first + image.shape[1]) >> self.level))
        start = first >> self.level
        return cut(self._image, (start, 0), (end - start, self._image.shape[2]))


def _shape_of(shape: Shape, params: BloomParams, level: int) -> Shape:
    """Returns the shape of a level's planes."""
    size = shape[1], columns(params, *shape[1:])
    for _ in range(level):
        size = halved(size)
    return shape[0], *size


def _bytes(shape: Shape, params: BloomParams, level: int) -> int:
    planes, height, width = _shape_of(shape, params, level)
    return 4 * planes * height * width
