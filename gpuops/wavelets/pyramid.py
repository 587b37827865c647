"""A picture of all bands: the pyramid of approximation and details, each with a contrast of its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..image import Image
from ..pixels.coding import Encoding, Losses, losses, pack
from . import bands, statistics
from .parts import Band, HostBand
from .transform import Details, flat

_SHARE = 0.05  # the part of a band's coefficients that is shown more than half way to black or white
_SPARSE = 3.0  # the divisor of the largest coefficient, if a smaller part than _SHARE is not zero
_ROUNDING = 1e-5  # the part of the image's median below which details are hardly anything but rounding errors
_THIN = 1024  # the widest picture, in pixels, whose lines are one pixel wide


def picture(approximation: Image, details: Sequence[Details[Image]], white: float = 1.0) -> Image:
    """The bands side by side: cV to the right of the coarser bands, cH below, cD at the bottom right, with thin black
    lines between them.

    Zero is mid gray and fine structure stays visible (see ``paint`` in dwt_bands.cl). The approximation is shown as
    the image it is; ``white`` is its brightest value before any level. Alpha is left out; values are encoded.
    """
    every, gain = flat(approximation, details), 2.0 ** len(details)
    if approximation.dtype.kind == "i":
        every, gain = [bands.from_levels(band, 1) for band in every], 1.0
    places, size = layout([band.shape[1:] for band in every])
    result = approximation.gpu.zeros((approximation.colours, *size))
    result.linear = False
    for band, place, look in zip(every, places, looks(every, gain, white), strict=True):
        _paint(band, result, place, look)
    return result


def picture_split(
    found: Sequence[HostBand], encoding: Encoding, white: float = 1.0
) -> tuple[npt.NDArray[Any], Losses]:
    """:func:`picture` for bands on the host, as pixels (height, width, colours) there; and the losses."""
    gain = 2.0 ** (len(found) // 3)
    if found[0].array.dtype.kind == "i":
        gain, found = 1.0, [band.astype(np.float32) for band in found]
    places, (height, width) = layout([band.shape[1:] for band in found])
    colours = found[0].shape[0] - found[0].alpha
    pixels = np.zeros((height, width, colours), encoding.dtype)
    lost = Losses()
    for band, place, look in zip(found, places, looks(found, gain, white), strict=True):
        for at, part in band.parts():
            # The last part also fills the rows that the place has more than the band.
            rows = (place.height if at.stop == band.shape[1] else at.stop) - at.start
            shown = band.gpu.zeros((colours, rows, place.width))
            shown.linear = False
            _paint(part, shown, Place(0, 0, rows, place.width), look)
            codes, one = pack(shown, encoding)
            top = place.top + at.start
            pixels[top : top + rows, place.left : place.left + place.width] = codes.numpy()
            more = losses(one)
            lost = Losses(lost.clipped + more.clipped, lost.not_finite + more.not_finite)
    return pixels, lost


class Place(NamedTuple):
    """The place of a band in the picture."""

    top: int
    left: int
    height: int
    width: int


class Look(NamedTuple):
    """The way in which a band is painted: see ``paint`` in dwt_bands.cl."""

    scale: float
    knee: float


def layout(shapes: Sequence[tuple[int, ...]]) -> tuple[list[Place], tuple[int, int]]:
    """A place for each band, by their (height, width), and the picture's size.

    The coarser bands may need more room than the bands beside them.
    """
    (top, left), details = shapes[0], [shapes[i : i + 3] for i in range(1, len(shapes), 3)]
    gap = 2 if details and 2 * max(details[-1][2]) > _THIN else 1
    places = [Place(0, 0, top, left)]
    for horizontal, vertical, diagonal in details:
        height, width = top, left
        top, left = top + gap, left + gap
        below, beside = max(horizontal[0], diagonal[0]), max(vertical[1], diagonal[1])
        places += [
            Place(top, 0, below, width),
            Place(0, left, height, beside),
            Place(top, left, below, beside),
        ]
        top, left = top + below, left + beside
    return places, (top, left)


def looks(every: Sequence[Band], gain: float, white: float) -> list[Look]:
    """The look of each band. Each level multiplies a constant by √2 along both axes: all levels by ``gain``, which is 1
    for whole numbers."""
    approximation, *rest = every
    colours = approximation.shape[0] - approximation.alpha
    typical = float(statistics.medians(approximation)[:colours].mean()) / gain
    knees = (max(_knee(band, colours), _ROUNDING * typical, 1e-30) for band in rest)
    return [Look(1.0 / (gain * white), 0.0), *(Look(1.0, knee) for knee in knees)]


def _knee(band: Band, colours: int) -> float:
    """The magnitude that is shown half way: few coefficients exceed it, or one bright lamp would make all others
    gray."""
    count = colours * math.prod(band.shape[1:])
    if not count:
        return 1.0
    value, _ = statistics.largest([band], colours, max(1, round(_SHARE * count)))
    if value == 0.0:  # a smaller part is not zero
        value = statistics.largest([band], colours, 1)[0] / _SPARSE
    return value


def _paint(band: Image, result: Image, place: Place, look: Look) -> None:
    if not place.height or not place.width:
        return
    kernel = bands.kernel(band.gpu, "paint", encode=band.linear)
    planes = result.shape[0]
    result.gpu.launch(
        kernel, (place.width, place.height, planes), band, result, planes, *band.shape[1:], place.height, place.width,
        *result.shape[1:], place.top, place.left, *look, local=(*kernel.fit(64), 1, 1), label="dwt paint",
        traffic=8 * planes * place.height * place.width,
    )  # fmt: skip
