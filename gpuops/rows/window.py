"""The rows that a pass over a picture needs at a time: rows are kept until the rows below them have come."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator

from ..image import Image, Part
from ..tiles.rectangles import copy, cut

Needs = Callable[[int, int], tuple[int, int]]

# The axis of rows in planes (planes, rows, columns), and in pixels (rows, columns, channels).
PLANES, PIXELS = 1, 0


def windows(
    blocks: Iterable[Image], needs: Needs, wanted: tuple[int, int], most: int, row_axis: int, align: int = 1
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
    row_axis : int
        :data:`PLANES`, which may be overwritten if they are ``owned``; or :data:`PIXELS`.
    align : int
        The first row that is made of the result, each time, is a multiple of this.

    Yields
    ------
    The input's rows, and the first and the end of the result's rows that are to be made of them.
    """
    held: list[Image] = []
    made, last = wanted
    most = max(most - most % align, align)
    for block in blocks:
        held.append(block)
        ready = _ready(needs, made, last, _end(block, row_axis), align)
        if ready > made:
            rows, held = _joined(held, row_axis), []
            assert rows.part is not None and rows.part.first <= needs(made, made + 1)[0]
            pieces = [(first, min(first + most, ready)) for first in range(made, ready, most)]
            made = ready
            if made < last and (kept := _from(rows, needs(made, made + 1)[0], row_axis)) is not None:
                held.append(kept)
            for first, end in pieces:
                rows.owned = end == ready and not (held and held[0] is rows)
                yield rows, first, end
            del rows  # whose memory is free while the next are joined
            if made == last:
                return
        else:
            least = needs(made, made + 1)[0]
            held = [image for image in held if _end(image, row_axis) > least]


def rows_of(image: Image, at: slice, row_axis: int = PLANES) -> Image:
    """Returns some rows: the Image itself if these are all of them, else a copy."""
    assert image.part is not None
    if at == slice(0, image.shape[row_axis]):
        return image
    plane = as_planes(image, row_axis)
    found = cut(plane, (at.start, 0), (at.stop - at.start, plane.shape[2]))
    return _like(found, image, Part(image.part.first + at.start, image.part.height), row_axis)


def _ready(needs: Needs, made: int, last: int, end: int, align: int) -> int:
    """Returns the end of the result's rows that need no input from row ``end`` on."""
    rows = range(made + 1, last + 1)
    ready = made + bisect_right(rows, end, key=lambda row: needs(made, row)[1])
    return ready if ready == last else ready - ready % align


def _end(image: Image, row_axis: int) -> int:
    assert image.part is not None
    return image.part.first + image.shape[row_axis]


def _from(rows: Image, first: int, row_axis: int) -> Image | None:
    """Returns the rows from a row of the picture on, if there are some."""
    assert rows.part is not None
    count = rows.shape[row_axis]
    at = slice(max(first - rows.part.first, 0), count)
    return rows_of(rows, at, row_axis) if at.start < count else None


def _joined(images: list[Image], row_axis: int) -> Image:
    """Returns the rows of Images, one below the other."""
    if len(images) == 1:
        return images[0]
    planes = [as_planes(image, row_axis) for image in images]
    count, _, width = planes[0].shape
    result = planes[0].like((count, sum(one.shape[1] for one in planes), width))
    at = 0
    for one in planes:
        copy(one, (0, 0), result, (at, 0), one.shape)
        at += one.shape[1]
    assert images[0].part is not None
    return _like(result, images[-1], images[0].part, row_axis)


def as_planes(image: Image, row_axis: int) -> Image:
    """Returns pixels (rows, columns, channels) as one plane with the same values, and planes as they are."""
    if row_axis == PLANES:
        return image
    rows, columns, channels = image.shape
    return Image(image.gpu, image.buffer, (1, rows, columns * channels), image.dtype)


def _like(planes: Image, image: Image, part: Part, row_axis: int) -> Image:
    """Turns the result of :func:`as_planes` back, with the attributes of an ``image``."""
    shape = planes.shape if row_axis == PLANES else (planes.shape[1], *image.shape[1:])
    found = Image(image.gpu, planes.buffer, shape, image.dtype, alpha=image.alpha, space=image.space)
    found.orientation, found.part, found.owned = image.orientation, part, True
    return found
