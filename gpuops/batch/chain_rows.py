"""The rows of a chain: in sweeps over the file, and over spools that keep rows at barriers."""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import files, notes
from ..image import Image
from ..plan import planes
from ..rows import flow
from ..rows.footprint import Footprint, footprint
from ..rows.schedule import rows_at_once
from ..rows.source import RowsOfFile, WholePicture
from ..rows.spool import InMemory, Spool, in_scratch
from ..rows.turn import Turned, as_items
from . import whole as whole_picture
from .memory_promise import MemoryPromise, Spooled

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..plan import Step
    from ..rows.barrier import Barrier
    from ..rows.flow import Seen
    from ..rows.schedule import RowSchedule, Shape
    from ..rows.source import RowSource
    from ..space import Stored, Target
    from .item import FileReading, Item
    from .row_writer import Goal

    Done = Generator[Image | Stored, None, None]


@dataclass(frozen=True)
class ChainRows:
    """A chain on the rows of one input: its segments, one after the other.

    Attributes
    ----------
    item : Item
    schedule : RowSchedule
    strips : Strips
        The input.
    how : FileReading
        How its pixels are to be read.
    promise : MemoryPromise or None
        The memory of the segments; None: the picture is one block.
    """

    item: Item
    schedule: RowSchedule
    strips: files.Strips
    how: FileReading
    promise: MemoryPromise | None

    @property
    def segments(self) -> tuple[RowSchedule, ...]:
        """What is done one after the other: a picture that is one block needs no barriers."""
        return self.schedule.segments if self.promise is not None else (self.schedule,)

    @classmethod
    def of(
        cls,
        item: Item,
        schedule: RowSchedule,
        strips: files.Strips,
        how: FileReading,
        goals: list[Goal],
        *,
        whole: bool,
    ) -> ChainRows:
        """Returns the way to files, the ``goals``; ``whole``: as one block.

        Raises FileError or DeviceError before anything is read if there is too little room.
        """
        if whole:
            return cls(item, schedule, strips, how, None)
        picture, segments = strips.picture, schedule.segments
        fits = not whole_picture.is_too_large_for_device(schedule, picture)
        as_whole = item.budget.whole(whole_picture.largest_bytes(schedule, picture)) if fits else None
        promise = MemoryPromise(item, strips, segments, goals, as_whole)
        for number, segment in enumerate(segments):
            if segment.filter is not None:
                promise.at_once(number)
            elif segment.end is not None and segment.end.slabbed is not None:
                promise.slab_bytes(number)
            promise.block_bytes(number, segment)
        return cls(item, schedule, strips, how, promise)

    def results(self, pool: ThreadPoolExecutor, spools: ExitStack, seen: Seen) -> Done:
        """Gives the result's rows as :func:`gpuops.rows.flow.flow` does. Scratch files go with ``spools``."""
        source = self._source_of_last(pool, spools, seen)
        return self._done(len(self.segments) - 1, source, seen, self.item.output.target)

    def settled(
        self, pool: ThreadPoolExecutor, spools: ExitStack, enough: Callable[[Step], bool]
    ) -> RowSchedule:
        """Returns the last segment as :func:`gpuops.rows.flow.settled` does."""
        source = self._source_of_last(pool, spools, lambda _params, _image: None)
        return self._settled(len(self.segments) - 1, source, enough)

    def _source_of_last(self, pool: ThreadPoolExecutor, spools: ExitStack, seen: Seen) -> RowSource:
        """Does all segments but the last one, and returns what that one reads."""
        if self.promise is None:
            pixels = self.strips.picture.pixels
            self._look(pixels, 0)
            return WholePicture(self.item.on_device(pixels, self.how), self.how.decoding)
        file = RowsOfFile(
            self.item.gpu, self.strips, self.segments[0].shape, self.how.decoding, self._load, pool
        )
        source: RowSource = file
        before = ExitStack()
        for number in range(len(self.segments) - 1):
            after = spools.enter_context(ExitStack())
            made = self._barrier(number, pool, after)
            if isinstance(made, Turned) and made.load is not None:
                made.fill_with_pixels(replace(file, look=self._look), self._rows(number))
            else:
                made.fill(self._done(number, source, seen))
            before.close()  # the rows before that are not needed any more
            source, before = made, after
        return source

    def _barrier(self, number: int, pool: ThreadPoolExecutor, stack: ExitStack) -> Barrier:
        """Returns the turned, or filtered, result of a segment, before it is made."""
        assert self.promise is not None
        segment, kept = self.segments[number], self.promise.spools[number]
        assert segment.end is not None
        if (turn := segment.end.turn) is not None:
            width = self._rows(number + 1) if turn.transposes else kept.shape[2]
            spool = self._spool(kept, width, stack)
            return Turned(
                segment, spool, pool, load=self._planes if self.promise.keeps_pixels(number) else None
            )
        if segment.end.slabbed is not None:
            from ..rows.collection import Collection

            def kept_in(shape: Shape, dtype: np.dtype[Any], stack: ExitStack) -> Spool:
                return self._spool(kept._replace(shape=shape, dtype=dtype), shape[2], stack)

            spool, memory = self._spool(kept, kept.shape[2], stack), self.promise.slab_bytes(number)
            return Collection(segment, spool, pool, memory=memory, kept_in=kept_in)
        from ..rows.product import Filtered

        width, rows = self.promise.at_once(number)
        return Filtered(segment, self._spool(kept, width, stack), pool, rows=rows)

    def _spool(self, kept: Spooled, width: int, stack: ExitStack) -> Spool:
        """Returns a spool with panels of ``width`` columns. The stack removes its file, if it has one.

        It is empty, unless it keeps an input that is in memory. Raises FileError if the file cannot be made.
        """
        if kept.there:
            return InMemory(as_items(self.strips.picture.pixels)[None], width)
        if kept.in_memory:
            return InMemory(np.empty(kept.shape, kept.dtype), width)
        assert self.item.options.scratch is not None
        return stack.enter_context(in_scratch(self.item.options.scratch, kept.shape, kept.dtype, width))

    def _load(self, pixels: npt.NDArray[Any]) -> Image:
        """Returns rows of the file on the device."""
        return self.item.on_device(pixels, self.how)

    def _planes(self, lines: npt.NDArray[Any]) -> Image:
        """Returns the planes of pixels that a spool has kept as items."""
        dtype = self.item.origin.dtype
        assert dtype is not None
        pixels = np.ascontiguousarray(lines).view(dtype).reshape(*lines.shape, -1)
        return planes(self._load(pixels), self.how.decoding)

    def _look(self, pixels: npt.NDArray[Any], first: int) -> None:
        """Counts values of rows that are not finite and spoil the result."""
        if self._footprint is not None:
            self.item.look_at(pixels, self.how, self._footprint, first)

    @cached_property
    def _footprint(self) -> Footprint | None:
        """Where values that are not finite spoil the result. Integers are finite."""
        is_float = self.strips.picture.pixels.dtype.kind == "f"
        spreads = is_float and self.schedule.plan.reach(self.item.gpu, self.schedule.shape)
        return footprint(self.schedule) if spreads else None

    def _rows(self, number: int) -> int:
        """Returns how many rows a segment reads at a time."""
        segment = self.segments[number]
        return rows_at_once(segment.shape, self._block_bytes(number, segment))

    def _block_bytes(self, number: int, segment: RowSchedule) -> int:
        """Returns how many bytes of planes a segment of this number may have at a time; 0 where they are one block."""
        return self.promise.block_bytes(number, segment) if self.promise is not None else 0

    def _settled(
        self,
        number: int,
        source: RowSource,
        enough: Callable[[Step], bool] = lambda _step: False,
        target: Target | None = None,
    ) -> RowSchedule:
        """Returns a segment with all figures of the picture that its steps wait for."""
        of_blocks, whole = partial(self._block_bytes, number), self.promise is None
        return flow.settled(
            self.segments[number], source, source.decoding, of_blocks, target, enough=enough, whole=whole
        )

    def _done(self, number: int, source: RowSource, seen: Seen, target: Target | None = None) -> Done:
        """Does a segment, and gives the rows of its result."""
        gpu, options, whole = self.item.gpu, self.item.options, self.promise is None
        segment, at_once, needed = self.segments[number], 0, (0, 0)
        with notes.silence():  # the last sweep says all that there is to say
            if self.promise is not None:
                segment = self._settled(number, source, target=target)
                at_once, needed = self.promise.block_bytes(number, segment), segment.needed()
            sweep = partial(
                flow.flow, segment, decoding=source.decoding, target=target, at_once=at_once,
                whole=whole, fuse=options.fuse,
            )  # fmt: skip
            with notes.findings_to(lambda _finding: None):
                for _ in range(options.repeat - 1):
                    for result in sweep(source(at_once, needed)):
                        gpu.finish()
                        del result  # whose memory is free for the next run
        if isinstance(source, RowsOfFile):
            source = replace(source, look=self._look)
        with closing(source(at_once, needed)) as blocks:
            for result in sweep(blocks, seen=seen):
                if whole and gpu.report is not None:
                    gpu.finish()
                yield result
