"""The best approximation of an image by a part of its coefficients: only the largest are kept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..image import Image
from ..metrics.compare import compare, mean_squared_error
from ..params.compare import CompareParams
from ..params.dwt import DwtParams, KeepParams
from ..pixels.coding import Decoding, Encoding, on_device, pack, unpack
from ..tiles.planes import planewise
from . import statistics, transform
from .parts import Band, HostBand
from .shrink import shrink_band, shrink_band_on_host
from .transform import Details

if TYPE_CHECKING:
    from ..gpu import Gpu

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Kept:
    """The number of coefficients that were kept, those of magnitude ``threshold`` or more; the number of all."""

    kept: int
    coefficients: int
    threshold: float


def keep(
    approximation: Image, details: Sequence[Details[Image]], params: KeepParams
) -> tuple[Image, list[Details[Image]], Kept]:
    """The bands with only the largest coefficients of all colours and bands; alpha's are all kept.

    If several have the magnitude of the last one kept, all of them are kept, since none is better than another. With
    orthogonal wavelets, whose coefficients' squares sum up to the image's, this leaves the least squared error.
    """
    found = transform.flat(approximation, details)
    kept, limits = _limits(found, params)
    first, rest = transform.nested([shrink_band(band, limits, "hard") for band in found])
    return first, rest, kept


def keep_on_host(found: Sequence[HostBand], params: KeepParams) -> Kept:
    """:func:`keep` for bands on the host, which are overwritten."""
    kept, limits = _limits(found, params)
    for band in found:
        shrink_band_on_host(band, limits, "hard")
    return kept


def _limits(found: Sequence[Band], params: KeepParams) -> tuple[Kept, list[float]]:
    """The coefficients to keep, and for each plane the least magnitude that is kept."""
    alpha = found[0].alpha
    planes = found[0].shape[0] - alpha
    count = sum(planes * math.prod(band.shape[1:]) for band in found)
    wanted = max(1, round(count * params.percent / 100))
    threshold, kept = statistics.largest(found, planes, wanted)
    return Kept(kept, count, threshold), [threshold] * planes + [0.0] * alpha


def restored(
    approximation: Image, details: Sequence[Details[Image]], params: DwtParams, like: Image
) -> Image:
    """The image that all its bands stand for, with the size and attributes of ``like``; a large one is made plane by
    plane."""
    every = transform.flat(approximation, details)
    result = planewise(
        like.shape[0],
        like.nbytes,
        lambda at: transform.recompose(
            *transform.nested([band.planes(at) for band in every]), params, like.shape[1:]
        ),
    )
    result.alpha, result.linear = like.alpha, like.linear
    return result


def psnr(pixels: Image, image: Image, *, linear: bool) -> float:
    """The PSNR in dB of an image, as pixels of its original's depth, against that original ``pixels`` (height, width,
    channels).

    ``linear`` says whether the original's values are linear. All channels count, alpha included. As in ``clpix
    compare``, values of float pixels are compared as linear light, other values as they are encoded.
    """
    ours, _ = pack(image, depth_of(pixels.dtype, linear=image.linear))
    return compare(
        image.gpu, *_compared(pixels, ours, alpha=image.alpha, linear=linear), CompareParams(("psnr",))
    ).psnr


def psnr_split(gpu: Gpu, pixels: Array, restored: Array, *, alpha: bool, linear: bool) -> float:
    """:func:`psnr` of two pictures on the host, of which the second is in :func:`depth_of` the first."""
    height = pixels.shape[0]
    squares = 0.0
    rows = max(1, gpu.limits.global_bytes // 8 // max(1, 4 * pixels[0].size))
    for start in range(0, height, rows):
        at = slice(start, min(start + rows, height))
        ours, theirs = (on_device(gpu, np.ascontiguousarray(part[at])) for part in (pixels, restored))
        error = mean_squared_error(gpu, *_compared(ours, theirs, alpha=alpha, linear=linear))
        squares += error * (at.stop - at.start) / height
    return math.inf if squares == 0 else -10 * math.log10(squares)


def depth_of(dtype: np.dtype[Any], *, linear: bool) -> Encoding:
    """The encoding of an image as pixels in its original's depth; ``linear``: whether the image's values are linear."""
    light = dtype.kind == "f"
    return Encoding(dtype, encode=linear and not light, linearise=light and not linear)


def _compared(pixels: Image, ours: Image, *, alpha: bool, linear: bool) -> tuple[Image, Image]:
    light = pixels.dtype.kind == "f"
    as_light = linear and light
    first, second = (
        unpack(stored, Decoding(alpha, encode=is_light and not as_light))
        for stored, is_light in ((pixels, linear), (ours, light))
    )
    return first, second
