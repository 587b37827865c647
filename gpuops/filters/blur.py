"""Blurs: Gaussian, box and median, following scipy.ndimage; disc, motion and the bilateral filter."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError
from ..gpu import Gpu
from ..image import Image
from ..operands import on_device, shaped_like, two_ended
from ..params.blur import LEAST_MULTIRATE, BlurParams
from ..passes import Reach
from ..pixels.coding import Decoding, Encoding, pack, unpack
from ..tiles.rectangles import rows_of, rows_of_pixels
from . import separable
from .both_axes import CHANNELS, NEAR
from .separable import Taps, convolve_axes, convolve_pixels

# The sigmas from which on coarse grids are faster, on GPUs and on CPUs (measured: H200, PoCL).
_LEAST_AUTO = 4.2, 5.5


def blur(gpu: Gpu, image: Image, params: BlurParams, *, overwrite_input: bool = False) -> Image:
    """Blurs every plane of a planar float32 Image; alpha is blurred like any other plane.

    Colours are expected premultiplied by alpha where there is one. Where no axis is blurred, the input itself is the
    result. With ``overwrite_input`` the result takes the input's memory, and a large image needs no more memory besides
    than that of a plane or a coarse grid. The result is a new image, however, if an image is blurred along one axis by
    sums, for ``method="fft"``, and for kinds other than the Gaussian.
    Source of the weights: exp(−x²/2σ²), normalised as in scipy.ndimage.gaussian_filter, and cut so with ``truncate``.
    """
    image.check_planar()
    if not any(params.radii):
        return image
    # The kinds are imported when they are used: a command needs one of them, and waits for no other.
    if params.kind == "median":
        from .median import median

        return median(gpu, image, params.radii, params.border, params.cval)
    if params.kind == "bilateral":
        from .bilateral import bilateral

        return bilateral(gpu, image, params.bilateral)
    if _by_sums_of_sums(gpu, params):
        from .box import Box, box

        return box(gpu, image, Box(params.radii, params.border, params.cval))
    if params.by_both_axes:
        from .convolve import convolve
        from .point_spread import weights

        kernel = weights(params)
        return convolve(gpu, image, kernel, mode=params.border, cval=params.cval, method=params.method)
    if _coarse(gpu, image.of_whole, params):
        from . import multirate

        into = image if overwrite_input else None
        return multirate.gaussian(gpu, image, multirate.whole(params.sigma), params.border, params.cval, into)
    if not overwrite_input:  # to prepare a launch takes several times as long as to repeat it
        key = ("blur", params, image.shape, image.alpha)
        (step,) = gpu.kept(key, lambda: (separable.prepared(gpu, image, _taps(params)),))
        if step is not None:
            result = image.like()
            step(image, result)
            return result
    return convolve_axes(gpu, image, _taps(params), overwrite_input=overwrite_input)


def blur_pixels(
    gpu: Gpu,
    pixels: Image,
    params: BlurParams,
    decoding: Decoding,
    encoding: Encoding,
    rows: tuple[int, int] | None = None,
) -> tuple[Image, Image]:
    """Blurs pixels (height, width, channels) of a file's depth to such pixels, all on the device.

    ``rows`` are the first and the end of the picture's rows that are wanted, of pixels that are a part of it and have
    all rows that these need; by default all of the pixels' rows are.

    Also returns the counters of values that did not fit: see :func:`gpuops.pixels.coding.losses`.
    """
    height, width, channels = pixels.shape
    whole, start = (height, 0) if pixels.part is None else (pixels.part.height, pixels.part.first)
    wanted = (0, height) if rows is None else (rows[0] - start, rows[1] - start)
    coarsely = _coarse(gpu, (channels, whole, width), params)
    if coarsely and channels <= CHANNELS and gpu.limits.is_cpu:
        from . import multirate

        left = multirate.whole(params.sigma)
        return multirate.gaussian_of_pixels(
            gpu, pixels, decoding, encoding, left, params.border, params.cval, wanted
        )
    if params.kind == "median" and not decoding.premultiply and params.border != "constant":
        from .median import median

        # Codes have the same order as light, so the median is taken of codes: it is faster with few bits.
        codes = median(gpu, pixels, params.radii, params.border, interleaved=True)
        pixels = rows_of_pixels(codes, wanted[0], wanted[1] - wanted[0])
        if encoding.undoes(decoding, pixels.dtype):
            return pixels, gpu.zeros((2,), np.uint32)
        return pack(unpack(pixels, decoding), encoding)
    separable = params.kind in ("gaussian", "box") and params.method in ("auto", "local", "direct")
    if separable and not coarsely and not _by_sums_of_sums(gpu, params):
        return convolve_pixels(gpu, pixels, _taps(params), decoding, encoding, wanted)
    planes = unpack(pixels, decoding)
    planes.part = pixels.part
    result = blur(gpu, planes, params, overwrite_input=True)
    return pack(rows_of(result, wanted[0], wanted[1] - wanted[0]), encoding)


def _by_sums_of_sums(gpu: Gpu, params: BlurParams) -> bool:
    """Says whether the blur is a box that is made by sums of sums."""
    wide = gpu.limits.is_cpu or max(params.radii) > NEAR
    return params.kind == "box" and params.method == "auto" and wide


@lru_cache(maxsize=16)
def _taps(params: BlurParams) -> Taps:
    y, x = (np.array(params.weights(axis)) for axis in (0, 1))
    return Taps((y, x), params.border, params.cval, params.method, params.kind)


def _coarse(gpu: Gpu, shape: tuple[int, ...], params: BlurParams) -> bool:
    """Says whether the blur is a Gaussian that is made on a coarse grid."""
    whole = params.kind == "gaussian" and params.truncate is None
    least = _LEAST_AUTO[gpu.limits.is_cpu] if params.method == "auto" else LEAST_MULTIRATE
    wide = params.method in ("auto", "multirate") and max(params.sigma) >= least
    if not (whole and wide):
        return False
    from . import coarse

    return coarse.is_coarser(shape, params.sigma, params.border)


def reach(gpu: Gpu, shape: tuple[int, ...], params: BlurParams) -> Reach:
    """Returns how far values have an effect, for planes of ``shape``."""
    if _coarse(gpu, shape, params):
        from . import multirate

        far = multirate.reach(shape, multirate.whole(params.sigma), params.border)
        return Reach(far, far, again=False)
    # A median's value is one of many in a window, and what is not finite has no weight for the bilateral filter.
    repaired = params.kind in ("median", "bilateral")
    exact = not (params.by_both_axes or _by_sums_of_sums(gpu, params))
    return Reach(params.radii[0], 0 if repaired else max(params.radii), again=repaired, exact=exact)


@two_ended
def gaussian_filter(
    gpu: Gpu,
    input: Image | npt.ArrayLike,
    sigma: float | Sequence[float],
    *,
    mode: str = "reflect",
    cval: float = 0.0,
    truncate: float | None = None,
) -> Image | npt.NDArray[np.generic]:
    """Blurs by a Gaussian over the last two axes, as scipy.ndimage.gaussian_filter of order 0.

    Parameters
    ----------
    input : array (..., height, width) or Image
        Real; computed in float32.
    sigma : float or (y, x)
        Standard deviation in pixels.
    mode, cval
        As in scipy.ndimage: reflect, mirror, nearest, wrap, constant.
    truncate : float, optional
        The distance, in sigmas, at which the Gaussian is cut: scipy's default is 4, with an error of 1e-4. With None it
        is cut where that hardly matters, within 5e-5 of the peak, and the time is the same for any sigma.

    Returns
    -------
    float32 array of the input's shape, or an Image for an Image.

    Raises
    ------
    ParameterError
        A negative or non-finite sigma, an unknown mode, an array without elements.
    """
    params = BlurParams(sigma=_pair(sigma, "sigma"), border=mode, cval=cval, truncate=truncate)
    return shaped_like(input, blur(gpu, on_device(gpu, input), params))


@two_ended
def uniform_filter(
    gpu: Gpu,
    input: Image | npt.ArrayLike,
    size: int | Sequence[int] = 3,
    *,
    mode: str = "reflect",
    cval: float = 0.0,
) -> Image | npt.NDArray[np.generic]:
    """Returns means over an odd ``size`` × ``size`` (or (y, x)) box of the last two axes, as in scipy.ndimage.

    Raises ParameterError for a size that is even, negative or no whole number; the rest is as :func:`gaussian_filter`.
    """
    y, x = _pair(size, "size")
    if not all(n >= 1 and n % 2 == 1 for n in (y, x)):
        raise ParameterError(f"the box must have an odd size of 1 or more, not {size}")
    params = BlurParams(kind="box", radius=(int(y) // 2, int(x) // 2), border=mode, cval=cval)
    return shaped_like(input, blur(gpu, on_device(gpu, input), params))


def _pair(value: object, name: str) -> tuple[float, float]:
    """Returns (y, x) from one number for both axes, or from two."""
    numbers = np.asarray(value)
    if numbers.dtype.kind not in "uif" or numbers.shape not in ((), (1,), (2,)):
        raise ParameterError(f"{name} must be a number or two, (y, x), not {value!r}")
    y, x = np.broadcast_to(numbers, 2).tolist()
    return float(y), float(x)
