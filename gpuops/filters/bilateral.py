"""Bilateral filter: a blur that keeps edges, exact (no grid, no bins), at a cost that grows with the window's area.

For wide windows there is :mod:`gpuops.filters.bilateral_grid`.
"""

from __future__ import annotations

from math import e, log2

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError
from ..gpu import Gpu, Kernel, Local
from ..image import Image
from ..operands import on_device, shaped_like, two_ended
from ..params.bilateral import BilateralParams
from ..params.border import define

# The kernel's source files.
_SOURCE = ("border", "bilateral")
# Columns of a tile on CPUs with vectors, at most and at least.
_STRIP, _NARROWEST = 128, 16
# Rows of a tile on CPUs with vectors.
_BAND = 32
# Work-items of a group on other devices, along rows and down columns.
_GROUP = (32, 8)
# Bytes of local memory of a group, at most, so that several groups run at once.
_MOST_LOCAL = 32768
# The pitch by which bilateral_direct packs a tap's row and column into one number.
_DIRECT_PITCH = 1 << 16
# The least sigma_spatial that weights are computed with.
_LEAST = 1e-30
# The least exponent of a weight, so that float32 holds it.
_NEVER = -1e30


def bilateral(gpu: Gpu, image: Image, params: BilateralParams) -> Image:
    """Applies the bilateral filter to a planar float32 Image.

    The colour planes have one weight together, by the Euclidean distance of the colours; alpha, where there is one, is
    averaged by the same weights but is no part of the distance. Colours are expected premultiplied by alpha, so that
    the distance is between what pixels show, and colours and alpha stay in step. A pixel with a value that is not
    finite weighs nothing elsewhere, and its own result is itself. Where the window is one pixel or a sigma is 0, the
    input itself is the result.

    The error is within 2e-6 of the range of values in the window, and within 1e-5 for windows of more than 65 pixels,
    whose thousands of terms are summed one after the other. Source: Tomasi & Manduchi, "Bilateral filtering for gray
    and color images", ICCV 1998.
    """
    image.check_planar()
    if not (params.radius and params.sigma_color and params.sigma_spatial):
        return image
    planes, height, width = image.shape
    wide = gpu.limits.lanes > 1  # false on llvmpipe, whose loops end after 65535 rounds
    at_once = 2 if wide and planes > 1 else 4  # rows at a time: as many as registers hold (measured)
    defines = {**define(params.border), "COLOURS": image.colours, "ALPHA": image.alpha}
    kernel = gpu.kernel(_SOURCE, "bilateral", ROWS=at_once, WIDE=wide, **defines)
    tile = _tile(kernel, at_once, planes, params.radius, wide=wide)
    taps, exponents = _taps(params, _DIRECT_PITCH if tile is None else tile[1] + 2 * params.radius)
    tables, result = (gpu.array(taps), gpu.array(exponents)), image.like()
    scale, cval = (log2(e) / 2) ** 0.5 / params.sigma_color, float(params.cval)
    if tile is None:
        gpu.compute(
            _SOURCE, "bilateral_direct", (width, height), image, *tables, result, height, width, params.radius,
            len(taps), scale, cval, group=_GROUP, label="bilateral direct", ROWS=1, **defines,
        )  # fmt: skip
        return result
    rows, columns = tile
    local = (1, 1) if wide else (columns, rows // at_once)
    groups = -(-width // columns), -(-height // rows)
    gpu.launch(
        kernel, (groups[0] * local[0], groups[1] * local[1]), image, *tables, result, height, width, params.radius,
        len(taps), columns, rows, columns + 2 * params.radius, scale, cval,
        Local(_bytes(planes, rows, columns, params.radius)), local=local, label="bilateral",
    )  # fmt: skip
    return result


@two_ended
def denoise_bilateral(
    gpu: Gpu,
    image: Image | npt.ArrayLike,
    *,
    sigma_color: float,
    sigma_spatial: float = 1.0,
    win_size: int | None = None,
    window: str = "square",
    mode: str = "reflect",
    cval: float = 0.0,
    channel_axis: int | None = None,
) -> Image | npt.NDArray[np.generic]:
    """Applies a bilateral filter, with the names of skimage.restoration.denoise_bilateral, but exact.

    Distances of colours are neither put into bins nor divided by the number of colours, as they are in skimage 0.26.

    Parameters
    ----------
    image : array (height, width), or of three axes with ``channel_axis``; or Image
        Real; computed in float32. Values that are not finite have no weight but in their own place, where they stay.
    sigma_color : float
        Standard deviation of the colour's Euclidean distance, in the image's units; 0 leaves the image as it is.
    sigma_spatial : float
        Standard deviation of the distance in pixels; 0 leaves the image as it is.
    win_size : int, optional
        Odd width of the window; max(5, 2⌈3·sigma_spatial⌉ + 1) by default. The time grows with its square.
    window : str
        ``square``, as in skimage, or ``round``, as in OpenCV.
    mode, cval
        As in scipy.ndimage: reflect, mirror, nearest, wrap, constant. (skimage's default is constant, 0.)
    channel_axis : int, optional
        The axis of an array's colours, which have one weight together. An Image's are its planes.

    Returns
    -------
    float32 array of the input's shape, or an Image for an Image.

    Raises
    ------
    ParameterError
        A sigma that is negative or not finite, an even window or one of more than 255 pixels, an unknown window or
        mode, an array without elements or of other axes.
    """
    params = BilateralParams(sigma_color, sigma_spatial, win_size, window, mode, cval)
    if isinstance(image, Image):
        if channel_axis is not None:
            raise ParameterError("channel_axis is for arrays: an Image's colours are its planes")
        return bilateral(gpu, on_device(gpu, image), params)
    array = np.asarray(image)
    if array.ndim != (2 if channel_axis is None else 3):
        wanted = "two axes, or three with channel_axis" if channel_axis is None else "three axes"
        raise ParameterError(f"an array of {wanted} is needed, not of shape {array.shape}")
    if channel_axis is None:
        return shaped_like(array, bilateral(gpu, on_device(gpu, array), params))
    if not -3 <= channel_axis < 3:
        raise ParameterError(f"an array of three axes has no axis {channel_axis}")
    planes = np.moveaxis(array, channel_axis, 0)
    return np.moveaxis(bilateral(gpu, on_device(gpu, planes), params).numpy(), 0, channel_axis)


def _bytes(planes: int, rows: int, columns: int, radius: int) -> int:
    """Returns the bytes of local memory for a tile of results, with a margin of ``radius`` around them."""
    return 4 * planes * (rows + 2 * radius) * (columns + 2 * radius)


def _tile(kernel: Kernel, at_once: int, planes: int, radius: int, *, wide: bool) -> tuple[int, int] | None:
    """Returns rows and columns of the largest tile that fits local memory, in whole multiples of ``at_once`` rows."""
    most = kernel.gpu.limits.local_bytes
    columns, rows, narrowest = _STRIP, _BAND, _NARROWEST
    if not wide:
        columns, items = kernel.fit(*_GROUP)
        rows, narrowest, most = items * at_once, columns, min(_MOST_LOCAL, most)
    while _bytes(planes, rows, columns, radius) > most:
        if rows > at_once:
            rows //= 2
        elif columns > narrowest:
            columns //= 2
        else:
            return None
    return rows, columns


def _taps(params: BilateralParams, pitch: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """Returns the places of the window's samples except the middle one, and their weights' logarithms (base 2)."""
    radius = params.radius
    y, x = (np.arange(-radius, radius + 1)[at] for at in (np.s_[:, None], np.s_[None, :]))
    inside = (abs(x) <= np.array(params.reaches)[:, None]) & ((y != 0) | (x != 0))
    offsets, squares = (y + radius) * pitch + x + radius, y * y + x * x
    exponents = np.maximum(-log2(e) / 2 * squares[inside] / max(params.sigma_spatial, _LEAST) ** 2, _NEVER)
    return offsets[inside].astype(np.int32), exponents.astype(np.float32)
