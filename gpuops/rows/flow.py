"""A chain that is done on rows as they come, from the first to the last, so that a device needs room for few of them.

A picture comes in blocks of rows. A step that looks at a pixel's neighbours, or makes rows of several others, keeps the
last rows that it got until the rows below have come. So each row is read, converted and written once, and only rows
that the result needs are worked on. All steps use the whole picture's geometry: an Image's ``part`` says which rows of
it the Image has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ..image import Image, Part
from ..pixels.coding import Losses, losses
from ..plan import Plan, Step, prepared, run
from ..space import Stored
from .edges import Edges
from .schedule import RowSchedule, RowStage, Shape, row_bytes
from .window import PIXELS, PLANES, rows_of, windows

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..params.kinds import Params
    from ..passes import Measure, Pass
    from ..pixels.coding import Decoding
    from ..space import Target

    Seen = Callable[[Params, Image], None]
    Begin = Callable[[int, tuple[int, int]], Iterable[Image]]

# The bytes of a block if no number is given.
_ANY = 1 << 62


def flow(
    schedule: RowSchedule,
    blocks: Iterable[Image],
    decoding: Decoding | None = None,
    target: Target | None = None,
    *,
    seen: Seen = lambda _params, _image: None,
    at_once: int = _ANY,
    wanted: tuple[int, int] | None = None,
    whole: bool = False,
    fuse: bool = True,
) -> Iterator[Image | Stored]:
    """Does the steps of a segment on the rows of a picture.

    No step may need all rows at once, unless the picture is one block.

    Parameters
    ----------
    blocks : iterable of Image
        The rows from the first to the last, at least those that are :meth:`RowSchedule.needed`, each Image with
        its ``part``: pixels for a ``decoding``, as for :func:`gpuops.plan.run`, or planes.
    target : Target, optional
        The output.
    seen : callable
        It is given the parameters of steps and the rows that they made, as by :func:`gpuops.plan.run`.
    at_once : int
        Bytes of rows that a pass makes at a time, but one row at least.
    wanted : (first, end), optional
        The rows of the result that are wanted; by default all. There may be more.
    whole : bool
        Whether the only block is the whole picture, without a ``part``. Then steps join as they can, with ``fuse``.

    Yields
    ------
    The result's rows from the first to the last: planes with their ``part``, or what is stored for the target.
    """
    gpu, todo = schedule.gpu, schedule.plan
    if whole:
        (picture,) = blocks
        yield run(gpu, todo, picture, decoding, target, fuse=fuse, seen=seen)
        return
    stages = schedule.stages(wanted)
    if _has_ends(todo, decoding, target) and len(stages) == 2:
        assert decoding is not None and target is not None
        yield from _from_pixels(gpu, todo, blocks, stages[0], decoding, target, at_once)
        return
    if stages[0].one is not None and decoding is not None:
        stages = RowStage((), None, schedule.shape), *stages
    written: list[Iterable[Image]] = []
    for stage in stages[:-1]:
        if stage.one is None:
            blocks = _apart(gpu, todo._replace(steps=stage.steps), blocks, decoding, seen)
        else:
            blocks = _passed(gpu, todo, blocks, stage, at_once)
        decoding = None
        written = [blocks, *written] if stage.writes else written
    last = todo._replace(steps=stages[-1].steps)
    for block in blocks:
        yield run(gpu, last, block, decoding, target, seen=seen)
    for rows in written:  # also those below what the result needs
        for _ in rows:
            pass


def settled(
    schedule: RowSchedule,
    begin: Begin,
    decoding: Decoding | None = None,
    room: Callable[[RowSchedule], int] = lambda _schedule: _ANY,
    target: Target | None = None,
    *,
    enough: Callable[[Step], bool] = lambda _step: False,
    whole: bool = False,
) -> RowSchedule:
    """Returns a segment with all figures of the picture that its steps wait for.

    Each figure takes a sweep over the picture. So do the rows beyond the ends of a picture whose first and last rows
    are neighbours.

    Parameters
    ----------
    begin : callable
        ``(at_once, (first, end))`` → the picture's blocks of ``at_once`` bytes of planes, at least those of these rows.
    room : callable
        ``(schedule)`` → how many bytes of rows there may be at a time. Figures that were found may take memory.
    enough : callable
        ``(step)`` → whether the caller needs no more than this step. The segment then ends with it.
    whole : bool
        Whether the picture is one block. Then only the last step waits for figures: others find their own.

    The rest is as for :func:`flow`.
    """
    gpu, place = schedule.gpu, len(schedule.steps) - 1 if whole else 0
    while place < len(schedule.steps):
        at, steps = schedule.steps[place], schedule.plan.steps
        step = at.step
        if enough(step):
            return schedule.with_steps(steps[: place + 1])
        at_once = room(schedule)  # before the measure, which may take memory of its own
        sweep = partial(_input, schedule, place, begin, decoding, at_once, whole)
        measure = step.operation.measure(gpu, at.shape, step.params)
        if measure is not None:
            # Nobody holds the last rows afterwards: settling may need their room.
            needed = measure.of is not None
            figures = _measured(gpu, measure, sweep((0, at.shape[1])), at.shape) if needed else None
            known = tuple(Step.of(params, step.name) for params in measure.settled(figures))
        elif at.reach.around and at.passes:
            (one,), of_file = at.passes, _has_ends(schedule.plan, decoding, target)
            edges = Edges.of(one, at.shape[1], PIXELS if of_file else PLANES)
            for part in edges.parts:
                edges.fill(begin(at_once, part) if of_file else sweep(part))
            known = (edges.known(step, one),)
        else:
            place += 1
            continue
        schedule = schedule.with_steps((*steps[:place], *known, *steps[place + 1 :]))
    return schedule


def _input(
    schedule: RowSchedule,
    place: int,
    begin: Begin,
    decoding: Decoding | None,
    at_once: int,
    whole: bool,
    wanted: tuple[int, int],
) -> Iterator[Image]:
    """Gives the ``wanted`` rows of a step's input, and maybe others, in the form that the step wants."""
    gpu, step = schedule.gpu, schedule.steps[place].step
    before = schedule.with_steps(schedule.plan.steps[:place])
    blocks = begin(at_once, wanted if whole else before.needed(wanted))
    for image in flow(before, blocks, decoding, at_once=at_once, wanted=wanted, whole=whole):
        assert isinstance(image, Image)
        image.part = image.part or Part(0, image.shape[1])
        yield prepared(gpu, image, step.traits, schedule.plan)


