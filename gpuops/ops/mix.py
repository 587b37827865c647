"""Two pictures mixed, by one amount or by a mask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..operation import File, Flag, Number, Operation, Params, Traits
from ..params.files import FileOperand
from ..records import dataclass

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..image import Image


@dataclass(frozen=True)
class MixParams(Params):
    """Mix images with another picture of their size, in linear light and with premultiplied alpha.

    The result is image + share · (picture − image), where the share is --amount times the mask's value. A mask's values
    count as they are stored: 0 shows the image, and 1 the picture. A coloured mask counts by its luminance. To blur a
    part, use `clpix blur in.png --sigma 8 then mix --picture in.png --mask sharp-here.png -o out.png`. If the picture
    is transparent and the image has no alpha, the image shows through.
    """

    picture: FileOperand = File("The other picture.", alike=True, by_rows=True).field()
    mask: FileOperand | None = File(
        "A mask. The other picture is seen where it is white.", alike=True, by_rows=True
    ).field(None)
    amount: float = Number("The share of the other picture, 0 … 1.", 0, 1).field(1.0)
    invert: bool = Flag("Swap black and white of the mask.").field(False)


def mix(gpu: Gpu, image: Image, params: MixParams) -> Image:
    """Mixes premultiplied planes with those of the picture.

    Raises ParameterError where the picture or the mask has another size.
    """
    import numpy as np

    from ..files import operands

    other = operands.planes_like(image, params.picture, params.frame)
    mask = None if params.mask is None else operands.mask_like(image, params.mask, params.frame)
    planes, height, width = image.shape
    size, lanes = height * width, gpu.limits.lanes
    result = image if image.owned else image.like()
    gpu.compute(
        ("lanes", "mix"), "mix_planes", (-(-size // lanes),), image, other, mask, result, np.uint64(size),
        params.amount, int(params.invert), group=256, label="mix", WIDTH=lanes, PLANES=planes, MASK=mask is not None,
        OVER=other.alpha and not image.alpha,
    )  # fmt: skip
    return result


OPERATION = Operation(
    "mix",
    MixParams,
    mix,
    traits=Traits(premultiplied=True, kind="pointwise", bytes_per_value=16.0),
    identity=lambda params: params.amount == 0,
    examples=(
        "clpix mix photo.png --picture texture.png --amount 0.3 -o both.png",
        "clpix mix photo.png --picture texture.png --mask mask.png -o masked.png",
        "clpix blur photo.png --sigma 8 then mix --picture photo.png --mask mask.png -o part.png",
    ),
    groups={"Mix": ("picture", "mask", "amount", "invert")},
)
