"""Reductions: the statistics of an image's luminance, of each channel, or of all of these, in one reading pass."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..errors import check_name
from ..gpu import Gpu
from ..image import Image
from ..operands import on_device
from ..pixels import coding as pixels
from ..pixels.coding import Decoding
from ..pixels.pointwise import Stage
from ..pixels.primaries import REC709_LUMINANCE
from .reduction import ReductionOptions, Statistics, prepared

__all__ = ["Statistics", "all_statistics", "channel_statistics", "statistics", "statistics_and_mip"]

METHODS = ("auto", "tiles", "direct")


# Channels that one reading can measure, at most.
_CHANNELS = 4


def statistics(
    gpu: Gpu,
    image: Image | npt.ArrayLike,
    *,
    decoding: Decoding | None = None,
    stages: Sequence[Stage] = (),
    weights: tuple[float, float, float] = REC709_LUMINANCE,
    histogram: bool = True,
    centre: bool = False,
    method: str = "auto",
) -> Statistics:
    """Returns statistics of the luminance of a gray or RGB image; alpha has no part in it.

    On one device every run gives the same bits. Between devices sums agree to about 1e-7; counts and the histogram
    agree exactly where the luminance does.

    Parameters
    ----------
    image : Image or array ([planes,] height, width)
        One colour plane, or three that ``weights`` join: Rec. 709's by default.
    decoding
        ``image`` is pixels (height, width, channels) as a file has them, whose light is measured.
    stages
        What light goes through before it is measured.
    histogram, centre
        Also count the histogram; also weigh for ``centre_mean``, about the centre of the whole picture if the Image is
        a part of one.
    method
        ``tiles``: tiles of 16 × 16 in local memory, then groups of 128 of their values until one is left (the
        Direct3D sample's method). ``direct``: long stretches in registers; the host adds up their values, some for
        each compute unit. ``auto``: direct.

    Raises
    ------
    ParameterError
        An image with neither one nor three colours or of more than 2³¹ − 1 pixels, or an unknown method.
    """
    check_name("method", method, METHODS)
    operand = _operand(gpu, image, decoding)
    how = ReductionOptions((*weights,), histogram, centre, tiled=method == "tiles", stages=(*stages,))
    return prepared(gpu, operand, decoding, how)(operand)[0]


def statistics_and_mip(
    gpu: Gpu,
    image: Image | npt.ArrayLike,
    *,
    decoding: Decoding | None = None,
    weights: tuple[float, float, float] = REC709_LUMINANCE,
    histogram: bool = True,
    centre: bool = False,
) -> tuple[Statistics, Image]:
    """Returns :func:`statistics`, and from the same reading the first level of a mip chain.

    That level is a planar float32 Image (colours, ⌈height / 2⌉, ⌈width / 2⌉): the means of 2 × 2 pixels' colours. At
    the end of an odd size they are means of the two pixels, or the one, that exist. NaN and infinities spread as in
    any sum.
    """
    operand = _operand(gpu, image, decoding)
    reduction = prepared(gpu, operand, decoding, ReductionOptions((*weights,), histogram, centre, mip=True))
    height, width = reduction.shape
    mip = gpu.empty((reduction.colours, (height + 1) // 2, (width + 1) // 2))
    mip.linear = operand.linear if decoding is None else decoding.linearise  # as pixels.unpack has it
    return reduction(operand, mip=mip)[0], mip


def all_statistics(
    gpu: Gpu,
    image: Image | npt.ArrayLike,
    *,
    decoding: Decoding | None = None,
    stages: Sequence[Stage] = (),
    weights: tuple[float, float, float] = REC709_LUMINANCE,
    histogram: bool = True,
) -> tuple[Statistics | None, tuple[Statistics, ...]]:
    """Returns statistics of luminance and of each channel, alpha included; up to four channels are read only once.

    Luminance is None for an image with neither one nor three colours; for gray it is that of its channel. The rest is
    as for :func:`statistics`.
    """
    operand = _operand(gpu, image, decoding)
    if decoding is not None and operand.shape[2] > _CHANNELS:
        operand, decoding = pixels.unpack(operand, decoding), None
    if decoding is None and operand.shape[0] > _CHANNELS:
        return None, channel_statistics(gpu, operand, histogram=histogram)
    how = ReductionOptions((*weights,), histogram, every=True, stages=(*stages,))
    reduction = prepared(gpu, operand, decoding, how)
    results, channels, colours = reduction(operand), reduction.channels, reduction.colours
    luminance = results[-1] if colours == 3 else results[0] if colours == 1 else None
    return luminance, results[:channels]


def channel_statistics(
    gpu: Gpu, image: Image | npt.ArrayLike, *, histogram: bool = True, method: str = "auto"
) -> tuple[Statistics, ...]:
    """Returns statistics of each plane by itself, alpha included. The rest is as for :func:`statistics`."""
    check_name("method", method, METHODS)
    operand = on_device(gpu, image)
    planes, height, width = operand.shape
    first = Image(gpu, operand.buffer, (1, height, width), operand.dtype)
    how = ReductionOptions(histogram=histogram, every=True, tiled=method == "tiles")
    reduction = prepared(gpu, first, None, how)
    return tuple(reduction(operand, plane=plane)[0] for plane in range(planes))


def _operand(gpu: Gpu, image: Image | npt.ArrayLike, decoding: Decoding | None) -> Image:
    """Returns planes, or with ``decoding`` pixels, on the device."""
    if decoding is None:
        return on_device(gpu, image)
    if isinstance(image, Image):
        gpu.check_own(image)
        return image
    return pixels.on_device(gpu, np.asarray(image))
