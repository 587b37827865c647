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
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..fourier import axes, device_memory
from ..fourier.axes import Shape, Size
from ..fourier.device_memory import Parts
from ..params.fft import SpectrumParams
from ..rows.budget import PANELS, SHARE, codecs, with_spools
from ..rows.panels import in_panels
from ..rows.spool import InMemory, Spool, in_scratch
from ..rows.threads import Writing

if TYPE_CHECKING:
    from ..image import Image
    from .item import Item

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Sweeps:
    """The sweeps over a picture, or over a spectrum.

    Attributes
    ----------
    item : Item
    pixels : (height, width, channels)
        The picture's.
    params : SpectrumParams
    parts : Parts
        How much of each axis is worked on at a time.
    in_memory : bool
        Whether memory has room for the spectrum.
    """

    item: Item
    pixels: Shape
    params: SpectrumParams
    parts: Parts
    in_memory: bool

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
        whole: float | None = None,
    ) -> Sweeps:
        """Chooses the parts.

        Parameters
        ----------
        row
            Bytes of a row of the picture's file.
        least
            Rows of the file that come together.
        beside
            Planes that a conversion takes beside its rows.
        held
            Bytes of memory that are in use all the time.
        whole
            Bytes of memory with which the work would be done as a whole; None: with no number.

        Raises FileError if memory has no room for a row of the file and of the spectrum, or for a column, or for the
        spectrum, where there is no folder for that.
        """
        found = device_memory.parts(item.gpu, pixels, row, params, planes_beside=beside)
        size, itemsize = device_memory.padded(pixels, params), axes.stored(params).itemsize
        width, budget = axes.width(size, params), item.budget
        fixed = held + codecs(2) + PANELS * least * row
        of_row, of_column = PANELS * (row + pixels[2] * width * itemsize), PANELS * size[0] * itemsize
        spectrum = pixels[2] * size[0] * width * itemsize
        beside, with_spectrum = fixed + SHARE * max(of_row, of_column), fixed + with_spools(spectrum)
        needed = beside if item.options.scratch is not None else max(beside, with_spectrum)
        if not budget.has_room(needed):
            raise budget.refused(needed, whole, scratch=spectrum, beside=beside)
        memory = (budget.nbytes - fixed) // SHARE
        parts = Parts(min(found.rows, memory // of_row), min(found.columns, memory // of_column))
        return cls(item, pixels, params, parts, budget.has_room(with_spectrum))

    @property
    def size(self) -> Size:
        """The transform's (rows, columns)."""
        return device_memory.padded(self.pixels, self.params)

    def spool(self, stack: ExitStack) -> Spool:
        """Returns a spool for the spectrum: in memory if there is room, else in a file that goes with the stack."""
        item = self.item
        shape = self.pixels[2], self.size[0], axes.width(self.size, self.params)
        dtype = axes.stored(self.params)
        if self.in_memory:
            return InMemory(np.empty(shape, dtype), self.parts.columns)
        assert item.options.scratch is not None
        return stack.enter_context(in_scratch(item.options.scratch, shape, dtype, self.parts.columns))

    def fill(self, spool: Spool, pool: ThreadPoolExecutor, blocks: Iterator[Image]) -> None:
        """Transforms the rows of a picture, planar float32 with their ``part``, into a spool."""
        writing = Writing(pool)
        for image in blocks:
            assert image.part is not None
            first = image.part.first
            values = axes.of_rows(self.item.gpu, image, self.size, self.params)
            del image
            writing.put(partial(spool.put_block, first, values.numpy()[: spool.shape[0]]))
            del values
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
