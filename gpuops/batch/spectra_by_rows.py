"""Transforms, forward and inverse, that the device or memory has no room for: one axis after the other.

A first sweep transforms rows as they come, and a spool keeps them. A second sweep takes panels of columns from the
spool, transforms them, and puts them back. Then rows leave the spool. An inverse transform takes rows of a spectrum to
the spool, transforms columns, and transforms rows as they leave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import FileError, are_allowed, byte_count
from ..files.strips import CODEC
from ..fourier import axes, room
from ..fourier.axes import Shape, Size
from ..fourier.room import Parts
from ..params.fft import SpectrumParams
from ..process.memory import of_machine
from ..rows.panels import in_panels
from ..rows.spool import InMemory, Spool, in_scratch
from ..rows.threads import Writing

if TYPE_CHECKING:
    from ..image import Image
    from .item import Item

Array = npt.NDArray[Any]
#: Bytes of memory that the codecs take of the file that is read and of the one that is written.
CODECS = 2 * CODEC
# Parts of a sweep in memory at a time: one is read, one is worked on, one is written; and a copy of one.
_AT_ONCE = 4
# The share of the allowed memory that parts may take, the codecs' left out.
_SHARE = 4


def allowed(item: Item, held: int = 0) -> int:
    """Returns the bytes of the host's memory that an item may take, beside those that it holds already."""
    return (item.options.memory or of_machine() // 2) - held


@dataclass(frozen=True)
class Sweeps:
    """The sweeps over a picture, or over a spectrum.

    Attributes
    ----------
    item : Item
    pixels : (height, width, channels)
        The picture's.
    row : int
        Bytes of a row of the picture's file.
    params : SpectrumParams
    parts : Parts
        How much of each axis is worked on at a time.
    memory : int
        Bytes of the host's memory that the sweeps may take.
    """

    item: Item
    pixels: Shape
    row: int
    params: SpectrumParams
    parts: Parts
    memory: int

    @classmethod
    def of(
        cls,
        item: Item,
        pixels: Shape,
        row: int,
        params: SpectrumParams,
        *,
        least: int = 1,
        beside: int = 0,
        held: int = 0,
    ) -> Sweeps:
        """Chooses the parts. ``least``: rows of the file that come together; ``beside``: planes that a conversion
        takes beside its rows; ``held``: bytes of memory that are in use all the time.

        Raises FileError if memory has no room for a row of the file and of the spectrum, or for a column.
        """
        found = room.parts(item.gpu, pixels, row, params, planes_beside=beside)
        size, itemsize = room.padded(pixels, params), axes.stored(params).itemsize
        spectrum = pixels[2] * axes.width(size, params) * itemsize
        fixed = CODECS + _AT_ONCE * least * row
        memory = allowed(item, held)
        budget = max(0, memory - fixed) // _SHARE
        rows = min(found.rows, budget // (_AT_ONCE * (row + spectrum)))
        columns = min(found.columns, budget // (_AT_ONCE * size[0] * itemsize))
        if min(rows, columns) < 1:
            needed = held + fixed + _SHARE * _AT_ONCE * max(row + spectrum, size[0] * itemsize)
            raise FileError(
                f"{item.path}: needs {byte_count(needed, up=True)} of memory, and "
                f"{are_allowed(allowed(item))}: raise --memory"
            )
        return cls(item, pixels, row, params, Parts(rows, columns), memory)

    @property
    def size(self) -> Size:
        """The transform's (rows, columns)."""
        return room.padded(self.pixels, self.params)

    def spool(self, stack: ExitStack) -> Spool:
        """Returns a spool for the spectrum: in memory if there is room, else in a file that goes with the stack."""
        item = self.item
        shape = self.pixels[2], self.size[0], axes.width(self.size, self.params)
        dtype = axes.stored(self.params)
        nbytes, memory = prod(shape) * dtype.itemsize, self.memory
        needed = nbytes + CODECS + max(0, memory - CODECS) // _SHARE
        if needed <= memory:
            return InMemory(np.empty(shape, dtype), self.parts.columns)
        if item.options.scratch is None:
            enough = nbytes * _SHARE // (_SHARE - 1) + CODECS + allowed(item) - memory
            raise FileError(
                f"{item.path}: its spectrum takes {byte_count(nbytes)}, and {byte_count(allowed(item))} of memory "
                f"are allowed: raise --memory to {-(-enough // 2**20)}M, or give --scratch DIR"
            )
        return stack.enter_context(in_scratch(item.options.scratch, shape, dtype, self.parts.columns))

    def fill(self, spool: Spool, pool: ThreadPoolExecutor, blocks: Iterator[Image]) -> None:
        """Transforms the rows of a picture, planar float32 with their ``part``, into a spool."""
        writing = Writing(pool)
        for image in blocks:
            assert image.part is not None
            first = image.part.first
            values = axes.of_rows(self.item.gpu, image, self.size, self.params)
            del image
            host = values.numpy()
            del values

            def put(host: Array = host, first: int = first) -> None:
                for plane in range(spool.shape[0]):
                    spool.put_rows(plane, first, host[plane])

            writing.put(put)
        writing.wait()

    def columns(
        self, spool: Spool, pool: ThreadPoolExecutor, present: int, work: Callable[[Image, int, int], Array]
    ) -> None:
        """Replaces the columns of a spool by the results of ``work`` on panels of them.

        ``work`` is given a panel (1, rows, columns), its plane, and its first column. ``present``: the rows of a panel.
        """
        gpu = self.item.gpu

        def on_device(panel: Array, plane: int, first: int) -> Array:
            made: Array = work(gpu.array(panel[None]), plane, first)[0]
            return made

        in_panels(spool, pool, spool.shape[0], present, on_device)
