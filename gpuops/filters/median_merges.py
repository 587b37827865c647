"""Code and lists of merges by which clkernels/filters/median.cl finds the medians of a window that moves down an image.

A window's rows are sorted and merged; merged lists drop the values that can no longer be the median. The windows of
``tile`` neighbouring rows of the result (a power of two) share work. The rows that all of them contain are merged
first. Then each half of the windows adds the rows that its own windows have in common, and so on down to single
windows. Rows are numbered so that windows begin at rows 1 … tile: the groups of rows that are merged then begin at
multiples of their size, and each group serves several tiles.

:class:`Merges` lists what is to be merged. On CPUs larger windows are computed by that list, whose code does not grow;
of small windows' lists :class:`Network` makes straight-line code. (On GPUs clkernels/filters/median_histograms.cl takes
larger ones.)

Source: A. Adams, "Fast median filters using separable sorting networks", ACM Trans. Graph. 40(4), 2021: rows sorted
once, hierarchies of windows, lists cut to what can be the median. Merges: K. E. Batcher, "Sorting networks and their
applications", AFIPS 1968.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import numpy.typing as npt

from ..gpu import GeneratedSource
from ..records import dataclass

# Windows that are taken together, at most.
LARGEST_TILE = 8
# It stands for the block number of lists in the memory of this step alone.
_HERE = -1
# It stands for the block number of a result.
_MEDIAN = -2


@dataclass(frozen=True)
class _Sorted:
    """The part that is kept of ``count`` sorted values: ``length`` of them, after the ``low`` smallest.

    They are in memory, in the block with the number ``block``, or _HERE, from ``offset`` on.
    """

    block: int
    offset: int
    low: int
    length: int
    count: int

    @property
    def place(self) -> tuple[int, int, int]:
        """Block, offset and length."""
        return self.block, self.offset, self.length


class Merges:
    """The merges of a step, each of two lists in memory. They give the medians of ``tile`` windows below each other.

    They take as many new rows, and groups of earlier ones. ``blocks``: how many blocks of ``tile`` rows each, before
    the newest one, windows reach into. ``block``: the values of a block. ``scratch``: those of a step alone.

    ``commands``: for each merge block, offset and length of a and of b; block and offset of the result; ``first``
    and ``end`` of the part of it that is wanted. Blocks count from the oldest; −1 is memory of this step alone. For a
    median the result's block is −2, its offset the window and ``first`` the rank.
    Rows are sorted before: row t is at ``t * width`` of the newest block.
    """

    def __init__(self, height: int, width: int) -> None:
        self.height = height
        self.width = width
        # The largest power of two up to (height + 1) / 2.
        self.tile = min(LARGEST_TILE, 1 << ((height + 1) // 2).bit_length() - 1)
        self.blocks = (self.tile + height - 1) // self.tile
        self.block = self.tile * width
        self.scratch = 0
        self.commands: list[tuple[int, ...]] = []
        self._offsets: dict[tuple[int, int], int] = {}
        self._made: dict[tuple[int, int], _Sorted] = {}
        self._medians(0, self.tile, self._rows(self.tile, height + 1))
        # A group moves up block by block, so it must have been made of the newest rows.
        for first, rows in list(self._made):
            self._group(self.blocks * self.tile + first % self.tile, rows)

    @property
    def table(self) -> npt.NDArray[np.int32]:
        """The commands as median.cl takes them, int32 (merges, 10)."""
        return np.array(self.commands, np.int32)

    @property
    def defines(self) -> dict[str, int]:
        """The defines that median.cl is built with."""
        return {"TILE": self.tile, "BLOCKS": self.blocks, "BLOCK": self.block, "SCRATCH": self.scratch}

    @property
    def memory(self) -> int:
        """The number of values in memory: those of all blocks, and those of a step alone."""
        return (self.blocks + 1) * self.block + self.scratch

    def _group(self, first: int, rows: int) -> _Sorted:
        """A group of rows, merged. Those of earlier blocks were merged and cut at their time."""
        if (first, rows) not in self._made:
            self._made[first, rows] = self._make(first, rows)
        return self._made[first, rows]

    def _make(self, first: int, rows: int) -> _Sorted:
        (block, row), count = divmod(first, self.tile), rows * self.width
        if block == self.blocks and rows > 1:
            halves = self._group(first, rows // 2), self._group(first + rows // 2, rows // 2)
            return self._union(*halves, (block, self._offset(row, rows)))
        low, end = self._range(0, count, count)
        return _Sorted(block, self._offset(row, rows) + low, low, end - low, count)

    def _offset(self, row: int, rows: int) -> int:
        """The place of a group in its block, in which ``row`` is its first one."""
        if rows == 1:
            return row * self.width
        if (row, rows) not in self._offsets:
            self._offsets[row, rows] = self.block
            self.block += rows * self.width
        return self._offsets[row, rows]

    def _range(self, low: int, end: int, count: int) -> tuple[int, int]:
        """Returns which of the ranks low … end, in a list of ``count`` values, may still become the median's."""
        size = self.height * self.width
        middle = size // 2
        first = max(low, middle - (size - count))
        return first, max(first, min(end, middle + 1))

    def _union(self, a: _Sorted, b: _Sorted, to: tuple[int, int] | None = None) -> _Sorted:
        """Both lists as one, at the block and offset ``to``, or in the memory of this step alone."""
        low, length, count = a.low + b.low, a.length + b.length, a.count + b.count
        block, offset = to or (_HERE, self.scratch)
        if to is None:
            self.scratch += length
        first, end = self._range(low, low + length, count)
        self.commands.append((*a.place, *b.place, block, offset, first - low, end - low))
        return _Sorted(block, offset + first - low, first, end - first, count)

    def _rows(self, first: int, end: int) -> _Sorted:
        parts = []
        while first < end:
            rows = min(first & -first, self.tile, 1 << ((end - first).bit_length() - 1))
            parts.append(self._group(first, rows))
            first += rows
        while len(parts) > 1:
            a, b, *rest = sorted(parts, key=lambda part: part.count)
            parts = [self._union(a, b), *rest]
        return parts[0]

    def _medians(self, first: int, windows: int, common: _Sorted) -> None:
        half, end = windows // 2, first + self.height + 1
        if not half:  # a tile of one
            self._select(common, replace(common, low=0, length=0), first)
            return
        for at, start in ((first, first + half), (first + half, end)):
            more = self._rows(start, start + half)
            if half > 1:
                self._medians(at, half, self._union(common, more))
            else:
                self._select(common, more, at)

    def _select(self, a: _Sorted, b: _Sorted, window: int) -> None:
        rank = self.height * self.width // 2 - a.low - b.low
        self.commands.append((*a.place, *b.place, _MEDIAN, window, rank, 0))


