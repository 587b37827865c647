"""A wavelet's filters as clkernels/wavelets/dwt.cl takes them: matrices that make pairs of pairs."""

from __future__ import annotations

from functools import cache

from ..gpu import GeneratedSource
from .wavelets import Wavelet

# The constants of kernels whose filters are data: the longest has 102 taps (coif17), in 52 pairs under
# periodization.
CONSTANTS = GeneratedSource(
    "dwt_filters", "#define LEFT 0\n#define RIGHT 51\n#define LOW_SCALE 1\n#define HIGH_SCALE 1"
)


@cache
def polyphase(
    wavelet: Wavelet, *, inverse: bool, expansive: bool
) -> tuple[int, tuple[tuple[float, float, float, float], ...]]:
    """The filters as matrices: (a, b)[k] = Σ_u M[u] · (even, odd)[k + first + u]; first, and all M row by row.

    For the analysis (even, odd) are samples and (a, b) = (low, high), for the synthesis the other way round:

        low[k] = Σ_j dec_lo[j] x[2k + o − j]      x[2k + r] = Σ_u rec_lo[o + r − 2u] low[k + u] + rec_hi[…] high[k + u]

    The alignments o are PyWavelets': for the analysis 1, under periodization L/2; for the synthesis L − 2 and L/2 − 1.
    """
    length = wavelet.length
    low, high = wavelet.reconstruct if inverse else wavelet.decompose
    if inverse:
        offset = length - 2 if expansive else length // 2 - 1
        first, last = -((length - 1 - offset) // 2), (offset + 1) // 2
    else:
        offset = 1 if expansive else length // 2
        first, last = (offset - length + 1) >> 1, offset >> 1

    def tap(filter: tuple[float, ...], j: int) -> float:
        return filter[j] if 0 <= j < length else 0.0

    matrices = []
    for u in range(first, last + 1):
        j = offset - 2 * u  # the tap of even sample k + u; that of the odd one is j − 1
        if inverse:
            matrices.append((tap(low, j), tap(high, j), tap(low, j + 1), tap(high, j + 1)))
        else:
            matrices.append((tap(low, j), tap(low, j - 1), tap(high, j), tap(high, j - 1)))
    return first, tuple(matrices)
