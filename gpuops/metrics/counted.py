"""The figures of one pass over the stored values, as fractions of the full range."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..params.comparing import WorstPixel
from .counts import Counts


@dataclass(frozen=True)
class Counted:
    """The figures of one pass over the stored values; ``bad`` and ``warning`` count pixels.

    ``not_finite``: pixels that are NaN or infinite in one picture and another value in the other. ``idiff`` is its
    largest error, and its numbers of bad pixels and of those that warn.
    """

    figures: dict[str, float]
    differing: int
    bad: int
    warning: int
    worst: WorstPixel | None
    not_finite: int
    idiff: tuple[float, int, int]

    @classmethod
    def of(cls, found: Counts, worst: WorstPixel | None, scale: float) -> Counted:
        """Returns the figures of what was counted for ``fail`` and ``warn``; ``scale``: the unit of the values."""
        rmse = found.rms / scale
        figures = {
            "max": found.max / scale,
            "mean": found.mean / scale,
            "rmse": rmse,
            "psnr": math.inf if rmse == 0 else -20 * math.log10(rmse) if math.isfinite(rmse) else -math.inf,
        }
        bad, warning = found.bad
        (idiff_bad, idiff_warning), largest = found.as_idiff()
        idiff = largest / scale, idiff_bad, idiff_warning
        return cls(figures, found.differing, bad, warning, worst, found.infinite_pixels, idiff)
