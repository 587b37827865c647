"""Two files that are compared by rows, and are read side by side with their mask and their variance."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .. import files, notes
from ..files.windows import abreast
from ..metrics import variance as variances
from ..metrics.band import Band
from ..metrics.left_out import Mask, check, left_out_rows, nothing_left, without
from ..metrics.pair import Pair
from ..metrics.rows.room import HostRows, halos, rows_at_a_time
from ..rows.budget import Budget, written_whole
from ..rows.threads import read_ahead
from .access import Access
from .options import Options

if TYPE_CHECKING:
    from ..figure import Figure
    from ..files.picture import Pixels
    from ..gpu import Gpu
    from ..params.comparing import Comparing
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
    budget : Budget
        Their memory.
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
    budget: Budget
    variance: tuple[str, files.Strips] | None = None
    mask: files.Strips | None = None
    output: Output | None = None

    @classmethod
    def of(
        cls,
        found: Sequence[files.Picture | files.Strips],
        how: Comparing,
        budget: Budget,
        beside: str = "",
        output: Output | None = None,
    ) -> TwoFiles:
        """Makes it of pictures that were opened, the reference first; ``beside``: the path of a variance, if it exists.

        Raises FileError for an output that is written as a whole if memory is limited.
        """
        if all(isinstance(one, files.Picture) for one in found):  # they are in memory already
            budget = replace(budget, memory=None)
        reference, result = (one if isinstance(one, files.Strips) else files.Strips.of(one) for one in found)
        for text in (*reference.said, *result.said):
            notes.note(text)
        variance = (beside, _opened(beside, budget, how.layer)) if os.path.isfile(beside) else None
        mask = None if how.mask is None else _opened(how.mask, budget)
        both = cls(reference, result, how, budget, variance, mask, output)
        if output is not None and budget.memory is not None and (why := written_whole([output.format])):
            raise budget.refused(both._whole, why=why)
        return both

    def pair(self, gpu: Gpu, pool: ThreadPoolExecutor) -> Pair:
        """Returns both pictures for figures; threads of the pool read ahead."""

        def read(pair: Pair, figures: Sequence[Figure], later: Sequence[Figure]) -> Iterator[Band]:
            self._in_memory(
                [*figures, *later]
            )  # before the first sweep, there has to be room for all of them
            return self._bands(pair, pool, self._rows(gpu, figures), *halos(figures, pair.reference.height))

        return Pair(gpu, self.how, *self._pictures, self._missing(), read)

    def _bands(
        self, pair: Pair, pool: ThreadPoolExecutor, rows: int, above: int, below: int
    ) -> Iterator[Band]:
        of_variance = None
        if self.variance is not None:
            path, strips = self.variance
            of_variance = variances.of_picture(path, strips.picture)
        extra = [strips for strips in (self.mask, self._variance_of_size) if strips is not None]
        sources = [
            read_ahead(pair.gpu, pool, strips.rows(rows)) for strips in (self.reference, self.result, *extra)
        ]
        for place, (first, second, *more) in abreast(sources, pair.reference.height, rows, above, below):
            mask = self._left_out(place.first, len(first), more.pop(0) if self.mask is not None else None)
            if of_variance is not None:  # of another size, it has no rows
                pixels = more.pop(0) if more else of_variance.picture.pixels[:0]
                of_variance = replace(of_variance, picture=replace(of_variance.picture, pixels=pixels))
            reference, result = replace(pair.reference, pixels=first), replace(pair.result, pixels=second)
            compared = (place.stop - place.start) * reference.width
            if mask is not None and mask.any():
                compared -= int(mask[place.counted].sum())
                result, reference = without(result, reference, mask)
            yield Band(pair, place, reference, result, compared, of_variance)

    @property
    def _variance_of_size(self) -> files.Strips | None:
        """The variance, if it has the pictures' size."""
        if self.variance is None:
            return None
        picture, reference = self.variance[1].picture, self.reference.picture
        same = (picture.height, picture.width) == (reference.height, reference.width)
        return self.variance[1] if same else None

    def _left_out(self, first: int, count: int, pixels: Pixels | None = None) -> Mask | None:
        """Returns which pixels of the rows from ``first`` on are not compared; ``pixels``: the mask's there."""
        mask = None if self.mask is None else self.mask.picture
        return left_out_rows(self.how, mask, first, (count, self.reference.picture.width), pixels)

    def _missing(self) -> int:
        """Returns how many pixels are not compared. Raises ParameterError if there are no others."""
        picture = self.reference.picture
        check(self.how, None if self.mask is None else self.mask.picture, picture)
        if self.mask is None and not self.how.ignore:
            return 0
        sources = [] if self.mask is None else [self.mask.rows(_ROWS)]
        missing = sum(
            int(where.sum())
            for place, pixels in abreast(sources, picture.height, _ROWS)
            if (where := self._left_out(place.start, place.stop - place.start, *pixels)) is not None
        )
        if missing == picture.height * picture.width:
            raise nothing_left()
        return missing

    def _rows(self, gpu: Gpu, figures: Sequence[Figure]) -> int:
        """Returns how many rows are measured at a time: as the device, and the host's memory, have room for."""
        return min(rows_at_a_time(gpu, self._pictures, figures), self._in_memory(figures))

    @property
    def _pictures(self) -> tuple[files.Picture, files.Picture]:
        return self.reference.picture, self.result.picture

    @property
    def _whole(self) -> float:
        """The bytes of memory that both take as a whole."""
        return self.budget.whole(max(picture.pixels.nbytes for picture in self._pictures))

    def _in_memory(self, figures: Sequence[Figure]) -> int:
        """Returns how many rows the host's memory has room for. Raises FileError if it is none."""
        reference, result = self._pictures
        if self.budget.memory is None:
            return reference.height
        rows = HostRows.of(
            reference, reference.pixels.nbytes + result.pixels.nbytes, figures,
            least=max(self.reference.least, self.result.least), written=self.output is not None,
        )  # fmt: skip
        if not self.budget.has_room(rows.needed):
            raise self.budget.refused(self._whole, rows.needed)
        return rows.within(self.budget.nbytes, reference.height)


def _opened(path: str, budget: Budget, layer: str | None = None) -> files.Strips:
    """Opens a mask or a variance, by rows if it is large."""
    found = Access(path, Options(layer=layer, memory=budget.memory), among=budget.among).opened()
    return found if isinstance(found, files.Strips) else files.Strips.of(found)
