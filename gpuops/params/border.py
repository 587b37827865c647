"""Border modes: scipy.ndimage's names are the standard, other libraries' are synonyms.

``wrap-x`` is for panoramas all around, whose left and right edges are neighbours.
"""

from __future__ import annotations

import math
from typing import Any

from ..errors import ParameterError, standard_name
from ..records import dataclass
from .kinds import Kind, Params

# The values beyond the edges of abcd, by mode; the names are those of scipy.ndimage, except wrap-x.
BORDERS = {
    "reflect": "dcba|abcd|dcba",
    "mirror": "dcb|abcd|cba",
    "nearest": "aaaa|abcd|dddd",
    "wrap": "abcd|abcd|abcd",
    "constant": "kkkk|abcd|kkkk",
    "wrap-x": "abcd|abcd|abcd along rows, dcba|abcd|dcba down columns",
}

# Other names of these modes.
SYNONYMS = {
    # names of OpenCV
    "reflect_101": "mirror", "reflect101": "mirror", "replicate": "nearest",
    # names of numpy.pad
    "symmetric": "reflect", "edge": "nearest",
    # names of PyWavelets (except "reflect", which has scipy's meaning here)
    "periodic": "wrap", "zero": "constant",
    # other names of scipy.ndimage
    "grid-mirror": "reflect", "grid-wrap": "wrap", "grid-constant": "constant",
}  # fmt: skip


def by_axis(border: str) -> tuple[str, str]:
    """The mode down columns (y), and that along rows (x)."""
    return ("reflect", "wrap") if border == "wrap-x" else (border, border)


def define(border: str) -> dict[str, bool]:
    """The mode's name in border.cl."""
    return {f"BORDER_{border.upper().replace('-', '_')}": True}


def border_name(name: str) -> str:
    """The standard name of a border mode. Raises ParameterError for an unknown one."""
    return standard_name("border", name, BORDERS, SYNONYMS)


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
        raise ParameterError(f"border {text!r}: only constant:V takes a value, a finite number")
    return name, number


@dataclass(eq=False)
class _Border(Kind):
    """The kind of a parameter ``border`` beside ``cval``: a mode's name, or ``constant:V``."""

    metavar = "MODE"
    help: str = (
        "reflect, mirror, nearest, wrap, constant or constant:V, as in scipy.ndimage (OpenCV's names work too); "
        "wrap-x, for panoramas: wrap along rows, reflect down columns."
    )

    def checked(self, name: str, value: Any) -> str:
        border_option(str(value).lower())
        return str(value).lower()

    def written(self, name: str, value: Any, params: Params) -> dict[str, Any]:
        cval = getattr(params, "cval", 0.0)
        return {name: f"{value}:{cval!r}" if cval else value}

    @property
    def values(self) -> str:
        return ", ".join(f"`{name}`" for name in BORDERS)


BORDER = _Border()


def set_border(params: Any) -> None:
    """Gives parameters the standard name of their ``border``, and the value of ``constant:V`` as their ``cval``.

    Raises ParameterError for an unknown border, and for a value that is not finite.
    """
    border, value = border_option(params.border)
    cval = value if ":" in params.border else params.cval
    if not math.isfinite(cval):
        raise ParameterError(f"the border's constant must be finite, not {cval}")
    object.__setattr__(params, "border", border)
    object.__setattr__(params, "cval", cval)
