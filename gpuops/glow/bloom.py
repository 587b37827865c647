"""Bloom: bright light glows, as in lenses, film and eyes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError
from ..filters.convolve import Weights, convolve, kernel_for
from ..gpu import Gpu
from ..image import Image
from ..operands import check_colours
from ..operation import Measure, Reach
from ..params.bloom import BloomParams
from ..params.lut import LutParams
from ..params.tonemap import TonemapParams
from ..pixels.coding import Decoding, Encoding, pack, unpack
from ..tone import operators, tonemap
from . import mip as bloom_mip
from .by_rows import Coarse, KernelGlow, Shape, shown
from .light import composite, light_of, stretched, warn_of
from .mip_ends import Ends
from .octaves import columns


def bloom(
    gpu: Gpu,
    image: Image,
    params: BloomParams,
    kernel: Image | npt.NDArray[np.generic] | None = None,
    *,
    overwrite_input: bool = False,
) -> Image:
    """Lays the glow of bright light over a planar float32 Image of linear light, unclipped.

    With t the image's light above the threshold and g its glow, g = G∗t and ΣG = 1:
    ``energy``: image + strength·(g − t), so light moves and its sum stays (but for ``karis``, which takes light from
    single hot pixels); ``add``: image + strength·g. With ``energy`` constants stay constant.

    Colours are expected premultiplied by alpha where there is one. Alpha glows too, so that the glow covers
    transparent parts, but it never decreases. Strength 0 returns the input itself. Otherwise the result is finite:
    pixels with a NaN or an infinity give no glow (a GpuopsWarning counts them), and become 0 or ±65504.

    Parameters
    ----------
    kernel : Image or array (planes, height, width) or (height, width), optional
        G for ``method="fft"``: one plane for all colours, or one for each. It is used as it is: normalise it first.
        Without a kernel G is the starburst of ``params.aperture``.
    overwrite_input : bool
        The result takes the input's memory.

    Memory beside input and output: a third of an image for the mip chain, three images for the other methods. The
    transforms for starbursts are kept for the next image of the size: at most 7 images at 16:9, 10 if it is square.

    Raises
    ------
    ParameterError
        A kernel with another method than ``fft``.
    DeviceError
        Too little memory; for a starburst, too little local memory for the transforms' rows.
    """
    image.check_planar()
    if kernel is not None and params.method != "fft":
        raise ParameterError(f"a kernel image needs the method fft, not {params.method}")
    if params.strength == 0:
        return image
    result = image if overwrite_input else image.like()
    not_finite = gpu.zeros((1,), np.uint32)
    if params.method == "mip" and columns(params, *image.shape[1:]) == image.shape[2]:
        bloom_mip.over(Ends(image, result, not_finite), params)
    else:
        light, stays = light_of(gpu, image, params), 0.0
        if kernel is not None:
            glow = convolve(gpu, light, kernel, mode=params.border)
        elif params.method == "mip":
            glow, stays = _around(gpu, light, params)
        elif params.method == "gaussians":
            from . import gaussians

            glow = gaussians.glow_of(gpu, light, params)
        else:
            from . import starburst

            around = params.border == "wrap-x"
            glow = starburst.glow(gpu, light, params.aperture, params.radius, around=around)
        composite(gpu, image, glow, result, params, not_finite, stays)
    warn_of(int(not_finite.numpy()[0]))
    return result


def bloom_pixels(
    gpu: Gpu,
    pixels: Image,
    params: BloomParams,
    decoding: Decoding,
    encoding: Encoding,
    display: TonemapParams | None = None,
    *,
    kernel: Weights | None = None,
) -> tuple[Image, Image]:
    """Does bloom from pixels (height, width, channels) of a file's depth to such pixels, all on the device.

    With ``display`` the result is tone-mapped to light before it is encoded; so the display's transfer must be linear,
    and its dither None. The operator takes straight colours, as if the bloom's result had been stored in a file.

    Where the parameters' exposure is None, that of both is the one of :func:`gpuops.tone.tonemap.stops_of_pixels`.
    ``kernel``: a plane of weights for each colour or one for all, as of
    :func:`gpuops.filters.convolve.kernel_from_picture`.

    It warns as :func:`bloom` and :func:`gpuops.tone.tonemap.tonemap` do. It also returns the counters of values that
    did not fit: see :func:`gpuops.pixels.coding.losses`.

    Raises
    ------
    ParameterError
        The display has another transfer, dithers or balances, or pixels have no luminance.
    """
    channels = pixels.shape[2]
    if display is not None:
        if display.transfer != "linear" or display.dither is not None:
            raise ParameterError("pixels are tone-mapped to light: use the transfer linear, and no dither")
        if display.white_balance is not None:
            raise ParameterError("bloom has no white balance: tone-map its result by itself")
        check_colours(channels - decoding.alpha, channels, "tone mapping")
    known = display is None or not (operators.needs_image(display) or isinstance(display.operator, LutParams))
    fused = params.method == "mip" and bloom_mip.takes_pixels(gpu, params, pixels.shape)
    if params.exposure is None:
        stops = tonemap.stops_of_pixels(gpu, pixels, decoding)
        params, display = replace(params, exposure=stops), display and replace(display, exposure=stops)
    if not (fused and params.strength > 0 and known):
        image = unpack(pixels, decoding)
        shape = None if kernel is None else kernel_for(image, kernel)
        image = bloom(gpu, image, params, shape, overwrite_input=True)
        if display is None:
            return pack(image, encoding)
        return tonemap.tonemap_premultiplied(gpu, image, display, encoding)
    result = gpu.empty(pixels.shape, encoding.dtype)
    not_finite, lost, repaired = (gpu.zeros((count,), np.uint32) for count in (1, 2, 3))
    ends = Ends(pixels, result, not_finite, decoding, encoding, display, lost, repaired)
    bloom_mip.over(ends, params)
    warn_of(int(not_finite.numpy()[0]))
    tonemap.warn_of_repairs(*map(int, repaired.numpy()))
    return result, lost


def _around(gpu: Gpu, light: Image, params: BloomParams) -> tuple[Image, float]:
    """Returns the mip chain's glow for rows that go round, and the share of light that stays in its pixel.

    The width does not halve without a rest: the light is stretched to one that does, and the glow is stretched back.
    """
    _, height, width = light.shape
    glow = stretched(gpu, light, columns(params, height, width))
    stays = bloom_mip.glow_of(glow, params)
    return stretched(gpu, glow, width), stays


# -- what :mod:`gpuops.ops.bloom` says of itself ------------------------------------------------------------------


def reach(gpu: Gpu, shape: Shape, params: BloomParams) -> Reach:
    """Returns how many rows above and below a row of the result depends on, beside a coarse image of all rows."""
    if _has_no_glow(params):
        return Reach(0)
    way = _way(gpu, shape, params)
    return Reach(way.halo) if way else Reach()


def fixed_bytes(gpu: Gpu, shape: Shape, params: BloomParams) -> float:
    """Returns the bytes that stay taken on the device, or that transforms take beside the traits'."""
    if params.method == "fft" and params.kernel is None and params.preset is None:
        from . import starburst

        return starburst.nbytes(shape, params.radius)
    way = _way(gpu, shape, params)
    return way.fixed_bytes if way else 0.0


def measure(gpu: Gpu, shape: Shape, params: BloomParams) -> Measure | None:
    """Returns what is to be known of a whole picture next, if there is something."""
    if params.exposure is None:
        return tonemap.stops_by_rows(lambda exposure: replace(params, exposure=exposure))
    if _has_no_glow(params):
        return Measure(None, lambda _: shown(params))
    way = _way(gpu, shape, params)
    return way.measure() if way else None


def _has_no_glow(params: BloomParams) -> bool:
    """Says whether all that is done is tone mapping."""
    return params.strength == 0 and params.preset is None


def _way(gpu: Gpu, shape: Shape, params: BloomParams) -> Coarse | None:
    """Returns the way to make the glow of rows in parts, if there is one."""
    if params.preset is not None or params.strength == 0:
        return None
    if params.method == "mip":
        from .mip_rows import MipLevels

        return MipLevels(gpu, shape, params)
    if params.method == "gaussians":
        from .gaussians import Sum

        return Sum(gpu, shape, params)
    if params.kernel is not None:
        return KernelGlow(gpu, shape, params)
    return None
