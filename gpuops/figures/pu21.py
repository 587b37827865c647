"""PSNR of PU21 values, and the structural similarity of their luminance, for HDR."""

from __future__ import annotations

import math
from typing import Any

from ..figure import Band, Figure, Pair, mean
from .ssim import SIMILARITY, fit, windows


def _pu21(band: Band, *, luminance: bool = False) -> Any:
    """Gives PU21 values of both pictures' light, or of its luminance."""
    from ..metrics.pu21 import pu21

    return (pu21(band.gpu, light, white=band.how.white, luminance=luminance) for light in band.light)


def _squared_error(band: Band) -> float:
    from ..metrics.compare import mean_squared_error

    return mean_squared_error(band.gpu, *_pu21(band))


def _values(band: Band) -> int:
    return band.reference.height * band.reference.width * band.reference.colours


def _psnr(squared_error: float, _pair: Pair) -> float:
    from ..metrics.compare import psnr
    from ..metrics.pu21 import PEAK

    return psnr(squared_error, PEAK)


def _ssim(band: Band) -> float:
    from ..metrics.pu21 import PEAK
    from ..metrics.ssim import structural_similarity

    return structural_similarity(band.gpu, *_pu21(band, luminance=True), data_range=PEAK)


FIGURES = (
    Figure("pu-psnr", "for HDR: PSNR of PU21 values (Mantiuk and Azimi, 2021)", _squared_error, mean, _psnr, _values,
           higher=True, best=math.inf, unit=" dB", digits=2, wants="light", floats=2.0),
    SIMILARITY("pu-ssim", "for HDR: SSIM of PU21 values' luminance", _ssim, weight=windows, worst=-1, wants="light",
               floats=2.0, fit=fit),
)  # fmt: skip
