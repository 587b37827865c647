"""Parameters of tone mapping."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..errors import ParameterError

# name: what it is. The functions and their origins: clkernels/tonemap_operators.cl.
OPERATORS = {
    "linear": "exposure alone",
    "reinhard": "L/(1+L) of luminance",
    "reinhard-extended": "Reinhard with a white point",
    "aces-narkowicz": "ACES look, Narkowicz's curve",
    "aces-hill": "ACES RRT and ODT, Hill's fit",
    "agx": "AgX base",
    "agx-punchy": "AgX with its punchy look",
    "agx-golden": "AgX with its golden look",
    "khronos-neutral": "Khronos PBR Neutral",
    "hable": "Hable's filmic curve",
    "drago": "adaptive logarithm",
}
# Operators with a white point, and its default; None is the image's brightest pixel, but 1 at least.
WHITE: dict[str, float | None] = {"reinhard-extended": None, "drago": None, "hable": 11.2}
# Names that mean several operators.
AMBIGUOUS = {"aces": ("aces-narkowicz", "aces-hill")}

METERS = {
    "mean": "arithmetic mean",
    "log-mean": "geometric mean",
    "histogram": "geometric mean without the darkest and the brightest tenth",
    "center": "geometric mean weighted to the centre",
}
METHODS = ("auto", "local", "direct")
TRANSFERS = ("srgb", "gamma", "pq", "linear")
DEFAULT_OPERATOR = "agx"
MAX_STOPS = 60.0


@dataclass(frozen=True)
class TonemapParams:
    """How linear light becomes a display's signal.

    Attributes
    ----------
    operator : str
        A name of :data:`OPERATORS`.
    exposure : float, optional
        In stops (EV): light is multiplied by 2**exposure. None meters the image: what ``meter`` reads becomes
        ``key``.
    meter, key : str, float
        A name of :data:`METERS`, and the luminance that it is brought to.
    white : float, optional
        Luminance after exposure that becomes white, for operators that have a white point (:data:`WHITE`).
    transfer, gamma : str, float
        The signal: ``srgb``, ``gamma`` (v = light**(1/gamma)), ``pq`` (SMPTE ST 2084 with 1 at 203 cd/m²),
        ``linear`` (none).
    dither : int, optional
        The largest code of the integer format that the result is meant for (255, 65535): triangular noise of ±1
        code is added. None adds none.
    seed : int
        Another seed, another noise.
    method : str
        How the metering reduces: ``local``, in tiles in local memory; ``direct``; ``auto``, the faster one.
    """

    operator: str = DEFAULT_OPERATOR
    exposure: float | None = None
    meter: str = "log-mean"
    key: float = 0.18
    white: float | None = None
    transfer: str = "srgb"
    gamma: float = 2.2
    dither: int | None = None
    seed: int = 0
    method: str = "auto"

    def __post_init__(self) -> None:
        if self.operator in AMBIGUOUS:
            names = " or ".join(AMBIGUOUS[self.operator])
            raise ParameterError(f"{self.operator!r} is the name of several operators: use {names}")
        for name, value, choices in (
            ("operator", self.operator, OPERATORS),
            ("meter", self.meter, METERS),
            ("transfer", self.transfer, TRANSFERS),
            ("method", self.method, METHODS),
        ):
            if value not in choices:
                raise ParameterError(f"unknown {name} {value!r}: use one of {', '.join(choices)}")
        if self.exposure is not None and not abs(self.exposure) <= MAX_STOPS:
            raise ParameterError(f"the exposure must be within ±{MAX_STOPS:g} stops, not {self.exposure}")
        if not (math.isfinite(self.key) and 1e-6 <= self.key <= 1e6):
            raise ParameterError(f"the key must be a luminance such as 0.18, not {self.key}")
        if self.white is not None:
            if self.operator not in WHITE:
                raise ParameterError(
                    f"{self.operator} has no white point: white belongs to {', '.join(WHITE)}"
                )
            if not 1e-3 <= self.white <= 2.0**60:  # what metering may give as well
                raise ParameterError(f"white must be a luminance such as 4, not {self.white}")
        if not 0.1 <= self.gamma <= 10:
            raise ParameterError(f"gamma must be between 0.1 and 10, not {self.gamma}")
        if self.dither is not None and self.dither < 1:
            raise ParameterError(f"dither is the largest code of the output, such as 255, not {self.dither}")
        if not 0 <= self.seed < 2**32:
            raise ParameterError(f"the seed must be between 0 and 2³²−1, not {self.seed}")


def transfer_option(text: str) -> tuple[str, float]:
    """``NAME`` or ``gamma:G`` as transfer and gamma. Raises ParameterError."""
    name, colon, value = text.partition(":")
    if not colon:
        return name, 2.2
    try:
        if name == "gamma":
            return name, float(value)
    except ValueError:
        pass
    raise ParameterError(f"unknown transfer {text!r}: use srgb, gamma:2.2, pq or linear")


def exposure_option(text: str) -> float | None:
    """``auto`` (None) or stops. Raises ParameterError."""
    if text == "auto":
        return None
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"the exposure is 'auto' or a number of stops, not {text!r}") from None
