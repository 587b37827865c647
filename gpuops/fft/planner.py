"""What passes a transform takes: pure functions of its size and the device's limits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from math import log, prod

from ..gpu import Limits
from ..params.fft import FftParams
from .schedule import LARGEST_UNROLLED, Schedule, largest_prime

LARGEST_RADIX = 32
# The largest prime that is a radix, in loops on CPUs and shared by work-items on GPUs, with smaller errors than
# Bluestein's convolution has; that is the faster from the next ones on (measured).
LARGEST_PRIME = 199


def _factorisations(n: int, largest: int, most: int) -> Iterator[tuple[int, ...]]:
    """All ways to write ``n`` as radices up to ``largest``, primes or up to ``most``, from the largest one down."""
    if n == 1:
        yield ()
    for radix in (r for r in range(min(largest, n), 1, -1) if n % r == 0):
        if radix <= most or largest_prime(radix) == radix:
            for rest in _factorisations(n // radix, radix, most):
                yield (radix, *rest)


@cache
def radices(n: int, most: int = LARGEST_RADIX, prime: int = LARGEST_PRIME) -> tuple[int, ...] | None:
    """Factors of ``n`` up to ``most``, or primes up to ``prime``, in the order of execution; None if one is larger.

    The fewest, but three rather than two above 16; of these, large ones at both ends, where memory is accessed, and
    small ones between, which keep the registers free (measured).
    """

    def drawbacks(factors: tuple[int, ...]) -> tuple[float, ...]:
        stages = max(len(factors), 3 if len(factors) == 2 and factors[0] > 16 else 0)
        between = prod(factors[2:]) if factors[0] > 8 else 1
        return stages, max(6, between), factors[0] / factors[min(1, len(factors) - 1)], sum(factors)

    if n == 1 or largest_prime(n) > prime:
        return () if n == 1 else None
    # Butterflies of large primes are long: beside other long ones compilers run out of registers.
    if largest_prime(n) > 13:
        most = min(most, 16)
    best = min(_factorisations(n, n, most), key=drawbacks)
    return best if len(best) < 2 else (best[1], *best[:1:-1], best[0])


@cache
def largest_radices(n: int, most: int, prime: int = LARGEST_PRIME) -> tuple[int, ...] | None:
    """``most`` as often as it divides ``n``, then the next smaller, …: the documents' 8·8·8·2 and 16·16·4 of 1024."""
    return max(_factorisations(n, n, most)) if largest_prime(n) <= prime else None


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
    sequences, ``partner`` (in, out) apart, are transformed across each other; ``beside`` counts the first.
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
        """Sequences are rows."""
        return self.in_steps[3] < self.in_steps[2] or self.counts[2] == 1


@dataclass(frozen=True)
class Ends:
    """What the two ends of an axis' passes read and write.

    Attributes
    ----------
    load, store
        ``complex``; ``samples`` (real: two ``pixel`` elements apart, of ``pixels`` in all, are a complex value, beside
        each other or of a sequence that is its own twin along it; without these each is one); of the input also
        ``hermitian`` (half a spectrum) and ``image`` (samples and what stands around them).
    swap_in, swap_out
        Real and imaginary parts change places: of both, the transform is the inverse.
    factor
        Of Bluestein's convolution: ``chirp`` multiplies the input, ``filter`` or ``unchirp`` the output.
    channels
        So many (the outer sequences) interleave bytes of the input, in pairs of pixels of whole words.
    """

    load: str = "complex"
    store: str = "complex"
    swap_in: bool = False
    swap_out: bool = False
    scale: float = 1.0
    pixel: int = 0
    pixels: int = 0
    factor: str = ""
    channels: int = 1


@dataclass(frozen=True)
class Pass:
    """One launch: all that its kernel is generated from and called with.

    Attributes
    ----------
    kind
        ``local``: an axis, or half of one, in one dispatch. ``global``: one stage, of ``schedule.radices[0]`` and
        ``stride``, of a transform of ``n`` points.
    split
        1 or 2: this is the first or second half of a transform of N1·N2 points; ``gap`` is the other half's
        length, whose index runs along ``middle``, or of rows along ``beside``. Of what is not split, ``gap`` is the
        distance of joined sequences, in sequences.
    convolved
        Points that ``ends.factor`` belongs to.
    temporary
        Complex elements of the target where that is not the result.
    """

    kind: str
    n: int
    schedule: Schedule
    at: Sequences
    ends: Ends
    lanes: int = 1
    split: int = 0
    beside: bool = False
    gap: int = 1
    stride: int = 1
    convolved: int = 0
    temporary: int = 0


ROWS = Schedule((1,), 1)
COLUMNS = replace(ROWS, along=False)

