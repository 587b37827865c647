"""The kernels' definitions of the extension modes, and of types of samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..gpu import Define
from .wavelets import Wavelet

# PyWavelets' mode -> its names in clkernels/pixels/border.cl and dwt_extension.cl
_EXTENSIONS = {
    "zero": ("CONSTANT", None),
    "constant": ("NEAREST", None),
    "symmetric": ("REFLECT", None),
    "periodic": ("WRAP", None),
    "smooth": ("CONSTANT", "SMOOTH"),
    "reflect": ("MIRROR", None),
    "antisymmetric": ("REFLECT", "ANTISYMMETRIC"),
    "antireflect": ("MIRROR", "ANTIREFLECT"),
    "periodization": ("WRAP", "PERIODIZATION"),
    "vc2": ("CONSTANT", "HELD"),
}


#: The kernels' names of the types of samples.
TYPES = {"float32": "float", "float64": "double", "int32": "int"}


def vectors(dtype: np.dtype[Any], lanes: int) -> dict[str, Define]:
    """The definitions for samples of a type, of which a work-item takes so many neighbours at once."""
    sample = TYPES[dtype.name]
    return {"S": sample, "V": f"{sample}{lanes if lanes > 1 else ''}", "WIDTH": lanes}


def defines(wavelet: Wavelet, mode: str, *, inverse: bool) -> dict[str, bool]:
    """The definitions for the values beyond the ends: of the samples, or for the inverse of the coefficients."""
    border, extra = _EXTENSIONS.get(mode, ("", None))
    if mode == "mirror":
        # A half-sample symmetric wavelet gives a last, lone sample a detail of zero, which is not stored.
        border = "MIRROR" if wavelet.whole_sample else ("CONSTANT" if inverse else "REFLECT")
    elif inverse:
        border, extra = "WRAP" if mode == "periodization" else "CONSTANT", "HELD" if mode == "vc2" else None
    return {f"BORDER_{border}": True, **({extra: True} if extra else {})}
