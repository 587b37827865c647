"""Code and lists of merges by which clkernels/filters/median.cl finds the medians of a window that moves down an image.

A window's rows are sorted and merged; merged lists drop the values that can no longer be the median. The windows of
``tile`` neighbouring rows of the result (a power of two) share work. The rows that all of them contain are merged
first. Then each half of the windows adds the rows that its own windows have in common, and so on down to single
windows. Rows are numbered so that windows begin at rows 1 … tile: the groups of rows that are merged then begin at
multiples of their size, and each group serves several tiles.

:class:`Windows` does this. Small windows become straight-line code (:class:`Network`); larger ones become, on CPUs, a
list of merges (:class:`Merges`), whose code does not grow. (On GPUs clkernels/filters/median_histograms.cl takes larger
ones.)

Source: A. Adams, "Fast median filters using separable sorting networks", ACM Trans. Graph. 40(4), 2021: rows sorted
once, hierarchies of windows, lists cut to what can be the median. Merges: K. E. Batcher, "Sorting networks and their
applications", AFIPS 1968.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from ..gpu import GeneratedSource

# Windows that are taken together, at most.
LARGEST_TILE = 8
# It stands for the block number of lists in the memory of this step alone.
_HERE = -1
# It stands for the block number of a result.
_MEDIAN = -2
# A sorted list.
T = TypeVar("T")


class Maker(Protocol[T]):
    """Carries out the operations that :class:`Windows` asks for."""

    def held(self, first: int, rows: int, low: int, length: int) -> T:
        """A group of rows of an earlier block, which was merged and cut at that time; its list begins at ``low``."""

    def sorted_row(self, row: int) -> T:
        """One of the newest rows."""

    def merge(self, a: T, b: T, group: tuple[int, int] | None) -> T:
        """Both lists as one; ``group``: first row and number of rows, if the list is of newest rows alone."""

    def cut(self, values: T, first: int, end: int) -> T:
        """Values ``first`` … ``end`` of a list that was just made."""

    def select(self, a: T, b: T, rank: int, window: int) -> None:
        """The median of a window: the value of ``rank`` in both lists together."""


@dataclass(frozen=True)
class _Sorted(Generic[T]):
    """The part that is kept of ``count`` sorted values: ``length`` of them, after the ``low`` smallest."""

    values: T
    low: int
    length: int
    count: int


class Windows(Generic[T]):
    """The medians of ``tile`` windows below each other, from as many new rows and from groups of earlier ones.

    ``groups``: the groups of earlier rows that are used again, as first row and number of rows; ``blocks``: how many
    blocks of ``tile`` rows each, before the newest one, windows reach into.
    """

    def __init__(self, height: int, width: int, maker: Maker[T]) -> None:
        self.height = height
        self.width = width
        self.tile = tile_of(height)
        self.blocks = (self.tile + height - 1) // self.tile
        self.newest = self.blocks * self.tile  # the newest block's first row
        self.groups: list[tuple[int, int]] = []
        self._maker = maker
        self._made: dict[tuple[int, int], _Sorted[T]] = {}
        self._medians(0, self.tile, self._rows(self.tile, height + 1))
        # A group moves up block by block, so it must have been made of the newest rows.
        for first, rows in list(self.groups):
            self.group(self.newest + first % self.tile, rows)

    def group(self, first: int, rows: int) -> _Sorted[T]:
        """A group of rows, merged."""
        if (first, rows) not in self._made:
            self._made[first, rows] = self._make(first, rows)
        return self._made[first, rows]

    def _make(self, first: int, rows: int) -> _Sorted[T]:
        count = rows * self.width
        if first < self.newest:
            self.groups.append((first, rows))
            low, end = self._range(0, count, count)
            return _Sorted(self._maker.held(first, rows, low, end - low), low, end - low, count)
        if rows == 1:
            return self._cut(self._maker.sorted_row(first - self.newest), 0, self.width, count)
        halves = self.group(first, rows // 2), self.group(first + rows // 2, rows // 2)
        return self._union(*halves, (first, rows))

    def _range(self, low: int, end: int, count: int) -> tuple[int, int]:
        """Returns which of the ranks low … end, in a list of ``count`` values, may still become the median's."""
        size = self.height * self.width
        middle = size // 2
        first = max(low, middle - (size - count))
        return first, max(first, min(end, middle + 1))

    def _cut(self, values: T, low: int, length: int, count: int) -> _Sorted[T]:
        first, end = self._range(low, low + length, count)
        if (first, end) != (low, low + length):
            values = self._maker.cut(values, first - low, end - low)
        return _Sorted(values, first, end - first, count)

    def _union(self, a: _Sorted[T], b: _Sorted[T], group: tuple[int, int] | None = None) -> _Sorted[T]:
        both = self._maker.merge(a.values, b.values, group)
        return self._cut(both, a.low + b.low, a.length + b.length, a.count + b.count)

    def _rows(self, first: int, end: int) -> _Sorted[T]:
        parts = []
        while first < end:
            rows = min(first & -first, self.tile, 1 << ((end - first).bit_length() - 1))
            parts.append(self.group(first, rows))
            first += rows
        while len(parts) > 1:
            a, b, *rest = sorted(parts, key=lambda part: part.count)
            parts = [self._union(a, b), *rest]
        return parts[0]

    def _medians(self, first: int, windows: int, common: _Sorted[T]) -> None:
        half, end, rank = windows // 2, first + self.height + 1, self.height * self.width // 2
        if not half:  # a tile of one
            self._maker.select(common.values, self._maker.cut(common.values, 0, 0), rank - common.low, first)
            return
        for at, start in ((first, first + half), (first + half, end)):
            more = self._rows(start, start + half)
            if half > 1:
                self._medians(at, half, self._union(common, more))
            else:
                self._maker.select(common.values, more.values, rank - common.low - more.low, at)


