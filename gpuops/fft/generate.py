"""OpenCL C of one transform kernel: the stages of a schedule, and what is before, between and behind them.

A sequence of N = r1·r2·…·rm points has its places in local memory (decimation in time): sample n belongs at the
digit-reversed one, stage i joins ri transforms of s = r1·…·r(i−1) points that lie s apart, and the result is in order.
The same stages backwards with twiddles behind the butterfly (decimation in frequency) take that back to where samples
were, so that a convolution (an image's, or Bluestein's) never reorders.

On a GPU a work-item keeps its values in registers, and local memory only exchanges them between stages: all at once,
or real and imaginary parts in turn where that is twice what there is. On a CPU one work-item has all of a sequence,
in local memory, as lanes of vectors.
Sources: Cooley & Tukey 1965; Bluestein 1970; Van Loan, Computational Frameworks for the FFT, 1992.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

from .butterflies import LARGEST_UNROLLED, LARGEST_UNROLLED_ON_CPUS, dft, turned
from .schedule import Schedule

# Where a butterfly's values start in x → lines; the butterfly is t, of twins u.
Body = Callable[[int], list[str]]


@dataclass(frozen=True)
class _Counted:
    """C for ``slope · k + offset``, k the counter of a loop; does what is done with a number k where there is none."""

    slope: int = 1
    offset: int = 0

    def __mul__(self, by: int) -> _Counted:
        return _Counted(self.slope * by, self.offset * by)

    def __add__(self, more: int) -> _Counted:
        return _Counted(self.slope, self.offset + more)

    __radd__ = __add__

    def __str__(self) -> str:
        return f"k * {self.slope} + {self.offset}"


Number = int | _Counted


class _Text:
    """The kernel ``fft_local`` of a schedule, line by line."""

    def __init__(self, schedule: Schedule, real: str, vectors: bool) -> None:
        self.s, self.real, self.vectors = schedule, real, vectors
        self.lines: list[str] = []
        self.strides = [prod(schedule.radices[:i]) for i in range(len(schedule.radices))]
        self.last = len(schedule.radices) - 1
        self.back = bool(schedule.length) or schedule.twin == "convolve"
        self.per_row = schedule.points + schedule.pad * schedule.radices[-1]

    # -- places in local memory: last stage's runs of `strides[last]` elements are `pad` further apart ------------

    def place(self, p: str) -> str:
        """C for the place of element p of the work-item's (first) sequence."""
        s = self.s
        padded = f"{p} + {p} / {self.strides[-1]}" if s.pad else p
        return f"({padded}) * {s.columns}" if s.columns > 1 and not s.along else padded

    def offset(self, index: int, k: Number, slot: int) -> Number:
        """What is added for the k-th value of a butterfly of stage ``index`` of a set's sequence."""
        s = self.s
        step = self.strides[index] + (s.pad if index == self.last else 0)
        row = s.rows - s.carried + slot if self.butterfly_of(index, slot) == "u" else slot
        return (k * step + row * (not s.alone) * self.per_row) * (1 if s.along else s.columns)

    def first(self, index: int, t: str) -> str:
        """C for the place of the first element of butterfly t of stage ``index``."""
        stride, radix = self.strides[index], self.s.radices[index]
        if index == self.last:
            return t
        if index > 0:
            return f"({t} / {stride} * {stride * radix} + {t} % {stride})"
        # The samples t, t + count, …: the last stage's digit is the fastest of t.
        terms, divisor = [], 1
        for i in range(self.last, 0, -1):
            digit = f"{t} / {divisor}" if i == 1 else f"{t} / {divisor} % {self.s.radices[i]}"
            terms.append(f"{digit} * {self.strides[i]}")
            divisor *= self.s.radices[i]
        return f"({' + '.join(terms)})"

    # -- pieces --------------------------------------------------------------------------------------------------

    def count(self, index: int) -> int:
        """Butterflies of a stage; at either end also the distance of a butterfly's elements."""
        return self.s.points // self.s.radices[index]

    def each(self, index: int, *bodies: Body) -> None:
        """The bodies for the butterflies of a stage: one body after the other, or all in a loop (CPUs)."""
        s, (count, values) = self.s, self.s.work(index)
        twins = f" const uint u = t ? {self.count(index)} - t : 0;" if index == s.mirrored else ""
        if s.items == 1:
            inside = [f"{self.registers()}{twins}"]
            for body in bodies:
                inside += ["{", *(f"    {line}" for line in body(0)), "}"]
            inside = [f"    {line}" for line in inside]
            self.lines += [
                f"    for (uint t = 0; t < {count}; t++) {{",
                *(f"    {line}" for line in inside),
                "    }",
            ]
            return
        for body in bodies:
            for b in range(-(-count // s.items)):
                guard = f"if (t < {count}) " if (b + 1) * s.items > count else ""
                start = (
                    f"    {{ const uint t = item + {b * s.items};{twins}{' ' + guard + '{' if guard else ''}"
                )
                inside = [f"        {line}" for line in body(b * values)]
                self.lines += [start, *inside, "    }}" if guard else "    }"]

    def registers(self) -> str:
        """Where a work-item keeps values: its sequences' in x, the transfer function's in h."""
        size = self.s.carried * self.s.most
        return f"cplx x[{size}], h[{size}];" if self.s.twin == "convolve" else f"cplx x[{size}];"

    def barrier(self, everything: bool = False) -> None:
        """``everything``: global memory too, as the output may be the input."""
        if self.s.group > 1:
            fences = "CLK_LOCAL_MEM_FENCE" + " | CLK_GLOBAL_MEM_FENCE" * everything
            self.lines.append(f"    barrier({fences});")

    def slots(self, index: int) -> list[int]:
        """Where in x the butterflies begin that a work-item has side by side: one of each of its sequences, or two."""
        s = self.s
        if s.alone and index == s.mirrored:
            return [0, s.radices[index]]
        return [slot * s.most for slot in range(s.carried)]

    def over(
        self, index: int, lines: Callable[[Number], list[str]], first: int = 0, far: bool = False
    ) -> list[str]:
        """Lines for the values k = ``first``, … of a butterfly; in a loop where there are many, and on CPUs where they
        are ``far``, in global memory: each line of vectors there takes compilers long, and a loop next to nothing."""
        radix = self.s.radices[index]
        if radix <= (LARGEST_UNROLLED_ON_CPUS if self.vectors else LARGEST_UNROLLED) and not (
            far and self.vectors
        ):
            return [line for k in range(first, radix) for line in lines(k)]
        return [f"{_LOOP} for (int k = {first}; k < {radix}; k++) {{", *lines(_Counted()), "}"]

    def values(
        self, index: int, x: int, line: Callable[[Number, int, str], str], far: bool = False
    ) -> list[str]:
        """A line for each value of butterflies side by side, of k, slot and name."""
        return [
            text
            for slot, start in enumerate(self.slots(index))
            for text in self.over(index, lambda k: [line(k, slot, f"x[{start + x + k}]")], 0, far)  # noqa: B023
        ]

    def butterfly_of(self, index: int, slot: int) -> str:
        return "u" if index == self.s.mirrored and 2 * slot >= len(self.slots(index)) else "t"

    def pairs(
        self, index: int, x: int, lines: Callable[[Number, int, int, str, str], list[str]]
    ) -> list[str]:
        """Lines for all of a mirrored butterfly: of k, slot, its twin, the value of q, the twin's value of −q."""
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
        """Of butterfly 0, which is its own mirror image, −q stands one further on: by one to the front."""
        slots, r = self.slots(index), self.s.radices[index]
        lines = []
        for start in slots[len(slots) // 2 :]:
            names = [f"x[{start + x + k}]" for k in range(r)]
            names = names[::-1] if back else names
            moves = " ".join(f"{a} = {b};" for a, b in pairwise(names))
            lines.append(f"if (t == 0) {{ const cplx y = {names[0]}; {moves} {names[-1]} = y; }}")
        return lines

    def joins(self, index: int, x: int, *, before: bool) -> list[str]:
        """Transforms across the joined sequences, their turns ``before`` (decimation in time) or after."""
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

    def loads(self, x: int) -> list[str]:
        """The first stage's values from the input."""
        count = self.count(0)
        if self.s.twin == "pack":
            return self.packs(x)

        def line(k: Number, slot: int, name: str) -> str:
            return f"{name} = load(in, factors, v{slot}, {_plus(self.butterfly_of(0, slot), k * count)}, s);"

        return self.values(0, x, line) + self.joins(0, x, before=True)

    def results(self, index: int) -> Body:
        """The last values to the output, at which index a butterfly's elements are as far apart as loaded ones."""
        s, count = self.s, self.count(index)

        def body(x: int) -> list[str]:
            if s.twin == "unpack":
                return self.unpacks(x)
            return (self.joins(index, x, before=False) if s.twin else []) + self.values(index, x, line, True)

        def line(k: Number, slot: int, name: str) -> str:
            place = _plus(self.butterfly_of(index, slot), k * count)
            return f"store(out, factors, roots, v{slot}, {place}, {name}, s);"

        return body

    # -- twins: rows k and −k, or the two halves of one sequence's spectrum: see fft.cl ----------------------------

    @property
    def spectrum(self) -> str:
        """What places at the spectrum's end are called, where other sequences are carried than at the packed one."""
        return "w" if self.s.sets > 1 else "v"

    def root(self, value: str, name: str, k: Number, index: int) -> str:
        """C that calls w_N^q times ``value`` ``name``; q = t + k·count: w_N^t times the k-th power of w_2r."""
        if isinstance(k, int):
            rest = turned(f"{name}t", k, 2 * self.s.radices[index], self.real)
            return f"{name}t = times({value}, w), {name} = {rest}"
        return f"{name} = times({value}, tables[{_plus('t', k * self.count(index) + self.s.points)}])"

    def first_root(self) -> str:
        return f"const real2 w = tables[{_plus('t', self.s.points)}];"

    @staticmethod
    def edge(k: Number, lines: Sequence[str]) -> list[str]:
        """Lines for q = 0 alone."""
        also = "" if isinstance(k, int) else " && k == 0"
        return [f"if (t == 0{also}) {{ {' '.join(lines)} }}"] if not isinstance(k, int) or k == 0 else []

    def unpacks(self, x: int) -> list[str]:
        """X[k, q] and conj X[k, q + M] = X[−k, M − q] to the output; both at q = 0 are in the half of k and of −k."""
        s, n, count = self.s, self.s.points, self.count(self.last)
        put = f"store(out, factors, roots, {self.spectrum}{{}}, {{}}, {{}}, s);".format

        def lines(k: Number, slot: int, twin: int, a: str, b: str) -> list[str]:
            q = _plus("t", k * count)
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
        """E + i·O of a row and its twin from X[k, q] and X[−k, M − q], all with real and imaginary parts swapped.

        At q = 0 and M, where both are of the same columns, what must be conjugate is made so, as if a transform of
        the columns had given real numbers.
        """
        n, count = self.s.points, self.count(0)
        load = f"load(in, factors, {self.spectrum}{{}}, {{}}, s)".format

        def lines(k: Number, slot: int, twin: int, a: str, b: str) -> list[str]:
            q = _plus("t", k * count)
            halves = [
                f"p = (p - conjugate({load(twin, 0)})) * (real)0.5f;",
                f"m = (m + {load(slot, n)}) * (real)0.5f;",
            ]
            return [
                f"{{ cplx p = {load(slot, q)}, m = -conjugate({load(twin, f'{n} - ({q})')});",
                *self.edge(k, halves),
                *self.packed_pair(a, b, k, 0),
            ]

        return [self.first_root(), *self.pairs(0, x, lines), *self.rotated(0, x, back=True)]

    def packed_pair(self, a: str, b: str, k: Number, index: int) -> list[str]:
        """a = E + i·O and b = conj E + i·conj O from p = X[k, q] and m = X[k, q + M], all of them swapped."""
        return [
            f"  const cplx e = p + m, {self.root('turned(p - m)', 'o', k, index)};",
            f"  {a} = e + o; {b} = -conjugate(e - o); }}",
        ]

    def transfers(self, x: int) -> list[str]:
        """The transfer function's values, where in h the spectrum's will be in x."""
        n, count = self.s.points, self.count(self.last)

        def lines(k: Number, slot: int, twin: int, a: str, b: str) -> list[str]:
            q = _plus("t", k * count)
            return [
                f"h{a[1:]} = transfer(factors, {self.spectrum}{slot}, {q}, s);",
                f"h{b[1:]} = transfer(factors, {self.spectrum}{twin}, {n} - ({q}), s);",
            ]

        return self.pairs(self.last, x, lines)

    def multiplies(self, x: int) -> list[str]:
        """The spectrum times the transfer function, and back to E + i·O, swapped: the way back is an inverse."""

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

    # -- stages ----------------------------------------------------------------------------------------------------

    def pointers(self, index: int, part: str, const: str = "") -> list[str]:
        kind = "real" if part else "cplx"
        mirrored = index == self.s.mirrored
        distance = (self.s.carried // 2 if mirrored else self.s.carried) * self.per_row
        return [
            f"__local {const}{kind} *at_{t} = buf + {self.place(self.first(index, t))}"
            + (f" {sign} set * {distance};" if self.s.sets > 1 else ";")
            for t, sign in (("t", "+"), ("u", "-"))[: 1 + mirrored]
        ]

    def reads(self, index: int, part: str = "") -> Body:
        def line(k: Number, slot: int, name: str) -> str:
            return f"{name}{part} = at_{self.butterfly_of(index, slot)}[{self.offset(index, k, slot)}];"

        return lambda x: self.pointers(index, part, "const ") + self.values(index, x, line)

    def writes(self, index: int, part: str = "") -> Body:
        def line(k: Number, slot: int, name: str) -> str:
            return f"at_{self.butterfly_of(index, slot)}[{self.offset(index, k, slot)}] = {name}{part};"

        return lambda x: self.pointers(index, part) + self.values(index, x, line)

    def twiddles(self, index: int) -> Body:
        stride, radix = self.strides[index], self.s.radices[index]

        def body(x: int) -> list[str]:
            lines = []
            for t in ("t", "u") if index == self.s.mirrored else ("t",):
                starts = [a + x for i, a in enumerate(self.slots(index)) if self.butterfly_of(index, i) == t]
                q = t if index == self.last else f"{t} % {stride}"

                def line(k: Number, q: str = q, starts: Sequence[int] = starts) -> list[str]:
                    table = f"tables[{q} + {k * stride + -1}]"
                    w = f"root(({k}) * ({q}), {stride * radix})" if self.s.computed else table
                    turns = " ".join(f"x[{i + k}] = times(x[{i + k}], w);" for i in starts)
                    return [f"{{ const real2 w = {w}; {turns} }}"]

                lines += self.over(index, line, 1)
            return lines if stride > 1 else []

        return body

    def butterflies(self, index: int) -> Body:
        def body(x: int) -> list[str]:
            return [f"dft{self.s.radices[index]}(x + {start + x});" for start in self.slots(index)]

        return body

    def filters(self, x: int) -> list[str]:
        """Between Bluestein's two transforms, the second an inverse."""
        count = self.count(self.last)

        def line(k: Number, slot: int, name: str) -> str:
            return f"{name} = swapped(times({name}, tables[{_plus('t', self.s.points + k * count)}]));"

        return self.values(self.last, x, line)

    def exchange(self, source: int, target: int, first: bool, *meanwhile: Body) -> None:
        """Values from their places after one stage to those before the next."""
        for part in (".lo", ".hi") if self.s.halved else ("",):
            if part == ".hi":
                self.barrier()
            self.each(source, self.writes(source, part))  # where this work-item read, what needs no barrier
            if part != ".hi":
                self.each(target, *meanwhile)
            self.barrier(everything=first)
            if part:
                self.each(target, self.reads(target, part))

    def kernel(self) -> str:
        s, last = self.s, self.last
        there = [(index, [self.twiddles(index), self.butterflies(index)]) for index in range(last + 1)]
        # Read while the last stage's values are on their way through local memory.
        early = [self.transfers] if s.twin == "convolve" and s.items > 1 and last > 0 else []
        if self.back:
            late = [self.transfers] if s.twin == "convolve" and not early else []
            there[last][1].extend(
                [
                    *late,
                    self.filters if s.length else self.multiplies,
                    self.butterflies(last),
                    self.twiddles(last),
                ]
            )
            there += [(i, [self.butterflies(i), self.twiddles(i)]) for i in range(last - 1, -1, -1)]
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
        return "\n".join([*self.head(), *self.lines, "}\n"])

    def head(self) -> list[str]:
        s = self.s
        kind = "real" if s.halved else "cplx"
        attributes = f"__attribute__((reqd_work_group_size({s.group}, 1, 1)))"
        lines = [_SIGNATURE.format(attributes=attributes, name="fft_local", more="").rstrip()]
        if s.places:
            lines.append(f"    __local {kind} memory[{s.places}];")
        items = s.items * s.sets
        lines += [
            f"    const uint id = get_local_id(0), item = {f'id % {s.items}' if s.along else f'id / {s.columns}'};",
            f"    const uint column = {f'id / {items}' if s.along else f'id % {s.columns}'};",
            *([f"    const int set = id / {s.items} % 2;"] if s.sets > 1 else []),
            _SHAPE,
            f"    const Place v = place(get_group_id(0), column, {s.columns}, s);",
        ]
        for slot in range(s.carried):
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
    return _Text(schedule, real, vectors).kernel()


_SIGNATURE = """
__kernel {attributes}
void {name}(__global const SAMPLE *in, __global const real2 *UNALIASED tables, __global const real2 *UNALIASED factors,
            __global const real2 *UNALIASED roots, __global real *out, int4 in_step, int4 out_step, int4 more,
            int4 count, int4 edge, real scale{more}) {{
"""
_LOOP = "__attribute__((opencl_unroll_hint(1)))"
_SHAPE = "    const Shape s = {in_step, out_step, more, count, edge, scale};"


def _plus(name: str, offset: Number) -> str:
    return f"{name} + {offset}" if offset else name


def global_kernel(radix: int, computed: bool) -> str:
    """The kernel ``fft_global``: one stage of a multi-pass transform, one butterfly in each work-item.

    Stockham's self-sorting form: no digit reversal, but the result cannot overwrite the input. Work-items are
    numbered sequences first where those are neighbours in memory, else butterflies first.
    """
    loop = f"__attribute__((opencl_unroll_hint({radix if radix <= LARGEST_UNROLLED else 1}))) for (int k ="
    root = f"root(k * q, stride * {radix})" if computed else "tables[k * stride - 1 + q]"
    # groups: of LANES sequences, in all
    sizes = ", int butterflies, int stride, int groups"
    signature = _SIGNATURE.format(attributes="", name="fft_global", more=sizes)
    return f"""{signature}
    const int id = get_global_id(0);
#ifdef ALONG
    const int t = id % butterflies, group = id / butterflies;
#else
    const int t = id / groups, group = id % groups;
#endif
    if (t >= butterflies || group >= groups) return;
{_SHAPE}
    const Place w = place(group, 0, 1, s);
    cplx x[{radix}];
    const int q = t % stride, p = t / stride * (stride * {radix}) + q;
    {loop} 0; k < {radix}; k++) x[k] = load(in, factors, w, t + k * butterflies, s);
    {loop} 1; k < {radix}; k++) x[k] = times(x[k], {root});
    dft{radix}(x);
    {loop} 0; k < {radix}; k++) store(out, factors, roots, w, p + k * stride, x[k], s);
}}
"""
