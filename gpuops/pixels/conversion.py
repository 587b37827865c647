"""The one converter between steps that want different values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import ParameterError
from ..image import Image
from ..space import Space
from . import light, targets
from .coding import Encoding
from .colour import LINEAR, Colour
from .pointwise import Stage, each
from .primaries import ColourError


def converted(image: Image, colour: Colour, *, premultiplied: bool) -> Image:
    """Returns planes in another colour space, or with colours multiplied by alpha or not; the Image itself if they are.

    Between spaces that :func:`is_direct` knows nothing of, the way goes by linear Rec. 709 light, through the curves
    and matrices of :mod:`gpuops.pixels.light` and :mod:`gpuops.pixels.targets`. Raises ParameterError for a space that
    has no formula.
    """
    space = image.space
    if not is_direct(space.colour, colour):
        floats = Encoding(np.dtype(np.float32), unpremultiply=space.premultiplied)
        image = light.of_planes(image, space.colour, floats, levels=space.levels)
        image.space = replace(space, colour=LINEAR, premultiplied=False, levels=None)
        if not colour.is_rec709 or not colour.plain:
            image, _ = each(image.gpu, image, [_to(colour)])
            image.space = replace(space, colour=colour, premultiplied=False, levels=None)
        return converted(image, colour, premultiplied=premultiplied)
    stage, wanted = conversion(space, colour, alpha=image.alpha, premultiplied=premultiplied)
    if stage is None:
        return image
    result, _ = each(image.gpu, image, [stage])
    result.space = wanted
    return result


def is_direct(before: Colour, after: Colour) -> bool:
    """Says whether :func:`conversion` leads from a space to another: they differ by sRGB's curve at most."""
    return before == after or (before.plain and after.plain and before.matrix == after.matrix)


def _to(colour: Colour) -> Stage:
    try:
        return targets.stage(colour)
    except ColourError as error:
        raise ParameterError(f"the image's colour space {error}: work in --space linear") from None


def conversion(
    space: Space, colour: Colour, *, alpha: bool, premultiplied: bool
) -> tuple[Stage | None, Space]:
    """Returns the function of a pixel that :func:`converted` applies, None if nothing changes, and the space after it.

    The colour spaces are such as :func:`is_direct` says.
    """
    premultiplied, before = premultiplied and alpha, space.premultiplied and alpha
    wanted = replace(space, colour=colour, premultiplied=premultiplied)
    curved = colour != space.colour
    parts = {
        # Colours change their curve only as they are without alpha.
        "STRAIGHTEN": before and (curved or not premultiplied),
        "LIGHT_TO_SRGB": curved and not colour.linear,
        "SRGB_TO_LIGHT": curved and colour.linear,
        "MULTIPLY": premultiplied and (curved or not before),
    }
    if not any(parts.values()):
        return None, wanted
    names = tuple(part for part, on in parts.items() if on)
    return Stage("convert", "converted", parts=names, exact=curved), wanted
