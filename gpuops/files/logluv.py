"""LogLuv TIFF → linear Rec. 709 light.

A pixel has the logarithm of its luminance, and of colours the place (u', v') in the CIE 1976 diagram, or the number of
a square there. The library libtiff decodes these to CIE XYZ, in which equal energy is white; colours whose luminance is
below 0 become black. Of gray it gives the logarithms.
Sources: Greg Ward Larson, *LogLuv encoding for full gamut, high-dynamic range images*, Journal of Graphics Tools 3,
1998; libtiff's documentation of ``COMPRESSION_SGILOG``.
"""

from __future__ import annotations

import mmap
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import FileError
from ..pixels.primaries import REC709
from .read_errors import parsing

#: The interpretations of samples: LogL, which is gray, and LogLuv.
GRAY, COLOURS = 32844, 32845
#: How they are packed: by runs, or as 24 bits a pixel.
COMPRESSIONS = (34676, 34677)
#: The most pixels that a byte of a file holds: two bytes say a run of 129, of each of the two bytes of gray.
DENSEST = 129 / 4
#: Rows of about so many pixels are converted at a time.
_AT_ONCE = 1 << 18
#: Linear Rec. 709 light of CIE XYZ, where (1, 1, 1) becomes white.
_TO_LIGHT = np.linalg.inv(replace(REC709, white=(1 / 3, 1 / 3)).to_xyz())


def light(path: str, page: int, shape: tuple[int, int, int]) -> npt.NDArray[np.float32]:
    """Returns the light of a page of LogLuv, float32 of its ``shape`` (height, width, 1 or 3).

    Raises FileError where it is damaged.
    """
    import imagecodecs

    height, width, channels = shape
    with (
        parsing(path),
        open(path, "rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
    ):
        values = imagecodecs.tiff_decode(data, index=page).reshape(shape)
    if channels == 1 and values.dtype.itemsize == 2:
        values = _of_logarithms(values.view(np.uint16))
    if values.dtype != np.float32:
        raise FileError(f"{path}: holds LogLuv of {values.dtype}; convert it to float first")
    if channels > 1:
        step = max(1, _AT_ONCE // width)
        for rows in (values[top : top + step] for top in range(0, height, step)):
            rows[:] = rows.astype(np.float64) @ _TO_LIGHT.T
    return np.ascontiguousarray(values)


def _of_logarithms(codes: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Luminances: a bit of the sign, and 256 steps to each doubling, from 2^-64 on; 0 is 0."""
    table = np.exp2((np.arange(1 << 15) + 0.5) / 256 - 64)
    table[0] = 0
    return np.take(np.concatenate((table, -table)).astype(np.float32), codes)
