"""Selection networks for the median of a window that moves down an image: OpenCL C of clkernels/median.cl.

A window's rows are sorted; merged rows forget what can no longer be the median. Windows of ``tile`` rows of the result,
a power of two, share what they have in common: all rows of all of them first, then half of the windows each take in
those that these have in common, and so on to a single one. Rows are numbered so that windows begin at rows 1 … tile:
the groups of rows that are merged then begin at multiples of their size, and each serves several tiles.

Source: A. Adams, "Fast median filters using separable sorting networks", ACM Trans. Graph. 40(4), 2021: rows sorted
once, hierarchies of windows, lists cut to what can be the median. Networks: K. E. Batcher, "Sorting networks and their
applications", 1968.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

from .gpu import Source

_TILES = (1, 2, 4, 8)
_GAIN = 0.9  # of the operations, that a larger tile must save to be worth its code


@dataclass(frozen=True)
class Sorted:
    """A sorted list of values by their numbers: what is left of ``count`` of which ``low`` smaller ones are forgotten."""

    values: list[int]
    low: int
    count: int


class Network:
    """Minima and maxima of values, which are numbered in the order they come to be; only those asked for are written."""

    def __init__(self) -> None:
        self.made: list[str | tuple[str, int, int]] = []  # an input's expression, or MIN or MAX of two values

    def input(self, expression: str) -> int:
        """A value from outside."""
        self.made.append(expression)
        return len(self.made) - 1

    def _of(self, what: str, a: int, b: int) -> int:
        self.made.append((what, a, b))
        return len(self.made) - 1

    def sort(self, values: list[int]) -> list[int]:
        """Batcher's merge sort, of any number."""
        if len(values) < 2:
            return values
        half = 1 << ((len(values) - 1).bit_length() - 1)
        return self.merge(self.sort(values[:half]), self.sort(values[half:]))

    def merge(self, a: list[int], b: list[int]) -> list[int]:
        """Batcher's odd-even merge of two sorted lists; what lists of a power of two would have more is left out."""
        reach = 1 << (max(len(a), len(b), 1) - 1).bit_length()
        first, end = reach - len(a), reach + len(b)  # the lists meet in the middle of 2 · reach places
        places = [-1] * first + a + b
        distance, starts = reach, range(0, 1)
        while distance:
            for start in starts:
                for i in range(max(start, first), min(start + distance, end - distance)):
                    low, high = places[i], places[i + distance]
                    places[i], places[i + distance] = self._of("MIN", low, high), self._of("MAX", low, high)
            distance //= 2
            starts = range(distance, 2 * reach - distance, max(1, 2 * distance))
        return places[first:]

    def select(self, a: list[int], b: list[int], rank: int) -> int:
        """The value of ``rank`` 0 … in the union of two sorted lists: the least that is not below rank + 1 of them."""
        found = -1
        for i in range(max(0, rank + 1 - len(b)), min(len(a), rank + 1) + 1):
            j = rank + 1 - i
            both = a[i - 1] if j == 0 else b[j - 1] if i == 0 else self._of("MAX", a[i - 1], b[j - 1])
            found = both if found < 0 else self._of("MIN", found, both)
        return found

    def needed(self, results: list[int]) -> list[int]:
        """The values that the results are made from, in order."""
        seen, left = set(results), list(results)
        while left:
            made = self.made[left.pop()]
            if isinstance(made, tuple):
                new = set(made[1:]) - seen
                seen |= new
                left += new
        return sorted(seen)


