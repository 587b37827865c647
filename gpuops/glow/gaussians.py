"""The sum of Gaussians that is bloom's glow: narrow ones each by itself, wide ones together on one coarse grid.

The grid of wide Gaussians is the same for all of them (:mod:`gpuops.filters.coarse`). So light goes down to it once,
each Gaussian is made there, and their sum comes back. The coarse image is 1/64 of the picture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..filters import coarse, multirate
from ..filters.blur import blur
from ..filters.coarse import Left
from ..filters.decimate import decimated
from ..filters.interpolate import interpolated
from ..image import Image
from ..params.blur import BlurParams
from ..tiles.planes import in_turn, planewise
from ..tiles.rectangles import cut
from .octaves import octaves

if TYPE_CHECKING:
    from ..filters.grids import Grids
    from ..gpu import Gpu
    from ..image import Part
    from ..params.bloom import BloomParams

    Octaves = list[tuple[float, float]]

# The σ from which on the coarse grid has the largest step, whatever σ is.
WIDE = coarse.LEAST * coarse.LARGEST
# Coarse images go plane by plane from an eighth of the size on, as they have to stay when other rows come.
_LARGER = 8


def narrow(params: BloomParams, shape: tuple[int, ...]) -> Octaves:
    """(σ, share of the light) of each Gaussian that is made by itself, for planes of this shape."""
    return [one for one in octaves(params, shape[1]) if one not in wide(params, shape)]


def wide(params: BloomParams, shape: tuple[int, ...]) -> Octaves:
    """(σ, share of the light) of the Gaussians on the coarse grid; a picture of one pixel has none."""
    found = [one for one in octaves(params, shape[1]) if one[0] >= WIDE]
    return found if coarse.is_coarser(shape, (WIDE, WIDE), params.border) else []


def grids_of(
    part: Part | None, size: tuple[int, int], params: BloomParams, sigma: float = WIDE
) -> tuple[Grids, Part | None]:
    """Returns the coarse grid of some rows, for what is left to do of a wide Gaussian, and which rows it has."""
    return multirate.grids_of(part, size, (Left(sigma), Left(sigma)), params.border, 0.0)


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
