"""Exposure: stops, or what an image is metered for."""

from __future__ import annotations

from ..errors import ParameterError
from .notations import Written


def exposure_option(text: str) -> float | None:
    """``auto`` (None) or stops. Raises ParameterError."""
    if text == "auto":
        return None
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"the exposure is 'auto' or a number of stops, not {text!r}") from None


#: The kind of the parameter.
EXPOSURE = Written(
    "In stops, or metered.",
    "EV|auto",
    exposure_option,
    lambda stops: "auto" if stops is None else repr(stops),
)