# Time of a pass relative to a copy (measured, H200): of columns, by neighbours that a group takes.
_COLUMN_COST = {1: 7.0, 2: 3.6, 4: 1.6, 8: 1.2, 16: 1.05}
_HALVES_COST = 2.15
# Of primes: the largest that need not be shared, however many butterflies a work-item has beside each other, and where
# it has one; results that each takes of a shared one, at most (with their mirror images).
_NEVER_SHARED, _ALONE, _LARGEST_SHARE = 31, 47, 12
# Of complex values in a group: with the most, two groups of a compute unit have registers; fewer to busy all units.
_LEAST_VALUES, _MOST_VALUES = 2048, 10240
_JOINED_COST, _STAGE_COST = 0.2, 0.1  # of each sequence but one, of each stage but three


@dataclass(frozen=True)
class Planner:
    """Plans the passes of one axis.

    ``itemsize`` is that of a real number, ``group`` the most work-items together, ``values`` how many values a
    transform has in all.
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
            if single and (at.counts[1] > 1 or self._cost(single.schedule) <= _HALVES_COST):
                return [single]
            found = self._halves(n, at, ends) or ([single] if single else [])
            if found:
                return found
        return (self._convolved if self._radices(n) is None else self._stages)(n, at, ends)

    def joined(
        self, n_rows: int, divided: int, points: int, wide: int, twin: str = "", channels: int = 1
    ) -> int:
        """How many rows of ``points`` ought to be transformed across each other, so that columns are short.

        A column's group must take several neighbours, of ``wide``, or memory is read and written in crumbs. The
        result divides ``divided`` rows, those that exist or are wanted; ``channels`` as of :class:`Ends`.
        """
        costs = {}
        # A convolution has no registers left for four. (Of CPUs' compilers, Intel's gets it wrong with two.)
        fixed = self.vectors or self.params.radix != "auto"
        choices = (1,) if fixed else (1, 2) if twin == "convolve" else (1, 2, 4)
        for joined in (j for j in choices if n_rows % j == divided % j == 0 and j < n_rows):
            columns = self._schedule(n_rows // joined, wide, replace(COLUMNS, channels=channels))
            rows = self._schedule(points, n_rows // joined, replace(ROWS, joined=joined, twin=twin))
            if rows and (joined == 1 or columns):
                cost = self._cost(columns[0]) if columns else _HALVES_COST
                cost = cost + _JOINED_COST * (joined - 1) if joined > 1 else min(cost, _HALVES_COST)
                costs[joined] = self._cost(rows[0]) + cost
        return min(costs, key=costs.__getitem__, default=1)

    def _cost(self, s: Schedule) -> float:
        """Time relative to a copy, roughly."""
        if self.vectors or s.along:
            values = s.points * s.columns * s.rows
            cost = 1.05 if values <= 4096 else 1.15 if values <= 8192 else 1.6
        else:
            cost = _COLUMN_COST[max(c for c in _COLUMN_COST if c <= s.columns)]
        cost += _STAGE_COST * max(0, len(s.radices) - 3) + (s.idle - 1) / 2
        return cost if self.vectors else cost + 0.35 * max(0.0, s.held / self._registers - 1)

    @property
    def vectors(self) -> bool:
        """Whether a work-item carries whole sequences, as lanes: what suits CPUs."""
        return self.params.method == "auto" and self.limits.is_cpu

    @property
    def _most(self) -> int:
        if self.params.radix != "auto":
            return int(self.params.radix)
        return 8 if self.vectors else LARGEST_RADIX // (self.itemsize // 4)

    def _radices(self, n: int, most: int | None = None) -> tuple[int, ...] | None:
        """``radices``, or what a largest radix that somebody chose makes of ``n``."""
        alone = self.params.method == "global" and not self.limits.is_cpu
        prime = LARGEST_UNROLLED * 4 // self.itemsize if alone else LARGEST_PRIME
        return (radices if self.params.radix == "auto" else largest_radices)(n, most or self._most, prime)

    def _shares(self, prime: int, beside: int, alone: int) -> bool:
        """Whether work-items share the butterflies of a prime, of which each would have so many beside each other: of
        one those above ``alone``."""
        return prime > max(_NEVER_SHARED, alone * 4 // (self.itemsize * beside))

    @property
    def _registers(self) -> int:
        """Complex values that a work-item can carry."""
        return 128 // self.itemsize

    def _group_values(self, channels: int) -> int:
        busy = (
            2 * self.values // (3 * self.limits.compute_units * channels)
        )  # some more groups than compute units
        return max(_LEAST_VALUES, min(busy, _MOST_VALUES)) * 4 // self.itemsize

    def _schedule(self, n: int, sequences: int, form: Schedule) -> tuple[Schedule, int] | None:
        """Work-items, columns and lanes for ``n`` points in local memory, what there is to do as in ``form``; None if
        they do not fit."""
        base = self._divided(n, form)
        if base is None:
            return None
        if self.vectors:
            room = self.limits.local_bytes // (2 * self.itemsize * base.points * base.rows)
            lanes = (w for w in (8, 4, 2, 1) if w <= room and (w == 1 or w < 2 * sequences))
            return next(((base, w) for w in lanes), None)
        groups = (self._group(base, columns, sequences) for columns in (64, 32, 16, 8, 4, 2, 1))
        return next(((s, 1) for s in groups if s is not None), None)

    def _divided(self, n: int, form: Schedule) -> Schedule | None:
        """``form`` with radices for ``n`` points, or for Bluestein's convolution; that does not do for twins: None."""
        factors, prime = self._radices(n), largest_prime(n)
        in_turn = not self.vectors and prime <= self._registers // 2 < n
        base = replace(form, radices=factors or (1,), channels=form.channels if in_turn else 1)
        base = replace(base, computed=self.params.twiddle == "compute")
        # Butterflies, or pixels that are kept: all of them must find room in registers.
        beside = 2 if base.alone or base.channels > 1 else base.carried
        found: Schedule | None = base
        if factors is None or (self.vectors and form.twin and 2 * prime > 3 * self._registers):
            found = None
        elif not self.vectors and self._shares(prime, beside, _ALONE):
            found = self._shared(base)
        elif not self.vectors and beside > 1:
            most = max(2, min(self._most, self._registers // beside))
            found = replace(base, radices=self._radices(n, most) or (1,))
        if found is None and not form.twin:
            found = replace(base, radices=self._radices(next_fast_len(2 * n - 1)) or (1,), length=n)
        return found

    def _shared(self, base: Schedule) -> Schedule | None:
        """``base`` with its largest prime as several work-items' together, between smaller radices; None if there are
        two such primes, or something to do between two transforms."""
        prime = largest_prime(base.points)
        rest = base.points // prime
        base = replace(base, radices=(1, prime, rest))
        beside = 2 if base.alone else base.carried
        if self._shares(largest_prime(rest), beside, LARGEST_UNROLLED) or base.twin == "convolve":
            return None
        first = min(d for d in range(1, rest + 1) if rest % d == 0 and d * d >= rest)
        factors: tuple[int, ...] = (first, prime, rest // first)
        most = max(2, min(self._most, 16, self._registers // beside))
        if largest_prime(first) < first > most:
            one, *others = self._radices(rest, most) or (1,)
            factors = (one, prime, *others)
        largest = max(2, _LARGEST_SHARE * 4 // (self.itemsize * beside))
        shares = range(-(-largest // 2), largest + 1)
        share = min(shares, key=lambda share: (-(-(prime // 2) // share) * share, -share))
        return replace(base, radices=factors, share=share)

    def _group(self, base: Schedule, columns: int, sequences: int) -> Schedule | None:
        """``base`` with so many columns, and work-items that idle the least; None if a limit forbids them."""
        n, factors = base.points, base.radices
        most = min(self.group, self.limits.work_group, *self.limits.work_item_sizes[:1])
        fewest = 2 if base.joined > 1 or len(factors) > 1 else 1
        counts = {-(-base.work(index)[0] // b) for index in range(len(factors)) for b in range(1, 17)}
        counts &= set(range(fewest, most // (columns * base.sets) + 1))

        def drawbacks(s: Schedule) -> tuple[float, ...]:
            return max(0, s.held - self._registers), s.idle, -s.items

        choices = (replace(base, items=items, columns=columns) for items in counts)
        s = min(choices, key=drawbacks, default=None)
        if s is None:
            return None
        if columns > 1 and (
            columns >= 2 * sequences
            or n * columns * s.rows > self._group_values(s.channels)
            or s.held > max(self._registers, base.held)
            or (s.along and s.items * columns > 64)  # enough for a group
            or (not s.along and columns == 64 and s.items > 1)
        ):
            return None
        needed = s.places * 2 * self.itemsize
        s = replace(s, halved=needed > self.limits.local_bytes)
        return s if needed <= self.limits.local_bytes * (1 + s.halved) else None

    def single(self, n: int, at: Sequences, ends: Ends, form: Schedule = ROWS) -> Pass | None:
        """One dispatch, if local memory allows it; ``form``: what else there is to do."""
        form = replace(form, along=at.along, joined=at.joined, channels=ends.channels)
        found = self._schedule(n, at.counts[2], form)
        return Pass("local", n, found[0], at, ends, found[1]) if found else None

    def _halves(self, n: int, at: Sequences, ends: Ends) -> list[Pass] | None:
        """Two dispatches over n = n1·n2 (four-step). With sample j = j1·n2 + j2 and frequency k = k2·n1 + k1:

        X[k] = Σ_j2 w_n2^(j2·k2) · w_n^(j2·k1) · Σ_j1 w_n1^(j1·k1) · x[j].
        The intermediate is (outer, beside, k1, j2) for rows and (outer, k1, j2, beside) for columns.
        """
        outer, middle, beside = at.counts
        if middle > 1 or at.joined > 1:
            return None
        best = None
        for n1 in (d for d in range(2, n // 2 + 1) if n % d == 0):
            n2 = n // n1
            found = (
                self._schedule(n1, n2 if at.along else beside, COLUMNS),
                self._schedule(n2, n1 if at.along else beside, ROWS if at.along else COLUMNS),
            )
            if found[0] is None or found[1] is None:
                continue
            cost = (bool(found[0][0].length) + bool(found[1][0].length), abs(log(n1 / n2)))
            if best is None or cost < best[0]:
                best = cost, n1, n2, found[0], found[1]
        if best is None:
            return None
        _, n1, n2, (schedule1, lanes1), (schedule2, lanes2) = best
        (o, _, b, e), (p, _, c, f) = at.in_steps, at.out_steps
        if at.along:
            one = Sequences((outer, beside, n2), (o, b, e, n2 * e), (beside * n, n, 1, n2), at.in_n, n1)
            two = Sequences((outer, beside, n1), (beside * n, n, n2, 1), (p, c, f, n1 * f), n2, at.out_n)
            lanes1 = lanes2 = 1  # elements differ from lane to lane
        else:
            between = (n * beside, n2 * beside, 1, beside)
            one = Sequences(
                (outer, n2, beside), (o, e, b, n2 * e), (n * beside, beside, 1, n2 * beside), at.in_n, n1
            )
            two = Sequences((outer, n1, beside), between, (p, f, c, n1 * f), n2, at.out_n)
        first = replace(
            ends, store="complex", swap_out=False, scale=1.0, factor=ends.factor * (ends.factor == "chirp")
        )
        second = replace(ends, load="complex", swap_in=False, factor=ends.factor * (ends.factor != "chirp"))
        schedule1, schedule2 = (
            replace(s, along=a.in_steps[2] != 1) for s, a in ((schedule1, one), (schedule2, two))
        )
        return [
            Pass("local", n, schedule1, one, first, lanes1, 1, at.along, n2, temporary=outer * beside * n),
            Pass("local", n, schedule2, two, second, lanes2, 2, at.along, n1),
        ]

    def _stages(self, n: int, at: Sequences, ends: Ends) -> list[Pass]:
        """One dispatch for each stage, ping-pong through global memory."""
        factors = self._radices(n) or (1,)
        dense = _dense(n, at)
        lanes = 8 if self.limits.is_cpu and dense[2] == 1 and at.counts[2] >= 8 else 1
        result, stride = [], 1
        for index, radix in enumerate(factors):
            here, what = at, ends
            if index > 0:
                here = replace(here, in_steps=dense, in_n=n)
                what = replace(
                    what, load="complex", swap_in=False, factor=what.factor * (what.factor != "chirp")
                )
            if index < len(factors) - 1:
                here = replace(here, out_steps=dense, out_n=n)
                what = replace(what, store="complex", swap_out=False, scale=1.0)
                what = replace(what, factor=what.factor * (what.factor == "chirp"))
            schedule = Schedule((radix,), 1, along=dense[3] == 1, computed=self.params.twiddle == "compute")
            temporary = n * at.total if index < len(factors) - 1 else 0
            result.append(Pass("global", n, schedule, here, what, lanes, stride=stride, temporary=temporary))
            stride *= radix
        return result

    def _convolved(self, n: int, at: Sequences, ends: Ends) -> list[Pass]:
        """Bluestein's convolution through global memory: chirp, transform, filter, transform back, chirp."""
        points = next_fast_len(2 * n - 1)
        dense = _dense(points, at)
        # Swapped, a forward transform is the inverse that the convolution needs; and a swapped value times the chirp
        # is the swapped product with its conjugate.
        there = self.passes(
            points, replace(at, out_steps=dense, out_n=points),
            replace(ends, store="complex", swap_out=True, scale=1.0, factor="chirp"),
        )  # fmt: skip
        there[-1] = replace(
            there[-1], ends=replace(there[-1].ends, factor="filter"), temporary=points * at.total
        )
        back = self.passes(
            points, replace(at, in_steps=dense, in_n=points),
            replace(ends, load="complex", swap_in=False, swap_out=not ends.swap_out, factor="unchirp"),
        )  # fmt: skip
        return [replace(p, convolved=n) for p in [*there, *back]]


def _dense(n: int, at: Sequences) -> Four:
    """Steps of an intermediate of ``n`` points in the order of the input: rows or columns."""
    beside = at.counts[2]
    if at.in_steps[2] < at.in_steps[3]:
        return n * beside, 0, 1, beside
    return n * beside, 0, n, 1
