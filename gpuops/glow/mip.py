"""Bloom's mip chain: a way down half-size images, and up again, over an image or pixels.

On GPUs it goes through local memory, on CPUs it reads straight from global memory.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..image import Image
from ..pixels.coding import Decoding, Encoding
from .mip_ends import Display, Ends, MipChain
from .mip_local import LEAST_ITEMS, LocalChain
from .mip_wide import WideChain
from .octaves import columns, levels

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..params.bloom import BloomParams

# Bytes of local memory that a device needs to read and write pixels directly.
_LOCAL = 32768
# Work-items of a group that a device needs for it.
_GROUP = 64
# Channels of a pixel that is read and written directly, at most.
MOST_CHANNELS = 4


def direct(gpu: Gpu, params: BloomParams) -> bool:
    """Says whether the chain's filters read their neighbours straight from global memory."""
    small = gpu.limits.is_cpu or gpu.limits.work_group < LEAST_ITEMS
    return params.reads == "direct" or (params.reads == "auto" and small)


def takes_pixels(gpu: Gpu, params: BloomParams, shape: tuple[int, ...]) -> bool:
    """Says whether :func:`over_pixels` can be used for pixels of this shape (height, width, channels)."""
    limits, (height, width, channels) = gpu.limits, shape
    enough = limits.local_bytes >= _LOCAL and limits.work_group >= _GROUP
    whole = columns(params, height, width) == width
    return enough and channels <= MOST_CHANNELS and whole and not direct(gpu, params)


def over(image: Image, result: Image, params: BloomParams, not_finite: Image) -> None:
    """Lays the glow over a planar Image; ``result`` may be the same Image. ``not_finite`` counts pixels."""
    _whole(Ends(image, result, not_finite), params, levels(params, image.shape[1]))


def glow_of(light: Image, params: BloomParams) -> float:
    """Replaces a planar Image of finite light by its glow, without the light that stays in its own pixel.

    Returns the share of light that stays there. The width must be the one that :meth:`BloomParams.columns` gives.
    """
    params, shares = replace(params, strength=1.0, threshold=0.0), levels(params, light.shape[1])
    _whole(Ends(light, light, None), params, shares)
    return shares[0]


def chain_of(ends: Ends, params: BloomParams, shares: list[float], *, from_image: bool = True) -> MipChain:
    """Returns the chain as the device, or the parameters, want it."""
    kind = WideChain if direct(ends.source.gpu, params) else LocalChain
    return kind(ends, params, shares, from_image)


def _whole(ends: Ends, params: BloomParams, shares: list[float]) -> None:
    """Goes down the chain and up again. The levels have these ``shares`` of the light."""
    chain = chain_of(ends, params, shares)
    chain.total()
    chain.over()


def over_pixels(
    gpu: Gpu,
    pixels: Image,
    params: BloomParams,
    decoding: Decoding,
    encoding: Encoding,
    display: Display | None,
    not_finite: Image,
    repaired: Image,
) -> tuple[Image, Image]:
    """Makes pixels with their glow from pixels (height, width, channels), tone-mapped if there is a display.

    Returns them and the counters of encode.cl. ``repaired`` counts pixels as tonemap.cl does.
    """
    result, lost = gpu.empty(pixels.shape, encoding.dtype), gpu.zeros((2,), np.uint32)
    ends = Ends(pixels, result, not_finite, decoding, encoding, display, lost, repaired)
    _whole(ends, params, levels(params, pixels.shape[0]))
    return result, lost
