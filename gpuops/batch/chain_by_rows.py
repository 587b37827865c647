"""A chain that is done by rows: in sweeps over the file, and over spools that keep rows to be turned or filtered."""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypeAlias

from .. import files, notes
from ..image import Image, Part
from ..operation import Spectral, Turn
from ..tiles import course, flow
from ..tiles.legs import legs
from ..tiles.place import Place, needed
from .memory_promise import MemoryPromise
from .read_ahead import rows_ahead
from .turned import Turned, spool_of

if TYPE_CHECKING:
    from ..pixels.coding import Decoding
    from ..plan import Plan, Step
    from ..space import Stored, Target
    from ..tiles.course import Shape
    from ..tiles.flow import Seen
    from .filtered import Filtered
    from .item import FileReading, Item
    from .row_writer import Goal

    Done = Generator[Image | Stored, None, None]
    Source: TypeAlias = "FileSweeps | Turned | Filtered"


@dataclass
class FileSweeps:
    """Sweeps over the rows of a picture, which are read in another thread, a block ahead.

    ``place``: where values that are not finite are counted.
    """

    item: Item
    strips: files.Strips
    how: FileReading
    pool: ThreadPoolExecutor
    place: Place | None = None

    @property
    def decoding(self) -> Decoding | None:
        """How the pixels are to be read."""
        return self.how.decoding

    def __call__(self, at_once: int, wanted: tuple[int, int] | None = None) -> Generator[Image, None, None]:
        """Gives blocks of ``at_once`` bytes of planes, which have all rows that are ``wanted``."""
        picture = self.strips.picture
        wanted = wanted or (0, picture.height)
        rows = course.rows(shape_of(picture, self.how), at_once)
        with closing(rows_ahead(self.item.gpu, self.pool, self.strips, rows)) as ahead:
            for first, block in ahead:
                if first + len(block) <= wanted[0]:
                    continue
                if self.place is not None:
                    self.item.look_at(block, self.how, self.place, first)
                image = self.item.on_device(block, self.how)
                image.part = Part(first, picture.height)
                yield image
                if first + len(block) >= wanted[1]:
                    return


