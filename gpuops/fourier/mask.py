"""Masks of spectra: pictures, laid out like the picture of a spectrum, whose brightness multiplies it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError
from ..files.operands import luminance_of, picture

if TYPE_CHECKING:
    from ..params.files import FileOperand

Size = tuple[int, int]
Array = npt.NDArray[Any]


def factors(operand: FileOperand, size: Size, transform: Size) -> Array:
    """Returns the numbers by which a mask multiplies a spectrum: float32, the transform's rows and columns.

    The mask's picture has frequency 0 at (rows // 2, columns // 2). Black is 0 and white 1; floats count as they are.
    The factor of a frequency is the mean of its place and the opposite one: filtered pictures are real.

    Parameters
    ----------
    size, transform : (int, int)
        Rows and columns of the mask, and of the transform: as many, or twice as many. Between the mask's places its
        values are interpolated.

    Raises
    ------
    ParameterError
        A mask of another size, or with values that are not finite.
    """
    found = picture(operand)
    if (found.height, found.width) != size:
        raise ParameterError(
            f"{operand}: the mask has {found.width} × {found.height} pixels and the spectrum {size[1]} × {size[0]}: "
            "resize it"
        )
    values = luminance_of(found)[0]
    if not np.isfinite(values).all():
        raise ParameterError(f"{operand}: a mask needs finite values")
    values = np.fft.ifftshift(values)
    values = (values + np.roll(values[::-1, ::-1], 1, (0, 1))) / 2
    for axis in (0, 1):
        if transform[axis] == 2 * size[axis]:
            values = _doubled(values, axis)
    assert values.shape == transform
    multiply_by: Array = values.astype(np.float32)
    return multiply_by


def _doubled(values: Array, axis: int) -> Array:
    """Returns values of a periodic function, and those half-way between them by linear interpolation."""
    between = (values + np.roll(values, -1, axis)) / 2
    shape = [*values.shape]
    shape[axis] *= 2
    result: Array = np.stack([values, between], axis + 1).reshape(shape)
    return result
