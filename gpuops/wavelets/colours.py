"""The colour spaces in which coefficients are denoised.

The wavelet transform and the conversion to these spaces are both linear: coefficients are converted instead of pixels.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ..image import Image
from ..tiles.ends import Somewhere, changed

Matrix = npt.NDArray[Any]

# Opponent colours as of Dabov, Foi, Katkovnik and Egiazarian, "Color image denoising via sparse 3D collaborative
# filtering with grouping constraint in luminance-chrominance space" (ICIP 2007), here with rows of length 1: the sum,
# red − blue, and red + blue − 2 green.
_OPPONENT = ((1, 1, 1), (1, 0, -1), (1, -2, 1))
# Red's and blue's shares in the luma Y of Rec. ITU-R BT.601; Cb and Cr are B − Y and R − Y, scaled to ±1/2.
_RED, _BLUE = 0.299, 0.114
_LUMA = np.array((_RED, 1 - _RED - _BLUE, _BLUE))

#: The matrix from RGB to each space; its rows are the space's planes.
MATRICES: dict[str, Matrix] = {
    "opponent": np.array([np.divide(row, math.hypot(*row)) for row in _OPPONENT]),
    "ycbcr": np.array(
        [
            _LUMA,
            (np.array((0, 0, 1)) - _LUMA) / (2 * (1 - _BLUE)),
            (np.array((1, 0, 0)) - _LUMA) / (2 * (1 - _RED)),
        ]
    ),
}


def to_space(band: Somewhere, space: str) -> Somewhere:
    """RGB coefficients (3 or more planes, height, width) in a space of :data:`MATRICES`; further planes stay.

    A band on the host is overwritten.
    """
    return changed(band, partial(_changed, matrix=MATRICES[space]))


def to_rgb(band: Somewhere, space: str) -> Somewhere:
    """The inverse of :func:`to_space`."""
    return changed(band, partial(_changed, matrix=np.linalg.inv(MATRICES[space])))


def _changed(band: Image, matrix: Matrix) -> Image:
    gpu, result, size = band.gpu, band.like(), math.prod(band.shape[1:])
    if size:
        numbers = gpu.array(matrix.astype(np.float32))
        lanes = gpu.limits.lanes
        gpu.compute(
            ("lanes", "dwt_colours"), "change_colours", (-(-size // lanes),), band, numbers, result, band.shape[0],
            size, group=128, label="dwt colours", WIDTH=lanes,
        )  # fmt: skip
    return result
