"""The errors of stored values, which are counted for every verdict: the largest, the mean, RMSE and PSNR."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..figure import Figure, Pair

if TYPE_CHECKING:
    from ..metrics.counts import Counts


def _psnr(counts: Counts, pair: Pair) -> float:
    rmse = counts.rms / pair.data_range
    return math.inf if rmse == 0 else -20 * math.log10(rmse) if math.isfinite(rmse) else -math.inf


FIGURES = (
    Figure("max", "the largest absolute difference, as a fraction of the full range", worst="range",
           value=lambda counts, pair: counts.max / pair.data_range, threshold="max-error"),
    Figure("mean", "the mean absolute difference, as a fraction of the full range", worst="range",
           value=lambda counts, pair: counts.mean / pair.data_range),
    Figure("rmse", "the root of the mean squared difference, as a fraction of the full range", worst="range",
           value=lambda counts, pair: counts.rms / pair.data_range),
    Figure("psnr", "the peak signal-to-noise ratio: −20 log₁₀ rmse", value=_psnr, higher=True, best=math.inf,
           unit=" dB", digits=2),
)  # fmt: skip
