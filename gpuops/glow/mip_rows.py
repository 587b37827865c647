"""Bloom by its mip chain where a picture's rows come in parts, in two sweeps.

The first sweep makes a coarse level of the whole picture, which stays on the device, and the total of it and of all
coarser ones. The second one makes the finer levels of some rows anew, and goes up from that total. The levels' rows are
those of the whole picture, as the first row of a part is a multiple of 2 to the number of halvings.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..image import Image
from ..operation import Measure, Operation, Params, Pass, Traits
from ..ops.bloom import BloomParams
from ..tiles.course import beside, with_halo
from ..tiles.rectangles import copy, cut
from ..tiles.window import rows_of
from . import mip
from .bloom import warn_of
from .mip_ends import Ends, halved
from .octaves import levels

if TYPE_CHECKING:
    from ..gpu import Gpu

Shape = tuple[int, int, int]

# The share of the device's memory that the coarse level and all that are coarser may take.
_SHARE = 1 / 4
# What the levels take together, as a multiple of the first of them: 1 + 1/4 + 1/16 + …
_ALL_LEVELS = 4 / 3
# Copies of a part of the picture that the levels above the one that is held take, and the result.
_COPIES = 2.0
# Pixels that a work-item counts.
_AT_ONCE = 16
# A row of the level n depends on fewer than this · 2^n of the picture's rows beside its own: 3 of the level above.
_DOWN = 3
# A row of the result depends on fewer than this · 2^n of the picture's rows beside its own: 4 of any level above.
_UP = 4


def level_held(gpu: Gpu, shape: Shape, params: BloomParams) -> int:
    """Returns the number of the level that stays on the device: the finest one that is small enough."""
    last = len(levels(params, shape[1])) - 1
    most = _SHARE * gpu.limits.global_bytes
    return next((n for n in range(1, last) if _ALL_LEVELS * _bytes(shape, n) <= most), last)


def halo(gpu: Gpu, shape: Shape, params: BloomParams) -> int:
    """Returns how many rows above and below a row of the result depends on, beside the level that is held."""
    return _UP << level_held(gpu, shape, params)


def resident(gpu: Gpu, shape: Shape, params: BloomParams) -> float:
    """Returns the bytes that the level, and those that are coarser, take on the device."""
    return _ALL_LEVELS * _bytes(shape, level_held(gpu, shape, params))


def measure(gpu: Gpu, shape: Shape, params: BloomParams) -> Measure:
    """Returns the first sweep, for parameters whose exposure is known."""
    coarse = _Coarse(gpu, shape, params)
    return Measure(coarse.add, coarse.settled, coarse.needs)


class _Coarse:
    """A coarse level of a whole picture, and then the total of it and of all coarser ones."""

    def __init__(self, gpu: Gpu, shape: Shape, params: BloomParams) -> None:
        self.level = level_held(gpu, shape, params)
        self.shares = levels(params, shape[1])
        self.factor = 1.0
        #: Pixels that are not finite, in the whole picture.
        self.not_finite = 0
        #: The rows that rows of the level need.
        self.needs = beside(shape[1], _DOWN << self.level, 1 << self.level)
        self._params, self._height = params, shape[1]
        self._image = gpu.empty(_shape_of(shape, self.level))

    def add(self, gpu: Gpu, image: Image, first: int, end: int) -> None:
        """Takes these rows of the picture."""
        assert image.part is not None
        needed = self.needs(first, end)[0]
        image = rows_of(image, slice(needed - image.part.first, image.shape[1]))
        self.not_finite += _count(gpu, image, slice(first - needed, end - needed))
        levels = [image]
        mip.way(gpu, self._params).down(gpu, Ends(image, image, None), self._params, levels, self.level + 1)
        last = self._image.shape[1] if end == self._height else -(-end >> self.level)
        start, made = -(-first >> self.level), levels[-1]
        planes, _, columns = made.shape
        place = start - (needed >> self.level)
        copy(made, (place, 0), self._image, (start, 0), (planes, last - start, columns))

    def settled(self, _none: object) -> tuple[Params, ...]:
        """Makes the total. Returns the steps that use it."""
        params, gpu, levels = self._params, self._image.gpu, [self._image]
        ends, shares = Ends(self._image, self._image, None), self.shares[self.level :]
        way = mip.way(gpu, params)
        factor = way.total(gpu, ends, params, levels, shares, first=False)
        self.factor = way.climb(gpu, ends, params, levels, shares, factor, 1)
        glow = Over(replace(params, tonemap=None), self)
        if params.display is None:
            return (glow,)
        # A step of its own encodes for its file, as bloom does: "linear" would ask for a file of light.
        return glow, replace(params.display, transfer="auto")

    def rows(self, first: int, count: int) -> Image:
        """Returns the total's rows that belong to rows of the picture."""
        end = min(self._image.shape[1], -(-(first + count) >> self.level))
        start = first >> self.level
        return cut(self._image, (start, 0), (end - start, self._image.shape[2]))


@dataclass(frozen=True, eq=False)
class Over(Params):
    """A glow laid over a picture of which the coarse levels are known."""

    params: BloomParams
    coarse: _Coarse


def _over(gpu: Gpu, image: Image, over: Over) -> Image:
    params, coarse = over.params, over.coarse
    result = image if image.owned else image.like()
    assert image.part is not None
    ends = Ends(image, result, gpu.zeros((1,), np.uint32))  # they count rows twice that two parts have
    levels = [image]
    way = mip.way(gpu, params)
    way.down(gpu, ends, params, levels, coarse.level)
    levels.append(coarse.rows(image.part.first, image.shape[1]))
    way.over(gpu, ends, params, levels, coarse.shares, coarse.factor)
    # The count is the whole picture's. Whoever asks for rows passes the same note on once.
    warn_of(coarse.not_finite)
    return result


def _count(gpu: Gpu, image: Image, rows: slice) -> int:
    """Returns how many pixels of some rows are not finite."""
    counter, (planes, height, width) = gpu.zeros((1,), np.uint32), image.shape
    kernel = gpu.kernel("bloom", "count", CHANNELS=planes, COLOURS=image.colours, WIDE=True)
    size = (rows.stop - rows.start) * width
    gpu.launch(
        kernel, (-(-size // _AT_ONCE),), image, counter, np.uint64(rows.start * width), np.uint64(height * width), size,
        local=kernel.fit(256), label="bloom count", traffic=4 * planes * size,
    )  # fmt: skip
    return int(counter.numpy()[0])


def _shape_of(shape: Shape, level: int) -> Shape:
    """Returns the shape of a level's planes."""
    size = shape[1:]
    for _ in range(level):
        size = halved(size)
    return shape[0], *size


def _bytes(shape: Shape, level: int) -> int:
    planes, height, width = _shape_of(shape, level)
    return 4 * planes * height * width


def _passes(gpu: Gpu, shape: Shape, over: Over) -> tuple[Pass, ...]:
    level = over.coarse.level
    return (with_halo(shape, _UP << level, lambda gpu, image: _over(gpu, image, over), _COPIES, 1 << level),)


OPERATION = Operation(
    "bloom",
    Over,
    _over,
    traits=Traits(rec709=True, premultiplied=True, kind="local"),
    passes=_passes,
    resident=lambda gpu, shape, over: resident(gpu, shape, over.params),
)
