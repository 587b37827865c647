"""The pixels that pixelmatch finds different: their number, and the most in a window that begins in rows that count."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ..figure import Figure, count, largest

if TYPE_CHECKING:
    from ..metrics.band import Band
    from ..metrics.pair import Pair


def _fit(figure: Figure, pair: Pair) -> Figure:
    from ..metrics.pixelmatch import check_pixels

    if pair.reference.alpha or pair.result.alpha:  # only then the checkerboard shows
        check_pixels(pair.reference.width * pair.reference.height)
    return figure


def _side(pair: Pair) -> int:
    return min(pair.how.window, pair.reference.height, pair.reference.width)


def _different(band: Band) -> int:
    from ..metrics.pixelmatch import pixelmatch

    return pixelmatch(band.gpu, *band.codes, first=band.place.first, rows=band.counted).different


def _densest(band: Band) -> int | None:
    from ..metrics.pixelmatch import pixelmatch
    from ..metrics.tolerant import densest_window

    side, start = _side(band.pair), band.counted.start
    end = min(band.place.height, band.place.stop + side - 1) - band.place.first
    if end - start < side:
        return None
    _, kinds = pixelmatch(band.gpu, *band.codes, first=band.place.first, rows=slice(start, end), full=True)
    return densest_window(band.gpu, kinds, side).count


# It looks at neighbours, and at their neighbours.
_PIXELS = partial(Figure, worst="pixels", unit=" pixels", digits=0, wants="codes", above=2)
FIGURES = (
    _PIXELS(
        "pixelmatch",
        "how many pixels pixelmatch 7.2 counts, with its anti-aliasing rule and threshold 0.1",
        count,
        _different,
        below=2,
        floats=0.5,
        fit=_fit,
    ),
    _PIXELS(
        "pixelmatch-window",
        "the largest number of these pixels in any window of `--window` pixels a side. It tells a change from "
        "scattered noise",
        largest,
        _densest,
        floats=2.0,
        fit=lambda figure, pair: replace(_fit(figure, pair), below=_side(pair) - 1 + 2),
    ),
)
