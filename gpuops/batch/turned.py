"""Rows of a turned picture: all rows before the turn go to a spool, and leave it in their new order.

A spool that is transposed holds panels of columns, so rows go there, and columns come from there, in large pieces.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..image import Image, Part
from ..pixels.turns import upright
from ..plan import planes
from ..space import LIGHT, Space, Stored
from ..tiles import course
from ..tiles.spool import InMemory, Spool, in_scratch
from .behind import Behind
from .read_ahead import read_ahead, rows_ahead

if TYPE_CHECKING:
    from .. import files
    from ..operation import Turn
    from ..tiles.course import Shape
    from ..tiles.place import Place
    from .item import FileReading, Item
    from .memory_promise import Spooled

Array = npt.NDArray[Any]


def spool_of(kept: Spooled, item: Item, strips: files.Strips, width: int, stack: ExitStack) -> Spool:
    """Returns a spool with panels of ``width`` columns. The stack removes its file, if it has one.

    It is empty, unless it keeps an input that is in memory. Raises FileError if the file cannot be made.
    """
    if kept.there:
        return InMemory(_as_items(strips.picture.pixels)[None], width)
    if kept.in_memory:
        return InMemory(np.empty(kept.shape, kept.dtype), width)
    assert item.options.scratch is not None
    return stack.enter_context(in_scratch(item.options.scratch, kept.shape, kept.dtype, width))


@dataclass
class Turned:
    """The rows of a turned picture, as the input of a leg.

    Attributes
    ----------
    item : Item
    spool : Spool
        The picture before it is turned: planes, or with a ``how`` the file's pixels, each one item.
    turn : Turn
    shape : (planes, height, width)
        That of the turned picture.
    pool : ThreadPoolExecutor
        Its threads read and write the spool.
    how : FileReading, optional
        How the file's pixels are to be read.
    """

    item: Item
    spool: Spool
    turn: Turn
    shape: Shape
    pool: ThreadPoolExecutor
    how: FileReading | None = None
    _alpha: bool = False
    _space: Space = LIGHT
    _orientation: int | None = None
    #: There is nothing to decode: it gives planes.
    decoding: ClassVar[None] = None

    def fill_with_pixels(self, strips: files.Strips, rows: int, place: Place | None) -> None:
        """Keeps a file's pixels, so many rows at a time, and looks at those in the ``place``."""
        assert self.how is not None
        writing = Behind(self.pool)
        with closing(rows_ahead(self.item.gpu, self.pool, strips, rows)) as ahead:
            for first, pixels in ahead:
                self._put(writing, first, _as_items(pixels)[None])
                if place is not None:
                    self.item.look_at(pixels, self.how, place, first)
        writing.wait()

    def fill(self, images: Iterable[Image | Stored]) -> None:
        """Keeps planes, each Image with its ``part``."""
        writing = Behind(self.pool)
        for image in images:
            assert isinstance(image, Image) and image.part is not None
            self._alpha, self._space, self._orientation = image.alpha, image.space, image.orientation
            self._put(writing, image.part.first, image.numpy())
        writing.wait()

    def _put(self, writing: Behind, first: int, values: Array) -> None:
        def put() -> None:
            for plane, rows in enumerate(values):
                self.spool.put_rows(plane, first, rows)

        writing.put(put)

    def __call__(self, at_once: int, wanted: tuple[int, int] | None = None) -> Generator[Image, None, None]:
        """Gives blocks of ``at_once`` bytes of planes, which have all rows that are ``wanted``."""
        height = self.shape[1]
        rows = course.rows(self.shape, at_once)
        pieces = list(self._pieces(rows, wanted or (0, height)))
        lines = (self._lines(at) for _, at in pieces)
        with closing(read_ahead(self.item.gpu, self.pool, lines)) as ahead:
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
        count, rows, _ = self.spool.shape
        if self.turn.transposes:
            found = [self.spool.panel(plane, at, rows) for plane in range(count)]
        else:
            found = [self.spool.rows(plane, at) for plane in range(count)]
        return found[0][None] if count == 1 else np.stack(found)

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
        if self.how is None:
            image = self.item.gpu.array(lines)
            image.alpha, image.space, image.orientation = self._alpha, self._space, self._orientation
        else:
            dtype = self.item.origin.dtype
            assert dtype is not None
            pixels = np.ascontiguousarray(lines[0]).view(dtype).reshape(*lines.shape[1:], -1)
            image = planes(self.item.on_device(pixels, self.how), self.how.decoding)
        image = upright(image, self.turn.orientation)
        image.orientation, image.owned = self.turn.leaves or image.orientation, True
        return image


def _as_items(pixels: Array) -> Array:
    """Returns pixels (rows, columns, channels) as (rows, columns) items."""
    contiguous = np.ascontiguousarray(pixels)
    rows, columns, channels = pixels.shape
    item = np.dtype((np.void, channels * pixels.itemsize))
    return contiguous.reshape(rows, columns * channels).view(item)
