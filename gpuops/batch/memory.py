"""The memory that chains take: of the device and the host for a picture as a whole, and of the host by rows.

By rows it is the part of ``--memory`` that is left for blocks and spools.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import files
from ..errors import DeviceMemoryError, FileError, byte_count
from ..files import Picture
from ..rows.blocks import Shape, block_bytes, row_bytes
from ..rows.budget import BESIDE, BLOCKS, PANELS, Budget, codecs, with_beside, with_spools, written_whole
from ..rows.schedule import RowSchedule
from ..tiles.memory import MOST_PIXELS, ROUNDED, no_room

if TYPE_CHECKING:
    from ..gpu import Gpu
    from .item import FileReading, Item
    from .row_writer import Goal

# Bytes of the device's memory for each value, beside the file's own: planes, a step's result, the pixels to be written.
_ENDS = 12
# Copies of the rows that EXR codes together, where those are many (measured: 3 to 5).
_CODED = 5
# Columns of a panel for which there should be room.
_COLUMNS = 8


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


def nbytes_of(picture: Picture) -> int:
    """Returns the bytes of a picture's pixels, and of the other channels of its file."""
    rest = picture.metadata.rest
    return picture.pixels.nbytes + (rest.nbytes if rest else 0)


def largest_bytes(schedule: RowSchedule, picture: Picture) -> int:
    """Returns the bytes of the largest picture among the input and all results, as pixels of the input's depth, and of
    the other channels of its file."""
    rest = picture.metadata.rest
    return max(map(prod, schedule.shapes)) * picture.pixels.itemsize + (rest.nbytes if rest else 0)


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


class Spooled(NamedTuple):
    """A segment's result as a spool keeps it until it is turned, filtered as spectra, or worked on in slabs.

    Attributes
    ----------
    shape : (planes, rows, columns)
    dtype : dtype
        float32, a file's pixel as one item, or complex64.
    there : bool
        Whether the values are in memory already, as the input's picture.
    in_memory : bool
        Whether they are kept in memory, and not in a file.
    beside : int
        Bytes of what is made on the way, which is kept there, too.
    """

    shape: Shape
    dtype: np.dtype[Any]
    there: bool = False
    in_memory: bool = True
    beside: int = 0

    @property
    def nbytes(self) -> int:
        """Bytes of all values."""
        return prod(self.shape) * self.dtype.itemsize

    @property
    def held(self) -> int:
        """Bytes of memory beside the picture's."""
        return self.nbytes + self.beside if self.in_memory and not self.there else 0


