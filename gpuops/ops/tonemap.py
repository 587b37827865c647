"""Tone mapping: high dynamic range to a display."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..operation import Measure, Operation, Reach, Traits, later
from ..params.lut import LutParams
from ..params.operators import LOCAL
from ..params.tonemap import TonemapParams
from ..params.white_balance import GRAY_WORLD, Illuminant

if TYPE_CHECKING:
    from ..gpu import Gpu

__all__ = ["OPERATION", "TonemapParams"]


def _check(params: TonemapParams) -> None:
    from ..tone import white_balance

    if isinstance(params.operator, LutParams):
        _ = params.operator.table
    if isinstance(params.white_balance, Illuminant):
        white_balance.matrix(params.white_balance)  # there may be none


def _traits(params: TonemapParams) -> Traits:
    from ..tone import operators  # which needs numpy: kinds are asked for when there is work

    statistics = (params.meter,) * (params.exposure is None)
    statistics += ("means of channels",) * (params.white_balance == GRAY_WORLD)
    statistics += ("scene",) * operators.needs_scene(params)
    opaque = params.preset is not None or params.operator in LOCAL
    kind = "opaque" if opaque else "measured" if statistics else "pointwise"
    return Traits(
        rec709=operators.is_rec709(params),
        premultiplied=params.preset is not None,
        display=True,
        kind=kind,
        statistics=statistics,
        bytes_per_value=24.0 if opaque else 4.0,
    )


def _measure(_gpu: Gpu, _shape: tuple[int, int, int], params: TonemapParams) -> Measure | None:
    from ..tone.tonemap import measure

    return None if params.gained else measure(params)


OPERATION = Operation(
    "tonemap",
    TonemapParams,
    later("tone.steps", "shown"),
    traits=_traits,
    reach=lambda _gpu, _shape, params: Reach(math.inf if params.preset is not None else 0),
    whole={"preset": ("d3d11",)},
    measure=_measure,
    together=later("tone.tonemap", "together"),
    ends=later("tone.steps", "stored"),
    joins=lambda params: params.preset is None and not params.gained,
    check=_check,
    prepare=later("tone.steps", "check_target"),
    examples=(
        "clpix tonemap light.exr -o picture.png",
        "clpix tonemap light.exr -o picture.jpg --operator aces-hill --exposure 0.5",
        "clpix tonemap frames/*.exr -o 'out/{stem}.png' --exposure smooth:9",
        "clpix tonemap light.exr -o sheet.png --contact-sheet --operators agx,hable",
    ),
    groups={
        "Operator": ("operator", "parameter", "white", "exposure", "gamut", "transfer", "border"),
        "White balance": ("white_balance",),
        "Metering": ("meter", "key", "percentiles", "meter_region"),
        "Dither": ("dither", "noise", "seed"),
        "Colour table": ("lut", "lut_input", "lut_output"),
        "Kernels, presets": ("method", "preset", "bloom", "blur"),
    },
)
