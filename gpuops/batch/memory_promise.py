"""The host's memory that a chain by rows takes, and the part of ``--memory`` that is left for blocks and spools."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import files
from ..errors import FileError, are_allowed, byte_count
from ..files.formats import by_rows
from ..files.strips import CODEC
from ..operation import Spectral, Turn
from ..process.memory import of_machine
from ..tiles import course

if TYPE_CHECKING:
    from ..plan import Plan
    from ..tiles.course import Shape
    from ..tiles.legs import Leg
    from .item import Item
    from .row_writer import Goal

# Blocks of rows that are read, and that are written, in memory at a time.
_AT_ONCE = 3
# Panels of columns, or blocks of rows of spectra, in memory at a time: one is read, one is worked on, one is written,
# and there is a copy of one.
_PANELS = 4
# Columns of a panel for which there should be room.
_COLUMNS = 8
# The share of the memory that spools leave for all else, as 1 / n.
_SHARE = 4


class Spooled(NamedTuple):
    """A leg's result as a spool keeps it until it is turned, or its spectra until they are filtered.

    Attributes
    ----------
    shape : (planes, rows, columns)
    dtype : dtype
        float32, a file's pixel as one item, or complex64.
    there : bool
        Whether the values are in memory already, as the input's picture.
    in_memory : bool
        Whether they are kept in memory, and not in a file.
    """

    shape: Shape
    dtype: np.dtype[Any]
    there: bool = False
    in_memory: bool = True

    @property
    def nbytes(self) -> int:
        """Bytes of all values."""
        return prod(self.shape) * self.dtype.itemsize

    @property
    def held(self) -> int:
        """Bytes of memory beside the picture's."""
        return self.nbytes if self.in_memory and not self.there else 0