class _Values:
    """Straight-line code: inputs, minima and maxima, numbered in the order they come to be."""

    def __init__(self) -> None:
        self.made: list[str | tuple[str, int, int]] = []  # an input's expression, or MIN or MAX of two values

    def value(self, made: str | tuple[str, int, int]) -> int:
        self.made.append(made)
        return len(self.made) - 1

    def sort(self, values: list[int]) -> list[int]:
        """Batcher's merge sort of any number of values."""
        if len(values) < 2:
            return values
        half = 1 << ((len(values) - 1).bit_length() - 1)
        return self.merge(self.sort(values[:half]), self.sort(values[half:]))

    def merge(self, a: list[int], b: list[int]) -> list[int]:
        """Batcher's odd-even merge of two sorted lists, without the steps that only longer lists would need."""
        reach = 1 << (max(len(a), len(b)) - 1).bit_length()
        first, end = reach - len(a), reach + len(b)  # the lists meet in the middle of 2 · reach places
        places = [-1] * first + a + b
        distance, starts = reach, range(1)
        while distance:
            for start in starts:
                for i in range(max(start, first), min(start + distance, end - distance)):
                    low, high = places[i], places[i + distance]
                    places[i], places[i + distance] = (
                        self.value(("MIN", low, high)),
                        self.value(("MAX", low, high)),
                    )
            distance //= 2
            starts = range(distance, 2 * reach - distance, max(1, 2 * distance))
        return places[first:]

    def lines(self, results: list[int]) -> list[str]:
        """The statements that the results depend on, and no others."""
        seen, left = set(results), list(results)
        while left:
            made = self.made[left.pop()]
            if isinstance(made, tuple):
                new = set(made[1:]) - seen
                seen |= new
                left += new
        texts = []
        for value in sorted(seen):
            made = self.made[value]
            text = made if isinstance(made, str) else f"{made[0]}(v{made[1]}, v{made[2]})"
            texts.append(f"    V v{value} = {text};")
        return texts


