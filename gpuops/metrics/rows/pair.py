"""Two pictures that come by rows, whose figures are those of the whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...errors import ParameterError
from ...params.comparing import WorstPixel
from ..both import note_of, same_size
from ..compare import pair
from ..counted import Counted
from ..counts import Counts
from .band import Band
from .exposures import Luminances
from .joined import in_the_end, parts_of
from .means import FlipMean
from .parts import FigurePart
from .room import halos, rows_at_a_time

if TYPE_CHECKING:
    from ...files.picture import Picture
    from ...gpu import Gpu
    from ...params.comparing import Comparing
    from ...params.thresholds import Thresholds

# The thresholds that are counted: fail and warn.
_LIMITS = 2

#: ``(rows, above, below)`` → the bands of two pictures from the top on, of so many rows each that count.
Sweep = Callable[[int, int, int], Iterator[Band]]


class ByRows:
    """Two pictures that come by rows; the attributes are those of :class:`gpuops.metrics.measure.Pair`.

    Parameters
    ----------
    pictures : tuple of Picture
        Both without their pixels, the reference first.
    sweep : callable
        What reads them.
    missing : int
        How many pixels are left out.
    most : callable
        ``(parts)`` → how many rows the host's memory has room for.

    Raises SizeError if the pictures' sizes or channels differ.
    """

    def __init__(
        self,
        gpu: Gpu,
        pictures: tuple[Picture, Picture],
        how: Comparing,
        sweep: Sweep,
        *,
        missing: int = 0,
        most: Callable[[list[FigurePart]], int] = lambda _parts: 2**31,
    ) -> None:
        reference, result = pictures
        same_size(reference, result, how.alpha)
        self.gpu, self.how, self.pictures = gpu, how, pictures
        self._sweep, self._most = sweep, most
        pixels = reference.width * reference.height
        self.note = note_of(how, result, reference, missing, pixels)
        self.pixels = pixels - missing
        self.bounded = all(picture.pixels.dtype.kind == "u" for picture in pictures)
        first, second, self.data_range = pair(
            gpu, _dot(reference), _dot(result), space=how.space, alpha=how.alpha
        )
        self.compared = first, second
        self._parts: dict[str, FigurePart] = {}
        self._later: dict[str, FigurePart] = {}
        self._undefined: dict[str, ParameterError] = {}

    def figure(self, metric: str) -> float:
        """Returns a figure of the last sweep, or of its own sweeps. Raises ParameterError where it is not defined."""
        if metric in self._undefined:
            raise self._undefined[metric]
        if (part := self._later.pop(metric, None)) is not None:
            assert isinstance(part, FlipMean)
            part.exposures = self._exposures()
            self._look(part)
            self._parts[metric] = part
        return self._parts[metric].figure

    def _exposures(self) -> tuple[float, float]:
        """Returns the exposures for HDR-FLIP, which take two sweeps."""
        luminances = Luminances(self.pictures[0])
        self._look(luminances)
        luminances.look_closer()
        self._look(luminances)
        return luminances.exposures

    def _look(self, part: FigurePart) -> None:
        """Gives all rows to a part."""
        height = self.pictures[0].height
        for band in self._sweep(self.rows_of([part]), *halos([part], height)):
            part.take(band.both(self.gpu, self.how), band)

    def rows_of(self, parts: list[FigurePart]) -> int:
        """Returns how many rows are measured at a time for these parts."""
        return min(rows_at_a_time(self.gpu, self.pictures, parts), self._most(parts))

    def counts(self, thresholds: Thresholds) -> Counted:
        """Sweeps over both pictures, for all figures that are wanted."""
        self._parts, self._undefined = parts_of(self.gpu, self.pictures, self.how, thresholds, self.pixels)
        self._most([*self._parts.values()])  # before the first sweep, there has to be room for all of them
        later = [metric for metric in self._parts if in_the_end(metric, self.how)]
        self._later = {metric: self._parts.pop(metric) for metric in later}
        parts = [*self._parts.values()]
        rows = self.rows_of(parts)
        channels = self.compared[0].shape[0]
        found, worst = Counts.of_equal(0, channels, _LIMITS), None
        for band in self._sweep(rows, *halos(parts, self.pictures[0].height)):
            if band.equal:
                inner = band.cut(0, 0)
                pixels = inner.reference.height * inner.reference.width - inner.missing
                found += Counts.of_equal(pixels, channels, _LIMITS)
                for part in self._parts.values():
                    part.take_equal(band.cut(part.above, part.below))
                continue
            here, place = self._measured(band, thresholds)
            if here.max > found.max:
                worst = place
            found += here
        return Counted.of(found, worst, self.data_range)

    def _measured(self, band: Band, thresholds: Thresholds) -> tuple[Counts, WorstPixel | None]:
        """Gives rows that differ to all parts. Returns what is counted of them, and the worst pixel."""
        found = self._counted(band.cut(0, 0), thresholds)
        for above, below in sorted({(part.above, part.below) for part in self._parts.values()}):
            self._take(band.cut(above, below), (above, below))
        return found

    def _counted(self, band: Band, thresholds: Thresholds) -> tuple[Counts, WorstPixel | None]:
        both = band.both(self.gpu, self.how)
        found = both.counted(thresholds)
        worst = both.worst(found)
        return found, None if worst is None else worst._replace(y=worst.y + band.place.start)

    def _take(self, band: Band, halo: tuple[int, int]) -> None:
        """Gives rows to the parts that look at so many above and below."""
        both = band.both(self.gpu, self.how)
        for metric, part in [*self._parts.items()]:
            if (part.above, part.below) == halo:
                try:
                    part.take(both, band)
                except ParameterError as error:
                    self._undefined[metric] = error
                    del self._parts[metric]


def _dot(picture: Picture) -> Picture:
    """Returns a picture of one pixel of the same kind."""
    return replace(picture, pixels=np.zeros((1, 1, picture.channels), picture.pixels.dtype))
