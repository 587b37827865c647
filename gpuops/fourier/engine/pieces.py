"""OpenCL C of a schedule's pieces: the places of values in registers and local memory, and lines for each value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from .schedule import LARGEST_UNROLLED, LARGEST_UNROLLED_ON_CPUS, SHARED, Schedule

# Takes the index in x at which a butterfly's values start and gives lines; they call the butterfly t, its twin u.
Body = Callable[[int], list[str]]

SIGNATURE = """
__kernel {attributes}
void {name}(__global const SAMPLE *in, __global const real2 *UNALIASED tables, __global const real2 *UNALIASED factors,
            __global const real2 *UNALIASED roots, __global real *out, int4 in_step, int4 out_step, int4 more,
            int4 count, int4 edge, real scale ENCODING{more}) {{
"""
SHAPE = "    const Shape s = {in_step, out_step, more, count, edge, scale};"


@dataclass(frozen=True)
class Counted:
    """C for ``slope · k + offset``, k being a loop's counter; it is used as a number k is where there is no loop."""

    slope: int = 1
    offset: int = 0

    def __mul__(self, by: int) -> Counted:
        return Counted(self.slope * by, self.offset * by)

    def __add__(self, more: int) -> Counted:
        return Counted(self.slope, self.offset + more)

    __radd__ = __add__

    def __str__(self) -> str:
        return f"k * {self.slope} + {self.offset}"


Number = int | Counted


def plus(name: str, offset: Number) -> str:
    return f"{name} + {offset}" if offset else name


class Pieces:
    """A kernel of a schedule, line by line."""

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
        """The distance in local memory from the place that :meth:`pointers` gives to the k-th value of a butterfly of
        stage ``index``; ``slot`` is that of the sequence."""
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
            digit = f"places{self.s.radices[i]}[{digit}]" if self.shared(i) else digit
            terms.append(f"{digit} * {self.strides[i]}")
            divisor *= self.s.radices[i]
        return f"({' + '.join(terms)})"

    def shared(self, index: int) -> bool:
        """Whether several work-items share each butterfly of a stage: see shared.py."""
        return self.s.share > 0 and index == SHARED

    def pointers(self, index: int, part: str, const: str = "") -> list[str]:
        """C that declares pointers to the first elements of butterfly t and of its twin u, or of butterfly b if t is a
        piece of it."""
        kind = "real" if part else "cplx"
        mirrored, shared = index == self.s.mirrored, self.shared(index)
        distance = (self.s.carried // 2 if mirrored else self.s.carried) * self.per_row
        return [
            f"__local {const}{kind} *at_{t} = buf + {self.place(self.first(index, 'b' if shared else t))}"
            + (f" {sign} set * {distance};" if self.s.sets > 1 else ";")
            for t, sign in (("t", "+"), ("u", "-"))[: 1 + mirrored]
        ]

    # -- pieces --------------------------------------------------------------------------------------------------

    def count(self, index: int) -> int:
        """The number of butterflies of a stage; at either end it is also the distance of a butterfly's elements."""
        return self.s.points // self.s.radices[index]

    def each(self, index: int, *bodies: Body) -> None:
        """Adds the bodies for the butterflies of a stage: one body after the other, or all in a loop (CPUs)."""
        s, (count, values) = self.s, self.s.work(index)
        working = [body for body in bodies if body(0)]  # others have no lines
        twins = f" const uint u = t ? {self.count(index)} - t : 0;" if index == s.mirrored else ""
        if s.items == 1:
            inside = [f"{self.registers()}{twins}"]
            for body in working:
                inside += ["{", *(f"    {line}" for line in body(0)), "}"]
            inside = [f"    {line}" for line in inside]
            self.lines += [
                f"    for (uint t = 0; t < {count}; t++) {{",
                *(f"    {line}" for line in inside),
                "    }",
            ]
            return
        for body in working:
            for b in range(-(-count // s.items)):
                guard = f"if (t < {count}) " if (b + 1) * s.items > count else ""
                start = (
                    f"    {{ const uint t = item + {b * s.items};{twins}{' ' + guard + '{' if guard else ''}"
                )
                inside = [f"        {line}" for line in body(b * values)]
                self.lines += [start, *inside, "    }}" if guard else "    }"]

    def registers(self) -> str:
        """C that declares a work-item's values: those of its sequences in x, the transfer function's in h."""
        size = self.s.carried * self.s.most
        return f"cplx x[{size}], h[{size}];" if self.s.twin == "convolve" else f"cplx x[{size}];"

    def barrier(self, everything: bool = False) -> None:
        """Adds a barrier; ``everything``: for global memory too, as the output may be the input."""
        if self.s.group > 1:
            fences = "CLK_LOCAL_MEM_FENCE" + " | CLK_GLOBAL_MEM_FENCE" * everything
            self.lines.append(f"    barrier({fences});")

    def slots(self, index: int) -> list[int]:
        """The indices in x at which the butterflies begin that a work-item has side by side: one of each of its
        sequences, or two of a sequence that is its own twin."""
        s = self.s
        if s.alone and index == s.mirrored:
            return [0, s.radices[index]]
        return [slot * s.most for slot in range(s.carried)]

    def over(
        self, index: int, lines: Callable[[Number], list[str]], first: int = 0, far: bool = False
    ) -> list[str]:
        """Lines for the values k = ``first``, … of a butterfly. They are in a loop where there are many, and on CPUs
        also where values are ``far``, in global memory: compilers take long for each line of vectors there, but not for
        a loop."""
        radix = self.s.radices[index]
        if radix <= (LARGEST_UNROLLED_ON_CPUS if self.vectors else LARGEST_UNROLLED) and not (
            far and self.vectors
        ):
            return [line for k in range(first, radix) for line in lines(k)]
        return [f"ROLLED for (int k = {first}; k < {radix}; k++) {{", *lines(Counted()), "}"]

    def values(
        self,
        index: int,
        x: int,
        line: Callable[[Number, int, str], str],
        far: bool = False,
        first: int = 0,
    ) -> list[str]:
        """A line for each value of butterflies side by side, from the value ``first`` on; ``line`` makes it from k,
        slot and name."""
        return [
            text
            for slot, start in enumerate(self.slots(index))
            for text in self.over(index, lambda k: [line(k, slot, f"x[{start + x + k}]")], first, far)  # noqa: B023
        ]

    def butterfly_of(self, index: int, slot: int) -> str:
        return "u" if index == self.s.mirrored and 2 * slot >= len(self.slots(index)) else "t"
