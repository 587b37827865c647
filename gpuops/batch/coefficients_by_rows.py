"""Wavelet coefficients of a picture that comes by rows, and the picture of coefficients that do: written by rows, too.

Each level is a sweep over the level before; bands are in memory, or in scratch files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .. import files, notes
from ..pixels.coding import Losses
from ..rows.budget import BLOCKS, codecs, with_spools
from ..rows.spool import InMemory, in_scratch
from ..rows.threads import rows_ahead
from ..tiles.ends import Anywhere, HostImage
from ..tiles.spooled import PixelRows, RowsOfPixels, SpooledImage
from ..wavelets import multilevel, stored
from .row_writer import RowWriter

if TYPE_CHECKING:
    from ..wavelets.stored import StoredBands
    from .item import FileReading, Item

Array = npt.NDArray[Any]
# Bands of all levels, and the approximations on the way, in bytes of the image's samples.
_BANDS, _ON_THE_WAY = 1.0, 1 / 3
# Bytes of staging memory that there are at least.
_LEAST = 1 << 23


def write_bands(item: Item, strips: files.Strips, how: FileReading, about: StoredBands, whole: float) -> None:
    """Writes the bands of a picture's stored values as numbers; ``whole``: the memory that this takes as a whole."""
    gpu, picture = item.gpu, strips.picture
    for text in strips.said:
        notes.note(text)
    row = picture.pixels.nbytes // picture.height
    held = picture.pixels.nbytes if strips.in_memory else 0
    rooms = _Rooms(item, about, row, strips.least, held, whole)
    with ExitStack() as stack, item.naming():
        pool = stack.enter_context(ThreadPoolExecutor(1))

        def begin() -> Iterator[Array]:
            rows = max(1, rooms.at_once // row)
            return (item.converted(pixels, how) for _, pixels in rows_ahead(gpu, pool, strips, rows))

        planes, height, width = about.shape
        dtype = picture.pixels.dtype if how.colour is None else np.dtype(np.float32)
        pixels: Any = RowsOfPixels((height, width, planes), dtype, begin)
        source = stored.source_of(gpu, pixels, how.decoding, about, turns=stored.TURNS)
        kept = stack.enter_context(ExitStack())
        with gpu.phase("compute"):
            for _ in range(item.options.repeat):
                kept.close()  # the bands of the run before
                found = stored.coefficients(
                    source, about.params, memory=rooms.device, made=partial(rooms.band, kept)
                )
        rows = {name: _rows(band) for name, band in zip(about.all_bands(), found, strict=True) if band.nbytes}
        with gpu.phase("encode"):
            item.output.save_data_rows(rows, about.attributes(), max(1, rooms.at_once // (4 * width)))


def write_image(item: Item, arrays: Mapping[str, Any], about: StoredBands) -> None:
    """Writes the picture of bands, arrays or their rows, in the depth of the original."""
    gpu, output = item.gpu, item.output
    encoding = output.encoding_of(about.dtype, linear=about.linear)
    planes, height, width = about.shape
    whole = item.budget.arrays(array.nbytes for array in arrays.values())
    rooms = _Rooms(item, about, planes * width * encoding.dtype.itemsize, 1, 0, whole)
    with ExitStack() as stack, item.naming(), gpu.phase("compute"):
        bands = [_filled(rooms, stack, arrays.get(name), shape) for name, shape in about.all_bands().items()]
        pool = stack.enter_context(ThreadPoolExecutor(1))
        with RowWriter(output, height, pool) as writing:

            def give(pixels: Array, lost: Losses) -> None:
                writing.put(
                    output.of_pixels(pixels, lost, about.dtype, linear=about.linear, alpha=about.alpha)
                )

            sink = PixelRows(
                about.shape, encoding, give, alpha=about.alpha, convert=stored.from_levels(about)
            )
            multilevel.recompose(
                bands, about.params, sink, memory=rooms.device, made=partial(rooms.band, stack)
            )
    writing.warn()


class _Rooms:
    """Where bands are kept, and how much goes at a time."""

    def __init__(self, item: Item, about: StoredBands, row: int, least: int, held: int, whole: float) -> None:
        self._item, budget = item, item.budget
        planes, *shape = about.shape
        bands = prod(about.shape) * about.sample.itemsize * (_BANDS + _ON_THE_WAY)
        self._about = about
        fixed = codecs(2) + BLOCKS * least * row + _LEAST + held
        beside = fixed + multilevel.least(planes, tuple(shape), row, about.params)
        in_memory = max(beside + bands, fixed + with_spools(bands))
        needed = beside if item.options.scratch is not None else in_memory
        if item.options.memory is not None and not budget.has_room(needed):
            raise budget.refused(needed, whole, scratch=bands, beside=beside)
        self._in_memory = item.options.scratch is None or budget.has_room(in_memory)
        free = budget.nbytes - fixed - (bands if self._in_memory else 0)
        # Staging memory, and rows on their way, take less of the host than a slab with all copies takes of the device.
        self.device = int(min(item.gpu.limits.global_bytes, max(free, beside - fixed)))
        self.at_once = max(row, min(self.device, _LEAST) // BLOCKS)

    def band(self, stack: ExitStack, shape: tuple[int, ...], dtype: np.dtype[Any]) -> HostImage:
        """Returns a place for a band, which goes with the stack."""
        gpu, scratch, about = self._item.gpu, self._item.options.scratch, self._about
        planes, height, width = shape
        if self._in_memory or scratch is None or not prod(shape):
            spool: Any = InMemory(np.empty(shape, dtype), max(1, width))
        else:
            spool = stack.enter_context(in_scratch(scratch, (planes, height, width), dtype, width))
        return SpooledImage(gpu, spool, alpha=about.alpha, linear=about.linear)


def _filled(rooms: _Rooms, stack: ExitStack, array: Any | None, shape: tuple[int, ...]) -> HostImage:
    """Returns the band of an array, or of rows of it, whose last plane may be left out."""
    band = rooms.band(stack, shape, rooms._about.sample)
    if array is None or not band.nbytes:
        return band
    assert isinstance(band, SpooledImage)
    rows = array if isinstance(array, files.RowsOfArray) else files.RowsOfArray.of(array)
    plane = first = 0
    for block in rows.blocks(max(1, rooms.at_once // band.row_bytes)):
        band.spool.put_rows(plane, first, block)
        first += len(block)
        if first == shape[1]:
            plane, first = plane + 1, 0
            if plane == shape[0]:
                break
    return band


def _rows(band: Anywhere) -> files.RowsOfArray:
    assert isinstance(band, SpooledImage)
    return files.RowsOfArray(band.shape, band.dtype, band.blocks)
