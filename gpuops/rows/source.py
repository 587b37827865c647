"""Sources of a picture's rows: the picture, its file, and barriers, which keep all rows before they give the first one.

A spool keeps the rows. One that is transposed holds panels of columns, so that rows go there, and columns come from
there, in large pieces.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Executor
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from ..files import Strips
from ..image import Image, Part
from ..passes import Slabbed, Turn
from ..pixels.coding import Decoding
from ..pixels.turns import upright
from ..plan import prepared
from ..space import LIGHT, Space, Stored
from .blocks import Shape, rows_at_once
from .schedule import RowSchedule, ScheduledStep
from .threads import Writing, read_ahead, rows_ahead

if TYPE_CHECKING:
    from ..gpu import Gpu
    from .spool import Spool

Array = npt.NDArray[Any]


class RowSource(Protocol):
    """The rows of a picture, which may be asked for several times."""

    @property
    def decoding(self) -> Decoding | None:
        """How the pixels are to be read; None: they are planes."""

    def __call__(self, at_once: int, wanted: tuple[int, int], /) -> Generator[Image, None, None]:
        """Gives blocks of ``at_once`` bytes of planes, which have all rows (first, end) that are ``wanted``."""


@dataclass
class WholePicture:
    """A picture on the device, which is one block, an Image without a ``part``; and how its pixels are to be read."""

    image: Image
    decoding: Decoding


#: What the first step of a segment reads.
Source = RowSource | WholePicture


@dataclass
class RowsOfFile:
    """The rows of a file, which are read by a thread of the ``pool``, a block ahead.

    Attributes
    ----------
    gpu : Gpu
    strips : Strips
    shape : (planes, height, width)
    decoding : Decoding
    load : callable
        ``(pixels)`` → these rows of the file on the device.
    pool : Executor
    look : callable, optional
        ``(pixels, first)``: looks at the rows from ``first`` on as they come.
    """

    gpu: Gpu
    strips: Strips
    shape: Shape
    decoding: Decoding
    load: Callable[[Array], Image]
    pool: Executor
    look: Callable[[Array, int], object] = lambda _pixels, _first: None

    def __call__(self, at_once: int, wanted: tuple[int, int]) -> Generator[Image, None, None]:
        """Gives blocks of pixels."""
        rows, height = rows_at_once(self.shape, at_once), self.shape[1]
        with closing(rows_ahead(self.gpu, self.pool, self.strips, rows)) as blocks:
            for first, block in blocks:
                end = first + len(block)
                if end <= wanted[0]:
                    continue
                self.look(block, first)
                given = [self.load(block)]
                del block
                given[0].part = Part(first, height)
                yield given.pop()  # whose memory belongs to the caller
                if end >= wanted[1]:
                    return


@dataclass
class Barrier(ABC):
    """A segment's end, which keeps planes in a spool.

    Attributes
    ----------
    segment : RowSchedule
        What comes before the barrier, which is its end.
    spool : Spool
    pool : Executor
        Its threads read and write the spool.
    """

    segment: RowSchedule
    spool: Spool
    pool: Executor
    _alpha: bool = field(init=False, default=False)
    _space: Space = field(init=False, default=LIGHT)
    _orientation: int | None = field(init=False, default=None)
    #: There is nothing to decode: it gives planes.
    decoding: ClassVar[None] = None

    @property
    def gpu(self) -> Gpu:
        """The device."""
        return self.segment.gpu

    @property
    def end(self) -> ScheduledStep:
        """The step that the barrier is."""
        assert self.segment.end is not None
        return self.segment.end

    @property
    def shape(self) -> Shape:
        """The shape of its result."""
        return self.end.result

    def fill(self, images: Iterable[Image | Stored]) -> None:
        """Keeps planes, each Image with its ``part``."""
        writing = Writing(self.pool)
        for image in images:
            assert isinstance(image, Image) and image.part is not None
            self._note(image)
            writing.put(partial(self.spool.put_block, image.part.first, image.numpy()))
        writing.wait()

    def __call__(self, at_once: int, wanted: tuple[int, int]) -> Generator[Image, None, None]:
        """Gives blocks of planes, as a :class:`RowSource` does."""
        count, height = rows_at_once(self.shape, at_once), self.shape[1]
        places = self._places(count, wanted)
        with closing(read_ahead(self.gpu, self.pool, map(self._read, places))) as ahead:
            for at, read in zip(places, ahead, strict=True):
                first = at.start
                for image in self._made(read, count):
                    image.part, image.owned = Part(first, height), True
                    first += image.shape[1]
                    yield image
                    del image  # whose memory is free while the next are made

    def _places(self, count: int, wanted: tuple[int, int]) -> list[slice]:
        """Returns the rows of the result that are read at a time: ``count`` rows of those that are ``wanted``."""
        first, end = wanted
        return [slice(at, min(at + count, end)) for at in range(max(first, 0), end, count)]

    @abstractmethod
    def _read(self, at: slice) -> Any:
        """Returns what the spool has for these rows of the result."""

    @abstractmethod
    def _made(self, read: Any, count: int) -> Iterator[Image]:
        """Gives the rows of the result that are made of what was read, ``count`` at a time."""

    def _prepared(self, image: Image | Stored) -> Image:
        """Returns planes in the space that the barrier's step wants."""
        assert isinstance(image, Image)
        return prepared(self.gpu, image, self.end.step.traits, self.segment.plan)

    def _note(self, image: Image) -> None:
        """Keeps what planes are, beside their values."""
        self._alpha, self._space, self._orientation = image.alpha, image.space, image.orientation

    def _labelled(self, image: Image) -> Image:
        """Returns planes as what they were before."""
        image.alpha, image.space, image.orientation = self._alpha, self._space, self._orientation
        return image


