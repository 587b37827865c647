"""Colour differences as the eye judges them: ΔE 76, CIEDE2000 and ΔE ITP, with their mean, largest and count.

The sources of the formulas are in delta_e.cl.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, overload

import numpy as np
import numpy.typing as npt

from .. import notes
from ..errors import ParameterError, check_name
from ..gpu import Gpu, Local
from ..image import Image
from ..operands import Operand
from ..pixels.curves import PQ_PEAK, REFERENCE_WHITE
from ..pixels.primaries import D65, NAMED, REC709, xyz
from ..records import dataclass
from .pairs import operands, spans, worst_of

if TYPE_CHECKING:
    from .band import Band


#: The methods, and what -D METHOD names them by in delta_e.cl.
METHODS = {"76": 76, "2000": 2000, "itp": 1}


@dataclass(frozen=True)
class DeltaE:
    """The figures of one pair of pictures.

    ``row`` and ``column`` are the place of the largest difference, the first of equal ones in reading order. ``above``
    is the number of pixels whose difference is above the threshold, of ``pixels`` in all. A pixel that is NaN or
    infinite in one picture and another value in the other makes ``mean`` and ``max`` infinite.
    """

    mean: float
    max: float
    row: int
    column: int
    above: int
    pixels: int


@overload
def delta_e(
    gpu: Gpu, image_true: Operand, image_test: Operand, *, method: str = ..., white: float = ...,
    threshold: float = ..., coordinates: bool = ..., full: Literal[False] = ...,
) -> DeltaE: ...  # fmt: skip
@overload
def delta_e(
    gpu: Gpu, image_true: Operand, image_test: Operand, *, method: str = ..., white: float = ...,
    threshold: float = ..., coordinates: bool = ..., full: Literal[True],
) -> tuple[DeltaE, Image]: ...  # fmt: skip
def delta_e(
    gpu: Gpu,
    image_true: Operand,
    image_test: Operand,
    *,
    method: str = "2000",
    white: float = REFERENCE_WHITE,
    threshold: float = 1.0,
    coordinates: bool = False,
    full: bool = False,
) -> DeltaE | tuple[DeltaE, Image]:
    """Returns how far the colours of two pictures differ, and with ``full`` also each pixel's difference.

    Parameters
    ----------
    image_true, image_test : Image or array (channels, rows, columns)
        Linear Rec. 709 light without alpha: one plane of gray, or three. White is D65, and light 1 is L* = 100.
        Negative light counts, but for ``itp``, which is of light as a display shows it: there negative values of
        linear Rec. 2020 count as 0, and a note says how many of differing pixels do.
    method : str
        ``"76"`` (CIE 76), ``"2000"`` (CIEDE2000) or ``"itp"`` (ITU-R BT.2124).
    white : float
        The luminance of light 1 in cd/m², for ``itp``.
    threshold : float
        Pixels of a larger difference are counted. About 2.3 of CIE 76, and 1 of the others, is just noticeable.
    coordinates : bool
        The three planes hold L*, a*, b* already, or I, Ct, Cp for ``itp``.
    full : bool
        Whether to return an Image (1, rows, columns) of the differences too.

    Raises
    ------
    ParameterError
        Different shapes, planes that are not one or three, or an option out of range.

    Notes
    -----
    NaN equals NaN, and an infinity itself, at the same place. The mean is the same in every run on a device.
    """
    check_name("method", method, tuple(METHODS))
    if not (math.isfinite(white) and white > 0):
        raise ParameterError(f"white must be a positive number of cd/m², not {white}")
    if not 0 <= threshold < math.inf:
        raise ParameterError(f"threshold must be a number of 0 or more, not {threshold}")
    a, b = operands(gpu, image_true, image_test)
    planes, height, width = a.shape
    if planes not in ((3,) if coordinates else (1, 3)):
        wanted = "three planes of coordinates are" if coordinates else "gray or RGB without alpha is"
        raise ParameterError(f"{wanted} needed, not {planes} planes")
    size, lanes = height * width, gpu.limits.lanes
    kernel = gpu.kernel(
        ("lanes", "sums", "worst", "delta_e"), "delta_e", WIDTH=lanes, CHANNELS=planes, METHOD=METHODS[method],
        COORDINATES=coordinates, MAP=full, FINITE=lanes > 1,
    )  # fmt: skip
    items, groups, span = spans(kernel, size, lanes)
    partial = gpu.empty((groups, 8), np.uint32)
    differences = gpu.empty((1, height, width)) if full else None
    matrix = gpu.kept(("delta_e", method, white), lambda: gpu.array(_matrix(method, white)))
    gpu.launch(
        kernel, (groups * items,), a, b, partial, differences, np.uint32(size), np.uint32(span), float(threshold),
        matrix, Local(8 * items), Local(4 * items), Local(4 * items), Local(4 * items), local=(items,),
        label=f"delta_e {method}", traffic=a.nbytes + b.nbytes + (differences.nbytes if differences else 0),
    )  # fmt: skip
    bits = partial.numpy()
    real = bits.view(np.float32)
    notes.tally(
        "values of light that count as 0 for ΔE ITP, which is of light as a display shows it: {}",
        {"negative": int(bits[:, 5].sum(dtype=np.int64))},
    )
    largest, place = worst_of(bits, value=2, place=3)
    total = float(real[:, :2].sum(dtype=np.float64)) if math.isfinite(largest) else math.inf
    above = int(bits[:, 4].sum(dtype=np.int64))
    figures = DeltaE(total / size, largest, *divmod(place, width), above, size)
    return (figures, differences) if differences is not None else figures


def _matrix(method: str, white: float) -> npt.NDArray[np.float32]:
    """Returns the matrix (3, 3) from linear Rec. 709 to what the method's curve takes."""
    to_xyz = REC709.to_xyz()
    if method != "itp":
        return np.asarray(to_xyz / xyz(D65)[:, np.newaxis], np.float32)
    return np.asarray(np.linalg.solve(NAMED["Rec. 2020"].to_xyz(), to_xyz) * (white / PQ_PEAK), np.float32)


def largest_of_band(band: Band, method: str) -> float:
    """Returns the largest difference in a band."""
    return delta_e(band.gpu, *band.light, method=method, white=band.how.white).max


def mean_of_band(band: Band) -> float:
    """Returns the mean CIEDE2000 of a band's pixels that are compared; the others are equal."""
    measured = delta_e(band.gpu, *band.light)
    return measured.mean * measured.pixels / band.pixels
