"""What the values of an image are, and the one converter between steps that want different values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from .errors import ParameterError
from .pixels.colour import LINEAR, Colour
from .pixels.primaries import ColourError

if TYPE_CHECKING:
    from .image import Image
    from .pixels.coding import Encoding
    from .pixels.pointwise import Stage


@dataclass(frozen=True)
class Space:
    """The meaning of an image's values.

    Attributes
    ----------
    colour : Colour
        The curves and primaries that make linear Rec. 709 light of the values.
    premultiplied : bool
        Whether colours are multiplied by alpha.
    display : bool
        Whether values were made for a display, and are no longer the scene's.
    levels : str, optional
        The integer type of whose largest value stored values are fractions; a narrow range depends on it.
    as_is : bool
        Whether somebody asked for this space: files get these values, and not others that mean the same.
    unknown : str
        The name of the space where ``colour`` is not what values are, as nobody knows that.
    """

    colour: Colour = LINEAR
    premultiplied: bool = False
    display: bool = False
    levels: str | None = None
    as_is: bool = False
    unknown: str = ""

    @property
    def linear(self) -> bool:
        """Whether values are light."""
        return self.colour.linear

    @property
    def stays(self) -> bool:
        """Whether files get these values as they are: somebody asked for them, or they are a display's signal."""
        return self.as_is or (self.display and not self.linear)


LIGHT = Space()


class Target(Protocol):
    """The place where a result is going, for operations that write its pixels themselves."""

    @property
    def name(self) -> str:
        """The name of the output, for messages."""

    def depth(self, *, display: bool) -> np.dtype[np.generic]:
        """Returns the depth of the output's pixels; ``display``: whether the result was made for a display."""

    def encoding(self, space: Space) -> Encoding:
        """Returns how values of a space become the output's pixels."""


@dataclass(frozen=True)
class Stored:
    """A result as pixels (height, width, channels) on the device, ready to be written.

    Attributes
    ----------
    pixels, lost : Image
        The pixels, and the counters of values that did not fit: see :func:`gpuops.pixels.coding.losses`.
    space : Space
        What the values were before they were encoded.
    written : Colour, optional
        The space of the pixels where the encoding is not the target's own.
    orientation : int, optional
        How the picture is to be turned when it is shown: see :class:`gpuops.image.Image`.
    """

    pixels: Image
    lost: Image
    space: Space
    written: Colour | None = None
    orientation: int | None = None


def converted(image: Image, colour: Colour, *, premultiplied: bool) -> Image:
    """Returns planes in another colour space, or with colours multiplied by alpha or not; the Image itself if they are.

    Between spaces that :func:`is_direct` knows nothing of, the way goes by linear Rec. 709 light, through the curves
    and matrices of :mod:`gpuops.pixels.light` and :mod:`gpuops.pixels.targets`. Raises ParameterError for a space that
    has no formula.
    """
    from .pixels import light
    from .pixels.coding import Encoding
    from .pixels.pointwise import each

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
    from .pixels.targets import stage

    try:
        return stage(colour)
    except ColourError as error:
        raise ParameterError(f"the image's colour space {error}: work in --space linear") from None


def conversion(
    space: Space, colour: Colour, *, alpha: bool, premultiplied: bool
) -> tuple[Stage | None, Space]:
    """Returns the function of a pixel that :func:`converted` applies, None if nothing changes, and the space after it.

    The colour spaces are such as :func:`is_direct` says.
    """
    from .pixels.pointwise import Stage

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
