"""What passes a transform takes: pure functions of its size and the device's limits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from math import log, prod

from ..gpu import Limits
from ..params.fft import FftParams
from .generate import Schedule

LARGEST_RADIX = 32
LARGEST_PRIME = 13  # of the straight-line butterflies
_COMPLEX = 2


@cache
def radices(n: int, most: int = LARGEST_RADIX) -> tuple[int, ...] | None:
    """The fewest factors of ``n`` up to ``most`` (or prime), then the least unequal; None if a prime is too large."""
    if n == 1:
        return ()
    best = None
    for radix in range(2, LARGEST_RADIX + 1):
        prime = all(radix % p for p in range(2, radix))
        if n % radix or (radix > most and not prime) or (prime and radix > LARGEST_PRIME):
            continue
        rest = radices(n // radix, most)
        if rest is not None:
            candidate = tuple(sorted((radix, *rest), reverse=True))
            if best is None or (len(candidate), sum(candidate)) < (len(best), sum(best)):
                best = candidate
    return best


@cache
def next_fast_len(n: int) -> int:
    """The smallest length of ``n`` or more without a prime factor above 7."""
    while True:
        rest = n
        for prime in (2, 3, 5, 7):
            while rest % prime == 0:
                rest //= prime
        if rest == 1:
            return n
        n += 1


Four = tuple[int, int, int, int]


@dataclass(frozen=True)
class Sequences:
    """Where the sequences of one axis lie: ``counts`` of them (outer, middle, beside); steps from one to the next of
    each, and from element to element, in the input and in the output.

    ``in_n`` elements exist in the input (zeros follow) and ``out_n`` are wanted of the output. ``joined``: so many
    sequences, ``partner`` (in, out) apart, are transformed across each other at first; ``beside`` counts the first.
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


@dataclass(frozen=True)
class Pass:
    """One launch: all that its kernel is generated from and called with.

    Attributes
    ----------
    kind
        ``local``: an axis, or half of one, in one dispatch. ``global``: one stage, of ``schedule.radices[0]`` and
        ``stride``. ``multiply``: element i times entry i of ``table`` (``chirp`` or ``filter``) of Bluestein's
        convolution, for transforms of ``n`` points that local memory does not hold.
    load, store
        What the input is: complex, real, hermitian (half a spectrum), packed (transforms of pairs of real sequences of
        the other axis, ``gap`` of them); and the output: complex, real, spectra (those of the two sequences of a
        ``pair``), packed (its transform as it is), mirrored (sequence k also gives k from the end).
    split
        1 or 2: this is the first or second half of a transform of N1·N2 points; ``gap`` is the other half's
        length. ``split_lanes``: the other half's index runs along ``beside``, else along ``middle``.
    temporary
        Complex elements of the target where that is not the result.
    """

    kind: str
    n: int
    schedule: Schedule
    at: Sequences
    lanes: int = 1
    load: str = "complex"
    store: str = "complex"
    pair: bool = False
    swap_in: bool = False
    swap_out: bool = False
    scale: float = 1.0
    split: int = 0
    gap: int = 1
    split_lanes: bool = False
    stride: int = 1
    table: str = ""
    temporary: int = 0


@dataclass(frozen=True)
class Ends:
    """What the two ends of an axis' passes read and write: as the fields of :class:`Pass`."""

    load: str = "complex"
    store: str = "complex"
    swap_in: bool = False
    swap_out: bool = False
    scale: float = 1.0
    gap: int = 1

    @property
    def pair(self) -> bool:
        """Two real sequences, or two with real results, can become one complex sequence."""
        return (self.load, self.store) in (("real", "complex"), ("real", "packed"), ("hermitian", "real"))


# Time of a pass relative to a copy (measured, H200): of columns, by neighbours that a group takes; of rows, by values.
_COLUMN_COST = {1: 7.0, 2: 3.6, 4: 1.6, 8: 1.2, 16: 1.05}
_HALVES_COST = 2.0
_GROUP_VALUES = 10240  # complex values that two groups of a compute unit have registers for
# A transform of so few values needs small groups, of so many, to busy all compute units.
_FEW, _FEW_GROUP_VALUES = 1 << 18, 2048


