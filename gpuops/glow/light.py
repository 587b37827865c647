"""Light that glows, and a glow that is laid over an image; both are as large as the image."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..image import Image
from ..notes import note
from .mip_ends import knee

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..params.bloom import BloomParams


def light_of(gpu: Gpu, image: Image, params: BloomParams) -> Image:
    """Returns the part of a planar Image that glows."""
    light = image.like()
    size = image.shape[1] * image.shape[2]
    gpu.compute(
        "bloom", "light", (size,), image, light, size, knee(params), group=256, label="bloom light", **_defines(image),
    )  # fmt: skip
    return light


def stretched(gpu: Gpu, image: Image, to: int) -> Image:
    """Returns a planar Image whose rows, which go round, are resampled to so many samples."""
    planes, height, width = image.shape
    made = image.like((planes, height, to))
    gpu.compute(
        "bloom_ring", "ring", (to, planes * height), image, made, planes * height, width, to, group=64,
        label="bloom ring",
    )  # fmt: skip
    return made


def composite(
    gpu: Gpu, image: Image, glow: Image, result: Image, params: BloomParams, not_finite: Image, stays: float
) -> None:
    """Lays the glow over the image; ``stays``: the share of light that stays in its pixel, where ``glow`` lacks it."""
    size = image.shape[1] * image.shape[2]
    own = float(params.strength) * (stays - (params.blend == "energy"))
    gpu.compute(
        "bloom", "composite", (size,), image, glow, result, not_finite, size, knee(params), own, float(params.strength),
        group=256, label="bloom over", **_defines(image),
    )  # fmt: skip


def _defines(image: Image) -> dict[str, int]:
    return {"CHANNELS": image.shape[0], "COLOURS": image.colours}


def warn_of(not_finite: int) -> None:
    """Says how many pixels were not finite."""
    if not_finite:
        pixels = "pixel was" if not_finite == 1 else "pixels were"
        note(f"{not_finite} {pixels} not finite: no glow from there, NaN became 0, infinities ±65504")
