"""The work of a chain on an input whose rows come and go: for pictures that memory, or the device, has no room for."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from .. import files, notes
from ..errors import FileError, megabytes
from ..files.pictures import BY_ROWS
from ..files.strips import CODEC, COPIES
from ..image import Image, Part
from ..process.memory import of_machine
from ..tiles import course
from ..tiles.flow import flow, settled
from ..tiles.memory import MOST_PIXELS, ROUNDED
from .read_ahead import read_ahead
from .row_writer import Goal, RowWriter, goals_of

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..operation import Params
    from ..plan import Plan, Step
    from ..tiles.course import Shape, Stretch
    from .item import How, Item

# Bytes of memory that the codecs take of the file that is read and of the one that is written.
_CODECS = 2 * CODEC
# Blocks of rows that are read, and that are written, in memory at a time.
_AT_ONCE = 3
# Bytes of the device's memory for each value, beside the file's own: planes, a step's result, the pixels to be written.
_ENDS = 12


def obstacle(item: Item, todo: Plan, picture: files.Picture) -> str | None:
    """Returns what needs the whole picture, in words, if there is something."""
    return course.obstacle(item.gpu, todo, _shape(picture))


def is_too_large(item: Item, todo: Plan, picture: files.Picture) -> bool:
    """Says whether the device has no room for a picture as a whole, or memory none for what is made of it."""
    limits, values = item.gpu.limits, picture.pixels.size
    shapes = course.shapes(item.gpu, todo, _shape(picture))
    largest = max(map(prod, shapes))
    memory = item.options.memory or of_machine() // 2
    # What steps that need all rows take beside that does not matter: they get them.
    beside = (step.traits.bytes_per_value * values + step.traits.fixed_bytes for step in todo.steps)
    return (
        4 * largest > limits.max_alloc_bytes
        or _with_ends(picture, largest, beside) > limits.global_bytes
        or max(height * width for _, height, width in shapes) > MOST_PIXELS
        or (largest > values and COPIES * largest_bytes(item.gpu, todo, picture) > memory)
    )


def device_bytes(gpu: Gpu, todo: Plan, picture: files.Picture) -> float:
    """Returns how many bytes of the device's memory the work takes on a whole picture."""
    shapes, values = course.shapes(gpu, todo, _shape(picture)), picture.pixels.size
    beside = (
        course.beside_whole(gpu, step, shape, values) for step, shape in zip(todo.steps, shapes, strict=False)
    )
    return _with_ends(picture, max(map(prod, shapes)), beside)


def _with_ends(picture: files.Picture, largest: int, beside: Iterable[float]) -> float:
    """Returns the device's bytes for a picture, one of so many values, and what each step takes ``beside``."""
    return ROUNDED * (picture.pixels.nbytes + _ENDS * largest + max(beside, default=0.0))


def largest_bytes(gpu: Gpu, todo: Plan, picture: files.Picture) -> int:
    """Returns the bytes of the largest picture that there is on the way, as pixels of the input's depth."""
    return max(map(prod, course.shapes(gpu, todo, _shape(picture)))) * picture.pixels.itemsize


def streamed(item: Item, todo: Plan, strips: files.Strips, asides: Sequence[str] = ()) -> None:
    """Reads the rows of an input, does the steps of a plan on them, and writes them.

    ``asides`` are the paths of the steps that write on the way.
    """
    gpu, picture = item.gpu, strips.picture
    for text in strips.said:
        notes.note(text)
    how = item.how(picture, linear=todo.linear, premultiply=todo.premultiplied)
    shape = _shape(picture, how)
    item.output.check(display=any(step.traits.display for step in todo.steps))
    for step in todo.steps:
        step.operation.prepare(gpu, step.params, item.output if step is todo.steps[-1] else None)
    goals = goals_of(item, todo, course.shapes(gpu, todo, shape), asides)
    target = item.output.target

    def room(todo: Plan) -> int:
        return _block_bytes(item, strips, course.course(gpu, todo, shape), goals)

    room(todo)  # which refuses what there is no room for before anything is read
    with ThreadPoolExecutor(1 + len(goals)) as pool, item.naming(), gpu.phase("compute"):
        blocks = _Sweeps(item, strips, how, pool)
        with notes.to(lambda _text: None):  # the last sweep says all that there is to say
            todo = settled(gpu, todo, blocks, how.decoding, shape, room)
            at_once, needed = room(todo), course.course(gpu, todo, shape)[0].needed
            for _ in range(item.options.repeat - 1):
                source = blocks(at_once, needed)
                for _ in flow(gpu, todo, source, how.decoding, shape, target, at_once=at_once):
                    gpu.finish()
        said: dict[str, None] = {}  # each block may say the same
        with (
            notes.to(said.setdefault),
            notes.summed(),
            ExitStack() as open_,
            closing(blocks(at_once, needed, count=todo.spreads)) as source,
        ):
            writers = [open_.enter_context(RowWriter(goal.output, goal.shape[1], pool)) for goal in goals]
            of_steps = {id(goal.params): writer for goal, writer in zip(goals, writers, strict=True)}

            def seen(params: Params, image: Image) -> None:
                if (writer := of_steps.get(id(params))) is not None:
                    writer.put(writer.output.finished(image))

            flowing = flow(gpu, todo, source, how.decoding, shape, target, seen=seen, at_once=at_once)
            for result in flowing:
                writers[-1].put(item.output.finished(result))
    for text in said:
        _note(item, text, goals)
    for writer in writers:
        writer.warn()
    item.warn_of_spread(todo.reach(gpu, shape) if todo.spreads else 0)


