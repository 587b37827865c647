"""PSNR of PU21 values, and the structural similarity of their luminance, for HDR."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..figure import Figure, mean
from .ssim import SIMILARITY, fit, windows

if TYPE_CHECKING:
    from ..image import Image
    from ..metrics.band import Band
    from ..metrics.pair import Pair


def _values(band: Band, *, luminance: bool = False) -> tuple[Image, Image]:
    """Returns PU21 values of both pictures' light, or of its luminance."""
    from ..metrics.pu21 import pu21

    first, second = (pu21(band.gpu, light, white=band.how.white, luminance=luminance) for light in band.light)
    return first, second


def _squared_error(band: Band) -> float:
    from ..metrics.compare import mean_squared_error

    return mean_squared_error(band.gpu, *_values(band))


def _psnr(squared_error: float, _pair: Pair) -> float:
    from ..metrics.compare import psnr
    from ..metrics.pu21 import PEAK

    return psnr(squared_error, PEAK)


def _ssim(band: Band) -> float:
    from ..metrics.pu21 import PEAK
    from ..metrics.ssim import structural_similarity

    return structural_similarity(band.gpu, *_values(band, luminance=True), data_range=PEAK)


FIGURES = (
    Figure(
        "pu-psnr",
        "for HDR: PSNR of PU21 values (Mantiuk and Azimi, 2021)",
        mean,
        _squared_error,
        _psnr,
        weight=lambda band: band.reference.height * band.reference.width * band.reference.colours,
        higher=True,
        best=math.inf,
        unit=" dB",
        digits=2,
        wants="light",
        floats=2.0,
    ),
    SIMILARITY(
        "pu-ssim",
        "for HDR: SSIM of PU21 values' luminance",
        band=_ssim,
        weight=windows,
        wants="light",
        floats=2.0,
        fit=fit,
    ),
)
