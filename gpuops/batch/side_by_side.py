"""Two files that are compared by rows, and are read side by side with their mask and their variance."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from .. import files, notes
from ..errors import FileError
from ..files.abreast import abreast
from ..files.formats import by_rows
from ..files.strips import CODEC
from ..metrics import variance as variances
from ..metrics.compare import difference
from ..metrics.left_out import Mask, add_rectangles, black, check_mask, check_rectangles, nothing_left
from ..metrics.rows.band import Band
from ..metrics.rows.pair import ByRows
from ..metrics.rows.parts import FigurePart
from ..metrics.rows.room import rows_in_memory
from .access import Access
from .job import Options
from .read_ahead import read_ahead
from .row_writer import RowWriter

if TYPE_CHECKING:
    from ..files.picture import Pixels
    from ..gpu import Gpu
    from ..params.comparing import Comparing
    from .finished import Finished
    from .output import Output

# Rows that are read at a time if only a mask is read.
_ROWS = 256
#: How many files share the memory that is allowed.
TOGETHER = 2


@dataclass(frozen=True)
class TwoFiles:
    """Two files by rows, with their mask and variance.

    Attributes
    ----------
    reference, result : Strips
        The pictures.
    how : Comparing
        How they are compared.
    options : Options
        How files are read.
    variance : (path, Strips), optional
        The variance of the reference.
    mask : Strips, optional
        The picture of ``how.mask``.
    output : Output, optional
        Where a picture of the difference is going.
    """

    reference: files.Strips
    result: files.Strips
    how: Comparing
    options: Options
    variance: tuple[str, files.Strips] | None = None
    mask: files.Strips | None = None
    output: Output | None = None

    @classmethod
    def of(
        cls,
        found: Sequence[files.Picture | files.Strips],
        how: Comparing,
        options: Options,
        beside: str = "",
        output: Output | None = None,
    ) -> TwoFiles:
        """Makes it of pictures that were opened, the reference first; ``beside``: the path of a variance, if it exists.

        Raises FileError for an output that is written as a whole if memory is limited.
        """
        if all(isinstance(one, files.Picture) for one in found):  # they are in memory already
            options = replace(options, memory=None)
        if output is not None and options.memory is not None and not output.format.write_rows:
            of_rows = f"{output.format} is written as a whole, whatever --memory allows: name {by_rows('or')}"
            raise FileError(f"{output.path}: {of_rows}")
        reference, result = (one if isinstance(one, files.Strips) else files.Strips.of(one) for one in found)
        for text in (*reference.said, *result.said):
            notes.note(text)
        variance = (beside, _opened(beside, options)) if os.path.isfile(beside) else None
        mask = None if how.mask is None else _opened(how.mask, replace(options, layer=None))
        return cls(reference, result, how, options, variance, mask, output)

    @property
    def pictures(self) -> tuple[files.Picture, files.Picture]:
        """Both pictures without their pixels, the reference first."""
        return self.reference.picture, self.result.picture

    def pair(self, gpu: Gpu, pool: ThreadPoolExecutor) -> ByRows:
        """Returns both pictures for figures; threads of the pool read ahead."""

        def sweep(rows: int, above: int, below: int) -> Iterator[Band]:
            return self._bands(gpu, pool, rows, above, below)

        return ByRows(gpu, self.pictures, self.how, sweep, missing=self._missing(), most=self._in_memory)

    def write_difference(self, gpu: Gpu, pool: ThreadPoolExecutor, pair: ByRows, gain: float) -> None:
        """Writes the picture of the difference, in another sweep."""
        assert self.output is not None
        rows, output = pair.rows_of([]), self.output

        def made(band: Band) -> Finished:  # its memory on the device is free when it has returned
            stored = band.both(gpu, self.how).stored
            return output.encoded(difference(gpu, *stored, gain), "uint8", display=True)

        with RowWriter(output, self.reference.picture.height, pool) as writing:
            for band in self._bands(gpu, pool, rows, 0, 0):
                writing.put(made(band))
        writing.warn()

    def _bands(self, gpu: Gpu, pool: ThreadPoolExecutor, rows: int, above: int, below: int) -> Iterator[Band]:
        of_variance = None
        if self.variance is not None:
            path, strips = self.variance
            of_variance = variances.of_picture(path, strips.picture)
        reference, result = self.pictures
        extra = [strips for strips in (self.mask, self._variance_of_size) if strips is not None]
        sources = [
            read_ahead(gpu, pool, strips.rows(rows)) for strips in (self.reference, self.result, *extra)
        ]
        for place, (first, second, *more) in abreast(sources, reference.height, rows, above, below):
            mask = self._without(place.first, len(first), more.pop(0) if self.mask is not None else None)
            if of_variance is not None:  # of another size, it has no rows
                pixels = more.pop(0) if more else of_variance.picture.pixels[:0]
                of_variance = replace(of_variance, picture=replace(of_variance.picture, pixels=pixels))
            yield Band(
                place, replace(reference, pixels=first), replace(result, pixels=second), mask, of_variance
            )

    @property
    def _variance_of_size(self) -> files.Strips | None:
        """The variance, if it has the pictures' size."""
        if self.variance is None:
            return None
        picture, reference = self.variance[1].picture, self.reference.picture
        same = (picture.height, picture.width) == (reference.height, reference.width)
        return self.variance[1] if same else None

    def _without(self, first: int, count: int, mask: Pixels | None) -> Mask | None:
        """Returns which pixels of the rows from ``first`` on are not compared; ``mask``: the mask's pixels there."""
        if self.mask is None and not self.how.ignore:
            return None
        found: Mask = np.zeros((count, self.reference.picture.width), bool)
        if mask is not None and self.mask is not None:
            found |= black(mask, self.mask.picture)
        add_rectangles(found, self.how.ignore, first)
        return found

    def _missing(self) -> int:
        """Returns how many pixels are not compared. Raises ParameterError if there are no others."""
        height, width = self.reference.picture.height, self.reference.picture.width
        check_rectangles(self.how.ignore, (height, width))
        sources = []
        if self.mask is not None:
            assert self.how.mask is not None
            check_mask(self.how.mask, self.mask.picture, (height, width))
            sources = [self.mask.rows(_ROWS)]
        elif not self.how.ignore:
            return 0
        missing = 0
        for place, pixels in abreast(sources, height, _ROWS):
            where = self._without(place.start, place.stop - place.start, pixels[0] if pixels else None)
            missing += 0 if where is None else int(np.count_nonzero(where))
        if missing == height * width:
            raise nothing_left()
        return missing

    def _in_memory(self, parts: list[FigurePart]) -> int:
        """Returns how many rows the host's memory has room for."""
        height = self.reference.picture.height
        if self.options.memory is None:
            return height
        least = max(self.reference.least, self.result.least)
        fixed = CODEC * (TOGETHER + (self.output is not None))
        return rows_in_memory(self.pictures, parts, self.options.memory, fixed=fixed, least=least)


def _opened(path: str, options: Options) -> files.Strips:
    """Opens a mask or a variance, by rows if it is large."""
    found = Access(path, options, among=TOGETHER).opened()
    return found if isinstance(found, files.Strips) else files.Strips.of(found)
