"""scipy.fft's functions over any number of axes: two at a time, through the host."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError
from ..params.fft import FftParams
from .api import DEFAULT, Transform, fft, fft2, ifft, ifft2, irfft, irfft2, rfft, rfft2

if TYPE_CHECKING:
    from ..gpu import Gpu

Axes = Sequence[int] | None
Lengths = Sequence[int | None] | None


def fftn(
    gpu: Gpu, x: npt.ArrayLike, s: Lengths = None, axes: Axes = None, norm: str | None = None, *,
    params: FftParams = DEFAULT,
) -> npt.NDArray[Any]:  # fmt: skip
    """Transform over all axes, or ``axes``, as scipy.fft.fftn: two at a time, arrays on the host; errors as
    :func:`fft2`."""
    array = np.asarray(x)
    return _over(gpu, fft, fft2, array, *_axes(array, s, axes), norm, params)


def ifftn(
    gpu: Gpu, x: npt.ArrayLike, s: Lengths = None, axes: Axes = None, norm: str | None = None, *,
    params: FftParams = DEFAULT,
) -> npt.NDArray[Any]:  # fmt: skip
    """Inverse of :func:`fftn`, as scipy.fft.ifftn."""
    array = np.asarray(x)
    return _over(gpu, ifft, ifft2, array, *_axes(array, s, axes), norm, params)


def rfftn(
    gpu: Gpu, x: npt.ArrayLike, s: Lengths = None, axes: Axes = None, norm: str | None = None, *,
    params: FftParams = DEFAULT,
) -> npt.NDArray[Any]:  # fmt: skip
    """Half the spectrum of real input, as scipy.fft.rfftn: half of the last axis; otherwise as :func:`fftn`."""
    array = np.asarray(x)
    lengths, every = _axes(array, s, axes)
    array = _over(gpu, rfft, rfft2, array, lengths[-2:], every[-2:], norm, params)
    return _over(gpu, fft, fft2, array, lengths[:-2], every[:-2], norm, params)


def irfftn(
    gpu: Gpu, x: npt.ArrayLike, s: Lengths = None, axes: Axes = None, norm: str | None = None, *,
    params: FftParams = DEFAULT,
) -> npt.NDArray[Any]:  # fmt: skip
    """Inverse of :func:`rfftn`, as scipy.fft.irfftn; an odd length of the last axis needs ``s``."""
    array = np.asarray(x)
    lengths, every = _axes(array, s, axes)
    array = _over(gpu, ifft, ifft2, array, lengths[:-2], every[:-2], norm, params)
    return _over(gpu, irfft, irfft2, array, lengths[-2:], every[-2:], norm, params)


def _axes(array: npt.NDArray[Any], lengths: Lengths, axes: Axes) -> tuple[list[int | None], list[int]]:
    """Lengths and axes, one for each: all of them, or the last, where only lengths are given."""
    if axes is None:
        count = array.ndim if lengths is None else len(lengths)
        axes = range(array.ndim - count, array.ndim)
    found = [operator.index(axis) for axis in axes]
    lengths = [None] * len(found) if lengths is None else list(lengths)
    if len(lengths) != len(found) or not found:
        raise ParameterError(f"{len(lengths)} lengths for {len(found)} axes: give as many, one at least")
    if any(not -array.ndim <= axis < array.ndim for axis in found) or len(
        {axis % array.ndim for axis in found}
    ) < len(found):
        raise ParameterError(f"axes {tuple(found)} of an array with {array.ndim} dimensions")
    return lengths, found


def _over(
    gpu: Gpu,
    one: Transform[int, int],
    two: Transform[Sequence[int | None], Sequence[int]],
    array: npt.NDArray[Any],
    lengths: Sequence[int | None],
    axes: Sequence[int],
    norm: str | None,
    params: FftParams,
) -> npt.NDArray[Any]:
    """Transforms over axes, the last ones first."""
    for end in range(len(axes), 0, -2):
        if end == 1:
            return one(gpu, array, lengths[0], axes[0], norm, params=params)
        array = two(gpu, array, lengths[end - 2 : end], axes[end - 2 : end], norm, params=params)
    return array
