"""OpenCL C of one transform kernel: the stages of a schedule, and the steps before, between and behind them.

A sequence of N = r1·r2·…·rm points has its places in local memory (decimation in time): sample n has the digit-reversed
place, stage i joins ri transforms of s = r1·…·r(i−1) points that lie s apart, and the result is in order. The same
stages backwards, with twiddles behind the butterfly (decimation in frequency), take the result back to the places of
the samples, so that a convolution (an image's, or Bluestein's) never reorders.

On a GPU a work-item keeps its values in registers, and local memory only exchanges them between stages: all at once,
or real and imaginary parts in turn where local memory has room for half of them only. On a CPU one work-item has all of
a sequence, in local memory, as lanes of vectors.
Sources: Cooley & Tukey 1965; Bluestein 1970; Van Loan, Computational Frameworks for the FFT, 1992.
"""

from __future__ import annotations

from collections.abc import Sequence

from .butterflies import dft
from .pieces import SHAPE, SIGNATURE, Body, Number, plus
from .schedule import SHARED, Schedule
from .shared import Shared, orders
from .twins import Twins


class _Kernel(Twins, Shared):
    """The kernel ``fft_local``."""

    # -- ends ----------------------------------------------------------------------------------------------------

    def loads(self, x: int) -> list[str]:
        """Lines that read the first stage's values from the input."""
        count = self.count(0)
        if self.s.twin == "pack":
            return self.packs(x)

        def line(k: Number, slot: int, name: str) -> str:
            if self.s.channels > 1:
                return f"{name} = channel(kept + {name[2:-1]});"
            return f"{name} = take(in, factors, v{slot}, {plus(self.butterfly_of(0, slot), k * count)}, s);"

        return self.values(0, x, line) + self.joins(0, x, before=True)

    def pixels(self, x: int) -> list[str]:
        """Lines that read all channels of the first stage's values from the input."""

        def line(k: Number, slot: int, name: str) -> str:
            return f"kept{name[1:]} = pixels(in, v0, {plus('t', k * self.count(0))}, s);"

        return self.values(0, x, line)

    def results(self, index: int) -> Body:
        """Lines that write the last values to the output; at stage ``index`` a butterfly's elements are as far apart as
        loaded ones."""
        s, count = self.s, self.count(index)

        def body(x: int) -> list[str]:
            if s.twin == "unpack":
                return self.unpacks(x)
            return (self.joins(index, x, before=False) if s.twin else []) + self.values(index, x, line, True)

        def line(k: Number, slot: int, name: str) -> str:
            place = plus(self.butterfly_of(index, slot), k * count)
            return f"give(out, factors, roots, v{slot}, {place}, {name}, s COUNTED);"

        return body

    def joins(self, index: int, x: int, *, before: bool) -> list[str]:
        """Lines for transforms across the joined sequences, with turns ``before`` (decimation in time) or after
        them."""
        s = self.s
        lines: list[str] = []
        for first in range(0, s.carried if s.joined > 1 else 0, s.joined):
            turns = [f"turn{first + q}" for q in range(s.joined)]
            for k in range(s.radices[index]):
                inside: list[str] = []

                def let(expression: str, inside: list[str] = inside) -> str:
                    inside.append(f"const cplx y{len(inside)} = {expression};")
                    return f"y{len(inside) - 1}"

                names = [f"x[{(first + q) * s.most + x + k}]" for q in range(s.joined)]
                inputs = [
                    f"times({v}, {w})" if q and before else v
                    for q, (v, w) in enumerate(zip(names, turns, strict=True))
                ]
                results = dft([let(v) for v in inputs], let, self.real)
                inside += [
                    f"{name} = {f'times({v}, {w})' if q and not before else v};"
                    for q, (name, v, w) in enumerate(zip(names, results, turns, strict=True))
                ]
                lines.append(f"{{ {' '.join(inside)} }}")
        return lines

    # -- stages ----------------------------------------------------------------------------------------------------

    def reads(self, index: int, part: str = "") -> Body:
        def line(k: Number, slot: int, name: str) -> str:
            return f"{name}{part} = at_{self.butterfly_of(index, slot)}[{self.offset(index, k, slot)}];"

        if self.shared(index):
            return self.sums(part)
        return lambda x: self.pointers(index, part, "const ") + self.values(index, x, line)

    def writes(self, index: int, part: str = "") -> Body:
        def line(k: Number, slot: int, name: str) -> str:
            return f"at_{self.butterfly_of(index, slot)}[{self.offset(index, k, slot)}] = {name}{part};"

        if self.shared(index):
            return self.scattered(part)
        return lambda x: self.pointers(index, part) + self.values(index, x, line)

    def twiddles(self, index: int, back: bool = False) -> Body:
        stride, radix = self.strides[index], self.s.radices[index]
        root = "root_again" if back else "root"

        def body(x: int) -> list[str]:
            lines = []
            for t in ("t", "u") if index == self.s.mirrored else ("t",):
                starts = [a + x for i, a in enumerate(self.slots(index)) if self.butterfly_of(index, i) == t]
                q = t if index == self.last else f"{t} % {stride}"

                def line(k: Number, q: str = q, starts: Sequence[int] = starts) -> list[str]:
                    table = f"tables[{q} + {k * stride + -1}]"
                    w = f"{root}(({k}) * ({q}), {stride * radix})" if self.s.computed else table
                    turns = " ".join(f"x[{i + k}] = times(x[{i + k}], w);" for i in starts)
                    return [f"{{ const real2 w = {w}; {turns} }}"]

                lines += self.over(index, line, 1)
            return lines if stride > 1 and not self.shared(index) else []

        return body

    def butterflies(self, index: int) -> Body:
        if self.shared(index):
            return self.combined

        def body(x: int) -> list[str]:
            return [f"dft{radix}(x + {start + x});" for start in self.slots(index) if radix > 1]

        radix = self.s.radices[index]
        return body

    def filters(self, x: int) -> list[str]:
        """Lines between Bluestein's two transforms, the second of which is an inverse."""
        count = self.count(self.last)

        def line(k: Number, slot: int, name: str) -> str:
            return f"{name} = swapped(times({name}, tables[{plus('t', self.s.points + k * count)}]));"

        return self.values(self.last, x, line)

    def exchange(self, source: int, target: int, first: bool, *meanwhile: Body) -> None:
        """Moves values from their places after one stage to those before the next."""
        for part in (".lo", ".hi") if self.s.halved else ("",):
            if part == ".hi" or self.shared(source):
                self.barrier()
            self.each(source, self.writes(source, part))  # to where this work-item read: no barrier
            if part != ".hi":
                self.each(target, *meanwhile)
            self.barrier(everything=first)
            if part:
                self.each(target, self.reads(target, part))

    def kernel(self) -> str:
        s, last = self.s, self.last
        there = [(index, [self.twiddles(index), self.butterflies(index)]) for index in range(last + 1)]
        if s.share and self.strides[SHARED] > 1:
            there[0][1].append(self.turns)
        # The transfer function is read while the last stage's values are on their way through local memory.
        early = [self.transfers] if s.twin == "convolve" and s.items > 1 and last > 0 else []
        if self.back:
            late = [self.transfers] if s.twin == "convolve" and not early else []
            there[last][1].extend(
                [
                    *late,
                    self.filters if s.length else self.multiplies,
                    self.butterflies(last),
                    self.twiddles(last, back=True),
                ]
            )
            there += [
                (i, [self.butterflies(i), self.twiddles(i, back=True)]) for i in range(last - 1, -1, -1)
            ]
        if s.channels > 1:
            self.each(0, self.pixels)
            self.lines.append(f"    ROLLED for (int c = 0; c < {s.channels}; c++, v0.out += s.out.x) {{")
        for number, (index, work) in enumerate(there):
            first, final = number == 0, number == len(there) - 1
            read = self.loads if first else self.reads(index)
            write = self.results(index) if final else self.writes(index)
            if s.items == 1:  # all in one loop
                self.each(index, read, *work, write)
                if not final:
                    self.barrier(everything=first)
                continue
            self.each(index, *([] if s.halved and not first else [read]), *work, *([write] if final else []))
            if not final:
                self.exchange(index, there[number + 1][0], first, *(early if number == last - 1 else []))
        if s.channels > 1:
            self.barrier()  # local memory is free again
            self.lines.append("    }")
        before = orders(s.radices[SHARED]) if s.share else ""
        return before + "\n".join([*self.head(), *self.lines, "    COUNT\n}\n"])

    def head(self) -> list[str]:
        s = self.s
        kind = "real" if s.halved else "cplx"
        attributes = f"__attribute__((reqd_work_group_size({s.group}, 1, 1)))"
        lines = [SIGNATURE.format(attributes=attributes, name="fft_local", more="").rstrip()]
        if s.places:
            lines.append(f"    __local {kind} memory[{s.places}];")
        items = s.items * s.sets
        lines += [
            f"    const uint id = get_local_id(0), item = {f'id % {s.items}' if s.along else f'id / {s.columns}'};",
            f"    const uint column = {f'id / {items}' if s.along else f'id % {s.columns}'};",
            *([f"    const int set = id / {s.items} % 2;"] if s.sets > 1 else []),
            SHAPE,
            "    COUNTERS",
            f"    const Place v = place(get_group_id(0), column, {s.columns}, s);",
        ]
        if s.channels > 1:
            lines += ["    Place v0 = v;", f"    ulong kept[{s.most}];"]
        for slot in range(s.carried if s.channels == 1 else 0):
            q, twin = (f"{slot % s.joined}", "set" if s.sets > 1 else f"{slot // s.joined}")
            lines.append(f"    const Place v{slot} = carried(v, {q}, {twin}, s);")
            if s.sets > 1:
                q, twin = (f"{slot} - set", "1") if 2 * slot >= s.carried else (f"{slot} + set", "0")
                lines.append(f"    const Place w{slot} = carried(v, {q}{f' * {s.carried // 2}'}, {twin}, s);")
        if s.alone:
            lines.append("    const Place v1 = v0;")
        lines += [
            f"    const real2 turn{slot} = roots[v{slot}.k * {slot % s.joined}];"
            for slot in range(s.carried)
            if slot % s.joined
        ]
        if s.places:
            own = f"column * {s.places // s.columns}" if s.along else "column"
            lines.append(f"    __local {kind} *buf = memory + {own};")
        return [*lines, f"    {self.registers()}"] if s.items > 1 else lines


def local_kernel(schedule: Schedule, real: str, vectors: bool) -> str:
    """The kernel ``fft_local``: one dispatch for an axis, exchanges through local memory; ``vectors``: for CPUs."""
    return _Kernel(schedule, real, vectors).kernel()
