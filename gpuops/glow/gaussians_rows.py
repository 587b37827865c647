"""Bloom by a sum of Gaussians where a picture's rows come in parts.

The coarse image is that of the wide Gaussians, and then their sum. The second sweep makes the narrow ones, which
depend on a few rows alone.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from ..filters import coarse
from ..filters.blur import reach
from ..filters.decimate import decimated
from ..ops.blur import BlurParams
from ..tiles.rectangles import copy
from . import gaussians
from .bloom import composite, light_of
from .by_rows import Coarse, Shape

if TYPE_CHECKING:
    from ..filters.grids import Grids
    from ..gpu import Gpu
    from ..image import Image
    from ..ops.bloom import BloomParams

# Bytes for each value of a part: those of light, the glow, a Gaussian, what it takes itself, and the result.
_BYTES_PER_VALUE = 24.0
# Copies of planes of the coarse image: theirs, the sum, a Gaussian, and what it takes itself.
_OF_TOTAL = 4


def halo(gpu: Gpu, shape: Shape, params: BloomParams) -> int:
    """Returns how many rows above and below a row of the result, or of the coarse image, depends on."""
    narrow = gaussians.narrow(params, shape)
    blurs = (BlurParams((sigma, sigma), border=params.border) for sigma, _ in narrow)
    window = ceil(coarse.TAPS * coarse.LARGEST) if gaussians.wide(params, shape) else 0
    return max(window, 0, *(ceil(reach(gpu, shape, blur)) for blur in blurs))


def fixed_bytes(gpu: Gpu, shape: Shape, params: BloomParams) -> float:
    """Returns the bytes that the coarse image takes on the device, with what its sum takes once."""
    planes, height, width = _shape_of(gpu, shape, params)
    nbytes = 4 * planes * height * width
    return nbytes + _OF_TOTAL * gaussians.planes_at_once(planes, nbytes) * (nbytes / planes)


def coarse_of(gpu: Gpu, shape: Shape, params: BloomParams) -> Coarse:
    """Returns the coarse image of a picture, which is to be filled."""
    return Sum(gpu, shape, params)


class Sum(Coarse):
    """The coarse image of wide Gaussians, and then their sum."""

    bytes_per_value = _BYTES_PER_VALUE

    def __init__(self, gpu: Gpu, shape: Shape, params: BloomParams) -> None:
        self._grids = _grids(gpu, shape, params)
        self._image = gpu.empty(_shape_of(gpu, shape, params)) if self._grids else None
        super().__init__(shape, params, halo(gpu, shape, params), self._image.nbytes if self._image else 0)

    def _made(self, end: int) -> int:
        """Returns up to which coarse row there is all that it needs, before the picture's row ``end``."""
        assert self._grids is not None
        y = self._grids.y
        if end == self.shape[1]:
            return y.coarse
        ends = y.low + y.starts[y.taps : y.taps + y.coarse]
        return int(np.searchsorted(ends, end, side="right"))

    def needs(self, first: int, end: int) -> tuple[int, int]:
        if self._grids is None:
            return first, end
        y = self._grids.y
        made = self._made(first)
        return min(first, max(0, y.low + int(y.starts[made]))), end

    def add(self, image: Image, first: int, end: int) -> None:
        if self._image is None:
            return
        assert image.part is not None
        gpu, begin, stop = image.gpu, self._made(first), self._made(end)
        grids, part = gaussians.grids_of(gpu, image.part, (image.shape[1], image.shape[2]), self.params)
        small = decimated(gpu, light_of(gpu, image, self.params), grids)
        assert part is not None
        planes, _, columns = small.shape
        copy(small, (begin - part.first, 0), self._image, (begin, 0), (planes, stop - begin, columns))

    def settle(self) -> None:
        if self._image is not None:
            self._image = gaussians.total(self._image.gpu, self._image, self.shape, self.params)

    def over(self, image: Image) -> Image:
        gpu, result = image.gpu, image if image.owned else image.like()
        light = light_of(gpu, image, self.params)
        light.part = image.part
        glow = gaussians.summed(gpu, light, self._image, self.params)
        not_finite = gpu.zeros((1,), np.uint32)  # it counts rows twice that two parts have
        composite(gpu, image, glow, result, self.params, not_finite, 0.0)
        return result


def _grids(gpu: Gpu, shape: Shape, params: BloomParams) -> Grids | None:
    """Returns the grid of the wide Gaussians, if there are some."""
    if not gaussians.wide(params, shape):
        return None
    return gaussians.grids_of(gpu, None, (shape[1], shape[2]), params)[0]


def _shape_of(gpu: Gpu, shape: Shape, params: BloomParams) -> Shape:
    """Returns the shape of the coarse image."""
    grids = _grids(gpu, shape, params)
    return (shape[0], grids.y.coarse, grids.x.coarse) if grids else (shape[0], 0, 0)
