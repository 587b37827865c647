"""What the values of an image are, and those of a result on its way to a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from .pixels.colour import LINEAR, Colour
from .records import dataclass

if TYPE_CHECKING:
    from .image import Image
    from .pixels.coding import Encoding


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
    data : bool
        Whether values are a file's own numbers, which are not light: their colour is linear, and stays that.
    """

    colour: Colour = LINEAR
    premultiplied: bool = False
    display: bool = False
    levels: str | None = None
    as_is: bool = False
    unknown: str = ""
    data: bool = False

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
