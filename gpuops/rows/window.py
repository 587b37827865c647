"""Rows with their neighbours: those that a pass over a picture needs at a time, those beyond its ends, and bands.

Rows are kept until the rows below them have come.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from ..files.picture import Pixels
from ..files.strips import Window
from ..image import Image, Part
from ..passes import Pass, Reach
from ..tiles.rectangles import copy, cut

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..plan import Step

# A block is joined as a whole if more of its rows than one of so many are needed beside those before it.
_FEW = 4

Shape = tuple[int, int, int]
Needs = Callable[[int, int], tuple[int, int]]


def windows(
    blocks: Iterable[Image], needs: Needs, wanted: tuple[int, int], most: int, align: int = 1
) -> Iterator[tuple[Image, int, int]]:
    """Gives rows of the input, each time enough for some rows of the result.

    Parameters
    ----------
    blocks : iterable of Image
        The picture's rows from the first to the last, at least those that are needed, each Image with its ``part``.
    needs : callable
        ``(first, end)`` of rows of the result → ``(first, end)`` of the input's rows that they depend on.
    wanted : (first, end)
        Rows of the result that are wanted; the first is a multiple of the pass's ``align``.
    most : int
        The most rows of the result at a time, but ``align`` at least.
    align : int
        The first row that is made of the result, each time, is a multiple of this.

    Yields
    ------
    The input's rows, which may be overwritten if they are ``owned``, and the first and the end of the result's rows
    that are to be made of them.
    """
    held: list[Image] = []
    made, last = wanted
    most = max(most - most % align, align)
    for block in blocks:
        held.append(block)
        ready = _ready(needs, made, last, _end(block), align)
        del block  # whose memory is free once it is joined with others
        if ready > made:
            parts, held = _parts(held, needs, range(made, ready, align), ready), []
            made = ready
            if made < last and (kept := _from(parts[-1][0], needs(made, made + 1)[0])) is not None:
                held.append(kept)
            while parts:
                rows, start, stop = parts.pop(0)
                assert rows.part is not None and rows.part.first <= needs(start, start + 1)[0]
                pieces = [(first, min(first + most, stop)) for first in range(start, stop, most)]
                shared, given = held and held[0] is rows, [rows] * len(pieces)
                del rows  # whose memory belongs to the caller, after the last piece
                for first, end in pieces:
                    given[0].owned = end == stop and not shared
                    yield given.pop(), first, end
            if made == last:
                return
        else:
            least = needs(made, made + 1)[0]
            held = [image for image in held if _end(image) > least]


def _parts(held: list[Image], needs: Needs, made: range, end: int) -> list[tuple[Image, int, int]]:
    """Returns Images of the ``held`` rows, each with the first and the end of the result's rows that it is enough for.

    On a CPU, where it takes long to join a block to the rows before it, its first rows alone are if they are few.
    """
    *before, newest = held
    assert newest.part is not None
    first = newest.part.first
    alone = bisect_left(
        made, first, key=lambda row: needs(row, row + 1)[0]
    )  # these results need no rows but its own
    if before and newest.gpu.limits.is_cpu and 0 < alone < len(made):
        start = made[alone]
        few = needs(made.start, start)[1] - first
        if _FEW * few <= newest.shape[1]:
            return [(_joined([*before, newest], max(few, 0)), made.start, start), (newest, start, end)]
    return [(_joined(held), made.start, end)]


def rows_of(image: Image, at: slice) -> Image:
    """Returns some rows: the Image itself if these are all of them, else a copy."""
    assert image.part is not None
    if at == slice(0, image.shape[1]):
        return image
    rows = cut(image, (at.start, 0), (at.stop - at.start, image.shape[2]))
    rows.part, rows.owned = Part(image.part.first + at.start, image.part.height), True
    return rows


def _ready(needs: Needs, made: int, last: int, end: int, align: int) -> int:
    """Returns the end of the result's rows that need no input from row ``end`` on."""
    rows = range(made + 1, last + 1)
    ready = made + bisect_right(rows, end, key=lambda row: needs(made, row)[1])
    return ready if ready == last else ready - ready % align


