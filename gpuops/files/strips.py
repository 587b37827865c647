"""Pictures that are read from the top, some rows at a time, where they would take too much memory as a whole."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from .. import notes
from ..params.moves import Frame
from .canvas import Canvas, framed
from .picture import Picture, Pixels, filled, in_blocks, unread
from .read_errors import reading
from .streams import with_text_name
from .threads import Ahead

#: The most bytes of pixels, or numbers, that a byte of a file holds, as far as that is plausible.
DENSEST = 2000

# A picture read and written as a whole takes this many times its bytes of memory.
COPIES = 3

#: ``(count)`` → the pixels of rows from the top on, of about so many rows at a time.
Rows = Callable[[int], Iterator[Pixels]]
#: ``(path, count)`` → the same rows, of the file at a path.
RowsOf = Callable[[str, int], Iterator[Pixels]]


class NeedsWholeFile(Exception):
    """A large file has to be read as a whole. The text says what it is: "is interlaced".

    Attributes
    ----------
    pixels : ndarray
        An array without memory that stands for the picture's pixels.
    """

    def __init__(self, reason: str, pixels: Pixels) -> None:
        super().__init__(reason)
        self.pixels = pixels


@dataclass(frozen=True)
class Strips:
    """A picture whose pixels come row by row, as often as somebody asks.

    Attributes
    ----------
    picture : Picture
        All but its pixels, for which an array without memory stands, unless they are ``in_memory``.
    rows : callable
        ``(count)`` → iterator over arrays (rows, width, channels) from the top on, of about ``count`` rows each.
    least : int
        Rows that come together at least, as those of tiles do.
    said : tuple of str
        What a person should know of how the file is read.
    in_memory : bool
        Whether the picture's pixels are there.
    held : int
        Bytes of memory that they take then, or would take once they are asked for.
    """

    picture: Picture
    rows: Rows
    least: int = 1
    said: tuple[str, ...] = ()
    in_memory: bool = False
    held: int = 0

    @classmethod
    def of(cls, picture: Picture) -> Strips:
        """Returns the rows of a picture that is in memory."""
        return cls(picture, partial(in_blocks, picture.pixels), in_memory=True, held=picture.pixels.nbytes)

    def on(self, frame: Frame, name: str = "a picture") -> Strips:
        """Returns the picture on another data window of its display window. Raises what :class:`Canvas` does."""
        picture = self.picture
        if picture.frame == frame:
            return self
        shape = frame.rows, frame.columns, picture.channels
        header = framed(replace(picture, pixels=unread(shape, picture.pixels.dtype)), frame)
        if self.in_memory:
            blocks = Canvas(picture.frame, frame, name).laid(iter((picture.pixels,)))
            return Strips.of(replace(header, pixels=filled(np.empty(shape, picture.pixels.dtype), blocks)))

        def rows(count: int) -> Iterator[Pixels]:
            return Canvas(picture.frame, frame, name).laid(self.rows(count))

        return Strips(header, rows, self.least, self.said)

    def begun(self, count: int, nbytes: int) -> tuple[Strips, Ahead[Pixels]]:
        """Returns the picture, whose rows a thread reads from now on until so many bytes wait, and what to close then.

        It reads ``count`` rows at a time, and only for whoever asks first.
        """
        block = count * self.picture.pixels[0].nbytes
        begun = [first := Ahead(self.rows(count), nbytes // block)]
        rows = self.rows
        return replace(self, rows=lambda count: begun.pop() if begun else rows(count)), first

    def tell(self) -> Strips:
        """Notes what is ``said``, once it is known that the file is read by rows, and returns the rows."""
        for text in self.said:
            notes.note(text)
        return self


def open_rows(
    path: str, layer: str | int | None, most: int, *, strict: bool = False, layers: bool = False
) -> Strips | None:
    """Opens a picture by rows if it takes more than ``most`` bytes of memory as a whole.

    ``layers``: with all other channels of an EXR file.

    Raises NeedsWholeFile if it does, but cannot be read by rows. Unless ``strict``, files that are so small that their
    pixels are hardly more are not asked.
    """
    if os.path.getsize(path) * DENSEST <= most and not strict:
        return None
    from .pictures import format_in

    fmt = format_in(path)
    fmt.check_layer(layer, path)
    if not fmt.read_rows:
        with with_text_name(path) as text:
            pixels = fmt.pixels_in(text)
        if pixels is not None and pixels.nbytes * COPIES > most:
            raise NeedsWholeFile(f"{fmt} is read as a whole", pixels)
        return None
    said: list[str] = []
    read_rows = (fmt.read_all_rows if layers and layer is None else None) or fmt.read_rows
    with notes.to(said.append), reading(path), with_text_name(path) as text:
        opened = read_rows(text, layer, most)
    if opened is None:
        return None
    picture, rows_of, least = opened

    def rows(count: int) -> Iterator[Pixels]:
        with reading(path), with_text_name(path) as text:
            yield from rows_of(text, count)

    return Strips(picture, rows, least, tuple(said))


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

    def clear(self) -> None:
        """Frees the rows that were returned last, once no more are needed."""
        self._held = self._held[:0].copy()

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
