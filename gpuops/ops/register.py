"""A picture shifted to lie on a reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..operation import Choice, File, Number, Operation, Params, Traits, Whole
from ..params.files import FileOperand
from ..records import dataclass

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..image import Image


@dataclass(frozen=True)
class RegisterParams(Params):
    """Find the shift between images and a reference of their size, and shift the images so that they lie on it.

    Phase correlation finds the shift, to 1 / --upsample of a pixel, from the mean of the colours in linear light. It
    finds no rotation and no other scale, and the picture's content decides how exact it is. A Hann window lets the
    edges count little, since they may be in one picture only. --window none suits pictures that wrap around. The shift
    is printed, in pixels to the right and down, and is in the report of --timing-file.

    Whole shifts move pixels. Others are interpolated by Catmull-Rom's cubic within the range of the 16 values around,
    with premultiplied alpha. Outside of the picture is transparent if there is alpha, and otherwise --background.
    """

    reference: FileOperand = File("The picture that the images are shifted to.", alike=True).field()
    upsample: int = Whole("The parts of a pixel that are told apart; 1 is whole pixels.", 1, 100).field(10)
    window: str = Choice(
        "The window that pictures are multiplied by to find the shift.", ("hann", "none")
    ).field("hann")
    background: float = Number(
        "The light outside of pictures without alpha: 0 is black, 1 is white.", 0, 1
    ).field(0.0)


def register(gpu: Gpu, image: Image, params: RegisterParams) -> Image:
    """Shifts the planes of a planar float32 Image, premultiplied where it has alpha.

    Raises ParameterError for a reference of another size, and for values that are not finite.
    """
    from ..files import operands
    from ..fourier.registration import phase_cross_correlation
    from ..notes import finding
    from ..pixels.turns import interpolated

    reference = operands.planes_like(image, params.reference, params.frame)
    both = (_gray(gpu, one, params.window) for one in (reference, image))
    shift, _, _ = phase_cross_correlation(gpu, *both, upsample_factor=params.upsample)
    y, x = map(float, shift + 0.0)
    finding(f"shift {x:g},{y:g} pixels to the right and down", {"shift": [x, y]})
    _, height, width = image.shape
    if not (x or y):
        return image
    return interpolated(image, (height, width), (-x, -y), (1.0, 0.0), params.background, label="register")


def _gray(gpu: Gpu, image: Image, window: str) -> Image:
    """The mean of the colours, times a window."""
    import numpy as np

    from ..fourier.spectrum import windowed

    gray = gpu.array(image.without_alpha().numpy().mean(0, keepdims=True, dtype=np.float32))
    return gray if window == "none" else windowed(gpu, gray, window)


OPERATION = Operation(
    "register",
    RegisterParams,
    register,
    traits=Traits(
        premultiplied=True, kind="transform", keeps_range=True, bytes_per_value=48.0, fixed_bytes=64e6
    ),
    shifts=True,
    examples=(
        "clpix register after.png --reference before.png -o moved.png",
        "clpix register photo.png --reference texture.png --upsample 100 -o exact.png",
        "clpix register after.png --reference before.png --window none then blur --sigma 1 -o soft.png",
    ),
)
