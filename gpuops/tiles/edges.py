"""Rows of a picture whose first and last rows are neighbours: those beyond each end are known before its rows come."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ..image import Image, Part
from ..operation import Pass
from .rectangles import copy

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..plan import Step

# Copies of a part's rows that a pass has beside those without neighbours: the rows of both ends, and all joined.
_COPIES = 2


@dataclass
class Edges:
    """The rows above the first and below the last row of a picture that goes on with itself there.

    Attributes
    ----------
    height : int
        The picture's rows.
    halo : int
        Rows above, and rows below; there may be more than the picture has.
    """

    height: int
    halo: int
    _above: Image | None = field(init=False, default=None)
    _below: Image | None = field(init=False, default=None)

    @classmethod
    def of(cls, one: Pass, height: int) -> Edges:
        """Returns the rows, still to be filled, that a pass :func:`with_neighbours` needs."""
        return cls(height, one.window // 2)

    @property
    def parts(self) -> tuple[tuple[int, int], ...]:
        """The rows (first, end) of the picture that stand there once more."""
        if 2 * self.halo >= self.height:
            return ((0, self.height),)
        return (0, self.halo), (self.height - self.halo, self.height)

    def fill(self, images: Iterable[Image]) -> None:
        """Keeps what is needed of some rows: planes with their ``part``."""
        for planes in images:
            self._take(planes)

    def _take(self, planes: Image) -> None:
        if self._above is None or self._below is None:
            shape = planes.shape[0], self.halo, planes.shape[2]
            self._above, self._below = planes.like(shape), planes.like(shape)
        for kept, start in ((self._above, -self.halo), (self._below, self.height)):
            _put(planes, kept, start)

    def joined(self, planes: Image, first: int, end: int) -> Image:
        """Returns rows with those beyond the ends that the rows ``first`` … ``end`` − 1 of a result need."""
        assert planes.part is not None and self._above is not None and self._below is not None
        before, after = max(0, self.halo - first), max(0, end + self.halo - self.height)
        if not before and not after:
            return planes
        count, rows, width = planes.shape
        result = planes.like((count, before + rows + after, width))
        copy(self._above, (self.halo - before, 0), result, (0, 0), (count, before, width))
        copy(planes, (0, 0), result, (before, 0), planes.shape)
        copy(self._below, (0, 0), result, (before + rows, 0), (count, after, width))
        result.part, result.owned = Part(planes.part.first - before, self.height), True
        return result

    def known(self, step: Step, one: Pass) -> Step:
        """Returns a step whose pass ``one`` takes these rows."""

        def make(gpu: Gpu, image: Image, first: int, end: int) -> Image:
            return one.make(gpu, self.joined(image, first, end), first, end)

        passes = (one._replace(make=make),)
        record = replace(
            step.operation, around=lambda _params: False, passes=lambda *_: passes, halo=None, ends=None
        )
        return step._replace(operation=record)


def with_neighbours(one: Pass, halo: int) -> Pass:
    """Returns a pass over rows with a halo, with what it takes where first and last rows are neighbours."""
    return one._replace(window=2 * halo + 1, copies=one.copies + _COPIES)


def _put(planes: Image, kept: Image, start: int) -> None:
    """Copies rows to where they stand in ``kept``, which has rows from ``start`` on of a picture that repeats."""
    assert planes.part is not None
    (first, height), (count, rows, width) = planes.part, planes.shape
    stop = start + kept.shape[1]
    for times in range((start - first - rows) // height, (stop - first) // height + 1):
        at = first + times * height
        top, bottom = max(at, start), min(at + rows, stop)
        if top < bottom:
            copy(planes, (top - at, 0), kept, (top - start, 0), (count, bottom - top, width))
