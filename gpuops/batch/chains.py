"""The work of a chain on one input: its rows come, go through the steps, and are written.

Where there is room the whole picture is one block, and steps join as they can. Where there is none, rows come in
blocks, in sweeps over the file, and over spools that keep rows at barriers.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .. import notes, plan
from ..chain import Chain
from ..files import operands
from ..files.strips import Strips
from ..image import Image
from ..notes import Finding
from ..operation import Params, operation_of
from ..plan import Plan, Step
from ..process import memory as host_memory
from ..records import dataclass
from ..rows import flow
from ..rows.blocks import Shape, rows_at_once
from ..rows.flow import Seen
from ..rows.footprint import Footprint, footprint
from ..rows.schedule import RowSchedule
from ..rows.source import Barrier, Collection, RowsOfFile, Source, Turned, WholePicture, as_items
from ..rows.spool import InMemory, Spool, new_spool
from ..space import Stored, Target
from . import memory
from .memory import MemoryPromise, Spooled
from .row_writer import Goal, RowWriter, WholeWriter, goals_of

if TYPE_CHECKING:
    from .item import FileReading, Item

    Done = Generator[Image | Stored, None, None]

# A limit of this many bytes leaves room for the gaps between blocks that were freed. To give such blocks back, and get
# new pages for others, takes half as long again as a bloom of 1.2 gigapixels.
_AMPLE = 10**9


def work(item: Item, chain: Chain, asides: Sequence[str]) -> list[Finding]:
    """Reads the input, does the chain, and writes the result; ``asides`` are the paths of what is written before.

    Returns what the steps have found.
    """
    findings: list[Finding] = []
    if not asides and all(operation_of(step).identity(step) for step in chain) and item.is_copy:
        item.copy()
        return findings
    with _opened(item, chain) as opened, notes.findings_to(findings.append):
        _write(opened, asides, findings)
    if item.gpu.report is not None:
        item.gpu.report.results += [{"input": item.path, **finding.figures} for finding in findings]
    return findings


@dataclass(frozen=True)
class Measuring:
    """Work that measures an input for the last step of a chain, and writes nothing.

    The parameters of that step depend on all inputs together: :class:`~gpuops.operation.Together`.
    """

    chain: Chain

    def __call__(self, item: Item) -> Params:
        """Returns the step's parameters with what was measured."""
        *before, last = self.chain
        together = operation_of(last).together(last)
        assert together is not None
        steps = (params for params in before if not operation_of(params).writes)

        def enough(step: Step) -> bool:
            return isinstance(step.params, type(last)) and together.known(step.params)

        silent = notes.to(lambda _text: None)  # the work says all that there is to say
        with silent, _opened(item, Chain(*steps, together.alone)) as opened:
            way = opened.to([])
            with (
                ExitStack() as spools,
                ThreadPoolExecutor(2) as pool,
                item.naming(),
                item.gpu.phase("compute"),
            ):
                return way.settled(pool, spools, enough).plan.steps[-1].params


@contextmanager
def _opened(item: Item, chain: Chain) -> Iterator[ChainRows]:
    """Opens the input for work on it as a whole, or by rows where there is no room for that."""
    todo = plan.plan(chain, item.options.space, item.options.light)
    strips = item.opened()
    picture = strips.picture
    how = item.how(picture, linear=todo.linear, premultiply=todo.premultiplied, data=True)
    item.output = replace(item.output, keeps_range=todo.keeps_range)
    todo = todo.settled(item.output)
    with item.naming():
        orientation, frame = picture.metadata.orientation, picture.frame
        shape, shrunk = memory.shape_of(picture, how), picture.shrunk
        schedule = RowSchedule.of(item.gpu, todo, shape, orientation, frame, shrunk=shrunk)
        beside = 0
        if item.options.memory is not None:
            beside = operands.largest_beside(step.params for step in todo.steps)
        large = (
            not (strips.in_memory or item.budget.has_room(item.budget.whole(memory.nbytes_of(picture))))
            or memory.is_too_large(schedule, picture, item.budget)
            or not item.budget.has_room(item.budget.whole(beside))
        )
        # Rows of a picture for which there is room come once, or it comes as a whole.
        once = not strips.in_memory and schedule.takes_rows_once
        obstacle = _obstacle(item, schedule) if large or once else None
    if (large or once) and obstacle is None:
        yield ChainRows(item, schedule, strips, how, whole=False)
        return
    if large and obstacle is not None:
        largest = max(beside, memory.largest_bytes(schedule, picture))
        item.budget.check_whole(largest, f"{obstacle} needs the whole picture")

    def words() -> str | None:
        step = _obstacle(item, schedule)
        return None if step is None else f"{step} needs the whole picture"

    with memory.needing(item.gpu, words, partial(memory.device_bytes, schedule, picture)):
        picture = item.whole(strips, obstacle or "this work")
        item.output = item.output.of(replace(item.output.origin, metadata=picture.metadata))
        yield ChainRows(item, schedule, Strips.of(picture), how, whole=True)