def _measured(gpu: Gpu, measure: Measure, planes: Iterable[Image], shape: Shape) -> Any:
    """Returns the figures of all rows together; None if there are none."""
    of, figures = measure.of, None
    assert of is not None
    for rows, first, end in windows(planes, measure.needs, (0, shape[1]), shape[1], PLANES):
        of_rows = of(gpu, rows, first, end)
        del rows  # whose memory is free while the next are joined
        if of_rows is not None:
            figures = of_rows if figures is None else figures + of_rows
    return figures


def _apart(
    gpu: Gpu, todo: Plan, blocks: Iterable[Image], decoding: Decoding | None, seen: Seen
) -> Iterator[Image]:
    """Does steps that look at each row alone."""
    for block in blocks:
        result = run(gpu, todo, block, decoding, seen=seen)
        assert isinstance(result, Image)
        yield result


def _passed(gpu: Gpu, todo: Plan, blocks: Iterable[Image], stage: RowStage, at_once: int) -> Iterator[Image]:
    """Does a pass of a step."""
    (step,), one = stage.steps, stage.one
    assert one is not None
    planes = one.around(prepared(gpu, block, step.traits, todo) for block in blocks)
    most = _most(stage, at_once)
    for rows, first, end in windows(planes, one.needs, stage.wanted, most, PLANES, one.align):
        result = run(gpu, todo._replace(steps=(_making(step, one, first, end),)), rows)
        del rows  # whose memory is free while the next are joined
        assert isinstance(result, Image)
        result.part = Part(first, one.shape[1])
        yield result


def _making(step: Step, one: Pass, first: int, end: int) -> Step:
    """Returns a step that makes some rows of the result."""

    def function(gpu: Gpu, image: Image, _params: Params) -> Image:
        return one.make(gpu, image, first, end)

    return step._replace(operation=replace(step.operation, function=function, ends=None, stage=None))


def _most(stage: RowStage, at_once: int) -> int:
    """Returns how many rows a pass makes at a time, at most: as many as it can if it keeps the picture's size."""
    rows = stage.result[1]
    return rows if stage.result == stage.shape else max(1, at_once // max(1, row_bytes(stage.result)))


def _has_ends(todo: Plan, decoding: Decoding | None, target: Target | None) -> bool:
    """Says whether a plan is one step that reads and writes a file's pixels in its own launches."""
    ends = len(todo.steps) == 1 and todo.steps[0].operation.ends is not None
    return ends and decoding is not None and target is not None


def _from_pixels(
    gpu: Gpu,
    todo: Plan,
    blocks: Iterable[Image],
    stage: RowStage,
    decoding: Decoding,
    target: Target,
    at_once: int,
) -> Iterator[Image | Stored]:
    """Does a step with a halo from a file's pixels to a file's pixels.

    Its launches also count values that were lost in the halo, which belongs to other blocks. If there are any, planes
    are made instead, so that each row is stored, and counted, once.
    """
    one, lossless = stage.one, True
    assert one is not None
    most, blocks = _most(stage, at_once), one.around(blocks)
    for rows, first, end in windows(blocks, one.needs, stage.wanted, most, PIXELS, one.align):
        assert rows.part is not None
        at = slice(first - rows.part.first, end - rows.part.first)
        if lossless:
            stored = run(gpu, todo, rows, decoding, target)
            assert isinstance(stored, Stored)
            if losses(stored.lost) == Losses():
                stored.pixels.part = rows.part
                del rows  # whose memory is free while the next are joined
                stored = replace(stored, pixels=rows_of(stored.pixels, at, PIXELS))
                yield stored
                continue
            lossless = False
        planes = run(gpu, todo, rows, decoding)
        del rows
        assert isinstance(planes, Image)
        planes = rows_of(planes, at)
        yield planes
