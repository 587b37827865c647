"""Shrinking of detail coefficients, which takes noise away and leaves edges."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..image import Image
from ..params.dwt import ShrinkParams
from . import bands
from .transform import Details

_PARTS = 1024  # partial sums a plane
_MAD = 0.6744897501960817  # median of |x| for a normal distribution of σ = 1


def shrink(
    approximation: Image, details: Sequence[Details[Image]], params: ShrinkParams
) -> list[Details[Image]]:
    """The detail bands, coarsest first, shrunk; alpha's are left as they are.

    The noise of ``visu`` and ``bayes`` is each plane's own: the median of |finest cD| over 0.6745 (Donoho and
    Johnstone 1994).
    """
    if not details:
        return []
    sigma = noise(details[-1][2]) if params.kind in ("visu", "bayes") else None
    count = math.prod(approximation.shape[1:]) + sum(
        math.prod(b.shape[1:]) for level in details for b in level
    )

    def one(band: Image) -> Image:
        if sigma is None:
            thresholds = np.full(band.shape[0], params.threshold)
        elif params.kind == "visu":
            thresholds = sigma * math.sqrt(2.0 * math.log(max(count, 2)))
        else:
            thresholds = _bayes(band, sigma)
        if sigma is not None and params.threshold is not None:
            thresholds = thresholds * params.threshold
        if band.alpha:
            thresholds[-1] = 0.0
        return shrink_band(band, thresholds, hard=params.kind == "hard")

    return [(one(horizontal), one(vertical), one(diagonal)) for horizontal, vertical, diagonal in details]


def noise(diagonal: Image) -> npt.NDArray[np.float64]:
    """Standard deviation of the noise in each plane of the finest diagonal band."""
    if not diagonal.nbytes:
        return np.zeros(diagonal.shape[0])
    return np.median(np.abs(diagonal.numpy()), axis=(1, 2)).astype(np.float64) / _MAD


def mean_squares(band: Image) -> npt.NDArray[np.float64]:
    """Mean of the squares of each plane of a band, float32 or int32."""
    planes, size = band.shape[0], math.prod(band.shape[1:])
    if size == 0:
        return np.zeros(planes)
    parts = min(_PARTS, size)
    sums = band.gpu.empty((planes, parts))
    kernel = bands.kernel(band, "squares")
    run = -(-size // parts)
    apart, step = (run, 1) if band.gpu.limits.is_cpu else (1, parts)
    band.gpu.launch(
        kernel, (parts, planes), band, sums, planes, size, parts, run, apart, step, label="dwt squares",
        traffic=band.nbytes,
    )  # fmt: skip
    totals: npt.NDArray[np.float64] = sums.numpy().sum(axis=1, dtype=np.float64)
    return totals / size


def _bayes(band: Image, sigma: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """σ² / σ_x with σ_x² the band's variance less the noise's; everything goes where nothing but noise is seen."""
    signal = np.sqrt(np.maximum(mean_squares(band) - sigma**2, 0.0))
    return np.divide(sigma**2, signal, out=np.full(sigma.shape, np.finfo(np.float32).max), where=signal > 0.0)


def shrink_band(band: Image, thresholds: Sequence[float] | npt.NDArray[np.float64], *, hard: bool) -> Image:
    """One band, by a threshold for each plane."""
    result = band.like()
    planes, size = band.shape[0], math.prod(band.shape[1:])
    if size:
        limits = band.gpu.array(np.asarray(thresholds, np.float32))
        kernel = bands.kernel(band, "shrink")
        band.gpu.launch(
            kernel, (size, planes), band, limits, result, planes, size, int(hard), local=(*kernel.fit(128), 1),
            label="dwt shrink", traffic=2 * band.nbytes,
        )  # fmt: skip
    return result
