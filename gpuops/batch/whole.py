"""Chains on whole pictures: whether a device, and memory, have room for one, and the message where there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from math import prod
from typing import TYPE_CHECKING

from ..errors import DeviceMemoryError, byte_count
from ..tiles.memory import MOST_PIXELS, ROUNDED

if TYPE_CHECKING:
    from ..files import Picture
    from ..gpu import Gpu
    from ..rows.budget import Budget
    from ..rows.schedule import RowSchedule, Shape
    from .item import FileReading

# Bytes of the device's memory for each value, beside the file's own: planes, a step's result, the pixels to be written.
_ENDS = 12


def is_too_large(schedule: RowSchedule, picture: Picture, budget: Budget) -> bool:
    """Says whether the device has no room for the whole picture, or memory no room for its results."""
    grows = largest_bytes(schedule, picture) > picture.pixels.nbytes
    whole = budget.whole(largest_bytes(schedule, picture))
    return is_too_large_for_device(schedule, picture) or (grows and not budget.has_room(whole))


def is_too_large_for_device(schedule: RowSchedule, picture: Picture) -> bool:
    """Says whether the device has no room for the whole picture."""
    limits, values = schedule.gpu.limits, picture.pixels.size
    largest = max(map(prod, schedule.shapes))
    # Further memory of steps that need all rows does not matter here: such steps get the whole picture anyway.
    traits = [step.traits for step in schedule.plan.steps]
    beside = (of_step.bytes_per_value * values + of_step.fixed_bytes for of_step in traits)
    return (
        4 * largest > limits.max_alloc_bytes
        or _with_ends(picture, largest, beside) > limits.global_bytes
        or max(height * width for _, height, width in schedule.shapes) > MOST_PIXELS
    )


def device_bytes(schedule: RowSchedule, picture: Picture) -> float:
    """Returns how many bytes of the device's memory the work takes on a whole picture."""
    beside = (at.beside_whole(picture.pixels.size) for at in schedule.steps)
    return _with_ends(picture, max(map(prod, schedule.shapes)), beside)


def _with_ends(picture: Picture, largest: int, beside: Iterable[float]) -> float:
    """Returns the device's bytes for a picture, for the ``largest`` of its results, and for each step's ``beside``."""
    return ROUNDED * (picture.pixels.nbytes + _ENDS * largest + max(beside, default=0.0))


def largest_bytes(schedule: RowSchedule, picture: Picture) -> int:
    """Returns the bytes of the largest picture among the input and all results, as pixels of the input's depth."""
    return max(map(prod, schedule.shapes)) * picture.pixels.itemsize


def shape_of(picture: Picture, how: FileReading | None = None) -> Shape:
    """Returns (planes, height, width)."""
    dropped = how is not None and how.drops_alpha
    return picture.channels - dropped, picture.height, picture.width


@contextmanager
def needing(gpu: Gpu, what: Callable[[], str | None], nbytes: Callable[[], float]) -> Iterator[None]:
    """Makes the error that the device is out of memory say why so much is needed.

    Parameters
    ----------
    what : callable
        Returns how the line begins, such as "rotate needs the whole picture". None keeps the error as it is.
    nbytes : callable
        Returns the bytes that the work takes on the device.
    """
    try:
        yield
    except DeviceMemoryError as error:
        if (words := what()) is None:
            raise
        needed = max(nbytes(), error.needed)
        hint = "use a smaller picture or another device" if gpu.memory is None else "raise --device-memory"
        raise DeviceMemoryError(
            f"{words}, which takes {byte_count(needed, up=True)} of the device's memory, and {error.room}: {hint}",
            needed,
            error.room,
        ) from error
