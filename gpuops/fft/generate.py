"""OpenCL C of one transform kernel: straight-line butterflies, and the schedule of stages around them.

A sequence of N = r1·r2·…·rm points stays in local memory in one place (decimation in time): the load puts sample n
at the digit-reversed position, stage i joins ri transforms of s = r1·…·r(i−1) points that lie s apart, and the result
is in order. The same stages backwards with twiddles behind the butterfly (decimation in frequency) take natural
order to digit-reversed order, so that a convolution (Bluestein's) never reorders.

On a GPU a work-item keeps its values in registers, and local memory only exchanges them between stages: all at once,
or real and imaginary parts in turn where that is twice what there is. On a CPU one work-item has all of a sequence,
in local memory, as lanes of vectors.
Sources: Cooley & Tukey 1965; Bluestein 1970; Van Loan, Computational Frameworks for the FFT, 1992.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import cos, pi, prod, sin


def _literal(value: float, real: str) -> str:
    return f"{value:.17g}{'' if '.' in f'{value:.17g}' or 'e' in f'{value:.17g}' else '.0'}{'f' * (real == 'float')}"


def _turned(value: str, j: int, n: int, real: str) -> str:
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


def _dft(x: list[str], let: Callable[[str], str], real: str) -> list[str]:
    """Names of the transform of the values named in ``x``; ``let`` gives an expression a name."""
    n = len(x)
    if n == 1:
        return x
    if n == 2:
        return [let(f"{x[0]} + {x[1]}"), let(f"{x[0]} - {x[1]}")]
    a = 4 if n % 4 == 0 and n > 4 else next(p for p in range(2, n + 1) if n % p == 0)
    if a < n:  # n = a·b: transforms of b, twiddles, transforms of a
        b = n // a
        parts = [_dft(x[k::a], let, real) for k in range(a)]
        result = [""] * n
        for q in range(b):
            result[q::b] = _dft([let(_turned(parts[k][q], k * q, n, real)) for k in range(a)], let, real)
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
    result = _dft(inputs, let, real)
    lines += [f"    x[{k}] = {name};" for k, name in enumerate(result)]
    return f"static inline void dft{radix}(cplx *x) {{\n" + "\n".join(lines) + "\n}\n"


def butterflies(radices: Sequence[int], real: str) -> str:
    """The butterflies that a schedule needs."""
    return "\n".join(butterfly(radix, real) for radix in sorted(set(radices)))


@dataclass(frozen=True)
class Schedule:
    """How one work-group transforms its sequences.

    Attributes
    ----------
    radices
        Of the stages, in the order of execution; their product is the number of points.
    items, columns
        Work-items that share a sequence; sequences of a group (each of as many lanes).
    length
        Bluestein: points of the transform that is made from a convolution of ``prod(radices)``; else 0.
    along
        Neighbouring work-items take neighbouring elements (rows) rather than neighbouring sequences.
    rows
        Complex sequences that a work-item carries side by side.
    joined
        These are transformed across each other when they are loaded.
    staged_in, staged_out
        Whole sequences pass through local memory on their way in or out.
    spectra
        The output is the two spectra of a pair of real sequences.
    packed
        The input is spectra of pairs of real sequences of the other axis.
    mirrored
        Elements 0 … mirrored − 1 of a sequence of a real image's spectrum are wanted, and those of its mirror image.
    halved
        Local memory has room for real parts alone: imaginary parts follow when those are through.
    computed
        Twiddles are computed rather than read from the table.
    """

    radices: tuple[int, ...]
    items: int
    columns: int = 1
    length: int = 0
    along: bool = True
    rows: int = 1
    joined: bool = False
    staged_in: bool = False
    staged_out: bool = False
    spectra: bool = False
    packed: bool = False
    mirrored: int = 0
    halved: bool = False
    computed: bool = False

    @property
    def points(self) -> int:
        return prod(self.radices)

    @property
    def idle(self) -> float:
        """Turns of all work-items relative to what there is to do: 1 where none ever waits."""
        turns = sum(-(-self.points // r // self.items) * self.items * r for r in self.radices)
        return turns / (self.points * len(self.radices))

    @property
    def in_twos(self) -> bool:
        """Work-items begin with two neighbouring butterflies, so that what a pair is taken apart from is read once."""
        return self.packed and not self.length and self.points // self.radices[0] % (2 * self.items) == 0

    @property
    def pad(self) -> int:
        """Elements left out behind each of the last stage's runs: an odd distance, against bank conflicts."""
        return int(self.items > 1 and len(self.radices) > 1 and self.points // self.radices[-1] % 2 == 0)

    @property
    def places(self) -> int:
        """Elements of local memory."""
        if len(self.radices) == 1 and not (self.staged_in or self.staged_out):
            return 0
        return (self.points + self.pad * self.radices[-1]) * self.columns * self.rows

    @property
    def most(self) -> int:
        """Values of a sequence that a work-item carries."""
        if self.items == 1:
            return max(self.radices)
        return max(-(-self.points // r // self.items) * r for r in self.radices)


Body = Callable[[str, int], list[str]]  # (which butterfly, where its values start in x) → lines


class _Text:
    """The kernel ``fft_local`` of a schedule, line by line."""

    def __init__(self, schedule: Schedule) -> None:
        self.s = schedule
        self.lines: list[str] = []
        self.strides = [prod(schedule.radices[:i]) for i in range(len(schedule.radices))]
        self.last = len(schedule.radices) - 1
        # Where these tables start; twiddles are in front.
        self.chirp, self.filter = schedule.points, 2 * schedule.points

    # -- places in local memory: last stage's runs of `strides[last]` elements are `pad` further apart ------------

    def place(self, p: str) -> str:
        """C for the place of element p of the work-item's (first) sequence."""
        s = self.s
        padded = f"{p} + {p} / {self.strides[-1]}" if s.pad else p
        return f"({padded}) * {s.columns}" if s.columns > 1 and not s.along else padded

    def offset(self, index: int, k: int, row: int) -> int:
        """What is added for the k-th value of a butterfly of stage ``index``."""
        s = self.s
        step = self.strides[index] + (s.pad if index == self.last else 0)
        per_row = s.points + s.pad * s.radices[-1]
        return (k * step + row * per_row) * (1 if s.along else s.columns)

    def element(self, index: int, t: str) -> str:
        """C for the first element of butterfly t of stage ``index``, natural order."""
        stride, radix = self.strides[index], self.s.radices[index]
        if index == self.last:
            return t
        return f"{t} * {radix}" if stride == 1 else f"({t} / {stride} * {stride * radix} + {t} % {stride})"

    def reversed_element(self, t: str) -> str:
        """C for where the first stage's butterfly t belongs: the last stage's digit is the fastest in the input."""
        terms, divisor = [], 1
        for index in range(self.last, 0, -1):
            radix = self.s.radices[index]
            digit = f"{t} / {divisor}" if index == 1 else f"{t} / {divisor} % {radix}"
            terms.append(f"{digit} * {self.strides[index]}")
            divisor *= radix
        return f"({' + '.join(terms)})" if terms else "0"

    # -- pieces --------------------------------------------------------------------------------------------------

    def each(self, index: int, *bodies: Body) -> None:
        """The bodies for the butterflies of a stage: one body after the other, or all in a loop (CPUs)."""
        s, count = self.s, self.s.points // self.s.radices[index]
        if s.items == 1:
            inside = [f"cplx x[{s.radices[index]}];"]
            for body in bodies:
                inside += ["{", *(f"    {line}" for line in body("t", 0)), "}"]
            self.lines += [
                f"    for (uint t = 0; t < {count}; t++) {{",
                *(f"        {line}" for line in inside),
                "    }",
            ]
            return
        for body in bodies:
            for b in range(-(-count // s.items)):
                guard = f"if (t < {count}) " if (b + 1) * s.items > count else ""
                inside = body("t", b * s.radices[index])
                t = f"item + {b * s.items}"
                if index == 0 and s.in_twos:
                    t = f"2 * item + {b // 2 * 2 * s.items + b % 2}"
                self.lines.append(f"    {{ const uint t = {t};{' ' + guard + '{' if guard else ''}")
                self.lines += [f"        {line}" for line in inside]
                self.lines.append("    }}" if guard else "    }")

    def barrier(self, everything: bool = False) -> None:
        """``everything``: global memory too, as the output may be the input."""
        if self.s.items * self.s.columns > 1:
            fences = "CLK_LOCAL_MEM_FENCE" + " | CLK_GLOBAL_MEM_FENCE" * everything
            self.lines.append(f"    barrier({fences});")

    def values(self, index: int, x: int) -> list[tuple[int, int, str]]:
        """(k, row, name) of a butterfly's values."""
        s = self.s
        return [
            (k, row, f"x[{row * s.most + x + k}]") for row in range(s.rows) for k in range(s.radices[index])
        ]

    def loads(self, index: int) -> Body:
        """The first stage's values: from the input, or from where staged_in put them; times the chirp (Bluestein)."""
        s, count = self.s, self.s.points // self.s.radices[index]

        def body(t: str, x: int) -> list[str]:
            lines = self.reads(index)(t, x) if s.staged_in else []
            for k, row, name in self.values(index, x):
                i = _plus(t, k * count)
                value = name if s.staged_in else f"load(in, v{row}, {i}, count, in_step, partner)"
                if s.packed:
                    value = f"load_packed(in, v{row}, {i}, count)"
                if s.in_twos:  # the odd one came with the even one before
                    if x // s.radices[0] % 2 == 0:
                        odd = f"x[{row * s.most + x + k + s.radices[0]}]"
                        lines.append(f"load_pair(in, v{row}, {i}, count, &{name}, &{odd});")
                    value = name
                lines.append(
                    f"{name} = {f'times({value}, tables[{_plus(i, self.chirp)}])' if s.length else value};"
                )
            for k in range(s.radices[index] if s.joined else 0):
                names = [name for i, _, name in self.values(index, x) if i == k]
                values = [f"times({name}, turn{q})" if q else name for q, name in enumerate(names)]
                back = " ".join(f"{name} = y[{q}];" for q, name in enumerate(names))
                lines.append(f"{{ cplx y[{s.rows}] = {{{', '.join(values)}}}; dft{s.rows}(y); {back} }}")
            return lines

        return body

    def reads(self, index: int, part: str = "") -> Body:
        def body(t: str, x: int) -> list[str]:
            lines = [self.pointer(self.element(index, t), part, "const ")]
            return lines + [
                f"{v}{part} = at[{self.offset(index, k, row)}];" for k, row, v in self.values(index, x)
            ]

        return body

    def writes(self, index: int, part: str = "", scattered: bool = False) -> Body:
        def body(t: str, x: int) -> list[str]:
            lines = [self.pointer(self.reversed_element(t) if scattered else self.element(index, t), part)]
            return lines + [
                f"at[{self.offset(index, k, row)}] = {v}{part};" for k, row, v in self.values(index, x)
            ]

        return body

    def pointer(self, p: str, part: str, const: str = "") -> str:
        return f"__local {const}{'real' if part else 'cplx'} *at = buf + {self.place(p)};"

    def twiddles(self, index: int) -> Body:
        stride, radix = self.strides[index], self.s.radices[index]

        def body(t: str, x: int) -> list[str]:
            if stride == 1:
                return []
            lines = [f"const uint q = {t if index == self.last else f'{t} % {stride}'};"]
            for k in range(1, radix):
                w = f"root({k} * q, {stride * radix})" if self.s.computed else f"tables[q + {k * stride - 1}]"
                names = [name for i, _, name in self.values(index, x) if i == k]
                lines.append(f"{{ const real2 w = {w}; {' '.join(f'{v} = times({v}, w);' for v in names)} }}")
            return lines

        return body

    def butterflies(self, index: int) -> Body:
        def body(t: str, x: int) -> list[str]:
            return [f"dft{self.s.radices[index]}(x + {row * self.s.most + x});" for row in range(self.s.rows)]

        return body

    def turning_point(self, t: str, x: int) -> list[str]:
        """Between Bluestein's two transforms: times the filter, whose table has the places' order."""
        i = f"{t} * {self.s.radices[0]}"
        return [
            f"{v} = swapped(times({v}, tables[{_plus(i, self.filter + k)}]));"
            for k, _, v in self.values(0, x)
        ]

    def results(self, index: int) -> Body:
        """The last stage's values, times the chirp (Bluestein), to the output or where staged_out expects them."""
        s, stride = self.s, self.strides[index]

        def body(t: str, x: int) -> list[str]:
            lines = []
            if s.length:
                for k, _, v in self.values(index, x):
                    lines.append(f"{v} = times(swapped({v}), tables[{_plus(t, self.chirp + k * stride)}]);")
            if s.staged_out or s.spectra:
                return lines
            for k, row, v in self.values(index, x):
                i, length = _plus(t, k * stride), s.length or s.points
                here, there = range(k * stride, (k + 1) * stride), range(length - s.mirrored + 1, length + 1)
                if not s.mirrored or here.start < s.mirrored:
                    lines.append(f"store(out, v{row}, {i}, {v}, scale, roots, count, out_step);")
                if s.mirrored and (k == 0 or here.stop > there.start):
                    guard = "" if k or here.stop > there.start else f"if ({t} == 0) "
                    lines.append(f"{guard}store_mirror(out, v{row}, {i}, {v}, scale, count, out_step);")
            return lines

        return body

    # -- the whole ------------------------------------------------------------------------------------------------

    def exchange(self, source: int, target: int, first: bool, scattered: bool) -> None:
        """Values from their places after one stage to those before the next."""
        for part in (".lo", ".hi") if self.s.halved else ("",):
            if part and not (first and part == ".lo"):
                self.barrier()
            self.each(source, self.writes(source, part, scattered))
            self.barrier(everything=first)
            if part:
                self.each(target, self.reads(target, part))

    def kernel(self) -> str:
        s, last = self.s, self.last
        # Bluestein's convolution: there by frequency, back by time.
        by_frequency = list(range(last, 0, -1)) if s.length else []
        steps = [*((i, True) for i in by_frequency), *((i, False) for i in range(last + 1))]
        for number, (index, frequency) in enumerate(steps):
            first, final = number == 0, number == len(steps) - 1
            turn = [self.turning_point, self.butterflies(0)] if index == 0 and s.length else []
            read = self.loads(index) if first else self.reads(index)
            both = [self.butterflies(index), self.twiddles(index)]
            bodies = [
                *([] if s.halved and not first else [read]),
                *(both if frequency else both[::-1]),
                *turn,
            ]
            if final:
                bodies.append(self.results(index))
            scattered = first and not s.length and not s.staged_in
            if s.items == 1:  # all in one loop
                if not final or s.staged_out:
                    bodies.append(self.writes(index, "", scattered))
                self.each(index, *bodies)
                if not final or s.staged_out:
                    self.barrier(everything=first)
                continue
            self.each(index, *bodies)
            if not final:
                self.exchange(index, steps[number + 1][0], first, scattered)
        if s.spectra:
            self.spectra()
        elif s.staged_out:
            self.lines.append("    deliver(out, v0, scale, count, out_step, buf);")
        return "\n".join([*self.head(), *self.lines, "}\n"])

    def spectra(self) -> None:
        """The two spectra of a pair: Z[k] meets Z[N − k] in local memory."""
        n = self.s.length or self.s.points
        if self.s.items > 1:
            self.each(self.last, self.writes(self.last))
            self.barrier()
        here, there = self.place("k"), self.place(f"(k ? {n} - k : 0)")
        store = f"store_spectra(out, v0, k, buf[{here}], buf[{there}], scale, out_step, partner);"
        self.lines += [f"    for (int k = item; k < count.w; k += {self.s.items})", f"        {store}"]

    def head(self) -> list[str]:
        s = self.s
        group, kind = s.items * s.columns, "real" if s.halved else "cplx"
        own = f"column * {s.places // s.columns}" if s.along else "column"
        lines = [_SIGNATURE.format(group=group, name="fft_local").rstrip()]
        if s.places:
            lines.append(f"    __local {kind} memory[{s.places}];")
        lines += [
            f"    const uint id = get_local_id(0), item = {f'id % {s.items}' if s.along else f'id / {s.columns}'};",
            f"    const uint column = {f'id / {s.items}' if s.along else f'id % {s.columns}'};",
            f"    const Place v0 = place(get_group_id(0), column, {s.columns}, count, in_step, out_step);",
        ]
        lines += [f"    const Place v{q} = beside(v0, {q}, partner);" for q in range(1, s.rows)]
        lines += [
            f"    const real2 turn{q} = v0.here > 0 ? roots[v0.other * {q}] : (real2)0;"
            for q in range(1, s.rows)
        ]
        if s.places:
            lines.append(f"    __local {kind} *buf = memory + {own};")
        if s.items > 1:
            lines.append(f"    cplx x[{s.rows * s.most}];")
        if s.staged_in:
            lines.append(
                f"    fetch(in, v0, {'0' if s.length else 'order'}, {s.points}, count, in_step, partner, buf);"
            )
        return lines


def local_kernel(schedule: Schedule) -> str:
    """The kernel ``fft_local``: one dispatch for an axis, exchanges through local memory."""
    return _Text(schedule).kernel()


_SIGNATURE = """
__kernel __attribute__((reqd_work_group_size({group}, 1, 1)))
void {name}(__global const real *in, __global const real2 *tables, __global const int *order,
            __global const real2 *roots, __global real *out, int4 in_step, int4 out_step, int2 partner, int4 count,
            real scale) {{
"""


def _plus(name: str, offset: int) -> str:
    return f"{name} + {offset}" if offset else name


def global_kernel(radix: int, computed: bool) -> str:
    """The kernel ``fft_global``: one stage of a multi-pass transform, one butterfly in each work-item.

    Stockham's self-sorting form: no digit reversal, but the result cannot overwrite the input. Work-items are
    numbered sequences first where those are neighbours in memory, else butterflies first.
    """
    store = "\n".join(
        f"    store(out, w, p + {k} * stride, x[{k}], scale, roots, count, out_step);" for k in range(radix)
    )
    load = "\n".join(
        f"    x[{k}] = load(in, w, t + {k} * butterflies, count, in_step, partner);" for k in range(radix)
    )
    root = f"root({{k}} * q, stride * {radix})" if computed else "tables[{k} * stride - 1 + q]"
    turn = "\n".join(f"    x[{k}] = times(x[{k}], {root.format(k=k)});" for k in range(1, radix))
    return f"""
__kernel void fft_global(__global const real *in, __global const real2 *tables, __global const real2 *roots,
                         __global real *out, int4 in_step, int4 out_step, int2 partner, int4 count, real scale,
                         int butterflies, int stride, int groups) {{
    // groups: of LANES sequences, in all
    const int id = get_global_id(0);
#ifdef ALONG
    const int t = id % butterflies, group = id / butterflies;
#else
    const int t = id / groups, group = id % groups;
#endif
    if (t >= butterflies || group >= groups) return;
    const Place w = place(group, 0, 1, count, in_step, out_step);
    cplx x[{radix}];
    const int q = t % stride, p = t / stride * (stride * {radix}) + q;
{load}
{turn}
    dft{radix}(x);
{store}
}}
"""
