"""Bands of several pictures of one height, whose rows come together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..files.windows import Window

if TYPE_CHECKING:
    from ..files.picture import Pixels


class RowPlace(NamedTuple):
    """The place of a band in a picture of ``height`` rows.

    The band begins with row ``first``. Its rows ``start`` to ``stop`` are worked on; the others are their neighbours.
    """

    first: int
    start: int
    stop: int
    height: int

    def span(self, above: int, below: int) -> tuple[int, int]:
        """Returns the first row, and the one after the last, with so many neighbours above and below."""
        return max(0, self.start - above), min(self.height, self.stop + below)

    @property
    def counted(self) -> slice:
        """Where rows ``start`` to ``stop`` are in the band."""
        return slice(self.start - self.first, self.stop - self.first)


def bands(
    sources: Sequence[Iterator[Pixels]], height: int, rows: int, above: int = 0, below: int = 0
) -> Iterator[tuple[RowPlace, tuple[Pixels, ...]]]:
    """Gives ``rows`` rows at a time of each source, and as neighbours up to so many rows above and below them.

    A source gives arrays of any numbers of rows, ``height`` rows in all.
    """
    starts = range(0, height, rows)
    places = [RowPlace(start, start, min(height, start + rows), height) for start in starts]
    windows = [Window(source) for source in sources]
    for place in places:
        first, end = place.span(above, below)
        yield place._replace(first=first), tuple(window.rows(first, end) for window in windows)
