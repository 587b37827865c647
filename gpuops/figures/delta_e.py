"""The largest colour differences, as the eye judges them, and the mean one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ..figure import Band, Figure, largest, mean

if TYPE_CHECKING:
    from ..metrics.delta_e import DeltaE


def _measured(band: Band, method: str = "2000") -> DeltaE:
    from ..metrics.delta_e import delta_e

    return delta_e(band.gpu, *band.light, method=method, white=band.how.white)


def _largest(band: Band, method: str) -> float:
    return _measured(band, method).max


def _mean(band: Band) -> float:
    measured = _measured(band)
    return measured.mean * measured.pixels / band.pixels


_LARGEST = partial(Figure, join=largest, wants="light")
FIGURES = (
    _LARGEST("de76", "the largest ΔE of CIE 1976; 2.3 is just noticeable", partial(_largest, method="76")),
    _LARGEST("de2000", "the largest ΔE of CIEDE2000; 1 is just noticeable", partial(_largest, method="2000")),
    Figure("mean-de2000", "the mean ΔE of CIEDE2000, as colour charts are judged", _mean, mean,
           weight=lambda band: band.pixels, wants="light"),
    _LARGEST("de-itp", "the largest ΔE ITP of ITU-R BT.2124; 1 is just noticeable", partial(_largest, method="itp")),
)  # fmt: skip