def _end(image: Image) -> int:
    assert image.part is not None
    return image.part.first + image.shape[1]


def _from(rows: Image, first: int) -> Image | None:
    """Returns the rows from a row of the picture on, if there are some."""
    assert rows.part is not None
    count = rows.shape[1]
    at = slice(max(first - rows.part.first, 0), count)
    return rows_of(rows, at) if at.start < count else None


def _joined(images: list[Image], of_last: int | None = None) -> Image:
    """Returns the rows of Images, one below the other; of the last one all, or its first ``of_last``."""
    if len(images) == 1:
        return images[0]
    heights = [image.shape[1] for image in images]
    if of_last is not None:
        heights[-1] = of_last
    count, _, width = images[0].shape
    result, at = images[-1].like((count, sum(heights), width)), 0
    for image, height in zip(images, heights, strict=True):
        copy(image, (0, 0), result, (at, 0), (count, height, width))
        at += height
    result.part, result.owned = images[0].part, True
    return result


def with_halo(
    shape: Shape, halo: int, function: Callable[[Gpu, Image], Image], bytes_per_value: float, align: int = 1
) -> Pass:
    """Returns a pass that looks at rows above and below, and keeps the picture's height.

    Parameters
    ----------
    shape : (planes, height, width)
        The shape of the whole result.
    halo : int
        How many rows above and below a row depends on.
    function : callable
        ``(gpu, image)`` → the result's rows where the Image has rows of the input.
    bytes_per_value : float
        As for :class:`gpuops.operation.Pass`.
    align : int
        The first row of such an Image is a multiple of this.
    """
    height = shape[1]
    needs = beside(height, halo, align)

    def make(gpu: Gpu, image: Image, first: int, end: int) -> Image:
        assert image.part is not None
        start = needs(first, end)[0] if align > 1 else image.part.first
        image = rows_of(image, slice(start - image.part.first, image.shape[1]))
        result = function(gpu, image)
        result.part = image.part
        return rows_of(result, slice(first - start, end - start))

    return Pass(shape, needs, make, min(2 * halo + align, height), bytes_per_value=bytes_per_value)


def beside(height: int, halo: int, align: int = 1) -> Needs:
    """Returns a function that tells which rows of the input rows of a result need: ``halo`` more above and below."""
    return lambda first, end: (max(first - halo, 0) // align * align, min(end + halo, height))


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
    """

    height: int
    halo: int
    _above: Image | None = field(init=False, default=None)
    _below: Image | None = field(init=False, default=None)

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
                shape = rows.shape[0], self.halo, rows.shape[2]
                self._above, self._below = rows.like(shape), rows.like(shape)
                self._above.part = Part(-self.halo, self.height)
                self._below.part = Part(self.height, self.height)
            for kept in (self._above, self._below):
                _put(rows, kept)

    def around(self, images: Iterable[Image]) -> Iterator[Image]:
        """Gives the rows above a picture, the picture's, and those below, as many at a time."""
        assert self._above is not None and self._below is not None
        yield self._above
        most = 1
        for rows in images:
            most = max(most, rows.shape[1])
            yield rows
            del rows  # whose memory is free while the next come
        for start in range(0, self.halo, most):
            yield rows_of(self._below, slice(start, min(start + most, self.halo)))

    def known(self, step: Step, one: Pass) -> Step:
        """Returns a step whose pass ``one`` gets these rows, too."""
        passes = (one._replace(around=self.around),)
        record = replace(step.operation, reach=lambda *_: Reach(), passes=lambda *_: passes)
        return step._replace(operation=record)


def _put(rows: Image, kept: Image) -> None:
    """Copies those rows of a picture that are also among the ``kept`` ones, which repeat beyond the picture's ends."""
    assert rows.part is not None and kept.part is not None
    (first, height), start = rows.part, kept.part.first
    (count, many, width), stop = rows.shape, start + kept.shape[1]
    for times in range((start - first - many) // height, (stop - first) // height + 1):
        at = first + times * height
        top, bottom = max(at, start), min(at + many, stop)
        if top < bottom:
            copy(rows, (top - at, 0), kept, (top - start, 0), (count, bottom - top, width))


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