def measured(item: Item, todo: Plan, strips: files.Strips, enough: Callable[[Step], bool]) -> Plan:
    """Returns a plan's steps as far as one that is ``enough``, with what they need to know of the picture."""
    gpu, how = item.gpu, item.how(strips.picture, linear=todo.linear, premultiply=todo.premultiplied)
    shape = _shape(strips.picture, how)

    def room(todo: Plan) -> int:
        return _block_bytes(item, strips, course.course(gpu, todo, shape), [])

    with ThreadPoolExecutor(1) as pool, item.naming(), gpu.phase("compute"):
        return settled(gpu, todo, _Sweeps(item, strips, how, pool), how.decoding, shape, room, enough=enough)


@dataclass
class _Sweeps:
    """Sweeps over the rows of a picture, which are read in another thread, a block ahead."""

    item: Item
    strips: files.Strips
    how: How
    pool: ThreadPoolExecutor

    def __call__(
        self, at_once: int, wanted: tuple[int, int] | None = None, *, count: bool = False
    ) -> Generator[Image, None, None]:
        """Gives blocks of so many bytes of planes, with those rows that are ``wanted`` at least.

        ``count``: their values that are not finite are counted.
        """
        picture = self.strips.picture
        wanted = wanted or (0, picture.height)
        first, rows = 0, max(1, min(picture.height, at_once // course.row_bytes(_shape(picture, self.how))))
        with closing(read_ahead(self.item.gpu, self.pool, self.strips.rows(rows))) as ahead:
            for pixels in ahead:
                for start in range(0, len(pixels), rows):  # tiles may have more
                    block = pixels[start : start + rows]
                    first += len(block)
                    if first <= wanted[0]:
                        continue
                    image = self.item.on_device(block, self.how, count=count)
                    image.part = Part(first - len(block), picture.height)
                    yield image
                    if first >= wanted[1]:
                        return


def _block_bytes(item: Item, strips: files.Strips, stretches: tuple[Stretch, ...], goals: list[Goal]) -> int:
    """Returns how many bytes a block's planes may take on the device, as far as the host's memory is limited, too."""
    found = course.block_bytes(item.gpu, stretches)
    memory, picture = item.options.memory, strips.picture
    if memory is None:
        return found
    whole = [goal for goal in goals if goal.output.format.name not in BY_ROWS]
    fixed = _CODECS + CODEC * (len(goals) - 1) + 2 * sum(goal.shape[1] * goal.row for goal in whole)
    read = picture.pixels.nbytes // picture.height
    fixed += _AT_ONCE * strips.least * read
    rows = [(read, stretches[0].shape), *((goal.row, goal.shape) for goal in goals)]
    # A row is there at least, of whatever is read and written.
    least = _AT_ONCE * sum(row for row, _ in rows)
    each = _AT_ONCE * sum(row / course.row_bytes(shape) for row, shape in rows)
    if memory < fixed + least:
        names = ", ".join(str(goal.output.format) for goal in whole)
        hint = f", as {names} is written as a whole: PNG, TIFF and EXR are not" if whole else ""
        raise FileError(
            f"{item.path}: needs {megabytes(fixed + least)} MB of memory, and {memory / 1e6:.4g} MB are allowed"
            f"{hint}: raise --memory"
        )
    return min(found, int((memory - fixed) / each))


def _note(item: Item, text: str, goals: list[Goal]) -> None:
    """Passes on a note, which names a file, or comes from an operation, which knows none."""
    if any(
        text.startswith(f"{name}: ") for name in (item.path, *(goal.output.path for goal in goals), "stdout")
    ):
        notes.note(text)
    else:
        item.note(text)


def _shape(picture: files.Picture, how: How | None = None) -> Shape:
    """Returns (planes, height, width)."""
    dropped = how is not None and how.drops_alpha
    return picture.channels - dropped, picture.height, picture.width
