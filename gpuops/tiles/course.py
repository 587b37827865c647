"""The course of a chain by rows: which steps go together, which rows each of them makes, and the memory they take."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from ..operation import Pass, Spectral, Turn
from .edges import with_neighbours
from .memory import ROUNDED, no_room
from .window import Needs, rows_of

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..image import Image
    from ..plan import Plan, Step

Shape = tuple[int, int, int]

# Bytes of a block's planes from which on larger blocks are no faster.
_ENOUGH = 1 << 25
# Rows of a block for each row of the largest halo, if there is room: the halo is computed once more for each block.
# Twice as many take no less of the processor's time for a bloom of 1.2 gigapixels, and a quarter more memory.
_PER_HALO = 2
# Copies of a block's planes that are on the device at a time: a file's floats, planes, a step's result, the pixels to
# be written, and one to spare.
_ENDS = 5
# Copies of its rows that a pass has beside its own work: the rows that it keeps, those rows joined, and the result.
_LOCAL = 3
# Copies of its rows that a ``write`` step takes: light, and the pixels that are made of it.
_SEEN = 3


class Stretch(NamedTuple):
    """Steps that are done on the same rows, or one pass of a step, which needs rows above and below or moves them.

    Attributes
    ----------
    steps : tuple of Step
    one : Pass or None
        The pass of the only step.
    shape : (planes, height, width)
        That of the whole input.
    wanted : (first, end)
        The rows of the result that are wanted; a pass makes them from a multiple of its ``align`` on.
    """

    steps: tuple[Step, ...]
    one: Pass | None
    shape: Shape
    wanted: tuple[int, int] = (0, 0)

    @property
    def result(self) -> Shape:
        """The shape of the whole result."""
        return self.shape if self.one is None else self.one.shape

    @property
    def align(self) -> int:
        """The first row of the result, each time some rows are made, is a multiple of this."""
        return 1 if self.one is None else self.one.align

    @property
    def writes(self) -> bool:
        """Whether a step writes all of its input to a file."""
        return any(step.operation.writes for step in self.steps)

    @property
    def needed(self) -> tuple[int, int]:
        """The rows of the input that are needed."""
        if self.writes:
            return 0, self.shape[1]
        first, end = self.wanted if self.one is None else self.one.needs(*self.wanted)
        return max(first, 0), min(end, self.shape[1])


def passes(gpu: Gpu, step: Step, shape: Shape) -> tuple[Pass, ...] | None:
    """Returns the passes of a step over a picture of this shape (planes, height, width).

    The tuple is empty if each row of the result depends on the same row alone. None: the step needs all rows at once.
    """
    operation, params = step.operation, step.params
    if operation.passes is not None:
        return operation.passes(gpu, shape, params)
    halo = 0.0 if operation.stage is not None else math.inf
    if operation.halo is not None:
        halo = operation.halo(gpu, shape, params)
    if not halo:
        return ()
    if math.isinf(halo):
        return None
    each = step.traits.bytes_per_value
    one = with_halo(shape, int(halo), lambda gpu, image: operation.function(gpu, image, params), each)
    return (with_neighbours(one, int(halo)) if operation.around(params) else one,)


def obstacle(gpu: Gpu, todo: Plan, shape: Shape, orientation: int = 1) -> str | None:
    """Returns the first step that needs all rows of its input at once, in words, or None.

    Turns and filters of spectra do not count: they are done between two sweeps. ``orientation``: the picture's EXIF
    orientation.
    """
    steps = zip(todo.steps, turns(todo, orientation), shapes(gpu, todo, shape, orientation), strict=False)
    for step, turn, of_step in steps:
        if turn is None and spectral(gpu, step, of_step) is None and passes(gpu, step, of_step) is None:
            return step.operation.words(step.params)
    return None


def spectral(gpu: Gpu, step: Step, shape: Shape) -> Spectral | None:
    """Returns the filter of spectra that a step is for a picture of this shape, or None if it is none."""
    return step.operation.spectral(gpu, shape, step.params)


def beside_whole(gpu: Gpu, step: Step, shape: Shape, values: int) -> float:
    """Returns the device's bytes that a step takes beside the whole of its input, of so many values."""
    needs_all = passes(gpu, step, shape) is None
    fixed_bytes = step.operation.fixed_bytes(gpu, shape, step.params) if needs_all else 0.0
    return step.traits.bytes_per_value * values + step.traits.fixed_bytes + fixed_bytes


def shapes(gpu: Gpu, todo: Plan, shape: Shape, orientation: int = 1) -> list[Shape]:
    """Returns the shapes of a picture and of what each step makes of it, as far as they are known.

    After a step that makes another size, and does not say which, all have the size of its input. ``orientation``: the
    picture's EXIF orientation.
    """
    found, known = [shape], True
    for step, turn in zip(todo.steps, turns(todo, orientation), strict=True):
        moves = step.operation.passes is not None
        known = known and (moves or turn is not None or step.traits.kind != "geometry")
        if turn is not None:
            shape = turn.shape(shape)
        elif moves and known and (of_step := passes(gpu, step, shape)):
            shape = of_step[-1].shape
        found.append(shape)
    return found


