"""Rows of a file that are still needed, while others come."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .picture import Pixels


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
