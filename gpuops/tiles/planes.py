"""Large images are worked on plane by plane, so that temporary memory is that of one plane, not of all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..image import Image

# The bytes up to which images are worked on as a whole, in as few launches as possible.
_AT_ONCE = 1 << 26


def in_turn(planes: int, nbytes: int) -> list[slice]:
    """Returns one slice of all planes if they have few bytes together, else a slice for each."""
    return [slice(0, planes)] if nbytes <= _AT_ONCE else [slice(k, k + 1) for k in range(planes)]


def first_planes(image: Image, count: int, make: Callable[[Image], Image]) -> Image:
    """Returns an Image with what ``make`` gives for its first planes, so many, in turn; the others are copied."""
    result = image.like()
    for at in in_turn(count, image.nbytes):
        planes = image.planes(at)
        planes.part = image.part
        result.put(at, make(planes))
    if count < image.shape[0]:
        rest = slice(count, image.shape[0])
        result.put(rest, image.planes(rest))
    return result


def planewise(
    planes: int, nbytes: int, make: Callable[[slice], Image], *, into: Image | None = None
) -> Image:
    """Joins the results of ``make`` for planes in turn into one Image, in the memory of ``into`` if its shape fits.

    ``nbytes`` is the size of the input, all planes together.
    """
    turns = in_turn(planes, nbytes)
    if len(turns) == 1:
        return make(turns[0])
    result: Image | None = None
    for at in turns:
        part = make(at)
        if result is None:
            shape = (planes, *part.shape[1:])
            fits = into is not None and (into.shape, into.dtype) == (shape, part.dtype)
            result = into if into is not None and fits else part.like(shape)
        result.put(at, part)
        result.alpha = part.alpha  # in the end the last plane's
    assert result is not None
    return result


def planewise_to_host(planes: int, nbytes: int, make: Callable[[slice], Image]) -> npt.NDArray[Any]:
    """Does the same as :func:`planewise`, but copies each part to the host before the next is made."""
    result: npt.NDArray[Any] | None = None
    for at in in_turn(planes, nbytes):
        part = make(at)
        if result is None:
            result = np.empty((planes, *part.shape[1:]), part.dtype)
        part.numpy(result[at])
    assert result is not None
    return result


# -- Filters that take one axis of planes after the other --------------------------------------------------------

#: An Image, and the number of the first of its planes that a launch reads or writes.
Planes = tuple[Image, int]
#: Enqueues the filter along an axis: from these planes to those, so many of them.
AlongAxis = Callable[[Planes, Planes, int, int], None]


def by_axes(
    image: Image, result: Image, axes: Sequence[int], between: Sequence[int], along: AlongAxis
) -> None:
    """Filters planes along one axis, or along two, by way of memory for the planes of a turn.

    ``along`` is called with the source, the target, the number of planes, and the axis. ``between`` is the (height,
    width) of what lies between two axes. The result may be the image, if there are two.
    """
    if len(axes) == 1:
        along((image, 0), (result, 0), image.shape[0], axes[0])
        return
    turns = in_turn(image.shape[0], image.nbytes)
    count = turns[0].stop
    half_way = image.gpu.empty((count, *between))
    for at in turns:
        along((image, at.start), (half_way, 0), count, axes[0])
        along((half_way, 0), (result, at.start), count, axes[1])
