"""Rectangular parts of images."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..operation import Frame, Move, Operation, Params, Pass, Rectangle, Traits
from ..params.region import Region
from ..records import dataclass

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..image import Image


@dataclass(frozen=True)
class CropParams(Params):
    """Cut a rectangle out of images, value for value.

    The rectangle is counted in pixels as they are stored, before any rotation that EXIF asks for. In percent, it
    takes all pixels that it touches. Of EXR files it is a part of the display window; pixels are those that the file
    has of it. Files such as EXR hold floats multiplied by alpha. Where alpha is partial these
    change by at most one unit in the last place, since every command divides them by alpha and multiplies them again.
    """

    region: Region = Rectangle(
        "The rectangle's left, top, width and height, in pixels, or all four with %."
    ).field()

    def place(self, height: int, width: int) -> tuple[int, int, int, int]:
        """Returns x, y, columns and rows of the rectangle's pixels, of so many rows and columns."""
        frame = self.frame or Frame.of(height, width)
        x, y, _, _ = self.region.within(frame.height, frame.width)
        after = frame.moved(_move(self, frame.height, frame.width))
        return after.x + x - frame.x, after.y + y - frame.y, after.columns, after.rows


def crop(gpu: Gpu, image: Image, params: CropParams) -> Image:
    """Returns the rectangle of a planar Image with all its planes, or the Image itself if it is all of it.

    Raises ParameterError if the rectangle is not inside the image.
    """
    from ..pixels.regions import rectangle

    return rectangle(image, params.place(*image.shape[1:]), interleaved=False, alpha=True)


def _passes(_gpu: Gpu, shape: tuple[int, int, int], params: CropParams) -> tuple[Pass, ...]:
    from ..pixels.regions import rectangle

    planes, height, width = shape
    x, y, columns, rows = params.place(height, width)

    def needs(first: int, end: int) -> tuple[int, int]:
        return y + first, y + end

    def make(_gpu: Gpu, image: Image, first: int, end: int) -> Image:
        assert image.part is not None
        place = x, y + first - image.part.first, columns, end - first
        return rectangle(image, place, interleaved=False, alpha=True)

    return (Pass((planes, rows, columns), needs, make, columns=lambda first, end: (x + first, x + end)),)


def _move(params: CropParams, height: int, width: int) -> Move:
    x, y, columns, rows = params.region.within(height, width)
    return Move(1, 0, 0, 1, -x, -y, columns, rows)


OPERATION = Operation(
    "crop",
    CropParams,
    crop,
    traits=Traits("stored", kind="geometry", keeps_range=True, copies=True),
    passes=_passes,
    move=_move,
    examples=(
        "clpix crop photo.png -o part.png --region 8,4,32,16",
        "clpix crop photos/*.jpg -o parts/ --region 10%,10%,80%,80%",
        "clpix crop photo.png --region 0,0,24,24 then resize --size 64x -o enlarged.png",
    ),
    groups={"Crop": ("region",)},
)
