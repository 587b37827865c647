"""A chain that is done on rows as they come, from the first to the last, so that a device needs room for few of them.

A picture comes in blocks of rows. A step that looks at a pixel's neighbours, or makes rows of several others, keeps the
last rows that it got until the rows below have come. So each row is read, converted and written once, and only rows
that the result needs are worked on. All steps use the whole picture's geometry: an Image's ``part`` says which rows of
it the Image has.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ..image import Image, Part
from ..params.kinds import Params
from ..passes import Measure, Pass
from ..pixels.coding import Decoding
from ..plan import Plan, Step, prepared, run
from ..space import Stored, Target
from ..tiles.rectangles import as_lines, as_pixels
from .blocks import Shape, row_bytes
from .schedule import RowSchedule, RowStage
from .source import Source, WholePicture
from .window import Edges, rows_of, windows

if TYPE_CHECKING:
    from ..gpu import Gpu

Seen = Callable[[Params, Image], None]

# The bytes of a block if no number is given.
_ANY = 1 << 62


def flow(
    schedule: RowSchedule,
    source: Source,
    target: Target | None = None,
    *,
    seen: Seen = lambda _params, _image: None,
    at_once: int = _ANY,
    wanted: tuple[int, int] | None = None,
    fuse: bool = True,
) -> Generator[Image | Stored, None, None]:
    """Does the steps of a segment on the rows of a picture.

    No step may need all rows at once, unless the picture is whole. Then steps join as they can, with ``fuse``.

    Parameters
    ----------
    source : Source
        The picture. Of its rows those are asked for that are :meth:`RowSchedule.needed`.
    target : Target, optional
        The output.
    seen : callable
        It is given the parameters of steps and the rows that they made, as by :func:`gpuops.plan.run`.
    at_once : int
        Bytes of rows that come, and that a pass makes, at a time, but one row at least.
    wanted : (first, end), optional
        The rows of the result that are wanted; by default all. There may be more.

    Yields
    ------
    The result's rows from the first to the last: planes with their ``part``, or what is stored for the target.
    """
    gpu, todo, decoding = schedule.gpu, schedule.plan, source.decoding
    if isinstance(source, WholePicture):
        yield run(gpu, todo, source.image, decoding, target, fuse=fuse, seen=seen)
        return
    stages = schedule.stages(wanted)
    with closing(source(at_once, stages[0].needed)) as given:
        if decoding is not None and stages[0].one is not None and stages[0].one.around is not None:
            stages = RowStage((), None, schedule.shape), *stages
        if len(stages) > 1 and stages[-2].one is not None and not stages[-1].steps:
            stages = stages[:-1]  # the pass makes the result
        blocks: Iterable[Image | Stored] = given
        written: list[Iterable[Image | Stored]] = []
        for stage in stages:
            ends = _Ends(decoding, target if stage is stages[-1] else None)
            rows = cast("Iterable[Image]", blocks)
            if stage.one is None:
                of_rows = partial(
                    run, gpu, todo._replace(steps=stage.steps), decoding=decoding, target=ends.target
                )
                blocks = map(partial(of_rows, seen=seen), rows)
            else:
                blocks = _passed(gpu, todo, rows, stage, at_once, ends)
            decoding = None
            written = [blocks, *written] if stage.writes else written
        yield from blocks
        for left in written:  # also rows below what the result needs
            for _ in left:
                pass


def settled(
    schedule: RowSchedule,
    source: Source,
    room: Callable[[RowSchedule], int] = lambda _schedule: _ANY,
    *,
    enough: Callable[[Step], bool] = lambda _step: False,
) -> RowSchedule:
    """Returns a segment with all figures of the picture that its steps wait for.

    Each figure takes a sweep over the picture. So do the rows beyond the ends of a picture whose first and last rows
    are neighbours. Of a whole picture only the last step waits for figures: others find their own.

    Parameters
    ----------
    room : callable
        ``(schedule)`` → how many bytes of rows there may be at a time. Figures that were found may take memory.
    enough : callable
        ``(step)`` → whether the caller needs no more than this step. The segment then ends with it.

    The rest is as for :func:`flow`.
    """
    gpu, place = schedule.gpu, len(schedule.steps) - 1 if isinstance(source, WholePicture) else 0

    def read(place: int, at_once: int, wanted: tuple[int, int]) -> Iterator[Image]:
        """Gives the ``wanted`` rows of a step's input, and maybe others, in the form that the step wants."""
        step = schedule.steps[place].step
        before = schedule.with_steps(schedule.plan.steps[:place])
        for image in flow(before, source, at_once=at_once, wanted=wanted):
            assert isinstance(image, Image)
            image.part = image.part or Part(0, image.shape[1])
            yield prepared(gpu, image, step.traits, schedule.plan)

    while place < len(schedule.steps):
        at, steps = schedule.steps[place], schedule.plan.steps
        step = at.step
        if enough(step):
            return schedule.with_steps(steps[: place + 1])
        at_once = room(schedule)  # before the measure, which may take memory of its own
        sweep = partial(read, place, at_once)
        measure = step.operation.measure(gpu, at.shape, step.params)
        if measure is not None:
            # Nobody holds the last rows afterwards: settling may need their room.
            needed = measure.of is not None
            figures = _measured(gpu, measure, sweep((0, at.shape[1])), at.shape) if needed else None
            known = tuple(Step.of(params, step.name) for params in measure.settled(figures))
        elif at.reach.around and at.passes:
            (one,) = at.passes
            edges = Edges(at.shape[1], int(at.reach.rows))
            for part in edges.parts:
                edges.fill(sweep(part))
            known = (edges.known(step, one),)
        else:
            place += 1
            continue
        schedule = schedule.with_steps((*steps[:place], *known, *steps[place + 1 :]))
    return schedule


