"""The notations of a transfer and of percentiles."""

from __future__ import annotations

import re

from ..errors import ParameterError


def transfer_option(text: str) -> tuple[str, float | None]:
    """``NAME`` or ``gamma:G`` as transfer and gamma, which is None where it is not said. Raises ParameterError."""
    name, colon, value = text.partition(":")
    if not colon and not re.match(r"[\d.]", name):
        return name, None
    try:
        if name == "gamma":
            return name, float(value)
    except ValueError:
        pass
    raise ParameterError(f"unknown transfer {text!r}: use srgb, gamma:2.2, pq or linear")


def percentiles_option(text: str) -> tuple[float, float]:
    """``LOW,HIGH``. Raises ParameterError."""
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        raise ParameterError(f"percentiles are two numbers such as 10,90, not {text!r}") from None
    return low, high