@dataclass(frozen=True)
class ChainByRows:
    """A plan that is done by rows: its legs, one after the other.

    Attributes
    ----------
    item : Item
    todo : Plan
    strips : Strips
        The input.
    how : FileReading
        How its pixels are to be read.
    promise : MemoryPromise
        The memory of the legs.
    """

    item: Item
    todo: Plan
    strips: files.Strips
    how: FileReading
    promise: MemoryPromise

    @classmethod
    def of(
        cls,
        item: Item,
        todo: Plan,
        strips: files.Strips,
        how: FileReading,
        goals: list[Goal],
        as_whole: float | None = None,
    ) -> ChainByRows:
        """Divides a plan into legs; ``goals`` are the files that are written.

        ``as_whole``: bytes of memory in which the work could be done on the whole picture, or None if it cannot.

        Raises FileError or DeviceError before anything is read if there is too little room.
        """
        picture = strips.picture
        found = legs(item.gpu, todo, shape_of(picture, how), picture.metadata.orientation)
        promise = MemoryPromise(item, strips, found, goals, as_whole)
        for number, leg in enumerate(found):
            if isinstance(leg.end, Spectral):
                promise.at_once(number)
            promise.block_bytes(number, leg.of(todo))
        return cls(item, todo, strips, how, promise)

    def results(self, pool: ThreadPoolExecutor, spools: ExitStack, seen: Seen) -> Done:
        """Gives the result's rows as :func:`gpuops.tiles.flow.flow` does. Scratch files go with ``spools``."""
        source = self._source_of_last(pool, spools, seen)
        return self._done(len(self.promise.legs) - 1, source, seen, self.item.output.target)

    def settled(self, pool: ThreadPoolExecutor, spools: ExitStack, enough: Callable[[Step], bool]) -> Plan:
        """Returns the plan of the last leg as :func:`gpuops.tiles.flow.settled` does."""
        source = self._source_of_last(pool, spools, lambda _params, _image: None)
        return self._settled(len(self.promise.legs) - 1, source, enough)

    def _source_of_last(self, pool: ThreadPoolExecutor, spools: ExitStack, seen: Seen) -> Source:
        """Does all legs but the last one, and returns what that one reads."""
        source: Source = FileSweeps(self.item, self.strips, self.how, pool)
        before = ExitStack()
        for number in range(len(self.promise.legs) - 1):
            after = spools.enter_context(ExitStack())
            made = self._made(number, pool, after)
            if isinstance(made, Turned) and made.how is not None:
                made.fill_with_pixels(self.strips, self._rows(number), self._place)
            else:
                made.fill(self._done(number, source, seen))
            before.close()  # the rows before that are not needed any more
            source, before = made, after
        return source

    def _made(self, number: int, pool: ThreadPoolExecutor, stack: ExitStack) -> Turned | Filtered:
        """Returns the turned, or filtered, result of a leg, before it is made."""
        end = self.promise.legs[number].end
        assert end is not None
        return (
            self._turned(number, end, pool, stack)
            if isinstance(end, Turn)
            else self._filtered(number, end, pool, stack)
        )

    def _turned(self, number: int, turn: Turn, pool: ThreadPoolExecutor, stack: ExitStack) -> Turned:
        after, kept = self.promise.legs[number + 1], self.promise.spools[number]
        width = self._rows(number + 1) if turn.transposes else kept.shape[2]
        spool = spool_of(kept, self.item, self.strips, width, stack)
        how = self.how if self.promise.keeps_pixels(number) else None
        return Turned(self.item, spool, turn, after.shape, pool, how)

    def _filtered(self, number: int, end: Spectral, pool: ThreadPoolExecutor, stack: ExitStack) -> Filtered:
        from .filtered import Filtered

        leg, kept = self.promise.legs[number], self.promise.spools[number]
        width, rows = self.promise.at_once(number)
        spool = spool_of(kept, self.item, self.strips, width, stack)
        assert leg.last is not None
        return Filtered(self.item.gpu, spool, end, leg.last, self.todo, leg.result, rows, pool)

    @cached_property
    def _place(self) -> Place | None:
        """Where values that are not finite spoil the result."""
        if not self.todo.spreads:
            return None
        picture = self.strips.picture
        return needed(self.item.gpu, self.todo, shape_of(picture, self.how), picture.metadata.orientation)

    def _rows(self, number: int) -> int:
        """Returns how many rows a leg reads at a time."""
        leg = self.promise.legs[number]
        return course.rows(leg.shape, self.promise.block_bytes(number, leg.of(self.todo)))

    def _settled(
        self,
        number: int,
        source: Source,
        enough: Callable[[Step], bool] = lambda _step: False,
        target: Target | None = None,
    ) -> Plan:
        """Returns the plan of a leg with all figures of the picture that its steps wait for."""
        gpu, leg = self.item.gpu, self.promise.legs[number]
        room = partial(self.promise.block_bytes, number)
        return flow.settled(
            gpu, leg.of(self.todo), source, source.decoding, leg.shape, room, target, enough=enough
        )

    def _done(self, number: int, source: Source, seen: Seen, target: Target | None = None) -> Done:
        """Does a leg, and gives the rows of its result."""
        gpu, shape = self.item.gpu, self.promise.legs[number].shape
        with notes.silence():  # the last sweep says all that there is to say
            todo = self._settled(number, source, target=target)
            at_once = self.promise.block_bytes(number, todo)
            needed = course.course(gpu, todo, shape)[0].needed
            for _ in range(self.item.options.repeat - 1):
                blocks = source(at_once, needed)
                for _ in flow.flow(gpu, todo, blocks, source.decoding, shape, target, at_once=at_once):
                    gpu.finish()
        if isinstance(source, FileSweeps):
            source = replace(source, place=self._place)
        with closing(source(at_once, needed)) as blocks:
            yield from flow.flow(
                gpu, todo, blocks, source.decoding, shape, target, seen=seen, at_once=at_once
            )


def shape_of(picture: files.Picture, how: FileReading | None = None) -> Shape:
    """Returns (planes, height, width)."""
    dropped = how is not None and how.drops_alpha
    return picture.channels - dropped, picture.height, picture.width
