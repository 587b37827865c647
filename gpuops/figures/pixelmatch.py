"""The pixels that pixelmatch finds different: their number, and the most in a window that begins in rows that count."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from ..figure import Band, Figure, Pair, count, largest

# The rows that it looks at on either side: neighbours, and their neighbours.
_BESIDE = 2


def _fit(figure: Figure, pair: Pair) -> Figure:
    from ..metrics.pixelmatch import check_pixels

    if pair.reference.alpha or pair.result.alpha:  # only then the checkerboard shows
        check_pixels(pair.reference.width * pair.reference.height)
    return replace(figure, below=_BESIDE + (_side(pair) - 1 if figure.join is largest else 0))


def _side(pair: Pair) -> int:
    return min(pair.how.window, pair.reference.height, pair.reference.width)


def _different(band: Band) -> int:
    from ..metrics.pixelmatch import pixelmatch

    return pixelmatch(band.gpu, *band.codes, first=band.place.first, rows=band.counted).different


def _densest(band: Band) -> int | None:
    from ..metrics.pixelmatch import pixelmatch
    from ..metrics.tolerant import densest_window

    side, first = _side(band.pair), band.place.first
    rows = slice(band.counted.start, min(band.place.height, band.place.stop + side - 1) - first)
    if rows.stop - rows.start < side:
        return None
    _, kinds = pixelmatch(band.gpu, *band.codes, first=first, rows=rows, full=True)
    return densest_window(band.gpu, kinds, side).count


_PIXELS = partial(Figure, worst="pixels", unit=" pixels", digits=0, wants="codes", above=_BESIDE, fit=_fit)
FIGURES = (
    _PIXELS("pixelmatch", "how many pixels pixelmatch 7.2 counts, with its anti-aliasing rule and threshold 0.1",
            _different, count, floats=0.5),
    _PIXELS("pixelmatch-window", "the largest number of these pixels in any window of `--window` pixels a side. It "
            "tells a change from scattered noise", _densest, largest, floats=2.0),
)  # fmt: skip
