"""Filters that take one axis of planes after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..image import Image
from ..tiles.planes import in_turn

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
