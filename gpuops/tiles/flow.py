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
from .course import Shape, Stretch, course, passes, row_bytes, shapes
from .edges import Edges
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
    gpu: Gpu,
    todo: Plan,
    blocks: Iterable[Image],
    decoding: Decoding | None,
    shape: Shape,
    target: Target | None = None,
    *,
    seen: Seen = lambda _params, _image: None,
    at_once: int = _ANY,
    wanted: tuple[int, int] | None = None,
) -> Iterator[Image | Stored]:
    """Does the steps of a plan on the rows of a picture. No step may need all rows at once.

    Parameters
    ----------
    blocks : iterable of Image
        The picture's rows from the first to the last, at least those that are :attr:`Stretch.needed`, each Image with
        its ``part``: pixels for a ``decoding``, as for :func:`gpuops.plan.run`, or planes.
    shape : (planes, height, width)
        The shape of the whole picture.
    target : Target, optional
        The output.
    seen : callable
        It is given the parameters of steps and the rows that they made, as by :func:`gpuops.plan.run`.
    at_once : int
        Bytes of rows that a pass makes at a time, but one row at least.
    wanted : (first, end), optional
        The rows of the result that are wanted; by default all. There may be more.

    Yields
    ------
    The result's rows from the first to the last: planes with their ``part``, or what is stored for the target.
    """
    stretches = course(gpu, todo, shape, wanted)
    if _has_ends(todo, decoding, target) and len(stretches) == 2:
        assert decoding is not None and target is not None
        yield from _from_pixels(gpu, todo, blocks, stretches[0], decoding, target, at_once)
        return
    if stretches[0].one is not None and decoding is not None:
        stretches = Stretch((), None, shape), *stretches
    written: list[Iterable[Image]] = []
    for stretch in stretches[:-1]:
        if stretch.one is None:
            blocks = _apart(gpu, todo._replace(steps=stretch.steps), blocks, decoding, seen)
        else:
            blocks = _passed(gpu, todo, blocks, stretch, at_once)
        decoding = None
        written = [blocks, *written] if stretch.writes else written
    last = todo._replace(steps=stretches[-1].steps)
    for block in blocks:
        yield run(gpu, last, block, decoding, target, seen=seen)
    for rows in written:  # also those below what the result needs
        for _ in rows:
            pass


def settled(
    gpu: Gpu,
    todo: Plan,
    begin: Begin,
    decoding: Decoding | None,
    shape: Shape,
    room: Callable[[Plan], int] = lambda _todo: _ANY,
    target: Target | None = None,
    *,
    enough: Callable[[Step], bool] = lambda _step: False,
) -> Plan:
    """Returns a plan with all figures of the picture that its steps wait for.

    Each figure takes a sweep over the picture. So do the rows beyond the ends of a picture whose first and last rows
    are neighbours.

    Parameters
    ----------
    begin : callable
        ``(at_once, (first, end))`` → the picture's blocks of ``at_once`` bytes of planes, at least those of these rows.
    room : callable
        ``(plan)`` → how many bytes of rows there may be at a time. Figures that were found may take memory themselves.
    enough : callable
        ``(step)`` → whether the caller needs no more than this step. The plan then ends with it.

    The rest is as for :func:`flow`.
    """
    place = 0
    while place < len(todo.steps):
        step = todo.steps[place]
        if enough(step):
            return todo._replace(steps=todo.steps[: place + 1])
        before, after = todo.steps[:place], todo.steps[place + 1 :]
        of_step = shapes(gpu, todo._replace(steps=before), shape)[-1]
        at_once = room(todo)  # before the measure, which may take memory of its own
        sweep = partial(_input, gpu, todo, place, begin, decoding, shape, at_once)
        measure = step.operation.measure(gpu, of_step, step.params)
        if measure is not None:
            # Nobody holds the last rows afterwards: settling may need their room.
            needed = measure.of is not None
            figures = _measured(gpu, measure, sweep((0, of_step[1])), of_step) if needed else None
            steps = tuple(Step.of(params, step.name) for params in measure.settled(figures))
        elif step.operation.reach(gpu, of_step, step.params).around and (
            of_passes := passes(gpu, step, of_step)
        ):
            (one,), of_file = of_passes, _has_ends(todo, decoding, target)
            edges = Edges.of(one, of_step[1], PIXELS if of_file else PLANES)
            for part in edges.parts:
                edges.fill(begin(at_once, part) if of_file else sweep(part))
            steps = (edges.known(step, one),)
        else:
            place += 1
            continue
        todo = todo._replace(steps=(*before, *steps, *after))
    return todo


def _input(
    gpu: Gpu,
    todo: Plan,
    place: int,
    begin: Begin,
    decoding: Decoding | None,
    shape: Shape,
    at_once: int,
    wanted: tuple[int, int],
) -> Iterator[Image]:
    """Gives the ``wanted`` rows of a step's input, and maybe others, in the form that the step wants."""
    before, step = todo._replace(steps=todo.steps[:place]), todo.steps[place]
    blocks = begin(at_once, course(gpu, before, shape, wanted)[0].needed)
    for image in flow(gpu, before, blocks, decoding, shape, at_once=at_once, wanted=wanted):
        assert isinstance(image, Image)
        yield prepared(gpu, image, step.traits, todo)


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


def _passed(gpu: Gpu, todo: Plan, blocks: Iterable[Image], stretch: Stretch, at_once: int) -> Iterator[Image]:
    """Does a pass of a step."""
    (step,), one = stretch.steps, stretch.one
    assert one is not None
    planes = one.around(prepared(gpu, block, step.traits, todo) for block in blocks)
    most = _most(stretch, at_once)
    for rows, first, end in windows(planes, one.needs, stretch.wanted, most, PLANES, one.align):
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


def _most(stretch: Stretch, at_once: int) -> int:
    """Returns how many rows a pass makes at a time, at most: as many as it can if it keeps the picture's size."""
    rows = stretch.result[1]
    return rows if stretch.result == stretch.shape else max(1, at_once // max(1, row_bytes(stretch.result)))


def _has_ends(todo: Plan, decoding: Decoding | None, target: Target | None) -> bool:
    """Says whether a plan is one step that reads and writes a file's pixels in its own launches."""
    ends = len(todo.steps) == 1 and todo.steps[0].operation.ends is not None
    return ends and decoding is not None and target is not None


def _from_pixels(
    gpu: Gpu,
    todo: Plan,
    blocks: Iterable[Image],
    stretch: Stretch,
    decoding: Decoding,
    target: Target,
    at_once: int,
) -> Iterator[Image | Stored]:
    """Does a step with a halo from a file's pixels to a file's pixels.

    Its launches also count values that were lost in the halo, which belongs to other blocks. If there are any, planes
    are made instead, so that each row is stored, and counted, once.
    """
    one, lossless = stretch.one, True
    assert one is not None
    most, blocks = _most(stretch, at_once), one.around(blocks)
    for rows, first, end in windows(blocks, one.needs, stretch.wanted, most, PIXELS, one.align):
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
