"""Windows on the rows of files: some rows at a time, with neighbours, also of several files side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from .picture import Pixels


class RowPlace(NamedTuple):
    """The place of an array of rows in a picture of ``height`` rows.

    The array begins with row ``first``. Its rows ``start`` to ``stop`` are worked on; the others are their neighbours.
    """

    first: int
    start: int
    stop: int
    height: int

    def span(self, above: int, below: int) -> tuple[int, int]:
        """Returns the first row, and the one after the last, with so many neighbours above and below."""
        return max(0, self.start - above), min(self.height, self.stop + below)

    @property
    def counted(self) -> slice:
        """Where rows ``start`` to ``stop`` are in the array."""
        return slice(self.start - self.first, self.stop - self.first)


def abreast(
    sources: Sequence[Iterator[Pixels]], height: int, rows: int, above: int = 0, below: int = 0
) -> Iterator[tuple[RowPlace, tuple[Pixels, ...]]]:
    """Gives ``rows`` rows at a time of each source, and as neighbours up to so many rows above and below them.

    A source gives arrays of any numbers of rows, ``height`` rows in all.
    """
    windows = [Window(source) for source in sources]
    for start in range(0, height, rows):
        place = RowPlace(start, start, min(height, start + rows), height)
        first, end = place.span(above, below)
        yield place._replace(first=first), tuple(window.rows(first, end) for window in windows)


class Window:
    """The rows of a source that are still needed.

    Attributes
    ----------
    first : int
        The first row that is there.
    """

    def __init__(self, source: Iterator[Pixels]) -> None:
        self.first = 0
        self._source = source
        self._held: Pixels = np.empty(0)

    def rows(self, first: int, end: int) -> Pixels:
        """Returns rows, none of which comes before those of the last time."""
        blocks, at = [self._held[first - self.first :]], self.first + len(self._held)
        while at < end:
            block = next(self._source)
            at += len(block)
            blocks = [*blocks, block] if at > first else []
        parts = [block for block in blocks if len(block)]
        held = parts[0] if len(parts) == 1 else np.concatenate(parts)
        self.first, self._held = first, held[len(held) - (at - first) :]
        return self._held[: end - first]
