"""OpenCL C of small transforms: straight-line butterflies of any radix, constants from float64.

Source: Cooley & Tukey 1965.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import cos, pi, sin


def _literal(value: float, real: str) -> str:
    return f"{value:.17g}{'' if '.' in f'{value:.17g}' or 'e' in f'{value:.17g}' else '.0'}{'f' * (real == 'float')}"


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
    angle = -2 * pi * j / n
    return f"times({value}, (real2)({_literal(cos(angle), real)}, {_literal(sin(angle), real)}))"


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
    result = [let(" + ".join([x[0], *sums]))] + [""] * (n - 1)
    for j in half:
        angles = [2 * pi * (j * k % n) / n for k in half]
        cosines = (f"{_literal(cos(t), real)} * {s}" for t, s in zip(angles, sums, strict=True))
        sines = (f"{_literal(sin(t), real)} * {d}" for t, d in zip(angles, differences, strict=True))
        even, odd = let(" + ".join([x[0], *cosines])), let(" + ".join(sines))
        result[j], result[n - j] = let(f"{even} + {odd}"), let(f"{even} - {odd}")
    return result


@cache
def butterfly(radix: int, real: str = "float") -> str:
    """The function ``dftN``: N values in place, unrolled, constants from float64."""
    lines: list[str] = []

    def let(expression: str) -> str:
        if expression.isidentifier():
            return expression
        lines.append(f"    cplx t{len(lines)} = {expression};")
        return f"t{len(lines) - 1}"

    inputs = [let(f"x[{k}]") for k in range(radix)]
    result = dft(inputs, let, real)
    lines += [f"    x[{k}] = {name};" for k, name in enumerate(result)]
    return f"static inline void dft{radix}(cplx *x) {{\n" + "\n".join(lines) + "\n}\n"


def butterflies(radices: Sequence[int], real: str) -> str:
    """The butterflies that a schedule needs."""
    return "\n".join(butterfly(radix, real) for radix in sorted(set(radices)))