class Network(_Values):
    """A whole step as straight-line code."""

    def __init__(self, height: int, width: int) -> None:
        super().__init__()
        self._merges = merges = Merges(height, width)
        oldest: dict[int, int] = {}  # the oldest block in which a place is read
        for *lists, _, _, _, _ in merges.commands:
            for block, offset, length in (lists[:3], lists[3:]):
                if 0 <= block < merges.blocks:
                    oldest |= {at: min(oldest.get(at, block), block) for at in range(offset, offset + length)}
        held = [(block, at) for at, first in oldest.items() for block in range(first, merges.blocks)]
        memory = {place: self.value(f"held[{number}]") for number, place in enumerate(held)}
        for row in range(merges.tile):
            values = self.sort([self.value(f"LOAD({row}, {k})") for k in range(width)])
            memory |= {(merges.blocks, row * width + k): value for k, value in enumerate(values)}
        self._medians: dict[int, int] = {}
        for *lists, block, offset, first, end in merges.commands:
            a, b = (
                [memory[of, at] for at in range(start, start + length)]
                for of, start, length in (lists[:3], lists[3:])
            )
            if block == _MEDIAN:
                self._medians[offset] = self._selected(a, b, first)
            else:
                memory |= {(block, offset + at): value for at, value in enumerate(self.merge(a, b)[:end])}
        self._next = [memory[block + 1, at] for block, at in held]

    @property
    def held_values(self) -> int:
        """The number of values kept from step to step; at least 1, as an array cannot have none."""
        return max(1, len(self._next))

    @property
    def defines(self) -> dict[str, int]:
        """The defines that median.cl is built with."""
        return {"TILE": self._merges.tile, "BLOCKS": self._merges.blocks, "HELD": self.held_values}

    def source(self) -> GeneratedSource:
        """median.cl's function ``step``."""
        lines = ["static inline void step(const __local TYPE *lines, V *held, V *medians) {"]
        lines += self.lines([*self._medians.values(), *self._next])
        lines += [f"    medians[{window}] = v{value};" for window, value in self._medians.items()]
        lines += [f"    held[{place}] = v{value};" for place, value in enumerate(self._next)]
        return GeneratedSource("median_step", "\n".join([*lines, "}"]), once=True)

    def _selected(self, a: list[int], b: list[int], rank: int) -> int:
        """The value of ``rank`` in both lists: the least of the maxima of a's i-th and b's (rank + 1 − i)-th."""
        least = -1
        for i in range(max(0, rank + 1 - len(b)), min(len(a), rank + 1) + 1):
            j = rank + 1 - i
            both = a[i - 1] if j == 0 else b[j - 1] if i == 0 else self.value(("MAX", a[i - 1], b[j - 1]))
            least = both if least < 0 else self.value(("MIN", least, both))
        return least


#: The list of merges for windows of a (height, width), and the straight-line code.
merges, network = cache(Merges), cache(Network)


@cache
def sorting(count: int) -> GeneratedSource:
    """The function ``sort_values`` of median.cl and median_histograms.cl."""
    values = _Values()
    results = values.sort([values.value(f"UNSORTED({k})") for k in range(count)])
    lines = ["static inline void sort_values(SORT_ARGUMENTS) {", *values.lines(results)]
    lines += [f"    SORTED({k}) = v{value};" for k, value in enumerate(results)]
    return GeneratedSource("sort_values", "\n".join([*lines, "}"]), once=True)
