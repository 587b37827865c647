"""The transforms and packets as PyWavelets has them: numpy in, numpy out; Image in, Image out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from math import gcd, isfinite, prod, sqrt
from typing import Any, Concatenate

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError, check_name
from ..gpu import Gpu
from ..image import Image
from ..operands import P, TwoEnded, shaped_like, two_ended
from ..params.dwt import MAX_LEVELS, DwtParams, wavelet_name
from ..tiles.ends import HostImage
from ..tiles.memory import room
from . import axis, multilevel, shrink, transform
from .arrays import LAST, axes_back, axes_last, dtype_of, planes, result, samples, triple
from .bands import in_precision
from .extension import vectors
from .wavelets import WAVELETS, Wavelet

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
    gpu: Gpu, data: Image | npt.ArrayLike, wavelet: str, mode: str = "symmetric", axes: Sequence[int] = LAST, *,
    method: str = "auto", integer: bool = False, tile: str = "auto",
) -> Any:  # fmt: skip
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
    gpu: Gpu, data: Image | npt.ArrayLike, wavelet: str, mode: str = "symmetric", level: int | None = None,
    axes: Sequence[int] = LAST, *, method: str = "auto", integer: bool = False, tile: str = "auto",
) -> Any:  # fmt: skip
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
    bands = multilevel.decompose(source, params, memory=memory)
    return transform.nested([result(data, band, dtype) for band in bands])


def idwt2(
    gpu: Gpu, coeffs: tuple[Any, tuple[Any, Any, Any]], wavelet: str, mode: str = "symmetric",
    axes: Sequence[int] = LAST, *, shape: tuple[int, int] | None = None, method: str = "auto",
    integer: bool = False, tile: str = "auto",
) -> Any:  # fmt: skip
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
    gpu: Gpu, coeffs: Sequence[Any], wavelet: str, mode: str = "symmetric", axes: Sequence[int] = LAST, *,
    shape: tuple[int, int] | None = None, method: str = "auto", integer: bool = False, tile: str = "auto",
) -> Any:  # fmt: skip
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
    gpu: Gpu, data: Image | npt.ArrayLike, wavelet: str, level: int | None = None, start_level: int = 0,
    axes: Sequence[int] = LAST, *, trim_approx: bool = False, norm: bool = False,
) -> Any:  # fmt: skip
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
        image, details = _split(image, name, number, norm)
        three = tuple(result(data, band, dtype) for band in details)
        coefficients.append(three if trim_approx else (result(data, image, dtype), three))
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
        image = _joined((image, details), name, (len(rest) - at) // 3, norm)
    return axes_back(result(bands[0], image, dtype), axes)


def wpdec2(
    gpu: Gpu, data: Image | npt.ArrayLike, wavelet: str, mode: str = "symmetric", level: int = 1,
    axes: Sequence[int] = LAST, *, method: str = "auto", integer: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """The 4^level bands of ``pywt.WaveletPacket2D`` at a level, by paths of letters a, h, v and d: "ah" is cH of cA.

    Parameters and errors as :func:`gpuops.wavelets.wavedec2`; level 0 is the data itself, its path "".
    """
    params = _params(wavelet, mode, level, method, integer)
    data = axes_last(data, axes)
    dtype = dtype_of(gpu, [data], integer)
    image = samples(gpu, data, dtype)
    packets = {"": in_precision(image, transform.working(gpu, image.dtype, params))}
    for _ in range(level):
        parents, packets = packets, {}
        for path, parent in parents.items():
            approximation, details = transform.forward(parent, params)
            packets |= {
                path + letter: band for letter, band in zip("ahvd", (approximation, *details), strict=True)
            }
    return {
        path: axes_back(result(data, in_precision(band, image.dtype), dtype), axes)
        for path, band in packets.items()
    }


def wprec2(
    gpu: Gpu, packets: Mapping[str, Any], wavelet: str, mode: str = "symmetric", axes: Sequence[int] = LAST, *,
    shape: tuple[int, int], method: str = "auto", integer: bool = False,
) -> Any:  # fmt: skip
    """The inverse of :func:`wpdec2`: the data of (height, width) ``shape``. Bands that are left out are zeros.

    Paths may differ in length: a band's own bands are only used if that band is missing. Raises ParameterError for
    bands of a wrong size, and if there is no band at all.
    """
    packets = {path: axes_last(band, axes) for path, band in packets.items()}
    dtype = dtype_of(gpu, list(packets.values()), integer)
    params = _params(wavelet, mode, 1, method, integer)
    above = {path[:length] for path in packets for length in range(len(path))}
    if wrong := [path for path in packets if set(path) - set("ahvd") or len(path) > MAX_LEVELS]:
        raise ParameterError(f"{wrong[0]!r} is no path of a wavelet packet: use letters of a, h, v and d")

    def band(path: str, shape: tuple[int, ...]) -> Image | None:
        if path in packets:
            image = samples(gpu, packets[path], dtype, band=True)
            if image.shape[1:] != shape:
                raise ParameterError(
                    f"the packet {path!r} must be {shape[0]}×{shape[1]}, not {image.shape[1]}×{image.shape[2]}"
                )
            return image
        if path not in above:
            return None
        (low_y, high_y), (low_x, high_x) = (axis.lengths(params, n) for n in shape)
        sizes = {"a": (low_y, low_x), "h": (high_y, low_x), "v": (low_y, high_x), "d": (high_y, high_x)}
        a, h, v, d = (band(path + letter, size) for letter, size in sizes.items())
        if all(child is None for child in (a, h, v, d)):
            return None
        return transform.recompose(a, [(h, v, d)], params, shape)

    whole = band("", tuple(shape))
    if whole is None:
        raise ParameterError("there must be one packet at least")
    return axes_back(result(next(iter(packets.values())), whole, dtype), axes)


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


# -- the stationary transform --------------------------------------------------------------------------------------

# -- The stationary wavelet transform of device images: (planes, height, width) float32 or float64 ---------------

Bands = tuple[Image, tuple[Image, Image, Image]]

Y, X = 1, 2


def _split(image: Image, name: str, level: int, norm: bool) -> Bands:
    """One level, number ``level`` (from 1 on): cA, (cH, cV, cD), each of the image's size."""
    low, high = _along(Y, (image,), name, level, norm)
    approximation, vertical = _along(X, (low,), name, level, norm)
    horizontal, diagonal = _along(X, (high,), name, level, norm)
    return approximation, (horizontal, vertical, diagonal)


