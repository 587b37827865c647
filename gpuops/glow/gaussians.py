"""The sum of Gaussians that is bloom's glow: narrow ones each by itself, wide ones together on one coarse grid.

The grid of wide Gaussians is the same for all of them (:mod:`gpuops.filters.coarse`). So light goes down to it once,
each Gaussian is made there, and their sum comes back. The coarse image is 1/64 of the picture.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from ..filters import coarse, multirate
from ..filters.blur import blur, reach
from ..filters.grids import Grids, decimated, interpolated
from ..gpu import Gpu
from ..image import Image, Part
from ..params.bloom import BloomParams
from ..params.blur import BlurParams
from ..tiles.planes import in_turn, planewise
from ..tiles.rectangles import copy, cut
from .by_rows import Coarse, Shape
from .light import light_of
from .octaves import octaves

if TYPE_CHECKING:
    Octaves = list[tuple[float, float]]

# The σ from which on the coarse grid has the largest step, whatever σ is.
WIDE = coarse.LEAST * coarse.LARGEST
# Coarse images go plane by plane from an eighth of the size on, as they have to stay when other rows come.
_LARGER = 8
# Copies of planes of the coarse image: theirs, the sum, a Gaussian, and what it takes itself.
_OF_TOTAL = 4


def narrow(params: BloomParams, shape: tuple[int, ...]) -> Octaves:
    """(σ, share of the light) of each Gaussian that is made by itself, for planes of this shape."""
    return [one for one in octaves(params, shape[1]) if one not in wide(params, shape)]


def wide(params: BloomParams, shape: tuple[int, ...]) -> Octaves:
    """(σ, share of the light) of the Gaussians on the coarse grid; a picture of one pixel has none."""
    pairs = [one for one in octaves(params, shape[1]) if one[0] >= WIDE]
    return pairs if coarse.is_coarser(shape, (WIDE, WIDE), params.border) else []


def grids_of(
    part: Part | None, size: tuple[int, int], params: BloomParams, sigma: float = WIDE
) -> tuple[Grids, Part | None]:
    """Returns the coarse grid of some rows, for what is left to do of a wide Gaussian, and which rows it has."""
    return multirate.grids_of(part, size, multirate.whole((sigma, sigma)), params.border, 0.0)


def glow_of(gpu: Gpu, light: Image, params: BloomParams) -> Image:
    """Returns the glow of a planar Image of finite light."""
    if not wide(params, light.shape):
        return summed(gpu, light, None, params)
    grids, _ = grids_of(None, (light.shape[1], light.shape[2]), params)
    return summed(gpu, light, total(gpu, decimated(gpu, light, grids), light.shape, params), params)


def total(gpu: Gpu, small: Image, shape: tuple[int, ...], params: BloomParams) -> Image:
    """Returns the sum of wide Gaussians on the coarse grid, of the coarse image of all planes, of this ``shape``.

    The result may have the memory of ``small``.
    """

    def of_planes(at: slice) -> Image:
        planes = small.planes(at)
        glow = gpu.zeros(planes.shape)
        for sigma, share in wide(params, shape):
            grids, _ = grids_of(None, (shape[1], shape[2]), params, sigma)
            _add(gpu, glow, multirate.coarsely(gpu, planes, grids), share)
        return glow

    return planewise(small.shape[0], small.nbytes * _LARGER, of_planes, into=small)


def planes_at_once(planes: int, nbytes: int) -> int:
    """Returns how many planes of a coarse image of so many bytes :func:`total` takes at a time."""
    return 1 if len(in_turn(planes, nbytes * _LARGER)) > 1 else planes


def summed(gpu: Gpu, light: Image, small: Image | None, params: BloomParams) -> Image:
    """Returns the glow of light, which may be some rows of a picture.

    ``small``: the whole picture's :func:`total`, or None if there are no wide Gaussians.
    """
    glow = light.like()
    if small is None:
        glow = gpu.zeros(light.shape)
    else:
        grids, part = grids_of(light.part, (light.shape[1], light.shape[2]), params)
        if part is not None:
            small = cut(small, (part.first, 0), (grids.y.coarse, grids.x.coarse))
        interpolated(gpu, small, glow, grids)
    for sigma, share in narrow(params, light.of_whole):
        blurred = blur(gpu, light, BlurParams(sigma=(sigma, sigma), border=params.border))
        _add(gpu, glow, blurred, share)
    return glow


def _add(gpu: Gpu, glow: Image, image: Image, share: float) -> None:
    size = int(np.prod(glow.shape, dtype=np.int64))
    gpu.compute(
        "bloom", "accumulate", (size,), image, glow, np.uint64(size), share, group=256, label="bloom sum",
        traffic=image.nbytes + glow.nbytes * 2, CHANNELS=1, COLOURS=1,
    )  # fmt: skip


# -- the same by rows ---------------------------------------------------------------------------------------------


class Sum(Coarse):
    """The coarse image of wide Gaussians, and then their sum; there is none without wide Gaussians."""

    # Those of light, the glow, a Gaussian, what it takes itself, and the result.
    bytes_per_value = 24.0

    def __init__(self, gpu: Gpu, shape: Shape, params: BloomParams) -> None:
        super().__init__(gpu, shape, params)
        coarsely = wide(params, shape)
        self._grids = grids_of(None, (shape[1], shape[2]), params)[0] if coarsely else None
        self._image: Image | None = None
        blurs = (BlurParams((sigma, sigma), border=params.border) for sigma, _ in narrow(params, shape))
        window = ceil(coarse.TAPS * coarse.LARGEST) if self._grids else 0
        self.halo = max(window, 0, *(ceil(reach(gpu, shape, blur).spoiled) for blur in blurs))
        planes, (height, width) = shape[0], self._size
        nbytes = 4 * planes * height * width
        self.fixed_bytes = nbytes + _OF_TOTAL * planes_at_once(planes, nbytes) * (nbytes / planes)

    @property
    def _size(self) -> tuple[int, int]:
        """Rows and columns of the coarse image."""
        return (self._grids.y.coarse, self._grids.x.coarse) if self._grids else (0, 0)

    def begin(self) -> None:
        if self._grids:
            self._image = self.gpu.empty((self.shape[0], *self._size))
            self.fixed_bytes = self._image.nbytes

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
        grids, part = grids_of(image.part, (image.shape[1], image.shape[2]), self.params)
        small = decimated(self.gpu, light_of(self.gpu, image, self.params), grids)
        assert part is not None
        planes, _, columns = small.shape
        copy(small, (begin - part.first, 0), self._image, (begin, 0), (planes, stop - begin, columns))

    def settle(self) -> None:
        if self._image is not None:
            self._image = total(self.gpu, self._image, self.shape, self.params)

    def glow(self, light: Image) -> Image:
        return summed(self.gpu, light, self._image, self.params)
