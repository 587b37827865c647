"""CIELAB samples → linear Rec. 709 light.

Sources: TIFF 6.0, section 23, with the 16 bits that programs write (L* of 65535 is 100, a* and b* have 256 steps to 1);
Adobe's TIFF technical notes of 1995 on ICC L*a*b*, whose a* and b* have no sign, and ICC.1:2001-04, A.2 (16 bits: L* of
65280 is 100); CIE 15, 8.2.1.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import numpy.typing as npt

from ..pixels.primaries import to_rec709, xyz

#: The tag WhitePoint.
WHITE = 318

Values = npt.NDArray[Any]

#: Where the cube root begins, as a cube root.
_DELTA = 6 / 29


def white(data: bytes) -> Values | None:
    """Returns the CIE XYZ of the tag WhitePoint, two rational numbers; None if that makes no sense."""
    numbers = struct.unpack("<4I", data) if len(data) == 16 else (0,)
    if 0 in numbers:
        return None
    x, y = numbers[0] / numbers[1], numbers[2] / numbers[3]
    return xyz((x, y)) if 0.1 < x < 0.8 and 0.1 < y < 0.8 else None


def light(samples: Values, white: Values, *, of_icc: bool = False) -> npt.NDArray[np.float32]:
    """Returns the light (rows, columns, 3), float32, of unsigned integers of 8 or 16 bits, whose white is a CIE XYZ.

    ``of_icc``: L*, a* and b* are as ICC has them.
    """
    wide = samples.dtype == np.uint16
    lightness = samples[..., 0] * (100 / ((0xFF00 if of_icc else 0xFFFF) if wide else 255))
    shades = samples[..., 1:]
    if not of_icc:
        shades = shades.astype(samples.dtype, copy=False).view(np.int16 if wide else np.int8)
    a, b = np.moveaxis(shades / (256.0 if wide else 1.0) - (128 if of_icc else 0), -1, 0)
    y = (lightness + 16) / 116
    roots = np.stack([y + a / 500, y, y - b / 200], axis=-1)
    stimulus = white * np.where(roots > _DELTA, roots**3, 3 * _DELTA**2 * (roots - 4 / 29))
    matrix = np.reshape(to_rec709(np.eye(3), white), (3, 3))
    return np.asarray((stimulus @ matrix.T).astype(np.float32))
