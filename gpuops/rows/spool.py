"""Matrices on the host that one sweep fills by rows and another one takes by panels of columns, or the other way.

They are in memory, or in a scratch file, which holds one panel behind the other: a panel is read in one piece, and rows
in as many pieces as there are panels.
"""

from __future__ import annotations

import errno
from abc import ABC, abstractmethod
from contextlib import ExitStack
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from ..files import drafts
from ..process import descriptors

Array = npt.NDArray[Any]
Shape = tuple[int, int, int]


class Spool(ABC):
    """A matrix of ``shape`` (planes, rows, columns) and ``dtype``, whose columns are divided into ``panels``.

    Threads may use different parts of it at the same time.
    """

    def __init__(self, shape: Shape, dtype: np.dtype[Any], width: int) -> None:
        self.shape, self.dtype = shape, dtype
        columns = shape[2]
        self.panels = [slice(first, min(first + width, columns)) for first in range(0, columns, width)]

    @abstractmethod
    def rows(self, plane: int, at: slice) -> Array:
        """Returns the rows ``at`` of a plane."""

    def block(self, at: slice, planes: slice = slice(None)) -> Array:
        """Returns the rows ``at`` of several planes: (planes, rows, columns)."""
        rows = [self.rows(plane, at) for plane in range(self.shape[0])[planes]]
        return rows[0][None] if len(rows) == 1 else np.stack(rows)

    def put_block(self, first: int, block: Array) -> None:
        """Fills the rows from ``first`` on of the first planes, as many as there are."""
        for plane, rows in enumerate(block):
            self.put_rows(plane, first, rows)

    @abstractmethod
    def put_rows(self, plane: int, first: int, rows: Array) -> None:
        """Fills the rows from ``first`` on of a plane."""

    @abstractmethod
    def panel(self, plane: int, at: slice, rows: int) -> Array:
        """Returns the first ``rows`` rows of one of the panels, contiguous."""

    @abstractmethod
    def put_panel(self, plane: int, at: slice, panel: Array) -> None:
        """Fills the first rows of one of the panels, as many as there are."""


class InMemory(Spool):
    """A spool in memory: ``array`` is all of it."""

    def __init__(self, array: Array, width: int) -> None:
        planes, rows, columns = array.shape
        super().__init__((planes, rows, columns), array.dtype, width)
        self.array = array

    def rows(self, plane: int, at: slice) -> Array:
        return self.array[plane, at]

    def put_rows(self, plane: int, first: int, rows: Array) -> None:
        self.array[plane, first : first + len(rows)] = rows

    def panel(self, plane: int, at: slice, rows: int) -> Array:
        return np.ascontiguousarray(self.array[plane, :rows, at])

    def put_panel(self, plane: int, at: slice, panel: Array) -> None:
        self.array[plane, : len(panel), at] = panel


class InFile(Spool):
    """A spool in an open file."""

    def __init__(self, file: int, folder: str, shape: Shape, dtype: np.dtype[Any], width: int) -> None:
        super().__init__(shape, dtype, width)
        self._file, self._folder = file, folder

    def rows(self, plane: int, at: slice) -> Array:
        rows = np.empty((at.stop - at.start, self.shape[2]), self.dtype)
        for panel in self.panels:
            piece = np.empty((len(rows), panel.stop - panel.start), self.dtype)
            self._read(self._place(plane, panel, at.start), piece)
            rows[:, panel] = piece
        return rows

    def put_rows(self, plane: int, first: int, rows: Array) -> None:
        for panel in self.panels:
            self._write(self._place(plane, panel, first), rows[:, panel])

    def panel(self, plane: int, at: slice, rows: int) -> Array:
        panel = np.empty((rows, at.stop - at.start), self.dtype)
        self._read(self._place(plane, at, 0), panel)
        return panel

    def put_panel(self, plane: int, at: slice, panel: Array) -> None:
        self._write(self._place(plane, at, 0), panel)

    def _place(self, plane: int, panel: slice, row: int) -> int:
        """Returns the byte at which a row of a panel begins."""
        planes, rows, _ = self.shape
        before = panel.start * planes * rows
        return int((before + (plane * rows + row) * (panel.stop - panel.start)) * self.dtype.itemsize)

    def _read(self, offset: int, into: Array) -> None:
        left = into.reshape(-1).view(np.uint8).data
        with drafts.telling_of_scratch(self._folder):
            while left:
                count = descriptors.read_at(self._file, left, offset)
                if not count:
                    raise OSError(errno.EIO, "the scratch file has been cut off")
                left, offset = left[count:], offset + count

    def _write(self, offset: int, values: Array) -> None:
        contiguous = np.ascontiguousarray(values, self.dtype)
        left = contiguous.reshape(-1).view(np.uint8).data
        with drafts.telling_of_scratch(self._folder):
            while left:
                count = descriptors.write_at(self._file, left, offset)
                left, offset = left[count:], offset + count


def new_spool(stack: ExitStack, folder: str | None, shape: Shape, dtype: np.dtype[Any], width: int) -> Spool:
    """Returns a spool in memory, or in a file in a ``folder``, which goes with the stack, however the process ends.

    Raises FileError if there is no such folder, if nobody may write there, or if its disk has no room.
    """
    if folder is None or not prod(shape):
        return InMemory(np.empty(shape, dtype), max(1, width))
    file = stack.enter_context(drafts.scratch_file(folder, prod(shape) * dtype.itemsize))
    return InFile(file, folder, shape, dtype, width)
