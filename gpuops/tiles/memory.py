"""The memory plan: whether a whole image fits the device, and otherwise how many of its rows fit."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DeviceMemoryError, are_allowed, byte_count
from .transfers import TURNS

if TYPE_CHECKING:
    from ..gpu import Gpu

ENOUGH = 1 << 25  # bytes of a slab: larger slabs are moved no faster
# The most bytes that the pool takes for one byte: sizes are rounded up to a sixteenth of the next power of two.
ROUNDED = 17 / 16
# The most pixels of a picture as a whole: kernels count them by integers of 32 bits with a sign.
MOST_PIXELS = 2**31 - 1
_SHARE = 8  # the part of the device's memory, as 1 / n, for rows that need little beside them
# Bytes of an array on the host from which on a GPU gets it in slabs, though it has room for all of it. That is 1.2 to
# 1.8 times as fast: transfers overlap with computing, and several threads get new pages (docs/benchmarks).
_LARGE = 1 << 27


def fits(
    gpu: Gpu, shape: Sequence[int], dtype: np.dtype[Any], copies: float, memory: int | None = None
) -> bool:
    """Whether memory has room for so many ``copies`` of an image (planes, height, width)."""
    nbytes, limits = prod(shape) * dtype.itemsize, gpu.limits
    return copies * nbytes <= (memory or limits.global_bytes) and nbytes <= limits.max_alloc_bytes


def no_room(gpu: Gpu, what: str, needed: float) -> DeviceMemoryError:
    """Returns the error that the device has no room for the least part of some work, which takes ``needed`` bytes.

    ``what``: the beginning of the line, such as "a row of 12 pixels needs".
    """
    there = gpu.limits.global_bytes
    return DeviceMemoryError(
        f"{what} {byte_count(needed, up=True)} of the device's memory, of {byte_count(there)}: "
        "raise the limit, or use another device",
        needed,
        are_allowed(there),
    )


def least(nbytes: int, copies: int) -> int:
    """Bytes of memory in which an image of ``nbytes`` just does not fit, so that it goes in slabs."""
    return copies * nbytes - 1


def room(gpu: Gpu, nbytes: int, copies: int) -> int:
    """The bytes of the device's memory to use for an array of ``nbytes`` on the host."""
    memory = gpu.limits.global_bytes
    return memory if gpu.limits.is_cpu or nbytes < _LARGE else min(memory, least(nbytes, copies))


def turns(gpu: Gpu, height: int, row: int) -> list[slice]:
    """Rows of ``row`` bytes in turns, for work that needs little beside them."""
    return parts(height, row, min(ENOUGH, gpu.limits.global_bytes // _SHARE))


def parts(height: int, row: int, most: int) -> list[slice]:
    """Rows of ``row`` bytes in parts of ``most`` bytes, or of one row."""
    count = max(1, most // max(1, row))
    return [slice(start, min(start + count, height)) for start in range(0, height, count)]


def cost(row: int, moved: int, copies: int) -> int:
    """Bytes of the device's memory for a row that the work takes, as :func:`units` has it."""
    return TURNS * (moved + row) + copies * row


def units(gpu: Gpu, memory: int, *, row: int, moved: int, copies: int, margin: int = 0, rows: int = 1) -> int:
    """The most units that a slab may make, of ``rows`` rows each.

    Parameters
    ----------
    row, moved
        Bytes of a row on the device, and on its way there and back.
    copies
        The copies of a row that the work takes.
    margin
        Units that are read before and after those that are made.

    Raises
    ------
    DeviceError
        There is no room for a unit.
    """
    each = cost(row, moved, copies)
    most = min(memory // each, gpu.limits.max_alloc_bytes // row, max(1, ENOUGH // row, 16 * rows * margin))
    # The margins before and after are taken off, and the units by which the last slab may be larger.
    count = most // rows - 3 * margin
    if count < 1:
        needed = (3 * margin + 1) * rows
        raise no_room(gpu, f"{needed} rows of {byte_count(row)} need", needed * each)
    return count
