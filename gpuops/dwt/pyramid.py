"""A picture of all bands: the pyramid of approximation and details, each with a contrast of its own."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..image import Image
from . import bands
from .statistics import mean_squares
from .transform import Details

_KNEE = 3.0  # a coefficient of this many times the band's RMS is shown half way to black or white


def picture(approximation: Image, details: Sequence[Details[Image]], white: float = 1.0) -> Image:
    """The bands side by side: cV to the right of what is coarser, cH below, cD between, thin black lines between.

    Zero is mid gray and fine structure stays visible (see ``paint`` in dwt_bands.cl). The approximation is shown as
    the image it is; ``white`` is its brightest value before any level. Alpha is left out; values are encoded.
    """
    gpu, planes = approximation.gpu, approximation.colours
    gap = 2 if details and max(details[-1][2].shape[1:]) > 512 else 1
    top, left = approximation.shape[1:]
    places = []
    for horizontal, vertical, diagonal in details:
        top, left = top + gap, left + gap
        places += [(horizontal, top, 0), (vertical, 0, left), (diagonal, top, left)]
        top += max(horizontal.shape[1], diagonal.shape[1])
        left += max(vertical.shape[2], diagonal.shape[2])
    result = gpu.zeros((planes, top, left))
    result.linear = False
    # Each level multiplies a constant by √2 along both axes, except in whole numbers, where it stays.
    gain = 1.0 if approximation.dtype.kind == "i" else 2.0 ** len(details)
    _paint(approximation, result, 0, 0, scale=1.0 / (gain * white), knee=0.0)
    for band, y, x in places:
        rms = math.sqrt(max(0.0, float(mean_squares([band])[0, :planes].mean()))) if band.nbytes else 0.0
        _paint(band, result, y, x, scale=1.0, knee=max(_KNEE * rms, 1e-30))
    return result


def _paint(band: Image, result: Image, top: int, left: int, *, scale: float, knee: float) -> None:
    height, width = band.shape[1:]
    if not band.nbytes:
        return
    kernel = bands.kernel(band, "paint", encode=band.linear)
    planes = result.shape[0]
    result.gpu.launch(
        kernel, (width, height, planes), band, result, planes, height, width, *result.shape[1:], top, left, scale, knee,
        local=(*kernel.fit(64), 1, 1), label="dwt paint", traffic=8 * planes * height * width,
    )  # fmt: skip
