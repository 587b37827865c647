"""Border modes: scipy.ndimage's names are the standard, other libraries' are synonyms."""

from __future__ import annotations

import math

from ..errors import ParameterError

# What stands beyond the edges of abcd; the names are those of scipy.ndimage.
BORDERS = {
    "reflect": "dcba|abcd|dcba",
    "mirror": "dcb|abcd|cba",
    "nearest": "aaaa|abcd|dddd",
    "wrap": "abcd|abcd|abcd",
    "constant": "kkkk|abcd|kkkk",
}

SYNONYMS = {
    # OpenCV
    "reflect_101": "mirror",
    "reflect101": "mirror",
    "replicate": "nearest",
    # numpy.pad
    "symmetric": "reflect",
    "edge": "nearest",
    # PyWavelets (its "reflect" is scipy's mirror: scipy's meaning holds here)
    "periodic": "wrap",
    "zero": "constant",
    # scipy.ndimage's own
    "grid-mirror": "reflect",
    "grid-wrap": "wrap",
    "grid-constant": "constant",
}


def border_name(name: str) -> str:
    """The standard name of a border mode. Raises ParameterError for an unknown one."""
    key = name.lower()
    key = SYNONYMS.get(key, key)
    if key not in BORDERS:
        raise ParameterError(f"unknown border {name!r}: use one of {', '.join(BORDERS)}")
    return key


def border_option(text: str) -> tuple[str, float]:
    """``"MODE"`` or ``"constant:V"`` → (standard name, V). Raises ParameterError for anything else."""
    name, colon, value = text.partition(":")
    name = border_name(name)
    if not colon:
        return name, 0.0
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if name != "constant" or not math.isfinite(number):
        raise ParameterError(
            f"border {text!r} has no meaning: only constant:V takes a value, a finite number"
        )
    return name, number
