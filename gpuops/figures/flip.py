"""The means of LDR-FLIP and HDR-FLIP, whose errors are added up by whole rows of tiles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

from ..figure import Band, Figure, Pair

# Bits of a luminance by which the first look counts, without the sign, and by which the second one does.
_UPPER, _LOWER = 15, 16


def _fit(figure: Figure, pair: Pair) -> Figure:
    from ..metrics.flip import PPD
    from ..metrics.flip_tiles import filters_of, scratch_of, tile_of

    picture, ppd, (_, down) = pair.reference, pair.how.ppd or PPD, tile_of(pair.gpu)
    beside = -(-filters_of(ppd).reach // down) * down
    fixed = 4 * prod(scratch_of(pair.gpu, ppd, (picture.height, picture.width)))
    maps = 2.0 / picture.colours
    return replace(figure, above=beside, below=beside, multiple=down, floats=maps, fixed=fixed)


def _sum(band: Band, *, hdr: bool) -> float:
    from ..metrics.flip import PPD, automatic, sum_of_rows

    exposures = band.how.exposures or automatic(band.gpu, band.light[0]) if hdr else None
    blocks, ppd = band.changed.blocks if band.changed else None, band.how.ppd or PPD
    return sum_of_rows(band.gpu, *band.light, band.counted, ppd=ppd, exposures=exposures, blocks=blocks)


def _mean(errors: float, pair: Pair) -> float:
    return errors / (pair.reference.width * pair.reference.height)


def _map(band: Band, *, hdr: bool) -> Any:
    from ..metrics.flip import flip, hdr_flip

    return (hdr_flip if hdr else flip)(band.gpu, *band.light, full=True)[1]


def _exposures(pair: Pair) -> tuple[float, float]:
    """Returns the exposures of pictures that come by rows: of the largest and the median luminance, exactly.

    Floats of at least 0 have the order of their bits. A first look at all rows counts luminances by their upper bits,
    and a second one those with the median's upper bits by their lower bits.
    """
    import numpy as np

    from ..metrics.flip import exposures_of, luminance_of

    looked_at = replace(FIGURES[1], floats=1.0 / pair.reference.colours)

    def counted(bits: int, pick: Callable[[Any], Any]) -> Any:
        counts = np.zeros(1 << bits, np.int64)
        for band in pair.bands([looked_at]):
            light = luminance_of(band.gpu, band.cut(0, 0).light[0]).numpy()
            counts += np.bincount(
                pick(light.view(np.uint32).ravel() & np.uint32(0x7FFFFFFF)), minlength=1 << bits
            )
        return counts

    def place(counts: Any, rank: int) -> int:
        return int(np.searchsorted(np.cumsum(counts), rank, side="right"))

    largest = []

    def upper_bits(found: Any) -> Any:
        largest.append(found.max())
        return found >> np.uint32(_LOWER)

    counts, rank = counted(_UPPER, upper_bits), pair.reference.width * pair.reference.height // 2
    upper, mask = place(counts, rank), np.uint32((1 << _LOWER) - 1)
    counts_lower = counted(_LOWER, lambda found: found[found >> np.uint32(_LOWER) == upper] & mask)
    median = upper << _LOWER | place(counts_lower, rank - int(counts[:upper].sum()))
    return exposures_of(*np.array([max(largest), median], np.uint32).view(np.float32).tolist())


_FLIP = partial(Figure, value=_mean, worst=1, wants="light", fit=_fit)
FIGURES = (
    _FLIP("flip", "the mean of LDR-FLIP (Andersson et al., 2020): the differences that people see when the pictures "
          "are shown in turn. Light beyond 1 counts as 1", partial(_sum, hdr=False), map=partial(_map, hdr=False)),
    _FLIP("hdr-flip", "the mean of HDR-FLIP (2021), which is the largest FLIP of each pixel over several exposures",
          partial(_sum, hdr=True), map=partial(_map, hdr=True), beforehand=("exposures", _exposures)),
)  # fmt: skip
