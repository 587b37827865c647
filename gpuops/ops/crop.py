"""Rectangular parts of images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..operation import Operation, Params, Pass, Rectangle, Traits
from ..params.region import Region

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..image import Image


@dataclass(frozen=True)
class CropParams(Params):
    """Cut a rectangle out of images, value for value.

    The rectangle is counted in pixels as they are stored, before any rotation that EXIF asks for. In percent, it
    takes all pixels that it touches. Files such as EXR hold floats multiplied by alpha. Where alpha is partial these
    change by at most one unit in the last place, since every command divides them by alpha and multiplies them again.
    """

    region: Region = Rectangle(
        "The rectangle's left, top, width and height, in pixels, or all four with %."
    ).field()


def crop(gpu: Gpu, image: Image, params: CropParams) -> Image:
    """Returns the rectangle of a planar Image with all its planes, or the Image itself if it is all of it.

    Raises ParameterError if the rectangle is not inside the image.
    """
    from ..pixels.regions import cut

    return cut(image, params.region, interleaved=False, alpha=True)


def _passes(_gpu: Gpu, shape: tuple[int, int, int], params: CropParams) -> tuple[Pass, ...]:
    from ..pixels.regions import rectangle

    planes, height, width = shape
    x, y, columns, rows = params.region.within(height, width)

    def needs(first: int, end: int) -> tuple[int, int]:
        return y + first, y + end

    def make(_gpu: Gpu, image: Image, first: int, end: int) -> Image:
        assert image.part is not None
        place = x, y + first - image.part.first, columns, end - first
        return rectangle(image, place, interleaved=False, alpha=True)

    return (Pass((planes, rows, columns), needs, make, columns=lambda first, end: (x + first, x + end)),)


OPERATION = Operation(
    "crop",
    CropParams,
    crop,
    traits=Traits("stored", kind="geometry", keeps_range=True),
    passes=_passes,
    examples=(
        "clpix crop photo.png -o part.png --region 8,4,32,16",
        "clpix crop photos/*.jpg -o parts/ --region 10%,10%,80%,80%",
        "clpix crop photo.png --region 0,0,24,24 then resize --size 64x -o enlarged.png",
    ),
    groups={"Crop": ("region",)},
)
