"""OpenCL C of twins: rows k and −k, or the two halves of one sequence's spectrum: see fft.cl."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from .butterflies import turned
from .pieces import Number, Pieces, plus


class Twins(Pieces):
    """Lines for packed values at the spectrum's end."""

    def pairs(
        self, index: int, x: int, lines: Callable[[Number, int, int, str, str], list[str]]
    ) -> list[str]:
        """The lines for all of a mirrored butterfly; ``lines`` makes those for k, a slot, its twin, the value at q and
        the twin's value at −q."""
        slots, last = self.slots(index), x + self.s.radices[index] - 1
        return [
            text
            for a, b in zip(range(len(slots) // 2), reversed(range(len(slots))), strict=False)
            for text in self.over(
                index,
                lambda k: lines(k, a, b, f"x[{slots[a] + x + k}]", f"x[{slots[b] + last + k * -1}]"),  # noqa: B023
                far=True,
            )
        ]

    def rotated(self, index: int, x: int, back: bool = False) -> list[str]:
        """Lines that move the twin's values of butterfly 0 one place to the front, or ``back``: this butterfly is its
        own mirror image, and −q is one place further on."""
        slots, r = self.slots(index), self.s.radices[index]
        lines: list[str] = []
        for start in slots[len(slots) // 2 :] if r > 1 else []:
            names = [f"x[{start + x + k}]" for k in range(r)]
            names = names[::-1] if back else names
            moves = " ".join(f"{a} = {b};" for a, b in pairwise(names))
            lines.append(f"if (t == 0) {{ const cplx y = {names[0]}; {moves} {names[-1]} = y; }}")
        return lines

    @property
    def spectrum(self) -> str:
        """The name of the places at the spectrum's end: a name of their own if other sequences are carried there than
        at the packed end."""
        return "w" if self.s.sets > 1 else "v"

    def root(self, value: str, name: str, k: Number, index: int) -> str:
        """C that assigns ``value`` times w_N^q to ``name``; q = t + k·count, so w_N^q is w_N^t times the k-th power of
        w_2r."""
        if isinstance(k, int):
            rest = turned(f"{name}t", k, 2 * self.s.radices[index], self.real)
            return f"{name}t = times({value}, w), {name} = {rest}"
        return f"{name} = times({value}, tables[{plus('t', k * self.count(index) + self.s.points)}])"

    def first_root(self) -> str:
        return f"const real2 w = tables[{plus('t', self.s.points)}];"

    @staticmethod
    def edge(k: Number, lines: Sequence[str]) -> list[str]:
        """Lines for q = 0 alone."""
        also = "" if isinstance(k, int) else " && k == 0"
        return [f"if (t == 0{also}) {{ {' '.join(lines)} }}"] if not isinstance(k, int) or k == 0 else []

    def unpacks(self, x: int) -> list[str]:
        """Lines that write X[k, q] and conj X[k, q + M] = X[−k, M − q]; at q = 0 both belong to the half spectrum of
        row k and to that of −k."""
        s, n, count = self.s, self.s.points, self.count(self.last)
        put = f"give(out, factors, roots, {self.spectrum}{{}}, {{}}, {{}}, s COUNTED);".format

        def lines(k: Number, slot: int, twin: int, a: str, b: str) -> list[str]:
            q = plus("t", k * count)
            more = [put(slot, f"{q} + {n}", "e - o")]
            if not s.alone:
                more.append(put(twin, f"({q} ? {2 * n} - ({q}) : 0)", "conjugate(e + o)"))
            return [
                f"{{ const cplx e = {a} + conjugate({b}),",
                f"               {self.root(f'turned({a} - conjugate({b}))', 'o', k, self.last)};",
                f"  {put(slot, q, 'e + o')} {put(twin, f'{n} - ({q})', 'conjugate(e - o)')}",
                *(more if s.whole else self.edge(k, more)),
                "}",
            ]

        return [self.first_root(), *self.rotated(self.last, x), *self.pairs(self.last, x, lines)]

    def packs(self, x: int) -> list[str]:
        """Lines that make E + i·O of a row and its twin from X[k, q] and X[−k, M − q], all with real and imaginary
        parts swapped.

        At q = 0 and M the two rows' values are of the same column: those that must be conjugate are made so, as if a
        transform of the columns had given real numbers.
        """
        n, count = self.s.points, self.count(0)
        load = f"take(in, factors, {self.spectrum}{{}}, {{}}, s)".format

        def lines(k: Number, slot: int, twin: int, a: str, b: str) -> list[str]:
            q = plus("t", k * count)
            halves = [
                f"p = (p - conjugate({load(twin, 0)})) * (real)0.5f;",
                f"m = (m + {load(slot, n)}) * (real)0.5f;",
            ]
            return [
                f"{{ cplx p = {load(slot, q)}, m = reflected({load(twin, f'{n} - ({q})')});",
                *self.edge(k, halves),
                *self.packed_pair(a, b, k, 0),
            ]

        return [self.first_root(), *self.pairs(0, x, lines), *self.rotated(0, x, back=True)]

    def packed_pair(self, a: str, b: str, k: Number, index: int) -> list[str]:
        """Lines that make a = E + i·O and b = conj E + i·conj O from p = X[k, q] and m = X[k, q + M], all of them
        swapped."""
        return [
            f"  const cplx e = p + m, {self.root('turned(p - m)', 'o', k, index)};",
            f"  {a} = e + o; {b} = reflected(e - o); }}",
        ]

    def transfers(self, x: int) -> list[str]:
        """Lines that read the transfer function's values into h, at the indices that the spectrum's will have in x."""
        n, count = self.s.points, self.count(self.last)

        def lines(k: Number, slot: int, twin: int, a: str, b: str) -> list[str]:
            q = plus("t", k * count)
            return [
                f"h{a[1:]} = transfer(factors, {self.spectrum}{slot}, {q}, s);",
                f"h{b[1:]} = transfer(factors, {self.spectrum}{twin}, {n} - ({q}), s);",
            ]

        return self.pairs(self.last, x, lines)

    def multiplies(self, x: int) -> list[str]:
        """Lines that multiply the spectrum by the transfer function and go back to E + i·O, swapped, as the way back is
        an inverse."""

        def lines(k: Number, slot: int, twin: int, a: str, b: str) -> list[str]:
            return [
                f"{{ const cplx f = {a} + conjugate({b}),",
                f"               {self.root(f'turned({a} - conjugate({b}))', 'g', k, self.last)};",
                f"  const cplx p = swapped(product(f + g, h{a[1:]})),",
                f"             m = swapped(product(f - g, conjugate(h{b[1:]})));",
                *self.packed_pair(a, b, k, self.last),
            ]

        rotated, back = self.rotated(self.last, x), self.rotated(self.last, x, back=True)
        return [self.first_root(), *rotated, *self.pairs(self.last, x, lines), *back]