def _obstacle(item: Item, schedule: RowSchedule) -> str | None:
    """Returns what needs the whole picture, in words, or None: a step, or that a turn is not to be left to viewers."""
    orientation = schedule.orientation
    for at in schedule.steps:
        if at.step.operation.writes and orientation != 1:
            break
        orientation = (at.turn and at.turn.leaves) or orientation
    tilted = item.options.strip and orientation != 1
    return schedule.obstacle or ("turning it upright for --strip" if tilted else None)


def _write(opened: ChainRows, asides: Sequence[str], findings: Sequence[Finding]) -> None:
    """Does the steps, and writes the results; ``asides`` are the paths of the steps that write on the way.

    The steps put what they find into ``findings``: the shifts, by which positions in metadata follow.
    """
    item, gpu, schedule, strips = opened.item, opened.item.gpu, opened.schedule, opened.strips
    if by := schedule.shrunk and schedule.shrunk.by:
        notes.finding(f"is decoded at 1/{by} of its size", {"shrunk_on_load": by}, detail=True)
    if not opened.whole and min(item.options.memory or _AMPLE, gpu.memory or _AMPLE) < _AMPLE:
        host_memory.give_back()
    strips.tell()
    prepare(item, schedule.plan)
    shifts = any(at.step.operation.shifts for at in schedule.steps)
    with notes.silence() if shifts else nullcontext():
        goals = goals_of(item, schedule, asides)
    way = opened.to(goals)
    said: dict[str, None] = {}  # each block may say the same
    with (
        ExitStack() as spools,
        ThreadPoolExecutor(2 + len(goals)) as pool,
        item.naming(),
        gpu.phase("compute"),
        notes.to(said.setdefault),
        notes.summed(),
        ExitStack() as open_,
    ):
        writers = [
            WholeWriter(goal.output) if opened.whole else RowWriter(goal.output, goal.shape[1], pool)
            for goal in goals
        ]
        for writer in reversed(writers):  # so that the first one is finished first
            open_.enter_context(writer)
        of_steps = {id(goal.params): number for number, goal in enumerate(goals)}

        def put(number: int, result: Image | Stored) -> None:
            writer = writers[number]
            if shifts:  # such steps need the whole picture
                known = schedule.shifted(one.figures["shift"] for one in findings if "shift" in one.figures)
                writer.output = goals_of(item, known, asides)[number].output
            writer.put(writer.output.file_pixels(result))

        def seen(params: Params, image: Image) -> None:
            if (number := of_steps.get(id(params))) is not None:
                put(number, image)

        with closing(way.results(pool, spools, seen)) as results:
            for result in results:
                put(len(goals) - 1, result)
    for text in said:
        _note(item, text, goals)
    for writer in writers:
        writer.warn()
    item.warn_of_spread(partial(schedule.plan.reach, gpu, schedule.shape))


def prepare(item: Item, todo: Plan) -> None:
    """Checks the output of an input that is known, and prepares the steps."""
    display = any(step.traits.display for step in todo.steps)
    item.output.check(display=display)
    with item.naming():
        cuts_hdr = not display and item.output.cuts_hdr
    if cuts_hdr:
        item.output.note("HDR is cut at white: tonemap it, or name a format, or --gain-map, that holds it")
    for step in todo.steps:
        step.operation.prepare(item.gpu, step.params, item.output if step is todo.steps[-1] else None)


