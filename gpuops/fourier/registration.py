"""The shift between two images by phase correlation, to parts of a pixel."""

from __future__ import annotations

from math import atan2, ceil, prod, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError
from ..gpu import Gpu
from ..image import Image
from ..operands import computed, on_device
from .api import irfft2, rfft2

Array = npt.NDArray[Any]
# The width and the height, in pixels, of the region around the whole-pixel shift that is searched.
_REGION = 1.5
# The kernels' names of the real types.
_REALS = {"complex64": "float", "complex128": "double"}
# The least divisor of a phase, in roundings of the type.
_ROUNDINGS = 100


def phase_cross_correlation(
    gpu: Gpu,
    reference_image: npt.ArrayLike | Image,
    moving_image: npt.ArrayLike | Image,
    *,
    upsample_factor: int = 1,
    normalization: str | None = "phase",
) -> tuple[npt.NDArray[np.float64], float, float]:
    """Returns the shift that registers an image with a reference, as skimage.registration.phase_cross_correlation.

    The shift is refined around the whole-pixel maximum by a matrix-multiply DFT (Guizar-Sicairos, Thurman and Fienup,
    Opt. Lett. 33, 156, 2008). Images count as periodic: multiply them by a window if they are not.

    Parameters
    ----------
    reference_image, moving_image
        Real arrays (rows, columns), or Images of one plane. float64 is computed in double precision, and whole numbers,
        if the device has it; all else in single, where factors up to about 100 have a meaning.
    upsample_factor : int
        Images are registered within 1 / upsample_factor of a pixel.
    normalization : {"phase", None}
        Whether all frequencies count equally, or by the images' amplitudes.

    Returns
    -------
    shift : float64 (2,)
        Pixels (y, x) by which the moving image has to be shifted.
    error : float
        The normalised root of the mean square error between the images, invariant to shifts, without a normalization.
    phasediff : float
        The phase of the maximum in radians: 0 between images that are not negative.

    Raises
    ------
    ParameterError
        Images of other or different shapes, values that are not finite, an unknown normalization, a factor below 1.
    """
    if normalization not in ("phase", None):
        raise ParameterError(f"normalization is 'phase' or None, not {normalization!r}")
    if upsample_factor < 1:
        raise ParameterError(f"upsample_factor is 1 or more, not {upsample_factor}")
    images = reference_image, moving_image
    real = computed(gpu, [x.dtype if isinstance(x, Image) else np.asarray(x).dtype for x in images])
    reference, moving = (_plane(gpu, image, real) for image in images)
    if reference.shape != moving.shape:
        raise ParameterError(f"images to register have one shape, not {reference.shape} and {moving.shape}")
    powers = [_power(image) for image in (reference, moving)]
    size = reference.shape[1], reference.shape[2]
    spectrum, other = rfft2(gpu, reference), rfft2(gpu, moving)
    least = _ROUNDINGS * float(np.finfo(real).eps)
    count = prod(spectrum.shape)
    gpu.compute(
        "registration", "cross_power", (count,), spectrum, other, np.uint64(count), least, group=256,
        label="cross power", traffic=3 * spectrum.nbytes, REAL=_REALS[spectrum.dtype.name],
        PHASE=normalization == "phase",
    )  # fmt: skip
    correlation = irfft2(gpu, spectrum, size).numpy()[0]
    place = np.unravel_index(np.argmax(np.abs(correlation)), size)
    shift = np.array([at - n if at > n // 2 else at for at, n in zip(place, size, strict=True)], np.float64)
    peak = complex(correlation[place])
    if upsample_factor > 1:
        shift, peak = _refined(gpu, spectrum, size, shift, int(upsample_factor))
        peak /= prod(size)
    shift[np.array(size) == 1] = 0
    power = prod(powers)
    error = sqrt(abs(1 - abs(peak) ** 2 / power)) if power else float("nan")
    return shift, error, atan2(peak.imag, peak.real)


def _plane(gpu: Gpu, image: npt.ArrayLike | Image, dtype: npt.DTypeLike) -> Image:
    if isinstance(image, Image):
        on_device(gpu, image, dtype)
        if image.shape[0] != 1:
            raise ParameterError(f"an image to register has one plane, not {image.shape[0]}")
        return image
    array = np.asarray(image)
    if array.ndim != 2 or array.size == 0 or array.dtype.kind not in "buif":
        raise ParameterError(
            f"an image to register is a real array (rows, columns), not {array.dtype} of shape {array.shape}"
        )
    return gpu.array(array[None].astype(dtype))


def _power(image: Image) -> float:
    """The sum of squares. Raises ParameterError for values that are not finite."""
    values = image.numpy().astype(np.float64).ravel()
    if not np.isfinite(values).all():
        raise ParameterError("an image to register has finite values, and here are some NaN or infinite")
    return float(values @ values)


def _refined(
    gpu: Gpu, spectrum: Image, size: tuple[int, int], shift: npt.NDArray[np.float64], factor: int
) -> tuple[npt.NDArray[np.float64], complex]:
    """The place of the largest correlation around a shift, in steps of 1 / factor, and its value times the pixels."""
    shift = np.round(shift * factor) / factor
    count = ceil(_REGION * factor)
    steps = np.arange(count) - count // 2
    down, across = (
        np.exp(2j * np.pi * np.multiply.outer(shift[axis] + steps / factor, np.fft.fftfreq(n)))
        for axis, n in enumerate(size)
    )
    half = _along_columns(gpu, spectrum, down)
    whole = np.empty((count, size[1]), np.complex128)
    whole[:, : half.shape[1]] = half
    # The other columns are X[−k] = conj X[k]: the same sum, but for the row that is its own mirror image.
    mirrored = half.copy()
    if size[0] % 2 == 0:
        middle = _row(spectrum, size[0] // 2)
        factors = down[:, size[0] // 2]
        mirrored += np.multiply.outer(factors.conj() - factors, middle)
    rest = size[1] - half.shape[1]
    whole[:, half.shape[1] :] = mirrored[:, 1 : 1 + rest][:, ::-1].conj()
    correlation = whole @ across.T
    place = np.unravel_index(np.argmax(np.abs(correlation)), correlation.shape)
    return shift + steps[list(place)] / factor, complex(correlation[place])


def _along_columns(gpu: Gpu, spectrum: Image, factors: Array) -> Array:
    """The product of a matrix (places, rows) and a spectrum (1, rows, columns)."""
    _, rows, columns = spectrum.shape
    table = gpu.array(factors.astype(spectrum.dtype))
    result = gpu.empty((len(factors), columns), spectrum.dtype)
    gpu.compute(
        "registration", "dft_of_columns", (columns, len(factors)), spectrum, table, result, rows, columns,
        len(factors), group=256, label="dft of columns",
        traffic=spectrum.nbytes + table.nbytes + result.nbytes, REAL=_REALS[spectrum.dtype.name],
    )  # fmt: skip
    return result.numpy().astype(np.complex128)


def _row(spectrum: Image, row: int) -> Array:
    """A row of a spectrum of one plane."""
    columns = spectrum.shape[2]
    values = np.empty(columns, spectrum.dtype)
    spectrum.gpu.copy(values, spectrum.buffer, src_offset=row * columns * spectrum.dtype.itemsize)
    return values.astype(np.complex128)
