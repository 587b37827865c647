"""Exposure fusion of a bracketed set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..operation import Choice, Files, Number, Operation, Params, Traits
from ..params.files import FileOperand
from ..records import dataclass

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..image import Image

# The most that a weight's exponent can be.
_STEEPEST = 10


@dataclass(frozen=True)
class MergeParams(Params):
    """Merge pictures of one scene with several exposures into one in which all of it is well exposed.

    This is exposure fusion (Mertens, Kautz and Van Reeth 2007). More is taken of a picture where it has more contrast,
    more saturated colours and values nearer to the middle, for each octave of detail by itself. It works on stored
    values, as cameras make them, and needs no exposure times. All inputs become one output, which has the first one's
    size, depth and metadata: `clpix merge dark.jpg middle.jpg bright.jpg -o merged.png`. A single input stays as it is.

    With --align translation, pictures from a hand-held camera are shifted by whole pixels to lie on the first one.
    Where a shifted picture shows nothing, the others are taken.
    """

    others: tuple[FileOperand, ...] = Files(
        "A further picture, like the inputs after the first one; may be repeated.", alike=True
    ).field(())
    align: str = Choice(
        "Shift pictures so that they lie on the first one, or not.", ("none", "translation")
    ).field("none")
    contrast: float = Number("The exponent of contrast in the weights.", 0, _STEEPEST).field(1.0)
    saturation: float = Number("The exponent of saturation.", 0, _STEEPEST).field(1.0)
    exposedness: float = Number("The exponent of how near values are to the middle.", 0, _STEEPEST).field(1.0)


def merge(gpu: Gpu, image: Image, params: MergeParams) -> Image:
    """Fuses planar float32 stored values, gray or RGB, with those of the other pictures.

    Raises ParameterError where a picture has another size than the image.
    """
    from ..files import operands
    from ..operands import check_colours
    from ..tone.fusion import fused, shift_between, shifted

    check_colours(image.colours, image.shape[0], "merge")
    _, height, width = image.shape
    images, seen = [image], [(0, 0, height, width)]
    for file in params.others:
        other = operands.planes_of_set(image, file, params.frame)
        top, left, bottom, end = operands.extent(image, file, params.frame)
        down = right = 0
        if params.align == "translation":
            down, right = shift_between(gpu, image, other)
            other = shifted(gpu, other, down, right)
        images.append(other)
        seen.append(
            (max(0, top - down), max(0, left - right), min(height, bottom - down), min(width, end - right))
        )
    return fused(gpu, images, (params.contrast, params.saturation, params.exposedness), seen)


def _traits(params: MergeParams) -> Traits:
    # Of a gray picture, the worst case: each other picture and its weight, pyramids, and what reading a picture takes.
    fusion = 8.0 * len(params.others) + 40.0
    correlation = 80.0 if params.align == "translation" else 0.0
    return Traits("stored", kind="transform", keeps_range=True, bytes_per_value=fusion + correlation)


OPERATION = Operation(
    "merge",
    MergeParams,
    merge,
    traits=_traits,
    identity=lambda params: not params.others,
    examples=(
        "clpix merge dark.jpg middle.jpg bright.jpg -o merged.jpg",
        "clpix merge dark.jpg middle.jpg bright.jpg -o merged.png --align translation",
        "clpix merge dark.jpg bright.jpg --contrast 0 --exposedness 2 then sharpen -o crisp.jpg",
    ),
)
