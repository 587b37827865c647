"""Parameters of the Fourier transforms."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import ParameterError

NORMS = ("ortho", "backward", "forward")
METHODS = ("auto", "local", "global")
RADICES = ("auto", "2", "4", "8", "16")
TWIDDLES = ("auto", "table", "compute")


@dataclass(frozen=True)
class FftParams:
    """How transforms are computed; what they compute does not depend on it.

    Attributes
    ----------
    method
        ``local``: one dispatch for each axis, exchanges through local memory. ``global``: one dispatch for each
        stage, through global memory. ``auto``: what suits the device: on a CPU whole rows and columns in each
        work-item, as lanes of vectors; ``local`` elsewhere.
    radix
        The largest radix: 2, 4, 8, 16, or ``auto``. Prime factors 3, 5, 7, 11 and 13 have their own; sizes with
        larger ones go through a convolution (Bluestein).
    twiddle
        ``table``: twiddle factors are read from a table computed in float64. ``compute``: they are computed where
        they are used, by sinpi and cospi. ``auto``: the table, which is the more accurate.
    """

    method: str = "auto"
    radix: str = "auto"
    twiddle: str = "auto"

    def __post_init__(self) -> None:
        for name, choices in (("method", METHODS), ("radix", RADICES), ("twiddle", TWIDDLES)):
            if getattr(self, name) not in choices:
                raise ParameterError(
                    f"unknown {name} {getattr(self, name)!r} of a transform: use one of {', '.join(choices)}"
                )
