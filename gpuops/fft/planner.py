"""What passes a transform takes: pure functions of its size and the device's limits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from math import log, prod

from ..gpu import Limits
from ..params.fft import FftParams
from .generate import Schedule

LARGEST_RADIX = 16
LARGEST_PRIME = 13  # of the straight-line butterflies


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


@dataclass(frozen=True)
class Sequences:
    """Where the sequences of one axis lie: element i of sequence (outer, beside) at outer·s0 + beside·s1 + i·s2.

    ``in_n`` elements exist in the input (zeros follow) and ``out_n`` are wanted of the output.
    """

    outer: int
    beside: int
    in_steps: tuple[int, int, int]
    out_steps: tuple[int, int, int]
    in_n: int
    out_n: int

    @property
    def count(self) -> int:
        return self.outer * self.beside


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
        What the input is: complex, real, hermitian (half a spectrum); and the output: complex, real, spectra
        (those of the two sequences of a ``pair``).
    split
        1 or 2: this is the first or second half of a transform of N1·N2 points; ``gap`` is the other half's
        length. ``split_lanes``: the other half's index runs along ``beside``, else along ``middle``.
    temporary
        Complex elements of the target where that is not the result.
    """

    kind: str
    n: int
    schedule: Schedule
    counts: tuple[int, int, int]  # sequences: outer, middle, beside
    in_steps: tuple[int, int, int, int]  # outer, middle, beside, element
    out_steps: tuple[int, int, int, int]
    in_n: int
    out_n: int
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


