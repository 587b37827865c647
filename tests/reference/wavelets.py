"""Wavelets: PyWavelets', and the published integer formulas of JPEG 2000 and VC-2."""

from functools import cache
from typing import Any

import numpy as np
import pywt

from gpuops.wavelets.wavelets import WAVELETS

Array = np.ndarray


@cache
def wavelet_of(name: str) -> pywt.Wavelet:
    """PyWavelets' wavelet; those it has not, from the filters here.

    And bior4.4, of whose filters PyWavelets has 12 digits: :func:`test_the_9_7_filters_are_the_polynomials_factors`.
    """
    if name in pywt.wavelist(kind="discrete") and name != "bior4.4":
        return pywt.Wavelet(name)
    wavelet = WAVELETS[name]
    return pywt.Wavelet(name, filter_bank=(*wavelet.decompose, *wavelet.reconstruct))


def flat(coefficients: Any) -> list[Any]:
    """All bands, coarsest first."""
    return [coefficients[0], *(band for details in coefficients[1:] for band in details)]


def largest(coefficients: Any) -> float:
    """The largest magnitude in a coefficient structure."""
    return float(max(np.abs(band).max(initial=0) for band in flat(coefficients)))


def stationary_bands(coefficients: Any) -> list[np.ndarray]:
    """All bands of a stationary transform, with or without the finer approximations."""
    if isinstance(coefficients, np.ndarray):
        return [coefficients]
    return [band for part in coefficients for band in stationary_bands(part)]


def integer_line(x: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Low and high half of every row by the published integer formulas, extended by symmetry."""
    n = x.shape[1]
    if name == "haar":
        e = np.pad(x, ((0, 0), (0, n % 2)), "symmetric")
        high = e[:, 1::2] - e[:, ::2]
        return e[:, ::2] + (high >> 1), high[:, : n // 2]
    margin = 16
    e = np.pad(x, ((0, 0), (margin, margin + n % 2)), "reflect" if n > 1 else "edge")
    even, odd = e[:, ::2], e[:, 1::2]

    def at(a: np.ndarray, shift: int) -> np.ndarray:
        return np.roll(a, -shift, 1)

    if name == "bior2.2":  # JPEG 2000
        high = odd - ((even + at(even, 1)) >> 1)
        low = even + ((at(high, -1) + high + 2) >> 2)
    else:  # Sweldens (1996), rounding of VC-2
        high = odd - ((9 * (even + at(even, 1)) - at(even, -1) - at(even, 2) + 8) >> 4)
        if name == "dd9/7":
            low = even + ((at(high, -1) + high + 2) >> 2)
        else:
            low = even + ((9 * (at(high, -1) + high) - at(high, -2) - at(high, 1) + 16) >> 5)
    skip = margin // 2
    return low[:, skip : skip + (n + 1) // 2], high[:, skip : skip + n // 2]


# VC-2, SMPTE ST 2042-1, 15.4.4: shift after a level, and the synthesis' stages: which samples change, by + or −
# (Σ tap · sample at that distance, halved s times, rounded), and s.
VC2: dict[str, tuple[int, list[tuple[str, dict[int, int], int]]]] = {
    "vc2-dd9/7": (1, [("even -", {-1: 1, 1: 1}, 2), ("odd +", {-3: -1, -1: 9, 1: 9, 3: -1}, 4)]),
    "vc2-5/3": (1, [("even -", {-1: 1, 1: 1}, 2), ("odd +", {-1: 1, 1: 1}, 1)]),
    "vc2-dd13/7": (
        1,
        [("even -", {-3: -1, -1: 9, 1: 9, 3: -1}, 5), ("odd +", {-3: -1, -1: 9, 1: 9, 3: -1}, 4)],
    ),
    "vc2-haar": (0, [("even -", {1: 1}, 1), ("odd +", {-1: 1}, 0)]),
    "vc2-haar-shift": (1, [("even -", {1: 1}, 1), ("odd +", {-1: 1}, 0)]),
    "vc2-fidelity": (
        0,
        [
            ("odd +", {-7: -2, -5: 10, -3: -25, -1: 81, 1: 81, 3: -25, 5: 10, 7: -2}, 8),
            ("even -", {-7: -8, -5: 21, -3: -46, -1: 161, 1: 161, 3: -46, 5: 21, 7: -8}, 8),
        ],
    ),
    "vc2-9/7": (
        1,
        [
            ("even -", {-1: 1817, 1: 1817}, 12),
            ("odd -", {-1: 3616, 1: 3616}, 12),
            ("even +", {-1: 217, 1: 217}, 12),
            ("odd +", {-1: 6497, 1: 6497}, 12),
        ],
    ),
}


def vc2_lines(lines: np.ndarray, name: str, *, inverse: bool) -> np.ndarray:
    """Every row of interleaved low and high samples synthesised by the standard's formulas, or analysed."""
    a, n = lines.copy(), lines.shape[1]
    for stage, taps, s in VC2[name][1] if inverse else VC2[name][1][::-1]:
        half, sign = stage.split()
        targets = np.arange(half == "odd", n, 2)
        least, most = (0, n - 2) if half == "odd" else (1, n - 1)
        total = sum(tap * a[:, np.clip(targets + distance, least, most)] for distance, tap in taps.items())
        change = (total + ((1 << s) >> 1)) >> s
        a[:, targets] += change if (sign == "+") == inverse else -change
    return a


def vc2_level_of(a: np.ndarray, name: str) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """The inverse of :func:`vc2_level` for what it can give."""
    a = vc2_lines(a << VC2[name][0], name, inverse=False)
    a = vc2_lines(a.T, name, inverse=False).T
    return a[::2, ::2], (a[1::2, ::2], a[::2, 1::2], a[1::2, 1::2])


def mirrored(x: Array, name: str) -> tuple[Array, tuple[Array, Array, Array]]:
    """PyWavelets' coefficients in its mode reflect, for haar symmetric, without the redundant ones."""
    wavelet = wavelet_of(name)
    a, (h, v, d) = pywt.dwt2(x.astype(float), wavelet, "symmetric" if name == "haar" else "reflect")
    skip = (wavelet.dec_len // 2 - 1) // 2
    (low_y, low_x), (high_y, high_x) = ([slice(skip, skip + (n + r) // 2) for n in x.shape] for r in (1, 0))
    return a[low_y, low_x], (h[high_y, low_x], v[low_y, high_x], d[high_y, high_x])
