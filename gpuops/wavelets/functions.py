"""dwt2, idwt2, wavedec2, waverec2, swt2, iswt2 as PyWavelets has them: numpy in, numpy out; Image in, Image out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import gcd, isfinite
from typing import TYPE_CHECKING, Any, Concatenate

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError, check_name
from ..image import Image
from ..operands import P, TwoEnded, shaped_like, two_ended
from ..params.dwt import DwtParams, wavelet_name
from ..tiles.ends import HostImage
from ..tiles.memory import room
from . import multilevel, shrink, stationary, transform
from .arrays import LAST, axes_back, axes_last, dtype_of, planes, result, samples, triple

if TYPE_CHECKING:
    from ..gpu import Gpu

Array = npt.NDArray[Any]
ImageCoefficients = list[Image | tuple[Image, Image, Image]]
ArrayCoefficients = list[Array | tuple[Array, Array, Array]]

# To check parameters takes as long as to launch a level, so they are kept.
_params = lru_cache(256, typed=True)(DwtParams)


def _of_level(
    function: Callable[Concatenate[Gpu, Any, P], Any],
) -> TwoEnded[P, tuple[Image, tuple[Image, Image, Image]], tuple[Array, tuple[Array, Array, Array]]]:
    return function


def _of_levels(
    function: Callable[Concatenate[Gpu, Any, P], Any],
) -> TwoEnded[P, ImageCoefficients, ArrayCoefficients]:
    return function


@_of_level
def dwt2(
    gpu: Gpu,
    data: Image | npt.ArrayLike,
    wavelet: str,
    mode: str = "symmetric",
    axes: Sequence[int] = LAST,
    *,
    method: str = "auto",
    integer: bool = False,
    tile: str = "auto",
) -> Any:
    """One level of the two-dimensional transform over two axes: cA, (cH, cV, cD), as ``pywt.dwt2``.

    Parameters
    ----------
    data : array (..., height, width) or Image
        Real or complex. float64 and complex128 are computed in double precision, and whole numbers, if the device has
        it; all else in single. Whole numbers for ``integer``, which are computed in 32 bits.
    wavelet, mode
        PyWavelets' names, and some more: :data:`gpuops.params.dwt.WAVELETS` and :data:`~gpuops.params.dwt.MODES`. The
        modes ``mirror``, JPEG 2000's, and ``vc2`` give as many coefficients as there are samples.
    axes
        The axes to transform, y and x; for arrays alone. (0, 1) for pixels (height, width, channels).
    method, integer, tile
        As in :class:`gpuops.params.dwt.DwtParams`.

    Returns
    -------
    Arrays of the dtype that is computed in, complex for complex data; Images for an Image.

    An array that the device's memory has no room for is transformed in slabs of rows, with the same result
    (:mod:`gpuops.wavelets.multilevel`); `Gpu(memory=…)` says how much memory there is. On GPUs large arrays always are
    transformed in slabs, because it is faster.

    Raises
    ------
    ParameterError
        An unknown name, a combination without meaning, or one sample along an axis where the mode needs two; axes
        that the array does not have.
    DeviceError
        Double precision where the device has none; not enough memory for an Image, or even for a slab.
    """
    params = _params(wavelet, mode, 1, method, integer, tile)
    approximation, details = _decompose(gpu, axes_last(data, axes), params)
    return axes_back((approximation, details[0]), axes)


@_of_levels
def wavedec2(
    gpu: Gpu,
    data: Image | npt.ArrayLike,
    wavelet: str,
    mode: str = "symmetric",
    level: int | None = None,
    axes: Sequence[int] = LAST,
    *,
    method: str = "auto",
    integer: bool = False,
    tile: str = "auto",
) -> Any:
    """All levels: [cA, (cH, cV, cD) of the coarsest, …, (cH, cV, cD) of the finest], as ``pywt.wavedec2``.

    ``level`` None takes ``pywt.dwtn_max_level`` (modes ``mirror`` and ``vc2``: until the shorter side is one sample); a
    higher level than that warns. Otherwise as :func:`dwt2`.
    """
    params = _params(wavelet, mode, level, method, integer, tile)
    data = axes_last(data, axes)
    approximation, details = _decompose(gpu, data, params)
    transform.warn_of_levels(np.shape(data)[-2:], params)
    return axes_back([approximation, *details], axes)


def _decompose(gpu: Gpu, data: Image | npt.ArrayLike, params: DwtParams) -> tuple[Any, list[Any]]:
    """All levels; an array that the device has no room for comes and goes in slabs."""
    dtype = dtype_of(gpu, [data], params.integer)
    if isinstance(data, Image):
        return transform.decompose(samples(gpu, data, dtype), params)
    host = planes(gpu, data, dtype)
    memory = room(gpu, host.nbytes, multilevel.COPIES)
    source = multilevel.resident(HostImage(gpu, host), params, memory=memory)
    found = multilevel.decompose(source, params, memory=memory)
    return transform.nested([result(data, band, dtype) for band in found])


def idwt2(
    gpu: Gpu,
    coeffs: tuple[Any, tuple[Any, Any, Any]],
    wavelet: str,
    mode: str = "symmetric",
    axes: Sequence[int] = LAST,
    *,
    shape: tuple[int, int] | None = None,
    method: str = "auto",
    integer: bool = False,
    tile: str = "auto",
) -> Any:
    """The inverse of :func:`dwt2`, as ``pywt.idwt2``: None stands for a band of zeros.

    ``shape`` (height, width) is the image's true size: without it an odd length comes back one longer, as in
    PyWavelets, except in the modes ``mirror`` and ``vc2``. ``axes``: as in :func:`dwt2`. Raises ParameterError for
    bands that do not fit together.
    """
    approximation, details = coeffs
    return waverec2(
        gpu, [approximation, details], wavelet, mode, axes,
        shape=shape, method=method, integer=integer, tile=tile,
    )  # fmt: skip


def waverec2(
    gpu: Gpu,
    coeffs: Sequence[Any],
    wavelet: str,
    mode: str = "symmetric",
    axes: Sequence[int] = LAST,
    *,
    shape: tuple[int, int] | None = None,
    method: str = "auto",
    integer: bool = False,
    tile: str = "auto",
) -> Any:
    """The inverse of :func:`wavedec2`, as ``pywt.waverec2``. Otherwise as :func:`idwt2`."""
    if not coeffs:
        raise ParameterError("the list of coefficients is empty: it must hold cA at least")
    params = _params(wavelet, mode, len(coeffs) - 1, method, integer, tile)
    bands = [axes_last(coeffs[0], axes)]
    bands += [axes_last(band, axes) for details in coeffs[1:] for band in triple(details)]
    given = [band for band in bands if band is not None]
    if not given:
        raise ParameterError("there must be one band at least that is not None")
    dtype = dtype_of(gpu, given, integer)
    if not any(isinstance(band, Image) for band in given):
        host = [
            None if band is None else HostImage(gpu, planes(gpu, band, dtype, band=True)) for band in bands
        ]
        size = transform.image_shape(*transform.nested(host), params, shape)
        whole = HostImage(gpu, np.empty(size, next(band.dtype for band in host if band is not None)))
        memory = room(gpu, whole.nbytes, multilevel.COPIES)
        multilevel.recompose(host, params, whole, memory=memory)
        return axes_back(result(given[0], whole, dtype), axes)
    images = [None if band is None else samples(gpu, band, dtype, band=True) for band in bands]
    image = transform.recompose(*transform.nested(images), params, shape)
    return axes_back(result(given[0], image, dtype), axes)


def swt2(
    gpu: Gpu,
    data: Image | npt.ArrayLike,
    wavelet: str,
    level: int | None = None,
    start_level: int = 0,
    axes: Sequence[int] = LAST,
    *,
    trim_approx: bool = False,
    norm: bool = False,
) -> Any:
    """The stationary transform, which keeps all samples and follows shifts: as ``pywt.swt2``.

    Parameters
    ----------
    data : array (..., height, width) or Image
        As in :func:`dwt2`, but periodic. Both sides must be multiples of 2^(start_level + level).
    wavelet, axes
        As in :func:`dwt2`; wavelets with lifting steps or without.
    level, start_level
        The number of levels, None for as many as both sides can be halved; the number left out before the first level.
    trim_approx
        Leaves out all approximations but the coarsest: [cA, (cH, cV, cD) of the coarsest, …].
    norm
        Multiplies all filters by √½: with orthogonal wavelets the coefficients' energy, cA of the coarsest level
        included, is then the data's.

    Returns
    -------
    [(cA, (cH, cV, cD)) of the coarsest level, …, of the finest], each of the data's shape.

    Raises
    ------
    ParameterError, DeviceError
        As :func:`dwt2`, and for sides that are not such multiples.
    """
    data = axes_last(data, axes)
    name, dtype = wavelet_name(wavelet), dtype_of(gpu, [data])
    image = samples(gpu, data, dtype)
    sides = gcd(*image.shape[1:])
    most = (sides & -sides).bit_length() - 1
    levels = most - start_level if level is None else level
    if start_level < 0 or levels < 1 or start_level + levels > most:
        raise ParameterError(
            f"{image.shape[1]}×{image.shape[2]} samples have {most} stationary levels, as often as both sides can be "
            f"halved, not {start_level} + {levels}: pad them, for instance by numpy.pad"
        )
    coefficients: list[Any] = []
    for number in range(start_level + 1, start_level + levels + 1):
        image, details = stationary.forward(image, name, number, norm)
        found = tuple(result(data, band, dtype) for band in details)
        coefficients.append(found if trim_approx else (result(data, image, dtype), found))
    if trim_approx:
        coefficients.append(result(data, image, dtype))
    return axes_back(coefficients[::-1], axes)


def iswt2(
    gpu: Gpu, coeffs: Sequence[Any], wavelet: str, norm: bool = False, axes: Sequence[int] = LAST
) -> Any:
    """The inverse of :func:`swt2`, with or without ``trim_approx``, for a start_level of 0: as ``pywt.iswt2``.

    Each level's inverses, of which there are four for the four ways to leave out every second row and column, are
    averaged. ``axes``: as in :func:`dwt2`. Raises ParameterError for bands that do not fit together.
    """
    if not coeffs:
        raise ParameterError("the list of coefficients is empty: it must hold a level at least")
    name = wavelet_name(wavelet)
    trimmed = not isinstance(coeffs[0], tuple | list)
    levels = list(coeffs[1:]) if trimmed else [details for _, details in coeffs]
    first = coeffs[0] if trimmed else coeffs[0][0]
    bands = [first, *(band for details in levels for band in triple(details))]
    if any(band is None for band in bands):
        raise ParameterError("a stationary transform lacks no band: give zeros")
    bands = [axes_last(band, axes) for band in bands]
    dtype = dtype_of(gpu, bands)
    image, *rest = (samples(gpu, band, dtype) for band in bands)
    if any(band.shape != image.shape for band in rest):
        raise ParameterError("the bands of a stationary transform must have one shape")
    for at in range(0, len(rest), 3):
        details = (rest[at], rest[at + 1], rest[at + 2])
        image = stationary.inverse((image, details), name, (len(rest) - at) // 3, norm)
    return axes_back(result(bands[0], image, dtype), axes)


@two_ended
def threshold(
    gpu: Gpu, data: Image | npt.ArrayLike, value: float, mode: str = "soft", substitute: float = 0.0
) -> Any:
    """Coefficients shrunk by ``value``, as ``pywt.threshold``: those that do not exceed it become ``substitute``.

    Parameters
    ----------
    data : array (..., height, width) or Image
        Real; computed in the precision of :func:`dwt2`.
    mode
        ``soft`` (towards zero by ``value``), ``hard`` (unchanged), ``garrote`` (x − value²/x), by magnitude;
        ``greater`` (unchanged unless less than ``value``), ``less`` (unchanged unless greater).

    Raises
    ------
    ParameterError
        Another mode, a value that is not finite, a negative one of a magnitude, or complex data.
    """
    check_name("mode", mode, shrink.MODES)
    if not isfinite(value) or (value < 0 and mode not in ("greater", "less")):
        raise ParameterError(f"the threshold must be a finite number, 0 or more, not {value}")
    dtype = dtype_of(gpu, [data])
    if dtype.kind == "c":
        raise ParameterError("a real array is needed, not a complex one")
    image = samples(gpu, data, dtype)
    limits = [float(value)] * image.shape[0]
    return shaped_like(data, shrink.shrink_band(image, limits, mode, substitute=substitute))
