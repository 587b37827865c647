"""Mirrored images."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..operation import Choice, Operation, Params, Traits, Turn
from ..records import dataclass

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..image import Image

# EXIF's orientations that ask for the same.
_ORIENTATIONS = {"horizontal": 2, "both": 3, "vertical": 4}


@dataclass(frozen=True)
class FlipParams(Params):
    """Mirror images, value for value.

    --axis horizontal changes left and right, vertical changes top and bottom, and both is half a turn. These are the
    sides of the pixels as they are stored. An orientation that EXIF asks for stays, and viewers apply it afterwards;
    clpix rotate --auto-orient applies it to the pixels.
    """

    axis: str = Choice(
        "The axis along which pixels change their places.", ("horizontal", "vertical", "both")
    ).field()


def flip(gpu: Gpu, image: Image, params: FlipParams) -> Image:
    """Mirrors all planes of a planar Image."""
    from ..pixels.turns import upright

    return upright(image, _ORIENTATIONS[params.axis])


OPERATION = Operation(
    "flip",
    FlipParams,
    flip,
    traits=Traits("stored", kind="geometry", keeps_range=True),
    turn=lambda params, _orientation: Turn(_ORIENTATIONS[params.axis]),
    examples=(
        "clpix flip photo.jpg -o mirrored.jpg --axis horizontal",
        "clpix flip light.exr -o upside-down.exr --axis vertical",
        "clpix flip photos/*.jpg -o turned/ --axis both",
    ),
    groups={"Flip": ("axis",)},
)
