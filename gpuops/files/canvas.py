"""Pictures on another data window: what they lack there is black, and transparent where there is alpha."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..errors import FileError
from ..params.moves import Frame
from .picture import Picture, Pixels

# Rows that are made at a time where there are no pixels.
_ROWS = 64
# The pixels that a window may have, and how many times those that there are, if these are more.
_PIXELS, _TIMES = 1 << 28, 64


class Canvas:
    """The rows of a data window, as those of another one come; both are of the same display window.

    Raises FileError for one that has many times the pixels of the other.
    """

    def __init__(self, of: Frame, on: Frame, name: str = "a picture") -> None:
        if on.columns * on.rows > max(_PIXELS, _TIMES * of.columns * of.rows):
            raise FileError(
                f"{name}: has {of.columns} × {of.rows} pixels in a window of {on.columns} × {on.rows}: crop it first"
            )
        self._of, self._on = of, on
        self._next, self._made = of.y, on.y

    def take(self, rows: Pixels) -> Iterator[Pixels]:
        """Gives what is known of the window with the next rows of pixels."""
        first, self._next = self._next, self._next + len(rows)
        yield from self._blank(first, rows)
        start, end = max(first, self._made), min(self._next, self._on.y + self._on.rows)
        if start >= end:
            return
        self._made = end
        if (self._of.x, self._of.columns) == (self._on.x, self._on.columns):
            yield rows[start - first : end - first]
            return
        left, right = (
            max(self._of.x, self._on.x),
            min(self._of.x + self._of.columns, self._on.x + self._on.columns),
        )
        made = self._empty(end - start, rows)
        if left < right:
            there = rows[start - first : end - first, left - self._of.x : right - self._of.x]
            made[:, left - self._on.x : right - self._on.x] = there
        yield made

    def rest(self, rows: Pixels) -> Iterator[Pixels]:
        """Gives the rows below the last ones that came; ``rows``: some that came."""
        return self._blank(self._on.y + self._on.rows, rows)

    def _blank(self, end: int, rows: Pixels) -> Iterator[Pixels]:
        """Gives rows without pixels up to one."""
        end = min(end, self._on.y + self._on.rows)
        while self._made < end:
            count = min(_ROWS, end - self._made)
            self._made += count
            yield self._empty(count, rows)

    def _empty(self, count: int, rows: Pixels) -> Pixels:
        return np.zeros((count, self._on.columns, rows.shape[2]), rows.dtype)

    def laid(self, blocks: Iterator[Pixels]) -> Iterator[Pixels]:
        """Gives the rows of the window; ``blocks`` are the rows of pixels, of which there is one at least."""
        for rows in blocks:
            yield from self.take(rows)
        yield from self.rest(rows)


def framed(picture: Picture, frame: Frame) -> Picture:
    """Returns the picture with another frame."""
    return replace(picture, metadata=replace(picture.metadata, frame=None if frame.usual else frame))
