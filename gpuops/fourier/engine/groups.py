"""Divides a group's sequences among its work-items: finds a schedule that local memory and registers allow."""

from __future__ import annotations

from dataclasses import replace

from ...gpu import Limits
from ...params.fft import FftParams
from ...records import dataclass
from .radices import LARGEST_PRIME, LARGEST_RADIX, largest_prime, largest_radices, next_fast_len, radices
from .schedule import LARGEST_UNROLLED, Schedule

# Time of a pass over columns relative to a copy (measured, H200), by the number of neighbours that a group takes.
_COLUMN_COST = {1: 7.0, 2: 3.6, 4: 1.6, 8: 1.2, 16: 1.05}
# The largest prime whose butterflies are never shared, however many a work-item has side by side; the largest prime if
# it has only one; and the most results of a shared butterfly that a work-item takes (each with its mirror image).
_NEVER_SHARED, _ALONE, _LARGEST_SHARE = 31, 47, 12
# The least and the most complex values of a group: with the most, a compute unit has registers for two groups; fewer
# keep all compute units busy.
_LEAST_VALUES, _MOST_VALUES = 2048, 10240
_STAGE_COST = 0.1  # time of each stage beyond three, relative to a copy


@dataclass(frozen=True)
class Groups:
    """Divides sequences for one device and one kind of transform.

    ``itemsize`` is the bytes of a real number, ``group`` the most work-items of a group, ``values`` the number of
    values of a transform. ``spread``: each pass takes its part of the scale, so that halves in memory stay in range.
    """

    limits: Limits
    params: FftParams
    itemsize: int = 4
    group: int = 512
    values: int = 1 << 30
    spread: bool = False

    @property
    def vectors(self) -> bool:
        """Whether a work-item carries whole sequences, as lanes, which suits CPUs whose compilers know vectors."""
        return self.params.method == "auto" and self.limits.vectors

    @property
    def _most(self) -> int:
        if self.params.radix != "auto":
            return int(self.params.radix)
        return 8 if self.vectors else LARGEST_RADIX // (self.itemsize // 4)

    def factors(self, n: int, most: int | None = None) -> tuple[int, ...] | None:
        """The radices of ``n``: those of :func:`radices`, or of :func:`largest_radices` if the parameters name the
        largest radix."""
        alone = self.params.method == "global" and not self.limits.is_cpu
        prime = LARGEST_UNROLLED * 4 // self.itemsize if alone else LARGEST_PRIME
        return (radices if self.params.radix == "auto" else largest_radices)(n, most or self._most, prime)

    def _shares(self, prime: int, beside: int, alone: int) -> bool:
        """Whether work-items share the butterflies of ``prime``, of which each would have ``beside`` side by side.
        Those of primes up to ``alone`` are not shared where it would have one, in single precision."""
        return prime > max(_NEVER_SHARED, alone * 4 // (self.itemsize * beside))

    @property
    def _registers(self) -> int:
        """Complex values that a work-item can carry."""
        return 128 // self.itemsize

    @property
    def _group_values(self) -> int:
        # There are to be some more groups than compute units.
        busy = 2 * self.values // (3 * self.limits.compute_units)
        return max(_LEAST_VALUES, min(busy, _MOST_VALUES)) * 4 // self.itemsize

    def schedule(self, n: int, sequences: int, form: Schedule) -> tuple[Schedule, int] | None:
        """Returns ``form``, which says what to do, with radices, work-items and columns for ``n`` points in local
        memory; and the number of lanes. None if they do not fit."""
        if self.vectors:
            return self._wide(n, sequences, form)
        base = self._divided(n, form)
        if base is None:
            return None
        groups = (self._group(base, columns, sequences) for columns in (64, 32, 16, 8, 4, 2, 1))
        return next(((s, 1) for s in groups if s is not None), None)

    def _wide(self, n: int, sequences: int, form: Schedule) -> tuple[Schedule, int] | None:
        """:meth:`schedule` where a work-item has whole sequences, as lanes."""
        factors = self.factors(n)
        if factors is None and form.pairs:
            return None
        s = replace(form, radices=factors or (1,), computed=self.params.twiddle == "compute")
        if factors is None:
            s = replace(s, radices=self.factors(next_fast_len(2 * n - 1)) or (1,), length=n)
        room = self.limits.local_bytes // (2 * self.itemsize * s.points * s.loaded)
        lanes = (w for w in (8, 4, 2, 1) if w <= room and (w == 1 or w < 2 * sequences))
        return next(((s, w) for w in lanes), None)

    def _divided(self, n: int, form: Schedule) -> Schedule | None:
        """Returns ``form`` with radices for ``n`` points, or for Bluestein's convolution; None for pairs of real
        numbers that would need that convolution."""
        factors, prime = self.factors(n), largest_prime(n)
        base = replace(form, radices=factors or (1,), computed=self.params.twiddle == "compute")
        # A work-item has registers for all butterflies that it has side by side.
        beside = 2 if base.own_mirror else base.carried
        schedule: Schedule | None = base
        if factors is None:
            schedule = None
        elif self._shares(prime, beside, _ALONE):
            schedule = self._shared(base)
        elif beside > 1:
            most = max(2, min(self._most, self._registers // beside))
            schedule = replace(base, radices=self.factors(n, most) or (1,))
        if schedule is None and not form.pairs:
            schedule = replace(base, radices=self.factors(next_fast_len(2 * n - 1)) or (1,), length=n)
        return schedule

    def _shared(self, base: Schedule) -> Schedule | None:
        """Returns ``base`` with its largest prime, whose butterflies work-items share, between smaller radices; None if
        there are two such primes, or if it is for a convolution, which does something between two transforms."""
        prime = largest_prime(base.points)
        rest = base.points // prime
        base = replace(base, radices=(1, prime, rest))
        beside = 2 if base.own_mirror else base.carried
        if self._shares(largest_prime(rest), beside, LARGEST_UNROLLED) or base.pairs == "convolve":
            return None
        first = min(d for d in range(1, rest + 1) if rest % d == 0 and d * d >= rest)
        factors: tuple[int, ...] = (first, prime, rest // first)
        most = max(2, min(self._most, 16, self._registers // beside))
        if largest_prime(first) < first > most:
            one, *others = self.factors(rest, most) or (1,)
            factors = (one, prime, *others)
        largest = max(2, _LARGEST_SHARE * 4 // (self.itemsize * beside))
        shares = range(-(-largest // 2), largest + 1)
        share = min(shares, key=lambda share: (-(-(prime // 2) // share) * share, -share))
        return replace(base, radices=factors, share=share)

    def _group(self, base: Schedule, columns: int, sequences: int) -> Schedule | None:
        """Returns ``base`` with ``columns`` columns and the number of work-items that idle the least; None if a limit
        forbids them."""
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
            or n * columns * s.loaded > self._group_values
            or s.held > max(self._registers, base.held)
            or (s.along and s.items * columns > 64)  # 64 work-items are enough for a group
            or (not s.along and columns == 64 and s.items > 1)
        ):
            return None
        needed = s.places * 2 * self.itemsize
        s = replace(s, halved=needed > self.limits.local_bytes)
        return s if needed <= self.limits.local_bytes * (1 + s.halved) else None

    def cost(self, s: Schedule) -> float:
        """The time of a pass relative to a copy, roughly."""
        if s.along:
            values = s.points * s.columns * s.loaded
            cost = 1.05 if values <= 4096 else 1.15 if values <= 8192 else 1.6
        else:
            cost = _COLUMN_COST[max(c for c in _COLUMN_COST if c <= s.columns)]
        cost += _STAGE_COST * max(0, len(s.radices) - 3) + (s.idle - 1) / 2
        return cost + 0.35 * max(0.0, s.held / self._registers - 1)