@dataclass
class Turned(Barrier):
    """The rows of a turned picture: all rows before the turn leave the spool in their new order.

    Attributes
    ----------
    spool : Spool
        The picture before it is turned: planes, or with ``load`` a file's pixels, each one item (:func:`as_items`).
    turn : Turn
    load : callable, optional
        ``(lines)`` → the planes of a file's pixels, items (rows, columns).

    The rest is as for :class:`Barrier`.
    """

    turn: Turn = field(kw_only=True)
    load: Callable[[Array], Image] | None = None

    def fill_with_pixels(self, source: RowsOfFile, rows: int) -> None:
        """Keeps a file's pixels, so many rows at a time, and looks at them."""
        writing = Writing(self.pool)
        with closing(rows_ahead(self.gpu, self.pool, source.strips, rows)) as blocks:
            for first, pixels in blocks:
                writing.put(partial(self.spool.put_block, first, as_items(pixels)[None]))
                source.look(pixels, first)
        writing.wait()

    def _places(self, count: int, wanted: tuple[int, int]) -> list[slice]:
        if not self.turn.transposes:
            return super()._places(count, wanted)
        places = [self._turned(at, self.shape[1]) for at in self.spool.panels]
        places = places[:: -1 if self.turn.backwards else 1]
        return [at for at in places if at.stop > wanted[0] and at.start < wanted[1]]

    def _turned(self, at: slice, count: int) -> slice:
        """Returns where some of ``count`` rows are in the other order: of the result, or of what they are made of."""
        return slice(count - at.stop, count - at.start) if self.turn.backwards else at

    def _read(self, at: slice) -> Array:
        """Returns rows of the spool, or columns if they become rows: (planes, rows, columns)."""
        at = self._turned(at, self.shape[1])
        if not self.turn.transposes:
            return self.spool.block(at)
        count, rows, _ = self.spool.shape
        panels = [self.spool.panel(plane, at, rows) for plane in range(count)]
        return panels[0][None] if count == 1 else np.stack(panels)

    def _made(self, read: Array, count: int) -> Iterator[Image]:
        total = read.shape[2 if self.turn.transposes else 1]
        for start in range(0, total, count):
            at = self._turned(slice(start, min(start + count, total)), total)
            lines = read[:, :, at] if self.turn.transposes else read[:, at]
            image = self._labelled(self.gpu.array(lines)) if self.load is None else self.load(lines[0])
            image = upright(image, self.turn.orientation)
            image.orientation = self.turn.leaves or image.orientation
            yield image


@dataclass
class Collection(Barrier):
    """The rows of the result of a step that works on all of its input, in slabs of an image that the spool keeps.

    Attributes
    ----------
    spool : Spool
        The step's input, and then its result: planes, in one panel.
    slabbed : Slabbed
        The work.
    memory : int
        Bytes of the device's memory that the step may take.
    kept_in : callable
        ``(shape, dtype, stack)`` → a spool for an image on the way, which goes with the stack.

    The rest is as for :class:`Barrier`.
    """

    slabbed: Slabbed = field(kw_only=True)
    memory: int = field(kw_only=True)
    kept_in: Callable[[Shape, np.dtype[Any], ExitStack], Spool] = field(kw_only=True)

    def fill(self, images: Iterable[Image | Stored]) -> None:
        """Keeps planes, each Image with its ``part``, and does the step."""
        from ..tiles.ends import SpooledImage

        super().fill(map(self._prepared, images))
        with ExitStack() as stack:

            def made(shape: Shape, dtype: np.dtype[Any]) -> SpooledImage:
                return SpooledImage(self.gpu, self.kept_in(shape, dtype, stack))

            image = SpooledImage(self.gpu, self.spool, alpha=self._alpha)
            self.slabbed.work(image, self.memory, made)

    def _read(self, at: slice) -> Array:
        return self.spool.block(at)

    def _made(self, read: Array, count: int) -> Iterator[Image]:
        yield self._labelled(self.gpu.array(read))


def as_items(pixels: Array) -> Array:
    """Returns pixels (rows, columns, channels) as (rows, columns) items."""
    contiguous = np.ascontiguousarray(pixels)
    rows, columns, channels = pixels.shape
    item = np.dtype((np.void, channels * pixels.itemsize))
    return contiguous.reshape(rows, columns * channels).view(item)