@dataclass(frozen=True)
class Planner:
    """Plans the passes of one axis.

    ``itemsize`` is that of a real number, ``group`` the most work-items together, ``values`` how many values a
    transform has in all: of few, many work-items hide the latency better than large radices.
    """

    limits: Limits
    params: FftParams
    itemsize: int = 4
    group: int = 512
    values: int = 1 << 30

    def passes(self, n: int, at: Sequences, ends: Ends) -> list[Pass]:
        """The passes of a transform of ``n`` points along one axis."""
        if self.params.method != "global":
            single = self.single(n, at, ends)
            if single is not None:
                cost = self._cost(single)
                if cost <= _HALVES_COST or at.counts[1] > 1:
                    return [single]
            halves = self._halves(n, at, ends)
            if halves is not None:
                return halves
            if single is not None:
                return [single]
        return (
            self._stages(n, at, ends) if radices(n, self._most) is not None else self._convolved(n, at, ends)
        )

    def joined(self, n_rows: int, n_columns: int, wide: int, ends: Ends) -> int:
        """How many rows ought to be transformed across each other, so that columns, which come first, are short.

        A column's group must take several neighbours, or memory is read and written in crumbs. ``ends``: of columns.
        """
        costs = {}
        choices = (1,) if self._few else (1, 2, 4)
        for joined in (j for j in choices if n_rows % j == 0 and j < n_rows):
            short = n_rows // joined
            columns = Sequences((1, joined, wide), (0, 0, 1, wide), (0, 0, 1, wide), short, short)
            rows = Sequences(
                (1, 1, short), (0, 0, n_columns, 1), (0, 0, n_columns, 1), wide, n_columns, joined
            )
            load = "packed" if ends.store == "packed" else "complex"
            first, second = self.single(short, columns, ends), self.single(n_columns, rows, Ends(load))
            if second is not None and (first is not None or joined == 1):
                halves = _HALVES_COST if joined == 1 else 99.0
                costs[joined] = self._cost(second) + (min(self._cost(first), halves) if first else halves)
        return min(costs, key=costs.__getitem__, default=1)

    def _cost(self, p: Pass) -> float:
        """Time relative to a copy, roughly."""
        s = p.schedule
        cost = _COLUMN_COST[max(c for c in _COLUMN_COST if c <= s.columns)] + (s.idle - 1) / 2
        if self.vectors or s.along:
            values = s.points * s.columns * s.rows
            cost = (1.05 if values <= 4096 else 1.15 if values <= 8192 else 1.6) + (s.idle - 1) / 2
        return cost + 0.35 * (s.packed > s.in_twos) + 0.35 * (s.most * s.rows > self._registers)

    @property
    def vectors(self) -> bool:
        """Whether a work-item carries whole sequences, as lanes: what suits CPUs."""
        return self.params.method == "auto" and self.limits.is_cpu

    @property
    def _most(self) -> int:
        if self.params.radix != "auto":
            return int(self.params.radix)
        return 8 if self.vectors or self._few else LARGEST_RADIX // (self.itemsize // 4)

    @property
    def _few(self) -> bool:
        return self.values <= _FEW

    @property
    def _registers(self) -> int:
        """Complex values that a work-item can carry."""
        return 128 // self.itemsize

    def _schedule(
        self, n: int, sequences: int, along: bool, rows: int = 1, packed: bool = False
    ) -> tuple[Schedule, int] | None:
        """Work-items, columns and lanes for ``n`` points in local memory; None if they do not fit."""
        length, factors = 0, radices(n, self._most)
        if factors is None:
            length = n
            factors = radices(next_fast_len(2 * n - 1), self._most)
            assert factors is not None
        factors = factors or (1,)
        computed = self.params.twiddle == "compute"
        if self.vectors:
            room = self.limits.local_bytes // (_COMPLEX * self.itemsize * prod(factors))
            if room < 1:
                return None
            lanes = next(w for w in (8, 4, 2, 1) if w <= room and (w == 1 or w < 2 * sequences))
            return Schedule(factors, 1, length=length, along=along, computed=computed), lanes
        if packed and len(factors) == 2 and factors[0] > 16:
            factors = radices(prod(factors), 16) or factors  # two butterflies must find room
        if len(factors) > 2:  # the largest at the ends
            factors = (factors[0], *factors[:1:-1], factors[1])
        factors = factors[::-1] if packed else factors
        base = Schedule(
            factors, 1, length=length, along=along, rows=rows, joined=rows > 1, packed=packed, computed=computed
        )  # fmt: skip
        groups = (self._group(base, columns, sequences) for columns in (64, 32, 16, 8, 4, 2, 1))
        found = next((s for s in groups if s is not None), None)
        return None if found is None else (found, 1)

    def _group(self, base: Schedule, columns: int, sequences: int) -> Schedule | None:
        """``base`` with so many columns, and work-items that idle the least; None if a limit forbids them."""
        n, factors, rows = base.points, base.radices, base.rows
        room = max(self._registers, factors[0])
        most = min(self.group, self.limits.work_group, *self.limits.work_item_sizes[:1]) // columns
        fewest = 2 if base.joined or len(factors) > 1 else 1
        counts = {-(-n // r // b) for r in factors for b in range(1, 17)} & set(range(fewest, most + 1))

        def drawbacks(s: Schedule) -> tuple[float, ...]:
            return max(0, s.most * rows - self._registers), s.packed > s.in_twos, s.idle, -s.items

        choices = (replace(base, items=items, columns=columns) for items in counts)
        s = min(choices, key=drawbacks, default=None)
        if s is None:
            return None
        if columns > 1 and (
            columns >= 2 * sequences
            or n * columns * rows > (_FEW_GROUP_VALUES if self._few else _GROUP_VALUES * 4 // self.itemsize)
            or s.most * rows > room
            or (s.along and s.items * columns > 64)  # enough for a group
            or (not s.along and columns == 64 and s.items > 1)
        ):
            return None
        needed = s.places * _COMPLEX * self.itemsize
        s = replace(s, halved=needed > self.limits.local_bytes)
        return s if needed <= self.limits.local_bytes * (1 + s.halved) else None

    def single(self, n: int, at: Sequences, ends: Ends) -> Pass | None:
        """One dispatch, if local memory allows it."""
        packed = ends.store == "packed"
        pair = ends.pair and (packed or at.counts[2] > 1)
        beside = -(-at.counts[2] // 2) if pair else at.counts[2]
        found = self._schedule(
            n, beside, at.in_steps[3] < at.in_steps[2] or at.counts[2] == 1, at.joined, ends.load == "packed"
        )
        if found is None:
            return None
        schedule, lanes = found
        spectra = pair and ends.store == "complex"
        if spectra and (schedule.halved or not (schedule.places or self.vectors)):
            pair = spectra = False
        in_order, out_order = (steps[2] == 1 and not pair for steps in (at.in_steps, at.out_steps))
        schedule = replace(
            schedule, staged_in=lanes > 1 and not in_order, spectra=spectra,
            mirrored=at.out_n if ends.store == "mirrored" else 0,
            staged_out=(spectra and schedule.items == 1) or (lanes > 1 and not out_order),
        )  # fmt: skip
        return Pass(
            "local", n, schedule, at, lanes, ends.load, "spectra" if spectra else ends.store, pair,
            ends.swap_in, ends.swap_out, ends.scale, gap=ends.gap,
        )  # fmt: skip

    def _halves(self, n: int, at: Sequences, ends: Ends) -> list[Pass] | None:
        """Two dispatches over n = n1·n2 (four-step). With sample j = j1·n2 + j2 and frequency k = k2·n1 + k1:

        X[k] = Σ_j2 w_n2^(j2·k2) · w_n^(j2·k1) · Σ_j1 w_n1^(j1·k1) · x[j].
        The intermediate is (outer, beside, k1, j2) for rows and (outer, k1, j2, beside) for columns.
        """
        outer, middle, beside = at.counts
        if middle > 1 or at.joined > 1:
            return None
        rows = at.in_steps[3] < at.in_steps[2] or beside == 1
        packed = ends.store == "packed"
        if ends.load == "packed" or (packed and rows):
            return None
        pairs = -(-beside // 2) if packed else beside
        best = None
        for n1 in (d for d in range(2, n // 2 + 1) if n % d == 0):
            n2 = n // n1
            found = self._schedule(n1, n2 if rows else pairs, False), self._schedule(n2, n1, rows)
            if found[0] is None or found[1] is None:
                continue
            cost = (bool(found[0][0].length) + bool(found[1][0].length), abs(log(n1 / n2)))
            if best is None or cost < best[0]:
                best = cost, n1, n2, found[0], found[1]
        if best is None:
            return None
        _, n1, n2, (schedule1, lanes1), (schedule2, lanes2) = best
        o, _, b, e = at.in_steps
        p, _, c, f = at.out_steps
        if rows:
            one = Sequences((outer, beside, n2), (o, b, e, n2 * e), (beside * n, n, 1, n2), at.in_n, n1)
            two = Sequences((outer, beside, n1), (beside * n, n, n2, 1), (p, c, f, n1 * f), n2, at.out_n)
        else:
            between = (n * pairs, n2 * pairs, 1, pairs)
            one = Sequences(
                (outer, n2, beside), (o, e, b, n2 * e), (n * pairs, pairs, 1, n2 * pairs), at.in_n, n1
            )
            two = Sequences((outer, n1, pairs), between, (p, f, c, n1 * f), n2, at.out_n)
        schedule1 = replace(schedule1, along=one.in_steps[2] != 1)
        schedule2 = replace(schedule2, along=two.in_steps[2] != 1)
        schedule2 = replace(schedule2, staged_in=lanes2 > 1 and schedule2.along)
        first = Pass(
            "local", n, schedule1, one, lanes1, load=ends.load, store="packed" if packed else "complex", pair=packed,
            swap_in=ends.swap_in, split=1, gap=n2, split_lanes=rows, temporary=outer * pairs * n,
        )  # fmt: skip
        second = Pass(
            "local", n, schedule2, two, lanes2, store="complex" if packed else ends.store, swap_out=ends.swap_out,
            scale=ends.scale, split=2, gap=n1, split_lanes=rows,
        )  # fmt: skip
        return [first, second]

    def _stages(self, n: int, at: Sequences, ends: Ends) -> list[Pass]:
        """One dispatch for each stage, ping-pong through global memory."""
        factors = radices(n, self._most) or (1,)
        dense = _dense(n, at)
        lanes = 8 if self.limits.is_cpu and dense[2] == 1 and at.counts[2] >= 8 else 1
        computed = self.params.twiddle == "compute"
        result, stride = [], 1
        for index, radix in enumerate(factors):
            first, last = index == 0, index == len(factors) - 1
            here = replace(
                at, in_steps=at.in_steps if first else dense, out_steps=at.out_steps if last else dense,
                in_n=at.in_n if first else n, out_n=at.out_n if last else n,
            )  # fmt: skip
            result.append(
                Pass(
                    "global",
                    n,
                    Schedule((radix,), 1, along=dense[3] == 1, computed=computed),
                    here,
                    lanes,
                    ends.load if first else "complex",
                    ends.store if last else "complex",
                    swap_in=ends.swap_in and first,
                    swap_out=ends.swap_out and last,
                    scale=ends.scale if last else 1.0,
                    stride=stride,
                    temporary=0 if last else n * at.total,
                )
            )
            stride *= radix
        return result

    def _convolved(self, n: int, at: Sequences, ends: Ends) -> list[Pass]:
        """Bluestein's convolution through global memory: chirp, transform, filter, transform back, chirp."""
        points = next_fast_len(2 * n - 1)
        dense, all_ = _dense(points, at), points * at.total
        inside = replace(at, in_steps=dense, out_steps=dense, in_n=points, out_n=points)
        there = [replace(p, temporary=p.temporary or all_) for p in self.passes(points, inside, Ends())]
        multiply = Pass("multiply", n, Schedule((points,), 1), inside, table="chirp", temporary=all_)
        before = replace(
            multiply,
            at=replace(inside, in_steps=at.in_steps, in_n=at.in_n),
            load=ends.load,
            swap_in=ends.swap_in,
        )
        # Swapped, a forward transform is the inverse that the convolution needs.
        middle = replace(multiply, swap_out=True, table="filter")
        end = replace(
            multiply, at=replace(inside, out_steps=at.out_steps, in_n=n, out_n=at.out_n), store=ends.store,
            swap_in=True, swap_out=ends.swap_out, scale=ends.scale, temporary=0,
        )  # fmt: skip
        return [before, *there, middle, *there, end]


def _dense(n: int, at: Sequences) -> Four:
    """Steps of an intermediate of ``n`` points in the order of the input: rows or columns."""
    beside = at.counts[2]
    if at.in_steps[2] < at.in_steps[3]:
        return n * beside, 0, 1, beside
    return n * beside, 0, n, 1
