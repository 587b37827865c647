"""Plans the passes of a transform: pure functions of its size and the device's limits."""

from __future__ import annotations

from dataclasses import replace
from math import log, prod
from typing import Any

from ...records import dataclass
from .groups import Groups
from .radices import next_fast_len
from .schedule import Schedule

Four = tuple[int, int, int, int]


@dataclass(frozen=True)
class Sequences:
    """The places of the sequences of one axis: ``counts`` is their number (outer, middle, beside); the steps lead from
    one sequence to the next in each of the three, and from element to element, in the input and in the output.

    ``in_n`` elements exist in the input (zeros follow) and ``out_n`` are wanted of the output. ``joined`` is the number
    of sequences, ``partner`` (in, out) apart, that are transformed across each other; ``beside`` counts only the first
    of them.
    """

    counts: tuple[int, int, int]
    in_steps: Four
    out_steps: Four
    in_n: int
    out_n: int
    joined: int = 1
    partner: tuple[int, int] = (0, 0)

    @property
    def total(self) -> int:
        return prod(self.counts) * self.joined

    @property
    def along(self) -> bool:
        """Whether sequences are rows."""
        return self.in_steps[3] < self.in_steps[2] or self.counts[2] == 1


@dataclass(frozen=True)
class PassEnds:
    """The values that the first of an axis' passes reads and the last one writes.

    Attributes
    ----------
    load, store
        ``complex``; ``samples``: real numbers, two of which, ``pixel`` elements apart, are one complex value. There are
        ``pixels`` of them; the two lie beside each other, or along a sequence. If ``pixels`` is 0, each real number
        is a value. The input may also be ``hermitian`` (half a spectrum) or ``image`` (samples and
        their surroundings).
    swap_in, swap_out
        Real and imaginary parts change places: with both, the transform is the inverse.
    factor
        The factor of Bluestein's convolution: ``chirp`` multiplies the input, ``filter`` or ``unchirp`` the output.
    """

    load: str = "complex"
    store: str = "complex"
    swap_in: bool = False
    swap_out: bool = False
    scale: float = 1.0
    pixel: int = 0
    pixels: int = 0
    factor: str = ""

    def before(self, scale: float) -> PassEnds:
        """The ends of a pass that is followed by others: it writes complex numbers, in order, and takes ``scale``."""
        chirp = self.factor * (self.factor == "chirp")
        return replace(self, store="complex", swap_out=False, scale=scale, factor=chirp)

    def behind(self, scale: float) -> PassEnds:
        """The ends of a pass that follows others."""
        rest = self.factor * (self.factor != "chirp")
        return replace(self, load="complex", swap_in=False, scale=scale, factor=rest)


@dataclass(frozen=True)
class AxisPass:
    """One launch: all that its kernel is generated from and called with.

    Attributes
    ----------
    kind
        ``local``: an axis, or half of one, in one dispatch. ``wide``: the same on a CPU, where a work-item has whole
        sequences, as lanes. ``global``: one stage, of ``schedule.radices[0]`` and ``stride``, of a transform of ``n``
        points.
    split
        1 or 2: this is the first or second half of a transform of N1·N2 points; ``gap`` is the other half's
        length, whose index runs along ``middle``, or along ``beside`` if sequences are rows. Where nothing is split,
        ``gap`` is the distance of joined sequences, in sequences.
    convolved
        The points of the transform that ``ends.factor`` belongs to.
    temporary
        Complex elements of the target where that is not the result.
    real_in, real_out
        Whether the input, or the output, is the image of real numbers.
    """

    kind: str
    n: int
    schedule: Schedule
    at: Sequences
    ends: PassEnds
    lanes: int = 1
    split: int = 0
    beside: bool = False
    gap: int = 1
    stride: int = 1
    convolved: int = 0
    temporary: int = 0
    real_in: bool = False
    real_out: bool = False


