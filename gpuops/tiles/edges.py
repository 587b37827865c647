"""Pictures whose first and last rows are neighbours: rows beyond one end are repeated from the other end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ..image import Image, Part
from ..operation import Pass
from .rectangles import copy
from .window import PLANES, as_planes, rows_of

if TYPE_CHECKING:
    from ..plan import Step


def with_neighbours(one: Pass, halo: int) -> Pass:
    """Returns a pass over rows with a halo for pictures whose first and last rows are neighbours."""
    each = one.bytes_per_value + 4  # the rows beyond both ends
    return one._replace(
        needs=lambda first, end: (first - halo, end + halo), window=2 * halo + 1, bytes_per_value=each
    )


@dataclass
class Edges:
    """The rows above the first and below the last row of a picture that repeats itself there.

    Attributes
    ----------
    height : int
        The picture's rows.
    halo : int
        Rows above, and rows below; there may be more than the picture has.
    row_axis : int
        :data:`gpuops.tiles.window.PLANES` or ``PIXELS``.
    """

    height: int
    halo: int
    row_axis: int = PLANES
    _above: Image | None = field(init=False, default=None)
    _below: Image | None = field(init=False, default=None)

    @classmethod
    def of(cls, one: Pass, height: int, row_axis: int) -> Edges:
        """Returns empty rows for a pass :func:`with_neighbours`, which :meth:`fill` fills."""
        return cls(height, -one.needs(0, 1)[0], row_axis)

    @property
    def parts(self) -> tuple[tuple[int, int], ...]:
        """The rows (first, end) of the picture that are repeated there."""
        if 2 * self.halo >= self.height:
            return ((0, self.height),)
        return (0, self.halo), (self.height - self.halo, self.height)

    def fill(self, images: Iterable[Image]) -> None:
        """Keeps what is needed of some rows, each Image with its ``part``."""
        for rows in images:
            if self._above is None or self._below is None:
                shape = *rows.shape[: self.row_axis], self.halo, *rows.shape[self.row_axis + 1 :]
                self._above, self._below = rows.like(shape), rows.like(shape)
                self._above.part = Part(-self.halo, self.height)
                self._below.part = Part(self.height, self.height)
            for kept in (self._above, self._below):
                _put(rows, kept, self.row_axis)

    def around(self, images: Iterable[Image]) -> Iterator[Image]:
        """Gives the rows above a picture, the picture's, and those below, as many at a time."""
        assert self._above is not None and self._below is not None
        yield self._above
        most = 1
        for rows in images:
            most = max(most, rows.shape[self.row_axis])
            yield rows
            del rows  # whose memory is free while the next come
        for start in range(0, self.halo, most):
            yield rows_of(self._below, slice(start, min(start + most, self.halo)), self.row_axis)

    def known(self, step: Step, one: Pass) -> Step:
        """Returns a step whose pass ``one`` gets these rows, too."""
        passes = (one._replace(around=self.around),)
        ends = None if self.row_axis == PLANES else step.operation.ends
        record = replace(
            step.operation, around=lambda _params: False, passes=lambda *_: passes, halo=None, ends=ends
        )
        return step._replace(operation=record)


def _put(rows: Image, kept: Image, row_axis: int) -> None:
    """Copies those rows of a picture that are also among the ``kept`` ones, which repeat beyond the picture's ends."""
    assert rows.part is not None and kept.part is not None
    (first, height), start = rows.part, kept.part.first
    source, target = as_planes(rows, row_axis), as_planes(kept, row_axis)
    (count, many, width), stop = source.shape, start + target.shape[1]
    for times in range((start - first - many) // height, (stop - first) // height + 1):
        at = first + times * height
        top, bottom = max(at, start), min(at + many, stop)
        if top < bottom:
            copy(source, (top - at, 0), target, (top - start, 0), (count, bottom - top, width))
