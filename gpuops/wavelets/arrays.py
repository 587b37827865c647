"""The input and output of the transforms: arrays real or complex, in single or double precision, or Images."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError
from ..image import Image
from ..operands import computed, planes_of
from ..tiles.ends import Anywhere

if TYPE_CHECKING:
    from ..gpu import Gpu

Array = npt.NDArray[Any]

LAST = (-2, -1)


def axes_last(data: Any, axes: Sequence[int]) -> Any:
    """The array with the two ``axes`` to transform, y and x, as its last ones; an Image and None as they are.

    Raises ParameterError unless ``axes`` are two of the array's axes, and for an Image its last two.
    """
    if data is None or _are_last(axes):
        return data
    if isinstance(data, Image):
        raise ParameterError(
            "an Image is transformed along its rows and columns: leave out axes, or give arrays"
        )
    array = np.asarray(data)
    try:
        return np.moveaxis(array, axes, LAST)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"axes must be two different ones of the array's {array.ndim}, as (0, 1), not {axes!r}"
        ) from error


def axes_back(arrays: Any, axes: Sequence[int]) -> Any:
    """The inverse of :func:`axes_last`, for an array or for all arrays in lists and tuples."""
    if _are_last(axes):
        return arrays
    if isinstance(arrays, list | tuple):
        return type(arrays)(axes_back(part, axes) for part in arrays)
    return np.moveaxis(arrays, LAST, axes)


def _are_last(axes: Sequence[int]) -> bool:
    return isinstance(axes, list | tuple) and tuple(axes) == LAST


def triple(bands: Any) -> tuple[Any, Any, Any]:
    """(cH, cV, cD) of a level's details, all None for None. Raises ParameterError for other than three bands."""
    if bands is None:
        return None, None, None
    if not isinstance(bands, tuple | list) or len(bands) != 3:
        raise ParameterError("the details of a level must be a tuple (cH, cV, cD)")
    return tuple(bands)


def samples(
    gpu: Gpu, data: Image | npt.ArrayLike, dtype: np.dtype[np.generic], *, band: bool = False
) -> Image:
    """``data`` as planes of ``dtype``: for a complex one, planes of real parts and then of imaginary parts.

    A ``band`` may be empty: the modes mirror and vc2 make empty bands of a single row or column. Raises DeviceError for
    double precision if the device has none.
    """
    if not isinstance(data, Image):
        return gpu.array(planes(gpu, data, dtype, band=band))
    if _real(dtype) == np.float64:
        gpu.check_double()
    gpu.check_own(data)
    if not (band and 0 in data.shape):
        data.check_planar(_real(dtype))
    return data


def planes(gpu: Gpu, data: npt.ArrayLike, dtype: np.dtype[np.generic], *, band: bool = False) -> Array:
    """:func:`samples` on the host."""
    shape = np.shape(data)
    if band and len(shape) >= 2 and 0 in shape[-2:] and 0 not in shape[:-2]:
        return np.empty((prod(shape[:-2]) * (1 + (dtype.kind == "c")), *shape[-2:]), _real(dtype))
    if _real(dtype) == np.float64:
        gpu.check_double()
    if dtype.kind == "c" and len(shape) >= 2:
        data = np.stack((np.real(data), np.imag(data)))
    if dtype.kind == "i" and np.size(data):
        least, most = -(2**31), 2**31 - 1
        if not (least <= np.min(data) and np.max(data) <= most):
            raise ParameterError(f"the integer transform takes whole numbers from {least} to {most}")
    return planes_of(data, _real(dtype))


def result(like: Image | npt.ArrayLike, band: Anywhere, dtype: np.dtype[np.generic]) -> Any:
    """``band`` itself for an Image; for an array, ``band`` on the host with the array's leading axes, complex if the
    array was."""
    if isinstance(like, Image):
        return band
    parts = band.numpy()
    leading = np.shape(like)[:-2]
    if dtype.kind != "c":
        return parts.reshape(*leading, *parts.shape[-2:])
    parts = parts.reshape(2, *leading, *parts.shape[-2:])
    whole = np.empty(parts.shape[1:], dtype)
    whole.real, whole.imag = parts
    return whole


@lru_cache(64)
def _real(dtype: np.dtype[np.generic]) -> np.dtype[np.generic]:
    """The dtype of a number's real part."""
    return np.empty(0, dtype).real.dtype


def dtype_of(gpu: Gpu, data: Sequence[Any], integer: bool = False) -> np.dtype[np.generic]:
    """The dtype to compute in: see :func:`gpuops.operands.computed`; int32 for ``integer``.

    Raises ParameterError for ``integer`` unless all are whole numbers.
    """
    kinds = [item.dtype if isinstance(item, Image) else np.asarray(item).dtype for item in data]
    if integer:
        wrong = [str(kind) for kind in kinds if kind.kind not in "iub"]
        if wrong:
            raise ParameterError(f"the integer transform needs whole numbers, not {wrong[0]}")
        return np.dtype(np.int32)
    if any(kind.char in "gG" for kind in kinds):
        raise ParameterError("the transform computes in single or double precision: convert to float64")
    # For other types on_device says what is wrong with them.
    is_complex = any(kind.kind == "c" for kind in kinds)
    return np.result_type(computed(gpu, kinds), np.complex64 if is_complex else np.float32)