ROWS = Schedule((1,), 1)
COLUMNS = replace(ROWS, along=False)
# Time relative to a copy (measured, H200): for both halves of an axis; for each joined sequence but one.
_HALVES_COST, _JOINED_COST = 2.15, 0.2


@dataclass(frozen=True)
class Planner(Groups):
    """Plans the passes of one axis."""

    @property
    def _kind(self) -> str:
        return "wide" if self.vectors else "local"

    def passes(self, n: int, at: Sequences, ends: PassEnds) -> list[AxisPass]:
        """The passes of a transform of ``n`` points along one axis."""
        if self.params.method != "global":
            single = self.single(n, at, ends)
            if single and (self.vectors or at.counts[1] > 1 or self.cost(single.schedule) <= _HALVES_COST):
                return [single]
            plan = self._halves(n, at, ends) or ([single] if single else [])
            if plan:
                return plan
        return (self._convolved if self.factors(n) is None else self._stages)(n, at, ends)

    def joined(self, n_rows: int, divided: int, points: int, wide: int, pairs: str = "") -> int:
        """The number of rows of ``points`` to transform across each other, so that columns are short.

        A group must take several neighbours of the ``wide`` columns, or memory is read and written in small pieces. The
        result divides ``divided``, the number of rows that exist or are wanted.
        """
        costs = {}
        # A convolution has no registers left for four. (With two, Intel's compiler for CPUs makes errors.)
        fixed = self.vectors or self.params.radix != "auto"
        choices = (1,) if fixed else (1, 2) if pairs == "convolve" else (1, 2, 4)
        for joined in (j for j in choices if n_rows % j == divided % j == 0 and j < n_rows):
            columns = self.schedule(n_rows // joined, wide, COLUMNS)
            rows = self.schedule(points, n_rows // joined, replace(ROWS, joined=joined, pairs=pairs))
            if rows and (joined == 1 or columns):
                cost = self.cost(columns[0]) if columns else _HALVES_COST
                cost = cost + _JOINED_COST * (joined - 1) if joined > 1 else min(cost, _HALVES_COST)
                costs[joined] = self.cost(rows[0]) + cost
        return min(costs, key=costs.__getitem__, default=1)

    def single(self, n: int, at: Sequences, ends: PassEnds, form: Schedule = ROWS) -> AxisPass | None:
        """The pass that does all in one dispatch, None if local memory is too small; ``form`` says what else it
        does."""
        form = replace(form, along=at.along, joined=at.joined)
        choice = self.schedule(n, at.counts[2], form)
        return AxisPass(self._kind, n, choice[0], at, ends, choice[1]) if choice else None

    def _halves(self, n: int, at: Sequences, ends: PassEnds) -> list[AxisPass] | None:
        """Two dispatches over n = n1·n2 (four-step). With sample j = j1·n2 + j2 and frequency k = k2·n1 + k1:

        X[k] = Σ_j2 w_n2^(j2·k2) · w_n^(j2·k1) · Σ_j1 w_n1^(j1·k1) · x[j].
        The intermediate is (outer, beside, k1, j2) for rows and (outer, k1, j2, beside) for columns.
        """
        outer, middle, beside = at.counts
        if middle > 1 or at.joined > 1:
            return None
        choices = []
        for n1 in (d for d in range(2, n // 2 + 1) if n % d == 0):
            one = self.schedule(n1, n // n1 if at.along else beside, COLUMNS)
            two = self.schedule(n // n1, n1 if at.along else beside, ROWS if at.along else COLUMNS)
            if one and two:
                convolutions = bool(one[0].length) + bool(two[0].length)
                choices.append(((convolutions, abs(log(n1 / (n // n1)))), n1, *one, *two))
        if not choices:
            return None
        _, n1, schedule1, lanes1, schedule2, lanes2 = min(choices, key=lambda choice: choice[0])
        n2 = n // n1
        if at.along:
            lanes1 = lanes2 = 1  # elements differ from lane to lane

        def order(outer: int, beside: int, other: int, *element: int) -> Any:
            """Puts numbers of the three directions of sequences in order; ``other``: that of the other half."""
            return (outer, beside, other, *element) if at.along else (outer, other, beside, *element)

        (o, _, b, e), (p, _, c, f) = at.in_steps, at.out_steps
        size, (sequence, k1, j2) = n * beside, (n, n2, 1) if at.along else (1, n2 * beside, beside)
        between = order(size, sequence, j2, k1), order(size, sequence, k1, j2)
        first = Sequences(order(outer, beside, n2), order(o, b, e, n2 * e), between[0], at.in_n, n1)
        second = Sequences(order(outer, beside, n1), between[1], order(p, c, f, n1 * f), n2, at.out_n)
        schedule1 = replace(schedule1, along=first.in_steps[2] != 1)
        schedule2 = replace(schedule2, along=second.in_steps[2] != 1)
        part = self.part(ends.scale, n1, n)
        start, end = ends.before(part), ends.behind(ends.scale / part)
        return [
            AxisPass(self._kind, n, schedule1, first, start, lanes1, 1, at.along, n2, temporary=outer * size),
            AxisPass(self._kind, n, schedule2, second, end, lanes2, 2, at.along, n1),
        ]

    def part(self, scale: float, points: int, n: int) -> float:
        """The part of ``scale`` that a pass over ``points`` of ``n`` takes if others follow, so that halves stay in
        range. In other precisions the last pass takes all of it."""
        return float(scale ** (log(points) / log(n))) if self.spread and n > 1 else 1.0

    def _stages(self, n: int, at: Sequences, ends: PassEnds) -> list[AxisPass]:
        """One dispatch for each stage, ping-pong through global memory."""
        factors = self.factors(n) or (1,)
        dense = _dense(n, at)
        lanes = self.limits.lanes if self.limits.vectors and dense[2] == 1 and at.counts[2] >= 8 else 1
        result, stride, left = [], 1, ends.scale
        for index, radix in enumerate(factors):
            here, what, part = at, replace(ends, scale=left), self.part(ends.scale, radix, n)
            if index > 0:
                here, what = replace(here, in_steps=dense, in_n=n), what.behind(left)
            if index < len(factors) - 1:
                here, what = replace(here, out_steps=dense, out_n=n), what.before(part)
                left /= part
            computed = self.params.twiddle == "compute"
            schedule = Schedule((radix,), 1, along=dense[3] == 1, computed=computed)
            temporary = n * at.total if index < len(factors) - 1 else 0
            result.append(
                AxisPass("global", n, schedule, here, what, lanes, stride=stride, temporary=temporary)
            )
            stride *= radix
        return result

    def _convolved(self, n: int, at: Sequences, ends: PassEnds) -> list[AxisPass]:
        """Bluestein's convolution through global memory: chirp, transform, filter, transform back, chirp."""
        points = next_fast_len(2 * n - 1)
        dense = _dense(points, at)
        # Swapped, a forward transform is the inverse that the convolution needs; and a swapped value times the chirp
        # is the swapped product with its conjugate.
        chirped = replace(ends.before(1.0), swap_out=True, factor="chirp")
        there = self.passes(points, replace(at, out_steps=dense, out_n=points), chirped)
        last = replace(there[-1].ends, factor="filter")
        there[-1] = replace(there[-1], ends=last, temporary=points * at.total)
        unchirped = replace(ends.behind(ends.scale), swap_out=not ends.swap_out, factor="unchirp")
        back = self.passes(points, replace(at, in_steps=dense, in_n=points), unchirped)
        return [replace(p, convolved=n) for p in [*there, *back]]


def _dense(n: int, at: Sequences) -> Four:
    """Steps of an intermediate of ``n`` points in the order of the input: rows or columns."""
    beside = at.counts[2]
    if at.in_steps[2] < at.in_steps[3]:
        return n * beside, 0, 1, beside
    return n * beside, 0, n, 1
