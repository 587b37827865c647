"""White noise in a wavelet transform: its size in each band, and an estimate of its size in the image."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import sqrt

import numpy as np
import numpy.typing as npt

from ..tiles.ends import Anywhere
from . import statistics
from .transform import Details, X, Y
from .wavelets import WAVELETS

_MAD = 0.6744897501960817  # median of |x| for a normal distribution of σ = 1


def estimate(finest: Details[Anywhere], wavelet: str) -> npt.NDArray[np.float64]:
    """The noise's standard deviation in each plane of the image: the median of |finest cD| over 0.6745 (Donoho and
    Johnstone 1994), over the σ that noise of σ = 1 has in that band.

    An image of one row or column has no cD: its only detail is taken instead.
    """
    horizontal, vertical, diagonal = finest
    sigmas = levels([finest], wavelet)[0]
    found = zip((diagonal, vertical, horizontal), reversed(sigmas), strict=True)
    band, sigma = next(((band, sigma) for band, sigma in found if band.nbytes), (diagonal, 1.0))
    return statistics.medians(band) / (_MAD * sigma)


def levels(details: Sequence[Details[Anywhere]], wavelet: str) -> list[tuple[float, float, float]]:
    """The σ that white noise of σ = 1 has in cH, cV and cD of each level, coarsest first; far from the border."""
    if not details:
        return []
    lines = variances(wavelet, len(details))
    # Across a single row or column there is no high half, and the low half is the sample itself, √2 times as large.
    alone = [(2.0**level, 0.0) for level in range(1, len(details) + 1)]
    y, x = (lines if details[-1][2].shape[axis] else alone for axis in (Y, X))
    found = [
        (sqrt(high_y * low_x), sqrt(low_y * high_x), sqrt(high_y * high_x))
        for (low_y, high_y), (low_x, high_x) in zip(y, x, strict=True)
    ]
    return found[::-1]


@cache
def variances(wavelet: str, count: int) -> Sequence[tuple[float, float]]:
    """Variances of white noise of σ = 1 in the low and the high half of a line, of ``count`` levels, finest first.

    They are 1 everywhere for orthogonal wavelets. For others noise is white in no level but the first: its covariance c
    with the sample k further on becomes Σ_m a[m] c[2k − m] in the low half, a being the filter's own autocorrelation.
    """
    low, high = (np.correlate(taps, taps, "full") for taps in map(np.array, WAVELETS[wavelet].decompose))
    covariance = np.zeros(len(low))
    covariance[len(low) // 2] = 1.0
    found = []
    for _ in range(count):
        in_high = float(high @ covariance)
        covariance = np.convolve(low, covariance)[::2]
        found.append((float(covariance[len(low) // 2]), in_high))
    return tuple(found)
