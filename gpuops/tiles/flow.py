"""A chain done on rows as they come, from the first to the last, so that a device needs room for some of them alone.

A picture comes in blocks of rows. A step that looks at a pixel's neighbours keeps the last rows that it got until those
below have come. So each row is read, converted and written once. The geometry is that of the whole picture: an Image's
``part`` says which of its rows the Image has.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from ..errors import DeviceError
from ..image import Image, Part
from ..plan import Plan, Step, prepared, run
from .rectangles import copy, cut

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..pixels.coding import Decoding
    from ..space import Stored, Target

Shape = tuple[int, int, int]

# Bytes of a block's planes from which on larger blocks are no faster.
_ENOUGH = 1 << 25
# Rows of a block for each row of the largest halo, if there is room: the halo is computed once more for each block.
_PER_HALO = 4
# Copies of a block's planes that are on the device while it comes and goes.
_ENDS = 3
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
        fixed += step.traits.fixed_bytes
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
    for place in range(len(todo.steps)):
        step = todo.steps[place]
        while (measure := step.operation.measure(step.params)) is not None:
            found = None
            for rows in flow(gpu, todo._replace(steps=todo.steps[:place]), begin(), decoding, shape):
                assert isinstance(rows, Image)
                of_rows = measure.of(gpu, prepared(gpu, rows, step.traits, todo.space))
                if of_rows is not None:
                    found = of_rows if found is None else found + of_rows
            params = measure.settled(found)
            step = step._replace(params=params, traits=step.operation.traits_of(params))
            todo = todo._replace(steps=(*todo.steps[:place], step, *todo.steps[place + 1 :]))
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
    held: Image | None = None
    made = 0
    for block in blocks:
        rows = prepared(gpu, block, step.traits, todo.space)
        if held is not None:
            rows, held = _below(held, rows), None
        assert rows.part is not None
        first, height = rows.part
        end = first + rows.shape[1]
        ready = height if end == height else end - halo
        if ready <= made:  # rows below are still missing
            held = rows
            continue
        if end < height:
            held = _rows(rows, slice(max(0, ready - halo - first), rows.shape[1]))
        rows.owned = held is not rows
        result = run(gpu, todo, rows)
        assert isinstance(result, Image)
        del rows
        yield _rows(result, slice(made - first, ready - first))
        made = ready


def _rows(image: Image, at: slice) -> Image:
    """Returns some rows of planes: the Image itself if these are all of them, else a copy."""
    assert image.part is not None
    if at == slice(0, image.shape[1]):
        return image
    found = cut(image, (at.start, 0), (at.stop - at.start, image.shape[2]))
    found.part, found.owned = Part(image.part.first + at.start, image.part.height), True
    return found


def _below(above: Image, rows: Image) -> Image:
    """Returns planes with the rows of two Images, one below the other."""
    planes, count, width = above.shape
    both = rows.like((planes, count + rows.shape[1], width))
    copy(above, (0, 0), both, (0, 0), above.shape)
    copy(rows, (0, 0), both, (count, 0), rows.shape)
    both.part, both.owned = above.part, True
    return both