@dataclass
class MemoryPromise:
    """The host's memory that the segments of a chain may take.

    Attributes
    ----------
    item : Item
    strips : Strips
        The input.
    segments : tuple of RowSchedule
    goals : list of Goal
        The files that are written.
    as_whole : float, optional
        The memory with which the work would be done on the whole picture. None: it could not.
    spools : list of Spooled
        What is kept behind each segment but the last.
    """

    item: Item
    strips: files.Strips
    segments: tuple[RowSchedule, ...]
    goals: list[Goal]
    as_whole: float | None = None
    spools: list[Spooled] = field(init=False)

    def __post_init__(self) -> None:
        self.spools = [self._kept(number) for number in range(len(self.segments) - 1)]
        options, budget = self.item.options, self.item.budget
        if options.scratch is not None:
            for number, kept in enumerate(self.spools):
                if not kept.there and not budget.has_room(self._needed(number, number + 1)):
                    self.spools[number] = kept._replace(in_memory=False)
        needed = max(self._needed(max(0, number - 1), number) for number in range(len(self.segments)))
        if options.memory is not None and not budget.has_room(needed):
            raise self._refused(needed)

    def block_bytes(self, number: int, segment: RowSchedule) -> int:
        """Returns how many bytes the planes of a block may take on the device, so that the host's memory suffices, too.

        ``segment`` is that of this number, perhaps with figures that were found. Raises DeviceError if a single row
        takes too much there.
        """
        ends, tables = self._ends(number)
        room = block_bytes(self.item.gpu, segment.stages(), ends=ends, tables=tables)
        memory = self.item.options.memory
        if memory is None:
            return room
        each = BLOCKS * sum(row / row_bytes(shape) for row, shape in self._rows(number))
        return min(room, int(self._free(memory, number) / each))

    def _refused(self, needed: int) -> FileError:
        """Returns the error that memory has no room."""
        why = written_whole(goal.output.format for goal in self.goals)
        scratch = sum(kept.held for kept in self.spools)
        beside = self._fixed + max(map(self._least, range(len(self.segments))))
        beside = with_beside(beside, self._least_beside)
        return self.item.budget.refused(needed, self.as_whole, why=why, scratch=scratch, beside=beside)

    @property
    def _fixed(self) -> int:
        """Bytes that are taken all the time, by all files together."""
        fixed = codecs(1 + len(self.goals) + bool(self._least_beside))
        whole = (goal for goal in self.goals if not goal.output.format.write_rows)
        fixed += 2 * sum(goal.shape[1] * goal.row for goal in whole)
        fixed += _CODED * sum(goal.coded for goal in self.goals)
        return fixed + BLOCKS * self.strips.least * self._read

    @property
    def _least_beside(self) -> int:
        """Bytes of rows of other channels for which there has to be room; 0 if there are none."""
        rests = (goal.output.origin.metadata.rest for goal in self.goals if goal.output.format.read_all)
        rest = self.strips.picture.metadata.rest
        return rest.least if rest is not None and any(rests) else 0

    def _free(self, memory: int, number: int) -> int:
        """Returns what a segment has of the memory for its blocks."""
        least = self._least_beside
        rests = BESIDE * self.item.budget.beside(least) if least else 0
        return memory - self._fixed - self._held(number) - rests

    @property
    def _read(self) -> int:
        """Bytes of a row of the input's file."""
        return self.strips.picture.pixels.nbytes // self.strips.picture.height

    def _held(self, number: int) -> int:
        """Bytes of the spools that a segment reads and fills."""
        return sum(kept.held for kept in self.spools[max(0, number - 1) : number + 1])

    def _rows(self, number: int) -> list[tuple[int, Shape]]:
        """Returns the bytes of a row, and the shape of the whole, for everything that a segment reads and writes."""
        segment = self.segments[number]
        read = self._read if number == 0 else self.spools[number - 1].nbytes // segment.shape[1]
        written = [id(step.params) for step in segment.plan.steps]
        if segment.end is None:
            written.append(id(None))  # the result
        rows = [(goal.row, goal.shape) for goal in self.goals if id(goal.params) in written]
        if segment.end is not None:
            rows.append((self.spools[number].nbytes // segment.result[1], segment.result))
        return [(read, segment.shape), *rows]

    def keeps_pixels(self, number: int) -> bool:
        """Says whether a segment's result is the file's own pixels, unchanged."""
        segment = self.segments[number]
        return number == 0 and not segment.steps and segment.end is not None and segment.end.turn is not None

    def at_once(self, number: int) -> tuple[int, int]:
        """Returns how many columns, and how many rows of spectra, go at a time while the end of a segment is done.

        Raises DeviceError if the device has no room for a column.
        """
        from ..fourier import products

        gpu, segment, memory = self.item.gpu, self.segments[number], self.item.options.memory
        spectral = segment.filter
        assert spectral is not None
        nbytes = math.inf if memory is None else self._free(memory, number) / PANELS
        columns = products.columns_at_once(gpu, segment.result, spectral, nbytes)
        return columns, products.rows_at_once(gpu, segment.result, spectral, nbytes)

    def slab_bytes(self, number: int) -> int:
        """Returns how many bytes of the device's memory work in slabs at the end of a segment may take, so that the
        host's memory suffices, too. Raises DeviceError if the device has too little."""
        gpu, end, memory = self.item.gpu, self.segments[number].end, self.item.options.memory
        assert end is not None and end.slabbed is not None
        there = gpu.limits.global_bytes
        if end.slabbed.least > there:
            raise no_room(gpu, f"rows of {end.shape[2]} pixels need", end.slabbed.least)
        return there if memory is None else min(there, self._free(memory, number))

    def _ends(self, number: int) -> tuple[float, float]:
        """Returns what a segment takes on the device for spectra: copies of a block, and bytes all the time."""
        gpu, copies, tables = self.item.gpu, 0.0, 0.0
        for segment in self.segments[max(0, number - 1) : number + 1]:
            if (spectral := segment.filter) is not None:
                from ..fourier import products

                copies = max(copies, products.copies_of_rows(gpu, segment.result, spectral))
                tables = max(tables, products.bytes_of_tables(spectral))
        return copies, tables

    def _least(self, number: int) -> int:
        """Returns the least bytes of memory: those of one row of everything that is read and written, or of columns."""
        least, end = BLOCKS * sum(row for row, _ in self._rows(number)), self.segments[number].end
        if end is not None and end.spectral is not None:
            return max(least, PANELS * _COLUMNS * end.spectral.column)
        return max(least, end.slabbed.least) if end is not None and end.slabbed is not None else least

    def _kept(self, number: int) -> Spooled:
        """Returns the form in which a segment's result is kept."""
        segment = self.segments[number]
        if (spectral := segment.filter) is not None:
            return Spooled(spectral.spooled(segment.result), np.dtype(np.complex64))
        if not self.keeps_pixels(number):
            slabbed = segment.end.slabbed if segment.end is not None else None
            beside = slabbed.beside if slabbed is not None else 0
            return Spooled(segment.result, np.dtype(np.float32), beside=beside)
        pixels = self.strips.picture.pixels
        height, width, channels = pixels.shape
        pixel = np.dtype((np.void, channels * pixels.itemsize))
        return Spooled((1, height, width), pixel, there=self.strips.in_memory)

    def _needed(self, *segments: int) -> int:
        """Returns the bytes of memory in which these segments, one after the other, have room with their spools."""
        held = self._held(segments[0])
        needed = self._fixed + max(held + max(map(self._least, segments)), with_spools(held))
        return with_beside(needed, self._least_beside)