@dataclass(frozen=True)
class Step:
    """What to do for the next ``tile`` rows of the result: with as many new rows, and groups of earlier ones, held."""

    height: int  # of the window
    width: int
    tile: int

    @property
    def blocks(self) -> int:
        """Of ``tile`` rows each, that windows reach into, before the newest."""
        return (self.tile + self.height - 1) // self.tile

    def _cut(self, values: list[int], low: int, count: int) -> Sorted:
        """A sorted list without what cannot be the median."""
        size = self.height * self.width
        middle = size // 2
        first, end = max(low, middle - (size - count)), min(count, middle + 1)
        return Sorted(values[first - low : max(first, end) - low], first, count)

    @cached_property
    def network(self) -> tuple[Network, list[int], list[int]]:
        """The network, its results (``tile`` medians) and what is to be held next."""
        network = Network()
        groups: dict[tuple[int, int], Sorted] = {}
        held: list[tuple[int, int]] = []  # groups from before, by their first row and number of rows
        newest = self.blocks * self.tile

        def group(first: int, rows: int) -> Sorted:
            if (first, rows) not in groups:
                groups[first, rows] = make(first, rows)
            return groups[first, rows]

        def make(first: int, rows: int) -> Sorted:
            if first < newest:
                held.append((first, rows))
                left = self._cut([0] * (rows * self.width), 0, rows * self.width)
                return Sorted([network.input("") for _ in left.values], left.low, left.count)
            if rows == 1:
                taken = [network.input(f"LOAD({first - newest}, {k})") for k in range(self.width)]
                return self._cut(network.sort(taken), 0, self.width)
            return union(group(first, rows // 2), group(first + rows // 2, rows // 2))

        def union(a: Sorted, b: Sorted) -> Sorted:
            return self._cut(network.merge(a.values, b.values), a.low + b.low, a.count + b.count)

        def rows(first: int, end: int) -> Sorted:
            parts = []
            while first < end:
                size = min(first & -first, self.tile, 1 << ((end - first).bit_length() - 1))
                parts.append(group(first, size))
                first += size
            while len(parts) > 1:
                a, b, *rest = sorted(parts, key=lambda part: part.count)
                parts = [union(a, b), *rest]
            return parts[0]

        def medians(first: int, windows: int, common: Sorted) -> list[int]:
            half, end = windows // 2, first + self.height + 1
            if not half:
                return common.values
            above, below = rows(first + half, first + windows), rows(end, end + half)
            if half > 1:
                return medians(first, half, union(common, above)) + medians(first + half, half, union(common, below))
            rank = self.height * self.width // 2 - common.low
            return [network.select(common.values, more.values, rank - more.low) for more in (above, below)]

        results = medians(0, self.tile, rows(self.tile, self.height + 1))
        # A group moves up block by block, from the newest to where it is met last.
        last: dict[tuple[int, int], int] = {}
        for first, size in held:
            key = first % self.tile, size
            last[key] = min(last.get(key, self.blocks), first // self.tile)
        chains = [((o + q * self.tile), n) for (o, n), least in last.items() for q in range(least, self.blocks)]
        places = [value for first, size in chains for value in group(first, size).values]
        for place, value in enumerate(places):
            network.made[value] = f"held[{place}]"
        nexts = [value for first, size in chains for value in group(first + self.tile, size).values]
        return network, results, nexts

    @property
    def held(self) -> int:
        """How many values are kept from step to step."""
        return len(self.network[2])

    @property
    def operations(self) -> float:
        """Minima and maxima for a pixel of the result."""
        network, results, nexts = self.network
        return sum(isinstance(network.made[value], tuple) for value in network.needed(results + nexts)) / self.tile

    def source(self) -> Source:
        """The step as a function of median.cl."""
        network, results, nexts = self.network
        lines = ["static inline void step(const __local TYPE *lines, V *held, V *medians) {"]
        for value in network.needed(results + nexts):
            made = network.made[value]
            text = made if isinstance(made, str) else f"{made[0]}(v{made[1]}, v{made[2]})"
            lines.append(f"    V v{value} = {text};")
        lines += [f"    medians[{k}] = v{value};" for k, value in enumerate(results)]
        lines += [f"    held[{k}] = v{value};" for k, value in enumerate(nexts)]
        return Source("median_step", "\n".join([*lines, "}"]), once=True)


@cache
def best_step(height: int, width: int) -> Step:
    """Of the tiles that a window allows, that of the fewest operations."""
    steps = [Step(height, width, tile) for tile in _TILES if tile <= height]
    best = steps[0]
    for step in steps[1:]:
        if step.operations < _GAIN * best.operations:
            best = step
    return best
