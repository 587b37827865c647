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
from ..params.blur import BlurParams
from ..tiles.rectangles import copy
from . import gaussians
from .bloom import light_of
from .by_rows import Coarse, Shape

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..image import Image
    from ..params.bloom import BloomParams

# Copies of planes of the coarse image: theirs, the sum, a Gaussian, and what it takes itself.
_OF_TOTAL = 4


class Sum(Coarse):
    """The coarse image of wide Gaussians, and then their sum; there is none without wide Gaussians."""

    # Those of light, the glow, a Gaussian, what it takes itself, and the result.
    bytes_per_value = 24.0

    def __init__(self, gpu: Gpu, shape: Shape, params: BloomParams) -> None:
        super().__init__(gpu, shape, params)
        wide = gaussians.wide(params, shape)
        self._grids = gaussians.grids_of(None, (shape[1], shape[2]), params)[0] if wide else None
        self._image: Image | None = None

    @property
    def _size(self) -> tuple[int, int]:
        """Rows and columns of the coarse image."""
        return (self._grids.y.coarse, self._grids.x.coarse) if self._grids else (0, 0)

    @property
    def halo(self) -> int:
        """How many rows above and below a row of the result, or of the coarse image, depends on."""
        narrow = gaussians.narrow(self.params, self.shape)
        blurs = (BlurParams((sigma, sigma), border=self.params.border) for sigma, _ in narrow)
        window = ceil(coarse.TAPS * coarse.LARGEST) if self._grids else 0
        return max(window, 0, *(ceil(reach(self.gpu, self.shape, blur).spoiled) for blur in blurs))

    @property
    def fixed_bytes(self) -> float:
        if self._image is not None:
            return self._image.nbytes
        planes, (height, width) = self.shape[0], self._size
        nbytes = 4 * planes * height * width
        return nbytes + _OF_TOTAL * gaussians.planes_at_once(planes, nbytes) * (nbytes / planes)

    def begin(self) -> None:
        if self._grids:
            self._image = self.gpu.empty((self.shape[0], *self._size))

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
        begin, stop = self._made(first), self._made(end)
        grids, part = gaussians.grids_of(image.part, (image.shape[1], image.shape[2]), self.params)
        small = decimated(self.gpu, light_of(self.gpu, image, self.params), grids)
        assert part is not None
        planes, _, columns = small.shape
        copy(small, (begin - part.first, 0), self._image, (begin, 0), (planes, stop - begin, columns))

    def settle(self) -> None:
        if self._image is not None:
            self._image = gaussians.total(self.gpu, self._image, self.shape, self.params)

    def glow(self, light: Image) -> Image:
        return gaussians.summed(self.gpu, light, self._image, self.params)