@dataclass(frozen=True)
class Planner:
    """Plans the passes of one axis. ``itemsize`` is that of a real number, ``group`` the most work-items together."""

    limits: Limits
    params: FftParams
    itemsize: int = 4
    group: int = 256

    def passes(self, n: int, at: Sequences, ends: Ends) -> list[Pass]:
        """The passes of a transform of ``n`` points along one axis."""
        if self.params.method != "global":
            single = self._single(n, at, ends)
            if single is not None:
                return [single]
            halves = self._halves(n, at, ends)
            if halves is not None:
                return halves
        return (
            self._stages(n, at, ends) if radices(n, self._most) is not None else self._convolved(n, at, ends)
        )

    @property
    def _vectors(self) -> bool:
        """Whether a work-item carries whole sequences, as lanes: what suits CPUs."""
        return self.params.method == "auto" and self.limits.is_cpu

    @property
    def _most(self) -> int:
        if self.params.radix != "auto":
            return int(self.params.radix)
        return 8 if self.limits.is_cpu else LARGEST_RADIX

    def _schedule(self, n: int, sequences: int, along: bool) -> tuple[Schedule, int] | None:
        """Work-items, columns and lanes for ``n`` points in local memory; None if they do not fit."""
        length, factors = 0, radices(n, self._most)
        if factors is None:
            length = n
            factors = radices(next_fast_len(2 * n - 1), self._most)
            assert factors is not None
        factors = factors or (1,)
        points = prod(factors)
        room = self.limits.local_bytes // (2 * self.itemsize * points)
        if room < 1:
            return None
        computed = self.params.twiddle == "compute"
        if self._vectors:
            lanes = next(w for w in (8, 4, 2, 1) if w <= room and (w == 1 or w < 2 * sequences))
            return Schedule(factors, 1, length=length, along=along, computed=computed), lanes
        group = min(self.group, self.limits.work_group, *self.limits.work_item_sizes[:1])
        butterflies = points // min(factors)
        items = -(-butterflies // -(-butterflies // group))
        wanted = max(64 // items, 1 if along else 4)  # a full group of rows; 32 contiguous bytes of columns
        columns = max(1, min(wanted, room, sequences, group // items))
        return Schedule(factors, items, columns, length=length, along=along, computed=computed), 1

    def _single(self, n: int, at: Sequences, ends: Ends) -> Pass | None:
        """One dispatch. Two real sequences, or two with real results, become one complex sequence."""
        pair = (ends.load, ends.store) in (("real", "complex"), ("hermitian", "real")) and at.beside > 1
        found = self._schedule(n, -(-at.beside // (2 if pair else 1)), at.in_steps[1] != 1)
        if found is None:
            return None
        schedule, lanes = found
        spectra = pair and ends.store == "complex"
        in_order, out_order = (steps[1] == 1 and not pair for steps in (at.in_steps, at.out_steps))
        schedule = replace(
            schedule,
            staged_in=lanes > 1 and not in_order,
            staged_out=spectra or (lanes > 1 and not out_order),
            spectra=spectra,
        )
        return Pass(
            "local",
            n,
            schedule,
            (at.outer, 1, at.beside),
            _four(at.in_steps),
            _four(at.out_steps),
            at.in_n,
            at.out_n,
            lanes,
            ends.load,
            "spectra" if spectra else ends.store,
            pair,
            ends.swap_in,
            ends.swap_out,
            ends.scale,
        )

    def _halves(self, n: int, at: Sequences, ends: Ends) -> list[Pass] | None:
        """Two dispatches over n = n1·n2 (four-step). With sample j = j1·n2 + j2 and frequency k = k2·n1 + k1:

        X[k] = Σ_j2 w_n2^(j2·k2) · w_n^(j2·k1) · Σ_j1 w_n1^(j1·k1) · x[j].
        The intermediate is (outer, beside, k1, j2) for rows and (outer, k1, j2, beside) for columns.
        """
        rows = at.in_steps[2] < at.in_steps[1] or at.beside == 1
        best = None
        for n1 in (d for d in range(2, n // 2 + 1) if n % d == 0):
            n2 = n // n1
            one, two = self._schedule(n1, n2 if rows else at.beside, False), self._schedule(n2, n1, rows)
            if one is None or two is None:
                continue
            cost = (bool(one[0].length) + bool(two[0].length), abs(log(n1 / n2)))
            if best is None or cost < best[0]:
                best = cost, n1, n2, one, two
        if best is None:
            return None
        _, n1, n2, (schedule1, lanes1), (schedule2, lanes2) = best
        o, b, e = at.in_steps
        if rows:
            counts1, in1, out1 = (at.outer, at.beside, n2), (o, b, e, n2 * e), (at.beside * n, n, 1, n2)
            counts2, in2 = (at.outer, at.beside, n1), (at.beside * n, n, n2, 1)
        else:
            counts1, in1 = (at.outer, n2, at.beside), (o, e, b, n2 * e)
            out1 = (n * at.beside, at.beside, 1, n2 * at.beside)
            counts2, in2 = (at.outer, n1, at.beside), (n * at.beside, n2 * at.beside, 1, at.beside)
        o, b, e = at.out_steps
        out2 = (o, b, e, n1 * e) if rows else (o, e, b, n1 * e)
        first = Pass(
            "local",
            n,
            replace(schedule1, along=in1[2] != 1),
            counts1,
            in1,
            out1,
            at.in_n,
            n1,
            lanes1,
            load=ends.load,
            swap_in=ends.swap_in,
            split=1,
            gap=n2,
            split_lanes=rows,
            temporary=at.count * n,
        )
        second = Pass(
            "local",
            n,
            replace(schedule2, along=in2[2] != 1, staged_in=lanes2 > 1 and in2[2] != 1),
            counts2,
            in2,
            out2,
            n2,
            at.out_n,
            lanes2,
            store=ends.store,
            swap_out=ends.swap_out,
            scale=ends.scale,
            split=2,
            gap=n1,
            split_lanes=rows,
        )
        return [first, second]

    def _stages(self, n: int, at: Sequences, ends: Ends) -> list[Pass]:
        """One dispatch for each stage, ping-pong through global memory."""
        factors = radices(n, self._most) or (1,)
        dense = _dense(n, at)
        lanes = 8 if self.limits.is_cpu and dense[1] == 1 and at.beside >= 8 else 1
        computed = self.params.twiddle == "compute"
        result, stride = [], 1
        for index, radix in enumerate(factors):
            first, last = index == 0, index == len(factors) - 1
            result.append(
                Pass(
                    "global",
                    n,
                    Schedule((radix,), 1, along=dense[2] == 1, computed=computed),
                    (at.outer, 1, at.beside),
                    _four(at.in_steps if first else dense),
                    _four(at.out_steps if last else dense),
                    at.in_n if first else n,
                    at.out_n if last else n,
                    lanes,
                    ends.load if first else "complex",
                    ends.store if last else "complex",
                    swap_in=ends.swap_in and first,
                    swap_out=ends.swap_out and last,
                    scale=ends.scale if last else 1.0,
                    stride=stride,
                    temporary=0 if last else n * at.count,
                )
            )
            stride *= radix
        return result

    def _convolved(self, n: int, at: Sequences, ends: Ends) -> list[Pass]:
        """Bluestein's convolution through global memory: chirp, transform, filter, transform back, chirp."""
        points = next_fast_len(2 * n - 1)
        dense = _dense(points, at)
        inside = Sequences(at.outer, at.beside, dense, dense, points, points)
        there = [
            replace(p, temporary=p.temporary or points * at.count)
            for p in self.passes(points, inside, Ends())
        ]
        multiply = Pass(
            "multiply",
            n,
            Schedule((points,), 1),
            (at.outer, 1, at.beside),
            _four(at.in_steps),
            _four(dense),
            at.in_n,
            points,
            load=ends.load,
            swap_in=ends.swap_in,
            table="chirp",
            temporary=points * at.count,
        )
        # Swapped, a forward transform is the inverse that the convolution needs.
        middle = replace(
            multiply,
            in_steps=_four(dense),
            in_n=points,
            load="complex",
            swap_in=False,
            swap_out=True,
            table="filter",
        )
        end = replace(
            multiply,
            in_steps=_four(dense),
            out_steps=_four(at.out_steps),
            in_n=n,
            out_n=at.out_n,
            load="complex",
            store=ends.store,
            swap_in=True,
            swap_out=ends.swap_out,
            scale=ends.scale,
            temporary=0,
        )
        return [multiply, *there, middle, *there, end]


def _four(steps: tuple[int, int, int]) -> tuple[int, int, int, int]:
    return steps[0], 0, steps[1], steps[2]


def _dense(n: int, at: Sequences) -> tuple[int, int, int]:
    """Steps of an intermediate of ``n`` points in the order of the input: rows or columns."""
    if at.in_steps[1] < at.in_steps[2]:
        return n * at.beside, 1, at.beside
    return n * at.beside, n, 1
