"""Bloom by its mip chain where a picture's rows come in parts.

The coarse image is a level of the chain, and then the total of it and of all coarser ones. The second sweep makes the
finer levels of some rows anew, and goes up from that total. The levels' rows are those of the whole picture, as the
first row of a part is a multiple of 2 to the number of halvings.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..gpu import Gpu
from ..image import Image
from ..params.bloom import BloomParams
from ..rows.window import beside
from ..tiles.rectangles import copy, cut
from . import mip
from .by_rows import Coarse, Shape
from .light import light_of, stretched
from .mip_ends import Ends, halved
from .octaves import columns, levels

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


class MipLevels(Coarse):
    """A coarse level of a whole picture, and then the total of it and of all coarser ones."""

    def __init__(self, gpu: Gpu, shape: Shape, params: BloomParams) -> None:
        super().__init__(gpu, shape, params)
        self.level = level_held(gpu, shape, params)
        self._stretches = columns(params, *shape[1:]) != shape[2]
        self.bytes_per_value = _STRETCHED if self._stretches else _BYTES_PER_VALUE
        # Light that was stretched needs no threshold any more, and its glow is laid over the picture by itself.
        self._way = replace(params, strength=1.0, threshold=0.0) if self._stretches else params
        self._shares = levels(params, shape[1])
        self.stays = self._shares[0]
        self.halo, self.align = _UP << self.level, 1 << self.level
        # The bytes that the level, and those that are coarser, take on the device.
        self.fixed_bytes = _ALL_LEVELS * _bytes(shape, params, self.level)
        self._needs = beside(shape[1], _DOWN << self.level, 1 << self.level)
        self._factor = 1.0
        self._image: Image

    def begin(self) -> None:
        self._image = self.gpu.empty(_shape_of(self.shape, self.params, self.level))

    def needs(self, first: int, end: int) -> tuple[int, int]:
        return self._needs(first, end)

    def add(self, image: Image, first: int, end: int) -> None:
        height, start = self.shape[1], self.needs(first, end)[0]
        if self._stretches:
            image = self._stretched(light_of(self.gpu, image, self.params))
        chain = mip.chain_of(Ends(image, image, None), self._way, self._shares)
        chain.down(self.level + 1)
        last = self._image.shape[1] if end == height else -(-end >> self.level)
        begin, made = -(-first >> self.level), chain.levels[-1]
        size = made.shape[0], last - begin, made.shape[2]
        copy(made, (begin - (start >> self.level), 0), self._image, (begin, 0), size)

    def settle(self) -> None:
        ends, shares = Ends(self._image, self._image, None), self._shares[self.level :]
        chain = mip.chain_of(ends, self._way, shares, from_image=False)
        chain.total()
        chain.climb(1)
        self._factor = chain.factor

    def over(self, image: Image) -> Image:
        if self._stretches:
            return super().over(image)
        result = image if image.owned else image.like()
        # It counts rows twice that two parts have.
        self._climb(image, Ends(image, result, self.gpu.zeros((1,), np.uint32)))
        return result

    def glow(self, light: Image) -> Image:
        glow = self._stretched(light)
        self._climb(light, Ends(glow, glow, None))
        return stretched(self.gpu, glow, self.shape[2])

    def _stretched(self, light: Image) -> Image:
        """Returns rows of level 0, whose number of columns halves without a rest."""
        return stretched(self.gpu, light, columns(self.params, *self.shape[1:]))

    def _climb(self, image: Image, ends: Ends) -> None:
        """Goes down to the level that is held, and up from its total."""
        chain = mip.chain_of(ends, self._way, self._shares)
        chain.down(self.level)
        chain.levels.append(self._rows(image))
        chain.factor = self._factor
        chain.over()

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
