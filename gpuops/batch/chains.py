"""The work of a chain on one input: its rows come, go through the steps, and are written.

Where there is room the whole picture is one block, and steps join as they can. Where there is none, rows come in
blocks, and are kept at barriers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from .. import notes, plan
from ..chain import Chain
from ..files import operands
from ..files.strips import Strips
from ..operation import operation_of
from ..process import heap
from ..rows.schedule import RowSchedule
from . import whole
from .chain_rows import ChainRows
from .row_writer import Goal, RowWriter, WholeWriter, goals_of

if TYPE_CHECKING:
    from ..image import Image
    from ..notes import Finding
    from ..operation import Params
    from ..plan import Plan, Step
    from .item import FileReading, Item

# A limit of this many bytes leaves room for the gaps between blocks that were freed. To give such blocks back, and get
# new pages for others, takes half as long again as a bloom of 1.2 gigapixels.
_AMPLE = 10**9


def work(item: Item, chain: Chain, asides: Sequence[str]) -> list[Finding]:
    """Reads the input, does the chain, and writes the result; ``asides`` are the paths of what is written before.

    Returns what the steps have found.
    """
    findings: list[Finding] = []
    with _opened(item, chain) as opened, notes.findings_to(findings.append):
        _write(item, opened, asides)
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
            way = _way(item, opened, [])
            with (
                ExitStack() as spools,
                ThreadPoolExecutor(2) as pool,
                item.naming(),
                item.gpu.phase("compute"),
            ):
                return way.settled(pool, spools, enough).plan.steps[-1].params


@dataclass(frozen=True)
class Opened:
    """An input, and the schedule of a chain for it; ``whole``: as one block."""

    schedule: RowSchedule
    strips: Strips
    how: FileReading
    whole: bool


@contextmanager
def _opened(item: Item, chain: Chain) -> Iterator[Opened]:
    """Opens the input for work on it as a whole, or by rows where there is no room for that."""
    todo = plan.plan(chain, item.options.space, item.options.light)
    found = item.opened()
    picture = found.picture if isinstance(found, Strips) else found
    how = item.how(picture, linear=todo.linear, premultiply=todo.premultiplied)
    item.output = replace(item.output, keeps_range=todo.keeps_range)
    todo = todo.settled(item.output)
    with item.naming():
        operands.check_places(picture, ((step.params, step.traits.kind) for step in todo.steps))
        schedule = RowSchedule.of(item.gpu, todo, whole.shape_of(picture, how), picture.metadata.orientation)
        beside = 0
        if item.options.memory is not None:
            beside = operands.largest_beside(step.params for step in todo.steps)
        large = (
            isinstance(found, Strips)
            or whole.is_too_large(schedule, picture, item.budget)
            or not item.budget.has_room(item.budget.whole(beside))
        )
        obstacle = _obstacle(item, schedule) if large else None
    if large and obstacle is None:
        yield Opened(schedule, found if isinstance(found, Strips) else Strips.of(picture), how, whole=False)
        return
    if obstacle is not None:
        largest = max(beside, whole.largest_bytes(schedule, picture))
        item.budget.check_whole(largest, f"{obstacle} needs the whole picture")

    def words() -> str | None:
        step = _obstacle(item, schedule)
        return None if step is None else f"{step} needs the whole picture"

    with whole.needing(item.gpu, words, partial(whole.device_bytes, schedule, picture)):
        if isinstance(found, Strips):
            picture = item.whole(found, obstacle or "this work")
        yield Opened(schedule, Strips.of(picture), how, whole=True)


def _obstacle(item: Item, schedule: RowSchedule) -> str | None:
    """Returns what needs the whole picture, in words, or None: a step, or that a turn is not to be left to viewers."""
    orientation = schedule.orientation
    for at in schedule.steps:
        if at.step.operation.writes and orientation != 1:
            break
        orientation = (at.turn and at.turn.leaves) or orientation
    tilted = item.options.strip and orientation != 1
    return schedule.obstacle or ("turning it upright for --strip" if tilted else None)


def _way(item: Item, opened: Opened, goals: list[Goal]) -> ChainRows:
    """Returns the way of the rows to some files."""
    return ChainRows.of(item, opened.schedule, opened.strips, opened.how, goals, whole=opened.whole)


def _write(item: Item, opened: Opened, asides: Sequence[str]) -> None:
    """Does the steps, and writes the results; ``asides`` are the paths of the steps that write on the way."""
    gpu, schedule, strips = item.gpu, opened.schedule, opened.strips
    if not opened.whole and min(item.options.memory or _AMPLE, gpu.memory or _AMPLE) < _AMPLE:
        heap.give_back()
    for text in strips.said:
        notes.note(text)
    prepare(item, schedule.plan)
    goals = goals_of(item, schedule, asides)
    way = _way(item, opened, goals)
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
        of_steps = {id(goal.params): writer for goal, writer in zip(goals, writers, strict=True)}

        def seen(params: Params, image: Image) -> None:
            if (writer := of_steps.get(id(params))) is not None:
                writer.put(writer.output.file_pixels(image))

        with closing(way.results(pool, spools, seen)) as results:
            for result in results:
                writers[-1].put(item.output.file_pixels(result))
    for text in said:
        _note(item, text, goals)
    for writer in writers:
        writer.warn()
    item.warn_of_spread(partial(schedule.plan.reach, gpu, schedule.shape))


def prepare(item: Item, todo: Plan) -> None:
    """Checks the output of an input that is known, and prepares the steps."""
    item.output.check(display=any(step.traits.display for step in todo.steps))
    for step in todo.steps:
        step.operation.prepare(item.gpu, step.params, item.output if step is todo.steps[-1] else None)


def _note(item: Item, text: str, goals: list[Goal]) -> None:
    """Passes on a note, which names a file, or comes from an operation, which knows none."""
    names = (item.path, *(goal.output.path for goal in goals), "stdout")
    if any(text.startswith(f"{name}: ") for name in names):
        notes.note(text)
    else:
        item.note(text)