@dataclass
class MemoryPromise:
    """The host's memory that the legs of a chain may take.

    Attributes
    ----------
    item : Item
    strips : Strips
        The input.
    legs : tuple of Leg
    goals : list of Goal
        The files that are written.
    as_whole : int, optional
        The memory with which the work would be done on the whole picture. None: it could not.
    spools : list of Spooled
        What is kept behind each leg but the last.
    """

    item: Item
    strips: files.Strips
    legs: tuple[Leg, ...]
    goals: list[Goal]
    as_whole: int | None = None
    spools: list[Spooled] = field(init=False)

    def __post_init__(self) -> None:
        self.spools = [self._kept(number) for number in range(len(self.legs) - 1)]
        for number in range(len(self.spools)):
            self._place(number)

    def block_bytes(self, number: int, todo: Plan) -> int:
        """Returns how many bytes the planes of a block may take on the device, so that the host's memory suffices, too.

        ``todo`` is the plan of the leg of this number. Raises FileError or DeviceError if a single row takes too much.
        """
        stretches = course.course(self.item.gpu, todo, self.legs[number].shape)
        ends, tables = self._ends(number)
        found = course.block_bytes(self.item.gpu, stretches, ends=ends, tables=tables)
        memory = self.item.options.memory
        if memory is None:
            return found
        fixed, rows = self._fixed + self._held(number), self._rows(number)
        least = fixed + self._least(number)
        if memory < least:
            enough = min(least, self.as_whole or least)
            hint = f"raise --memory to {-(-enough // 2**20)}M"
            raise self._refused(f"needs {byte_count(enough, up=True)} of memory", hint)
        each = _AT_ONCE * sum(row / course.row_bytes(shape) for row, shape in rows)
        return min(found, int((memory - fixed) / each))

    def _refused(self, needs: str, hint: str) -> FileError:
        names = ", ".join(str(goal.output.format) for goal in self._whole)
        why = f", as {names} is written as a whole: {by_rows('and')} are not" if names else ""
        memory = self.item.options.memory or 0
        return FileError(f"{self.item.path}: {needs}, and {are_allowed(memory)}{why}: {hint}")

    @property
    def _whole(self) -> list[Goal]:
        """The files that are written as a whole."""
        return [goal for goal in self.goals if not goal.output.format.write_rows]

    @property
    def _fixed(self) -> int:
        """Bytes that are taken all the time, by all files together."""
        fixed = CODEC * (1 + len(self.goals))
        fixed += 2 * sum(goal.shape[1] * goal.row for goal in self._whole)
        return fixed + _AT_ONCE * self.strips.least * self._read

    @property
    def _read(self) -> int:
        """Bytes of a row of the input's file."""
        return self.strips.picture.pixels.nbytes // self.strips.picture.height

    def _held(self, number: int) -> int:
        """Bytes of the spools that a leg reads and fills."""
        return sum(kept.held for kept in self.spools[max(0, number - 1) : number + 1])

    def _rows(self, number: int) -> list[tuple[int, Shape]]:
        """Returns the bytes of a row, and the shape of the whole, for everything that a leg reads and writes."""
        leg = self.legs[number]
        read = self._read if number == 0 else self.spools[number - 1].nbytes // leg.shape[1]
        written = [id(step.params) for step in leg.steps]
        if leg.end is None:
            written.append(id(None))  # the result
        rows = [(goal.row, goal.shape) for goal in self.goals if id(goal.params) in written]
        if leg.end is not None:
            rows.append((self.spools[number].nbytes // leg.result[1], leg.result))
        return [(read, leg.shape), *rows]

    def keeps_pixels(self, number: int) -> bool:
        """Says whether a leg's result is the file's own pixels, unchanged."""
        leg = self.legs[number]
        return number == 0 and not leg.steps and isinstance(leg.end, Turn)

    def at_once(self, number: int) -> tuple[int, int]:
        """Returns how many columns, and how many rows of spectra, go at a time while the end of a leg is done.

        Raises DeviceError if the device has no room for a column.
        """
        from ..fourier import products

        gpu, leg, memory = self.item.gpu, self.legs[number], self.item.options.memory
        assert isinstance(leg.end, Spectral)
        nbytes = math.inf if memory is None else (memory - self._fixed - self._held(number)) / _PANELS
        columns = products.columns_at_once(gpu, leg.result, leg.end, nbytes)
        return columns, products.rows_at_once(gpu, leg.result, leg.end, nbytes)

    def _ends(self, number: int) -> tuple[float, float]:
        """Returns what a leg takes on the device for spectra: copies of a block, and bytes all the time."""
        gpu, copies, tables = self.item.gpu, 0.0, 0.0
        for leg in self.legs[max(0, number - 1) : number + 1]:
            if isinstance(leg.end, Spectral):
                from ..fourier import products

                copies = max(copies, products.copies_of_rows(gpu, leg.result, leg.end))
                tables = max(tables, products.bytes_of_tables(leg.end))
        return copies, tables

    def _least(self, number: int) -> int:
        """Returns the least bytes of memory: those of one row of everything that is read and written, or of columns."""
        end, least = self.legs[number].end, _AT_ONCE * sum(row for row, _ in self._rows(number))
        if isinstance(end, Spectral):
            return max(least, _PANELS * _COLUMNS * end.column)
        return least

    def _kept(self, number: int) -> Spooled:
        """Returns the form in which a leg's result is kept."""
        leg = self.legs[number]
        if isinstance(leg.end, Spectral):
            return Spooled(leg.end.spooled(leg.result), np.dtype(np.complex64))
        if not self.keeps_pixels(number):
            return Spooled(leg.result, np.dtype(np.float32))
        pixels = self.strips.picture.pixels
        height, width, channels = pixels.shape
        pixel = np.dtype((np.void, channels * pixels.itemsize))
        return Spooled((1, height, width), pixel, there=self.strips.in_memory)

    def _place(self, number: int) -> None:
        """Puts a spool into a file if memory has no room for it.

        Raises FileError if there is no room, and no folder for a file.
        """
        options, kept = self.item.options, self.spools[number]
        has_room = self._enough(number) <= (options.memory or of_machine() // 2)
        if kept.there or has_room or (options.memory is None and options.scratch is None):
            return
        if options.scratch is None:
            enough = max(self._enough(number) for number in range(len(self.spools)))
            enough = min(enough, self.as_whole or enough)
            hint = f"raise --memory to {-(-enough // 2**20)}M, or give --scratch DIR"
            what = "spectrum takes" if isinstance(self.legs[number].end, Spectral) else "turned rows take"
            raise self._refused(f"its {what} {byte_count(kept.nbytes, up=True)}", hint)
        self.spools[number] = kept._replace(in_memory=False)

    def _enough(self, number: int) -> int:
        """Returns the bytes of memory that suffice for a spool and for all else that is in memory with it."""
        held = self._held(number)
        least = max(self._least(number), self._least(number + 1), held // (_SHARE - 1))
        return self._fixed + held + least
