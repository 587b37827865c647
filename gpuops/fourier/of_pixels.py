"""Transforms that read an image's pixels, or write them, in their own depth: no other kernel converts them."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError
from ..gpu import Gpu
from ..image import PIXEL_TYPE_NAMES, Image
from ..params.fft import FftParams, SpectrumParams
from ..pixels.coding import Encoding, Losses, losses
from .api import DEFAULT, problem_of
from .engine.problem import Pixels
from .engine.transform import plan

Size = tuple[int, int]
Operand = TypeVar("Operand", Image, npt.NDArray[Any])


def back(
    gpu: Gpu, values: Image, size: Size, transform: Size, params: SpectrumParams, target: Pixels | None = None,
    lost: Image | None = None,
) -> Image:  # fmt: skip
    """The image of ``size`` whose transform over ``transform`` is ``values`` (planes, rows, columns).

    The image is planar, float32 or float64 as values are. With a ``target`` it is pixels, and ``lost``
    counts as :func:`gpuops.pixels.coding.pack` does. Values of COMPLEX_HALF are halves between the axes as well.
    """
    problem = problem_of(
        params, "c2r" if params.half else "c2c", 2, values.shape, (values.shape[0], *size), transform, inverse=True,
        pixels=target, reals=not params.half,
    )  # fmt: skip
    return plan(gpu, problem)(values, lost=lost)


def rfft2_of_pixels(
    gpu: Gpu, pixels: Operand, norm: str | None = None, *, params: FftParams = DEFAULT
) -> Operand:
    """:func:`rfft2` of every channel of interleaved pixels, which the transform itself reads in their own depth.

    Parameters
    ----------
    pixels : array or Image (height, width, channels)
        uint8 or uint16, which count as fractions of their largest value, float16 or float32.

    Returns
    -------
    complex64 (channels, height, width // 2 + 1), on the host for an array, an Image for an Image.

    Raises
    ------
    ParameterError
        Another type or shape, no pixels, an unknown norm.
    """
    if len(pixels.shape) != 3 or pixels.dtype.name not in PIXEL_TYPE_NAMES or 0 in pixels.shape:
        raise ParameterError(
            f"pixels must be (height, width, channels) of {', '.join(PIXEL_TYPE_NAMES)}, "
            f"not {pixels.shape} {pixels.dtype}"
        )
    how = SpectrumParams(norm or "backward", how=params)
    image = pixels if isinstance(pixels, Image) else gpu.array(pixels)
    height, width, channels = image.shape
    shape, out = (channels, height, width), (channels, height, width // 2 + 1)
    source = Pixels(image.dtype.name, channels)
    spectra = plan(gpu, problem_of(how, "r2c", 2, shape, out, (height, width), pixels=source))(image)
    return spectra if isinstance(pixels, Image) else spectra.numpy()


def irfft2_to_pixels(
    gpu: Gpu, spectra: Operand, s: Size, dtype: npt.DTypeLike, norm: str | None = None, *,
    params: FftParams = DEFAULT,
) -> tuple[Operand, Losses]:  # fmt: skip
    """Inverse of :func:`rfft2_of_pixels`: pixels (s[0], s[1], channels) of ``dtype``, written by the transform itself.

    Parameters
    ----------
    spectra : array or Image (channels, s[0], s[1] // 2 + 1), complex64
    dtype
        uint8 or uint16, to which values of 0 … 1 are rounded and others clipped, NaN to 0; float16, clipped to ±65504,
        or float32.

    Returns
    -------
    The pixels, on the host for an array, an Image for an Image; and how many values did not fit.

    Raises
    ------
    ParameterError
        Another type or shape, an unknown norm.
    """
    shape, wanted = (*s, s[1] // 2 + 1), np.dtype(dtype)
    if spectra.dtype != np.complex64 or spectra.shape[1:] != (shape[0], shape[2]) or 0 in spectra.shape:
        raise ParameterError(
            f"a half spectrum of {s[0]}×{s[1]} pixels is complex64 (channels, {shape[0]}, {shape[2]}), "
            f"not {spectra.dtype} {spectra.shape}"
        )
    if wanted.name not in PIXEL_TYPE_NAMES:
        raise ParameterError(f"pixels are {', '.join(PIXEL_TYPE_NAMES)}, not {wanted}")
    lost = gpu.zeros((2,), np.uint32)
    target = Pixels(wanted.name, spectra.shape[0], encoding=Encoding(wanted))
    how = SpectrumParams(norm or "backward", how=params)
    image = spectra if isinstance(spectra, Image) else gpu.array(spectra)
    pixels = back(gpu, image, s, s, how, target, lost=lost)
    return pixels if isinstance(spectra, Image) else pixels.numpy(), losses(lost)
