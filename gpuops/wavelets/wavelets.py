"""The wavelets: lifting steps, from which filters follow, and PyWavelets' filters where there are no steps here.

A signal is seen as pairs (even, odd). The steps, by the names of Sweldens (1998) and of van der Laan et al. (2011), are

    predict   d[t] = x[2t+1] − Σ p_j x[2(t+j)]         update   c[t] = x[2t] + Σ u_j d[t+j]

possibly repeated; then low = K c and high = −d / K. With a K that multiplies constants by √2 (K = √2 for haar, 5/3,
(9,7) and (13,7)), this scale and sign make the result that of PyWavelets, sample by sample.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property

from ..records import dataclass

Filters = tuple[tuple[float, ...], tuple[float, ...]]


@dataclass(frozen=True)
class LiftingStep:
    """One lifting step: odd or even samples ± floor((Σ taps[j] other[t + first + j] + rounding) / 2^shift).

    The floor and the rounding belong to the integer transform; the float transform leaves them out.
    """

    odd: bool
    subtract: bool
    first: int
    taps: tuple[float, ...]
    shift: int = 0
    rounding: int = 0

    @property
    def weights(self) -> tuple[float, ...]:
        """The factors of the samples that are added: the taps with sign and divisor, as floats."""
        factor = (-1.0 if self.subtract else 1.0) / 2**self.shift
        return tuple(factor * tap for tap in self.taps)

    @property
    def undone(self) -> LiftingStep:
        """The step that takes this one back."""
        return replace(self, subtract=not self.subtract)


@dataclass(frozen=True)
class Wavelet:
    """A discrete wavelet.

    ``rows_first`` and ``accuracy`` are for whole numbers: whether rows come before columns, and the number of bits by
    which values are shifted up before a level (Step 4 of VC-2's 15.4.3 shifts them down again, rounding).
    """

    name: str
    steps: tuple[LiftingStep, ...] = ()
    filters: Filters | None = None  # dec_lo, dec_hi of a wavelet without steps
    rows_first: bool = False
    accuracy: int = 0

    @cached_property
    def _halves(self) -> tuple[dict[int, float], dict[int, float]]:
        """Coefficients of x[offset] in the even and the odd sample of pair 0, through all steps."""
        even, odd = {0: 1.0}, {1: 1.0}
        for step in self.steps:
            target, other = (odd, even) if step.odd else (even, odd)
            for j, weight in enumerate(step.weights, step.first):
                for offset, v in other.items():
                    target[offset + 2 * j] = target.get(offset + 2 * j, 0.0) + weight * v
        return even, odd

    @cached_property
    def scale(self) -> float:
        """The factor K, which makes the low coefficient of a constant √2 times the constant."""
        return math.sqrt(2.0) / math.fsum(self._halves[0].values())

    @property
    def growth(self) -> float:
        """The factor by which a level of the integer transform multiplies a constant; for VC-2's wavelets only."""
        return 2.0**self.accuracy * math.fsum(self._halves[0].values()) ** 2

    @property
    def halo(self) -> int:
        """The most samples before or after a pair that lifting the pair reads."""
        return max(0, *(-min(half) for half in self._halves))

    @cached_property
    def decompose(self) -> Filters:
        """PyWavelets' (dec_lo, dec_hi), of even length."""
        if self.filters is not None:
            return self.filters
        even, odd = self._halves
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
        """(rec_lo, rec_hi): each is the other's decomposition filter with alternating signs."""
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
        """Whether filters have odd lengths, symmetric about a sample (haar's are symmetric between two)."""
        return any(len(step.taps) > 1 for step in self.steps)


def _predict(first: int, taps: tuple[float, ...], shift: int = 0, rounding: int = 0) -> LiftingStep:
    return LiftingStep(True, True, first, taps, shift, rounding)


def _update(first: int, taps: tuple[float, ...], shift: int = 0, rounding: int = 0) -> LiftingStep:
    return LiftingStep(False, False, first, taps, shift, rounding)


_DD = (-1, 9, 9, -1)  # interpolates cubics at the middle: Deslauriers and Dubuc (1989)

_LIFTED = (
    Wavelet("haar", (_predict(0, (1,)), _update(0, (1,), 1))),
    # Le Gall and Tabatabai (1988); reversible form and rounding of JPEG 2000, ISO/IEC 15444-1 annex F.
    Wavelet("bior2.2", (_predict(0, (1, 1), 1), _update(-1, (1, 1), 2, 2))),
    # Cohen, Daubechies and Feauveau (1992), factored by Daubechies and Sweldens (1998).
    Wavelet(
        "bior4.4",
        (
            _predict(0, (1.5861343420599236, 1.5861343420599236)),
            _update(-1, (-0.05298011857296141, -0.05298011857296141)),
            _predict(0, (-0.8829110755309333, -0.8829110755309333)),
            _update(-1, (0.44350685204397115, 0.44350685204397115)),
        ),
    ),
    # Sweldens (1996); shifts and rounding of VC-2.
    Wavelet("dd9/7", (_predict(-1, _DD, 4, 8), _update(-1, (1, 1), 2, 2))),
    Wavelet("dd13/7", (_predict(-1, _DD, 4, 8), _update(-2, _DD, 5, 16))),
)

# VC-2, SMPTE ST 2042-1:2017, tables 15.1 to 15.6: the shift after a level, and the stages of the synthesis (type,
# S, D, taps). Types 1 and 2 add to and subtract from even samples, 3 and 4 odd ones; D is the first tap's place.
# The print has a −10 where Fidelity's symmetry, and gain ½ for a constant, need 10; Dirac 2.2 has 10.
_FIDELITY_ODD, _FIDELITY_EVEN = (-2, 10, -25, 81, 81, -25, 10, -2), (-8, 21, -46, 161, 161, -46, 21, -8)
_VC2: dict[str, tuple[int, tuple[tuple[int, int, int, tuple[float, ...]], ...]]] = {
    "vc2-dd9/7": (1, ((2, 2, 0, (1, 1)), (3, 4, -1, _DD))),
    "vc2-5/3": (1, ((2, 2, 0, (1, 1)), (3, 1, 0, (1, 1)))),
    "vc2-dd13/7": (1, ((2, 5, -1, _DD), (3, 4, -1, _DD))),
    "vc2-haar": (0, ((2, 1, 1, (1,)), (3, 0, 0, (1,)))),
    "vc2-haar-shift": (1, ((2, 1, 1, (1,)), (3, 0, 0, (1,)))),
    "vc2-fidelity": (0, ((3, 8, -3, _FIDELITY_ODD), (2, 8, -3, _FIDELITY_EVEN))),
    "vc2-9/7": (
        1,
        (
            (2, 12, 0, (1817, 1817)),
            (4, 12, 0, (3616, 3616)),
            (1, 12, 0, (217, 217)),
            (3, 12, 0, (6497, 6497)),
        ),
    ),
}


def _vc2(name: str) -> Wavelet:
    """The analysis of a VC-2 wavelet: the synthesis' stages backwards, with the opposite sign."""
    accuracy, stages = _VC2[name]
    steps = tuple(
        # D counts from A[2n − 1] for even samples, pair n − 1, and from A[2n] for odd ones, pair n.
        LiftingStep(kind > 2, kind in (1, 3), d - (kind <= 2), taps, s, (1 << s) >> 1)
        for kind, s, d, taps in reversed(stages)
    )
    return Wavelet(name, steps, rows_first=True, accuracy=accuracy)


class _Wavelets(dict[str, Wavelet]):
    """The wavelets with lifting steps; others are looked up in PyWavelets when they are first asked for."""

    def __missing__(self, name: str) -> Wavelet:
        import pywt  # type: ignore[import-untyped]

        if name not in pywt.wavelist(kind="discrete"):
            raise KeyError(name)
        known = pywt.Wavelet(name)
        self[name] = Wavelet(name, filters=(tuple(known.dec_lo), tuple(known.dec_hi)))
        return self[name]


WAVELETS: dict[str, Wavelet] = _Wavelets({w.name: w for w in (*_LIFTED, *map(_vc2, _VC2))})
