"""OpenCL C of one transform kernel: straight-line butterflies, and the schedule of stages around them.

A sequence of N = r1·r2·…·rm points stays in local memory in one place (decimation in time): the load puts sample n
at the digit-reversed position, stage i joins ri transforms of s = r1·…·r(i−1) points that lie s apart, and the result
is in order. The same stages backwards with twiddles behind the butterfly (decimation in frequency) take natural
order to digit-reversed order, so that a convolution (Bluestein's) never reorders.
Sources: Cooley & Tukey 1965; Bluestein 1970; Van Loan, Computational Frameworks for the FFT, 1992.
"""

from __future__ import annotations

from collections.abc import Callable
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
    a = 4 if n == 16 else next(p for p in range(2, n + 1) if n % p == 0)
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
        even = let(
            " + ".join(
                [x[0], *(f"{_literal(cos(t), real)} * {s}" for t, s in zip(angles, sums, strict=True))]
            )
        )
        odd = let(
            " + ".join(f"{_literal(sin(t), real)} * {d}" for t, d in zip(angles, differences, strict=True))
        )
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


def butterflies(radices: tuple[int, ...], real: str) -> str:
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
    staged_in, staged_out
        Whole sequences pass through local memory on their way in or out.
    spectra
        The output is the two spectra of a pair of real sequences.
    computed
        Twiddles are computed rather than read from the table.
    """

    radices: tuple[int, ...]
    items: int
    columns: int = 1
    length: int = 0
    along: bool = True
    staged_in: bool = False
    staged_out: bool = False
    spectra: bool = False
    computed: bool = False

    @property
    def points(self) -> int:
        return prod(self.radices)


_SIGNATURE = """
__kernel __attribute__((reqd_work_group_size({group}, 1, 1)))
void {name}(__global const real *in, __global const real2 *tables, __global const int *order,
            __global const real2 *roots, __global real *out, int4 in_step, int4 out_step, int4 count, real scale) {{
"""


def local_kernel(schedule: Schedule) -> str:
    """The kernel ``fft_local``: one dispatch for an axis, exchanges through local memory."""
    s = schedule
    items, columns, points = s.items, s.columns, s.points
    first, last = 0, len(s.radices) - 1
    chirp, filter = points, 2 * points  # where the tables start; the twiddles are in front
    place = "p" if columns == 1 else f"column * {points} + p" if s.along else f"p * {columns} + column"
    lines = [
        f"static inline int at(int p, int column) {{ return {place}; }}",
        _SIGNATURE.format(group=items * columns, name="fft_local").rstrip(),
        f"    __local cplx buf[{points * columns}];",
        f"    const int id = get_local_id(0), item = {f'id % {items}' if s.along else f'id / {columns}'};",
        f"    const int column = {f'id / {items}' if s.along else f'id % {columns}'};",
        f"    const Place w = place(get_group_id(0), column, {columns}, count, in_step, out_step);",
    ]
    barrier = ["    barrier(CLK_LOCAL_MEM_FENCE);"] * (items * columns > 1)
    # The output may be the input: all of it must have been read before any is written.
    loaded = ["    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"] * len(barrier)

    def load(p: str) -> str:
        value = f"buf[at({p}, column)]" if s.staged_in else f"load(in, w, {p}, count, in_step)"
        return f"times({value}, tables[{chirp} + {p}])" if s.length else value

    def store(p: str, value: str) -> str:
        if s.length:
            value = f"times(swapped({value}), tables[{chirp} + {p}])"
        if s.staged_out:
            return f"buf[at({p}, column)] = {value};"
        return f"store(out, w, {p}, {value}, scale, roots, count, out_step);"

    if s.staged_in:
        order = "0" if s.length else "order"
        lines += [f"    fetch(in, w, {order}, {points}, count, in_step, buf);", *barrier]
    if s.length:  # transform by frequency, multiply, inverse by time: between them places are digit-reversed
        for index in range(last, first, -1):
            direct = index == last
            lines += _stage(s, index, read=load if direct else _read, frequency=True)
            lines += loaded if direct else barrier
        between = f"swapped(times(x[{{k}}], tables[{filter} + {{p}}]))"
        lines += [*_stage(s, first, between=between), *barrier]
        for index in range(1, last + 1):
            lines += [*_stage(s, index, write=store if index == last else _write), *barrier]
    else:
        for index in range(last + 1):
            direct = index == first and not s.staged_in
            read, write = load if direct else _read, store if index == last else _write
            lines += _stage(s, index, read=read, write=write, reverse=direct)
            lines += loaded if direct else barrier
    if barrier and not s.staged_out:
        lines.pop()  # nobody reads behind the last store
    if s.spectra:
        n = s.length or points
        lines += [
            f"    for (int k = item; k < count.w; k += {items})",
            f"        store_spectra(out, w, k, buf[at(k, column)], buf[at(({n} - k) % {n}, column)], scale, out_step);",
        ]
    elif s.staged_out:
        lines.append("    deliver(out, w, scale, count, out_step, buf);")
    return "\n".join([*lines, "}\n"])


def _read(p: str) -> str:
    return f"buf[at({p}, column)]"


def _write(p: str, value: str) -> str:
    return f"buf[at({p}, column)] = {value};"


def _stage(
    schedule: Schedule,
    index: int,
    *,
    read: Callable[[str], str] = _read,
    write: Callable[[str, str], str] = _write,
    reverse: bool = False,
    frequency: bool = False,
    between: str = "",
) -> list[str]:
    """Stage ``index``: butterflies over values ``stride`` apart, from ``read(p)`` and to ``write(p, value)``.

    ``reverse``: reads samples in natural order and writes where digit reversal puts them. ``frequency``: twiddles
    come behind the butterfly. ``between``: what becomes of the result x[k] at p, before a second butterfly.
    """
    radix, points, items = schedule.radices[index], schedule.points, schedule.items
    stride, count = prod(schedule.radices[:index]), points // radix
    source = target = [_plus("p", k * stride) for k in range(radix)]
    body = [f"cplx x[{radix}];"]
    if reverse:
        source = [_plus("t", k * count) for k in range(radix)]
        body.append("int p = 0, rest = t;")
        for i in range(
            len(schedule.radices) - 1, 0, -1
        ):  # the last stage's digit is the fastest in the input
            r, weight = schedule.radices[i], prod(schedule.radices[:i])
            body.append(f"p += rest % {r} * {weight}, rest /= {r};" if i > 1 else f"p += rest * {weight};")
    elif stride == count:
        body.append("const int p = t;")
    elif stride == 1:
        body.append(f"const int p = t * {radix};")
    else:
        body.append(f"const int q = t % {stride}, p = t / {stride} * {stride * radix} + q;")
    body += [f"x[{k}] = {read(source[k])};" for k in range(radix)]
    twiddles = [
        f"x[{k}] = times(x[{k}], {_twiddle(schedule, stride, radix, k, 'p' if stride == count else 'q')});"
        for k in range(1, radix)
        if stride > 1
    ]
    body += [f"dft{radix}(x);", *twiddles] if frequency else [*twiddles, f"dft{radix}(x);"]
    if between:
        body += [f"x[{k}] = {between.format(k=k, p=target[k])};" for k in range(radix)] + [f"dft{radix}(x);"]
    body += [write(target[k], f"x[{k}]") for k in range(radix)]
    loop = f"for (int t = item; t < {count}; t += {items}) {{"
    return [
        f"    // radix {radix}, {stride} apart",
        f"    {loop}",
        *(f"        {line}" for line in body),
        "    }",
    ]


def _twiddle(schedule: Schedule, stride: int, radix: int, k: int, q: str) -> str:
    """C for exp(−2πi·k·q / (stride·radix)), q < stride; the stages before have stride − 1 table entries in all."""
    if schedule.computed:
        return f"root({k} * {q}, {stride * radix})"
    return f"tables[{_plus(q, k * stride - 1)}]"


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
        f"    x[{k}] = load(in, w, t + {k} * butterflies, count, in_step);" for k in range(radix)
    )
    root = f"root({{k}} * q, stride * {radix})" if computed else "tables[{k} * stride - 1 + q]"
    turn = "\n".join(f"    x[{k}] = times(x[{k}], {root.format(k=k)});" for k in range(1, radix))
    return f"""
__kernel void fft_global(__global const real *in, __global const real2 *tables, __global const real2 *roots,
                         __global real *out, int4 in_step, int4 out_step, int4 count, real scale,
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
