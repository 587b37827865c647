"""Exposure: stops, or what an image, or a sequence of images, is metered for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

from ..errors import ParameterError
from .notations import Written

_SMOOTH = "smooth:"


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
        found = []
        for place in range(len(metered)):
            near = [stops for stops in metered[max(place - half, 0) : place + half + 1] if stops is not None]
            found.append(fsum(near) / len(near) if near else 0.0)
        return found


def exposure_option(text: str) -> float | None:
    """``auto`` (None) or stops. Raises ParameterError."""
    if text == "auto":
        return None
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"the exposure is 'auto' or a number of stops, not {text!r}") from None


def sequence_option(text: str) -> float | Neighbours | None:
    """``auto`` (None), stops, or ``shared`` or ``smooth:N``. Raises ParameterError."""
    if text == "shared":
        return Neighbours()
    if text.startswith(_SMOOTH):
        try:
            count = int(text.removeprefix(_SMOOTH))
        except ValueError:
            raise ParameterError(
                f"{_SMOOTH}N takes a number of inputs, such as smooth:5, not {text!r}"
            ) from None
        return Neighbours(count)
    try:
        return exposure_option(text)
    except ParameterError:
        raise ParameterError(
            f"the exposure is a number of stops, 'auto', 'shared' or 'smooth:N', not {text!r}"
        ) from None


#: The kind of the parameter.
EXPOSURE = Written(
    "In stops, or metered.",
    "EV|auto",
    exposure_option,
    lambda stops: "auto" if stops is None else repr(stops),
)
#: The same where the inputs of a command may be exposed alike.
OF_SEQUENCE = Written(
    "The exposure in stops, or how it is metered. auto meters each input, shared takes the mean of all inputs, and "
    "smooth:N the mean of N inputs with this one in the middle.  [default: auto, or 0 with --lut]",
    "EV|auto|shared|smooth:N",
    sequence_option,
    lambda stops: "auto" if stops is None else repr(stops),
)
