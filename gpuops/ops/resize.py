"""Images in another size."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import ParameterError
from ..operation import Choice, Flag, Move, Numbers, Operation, Params, Pass, Reach, Size, Traits

if TYPE_CHECKING:
    from ..filters.resampling import ResampledAxis
    from ..gpu import Gpu
    from ..image import Image

#: Pixels of a side, at most.
MOST = 1 << 20
#: How many times the wanted size a picture has at least that a decoder has made smaller.
LEFT = 2
#: The help of the parameter that lets a decoder make pictures smaller.
ON_LOAD = "Let the decoder of a JPEG make a picture smaller by 2, 4 or 8, but at least twice the wanted size."


@dataclass(frozen=True)
class ResizeParams(Params):
    """Bring images to another size, in linear light and with premultiplied alpha.

    Give --size or --scale. --fit contain keeps the image's shape and stays inside the size. cover keeps the shape,
    fills the size and cuts off what is beyond it, as much on both sides. stretch fills the size with the whole image.
    If the width or the height is left out, it follows from the shape.

    When an image shrinks, filters are stretched, so that every pixel of it counts. At the edges weights are divided by
    the sum of those that are inside. A side that keeps its length keeps its values. The filter area takes the mean of
    what a new pixel covers, and nearest copies the pixel at its centre. Sizes are of pixels as they are stored, before
    any rotation that EXIF asks for, and of EXR files of the display window.

    --shrink-on-load takes less time and memory for JPEG files that become much smaller, but is not exact: see
    thumbnail, which turns pictures upright, too.
    """

    size: tuple[int | None, int | None] | None = Size(
        "The new width and height; one may be left out: 1920x or x1080.", MOST, partial=True
    ).field(None)
    scale: tuple[float, float] | None = Numbers(
        "The factor, such as 0.5 or 50%, or two for width and height.", 2, 1e-6, 1e6, percent=True
    ).field(None)
    fit: str = Choice(
        "How the image fits into a size of another shape.", ("contain", "cover", "stretch")
    ).field("contain")
    filter: str = Choice(
        "The filter that makes new pixels from the old ones.",
        ("lanczos3", "mitchell", "catmull-rom", "area", "nearest"),
    ).field("lanczos3")
    shrink_on_load: bool = Flag(ON_LOAD).field(False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.size is None) == (self.scale is None):
            raise ParameterError("give either a size, such as 1920x1080, or a scale, such as 0.5")
        if self.scale is not None and self.fit != "contain":
            raise ParameterError(
                f"fit {self.fit} is for a size: leave it out, or give a size instead of a scale"
            )
        if self.shrink_on_load and self.filter == "nearest":
            raise ParameterError("nearest copies pixels, and shrink-on-load makes others: leave out one")


def resize(gpu: Gpu, image: Image, params: ResizeParams) -> Image:
    """Returns a planar float32 Image in another size, premultiplied if it has alpha, or itself if it has that size.

    Raises ParameterError where a side would have more than :data:`MOST` pixels.
    """
    from ..filters.resize import resized

    return resized(gpu, image, axes(params, *image.of_whole[1:]), params.filter)


def _passes(gpu: Gpu, shape: tuple[int, int, int], params: ResizeParams) -> tuple[Pass, ...]:
    from ..filters.resize import passes

    return passes(gpu, shape, axes(params, *shape[1:]), params.filter)


def axes(params: ResizeParams, height: int, width: int) -> tuple[ResampledAxis, ResampledAxis]:
    """Returns how both axes (y, x) of an image of this size are resampled: their new lengths, and what these cover.

    Raises ParameterError where a side would have more than :data:`MOST` pixels.
    """
    frame = params.frame
    if frame is None:
        return _of_display(params, height, width)
    y, x = _of_display(params, frame.height, frame.width)
    after = frame.moved(_move(params, frame.height, frame.width))
    return y.part(frame.y, frame.rows, after.y, after.rows), x.part(
        frame.x, frame.columns, after.x, after.columns
    )


def _move(params: ResizeParams, height: int, width: int) -> Move:
    y, x = _of_display(params, height, width)
    return Move(x.scale, 0, 0, y.scale, x.first, y.first, x.result, y.result)


def _of_display(params: ResizeParams, height: int, width: int) -> tuple[ResampledAxis, ResampledAxis]:
    if params.shrunk is None:
        return _of_picture(params, height, width)
    by, columns, rows = params.shrunk
    y, x = _of_picture(params, rows, columns)
    return y.of_smaller(by, height), x.of_smaller(by, width)


def _of_picture(params: ResizeParams, height: int, width: int) -> tuple[ResampledAxis, ResampledAxis]:
    from ..filters.resampling import ResampledAxis

    cut = params.fit == "cover" and params.size is not None and None not in params.size
    columns, rows = target(params, height, width)
    if max(rows, columns) > MOST:
        raise ParameterError(f"the result would be {columns} × {rows} pixels: a side has at most {MOST}")
    if not cut:
        return ResampledAxis.of(height, rows), ResampledAxis.of(width, columns)
    # The axis that is enlarged most, or shrunk least, is covered as a whole; the other has the same scale.
    step = (width, columns) if width * rows <= height * columns else (height, rows)
    return ResampledAxis.of(height, rows, *step), ResampledAxis.of(width, columns, *step)


def shrinks(params: ResizeParams, _orientation: int, height: int, width: int) -> int:
    """Returns by how much a decoder may make a picture of this size smaller: to twice the wanted size."""
    if not params.shrink_on_load:
        return 1
    return min(axis.num // (LEFT * axis.den) for axis in _of_picture(params, height, width))


def target(params: ResizeParams, height: int, width: int) -> tuple[int, int]:
    """The result's width and height, at least 1 pixel each."""
    if params.scale is not None:
        across, down = params.scale
        return max(1, math.floor(width * across + 0.5)), max(1, math.floor(height * down + 0.5))
    columns, rows = params.size or (None, None)
    if columns and rows and params.fit != "contain":
        return columns, rows
    if rows is None or (columns is not None and columns * height <= rows * width):
        assert columns is not None
        return columns, _share(height, columns, width)
    return _share(width, rows, height), rows


