"""scipy.fft's functions over any number of axes: two at a time, through the host."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError
from ..gpu import Gpu
from ..image import Image
from ..params.fft import FftParams
from .api import DEFAULT, Norm, check_axes, transformed

Array = npt.NDArray[Any]
Axes = int | Sequence[int] | None
Lengths = int | Sequence[int | None] | None


def fftn(
    gpu: Gpu, x: npt.ArrayLike, s: Lengths = None, axes: Axes = None, norm: Norm = None,
    overwrite_x: bool = False, *, params: FftParams = DEFAULT,
) -> Array:  # fmt: skip
    """Transform over all axes, or ``axes``, as scipy.fft.fftn: two at a time, arrays on the host; otherwise as
    :func:`gpuops.fourier.fft2`."""
    return _over("c2c", False, gpu, x, *lengths_and_axes(x, s, axes), norm, params)


def ifftn(
    gpu: Gpu, x: npt.ArrayLike, s: Lengths = None, axes: Axes = None, norm: Norm = None,
    overwrite_x: bool = False, *, params: FftParams = DEFAULT,
) -> Array:  # fmt: skip
    """Inverse of :func:`fftn`, as scipy.fft.ifftn."""
    return _over("c2c", True, gpu, x, *lengths_and_axes(x, s, axes), norm, params)


def rfftn(
    gpu: Gpu, x: npt.ArrayLike, s: Lengths = None, axes: Axes = None, norm: Norm = None,
    overwrite_x: bool = False, *, params: FftParams = DEFAULT,
) -> Array:  # fmt: skip
    """Half the spectrum of real input, as scipy.fft.rfftn: half of the last axis; otherwise as :func:`fftn`."""
    lengths, every = lengths_and_axes(x, s, axes)
    half = _over("r2c", False, gpu, x, lengths[-2:], every[-2:], norm, params)
    return _over("c2c", False, gpu, half, lengths[:-2], every[:-2], norm, params)


def irfftn(
    gpu: Gpu, x: npt.ArrayLike, s: Lengths = None, axes: Axes = None, norm: Norm = None,
    overwrite_x: bool = False, *, params: FftParams = DEFAULT,
) -> Array:  # fmt: skip
    """Inverse of :func:`rfftn`, as scipy.fft.irfftn; an odd length of the last axis needs ``s``."""
    lengths, every = lengths_and_axes(x, s, axes)
    half = _over("c2c", True, gpu, x, lengths[:-2], every[:-2], norm, params)
    return _over("c2r", True, gpu, half, lengths[-2:], every[-2:], norm, params)


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
    indices = [operator.index(axis) for axis in ([axes] if isinstance(axes, int | np.integer) else axes)]
    lengths: list[int | None] = [None] * len(indices) if given is None else [*given]
    if len(lengths) != len(indices) or not indices:
        raise ParameterError(f"{len(lengths)} lengths for {len(indices)} axes: give as many, one at least")
    check_axes(indices, ndim)
    return lengths, indices


def _over(
    kind: str, inverse: bool, gpu: Gpu, x: npt.ArrayLike, lengths: list[int | None], axes: list[int], norm: Norm,
    params: FftParams,
) -> Array:  # fmt: skip
    """Transforms over axes, the last ones first."""
    values: Any = x
    for end in range(len(axes), 0, -2):
        two = slice(max(end - 2, 0), end)
        values = transformed(kind, inverse, gpu, values, lengths[two], axes[two], norm, params)
    return np.asarray(values)
