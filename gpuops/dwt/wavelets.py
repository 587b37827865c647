"""The wavelets: lifting steps, from which filters follow, and filters of those that have no steps here.

A signal is seen as pairs (even, odd). By the names of Sweldens (1998) and of van der Laan et al. (2011)

    predict   d[t] = x[2t+1] − Σ p_j x[2(t+j)]         update   c[t] = x[2t] + Σ u_j d[t+j]

possibly repeated, then low = K c and high = −d / K. With K = √2 for haar, 5/3 and 13/7, this scale and sign make
the result that of PyWavelets, sample by sample.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

Filters = tuple[tuple[float, ...], tuple[float, ...]]


@dataclass(frozen=True)
class Step:
    """One lifting step: (odd) −= or (even) += floor((Σ taps[j] other[t + first + j] + rounding) / 2^shift).

    The floor and the rounding belong to the integer transform; in float they are left away.
    """

    odd: bool
    first: int
    taps: tuple[float, ...]
    shift: int = 0
    rounding: int = 0

    @property
    def weights(self) -> tuple[float, ...]:
        """What is added: the taps with sign and divisor, as floats."""
        factor = (-1.0 if self.odd else 1.0) / 2**self.shift
        return tuple(factor * tap for tap in self.taps)


@dataclass(frozen=True)
class Wavelet:
    """A discrete wavelet. ``low`` and ``high`` are PyWavelets' ``dec_lo`` and ``dec_hi``, of even length."""

    name: str
    steps: tuple[Step, ...] = ()
    scale: float = 1.0
    orthogonal: tuple[float, ...] = ()  # dec_lo of an orthogonal wavelet without steps

    @cached_property
    def decompose(self) -> Filters:
        """(dec_lo, dec_hi)."""
        if not self.steps:
            high = tuple((-1.0) ** (j + 1) * v for j, v in enumerate(reversed(self.orthogonal)))
            return self.orthogonal, high
        # Coefficient of x[offset] in the even and the odd sample of pair 0, through all steps.
        even, odd = {0: 1.0}, {1: 1.0}
        for step in self.steps:
            target, other = (odd, even) if step.odd else (even, odd)
            for j, weight in enumerate(step.weights, step.first):
                for offset, v in other.items():
                    target[offset + 2 * j] = target.get(offset + 2 * j, 0.0) + weight * v
        # low[k] = Σ dec_lo[j] x[2k + L/2 − j], the alignment of PyWavelets' periodization. With L/2 odd this one
        # and that of the other modes, x[2k + 1 − j], differ by whole pairs.
        reach = max(max(-min(half) + 1, max(half)) for half in (even, odd))
        centre = reach if reach % 2 else reach + 1
        low_taps, high_taps = [0.0] * (2 * centre), [0.0] * (2 * centre)
        for offset, v in even.items():
            low_taps[centre - offset] = self.scale * v
        for offset, v in odd.items():
            high_taps[centre - offset] = -v / self.scale
        return tuple(low_taps), tuple(high_taps)

    @cached_property
    def reconstruct(self) -> Filters:
        """(rec_lo, rec_hi): the other's decomposition filter with alternating signs."""
        low, high = self.decompose
        return (
            tuple(-((-1.0) ** j) * v for j, v in enumerate(high)),
            tuple((-1.0) ** j * v for j, v in enumerate(low)),
        )

    @property
    def length(self) -> int:
        """PyWavelets' ``dec_len``."""
        return len(self.decompose[0])

    @property
    def whole_sample(self) -> bool:
        """Filters of odd length, symmetric about a sample (haar's are symmetric between two)."""
        return self.name != "haar"


_ROOT2 = math.sqrt(2.0)

_ALL = (
    Wavelet("haar", (Step(True, 0, (1,)), Step(False, 0, (1,), 1)), _ROOT2),
    # Le Gall and Tabatabai (1988); reversible form and rounding of JPEG 2000, ISO/IEC 15444-1 annex F.
    Wavelet("bior2.2", (Step(True, 0, (1, 1), 1), Step(False, -1, (1, 1), 2, 2)), _ROOT2),
    # Cohen, Daubechies and Feauveau (1992), factored by Daubechies and Sweldens (1998).
    Wavelet(
        "bior4.4",
        (
            Step(True, 0, (1.586134342059924, 1.586134342059924)),
            Step(False, -1, (-0.052980118572961, -0.052980118572961)),
            Step(True, 0, (-0.882911075530934, -0.882911075530934)),
            Step(False, -1, (0.443506852043971, 0.443506852043971)),
        ),
        1.149604398860241,
    ),
    # Deslauriers and Dubuc (1989), Sweldens (1996); shifts and rounding of VC-2, SMPTE ST 2042-1.
    Wavelet(
        "dd13/7",
        (Step(True, -1, (-1, 9, 9, -1), 4, 8), Step(False, -2, (-1, 9, 9, -1), 5, 16)),
        _ROOT2,
    ),
)

# Daubechies, Ten Lectures on Wavelets (1992), tables 6.1 and 6.3, as PyWavelets' dec_lo.
_ORTHOGONAL = {
    "db2": tuple(
        v / (4 * _ROOT2) for v in (1 - math.sqrt(3), 3 - math.sqrt(3), 3 + math.sqrt(3), 1 + math.sqrt(3))
    ),
    "db3": (
        0.03522629188570953,
        -0.08544127388202666,
        -0.13501102001025458,
        0.45987750211849154,
        0.8068915093110925,
        0.33267055295008263,
    ),
    "db4": (
        -0.010597401785069032,
        0.0328830116668852,
        0.030841381835560764,
        -0.18703481171909309,
        -0.027983769416859854,
        0.6308807679298589,
        0.7148465705529157,
        0.2303778133088965,
    ),
    "sym4": (
        -0.07576571478927333,
        -0.02963552764599851,
        0.49761866763201545,
        0.8037387518059161,
        0.29785779560527736,
        -0.09921954357684722,
        -0.012603967262037833,
        0.0322231006040427,
    ),
}

WAVELETS = {w.name: w for w in (*_ALL, *(Wavelet(name, orthogonal=low) for name, low in _ORTHOGONAL.items()))}
