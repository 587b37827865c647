"""scipy.fft's functions on a device: numpy in, numpy out; Image in, Image out."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from math import prod, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError, check_name
from ..gpu import Gpu
from ..image import COMPLEX_HALF, Image
from ..operands import Operand, computed, two_ended
from ..params.fft import NORMS, FftParams, SpectrumParams
from .engine.problem import Problem, Surroundings
from .engine.transform import plan

DEFAULT = FftParams()
_KINDS = {"c2c": ("f", "c"), "r2c": ("f",), "c2r": ("c",)}  # numpy's kinds of the input's types
Lengths = Sequence[int | None] | None
Norm = str | None


@two_ended
def fft2(
    gpu: Gpu, x: Operand, s: Lengths = None, axes: Sequence[int] = (-2, -1), norm: Norm = None,
    overwrite_x: bool = False, *, params: FftParams = DEFAULT,
) -> Any:  # fmt: skip
    """2-D Fourier transform over the last two axes, as scipy.fft.fft2.

    Parameters
    ----------
    x : array (..., rows, columns) or Image
        Real or complex. float64 and complex128 are computed in double precision, and whole numbers, if the device has
        it; all other types in single. An array of dtype :data:`gpuops.image.COMPLEX_HALF` is computed in single
        precision and stored in halves, between the axes too (use norm="ortho": values beyond 65504 are infinite).
    s : (int, int), optional
        Lengths of the transformed axes: longer input is cropped, shorter input is padded with zeros.
    axes : (int, int)
        Which axes of an array; an Image's are the last two.
    norm : "backward", "ortho" or "forward"
        Where the factor 1/n goes; None is "backward".
    overwrite_x : bool
        For compatibility: the input never changes.
    params : FftParams
        The way in which the transform is computed.

    Returns
    -------
    complex64 (complex128 in double precision, COMPLEX_HALF for itself), on the host for an array, an Image for an
    Image.

    Raises
    ------
    ParameterError
        An empty array, a wrong shape or type, an unknown norm, a length below 1.
    DeviceError
        Double precision where the device has none; not enough memory.
    """
    return transformed("c2c", False, gpu, x, s, axes, norm, params)


@two_ended
def ifft2(
    gpu: Gpu, x: Operand, s: Lengths = None, axes: Sequence[int] = (-2, -1), norm: Norm = None,
    overwrite_x: bool = False, *, params: FftParams = DEFAULT,
) -> Any:  # fmt: skip
    """Inverse of :func:`fft2`, as scipy.fft.ifft2; parameters, result and errors as there."""
    return transformed("c2c", True, gpu, x, s, axes, norm, params)


@two_ended
def rfft2(
    gpu: Gpu, x: Operand, s: Lengths = None, axes: Sequence[int] = (-2, -1), norm: Norm = None,
    overwrite_x: bool = False, *, params: FftParams = DEFAULT,
) -> Any:  # fmt: skip
    """Half the spectrum (columns 0 … n // 2) of real input, as scipy.fft.rfft2; otherwise as :func:`fft2`."""
    return transformed("r2c", False, gpu, x, s, axes, norm, params)


@two_ended
def irfft2(
    gpu: Gpu, x: Operand, s: Lengths = None, axes: Sequence[int] = (-2, -1), norm: Norm = None,
    overwrite_x: bool = False, *, params: FftParams = DEFAULT,
) -> Any:  # fmt: skip
    """Inverse of :func:`rfft2` with a real result, as scipy.fft.irfft2; otherwise as :func:`fft2`.

    ``s`` is the result's size; without it an even number of columns is assumed: an odd one needs ``s``.
    """
    return transformed("c2r", True, gpu, x, s, axes, norm, params)


@two_ended
def fft(
    gpu: Gpu, x: Operand, n: int | None = None, axis: int = -1, norm: Norm = None, overwrite_x: bool = False,
    *, params: FftParams = DEFAULT,
) -> Any:  # fmt: skip
    """1-D Fourier transform along ``axis``, as scipy.fft.fft; otherwise as :func:`fft2`."""
    return transformed("c2c", False, gpu, x, (n,), (axis,), norm, params)


@two_ended
def ifft(
    gpu: Gpu, x: Operand, n: int | None = None, axis: int = -1, norm: Norm = None, overwrite_x: bool = False,
    *, params: FftParams = DEFAULT,
) -> Any:  # fmt: skip
    """Inverse of :func:`fft`, as scipy.fft.ifft; otherwise as :func:`fft2`."""
    return transformed("c2c", True, gpu, x, (n,), (axis,), norm, params)


@two_ended
def rfft(
    gpu: Gpu, x: Operand, n: int | None = None, axis: int = -1, norm: Norm = None, overwrite_x: bool = False,
    *, params: FftParams = DEFAULT,
) -> Any:  # fmt: skip
    """Half the spectrum of real input along ``axis``, as scipy.fft.rfft; otherwise as :func:`fft2`."""
    return transformed("r2c", False, gpu, x, (n,), (axis,), norm, params)


@two_ended
def irfft(
    gpu: Gpu, x: Operand, n: int | None = None, axis: int = -1, norm: Norm = None, overwrite_x: bool = False,
    *, params: FftParams = DEFAULT,
) -> Any:  # fmt: skip
    """Inverse of :func:`rfft`, as scipy.fft.irfft; an odd length needs ``n``; otherwise as :func:`fft2`."""
    return transformed("c2r", True, gpu, x, (n,), (axis,), norm, params)


def transformed(
    kind: str, inverse: bool, gpu: Gpu, x: Operand, lengths: Lengths, axes: Sequence[int], norm: Norm,
    params: FftParams,
) -> Image | npt.NDArray[Any]:  # fmt: skip
    """The transform of one of the kinds of :class:`Problem`, over one or two axes."""
    last = tuple(range(-len(axes), 0))
    if lengths is None:
        lengths = (None,) * len(axes)
    if len(lengths) != len(last) or len(last) not in (1, 2):
        raise ParameterError(f"{len(lengths)} lengths for {len(axes)} axes: give as many")
    if isinstance(x, Image):
        if len(x.shape) != 3:
            raise ParameterError(f"an Image (planes, rows, columns) is needed, not of shape {x.shape}")
        if tuple(axes) != last:
            raise ParameterError(f"an Image is transformed over its last axes, {last}: not {tuple(axes)}")
        image = x
    else:
        x = np.asarray(x)
        check_axes(axes, x.ndim)
        if x.size == 0:
            raise ParameterError(f"there is nothing to transform in an array of shape {x.shape}")
        x = np.moveaxis(x, axes, last)
        image = gpu.array(_planes(gpu, x, kind, inverse, len(axes)))
    shape: Any = _checked(kind, image).shape
    made = plan(gpu, _problem(kind, inverse, shape, image.dtype, tuple(lengths), norm, params))(image)
    if isinstance(x, Image):
        return made
    result = made.numpy().reshape(*x.shape[: -len(axes)], *made.shape[-len(axes) :])
    return np.moveaxis(result, last, axes)


def check_axes(axes: Sequence[int], ndim: int) -> None:
    """Raises ParameterError for axes that an array of ``ndim`` dimensions does not have, or that are named twice."""
    if any(not -ndim <= axis < ndim for axis in axes) or len({axis % ndim for axis in axes}) < len(axes):
        raise ParameterError(f"axes {tuple(axes)} of an array with {ndim} dimensions")


@lru_cache(maxsize=256)
def _problem(
    kind: str, inverse: bool, shape: tuple[int, int, int], dtype: np.dtype[np.generic],
    lengths: tuple[int | None, ...], norm: str | None, params: FftParams,
) -> Problem:  # fmt: skip
    planes, rows, columns = shape
    given = dict(zip(("columns", "rows"), reversed(lengths), strict=False))
    n_rows = _length(given.get("rows"), rows, rows)
    n_columns = _length(given.get("columns"), columns, 2 * (columns - 1) if kind == "c2r" else columns)
    if kind == "c2c" and dtype.kind == "f":
        kind = "r2c"  # each transform takes two rows, but the result is all of the spectrum
        width = n_columns
    else:
        width = n_columns // 2 + 1 if kind == "r2c" else n_columns
    axes = len(lengths)
    out = (planes, n_rows if axes == 2 else rows, width)
    scale = scale_of(norm, n_columns * (n_rows if axes == 2 else 1), inverse)
    double, half = dtype in (np.float64, np.complex128), dtype == COMPLEX_HALF
    return Problem(kind, axes, shape, out, (n_rows, n_columns), inverse, scale, double, params, half=half)


def scale_of(norm: str | None, size: int, inverse: bool) -> float:
    """The factor of a transform of ``size`` points."""
    if norm is not None:
        check_name("norm", norm, NORMS)
    if norm == "ortho":
        return 1 / sqrt(size)
    return 1 / size if inverse == (norm != "forward") else 1.0


def problem_of(
    params: SpectrumParams, kind: str, axes: int, given: Sequence[int], made: tuple[int, int, int],
    n: tuple[int, int], *, inverse: bool = False, **more: Any,
) -> Problem:  # fmt: skip
    """The transform of arrays of the shape ``given`` to arrays of the shape ``made`` with the norm and the precision of
    ``params``; ``more`` are further fields of :class:`Problem`."""
    planes, rows, columns = given
    problem = Problem(
        kind, axes, (planes, rows, columns), made, n, inverse, 1.0, params.precision == "double", params.how,
        half=params.precision == "half", **more,
    )  # fmt: skip
    return replace(problem, scale=scale_of(params.norm, problem.size, inverse))


def transfer_function(gpu: Gpu, kernel: Image, size: tuple[int, int]) -> Image:
    """The half spectra over ``size`` of kernels (planes, rows, columns) whose pixel (rows // 2, columns // 2) is the
    origin: float32 → complex64 (planes, size[0], size[1] // 2 + 1). Sizes as for :func:`convolution`."""
    planes, rows, columns = kernel.shape
    origin = rows // 2, columns // 2
    around = Surroundings("constant", 0.0, (-origin[0], -origin[1]), origin)
    shape, out = (planes, rows, columns), (planes, size[0], size[1] // 2 + 1)
    return plan(gpu, Problem("r2c", 2, shape, out, size, False, 1.0, False, DEFAULT, around))(kernel)


def convolution(
    gpu: Gpu, image: Image, transfer: Image, taps: tuple[int, int], size: tuple[int, int], border: str,
    cval: float,
) -> Image:  # fmt: skip
    """Convolves images with a kernel in three passes: columns; rows, times the transfer function, and back; columns
    back.

    Parameters
    ----------
    image, transfer : Image
        (planes, height, width), float32; and the kernel's :func:`transfer_function` over ``size``, of 1 or as many
        planes.
    taps, size : (int, int)
        Rows and columns of the kernel, and those of the transforms, which are at least height + rows − 1 and width +
        columns − 1; the number of columns is even, and half of it has no prime factor above 13.
    border, cval
        The surroundings of the image: a name of :data:`gpuops.params.border.BORDERS`, and the constant's value.

    Returns
    -------
    Image of the image's shape. A value that is not finite spreads over all of its plane.

    Raises
    ------
    ParameterError
        A transfer function of another size.
    TooLongError
        Local memory for a row, and its mirror image, is too small.
    """
    if transfer.shape[1:] != (size[0], size[1] // 2 + 1) or transfer.shape[0] not in (1, image.shape[0]):
        raise ParameterError(
            f"a transfer function of shape {transfer.shape} does not fit transforms of {size}"
        )
    around = Surroundings(border, cval, (taps[0] // 2, taps[1] // 2), kernels=transfer.shape[0])
    shape = (image.shape[0], image.shape[1], image.shape[2])
    problem = Problem("convolve", 2, shape, shape, size, False, 0.5 / prod(size), False, DEFAULT, around)
    return plan(gpu, problem)(image, transfer)


def _length(given: int | None, there: int, default: int) -> int:
    # −1: as long as the input, as in scipy
    n = default if given is None else there if given == -1 else operator.index(given)
    if n < 1:
        raise ParameterError(f"a transform needs a length of 1 or more, not {n}")
    return n


def _checked(kind: str, image: Image) -> Image:
    wanted = _KINDS[kind]
    if kind == "c2c" and image.dtype == COMPLEX_HALF:
        wanted = ("V",)
    if image.dtype.kind not in wanted or image.dtype == np.float16:
        names = " or ".join({"f": "float32 or float64", "c": "complex64 or complex128"}[k] for k in wanted)
        raise ParameterError(f"this transform takes {names}, not {image.dtype}")
    if prod(image.shape) == 0:
        raise ParameterError(f"there is nothing to transform in an array of shape {image.shape}")
    return image


def _planes(gpu: Gpu, array: npt.NDArray[Any], kind: str, inverse: bool, axes: int) -> npt.NDArray[Any]:
    """The array as (planes, rows, columns), in a type that the device computes with."""
    if kind != "c2c" or array.dtype != COMPLEX_HALF:
        if array.dtype.kind not in "buifc" or array.dtype.char in "gG":
            raise ParameterError(f"numbers are needed, not an array of {array.dtype}")
        if array.dtype.kind == "c" and kind == "r2c":
            raise ParameterError("a real array is needed, not a complex one")
        is_complex = array.dtype.kind == "c" or kind == "c2r" or (kind == "c2c" and inverse)
        real = computed(gpu, [array.dtype])
        array = array.astype(np.result_type(real, np.complex64) if is_complex else real, copy=False)
    return array.reshape(-1, *array.shape[-2:]) if axes == 2 else array.reshape(1, -1, array.shape[-1])