def _joined(bands: Bands, name: str, level: int, norm: bool) -> Image:
    """The image that one level's bands stand for."""
    approximation, (horizontal, vertical, diagonal) = bands
    low = _along(X, (approximation, vertical), name, level, norm)
    high = _along(X, (horizontal, diagonal), name, level, norm)
    return _along(Y, (*low, *high), name, level, norm)[0]


def _along(axis: int, given: tuple[Image, ...], name: str, level: int, norm: bool) -> list[Image]:
    """The low and the high half of an image along an axis, or the image of the two."""
    restored = len(given) == 2
    made = [given[0].like() for _ in range(1 if restored else 2)]
    gpu, shape, dtype, wavelet = given[0].gpu, given[0].shape, given[0].dtype, WAVELETS[name]
    rows = axis == X
    width = gpu.limits.lanes
    filters = gpu.kept(
        ("swt filters", name, dtype, restored, norm),
        lambda: gpu.array(_filters(wavelet, restored, norm).astype(dtype)),
    )
    outer, n, inner = prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])
    apart = 2 ** (level - 1)
    first = apart * (wavelet.length // 2 - restored)  # PyWavelets' alignment
    size = (-(-n // width), 1, outer) if rows else (-(-inner // width), n, outer)
    gpu.compute(
        ("border", "dwt_extension", "swt"), "restored" if restored else "stationary", size, *given, *made, filters,
        wavelet.length, outer, n, inner, first, apart, group=128,
        label=f"{'i' if restored else ''}swt {'yx'[axis - 1]} {name}", traffic=None, ROWS=rows, **vectors(dtype, width),
    )  # fmt: skip
    return made


def _filters(
    wavelet: Wavelet, restored: bool, norm: bool
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Low and high taps in turn. With ``norm`` the energy is kept; without it constants grow as in the dwt."""
    factor = (sqrt(0.5) if norm else 0.5) if restored else (sqrt(0.5) if norm else 1.0)
    return factor * np.array(wavelet.reconstruct if restored else wavelet.decompose).T
