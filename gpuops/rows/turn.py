"""Rows of a turned picture: all rows before the turn go to a spool, and leave it in their new order.

A spool that is transposed holds panels of columns, so rows go there, and columns come from there, in large pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ..image import Image, Part
from ..pixels.turns import upright
from ..space import Stored
from .barrier import Barrier
from .schedule import rows_at_once
from .source import RowsOfFile
from .threads import Writing, read_ahead, rows_ahead

Array = npt.NDArray[Any]


@dataclass
class Turned(Barrier):
    """The rows of a turned picture.

    Attributes
    ----------
    spool : Spool
        The picture before it is turned: planes, or with ``load`` a file's pixels, each one item (:func:`as_items`).
    load : callable, optional
        ``(lines)`` → the planes of a file's pixels, items (rows, columns).

    The rest is as for :class:`Barrier`.
    """

    load: Callable[[Array], Image] | None = None

    def __post_init__(self) -> None:
        end = self.segment.end
        assert end is not None and end.turn is not None
        self.gpu, self.shape, self.turn = self.segment.gpu, end.result, end.turn

    def fill_with_pixels(self, source: RowsOfFile, rows: int) -> None:
        """Keeps a file's pixels, so many rows at a time, and looks at them."""
        writing = Writing(self.pool)
        with closing(rows_ahead(self.gpu, self.pool, source.strips, rows)) as blocks:
            for first, pixels in blocks:
                writing.put(partial(self.spool.put_block, first, as_items(pixels)[None]))
                source.look(pixels, first)
        writing.wait()

    def fill(self, images: Iterable[Image | Stored]) -> None:
        """Keeps planes, each Image with its ``part``."""
        self._keep(images)

    def __call__(self, at_once: int, wanted: tuple[int, int]) -> Generator[Image, None, None]:
        """Gives blocks of planes."""
        height = self.shape[1]
        rows = rows_at_once(self.shape, at_once)
        pieces = list(self._pieces(rows, wanted))
        lines = (self._lines(at) for _, at in pieces)
        with closing(read_ahead(self.gpu, self.pool, lines)) as ahead:
            for (first, _), found in zip(pieces, ahead, strict=True):
                for start in range(0, self._count(found), rows):
                    image = self._turned(self._some(found, start, rows))
                    image.part = Part(first + start, height)
                    yield image

    def _pieces(self, rows: int, wanted: tuple[int, int]) -> Iterator[tuple[int, slice]]:
        """Gives the first row of each piece of the turned picture, and the lines of the spool that it is made of."""
        height, first = self.shape[1], 0
        found = [slice(at, min(at + rows, height)) for at in range(0, height, rows)]
        if self.turn.transposes:
            found = self.spool.panels[:: -1 if self.turn.backwards else 1]
        elif self.turn.backwards:
            found = [slice(height - at.stop, height - at.start) for at in found]
        for at in found:
            end = first + at.stop - at.start
            if end > wanted[0] and first < wanted[1]:
                yield first, at
            first = end

    def _lines(self, at: slice) -> Array:
        """Returns rows of the spool, or columns if they become rows: (planes, rows, columns)."""
        if not self.turn.transposes:
            return self.spool.block(at)
        count, rows, _ = self.spool.shape
        panels = [self.spool.panel(plane, at, rows) for plane in range(count)]
        return panels[0][None] if count == 1 else np.stack(panels)

    def _count(self, lines: Array) -> int:
        """Returns how many rows of the turned picture these lines make."""
        return int(lines.shape[2 if self.turn.transposes else 1])

    def _some(self, lines: Array, start: int, count: int) -> Array:
        """Returns those lines that become the rows from ``start`` on."""
        stop = min(start + count, self._count(lines))
        if self.turn.backwards:
            start, stop = self._count(lines) - stop, self._count(lines) - start
        return lines[:, :, start:stop] if self.turn.transposes else lines[:, start:stop]

    def _turned(self, lines: Array) -> Image:
        """Returns rows of the turned picture."""
        if self.load is None:
            image = self.gpu.array(lines)
            self._labelled(image)
        else:
            image = self.load(lines[0])
        image = upright(image, self.turn.orientation)
        image.orientation, image.owned = self.turn.leaves or image.orientation, True
        return image


def as_items(pixels: Array) -> Array:
    """Returns pixels (rows, columns, channels) as (rows, columns) items."""
    contiguous = np.ascontiguousarray(pixels)
    rows, columns, channels = pixels.shape
    item = np.dtype((np.void, channels * pixels.itemsize))
    return contiguous.reshape(rows, columns * channels).view(item)
