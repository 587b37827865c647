"""All figures of two files' pictures, and the verdict by thresholds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby
from typing import Any

from .. import notes
from ..errors import ParameterError
from ..figures import FIGURES, Figure, total
from ..params.comparing import MeasuredPair, WorstPixel
from ..params.thresholds import NOT_FINITE, Limit, Thresholds
from .band import Band
from .counts import Counts
from .pair import Pair, SizeError

__all__ = ["Pair", "SizeError", "measure"]

# The thresholds that are counted: fail and warn.
_LIMITS = 2


@notes.summed()
def measure(pair: Pair, thresholds: Thresholds) -> MeasuredPair:
    """Measures the figures that were asked for and those that the thresholds need, and judges.

    Raises ParameterError for thresholds that could not fail these pictures whatever they hold, and where one needs a
    figure that is not defined for them.
    """
    how, most = pair.how, 1.0 if pair.bounded else None
    if not how.idiff and (blind := thresholds.blind(pair.pixels, most=most)) is not None:
        raise ParameterError(blind)
    parts = _Parts(pair, thresholds)
    counts, worst = parts.swept()
    figures, undefined = parts.figures(counts)
    bad, warning = counts.bad
    if how.idiff:
        (idiff_bad, idiff_warning), largest = counts.as_idiff()
        missed, warned = thresholds.as_idiff(largest / pair.data_range, idiff_bad, idiff_warning, pair.pixels)
    else:
        missed = thresholds.missed(figures, bad, pair.pixels)
        if counts.infinite_pixels:
            missed = (Limit(NOT_FINITE, counts.infinite_pixels, 0), *missed)
        warned = thresholds.warned(figures, warning, pair.pixels)
    return MeasuredPair(
        figures, pair.pixels * pair.channels, counts.differing, pair.pixels, bad, pair.data_range, missed, warned,
        worst, pair.scale.space, pair.note, undefined,
    )  # fmt: skip


class _Parts:
    """The parts of all figures, as sweeps over two pictures give them."""

    def __init__(self, pair: Pair, thresholds: Thresholds) -> None:
        self._pair, self._thresholds = pair, thresholds
        self._figures, self._undefined = pair.figures(thresholds)
        self._parts: dict[str, list[Any]] = {name: [] for name in (*self._figures, *self._undefined)}

    def swept(self) -> tuple[Counts, WorstPixel | None]:
        """Measures all figures, those that have to know of all rows before in sweeps of their own.

        Returns what is counted of stored values, and the worst pixel.
        """
        pair = self._pair
        figures = [figure for figure in self._figures.values() if figure.band is not None]
        later = [figure for figure in figures if not pair.whole and figure.unknown(pair.how)]
        at_once = [figure for figure in figures if figure not in later]
        results: list[tuple[Counts, WorstPixel | None]] = []
        for band in pair.bands(at_once, later):
            results.append(self._counted(band))
            self._take(band, at_once)
        counts = total([of for of, _ in results])
        for figure in later if counts.differing else ():
            known = replace(pair, how=replace(pair.how, **figure.known(pair)))
            for band in known.bands([figure]):
                self._take(band, [figure])
        return counts, next((worst for of, worst in results if of.max == counts.max), None)

    def _counted(self, band: Band) -> tuple[Counts, WorstPixel | None]:
        if band.equal:
            return Counts.of_equal(band.pixels, self._pair.channels, _LIMITS), None
        inner = band.cut(0, 0)
        counts = inner.counts(self._thresholds)
        return counts, inner.worst(counts)

    def _take(self, band: Band, figures: Iterable[Figure]) -> None:
        """Takes the parts of a band; figures that look as far share its Images."""

        def halo(figure: Figure) -> tuple[int, int]:
            return (0, 0) if self._pair.whole else (figure.above, figure.below)

        for beside, some in groupby(sorted(figures, key=halo), halo):
            cut = band.cut(*beside)
            for figure in some:
                if figure.name not in self._undefined:
                    try:
                        self._parts[figure.name] += figure.parts(cut, equal=band.equal)
                    except ParameterError as error:
                        self._undefined[figure.name] = error

    def figures(self, counts: Counts) -> tuple[dict[str, float], dict[str, str]]:
        """Returns the figures, and why others are not defined.

        Raises ParameterError if a threshold needs one of these.
        """
        values: dict[str, float] = {}
        undefined: dict[str, str] = {}
        for name, figure in FIGURES.items():
            if name not in self._parts:
                continue
            if not counts.differing:
                values[name] = figure.best
            elif name not in self._undefined:
                joined = figure.join(self._parts[name]) if figure.band else counts
                values[name] = figure.value(joined, self._pair)
            elif name in self._thresholds.limits:
                raise ParameterError(f"{name}: {self._undefined[name]}") from None
            else:
                undefined[name] = str(self._undefined[name])
        return values, undefined
