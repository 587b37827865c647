"""dwt2, idwt2, wavedec2, waverec2 as PyWavelets has them: numpy in, numpy out; Image in, Image out."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, prod
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError
from ..image import Image
from ..operands import on_device, shaped_like
from ..params.dwt import DwtParams
from . import shrink, transform

if TYPE_CHECKING:
    from ..gpu import Gpu

Array = npt.NDArray[np.generic]
ImageCoefficients = list[Image | tuple[Image, Image, Image]]
ArrayCoefficients = list[Array | tuple[Array, Array, Array]]


@overload
def dwt2(
    gpu: Gpu,
    data: Image,
    wavelet: str,
    mode: str = ...,
    *,
    method: str = ...,
    integer: bool = ...,
    tile: str = ...,
) -> tuple[Image, tuple[Image, Image, Image]]: ...
@overload
def dwt2(
    gpu: Gpu,
    data: npt.ArrayLike,
    wavelet: str,
    mode: str = ...,
    *,
    method: str = ...,
    integer: bool = ...,
    tile: str = ...,
) -> tuple[Array, tuple[Array, Array, Array]]: ...
def dwt2(
    gpu: Gpu,
    data: Image | npt.ArrayLike,
    wavelet: str,
    mode: str = "symmetric",
    *,
    method: str = "auto",
    integer: bool = False,
    tile: str = "auto",
) -> Any:
    """One level of the two-dimensional transform over the last two axes: cA, (cH, cV, cD), as ``pywt.dwt2``.

    Parameters
    ----------
    data : array (..., height, width) or Image
        Real; computed in float32. Whole numbers for ``integer``.
    wavelet, mode
        PyWavelets' names: :data:`gpuops.params.dwt.WAVELETS` and :data:`~gpuops.params.dwt.MODES`. The mode
        ``mirror``, JPEG 2000's, is not in PyWavelets: it gives as many coefficients as there are samples.
    method, integer, tile
        As in :class:`gpuops.params.dwt.DwtParams`.

    Returns
    -------
    float32 (int32 for ``integer``) arrays, or Images for an Image.

    Raises
    ------
    ParameterError
        An unknown name, a combination without meaning, or one sample along an axis where the mode needs two.
    """
    params = DwtParams(wavelet, mode, 1, method, integer, tile)
    approximation, details = transform.forward(_samples(gpu, data, params), params)
    return shaped_like(data, approximation), tuple(shaped_like(data, band) for band in details)


@overload
def wavedec2(
    gpu: Gpu,
    data: Image,
    wavelet: str,
    mode: str = ...,
    level: int | None = ...,
    *,
    method: str = ...,
    integer: bool = ...,
    tile: str = ...,
) -> ImageCoefficients: ...
@overload
def wavedec2(
    gpu: Gpu,
    data: npt.ArrayLike,
    wavelet: str,
    mode: str = ...,
    level: int | None = ...,
    *,
    method: str = ...,
    integer: bool = ...,
    tile: str = ...,
) -> ArrayCoefficients: ...
def wavedec2(
    gpu: Gpu,
    data: Image | npt.ArrayLike,
    wavelet: str,
    mode: str = "symmetric",
    level: int | None = None,
    *,
    method: str = "auto",
    integer: bool = False,
    tile: str = "auto",
) -> Any:
    """All levels: [cA, (cH, cV, cD) of the coarsest, …, (cH, cV, cD) of the finest], as ``pywt.wavedec2``.

    ``level`` None takes ``pywt.dwtn_max_level`` (mode ``mirror``: until the shorter side is one sample); a higher one
    than that warns. Otherwise as :func:`dwt2`.
    """
    params = DwtParams(wavelet, mode, level, method, integer, tile)
    image = _samples(gpu, data, params)
    transform.warn_of_levels(image.shape[1:], params)
    approximation, details = transform.decompose(image, params)
    coefficients: list[Any] = [shaped_like(data, approximation)]
    return coefficients + [tuple(shaped_like(data, band) for band in bands) for bands in details]


def idwt2(
    gpu: Gpu,
    coeffs: tuple[Any, tuple[Any, Any, Any]],
    wavelet: str,
    mode: str = "symmetric",
    *,
    shape: tuple[int, int] | None = None,
    method: str = "auto",
    integer: bool = False,
    tile: str = "auto",
) -> Any:
    """The inverse of :func:`dwt2`, as ``pywt.idwt2``: None stands for a band of zeros.

    ``shape`` (height, width) is the image's true size: without it an odd length comes back one longer, as in
    PyWavelets, except in the mode ``mirror``. Raises ParameterError for bands that do not fit together.
    """
    approximation, details = coeffs
    return waverec2(
        gpu, [approximation, details], wavelet, mode, shape=shape, method=method, integer=integer, tile=tile
    )


def waverec2(
    gpu: Gpu,
    coeffs: Sequence[Any],
    wavelet: str,
    mode: str = "symmetric",
    *,
    shape: tuple[int, int] | None = None,
    method: str = "auto",
    integer: bool = False,
    tile: str = "auto",
) -> Any:
    """The inverse of :func:`wavedec2`, as ``pywt.waverec2``. Otherwise as :func:`idwt2`."""
    if not coeffs:
        raise ParameterError("the list of coefficients is empty: it must hold cA at least")
    params = DwtParams(wavelet, mode, len(coeffs) - 1, method, integer, tile)
    bands = [coeffs[0], *(band for details in coeffs[1:] for band in _triple(details))]
    images = [None if band is None else _band(gpu, band, params) for band in bands]
    details = [(images[i], images[i + 1], images[i + 2]) for i in range(1, len(images), 3)]
    result = transform.recompose(images[0], details, params, shape)
    return shaped_like(next(band for band in bands if band is not None), result)


def _triple(bands: Any) -> tuple[Any, Any, Any]:
    if bands is None:
        return None, None, None
    if not isinstance(bands, tuple | list) or len(bands) != 3:
        raise ParameterError("the details of a level must be a tuple (cH, cV, cD)")
    return tuple(bands)


def _samples(gpu: Gpu, data: Image | npt.ArrayLike, params: DwtParams) -> Image:
    if params.integer and not isinstance(data, Image) and np.asarray(data).dtype.kind not in "iub":
        raise ParameterError(f"the integer transform needs whole numbers, not {np.asarray(data).dtype}")
    wanted = np.dtype(np.int32 if params.integer else np.float32)
    image = on_device(gpu, data, wanted)
    if image.dtype != wanted or len(image.shape) != 3:
        raise ParameterError(
            f"an Image of (planes, height, width) {wanted} is needed, not {image.shape} {image.dtype}"
        )
    return image


def _band(gpu: Gpu, data: Image | npt.ArrayLike, params: DwtParams) -> Image:
    """As :func:`_samples`; under mode mirror the details of a single row or column are empty."""
    shape = data.shape if isinstance(data, Image) else np.shape(data)
    if not isinstance(data, Image) and len(shape) >= 2 and 0 in shape[-2:] and 0 not in shape[:-2]:
        return gpu.empty((prod(shape[:-2]), *shape[-2:]), np.int32 if params.integer else np.float32)
    return _samples(gpu, data, params)


@overload
def threshold(gpu: Gpu, data: Image, value: float, mode: str = ..., substitute: float = ...) -> Image: ...
@overload
def threshold(
    gpu: Gpu, data: npt.ArrayLike, value: float, mode: str = ..., substitute: float = ...
) -> Array: ...
def threshold(
    gpu: Gpu, data: Image | npt.ArrayLike, value: float, mode: str = "soft", substitute: float = 0.0
) -> Any:
    """Coefficients shrunk by ``value``, as ``pywt.threshold``: what does not exceed it becomes ``substitute``.

    Parameters
    ----------
    mode
        ``soft`` (towards zero by ``value``), ``hard`` (unchanged), ``garrote`` (x − value²/x), by magnitude;
        ``greater`` (unchanged unless less than ``value``), ``less`` (unchanged unless greater).

    Raises
    ------
    ParameterError
        Another mode, a value that is not finite, or a negative one of a magnitude.
    """
    if mode not in shrink.MODES:
        raise ParameterError(f"unknown mode {mode!r}: use one of {', '.join(shrink.MODES)}")
    if not isfinite(value) or (value < 0 and mode not in ("greater", "less")):
        raise ParameterError(f"the threshold must be a finite number, 0 or more, not {value}")
    image = _samples(gpu, data, DwtParams())
    limits = [float(value)] * image.shape[0]
    return shaped_like(data, shrink.shrink_band(image, limits, mode, substitute=substitute))
