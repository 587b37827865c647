"""Tables of twiddles and chirps, computed in long double where that is more than double, and rounded to float64."""

from __future__ import annotations

from functools import cache, lru_cache
from math import prod

import numpy as np
import numpy.typing as npt

Complex = npt.NDArray[np.complex128]


def roots(n: int, powers: npt.NDArray[np.int64] | None = None) -> Complex:
    """exp(−2πi·p/n) for the given powers (all n of them by default); exact on the axes and diagonals."""
    p = (np.arange(n) if powers is None else powers) % n
    octant, rest = np.divmod(8 * p, n)  # angle = (octant + rest/n) · π/4; sines only of angles up to π/4
    flipped = octant % 2 == 1
    angle = np.arctan(np.longdouble(1)) * np.where(flipped, n - rest, rest) / n
    c, s = np.cos(angle).astype(float), np.sin(angle).astype(float)
    quarter: Complex = np.where(flipped, s + 1j * c, c + 1j * s) * np.array([1, 1j, -1, -1j])[octant // 2]
    return quarter.conj()


def twiddles(radices: tuple[int, ...]) -> Complex:
    """exp(−2πi·k·q / (s·r)) for each stage of radix r and stride s: k = 1…r − 1, and q = 0…s − 1 for each.

    The stages before stride s have s − 1 entries in all; one more entry makes the length the product of the radices.
    """
    parts = [np.ones(1, complex)]
    stride = 1
    for radix in radices:
        k, q = np.arange(1, radix)[:, None], np.arange(stride)
        parts.insert(-1, roots(stride * radix, k * q).ravel())
        stride *= radix
    return np.concatenate(parts)


def stage(stride: int, radix: int) -> Complex:
    """:func:`twiddles` of one stage alone, at the same place as in a table of all."""
    return np.concatenate([np.ones(stride - 1), twiddles((stride, radix))[stride - 1 :]])


@cache
def primitive_root(prime: int) -> int:
    """The smallest number whose powers are all of 1 … p − 1, modulo p."""
    factors = [d for d in range(2, prime) if (prime - 1) % d == 0]
    return next(g for g in range(1, prime) if all(pow(g, d, prime) != 1 for d in factors if d < prime - 1))


def shared(prime: int, outputs: int) -> Complex:
    """exp(−2πi·g^n / p) for n from 1 − h up to the last of ``outputs``, h = (p − 1) / 2, g a primitive root."""
    powers = [pow(primitive_root(prime), n % (prime - 1), prime) for n in range(1 - prime // 2, outputs)]
    return roots(prime, np.array(powers))


def chirp(n: int) -> Complex:
    """exp(−πi·k²/n) for k < n."""
    k = np.arange(n, dtype=np.int64)
    return roots(2 * n, k * k % (2 * n))


@lru_cache(maxsize=8)
def filter(n: int, points: int) -> Complex:
    """The filter of Bluestein's convolution: the transform over ``points`` of the chirp's conjugate, divided by them.

    X[k] = c[k] · Σ_j (x[j]·c[j]) · conj c[k − j], because jk = (j² + k² − (k − j)²) / 2.
    """
    c = chirp(n)
    kernel = np.zeros(points, complex)
    kernel[:n] = np.conj(c)
    kernel[points - n + 1 :] = np.conj(c[:0:-1])
    return np.fft.fft(kernel) / points


def constants(
    radices: tuple[int, ...],
    length: int,
    paired: bool,
    sums: tuple[int, int] | None,
    primes: tuple[int, ...] = (),
) -> Complex:
    """The table of a kernel in local memory: :func:`twiddles`, and behind them what it needs of Bluestein's filter for
    ``length`` points, of the roots that separate ``paired`` real numbers, of :func:`shared` for ``sums``, and of
    exp(2πi·j/p) for ``primes`` in loops."""
    values, points = [twiddles(radices)], prod(radices)
    if length:
        values.append(filter(length, points))
    if paired:
        values.append(roots(2 * points))
    if sums:
        values.append(shared(*sums))
    values += [roots(prime).conj() for prime in primes]
    return np.concatenate(values)