def _measured(gpu: Gpu, measure: Measure, planes: Iterable[Image], shape: Shape) -> Any:
    """Returns the figures of all rows together; None if there are none."""
    of, figures = measure.of, None
    assert of is not None
    for rows, first, end in windows(planes, measure.needs, (0, shape[1]), shape[1]):
        of_rows = of(gpu, rows, first, end)
        del rows  # whose memory is free while the next are joined
        if of_rows is not None:
            figures = of_rows if figures is None else figures + of_rows
    return figures


class _Ends(NamedTuple):
    """What a stage reads, a file's pixels with a decoding, or planes; and what it writes, pixels for a target."""

    decoding: Decoding | None
    target: Target | None


def _passed(
    gpu: Gpu, todo: Plan, blocks: Iterable[Image], stage: RowStage, at_once: int, ends: _Ends
) -> Iterator[Image | Stored]:
    """Does a pass of a step.

    Of a file's pixels those that rows depend on are kept, not their planes.
    """
    (step,), one, (decoding, target) = stage.steps, stage.one, ends
    assert one is not None
    if decoding is not None:
        lines: Iterable[Image] = map(as_lines, blocks)
    else:
        lines = (prepared(gpu, block, step.traits, todo) for block in blocks)
        lines = lines if one.around is None else one.around(lines)
    most = _most(stage, at_once)
    for rows, first, end in windows(lines, one.needs, stage.wanted, most, one.align):
        if decoding is not None:
            start, stop = one.needs(first, end)
            assert rows.part is not None
            at = slice(max(start - rows.part.first, 0), min(stop - rows.part.first, rows.shape[1]))
            rows = as_pixels(rows_of(rows, at), rows.shape[2] // stage.shape[2])
        making = todo._replace(steps=(_making(step, one, first, end),))
        made = [run(gpu, making, rows, decoding, target)]
        del rows  # whose memory is free while the next are joined
        if isinstance(made[0], Image):
            made[0].part = Part(first, one.shape[1])
        yield made.pop()


def _making(step: Step, one: Pass, first: int, end: int) -> Step:
    """Returns a step that makes some rows of the result."""
    operation = step.operation

    def function(gpu: Gpu, image: Image, _params: Params) -> Image:
        return one.make(gpu, image, first, end)

    ends = None
    if operation.ends is not None and operation.passes is None:
        ends = partial(operation.ends, rows=(first, end))
    record = replace(operation, function=function, ends=ends, stage=None, joins=lambda _params: False)
    return step._replace(operation=record)


def _most(stage: RowStage, at_once: int) -> int:
    """Returns how many rows a pass makes at a time, at most: as many as it can if it keeps the picture's size."""
    rows = stage.result[1]
    return rows if stage.result == stage.shape else max(1, at_once // max(1, row_bytes(stage.result)))
