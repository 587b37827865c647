"""Colour correction."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..operation import Number, Numbers, Operation, Params, Points, Traits
from ..records import dataclass

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..image import Image
    from ..pixels.pointwise import Stage
    from ..space import Space

_PIVOT = 0.18  # light of middle grey


@dataclass(frozen=True)
class GradeParams(Params):
    """Correct the colours of images, pixel by pixel, in linear light.

    The order is: exposure; ASC CDL, (slope · light + offset)^power and its saturation; contrast, by which light becomes
    pivot · (light / pivot)^contrast; saturation; and a curve. Nothing is clamped: light beyond 1 goes on, the power
    leaves negative light as it is, and contrast keeps its sign. Saturation is about luminance.

    The curve goes through its points of light before and after. It is made of cubics that rise and fall only where the
    points do, and is straight beyond its ends. Gray images stay gray: they get the luminance of the result. Alpha, NaN
    and infinities stay as they are.
    """

    exposure: float = Number(
        "How much brighter light becomes, in stops: 1 doubles it.", -30, 30, "stops"
    ).field(0.0)
    slope: tuple[float, ...] = Numbers("Multiply red, green and blue by these.", 3, 0, 1000).field((1.0,) * 3)
    offset: tuple[float, ...] = Numbers("Add these after that.", 3, -1000, 1000).field((0.0,) * 3)
    power: tuple[float, ...] = Numbers("Apply these exponents after that.", 3, 0.01, 100).field((1.0,) * 3)
    cdl_saturation: float = Number("Saturation after that: 0 is gray.", 0, 100).field(1.0)
    contrast: float = Number("The exponent around the pivot.", 0.01, 100).field(1.0)
    pivot: float = Number("The light that contrast leaves alone.", 1e-6, 1e6).field(_PIVOT)
    saturation: float = Number("Saturation after contrast: 0 is gray.", 0, 100).field(1.0)
    curve: tuple[tuple[float, float], ...] | None = Points(
        'The curve\'s points, such as "0,0 0.25,0.2 1,1".'
    ).field(None)

    @property
    def curved(self) -> bool:
        """Whether the curve changes anything."""
        return self.curve is not None and any(x != y for x, y in self.curve)


def grade(gpu: Gpu, image: Image, params: GradeParams) -> Image:
    """Corrects the colours of a planar float32 Image, straight where it has alpha; alpha is copied.

    Raises ParameterError where the image is neither gray nor RGB.
    """
    from ..pixels.pointwise import each

    return each(gpu, image, [_stage(params, image.colours, image.shape[0], image.space)])[0]


def _stage(params: GradeParams, colours: int, channels: int, space: Space) -> Stage:
    """Returns the function of a pixel."""
    from ..operands import check_colours
    from ..pixels.pointwise import Stage
    from ..tone.curves import cubics

    check_colours(colours, channels, "grading")
    slope = (2.0**params.exposure * v for v in params.slope)
    points = params.curve if params.curve and params.curved else ()
    curve = cubics(points) if points else []
    numbers = (
        *slope, *params.offset, *params.power, params.cdl_saturation,
        params.contrast, params.pivot, params.saturation, *space.colour.luminance,
        points[0][1] if points else 0.0, len(curve), *(number for cubic in curve for number in cubic),
    )  # fmt: skip
    parts = {
        "POWER": params.power != (1.0,) * 3,
        "CDL_SATURATION": params.cdl_saturation != 1,
        "CONTRAST": params.contrast != 1,
        "SATURATION": params.saturation != 1,
        "CUBICS": params.curved,
        "NO_SLOPE": 0 in params.slope,
    }
    on = tuple(part for part, is_on in parts.items() if is_on)
    return Stage("grade", "graded", numbers, on, indexed=params.curved)


OPERATION = Operation(
    "grade",
    GradeParams,
    grade,
    traits=Traits(kind="pointwise"),
    stage=_stage,
    identity=lambda p: not p.curved and replace(p, curve=None, pivot=_PIVOT) == GradeParams(),
    examples=(
        "clpix grade light.exr -o graded.exr --exposure 0.5 --contrast 1.2",
        "clpix grade photo.jpg -o warm.jpg --slope 1.1,1,0.9 --saturation 0.8",
        "clpix grade photo.png -o curved.png --curve '0,0 0.25,0.2 1,1'",
    ),
    groups={
        "Light": ("exposure", "contrast", "pivot", "saturation", "curve"),
        "ASC CDL": ("slope", "offset", "power", "cdl_saturation"),
    },
)
