"""A chain done on rows as they come, from the first to the last, so that a device needs room for some of them alone.

A picture comes in blocks of rows. A step that looks at a pixel's neighbours keeps the last rows that it got until those
below have come. So each row is read, converted and written once. The geometry is that of the whole picture: an Image's
``part`` says which of its rows the Image has.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import DeviceError
from ..image import Image, Part
from ..pixels.coding import Losses, losses
from ..plan import Plan, Step, prepared, run
from ..space import Stored
from .rectangles import copy, cut

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..pixels.coding import Decoding
    from ..space import Target

Shape = tuple[int, int, int]

# Bytes of a block's planes from which on larger blocks are no faster.
_ENOUGH = 1 << 25
# Rows of a block for each row of the largest halo, if there is room: the halo is computed once more for each block.
_PER_HALO = 4
# Copies of a block's planes that are on the device while it comes and goes: a file's floats, planes, a step's result,
# the pixels to be written, and what the pool rounds up.
_ENDS = 5
# Copies of its rows that a step with a halo has beside its own work: those that it keeps, all together, the result.
_LOCAL = 3


def halo_of(gpu: Gpu, step: Step, shape: Shape) -> float:
    """Returns how many rows above and below a row of a step's result depends on; infinity if it is all rows.

    ``shape`` is that of the whole picture (planes, height, width).
    """
    operation = step.operation
    if operation.halo is not None:
        return operation.halo(gpu, shape, step.params)
    return 0.0 if operation.stage is not None else math.inf


def obstacle(gpu: Gpu, todo: Plan, shape: Shape) -> str | None:
    """Returns the name of the first step that needs all rows of its input at once, if there is one."""
    return next((step.operation.name for step in todo.steps if math.isinf(halo_of(gpu, step, shape))), None)


def rows_at_a_time(gpu: Gpu, todo: Plan, shape: Shape) -> int:
    """Returns how many rows a block should have.

    Raises DeviceError if the device has no room for a single one.
    """
    planes, height, width = shape
    row, room = 4 * planes * width, gpu.limits.global_bytes
    each, fixed, widest = float(_ENDS * row), 0.0, 0.0
    for step in todo.steps:
        halo = min(halo_of(gpu, step, shape), height)
        if halo:
            copies = _LOCAL + step.traits.bytes_per_value / 4
            each += copies * row
            fixed += 2 * halo * copies * row
        fixed += step.traits.fixed_bytes + step.operation.resident(gpu, shape, step.params)
        widest = max(widest, halo)
    most = int((room - fixed) // each)
    if most < 1:
        raise DeviceError(
            f"rows of {width} pixels need {(fixed + each) / 1e6:.3g} MB of the device's memory for this, of "
            f"{room / 1e6:.3g} MB: raise the limit, or use another device"
        )
    wanted = max(1, _ENOUGH // row, math.ceil(_PER_HALO * widest))
    return min(most, wanted, height, max(1, gpu.limits.max_alloc_bytes // row))


def flow(
    gpu: Gpu,
    todo: Plan,
    blocks: Iterable[Image],
    decoding: Decoding | None,
    shape: Shape,
    target: Target | None = None,
) -> Iterator[Image | Stored]:
    """Does the steps of a plan on the rows of a picture, of which no step needs all at once.

    Parameters
    ----------
    blocks : iterable of Image
        The picture's rows from the first to the last, each Image with its ``part``: pixels for a ``decoding``, as
        :func:`gpuops.plan.run` takes them, or planes.
    shape : (planes, height, width)
        That of the whole picture.
    target : Target, optional
        Where the result is going.

    Yields
    ------
    The result's rows from the first to the last: planes with their ``part``, or what is stored for the target.
    """
    stream: Iterable[Image] = blocks
    waiting: tuple[Step, ...] = ()
    for step in todo.steps:
        halo = halo_of(gpu, step, shape)
        if not halo:
            waiting += (step,)
            continue
        if len(todo.steps) == 1 and step.operation.ends and decoding is not None and target is not None:
            yield from _from_pixels(gpu, todo, blocks, int(halo), decoding, target)
            return
        if waiting or decoding is not None:
            stream = _apart(gpu, todo._replace(steps=waiting), stream, decoding)
        stream, waiting, decoding = _local(gpu, todo._replace(steps=(step,)), stream, int(halo)), (), None
    for block in stream:
        yield run(gpu, todo._replace(steps=waiting), block, decoding, target)


def settled(
    gpu: Gpu, todo: Plan, begin: Callable[[], Iterable[Image]], decoding: Decoding | None, shape: Shape
) -> Plan:
    """Returns a plan that leaves nothing to the picture. Each figure that a step waits for takes a sweep over it.

    ``begin`` returns its blocks, as for :func:`flow`.
    """
    place = 0
    while place < len(todo.steps):
        before, step, after = todo.steps[:place], todo.steps[place], todo.steps[place + 1 :]
        measure = step.operation.measure(gpu, shape, step.params)
        if measure is None:
            place += 1
            continue
        figures = None
        images: Iterable[Image | Stored] = (
            () if measure.of is None else flow(gpu, todo._replace(steps=before), begin(), decoding, shape)
        )
        planes = (
            prepared(gpu, image, step.traits, todo.space) for image in images if isinstance(image, Image)
        )
        for rows, new in _with_halo(planes, measure.halo, measure.align, row_axis=1):
            assert measure.of is not None
            of_rows = measure.of(gpu, rows, new)
            if of_rows is not None:
                figures = of_rows if figures is None else figures + of_rows
        settled_steps = (Step.of(params, step.name) for params in measure.settled(figures))
        todo = todo._replace(steps=(*before, *settled_steps, *after))
    return todo


def _apart(gpu: Gpu, todo: Plan, blocks: Iterable[Image], decoding: Decoding | None) -> Iterator[Image]:
    """Does steps that look at each pixel alone."""
    for block in blocks:
        result = run(gpu, todo, block, decoding)
        assert isinstance(result, Image)
        yield result


def _local(gpu: Gpu, todo: Plan, blocks: Iterable[Image], halo: int) -> Iterator[Image]:
    """Does a step that looks at ``halo`` rows above and below."""
    (step,) = todo.steps
    planes = (prepared(gpu, block, step.traits, todo.space) for block in blocks)
    for rows, at in _with_halo(planes, halo, step.operation.align(step.params), row_axis=1):
        result = run(gpu, todo, rows)
        assert isinstance(result, Image)
        yield _rows(result, at)


def _from_pixels(
    gpu: Gpu, todo: Plan, blocks: Iterable[Image], halo: int, decoding: Decoding, target: Target
) -> Iterator[Image | Stored]:
    """Does the same from a file's pixels to a file's pixels, in the operation's own launches.

    These also count values that were lost in the halo, which belong to other blocks. Where there are any, planes are
    made, of which each row is stored, and counted, once.
    """
    lossless = True
    for rows, at in _with_halo(blocks, halo, todo.steps[0].operation.align(todo.steps[0].params), row_axis=0):
        if lossless:
            stored = run(gpu, todo, rows, decoding, target)
            assert isinstance(stored, Stored)
            if losses(stored.lost) == Losses():
                stored.pixels.part = rows.part
                yield replace(stored, pixels=_rows(stored.pixels, at, row_axis=0))
                continue
            lossless = False
        planes = run(gpu, todo, rows, decoding)
        assert isinstance(planes, Image)
        yield _rows(planes, at)


def _with_halo(
    blocks: Iterable[Image], halo: int, align: int, *, row_axis: int
) -> Iterator[tuple[Image, slice]]:
    """Gives rows with those above and below that they need, and the slice of those that are new.

    ``align``: the first of them is a multiple of this. ``row_axis`` is 1 for planes, which may be overwritten if they
    are ``owned``, and 0 for pixels.
    """
    held: Image | None = None
    made = 0
    for block in blocks:
        rows = block
        if held is not None:
            rows, held = _below(held, rows, row_axis), None
        assert rows.part is not None
        first, height = rows.part
        end = first + rows.shape[row_axis]
        ready = height if end == height else end - halo
        if ready <= made:  # rows below are still missing
            held = rows
            continue
        start = max(0, ready - halo) // align * align
        if end < height and start < end:
            held = _rows(rows, slice(max(0, start - first), rows.shape[row_axis]), row_axis)
        rows.owned = held is not rows
        yield rows, slice(made - first, ready - first)
        made = ready


def _rows(image: Image, at: slice, row_axis: int = 1) -> Image:
    """Returns some rows: the Image itself if these are all of them, else a copy."""
    assert image.part is not None
    if at == slice(0, image.shape[row_axis]):
        return image
    plane = _as_planes(image, row_axis)
    found = cut(plane, (at.start, 0), (at.stop - at.start, plane.shape[2]))
    return _like(found, image, Part(image.part.first + at.start, image.part.height), row_axis)


def _below(above: Image, rows: Image, row_axis: int) -> Image:
    """Returns the rows of two Images, one below the other."""
    a, b = _as_planes(above, row_axis), _as_planes(rows, row_axis)
    planes, count, width = a.shape
    both = b.like((planes, count + b.shape[1], width))
    copy(a, (0, 0), both, (0, 0), a.shape)
    copy(b, (0, 0), both, (count, 0), b.shape)
    assert above.part is not None
    return _like(both, rows, above.part, row_axis)


def _as_planes(image: Image, row_axis: int) -> Image:
    """Returns pixels (rows, columns, channels) as a plane, whose values are theirs; planes as they are."""
    if row_axis == 1:
        return image
    rows, columns, channels = image.shape
    return Image(image.gpu, image.buffer, (1, rows, columns * channels), image.dtype)


def _like(planes: Image, image: Image, part: Part, row_axis: int) -> Image:
    """Returns rows that :func:`_as_planes` has made planes of, with the attributes of an ``image``."""
    shape = planes.shape if row_axis == 1 else (planes.shape[1], *image.shape[1:])
    found = Image(image.gpu, planes.buffer, shape, image.dtype, alpha=image.alpha, space=image.space)
    found.orientation, found.part, found.owned = image.orientation, part, True
    return found
