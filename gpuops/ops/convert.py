"""Another depth, format or colour space: no operation at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..operation import Operation, Params, Traits
from ..records import dataclass

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..image import Image


@dataclass(frozen=True)
class ConvertParams(Params):
    """Convert files to another depth, format or colour space, and change nothing else.

    The output's name says the format and --dtype the depth. Colours stay in the input's space where the output can say
    it; else they become sRGB in files of integers and linear Rec. 709 light in files of floats. Equal depths and spaces
    give equal values.
    """


def convert(gpu: Gpu, image: Image, params: ConvertParams) -> Image:
    """Gives the Image back: files are converted where they are read and written."""
    return image


OPERATION = Operation(
    "convert",
    ConvertParams,
    convert,
    traits=Traits("stored", kind="pointwise", keeps_range=True, bytes_per_value=0.0),
    identity=lambda _params: True,
    examples=(
        "clpix convert photo.png -o photo.exr --dtype half",
        "clpix convert photos/*.jpg -o 'png/{stem}.png'",
        "clpix convert photo.jpg -o photo-p3.png --colour display-p3",
    ),
)
