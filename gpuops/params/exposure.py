"""Exposure: stops, or what an image, or a sequence of images, is metered for."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import Any

from ..errors import ParameterError
from ..records import dataclass
from .notations import NumberOr

_SMOOTH = "smooth:"
# The largest exposure in stops, of either sign.
MAX_STOPS = 60.0


@dataclass(frozen=True)
class Neighbours:
    """The inputs of a command that have a part in an input's exposure: it is the mean of their metered ones, in stops.

    ``count``: so many, an odd number, with the input itself in the middle. None: all inputs.
    """

    count: int | None = None

    def __post_init__(self) -> None:
        if self.count is not None and (self.count < 3 or self.count % 2 == 0):
            raise ParameterError(f"{_SMOOTH}N takes an odd number of inputs from 3 on, not {self.count}")

    def __str__(self) -> str:
        return "shared" if self.count is None else f"{_SMOOTH}{self.count}"

    def means(self, metered: Sequence[float | None]) -> list[float]:
        """Returns an exposure for each input, of those that were metered; None stands for an input that was not.

        Near both ends of the sequence fewer neighbours are there.
        """
        half = len(metered) if self.count is None else self.count // 2
        windows = (metered[max(place - half, 0) : place + half + 1] for place in range(len(metered)))
        known = ([stops for stops in near if stops is not None] for near in windows)
        return [fsum(near) / len(near) if near else 0.0 for near in known]


@dataclass(eq=False)
class _OfSequence(NumberOr):
    """The kind of an exposure where the inputs of a command may be exposed alike."""

    def checked(self, name: str, value: Any) -> Any:
        text = value.lower() if isinstance(value, str) else ""
        if not text.startswith(_SMOOTH):
            return value if isinstance(value, Neighbours) else super().checked(name, value)
        return Neighbours(int(text.removeprefix(_SMOOTH)))


#: The kind of the parameter.
EXPOSURE = NumberOr("In stops, or metered.", "EV|auto", -MAX_STOPS, MAX_STOPS, {"auto": None})
#: The same where the inputs of a command may be exposed alike.
OF_SEQUENCE = _OfSequence(
    "The exposure in stops, or how it is metered. auto meters each input, shared takes the mean of all inputs, and "
    "smooth:N the mean of N inputs with this one in the middle.  [default: auto, or 0 with --lut]",
    "EV|auto|shared|smooth:N",
    -MAX_STOPS,
    MAX_STOPS,
    {"auto": None, "shared": Neighbours()},
)
