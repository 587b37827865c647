"""A picture of all bands: the pyramid of approximation and details, each with a contrast of its own."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..image import Image
from . import bands, statistics
from .transform import Details, flat, nested

_SHARE = 0.05  # of a band's coefficients are shown more than half way to black or white
_SPARSE = 3.0  # where fewer are not zero: what the largest is divided by
_ROUNDING = 1e-5  # of the image's median: what is less than this is hardly anything but rounding errors
_THIN = 1024  # pixels of a picture whose lines are one wide


def picture(approximation: Image, details: Sequence[Details[Image]], white: float = 1.0) -> Image:
    """The bands side by side: cV to the right of what is coarser, cH below, cD between, thin black lines between.

    Zero is mid gray and fine structure stays visible (see ``paint`` in dwt_bands.cl). The approximation is shown as
    the image it is; ``white`` is its brightest value before any level. Alpha is left out; values are encoded.
    """
    # Each level multiplies a constant by √2 along both axes, except in whole numbers, where it stays.
    gain = 2.0 ** len(details)
    if approximation.dtype.kind == "i":
        gain = 1.0
        every = [bands.from_levels(band, 1) for band in flat(approximation, details)]
        approximation, details = nested(every)
    gpu, planes = approximation.gpu, approximation.colours
    gap = 2 if details and 2 * max(details[-1][2].shape[1:]) > _THIN else 1
    top, left = approximation.shape[1:]
    # A place for each band. Those of what is coarser may need more room than the bands beside it.
    places = [(approximation, 0, 0, top, left)]
    for horizontal, vertical, diagonal in details:
        height, width = top, left
        top, left = top + gap, left + gap
        below, beside = max(horizontal.shape[1], diagonal.shape[1]), max(vertical.shape[2], diagonal.shape[2])
        places += [
            (horizontal, top, 0, below, width),
            (vertical, 0, left, height, beside),
            (diagonal, top, left, below, beside),
        ]
        top, left = top + below, left + beside
    result = gpu.zeros((planes, top, left))
    result.linear = False
    typical = float(statistics.medians(approximation)[:planes].mean()) / gain
    for band, *place in places:
        if band is approximation:
            _paint(band, result, *place, scale=1.0 / (gain * white), knee=0.0)
        else:
            _paint(band, result, *place, scale=1.0, knee=max(_knee(band), _ROUNDING * typical, 1e-30))
    return result


def _knee(band: Image) -> float:
    """The magnitude that is shown half way: few exceed it, lest one bright lamp makes all others gray."""
    count = band.colours * math.prod(band.shape[1:])
    if not count:
        return 1.0
    value, _ = statistics.largest([band], band.colours, max(1, round(_SHARE * count)))
    if value == 0.0:  # fewer are not zero
        value = statistics.largest([band], band.colours, 1)[0] / _SPARSE
    return value


def _paint(
    band: Image, result: Image, top: int, left: int, height: int, width: int, *, scale: float, knee: float
) -> None:
    if not height or not width:
        return
    kernel = bands.kernel(band.gpu, "paint", encode=band.linear)
    planes = result.shape[0]
    result.gpu.launch(
        kernel, (width, height, planes), band, result, planes, *band.shape[1:], height, width, *result.shape[1:], top,
        left, scale, knee, local=(*kernel.fit(64), 1, 1), label="dwt paint", traffic=8 * planes * height * width,
    )  # fmt: skip
