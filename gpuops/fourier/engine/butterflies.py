"""OpenCL C of small transforms: straight-line butterflies of any radix, large primes in loops.

Source: Cooley & Tukey 1965.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from .radices import largest_prime
from .tables import roots


def _literal(value: float, real: str) -> str:
    return f"{value:.17g}{'' if '.' in f'{value:.17g}' or 'e' in f'{value:.17g}' else '.0'}{'f' * (real == 'float')}"


@cache
def _roots(n: int) -> list[complex]:
    """exp(−2πi·j/n) for j < n."""
    values: list[complex] = roots(n).tolist()
    return values


def turned(value: str, j: int, n: int, real: str) -> str:
    """C for ``value · exp(−2πi·j/n)``."""
    j %= n
    if j == 0:
        return value
    if 4 * j % n == 0:
        return (f"turned({value})", f"-{value}", f"-turned({value})")[4 * j // n - 1]
    if 8 * j % n == 0:
        c, eighth = _literal(0.5**0.5, real), 8 * j // n
        return f"{c} * ({'-' * (eighth in (3, 5))}{value} {'+' if eighth in (1, 3) else '-'} turned({value}))"
    w = _roots(n)[j]
    return f"times({value}, (real2)({_literal(w.real, real)}, {_literal(w.imag, real)}))"


def _sum(terms: Sequence[str]) -> str:
    """C for a sum: eight terms each are summed, then their sums, which keeps the error small."""
    return " + ".join(f"({' + '.join(terms[i : i + 8])})" for i in range(0, len(terms), 8))


def dft(x: list[str], let: Callable[[str], str], real: str) -> list[str]:
    """Names of the transform of the values named in ``x``; ``let`` gives an expression a name."""
    n = len(x)
    if n == 1:
        return x
    if n == 2:
        return [let(f"{x[0]} + {x[1]}"), let(f"{x[0]} - {x[1]}")]
    a = 4 if n % 4 == 0 and n > 4 else next(p for p in range(2, n + 1) if n % p == 0)
    if a < n:  # n = a·b: transforms of b, twiddles, transforms of a
        b = n // a
        parts = [dft(x[k::a], let, real) for k in range(a)]
        result = [""] * n
        for q in range(b):
            result[q::b] = dft([let(turned(parts[k][q], k * q, n, real)) for k in range(a)], let, real)
        return result
    # An odd prime: sums and differences of x[k] and x[n−k] meet cosines and sines.
    half = range(1, n // 2 + 1)
    sums = [let(f"{x[k]} + {x[n - k]}") for k in half]
    differences = [let(f"turned({x[k]} - {x[n - k]})") for k in half]
    result = [let(_sum([x[0], *sums]))] + [""] * (n - 1)
    for j in half:
        w = [_roots(n)[j * k % n] for k in half]
        cosines = [f"{_literal(a.real, real)} * {s}" for a, s in zip(w, sums, strict=True)]
        sines = [f"{_literal(-a.imag, real)} * {d}" for a, d in zip(w, differences, strict=True)]
        even, odd = let(_sum([x[0], *cosines])), let(_sum(sines))
        result[j], result[n - j] = let(f"{even} + {odd}"), let(f"{even} - {odd}")
    return result


def _direct(x: list[str], let: Callable[[str], str], real: str) -> list[str]:
    """:func:`dft` by its definition: each result is a sum of all values times their roots."""
    n = len(x)
    return [let(_sum([turned(x[k], j * k, n, real) for k in range(n)])) for j in range(n)]


@cache
def butterfly(radix: int, real: str, unrolled: int, subdivided: bool) -> str:
    """The function ``dftN``, which transforms N values in place, with constants from float64. Primes above ``unrolled``
    are in loops; other radices are ``subdivided`` into smaller transforms, or computed by the definition."""
    if radix > unrolled and largest_prime(radix) == radix:
        return _looped(radix, real)
    lines: list[str] = []

    def let(expression: str) -> str:
        if expression.isidentifier():
            return expression
        lines.append(f"    cplx t{len(lines)} = {expression};")
        return f"t{len(lines) - 1}"

    inputs = [let(f"x[{k}]") for k in range(radix)]
    direct = not subdivided and largest_prime(radix) < radix
    result = (_direct if direct else dft)(inputs, let, real)
    lines += [f"    x[{k}] = {name};" for k, name in enumerate(result)]
    return f"static inline void dft{radix}(cplx *x) {{\n" + "\n".join(lines) + "\n}\n"


def _looped(prime: int, real: str) -> str:
    """The function ``dftN`` of an odd prime as a call of fft_prime.cl's, with a table of cosines and negative sines."""
    pairs = ", ".join(f"{_literal(w.real, real)}, {_literal(-w.imag, real)}" for w in _roots(prime))
    return f"""
__constant {real} roots{prime}[] = {{{pairs}}};

static inline void dft{prime}(cplx *x) {{
    cplx y[{prime}];
    dft_of_prime(x, y, {prime}, roots{prime});
}}
"""


def butterflies(radices: Sequence[int], real: str, unrolled: int, subdivided: bool) -> str:
    """The butterflies that a schedule needs."""
    return "\n".join(butterfly(radix, real, unrolled, subdivided) for radix in sorted({*radices} - {1}))
