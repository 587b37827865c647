"""Turned images."""

from __future__ import annotations

from math import ceil, cos, radians, sin
from typing import TYPE_CHECKING

from ..errors import ParameterError
from ..operation import Flag, Frame, Move, Number, Operation, Params, Reach, Traits, Turn
from ..records import dataclass

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..image import Image

_CLOCKWISE = {90: 6, 180: 3, 270: 8}  # EXIF's orientations that ask for a turn by so many degrees
_SLACK = 1e-6  # pixels: what the canvas's size may be off by, as a binary number


@dataclass(frozen=True)
class RotateParams(Params):
    """Turn images clockwise by --angle, or upright by --auto-orient.

    Turns by multiples of 90 degrees move pixels, value for value. At other angles light is interpolated, linear and
    with premultiplied alpha, by Catmull-Rom's cubic within the range of the 16 values around it. Then the canvas grows
    to hold all of the picture, unless --no-expand keeps its size. What lies outside of the picture is transparent where
    there is alpha, else --background.

    --auto-orient turns and mirrors pixels as the EXIF orientation asks, value for value; then the orientation is 1,
    which is upright. --angle leaves the orientation as it is, and viewers apply it afterwards.
    """

    angle: float | None = Number("The angle by which to turn, clockwise.", -360, 360, "degrees").field(None)
    auto_orient: bool = Flag("Turn as the EXIF orientation asks, in place of an angle.").field(False)
    expand: bool = Flag("Let the canvas grow to hold all of the turned picture.").field(True)
    background: float = Number(
        "The light outside of pictures without alpha: 0 is black, 1 is white.", 0, 1
    ).field(0.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.angle is not None) == self.auto_orient:
            raise ParameterError("a rotation needs either an angle or auto-orient: give one of the two")

    @property
    def exact(self) -> bool:
        """Whether pixels only move."""
        return self.angle is None or self.angle % 90 == 0


def rotate(gpu: Gpu, image: Image, params: RotateParams) -> Image:
    """Turns all planes of a planar float32 Image, premultiplied where it has alpha and is interpolated.

    ``auto_orient`` asks for :attr:`gpuops.image.Image.orientation`.
    """
    from ..pixels.turns import upright

    turn = _turn(params, image.orientation or 1)
    if turn is None:
        return _interpolated(image, params)
    turned = upright(image, turn.orientation)
    if turned is not image:
        turned.orientation = turn.leaves or turned.orientation
    return turned


def _turn(params: RotateParams, orientation: int) -> Turn | None:
    """Returns the turn of a picture of this orientation if pixels only move."""
    if params.angle is None:
        return Turn(orientation if 1 <= orientation <= 8 else 1, leaves=1)
    return Turn(_CLOCKWISE.get(round(params.angle) % 360, 1)) if params.exact else None


def _interpolated(image: Image, params: RotateParams) -> Image:
    from ..pixels.turns import interpolated

    frame = params.frame or Frame.of(*image.shape[1:])
    move = _move(params, frame.height, frame.width)
    assert move is not None
    after = frame.moved(move)
    x, y = move.back(frame.width, frame.height)(after.x + 0.5, after.y + 0.5)
    first, size = (x - frame.x - 0.5, y - frame.y - 0.5), (after.rows, after.columns)
    return interpolated(image, size, first, (move.a, move.c), params.background, label="rotate")


def _move(params: RotateParams, height: int, width: int) -> Move | None:
    """Returns the turn about the middle of a canvas, by any angle."""
    if params.angle is None:
        return None
    c, s = cos(radians(params.angle)), sin(radians(params.angle))
    rows, columns = height, width
    if params.expand:
        rows = ceil(width * abs(s) + height * abs(c) - _SLACK)
        columns = ceil(width * abs(c) + height * abs(s) - _SLACK)
    left, top = (columns - width * c + height * s) / 2, (rows - width * s - height * c) / 2
    return Move(c, -s, s, c, left, top, columns, rows)


def _traits(params: RotateParams) -> Traits:
    # A canvas that grows has up to twice the pixels of a square, and more of a long image.
    space = "stored" if params.exact else "light"
    return Traits(
        space,
        premultiplied=not params.exact,
        kind="geometry",
        keeps_range=True,
        bytes_per_value=4.0 if params.exact else 16.0,
    )


OPERATION = Operation(
    "rotate",
    RotateParams,
    rotate,
    traits=_traits,
    identity=lambda params: params.angle is not None and params.angle % 360 == 0,
    reach=lambda _gpu, _shape, params: Reach(spoiled=0 if params.exact else 2),
    turn=_turn,
    move=_move,
    examples=(
        "clpix rotate photo.jpg -o right.jpg --angle 90",
        "clpix rotate photos/*.jpg -o upright/ --auto-orient",
        "clpix rotate photo.png -o level.png --angle -2.5 --no-expand --background 1",
    ),
    groups={"Rotation": ("angle", "auto_orient", "expand", "background")},
)
