"""The work of a chain on an input whose rows come and go: for pictures that memory, or the device, has no room for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from math import prod
from typing import TYPE_CHECKING

from .. import files, notes
from ..image import Image
from ..process import heap
from ..tiles import course
from ..tiles.memory import MOST_PIXELS, ROUNDED
from .chain_by_rows import ChainByRows, shape_of
from .row_writer import Goal, RowWriter, goals_of

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..operation import Params
    from ..plan import Plan, Step
    from ..tiles.course import Shape
    from .item import Item

# Bytes of the device's memory for each value, beside the file's own: planes, a step's result, the pixels to be written.
_ENDS = 12
# A limit of this many bytes leaves room for the gaps between blocks that were freed. To give such blocks back, and get
# new pages for others, takes half as long again as a bloom of 1.2 gigapixels.
_AMPLE = 10**9


def obstacle(item: Item, todo: Plan, picture: files.Picture) -> str | None:
    """Returns the first step, in words, that needs the whole picture, or None."""
    found = course.obstacle(item.gpu, todo, shape_of(picture), picture.metadata.orientation)
    return found or (_tilted(todo, picture) if item.options.strip else None)


def _tilted(todo: Plan, picture: files.Picture) -> str | None:
    """Returns, in words, whether a picture must be turned upright before it is written, which needs all of it."""
    orientation = picture.metadata.orientation
    turns = course.turns(todo, orientation)
    for step, turn in zip(todo.steps, turns, strict=True):
        if step.operation.writes and orientation != 1:
            break
        orientation = (turn and turn.leaves) or orientation
    return None if orientation == 1 else "turning it upright for --strip"


def is_too_large(item: Item, todo: Plan, picture: files.Picture) -> bool:
    """Says whether the device has no room for the whole picture, or memory no room for its results."""
    grows = largest_bytes(item.gpu, todo, picture) > picture.pixels.nbytes
    whole = item.budget.whole(largest_bytes(item.gpu, todo, picture))
    return _is_too_large_for_device(item, todo, picture) or (grows and not item.budget.has_room(whole))


def _as_whole(item: Item, todo: Plan, picture: files.Picture) -> float | None:
    """Returns the bytes of memory that work on the whole picture takes; None if the device has no room for it."""
    if _is_too_large_for_device(item, todo, picture):
        return None
    return item.budget.whole(largest_bytes(item.gpu, todo, picture))


def _is_too_large_for_device(item: Item, todo: Plan, picture: files.Picture) -> bool:
    limits, values = item.gpu.limits, picture.pixels.size
    shapes = _shapes(item.gpu, todo, picture)
    largest = max(map(prod, shapes))
    # Further memory of steps that need all rows does not matter here: such steps get the whole picture anyway.
    beside = (step.traits.bytes_per_value * values + step.traits.fixed_bytes for step in todo.steps)
    return (
        4 * largest > limits.max_alloc_bytes
        or _with_ends(picture, largest, beside) > limits.global_bytes
        or max(height * width for _, height, width in shapes) > MOST_PIXELS
    )


def device_bytes(gpu: Gpu, todo: Plan, picture: files.Picture) -> float:
    """Returns how many bytes of the device's memory the work takes on a whole picture."""
    shapes, values = _shapes(gpu, todo, picture), picture.pixels.size
    beside = (
        course.beside_whole(gpu, step, shape, values) for step, shape in zip(todo.steps, shapes, strict=False)
    )
    return _with_ends(picture, max(map(prod, shapes)), beside)


def _with_ends(picture: files.Picture, largest: int, beside: Iterable[float]) -> float:
    """Returns the device's bytes for a picture, for the ``largest`` of its results, and for each step's ``beside``."""
    return ROUNDED * (picture.pixels.nbytes + _ENDS * largest + max(beside, default=0.0))


def largest_bytes(gpu: Gpu, todo: Plan, picture: files.Picture) -> int:
    """Returns the bytes of the largest picture among the input and all results, as pixels of the input's depth."""
    return max(map(prod, _shapes(gpu, todo, picture))) * picture.pixels.itemsize


def prepare(item: Item, todo: Plan) -> None:
    """Checks the output of an input that is known, and prepares the steps."""
    item.output.check(display=any(step.traits.display for step in todo.steps))
    for step in todo.steps:
        step.operation.prepare(item.gpu, step.params, item.output if step is todo.steps[-1] else None)


def streamed(item: Item, todo: Plan, strips: files.Strips, asides: Sequence[str] = ()) -> None:
    """Reads the rows of an input, does the steps of a plan on them, and writes them.

    ``asides`` are the paths of the steps that write on the way.
    """
    gpu = item.gpu
    if min(item.options.memory or _AMPLE, gpu.memory or _AMPLE) < _AMPLE:
        heap.give_back()
    for text in strips.said:
        notes.note(text)
    how = item.how(strips.picture, linear=todo.linear, premultiply=todo.premultiplied)
    prepare(item, todo)
    shape, orientation = shape_of(strips.picture, how), strips.picture.metadata.orientation
    goals = goals_of(item, todo, course.shapes(gpu, todo, shape, orientation), asides)
    way = ChainByRows.of(item, todo, strips, how, goals, _as_whole(item, todo, strips.picture))
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
        writers = [open_.enter_context(RowWriter(goal.output, goal.shape[1], pool)) for goal in goals]
        of_steps = {id(goal.params): writer for goal, writer in zip(goals, writers, strict=True)}

        def seen(params: Params, image: Image) -> None:
            if (writer := of_steps.get(id(params))) is not None:
                writer.put(writer.output.finished(image))

        with closing(way.results(pool, spools, seen)) as results:
            for result in results:
                writers[-1].put(item.output.finished(result))
    for text in said:
        _note(item, text, goals)
    for writer in writers:
        writer.warn()
    item.warn_of_spread(todo.reach(gpu, shape) if todo.spreads else 0)


def measured(item: Item, todo: Plan, strips: files.Strips, enough: Callable[[Step], bool]) -> Plan:
    """Returns a plan up to the first step that is ``enough``, with all figures of the picture that its steps need."""
    how = item.how(strips.picture, linear=todo.linear, premultiply=todo.premultiplied)
    way = ChainByRows.of(item, todo, strips, how, [], _as_whole(item, todo, strips.picture))
    with ExitStack() as spools, ThreadPoolExecutor(2) as pool, item.naming(), item.gpu.phase("compute"):
        return way.settled(pool, spools, enough)


def _note(item: Item, text: str, goals: list[Goal]) -> None:
    """Passes on a note, which names a file, or comes from an operation, which knows none."""
    if any(
        text.startswith(f"{name}: ") for name in (item.path, *(goal.output.path for goal in goals), "stdout")
    ):
        notes.note(text)
    else:
        item.note(text)


def _shapes(gpu: Gpu, todo: Plan, picture: files.Picture) -> list[Shape]:
    """Returns the shapes (planes, height, width) of a picture and of what each step makes of it."""
    return course.shapes(gpu, todo, shape_of(picture), picture.metadata.orientation)
