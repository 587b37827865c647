"""numpy in, numpy out; Image in, Image out: the two ends of every function of the library."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar, overload

import numpy as np
import numpy.typing as npt

from .errors import ParameterError
from .image import Image

if TYPE_CHECKING:
    from .gpu import Gpu

#: What functions take: an Image, or an array that goes to the device.
Operand = Image | npt.ArrayLike
P = ParamSpec("P")
OfImage = TypeVar("OfImage", covariant=True)
OfArray = TypeVar("OfArray", covariant=True)


class TwoEnded(Protocol[P, OfImage, OfArray]):
    """A function of a Gpu and of an Image or an array, which gives other types for the one than for the other."""

    @overload
    def __call__(self, gpu: Gpu, operand: Image, /, *args: P.args, **kwargs: P.kwargs) -> OfImage: ...
    @overload
    def __call__(self, gpu: Gpu, operand: npt.ArrayLike, /, *args: P.args, **kwargs: P.kwargs) -> OfArray: ...


def two_ended(function: Callable[Concatenate[Gpu, Any, P], Any]) -> TwoEnded[P, Image, npt.NDArray[Any]]:
    """Declares that a function gives an Image for an Image, and an array for an array."""
    return function


def on_device(gpu: Gpu, operand: Image | npt.ArrayLike, dtype: npt.DTypeLike = np.float32) -> Image:
    """Returns ``operand`` as planar (planes, height, width) Image of ``dtype``; leading axes of an array become planes.

    Raises ParameterError as :func:`planes_of` and :meth:`Image.check_planar`.
    """
    if isinstance(operand, Image):
        gpu.check_own(operand)
        operand.check_planar(dtype)
        return operand
    return gpu.array(planes_of(operand, dtype))


def computed(gpu: Gpu, dtypes: Iterable[np.dtype[np.generic]]) -> type[np.float32 | np.float64]:
    """The real type that transforms of arrays are computed in, as scipy.fft and PyWavelets have it: double if one is
    float64 or complex128, or of whole numbers, which are in single where the device has no double precision."""
    kinds = "fciub" if gpu.limits.double else "fc"
    double = any(
        dtype.kind in kinds
        and (dtype.kind in "iub" or dtype.newbyteorder("=") in (np.float64, np.complex128))
        for dtype in dtypes
    )
    return np.float64 if double else np.float32


def planes_of(operand: npt.ArrayLike, dtype: npt.DTypeLike = np.float32) -> npt.NDArray[Any]:
    """Returns an array as (planes, height, width) of ``dtype``, on the host.

    Raises ParameterError for fewer than two dimensions, no elements or a complex array where a real one is meant.
    """
    array = np.asarray(operand)
    if array.dtype.kind not in "buifc":
        raise ParameterError(f"numbers are needed, not an array of {array.dtype}")
    if array.ndim < 2 or array.size == 0:
        raise ParameterError(
            f"an array of two or more dimensions with elements is needed, not of shape {array.shape}"
        )
    if np.iscomplexobj(array) and np.dtype(dtype).kind != "c":
        raise ParameterError("a real array is needed, not a complex one")
    return array.reshape(-1, *array.shape[-2:]).astype(dtype, copy=False)


def check_colours(colours: int, channels: int, what: str) -> None:
    """Raises ParameterError unless the image is gray or RGB, with or without alpha."""
    if colours not in (1, 3):
        raise ParameterError(
            f"{what} needs a gray or RGB image, with or without alpha, not one of {channels} channels"
        )


@overload
def shaped_like(operand: Image, result: Image) -> Image: ...
@overload
def shaped_like(operand: npt.ArrayLike, result: Image) -> npt.NDArray[np.generic]: ...
def shaped_like(operand: Image | npt.ArrayLike, result: Image) -> Image | npt.NDArray[np.generic]:
    """Returns ``result`` itself for an Image operand; for an array, on the host with the operand's leading axes."""
    if isinstance(operand, Image):
        return result
    array = result.numpy()
    return array.reshape(*np.shape(operand)[:-2], *array.shape[-2:])
