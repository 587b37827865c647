"""Cosine and sine transforms of types I to IV, as scipy.fft's, by complex transforms of extended sequences.

Definitions: Makhoul, "A fast cosine transform in one and two dimensions", IEEE Trans. ASSP 28, 27 (1980), and
scipy.fft.dct and dst. The sequences are extended and turned on the host; the transforms are the device's.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError, check_name
from ..gpu import Gpu
from ..image import Image
from ..operands import computed
from ..params.fft import NORMS
from .api import check_axes, fft, irfft, rfft
from .nd import Axes, Lengths, lengths_and_axes

Array = npt.NDArray[Any]
# The type that undoes each type.
_INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}
# Norms of the inverse transforms.
_SWAPPED = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


def dct(
    gpu: Gpu, x: npt.ArrayLike, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None,
    *, orthogonalize: bool | None = None,
) -> Array:  # fmt: skip
    """Returns the discrete cosine transform of real arrays along an axis, as scipy.fft.dct.

    float64 is computed in double precision, and whole numbers, if the device has it; all else in single.
    Complex arrays, unknown types and norms, lengths below 1 (type 1: below 2) raise ParameterError.
    """
    return _along(gpu, x, "cos", type, n, axis, norm, orthogonalize)


def idct(
    gpu: Gpu, x: npt.ArrayLike, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None,
    *, orthogonalize: bool | None = None,
) -> Array:  # fmt: skip
    """Returns the inverse of :func:`dct`, as scipy.fft.idct."""
    return _along(gpu, x, "cos", type, n, axis, norm, orthogonalize, inverse=True)


def dst(
    gpu: Gpu, x: npt.ArrayLike, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None,
    *, orthogonalize: bool | None = None,
) -> Array:  # fmt: skip
    """Returns the discrete sine transform of real arrays along an axis, as scipy.fft.dst; otherwise as :func:`dct`."""
    return _along(gpu, x, "sin", type, n, axis, norm, orthogonalize)


def idst(
    gpu: Gpu, x: npt.ArrayLike, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None,
    *, orthogonalize: bool | None = None,
) -> Array:  # fmt: skip
    """Returns the inverse of :func:`dst`, as scipy.fft.idst."""
    return _along(gpu, x, "sin", type, n, axis, norm, orthogonalize, inverse=True)


def dctn(
    gpu: Gpu, x: npt.ArrayLike, type: int = 2, s: Lengths = None, axes: Axes = None,
    norm: str | None = None, *, orthogonalize: bool | None = None,
) -> Array:  # fmt: skip
    """Returns cosine transforms along all axes, or ``axes``, as scipy.fft.dctn."""
    return _over(gpu, x, dct, type, s, axes, norm, orthogonalize)


def idctn(
    gpu: Gpu, x: npt.ArrayLike, type: int = 2, s: Lengths = None, axes: Axes = None,
    norm: str | None = None, *, orthogonalize: bool | None = None,
) -> Array:  # fmt: skip
    """Returns the inverse of :func:`dctn`, as scipy.fft.idctn."""
    return _over(gpu, x, idct, type, s, axes, norm, orthogonalize)


def dstn(
    gpu: Gpu, x: npt.ArrayLike, type: int = 2, s: Lengths = None, axes: Axes = None,
    norm: str | None = None, *, orthogonalize: bool | None = None,
) -> Array:  # fmt: skip
    """Returns sine transforms along all axes, or ``axes``, as scipy.fft.dstn."""
    return _over(gpu, x, dst, type, s, axes, norm, orthogonalize)


def idstn(
    gpu: Gpu, x: npt.ArrayLike, type: int = 2, s: Lengths = None, axes: Axes = None,
    norm: str | None = None, *, orthogonalize: bool | None = None,
) -> Array:  # fmt: skip
    """Returns the inverse of :func:`dstn`, as scipy.fft.idstn."""
    return _over(gpu, x, idst, type, s, axes, norm, orthogonalize)


def _over(
    gpu: Gpu, x: npt.ArrayLike, one: Any, type: int, s: Lengths, axes: Axes,
    norm: str | None, orthogonalize: bool | None,
) -> Array:  # fmt: skip
    lengths, places = lengths_and_axes(x, s, axes)
    array = np.asarray(x)
    for n, axis in zip(lengths, places, strict=True):
        array = one(gpu, array, type, None if n == -1 else n, axis, norm, orthogonalize=orthogonalize)
    return array


def _along(
    gpu: Gpu, x: npt.ArrayLike, kind: str, type: int, n: int | None, axis: int, norm: str | None,
    orthogonalize: bool | None, *, inverse: bool = False,
) -> Array:  # fmt: skip
    norm = norm or "backward"
    check_name("norm", norm, NORMS)
    if type not in _INVERSE:
        raise ParameterError(f"the type of a cosine or sine transform is 1 to 4, not {type!r}")
    if inverse:
        type, norm = _INVERSE[type], _SWAPPED[norm]
    if isinstance(x, Image):
        raise ParameterError("this function takes arrays: copy the Image by way of numpy()")
    array = np.asarray(x)
    if array.dtype.kind not in "buif" or array.dtype.char in "g":
        raise ParameterError(f"a real array is needed, not one of {array.dtype}")
    check_axes([axis], array.ndim)
    array = np.moveaxis(array.astype(computed(gpu, [array.dtype])), axis, -1)
    array = _sized(array, array.shape[-1] if n is None else n)
    length = array.shape[-1]
    if length < (2 if (kind, type) == ("cos", 1) else 1) or array.size == 0:
        raise ParameterError(f"a transform of this type has no meaning for an array of shape {array.shape}")
    ends = (norm == "ortho") if orthogonalize is None else orthogonalize
    array = _weighted(array, kind, type, sqrt(2) if ends and type in (1, 3) else 1.0)
    period = 2 * length if type != 1 else 2 * (length - 1 if kind == "cos" else length + 1)
    scale = {"backward": 1.0, "forward": 1 / period, "ortho": 1 / sqrt(period)}[norm]
    result = _transformed(gpu, array, kind, type) * array.dtype.type(scale)
    result = _weighted(result, kind, type, 1 / sqrt(2) if ends and type in (1, 2) else 1.0)
    return np.moveaxis(np.ascontiguousarray(result, array.dtype), -1, axis)


def _sized(array: Array, n: int) -> Array:
    """The array with ``n`` elements along the last axis: cut, or with zeros."""
    if n < 1:
        raise ParameterError(f"a transform needs a length of 1 or more, not {n}")
    there = array.shape[-1]
    return array[..., :n] if n <= there else np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, n - there)])


def _weighted(array: Array, kind: str, type: int, factor: float) -> Array:
    """The array with the elements at its ends, which an orthogonal transform weighs otherwise, times a factor."""
    if factor == 1 or (kind, type) == ("sin", 1):
        return array
    result = array.copy()
    for place in {("cos", 1): (0, -1), ("cos", 2): (0,), ("cos", 3): (0,)}.get((kind, type), (-1,)):
        result[..., place] *= factor
    return result


def _transformed(gpu: Gpu, x: Array, kind: str, type: int) -> Array:
    """The transform along the last axis without a scale."""
    n = x.shape[-1]
    index = np.arange(n)
    signs = (1 - 2 * (index % 2)).astype(x.dtype)
    if type == 1 and kind == "cos":
        return _array(rfft(gpu, np.concatenate([x, x[..., -2:0:-1]], -1)).real)
    if type == 1:
        zero = np.zeros_like(x[..., :1])
        return _array(-rfft(gpu, np.concatenate([zero, x, zero, -x[..., ::-1]], -1)).imag[..., 1 : n + 1])
    if type == 4:
        turned = (x * np.exp(-0.5j * np.pi * index / n)).astype(np.result_type(x, np.complex64))
        turn = np.exp(-0.25j * np.pi * (2 * index + 1) / n)
        whole = 2 * fft(gpu, turned, 2 * n)[..., :n] * turn
        return _array(whole.real if kind == "cos" else -whole.imag)
    if kind == "sin":  # the cosine transform of other signs, in the other order
        if type == 2:
            return _transformed(gpu, x * signs, "cos", 2)[..., ::-1]
        return signs * _transformed(gpu, np.ascontiguousarray(x[..., ::-1]), "cos", 3)
    turn = np.exp(0.5j * np.pi * index / n)
    if type == 2:
        spectrum = rfft(gpu, np.concatenate([x, x[..., ::-1]], -1))[..., :n]
        return _array((spectrum * turn.conj()).real)
    spectrum = np.zeros((*x.shape[:-1], n + 1), np.result_type(x, np.complex64))
    spectrum[..., :n] = x * turn
    return _array(irfft(gpu, spectrum, 2 * n, norm="forward")[..., :n])


def _array(values: Any) -> Array:
    array: Array = np.asarray(values)
    return array