def tile_of(height: int) -> int:
    """Returns how many windows of a height are taken together: the largest power of two up to (height + 1) / 2.

    It is LARGEST_TILE at most.
    """
    return min(LARGEST_TILE, 1 << ((height + 1) // 2).bit_length() - 1)


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

    def merge(self, a: list[int], b: list[int], group: object = None) -> list[int]:
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
        self.width = width
        self._medians: dict[int, int] = {}
        self._windows = windows = Windows(height, width, self)
        least: dict[tuple[int, int], int] = {}  # the oldest block in which a group is used
        for first, rows in windows.groups:
            key = first % windows.tile, rows
            least[key] = min(least.get(key, windows.blocks), first // windows.tile)
        chain = [
            (o + q * windows.tile, n) for (o, n), last in least.items() for q in range(last, windows.blocks)
        ]
        places = [value for first, rows in chain for value in windows.group(first, rows).values]
        for place, value in enumerate(places):
            self.made[value] = f"held[{place}]"
        self._next = [value for at, rows in chain for value in windows.group(at + windows.tile, rows).values]

    @property
    def held_values(self) -> int:
        """The number of values kept from step to step; at least 1, as an array cannot have none."""
        return max(1, len(self._next))

    @property
    def defines(self) -> dict[str, int]:
        """The defines that median.cl is built with."""
        return {"TILE": self._windows.tile, "BLOCKS": self._windows.blocks, "HELD": self.held_values}

    def source(self) -> GeneratedSource:
        """median.cl's function ``step``."""
        lines = ["static inline void step(const __local TYPE *lines, V *held, V *medians) {"]
        lines += self.lines([*self._medians.values(), *self._next])
        lines += [f"    medians[{window}] = v{value};" for window, value in self._medians.items()]
        lines += [f"    held[{place}] = v{value};" for place, value in enumerate(self._next)]
        return GeneratedSource("median_step", "\n".join([*lines, "}"]), once=True)

    def held(self, first: int, rows: int, low: int, length: int) -> list[int]:
        """A group of earlier rows, whose values get their places once all groups are known."""
        return [self.value("") for _ in range(length)]

    def sorted_row(self, row: int) -> list[int]:
        """One of the newest rows."""
        return self.sort([self.value(f"LOAD({row}, {k})") for k in range(self.width)])

    def cut(self, values: list[int], first: int, end: int) -> list[int]:
        """A part of the list."""
        return values[first:end]

    def select(self, a: list[int], b: list[int], rank: int, window: int) -> None:
        """The least of the maxima of the i-th value of a and the (rank + 1 − i)-th of b."""
        found = -1
        for i in range(max(0, rank + 1 - len(b)), min(len(a), rank + 1) + 1):
            j = rank + 1 - i
            both = a[i - 1] if j == 0 else b[j - 1] if i == 0 else self.value(("MAX", a[i - 1], b[j - 1]))
            found = both if found < 0 else self.value(("MIN", found, both))
        self._medians[window] = found


@cache
def network(height: int, width: int) -> Network:
    """The straight-line code for windows of a size."""
    return Network(height, width)


@dataclass
class _ListPlace:
    """A list in memory: in the block with the number ``block``, counted from the oldest, or _HERE."""

    block: int
    offset: int
    length: int


class Merges:
    """The merges of a step, each of two lists in memory.

    ``table`` (int32, merges × 10): block, offset and length of a and of b; block and offset of the result; ``first``
    and ``end`` of the part of it that is wanted. Blocks count from the oldest; −1 is memory of this step alone. For a
    median the result's block is −2, its offset the window and ``first`` the rank.
    Rows are sorted before: row t is at ``t * width`` of the newest block.
    """

    def __init__(self, height: int, width: int) -> None:
        self.width = width
        self._commands: list[list[int]] = []
        self._offsets: dict[tuple[int, int], int] = {}
        self._scratch = 0
        self.windows: Windows[_ListPlace]
        self._tile = tile_of(height)
        self._blocks = (self._tile + height - 1) // self._tile
        self.block = self._tile * width  # values of a block
        windows: Windows[_ListPlace] = Windows(height, width, self)
        assert (windows.tile, windows.blocks) == (self._tile, self._blocks)

    @property
    def table(self) -> npt.NDArray[np.int32]:
        return np.array(self._commands, np.int32)

    @property
    def defines(self) -> dict[str, int]:
        """The defines that median.cl is built with."""
        return {"TILE": self._tile, "BLOCKS": self._blocks, "BLOCK": self.block, "SCRATCH": self._scratch}

    @property
    def memory(self) -> int:
        """The number of values in memory: those of all blocks, and those of a step alone."""
        return (self._blocks + 1) * self.block + self._scratch

    def _offset(self, first: int, rows: int) -> int:
        key = first % self._tile, rows
        if rows == 1:
            return key[0] * self.width
        if key not in self._offsets:
            self._offsets[key] = self.block
            self.block += rows * self.width
        return self._offsets[key]

    # -- the methods of a Maker

    def held(self, first: int, rows: int, low: int, length: int) -> _ListPlace:
        return _ListPlace(first // self._tile, self._offset(first, rows) + low, length)

    def sorted_row(self, row: int) -> _ListPlace:
        return _ListPlace(self._blocks, row * self.width, self.width)

    def merge(self, a: _ListPlace, b: _ListPlace, group: tuple[int, int] | None) -> _ListPlace:
        if group is not None:
            result = _ListPlace(self._blocks, self._offset(*group), a.length + b.length)
        else:
            result = _ListPlace(_HERE, self._scratch, a.length + b.length)
            self._scratch += result.length
        self._command(a, b, result, 0, result.length)
        return result

    def _command(self, a: _ListPlace, b: _ListPlace, to: _ListPlace, first: int, end: int) -> None:
        places = (a.block, a.offset, a.length, b.block, b.offset, b.length, to.block, to.offset)
        self._commands.append([*places, first, end])

    def cut(self, values: _ListPlace, first: int, end: int) -> _ListPlace:
        self._commands[-1][-2:] = first, end
        return _ListPlace(values.block, values.offset + first, end - first)

    def select(self, a: _ListPlace, b: _ListPlace, rank: int, window: int) -> None:
        self._command(a, b, _ListPlace(_MEDIAN, window, 0), rank, 0)


@cache
def merges(height: int, width: int) -> Merges:
    """The list of merges for windows of a size."""
    return Merges(height, width)


@cache
def sorting(count: int) -> GeneratedSource:
    """The function ``sort_values`` of median.cl and median_histograms.cl."""
    values = _Values()
    results = values.sort([values.value(f"UNSORTED({k})") for k in range(count)])
    lines = ["static inline void sort_values(SORT_ARGUMENTS) {", *values.lines(results)]
    lines += [f"    SORTED({k}) = v{value};" for k, value in enumerate(results)]
    return GeneratedSource("sort_values", "\n".join([*lines, "}"]), once=True)
