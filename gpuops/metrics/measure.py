"""All figures of two files' pictures, and the verdict by thresholds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .. import notes
from ..errors import ParameterError
from ..figures import FIGURES
from ..params.comparing import Comparing, MeasuredPair, WorstPixel
from ..params.thresholds import NOT_FINITE, Limit, Thresholds
from .counts import Counts
from .pair import Pair, SizeError

if TYPE_CHECKING:
    from ..figure import Figure
    from ..files.picture import Picture
    from ..gpu import Gpu
    from .band import Band

__all__ = ["Pair", "SizeError", "flip_map", "measure"]

# The thresholds that are counted: fail and warn.
_LIMITS = 2


@notes.summed()
def measure(pair: Pair, thresholds: Thresholds) -> MeasuredPair:
    """Measures the figures that were asked for and those that the thresholds need, and judges.

    Raises ParameterError for thresholds that could not fail these pictures whatever they hold, and where one needs a
    figure that is not defined for them.
    """
    how = pair.how
    if (
        not how.idiff
        and (blind := thresholds.blind(pair.pixels, most=1.0 if pair.bounded else None)) is not None
    ):
        raise ParameterError(blind)
    with pair.needing(thresholds):
        measured = _Measured(pair, thresholds)
        counts, worst = measured.sweep()
        figures, undefined = measured.figures(counts)
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
        figures,
        pair.pixels * pair.channels,
        counts.differing,
        pair.pixels,
        bad,
        pair.data_range,
        missed,
        warned,
        worst,
        pair.scale.space,
        pair.note,
        undefined,
    )


class _Measured:
    """The parts of all figures, as sweeps over two pictures give them."""

    def __init__(self, pair: Pair, thresholds: Thresholds) -> None:
        self._pair, self._thresholds = pair, thresholds
        self._figures, self._undefined = pair.figures(thresholds)
        self._parts: dict[str, list[Any]] = {name: [] for name in (*self._figures, *self._undefined)}

    def sweep(self) -> tuple[Counts, WorstPixel | None]:
        """Measures all figures, those that have to know of all rows before in sweeps of their own.

        Returns what is counted of stored values, and the worst pixel.
        """
        pair = self._pair
        figures = [figure for figure in self._figures.values() if figure.band is not None]
        later = [figure for figure in figures if not pair.whole and _unknown(figure, pair.how)]
        at_once = [figure for figure in figures if figure not in later]
        counts: Counts | None = None
        worst = None
        for band in pair.bands(at_once):
            here, place = self._counts(band)
            if counts is None or here.max > counts.max:
                worst = place
            counts = here if counts is None else counts + here
            self._take(band, at_once)
        assert counts is not None
        for figure in later if counts.differing else ():
            name, of_all = figure.beforehand or ("", None)
            assert of_all is not None
            for band in replace(pair, how=replace(pair.how, **{name: of_all(pair)})).bands([figure]):
                self._take(band, [figure])
        return counts, worst

    def _counts(self, band: Band) -> tuple[Counts, WorstPixel | None]:
        if band.equal:
            return Counts.of_equal(band.pixels, self._pair.channels, _LIMITS), None
        inner = band.cut(0, 0)
        found = inner.counts(self._thresholds)
        return found, inner.worst(found)

    def _take(self, band: Band, figures: Iterable[Figure]) -> None:
        """Adds the parts of a band; figures that look as far share its Images."""
        by_halo: dict[tuple[int, int], list[Figure]] = {}
        for figure in figures:
            halo = (0, 0) if self._pair.whole else (figure.above, figure.below)
            by_halo.setdefault(halo, []).append(figure)
        for halo in sorted(by_halo):
            cut = band.cut(*halo)
            for figure in by_halo[halo]:
                if figure.name not in self._undefined:
                    try:
                        self._parts[figure.name] += _parts(figure, cut, band.equal)
                    except ParameterError as error:
                        self._undefined[figure.name] = error

    def figures(self, counts: Counts) -> tuple[dict[str, float], dict[str, str]]:
        """Returns the figures, and why others are not defined.

        Raises ParameterError if a threshold needs one of these.
        """
        found: dict[str, float] = {}
        undefined: dict[str, str] = {}
        for name, figure in FIGURES.items():
            if name not in self._parts:
                continue
            if not counts.differing:
                found[name] = figure.best
            elif name not in self._undefined:
                joined = counts if figure.band is None else figure.join(self._parts[name])
                found[name] = figure.value(joined, self._pair)
            else:
                undefined[name] = str(self._undefined[name])
                if name in self._thresholds.limits:
                    raise ParameterError(f"{name}: {undefined[name]}") from None
        return found, undefined


def _unknown(figure: Figure, how: Comparing) -> bool:
    """Says whether a figure has to know of all rows before."""
    return figure.beforehand is not None and getattr(how, figure.beforehand[0]) is None


def _parts(figure: Figure, band: Band, equal: bool) -> list[Any]:
    """Returns the part of a band, if it has any."""
    assert figure.band is not None
    weight = None if figure.weight is None else figure.weight(band)
    if (equal and weight is None) or (weight is not None and not np.any(weight)):
        return []
    part = figure.alike if equal else figure.band(band)
    return [] if part is None else [part if weight is None else (part, weight)]


def flip_map(gpu: Gpu, result: Picture, reference: Picture) -> npt.NDArray[np.float32]:
    """Returns the FLIP errors (height, width) of two pictures of one size: of light HDR-FLIP's, else LDR-FLIP's."""
    of_light = reference.linear and float(np.nanmax(reference.pixels.astype(np.float32))) > 1
    pair = Pair.of(gpu, result, reference, Comparing())
    of_map = FIGURES["hdr-flip" if of_light else "flip"].map
    assert of_map is not None
    found: npt.NDArray[np.float32] = of_map(next(pair.bands(()))).numpy()[0]
    return found
