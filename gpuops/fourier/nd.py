"""scipy.fft's functions over any number of axes: two at a time, through the host."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError
from ..image import Image
from ..params.fft import FftParams
from .api import DEFAULT, Transform, check_axes, fft, fft2, ifft, ifft2, irfft, irfft2, rfft, rfft2

if TYPE_CHECKING:
    from ..gpu import Gpu

Array = npt.NDArray[Any]
Axes = int | Sequence[int] | None
Lengths = int | Sequence[int | None] | None
One = Transform[int, int]
Two = Transform[Sequence[int | None], Sequence[int]]


def fftn(
    gpu: Gpu, x: npt.ArrayLike, s: Lengths = None, axes: Axes = None, norm: str | None = None,
    overwrite_x: bool = False, *, params: FftParams = DEFAULT,
) -> Array:  # fmt: skip
    """Transform over all axes, or ``axes``, as scipy.fft.fftn: two at a time, arrays on the host; otherwise as
    :func:`gpuops.fourier.fft2`."""
    return _over(gpu, x, *lengths_and_axes(x, s, axes), norm, params, fft, fft2)


def ifftn(
    gpu: Gpu, x: npt.ArrayLike, s: Lengths = None, axes: Axes = None, norm: str | None = None,
    overwrite_x: bool = False, *, params: FftParams = DEFAULT,
) -> Array:  # fmt: skip
    """Inverse of :func:`fftn`, as scipy.fft.ifftn."""
    return _over(gpu, x, *lengths_and_axes(x, s, axes), norm, params, ifft, ifft2)


def rfftn(
    gpu: Gpu, x: npt.ArrayLike, s: Lengths = None, axes: Axes = None, norm: str | None = None,
    overwrite_x: bool = False, *, params: FftParams = DEFAULT,
) -> Array:  # fmt: skip
    """Half the spectrum of real input, as scipy.fft.rfftn: half of the last axis; otherwise as :func:`fftn`."""
    lengths, every = lengths_and_axes(x, s, axes)
    half = _over(gpu, x, lengths[-2:], every[-2:], norm, params, rfft, rfft2)
    return _over(gpu, half, lengths[:-2], every[:-2], norm, params, fft, fft2)


def irfftn(
    gpu: Gpu, x: npt.ArrayLike, s: Lengths = None, axes: Axes = None, norm: str | None = None,
    overwrite_x: bool = False, *, params: FftParams = DEFAULT,
) -> Array:  # fmt: skip
    """Inverse of :func:`rfftn`, as scipy.fft.irfftn; an odd length of the last axis needs ``s``."""
    lengths, every = lengths_and_axes(x, s, axes)
    half = _over(gpu, x, lengths[:-2], every[:-2], norm, params, ifft, ifft2)
    return _over(gpu, half, lengths[-2:], every[-2:], norm, params, irfft, irfft2)


def lengths_and_axes(x: npt.ArrayLike, s: Lengths, axes: Axes) -> tuple[list[int | None], list[int]]:
    """Returns a length and an axis for each axis to transform: all axes, or the last ones if only lengths are given.

    As in scipy a number stands for a sequence of it alone, and the length −1 for that of the input.
    """
    if isinstance(x, Image):
        raise ParameterError("this function takes arrays: copy the Image by way of numpy()")
    ndim = np.ndim(x)
    given = None if s is None else [s] if isinstance(s, int | np.integer) else list(s)
    if axes is None:
        axes = range(ndim - (ndim if given is None else len(given)), ndim)
    found = [operator.index(axis) for axis in ([axes] if isinstance(axes, int | np.integer) else axes)]
    lengths: list[int | None] = [None] * len(found) if given is None else [*given]
    if len(lengths) != len(found) or not found:
        raise ParameterError(f"{len(lengths)} lengths for {len(found)} axes: give as many, one at least")
    check_axes(found, ndim)
    return lengths, found


def _over(
    gpu: Gpu, x: npt.ArrayLike, lengths: list[int | None], axes: list[int], norm: str | None, params: FftParams,
    one: One, two: Two,
) -> Array:  # fmt: skip
    """Transforms over axes, the last ones first."""
    array = np.asarray(x)
    for end in range(len(axes), 0, -2):
        if end == 1:
            return one(gpu, array, lengths[0], axes[0], norm, params=params)
        array = two(gpu, array, lengths[end - 2 : end], axes[end - 2 : end], norm, params=params)
    return array
