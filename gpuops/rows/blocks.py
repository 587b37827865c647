"""How many rows of a picture are on a device at a time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..tiles.memory import ROUNDED, no_room

if TYPE_CHECKING:
    from ..gpu import Gpu
    from .schedule import RowStage

Shape = tuple[int, int, int]

# Bytes of a block's planes from which on larger blocks are hardly faster, and as many as they may have to be.
ENOUGH, MOST = 1 << 24, 1 << 25
# Rows of a block for each row on which much of the work is done once more.
PER_AGAIN = 32
# Rows of a block for each row of the largest halo, if there is room: the halo is computed once more for each block.
# Twice as many take no less of the processor's time for a bloom of 1.2 gigapixels, and a quarter more memory.
_PER_HALO = 2
# Windows of a block, up to twice as many bytes, where a pass makes fewer rows than it takes: each block repeats one.
_WINDOWS = 8
# Copies of a block's planes that are on the device at a time: a file's floats, planes, a step's result, the pixels to
# be written, and one to spare.
_ENDS = 5
# Copies of its rows that a pass has beside its own work: the rows that it keeps, those rows joined, and the result.
_LOCAL = 3
# Copies of its rows that a ``write`` step takes: light, and the pixels that are made of it.
_SEEN = 3


def block_bytes(gpu: Gpu, stages: tuple[RowStage, ...], *, ends: float = 0.0, tables: float = 0.0) -> int:
    """Returns how many bytes the planes of a block of rows should take, both of the file's rows and of a pass's result.

    ``ends``: copies of a block that are taken before the first stage or behind the last one, beside the usual ones;
    ``tables``: bytes that are taken all the time.

    Raises DeviceError if the device has no room for a single row of each.
    """
    room, widest, again, shrinking = gpu.limits.global_bytes / ROUNDED, 0, 0, 0
    copies, fixed, least = _ENDS + ends, tables, row_bytes(stages[0].shape)
    beside = 0.0  # copies that a step on these rows alone has beside its input and its result
    for stage in stages:
        for step in stage.steps:
            fixed += step.traits.fixed_bytes + step.operation.fixed_bytes(gpu, stage.shape, step.params)
            if stage.one is None:
                beside = max(beside, step.traits.bytes_per_value / 4 - 1)
        copies += _SEEN * sum(step.operation.writes for step in stage.steps)
        if stage.one is not None:
            row, of_pass = row_bytes(stage.shape), _LOCAL + stage.one.bytes_per_value / 4
            copies += of_pass
            fixed += (stage.one.window - 1) * row * of_pass
            widest = max(widest, stage.one.window * row)
            again = max(again, stage.one.again * row)
            if stage.result[1] < stage.shape[1]:
                shrinking = max(shrinking, stage.one.window * row)
            least = max(least, row, stage.one.align * row_bytes(stage.result))
    copies += beside
    most = int(min((room - fixed) // copies, gpu.limits.max_alloc_bytes - widest))
    if most < least:
        needed = ROUNDED * (fixed + copies * least)
        raise no_room(gpu, f"rows of {stages[0].shape[2]} pixels need", needed)
    enough = max(ENOUGH, min(PER_AGAIN * again, MOST), min(_WINDOWS * shrinking, 2 * MOST))
    return max(least, min(most, max(enough, math.ceil(_PER_HALO * widest / 2))))


def row_bytes(shape: Shape) -> int:
    """Returns the bytes of a row of planes."""
    return 4 * shape[0] * shape[2]


def usual_rows(shape: tuple[int, ...]) -> int:
    """Returns how many rows of pixels (height, width, channels) come at a time, unless steps or a device want more."""
    height, width, channels = shape
    return rows_at_once((channels, height, width), ENOUGH)


def rows_at_once(shape: Shape, at_once: int) -> int:
    """Returns how many rows come at a time if their planes are to take so many bytes."""
    return max(1, min(shape[1], at_once // row_bytes(shape)))