def _share(side: int, num: int, den: int) -> int:
    """side · num / den as the nearest whole number, at least 1."""
    return max(1, (2 * side * num + den) // (2 * den))


def _reach(gpu: Gpu, shape: tuple[int, int, int], params: ResizeParams) -> Reach:
    from ..filters.resampling import reach
    from ..filters.resize import sums_as_whole

    both = axes(params, *shape[1:])
    spoiled = max(reach(axis, params.filter) for axis in both)
    return Reach(spoiled=spoiled, exact=sums_as_whole(gpu, shape, both, params.filter))


def _traits(params: ResizeParams) -> Traits:
    # The result, and what one axis makes of the input first; of a size the factors are not known here.
    factors = params.scale or (1.0, 1.0)
    return Traits(
        premultiplied=True,
        kind="geometry",
        keeps_range=True,
        copies=params.filter == "nearest",
        bytes_per_value=8 * max(1, *factors, factors[0] * factors[1]),
    )


OPERATION = Operation(
    "resize",
    ResizeParams,
    resize,
    traits=_traits,
    identity=lambda params: params.scale == (1, 1),
    reach=_reach,
    passes=_passes,
    move=_move,
    shrinks=shrinks,
    examples=(
        "clpix resize photo.jpg -o small.jpg --size 640x",
        "clpix resize photos/*.jpg -o squares/ --size 128x128 --fit cover",
        "clpix resize light.exr -o half.exr --scale 50% --filter area",
    ),
    groups={"Size": ("size", "scale", "fit", "filter", "shrink_on_load")},
)
