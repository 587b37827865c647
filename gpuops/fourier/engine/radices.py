"""Lengths as products of radices."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from functools import cache
from math import isqrt, prod

from ...errors import ParameterError

LARGEST_RADIX = 32
# The largest prime that is a radix, in loops on CPUs and shared by work-items on GPUs. Errors are then smaller than
# with Bluestein's convolution, which is faster from the next primes on (measured).
LARGEST_PRIME = 199


@cache
def largest_prime(n: int) -> int:
    """The largest prime factor of ``n``; 1 for 1."""
    divisor = next((d for d in range(2, isqrt(n) + 1) if n % d == 0), n)
    return max(divisor, largest_prime(n // divisor)) if divisor < n else n


def _factorisations(n: int, largest: int, most: int) -> Iterator[tuple[int, ...]]:
    """All ways to write ``n`` as a product of radices up to ``largest``, each a prime or at most ``most``, the largest
    radix first."""
    if n == 1:
        yield ()
    for radix in (r for r in range(min(largest, n), 1, -1) if n % r == 0):
        if radix <= most or largest_prime(radix) == radix:
            for rest in _factorisations(n // radix, radix, most):
                yield (radix, *rest)


@cache
def radices(n: int, most: int = LARGEST_RADIX, prime: int = LARGEST_PRIME) -> tuple[int, ...] | None:
    """Factors of ``n`` up to ``most``, or primes up to ``prime``, in the order of execution; None if one is larger.

    They are the fewest, but three rather than two if one is above 16. Large ones are at both ends, where memory is
    accessed, and small ones between, which keep the registers free (measured).
    """

    def drawbacks(factors: tuple[int, ...]) -> tuple[float, ...]:
        stages = max(len(factors), 3 if len(factors) == 2 and factors[0] > 16 else 0)
        between = prod(factors[2:]) if factors[0] > 8 else 1
        return stages, max(6, between), factors[0] / factors[min(1, len(factors) - 1)], sum(factors)

    if n == 1 or largest_prime(n) > prime:
        return () if n == 1 else None
    # Butterflies of large primes are long: beside other long ones compilers run out of registers.
    if largest_prime(n) > 13:
        most = min(most, 16)
    best = min(_factorisations(n, n, most), key=drawbacks)
    return best if len(best) < 2 else (best[1], *best[:1:-1], best[0])


@cache
def largest_radices(n: int, most: int, prime: int = LARGEST_PRIME) -> tuple[int, ...] | None:
    """Factors of ``n``: ``most`` as often as it divides ``n``, then the next smaller, …: for 1024, 8·8·8·2 or
    16·16·4."""
    return max(_factorisations(n, n, most)) if largest_prime(n) <= prime else None


@cache
def next_fast_len(n: int) -> int:
    """The smallest length of ``n`` or more without a prime factor above 7.

    Raises ParameterError for an ``n`` below 1.
    """
    n = operator.index(n)
    if n < 1:
        raise ParameterError(f"a transform needs a length of 1 or more, not {n}")
    odd_factors = (
        odd
        for sevens in _powers(1, 7, 2 * n)
        for fives in _powers(sevens, 5, 2 * n)
        for odd in _powers(fives, 3, 2 * n)
    )
    return min(odd << (-(-n // odd) - 1).bit_length() for odd in odd_factors)


def next_fast_size(rows: int, columns: int) -> tuple[int, int]:
    """The smallest fast lengths for so many rows and columns. Rows of them are even: neighbours are transformed as one
    complex value."""
    return next_fast_len(rows), 2 * next_fast_len(-(-columns // 2))


def _powers(first: int, base: int, most: int) -> Iterator[int]:
    """``first`` times the powers of ``base``, up to ``most``."""
    while first <= most:
        yield first
        first *= base
