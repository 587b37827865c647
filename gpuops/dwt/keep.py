"""The best approximation of an image by so many coefficients: only the largest are kept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..compare import compare
from ..image import Image
from ..params.compare import CompareParams
from ..params.dwt import DwtParams, KeepParams
from ..pixels import Decoding, Encoding, pack, unpack
from ..planes import planewise
from . import statistics, transform
from .shrink import shrink_band
from .transform import Details


@dataclass(frozen=True)
class Kept:
    """How many of all coefficients were kept: those of magnitude ``threshold`` or more."""

    kept: int
    coefficients: int
    threshold: float


def keep(
    approximation: Image, details: Sequence[Details[Image]], params: KeepParams
) -> tuple[Image, list[Details[Image]], Kept]:
    """The bands with only the largest coefficients of all colours and bands; alpha's are all kept.

    Where several have the magnitude of the last one kept, all of these are: which is the better is not to be told.
    Orthogonal wavelets, whose coefficients' squares sum up to the image's, leave the least squared error.
    """
    found = transform.flat(approximation, details)
    planes = approximation.colours
    count = sum(planes * math.prod(band.shape[1:]) for band in found)
    wanted = max(1, round(count * params.percent / 100))
    threshold, kept = statistics.largest(found, planes, wanted)
    limits = [threshold] * planes + [0.0] * approximation.alpha
    first, rest = transform.nested([shrink_band(band, limits, "hard") for band in found])
    return first, rest, Kept(kept, count, threshold)


def restored(
    approximation: Image, details: Sequence[Details[Image]], params: DwtParams, like: Image
) -> Image:
    """The image that all its bands stand for, large ones plane by plane; of the size and attributes of ``like``."""
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
    """Of an image once it is pixels (height, width, channels) in the depth of these, which are its original, in dB.

    ``linear`` says whether the original's values are. All channels count, alpha included; values of float pixels are
    compared as linear light, other ones as they are encoded: as ``clpix compare`` does.
    """
    light = pixels.dtype.kind == "f"
    encoding = Encoding(pixels.dtype, encode=image.linear and not light, linearise=light and not image.linear)
    ours, _ = pack(image, encoding)
    as_light = linear and light
    first, second = (
        unpack(stored, Decoding(image.alpha, encode=is_light and not as_light))
        for stored, is_light in ((pixels, linear), (ours, light))
    )
    return compare(image.gpu, first, second, CompareParams(("psnr",))).psnr