def turns(todo: Plan, orientation: int) -> list[Turn | None]:
    """Returns for each step its turn of a picture with an EXIF ``orientation``, or None if it does more than turn."""
    found: list[Turn | None] = []
    for step in todo.steps:
        of_step = step.operation.turn
        found.append(of_step(step.params, orientation) if of_step is not None else None)
        orientation = (found[-1] and found[-1].leaves) or orientation
    return found


def course(gpu: Gpu, todo: Plan, shape: Shape, wanted: tuple[int, int] | None = None) -> tuple[Stretch, ...]:
    """Returns the stretches of a plan in which no step needs all rows at once; there is at least one.

    The last stretch has no pass: it does the rest on the rows of the result that are ``wanted``, or on all rows.
    """
    found: list[Stretch] = []
    together: tuple[Step, ...] = ()
    for step in todo.steps:
        of_step = passes(gpu, step, shape)
        assert of_step is not None
        if not of_step:
            together += (step,)
            continue
        if together:
            found.append(Stretch(together, None, shape))
        for one in of_step:
            found.append(Stretch((step,), one, shape))
            shape = one.shape
        together = ()
    found.append(Stretch(together, None, shape))
    wanted = wanted or (0, shape[1])
    for k in reversed(range(len(found))):
        found[k] = found[k]._replace(wanted=(wanted[0] - wanted[0] % found[k].align, wanted[1]))
        wanted = found[k].needed
    return tuple(found)


def block_bytes(gpu: Gpu, stretches: tuple[Stretch, ...], *, ends: float = 0.0, tables: float = 0.0) -> int:
    """Returns how many bytes the planes of a block of rows should take, both of the file's rows and of a pass's result.

    ``ends``: copies of a block that are taken before the first stretch or behind the last one, beside the usual ones;
    ``tables``: bytes that are taken all the time.

    Raises DeviceError if the device has no room for a single row of each.
    """
    room, widest = gpu.limits.global_bytes / ROUNDED, 0
    copies, fixed, least = _ENDS + ends, tables, row_bytes(stretches[0].shape)
    beside = 0.0  # copies that a step on these rows alone has beside its input and its result
    for stretch in stretches:
        for step in stretch.steps:
            fixed += step.traits.fixed_bytes + step.operation.fixed_bytes(gpu, stretch.shape, step.params)
            if stretch.one is None:
                beside = max(beside, step.traits.bytes_per_value / 4 - 1)
        copies += _SEEN * sum(step.operation.writes for step in stretch.steps)
        if stretch.one is not None:
            row, of_pass = row_bytes(stretch.shape), _LOCAL + stretch.one.bytes_per_value / 4
            copies += of_pass
            fixed += (stretch.one.window - 1) * row * of_pass
            widest = max(widest, stretch.one.window * row)
            least = max(least, row, stretch.one.align * row_bytes(stretch.result))
    copies += beside
    most = int(min((room - fixed) // copies, gpu.limits.max_alloc_bytes - widest))
    if most < least:
        needed = ROUNDED * (fixed + copies * least)
        raise no_room(gpu, f"rows of {stretches[0].shape[2]} pixels need", needed)
    return max(least, min(most, max(_ENOUGH, math.ceil(_PER_HALO * widest / 2))))


def row_bytes(shape: Shape) -> int:
    """Returns the bytes of a row of planes."""
    return 4 * shape[0] * shape[2]


def rows(shape: Shape, at_once: int) -> int:
    """Returns how many rows come at a time if their planes are to take so many bytes."""
    return max(1, min(shape[1], at_once // row_bytes(shape)))


def with_halo(
    shape: Shape, halo: int, function: Callable[[Gpu, Image], Image], bytes_per_value: float, align: int = 1
) -> Pass:
    """Returns a pass that looks at rows above and below, and keeps the picture's height.

    Parameters
    ----------
    shape : (planes, height, width)
        The shape of the whole result.
    halo : int
        How many rows above and below a row depends on.
    function : callable
        ``(gpu, image)`` → the result's rows where the Image has rows of the input.
    bytes_per_value : float
        As for :class:`Pass`.
    align : int
        The first row of such an Image is a multiple of this.
    """
    height = shape[1]
    needs = beside(height, halo, align)

    def make(gpu: Gpu, image: Image, first: int, end: int) -> Image:
        assert image.part is not None
        start = needs(first, end)[0] if align > 1 else image.part.first
        image = rows_of(image, slice(start - image.part.first, image.shape[1]))
        result = function(gpu, image)
        result.part = image.part
        return rows_of(result, slice(first - start, end - start))

    return Pass(shape, needs, make, min(2 * halo + align, height), bytes_per_value=bytes_per_value)


def beside(height: int, halo: int, align: int = 1) -> Needs:
    """Returns a function that tells which rows of the input rows of a result need: ``halo`` more above and below."""
    return lambda first, end: (max(first - halo, 0) // align * align, min(end + halo, height))
