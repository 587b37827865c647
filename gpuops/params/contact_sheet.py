"""Parameters of contact sheets."""

from __future__ import annotations

import math

from ..errors import ParameterError
from ..params.operators import OPERATORS
from ..records import dataclass
from .lut import LutParams

# The default columns: stops that are added to the exposure.
STOPS = (-2.0, -1.0, 0.0, 1.0, 2.0)
# The default width of a tile in pixels.
TILE_WIDTH = 320


@dataclass(frozen=True)
class ContactSheetParams:
    """One image tone-mapped in many ways, side by side.

    Attributes
    ----------
    operators : str or LutParams
        The rows, from the top: names of :data:`gpuops.ops.tonemap.OPERATORS`, and tables.
    stops : float
        The columns, from the left: stops that are added to the exposure.
    tile_width : int
        The width of one picture in pixels; narrower images keep their size.
    """

    operators: tuple[str | LutParams, ...] = tuple(OPERATORS)
    stops: tuple[float, ...] = STOPS
    tile_width: int = TILE_WIDTH

    def __post_init__(self) -> None:
        if not self.operators or not self.stops:
            raise ParameterError("a contact sheet needs an operator and a number of stops at least")
        if not all(map(math.isfinite, self.stops)):
            raise ParameterError(f"stops are numbers such as -1, not {self.stops}")
        if self.tile_width < 1:
            raise ParameterError(f"a tile is 1 pixel wide or more, not {self.tile_width}")


@dataclass(frozen=True)
class GlowSheetParams:
    """One image with glows of many kinds, side by side.

    Attributes
    ----------
    strengths : float
        The rows, from the top.
    radii : float
        The columns, from the left.
    tile_width : int
        The width of one picture in pixels; narrower images keep their size.
    """

    strengths: tuple[float, ...]
    radii: tuple[float, ...]
    tile_width: int = TILE_WIDTH


def numbers_option(text: str, wanted: str = "these are numbers such as 0.1,0.2") -> tuple[float, ...]:
    """``A,B,C`` as numbers. Raises ParameterError, which says what is ``wanted``."""
    try:
        return tuple(float(number) for number in text.split(","))
    except ValueError:
        raise ParameterError(f"{wanted}, not {text!r}") from None


def stops_option(text: str) -> tuple[float, ...]:
    """``A,B,C`` as stops. Raises ParameterError."""
    return numbers_option(text, "stops are numbers such as -1,0,+1")
