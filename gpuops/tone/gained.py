"""Tone mapping of planes that have their gains behind them, as :mod:`gpuops.tone.gains` makes them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..image import Image
from ..ops import tonemap


@dataclass(frozen=True)
class Gained(tonemap.TonemapParams):
    """Map light by a local operator whose gains are the plane behind the others."""


def split(image: Image) -> tuple[Image, Image]:
    """Returns the planes of light, in their own memory, and the gains."""
    planes, height, width = image.shape
    light = Image(
        image.gpu,
        image.buffer,
        (planes - 1, height, width),
        image.dtype,
        alpha=image.alpha,
        space=image.space,
    )
    light.part, light.orientation = image.part, image.orientation
    return light, image.planes(slice(planes - 1, planes))


OPERATION = replace(
    tonemap.OPERATION,
    params=Gained,
    halo=lambda _gpu, _shape, _params: 0.0,
    measure=lambda _gpu, _shape, _params: None,
    joins=lambda _params: False,
)