def _note(item: Item, text: str, goals: list[Goal]) -> None:
    """Passes on a note, which names a file, or comes from an operation, which knows none."""
    names = (item.path, *(goal.output.path for goal in goals), "stdout")
    if any(text.startswith(f"{name}: ") for name in names):
        notes.note(text)
    else:
        item.note(text)


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
    whole : bool
        Whether the picture is one block.
    promise : MemoryPromise, optional
        The memory of the segments, if it is not.
    """

    item: Item
    schedule: RowSchedule
    strips: Strips
    how: FileReading
    whole: bool
    promise: MemoryPromise | None = None

    @property
    def segments(self) -> tuple[RowSchedule, ...]:
        """What is done one after the other: a picture that is one block needs no barriers."""
        return (self.schedule,) if self.whole else self.schedule.segments

    def to(self, goals: list[Goal]) -> ChainRows:
        """Returns the way to files, the ``goals``.

        Raises FileError or DeviceError before anything is read if there is too little room.
        """
        if self.whole:
            return self
        item, schedule, picture, segments = self.item, self.schedule, self.strips.picture, self.segments
        fits = not memory.is_too_large_for_device(schedule, picture)
        as_whole = item.budget.whole(memory.largest_bytes(schedule, picture)) if fits else None
        promise = MemoryPromise(item, self.strips, segments, goals, as_whole)
        for number, segment in enumerate(segments):
            if segment.filter is not None:
                promise.at_once(number)
            elif segment.end is not None and segment.end.slabbed is not None:
                promise.slab_bytes(number)
            promise.block_bytes(number, segment)
        return replace(self, promise=promise)

    def results(self, pool: ThreadPoolExecutor, spools: ExitStack, seen: Seen) -> Done:
        """Gives the result's rows as :func:`gpuops.rows.flow.flow` does. Scratch files go with ``spools``."""
        source = self._source_of_last(pool, spools, seen)
        display = any(at.step.traits.display for at in self.schedule.steps)
        target = self.item.output.target(display=display)
        return self._done(len(self.segments) - 1, source, seen, target)

    def settled(
        self, pool: ThreadPoolExecutor, spools: ExitStack, enough: Callable[[Step], bool]
    ) -> RowSchedule:
        """Returns the last segment as :func:`gpuops.rows.flow.settled` does."""
        source = self._source_of_last(pool, spools, lambda _params, _image: None)
        return self._settled(len(self.segments) - 1, source, enough)

    def _source_of_last(self, pool: ThreadPoolExecutor, spools: ExitStack, seen: Seen) -> Source:
        """Does all segments but the last one, and returns what that one reads."""
        if self.whole:
            pixels = self.strips.picture.pixels
            self._look(pixels, 0)
            return WholePicture(self.item.on_device(pixels, self.how), self.how.decoding)
        shape, load = self.segments[0].shape, partial(self.item.on_device, how=self.how)
        file = RowsOfFile(self.item.gpu, self.strips, shape, self.how.decoding, load, pool)
        source: Source = file
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
            load = self._planes if self.promise.keeps_pixels(number) else None
            return Turned(segment, spool, pool, turn=turn, load=load)
        if (slabbed := segment.end.slabbed) is not None:

            def kept_in(shape: Shape, dtype: np.dtype[Any], stack: ExitStack) -> Spool:
                return self._spool(kept._replace(shape=shape, dtype=dtype), shape[2], stack)

            spool, memory = self._spool(kept, kept.shape[2], stack), self.promise.slab_bytes(number)
            return Collection(segment, spool, pool, slabbed=slabbed, memory=memory, kept_in=kept_in)
        from ..rows.product import Filtered

        spectral = segment.end.spectral
        assert spectral is not None
        width, rows = self.promise.at_once(number)
        return Filtered(segment, self._spool(kept, width, stack), pool, spectral=spectral, rows=rows)

    def _spool(self, kept: Spooled, width: int, stack: ExitStack) -> Spool:
        """Returns a spool with panels of ``width`` columns. The stack removes its file, if it has one.

        It is empty, unless it keeps an input that is in memory. Raises FileError if the file cannot be made.
        """
        if kept.there:
            return InMemory(as_items(self.strips.picture.pixels)[None], width)
        folder = None if kept.in_memory else self.item.options.scratch
        return new_spool(stack, folder, kept.shape, kept.dtype, width)

    def _planes(self, lines: npt.NDArray[Any]) -> Image:
        """Returns the planes of pixels that a spool has kept as items."""
        dtype = self.item.origin.dtype
        assert dtype is not None
        pixels = np.ascontiguousarray(lines).view(dtype).reshape(*lines.shape, -1)
        return plan.planes(self.item.on_device(pixels, self.how), self.how.decoding)

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
        source: Source,
        enough: Callable[[Step], bool] = lambda _step: False,
    ) -> RowSchedule:
        """Returns a segment with all figures of the picture that its steps wait for."""
        of_blocks = partial(self._block_bytes, number)
        return flow.settled(self.segments[number], source, of_blocks, enough=enough)

    def _done(self, number: int, source: Source, seen: Seen, target: Target | None = None) -> Done:
        """Does a segment, and gives the rows of its result."""
        gpu, options = self.item.gpu, self.item.options
        with notes.silence():  # the last sweep says all that there is to say
            segment = self.segments[number] if self.whole else self._settled(number, source)
            at_once = self._block_bytes(number, segment)
            sweep = partial(flow.flow, segment, target=target, at_once=at_once, fuse=options.fuse)
            with notes.findings_to(lambda _finding: None):
                for _ in range(options.repeat - 1):
                    for result in sweep(source):
                        gpu.finish()
                        del result  # whose memory is free for the next run
        if isinstance(source, RowsOfFile):
            source = replace(source, look=self._look)
        with closing(sweep(source, seen=seen)) as results:
            for result in results:
                if self.whole and gpu.report is not None:
                    gpu.finish()
                yield result
