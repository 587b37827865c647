"""Two files that are compared: as a whole, or by rows where memory, or the device, has no room for both."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .. import files, notes
from ..metrics import variance as variances
from ..metrics.band import Band
from ..metrics.compare import difference
from ..metrics.left_out import Mask, check, left_out_rows, nothing_left, without
from ..metrics.pair import Pair
from ..metrics.room import HostRows, fits, halos, rows_at_a_time, whole_units
from ..rows.bands import bands
from ..rows.budget import Budget, TooLittleMemory, written_whole
from ..rows.threads import read_ahead
from .access import Access
from .options import Options
from .row_writer import RowWriter

if TYPE_CHECKING:
    from ..figure import Figure
    from ..files.picture import Pixels
    from ..gpu import Gpu
    from ..image import Image
    from ..params.comparing import Comparing
    from ..params.thresholds import Thresholds
    from .output import Output

    Opened = Sequence[files.Picture | files.Strips]

# Rows that are read at a time if only a mask is read.
_ROWS = 256
#: How many files share the memory that is allowed.
TOGETHER = 2


def opened(
    gpu: Gpu,
    pool: ThreadPoolExecutor,
    accesses: Sequence[Access],
    how: Comparing,
    thresholds: Thresholds,
    output: Output | None = None,
) -> Pair:
    """Opens two files for figures, the reference first, and the variance beside it, if there is one.

    ``accesses``: one for each file; they share the memory that is allowed, :data:`TOGETHER`. The rest is as for
    :func:`paired`. Raises FileError for files that cannot be read within the memory.
    """
    budget = replace(accesses[0].budget, name=" and ".join(access.budget.name for access in accesses))
    with gpu.phase("decode"):
        found = _all_opened(gpu, accesses, budget, how, thresholds, output is not None)
        variance = accesses[0].path + variances.SUFFIX
        return paired(gpu, pool, found, budget, how, thresholds, variance, output)


def paired(
    gpu: Gpu,
    pool: ThreadPoolExecutor,
    found: Opened,
    budget: Budget,
    how: Comparing,
    thresholds: Thresholds,
    variance: str,
    output: Output | None = None,
) -> Pair:
    """Returns two files that are opened, the reference first, for figures.

    ``variance``: the file of the reference's variance, which need not exist. ``output``: where a picture of the
    difference is going. Threads of the pool read ahead while figures are measured.

    Raises FileError for files that have no room in the memory, ParameterError for pictures that cannot be compared.
    """
    pictures = [one for one in found if isinstance(one, files.Picture)]
    if len(pictures) == TOGETHER:
        known = variances.read(variance, how.layer) if os.path.isfile(variance) else None
        pair = Pair.of(gpu, pictures[1], pictures[0], how, known)
        if fits(gpu, pictures, pair.on_bands(thresholds)):
            return pair
    needed = variance if "z-test" in (*how.metrics, *thresholds.limits) else ""
    return TwoFiles.of(found, how, budget, needed, output).pair(gpu, pool)


def _all_opened(
    gpu: Gpu,
    accesses: Sequence[Access],
    budget: Budget,
    how: Comparing,
    thresholds: Thresholds,
    written: bool,
) -> Opened:
    """Opens all files. Raises FileError with the memory that they need together if one of them has no room."""
    found: list[files.Picture | files.Strips] = []
    refused: list[TooLittleMemory] = []
    for access in accesses:
        try:
            found.append(access.opened())
        except TooLittleMemory as error:
            refused.append(error)
    if not refused:
        return found
    whole = least = max(one.needed for one in refused)
    by_rows = None
    for rows in map(_strips, found):
        picture, nbytes = rows.picture, rows.picture.pixels.nbytes
        whole = max(whole, budget.whole(nbytes))
        if not rows.in_memory:  # the other one has its size, or there is nothing to compare
            figures = Pair(gpu, how, picture, picture).on_bands(thresholds)
            together = nbytes + int(least / budget.whole(1))
            of_both = HostRows.of(picture, together, figures, least=rows.least, written=written)
            by_rows = max(least, of_both.needed)
    raise refused[0].budget.refused(whole, by_rows, what=refused[0].what)


def _strips(found: files.Picture | files.Strips) -> files.Strips:
    return found if isinstance(found, files.Strips) else files.Strips.of(found)


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
    variance : (Variance, Strips), optional
        The variance of the reference, without its values, and its rows.
    mask : Strips, optional
        The picture of ``how.mask``.
    output : Output, optional
        Where a picture of the difference is going.
    """

    reference: files.Strips
    result: files.Strips
    how: Comparing
    budget: Budget
    variance: tuple[variances.Variance, files.Strips] | None = None
    mask: files.Strips | None = None
    output: Output | None = None

    @classmethod
    def of(
        cls, found: Opened, how: Comparing, budget: Budget, beside: str = "", output: Output | None = None
    ) -> TwoFiles:
        """Makes it of pictures that were opened, the reference first; ``beside``: the path of a variance, if it exists.

        Raises FileError for an output that is written as a whole if memory is limited.
        """
        if all(isinstance(one, files.Picture) for one in found):  # they are in memory already
            budget = replace(budget, memory=None)

        def rows_of(path: str, layer: str | None = None) -> files.Strips:
            options = Options(layer=layer, memory=budget.memory)
            return _strips(Access(path, options, among=budget.among).opened())

        reference, result = map(_strips, found)
        for text in (*reference.said, *result.said):
            notes.note(text)
        variance = None
        if os.path.isfile(beside):
            rows = rows_of(beside, how.layer)
            variance = variances.of_picture(beside, rows.picture), rows
        mask = None if how.mask is None else rows_of(how.mask)
        both = cls(reference, result, how, budget, variance, mask, output)
        if output is not None and budget.memory is not None and (why := written_whole([output.format])):
            raise budget.refused(both._whole, why=why)
        return both

    def pair(self, gpu: Gpu, pool: ThreadPoolExecutor) -> Pair:
        """Returns both pictures for figures; threads of the pool read ahead."""

        def read(pair: Pair, figures: Sequence[Figure], later: Sequence[Figure]) -> Iterator[Band]:
            self._in_memory([*figures, *later])  # there has to be room for all before the first sweep
            return self._bands(pair, pool, self._rows(gpu, figures), *halos(figures, pair.reference.height))

        return Pair(gpu, self.how, *self._pictures, self._missing(), read)

    def _bands(
        self, pair: Pair, pool: ThreadPoolExecutor, rows: int, above: int, below: int
    ) -> Iterator[Band]:
        strips = {"reference": self.reference, "result": self.result}
        if self.mask is not None:
            strips["mask"] = self.mask
        variance, of_variance = self.variance or (None, None)
        size = pair.reference.pixels.shape[:2]
        if of_variance is not None and of_variance.picture.pixels.shape[:2] == size:
            strips["variance"] = of_variance
        sources = [read_ahead(pair.gpu, pool, one.rows(rows)) for one in strips.values()]
        for place, arrays in bands(sources, pair.reference.height, rows, above, below):
            part = dict(zip(strips, arrays, strict=True))
            mask = self._left_out(place.first, len(arrays[0]), part.get("mask"))
            if variance is not None:  # of another size, it has no rows
                pixels = part.get("variance", variance.picture.pixels[:0])
                variance = replace(variance, picture=replace(variance.picture, pixels=pixels))
            reference = replace(pair.reference, pixels=part["reference"])
            result = replace(pair.result, pixels=part["result"])
            compared = (place.stop - place.start) * reference.width
            if mask is not None and mask.any():
                compared -= int(mask[place.counted].sum())
                result, reference = without(result, reference, mask)
            yield Band(pair, place, reference, result, compared, variance)

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
            for place, pixels in bands(sources, picture.height, _ROWS)
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
        most = self.budget.rows(rows.fixed_bytes, rows.bytes_per_row, self._whole, rows.unit)
        return whole_units(most, rows.unit, reference.height)


def write_difference(pair: Pair, pool: ThreadPoolExecutor, output: Output, gain: float) -> None:
    """Writes the picture of the difference; threads of the pool read ahead if it is made by rows."""

    def made(band: Band) -> Image:
        return difference(pair.gpu, *band.cut(0, 0).stored, gain)

    if pair.whole:
        output.save(made(next(pair.bands(()))), "uint8", display=True)
        return
    with RowWriter(output, pair.reference.height, pool) as writing:
        for band in pair.bands(()):
            writing.put(output.encoded(made(band), "uint8", display=True))
    writing.warn()
