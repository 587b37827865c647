"""Parameters of convolution with any kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..errors import ParameterError
from .border import border_name

# The ways to compute a convolution.
METHODS = ("auto", "local", "direct", "fft")


@dataclass(frozen=True)
class ConvolveParams:
    """A two-dimensional convolution.

    Attributes
    ----------
    border, cval
        The values outside the image: a name of :data:`gpuops.params.border.BORDERS`, and the constant's value.
    method : str
        ``local`` uses tiles in local memory, ``direct`` vectors from global memory, ``fft`` a product of spectra.
        ``auto`` is fft for large kernels; for smaller ones direct on CPUs and local elsewhere.
    """

    border: str = "reflect"
    cval: float = 0.0
    method: str = "auto"

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ParameterError(f"unknown method {self.method!r}: use one of {', '.join(METHODS)}")
        object.__setattr__(self, "border", border_name(self.border))
        if not math.isfinite(self.cval):
            raise ParameterError(f"the border's constant must be finite, not {self.cval}")
