"""A picture of all bands: the pyramid of approximation and details, each with a contrast of its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from ..image import Image
from ..tiles import memory
from ..tiles.ends import Anywhere, Sink, end_of
from ..tiles.slabs import Slab, stream
from . import bands, statistics

_SHARE = 0.05  # the part of a band's coefficients that is shown more than half way to black or white
_SPARSE = 3.0  # the divisor of the largest coefficient, if a smaller part than _SHARE is not zero
_ROUNDING = 1e-5  # the part of the image's median below which details are hardly anything but rounding errors
_THIN = 1024  # the widest picture, in pixels, whose lines are one pixel wide


def size(coefficients: Sequence[Anywhere]) -> tuple[int, int, int]:
    """(colours, height, width) of the picture of bands."""
    _, (height, width) = layout([band.shape[1:] for band in coefficients])
    return coefficients[0].shape[0] - coefficients[0].alpha, height, width


def paint(coefficients: Sequence[Anywhere], sink: Sink, white: float = 1.0) -> None:
    """Paints bands side by side: cV to the right of the coarser bands, cH below, cD at the bottom right, with thin
    black lines between them.

    Zero is mid gray and fine structure stays visible (see ``paint`` in dwt_bands.cl). The approximation is shown as
    the image it is; ``white`` is its brightest value before any level. Alpha is left out; values are encoded.
    """
    gain = 2.0 ** (len(coefficients) // 3)
    if coefficients[0].dtype.kind == "i":
        coefficients, gain = [bands.as_floats(band) for band in coefficients], 1.0
    gpu, (colours, height, width) = coefficients[0].gpu, sink.shape
    places, _ = layout([band.shape[1:] for band in coefficients])
    painted = list(zip(coefficients, places, looks(coefficients, gain, white), strict=True))
    turns = memory.turns(gpu, height, 4 * colours * width)
    if isinstance(coefficients[0], Image):
        turns = [slice(0, height)]

    def strip(slab: Slab, _: Sequence[Image]) -> list[Image]:
        result = gpu.zeros((colours, slab.stop - slab.start, width))
        result.linear = False
        for band, place, look in painted:
            top, bottom = max(slab.start, place.top), min(slab.stop, place.top + place.height)
            if top < bottom:
                # Where its place is larger than the band there are no rows of it.
                rows = slice(*(min(at - place.top, band.shape[1]) for at in (top, bottom)))
                there = BandPlace(top - slab.start, place.left, bottom - top, place.width)
                _paint(end_of(band).rows(rows), result, there, look)
        return [result]

    slabs = [Slab(at.start, at.stop, at.start, at.stop) for at in turns]
    stream(gpu, [], [(sink, 1)], slabs, strip)


class BandPlace(NamedTuple):
    """The place of a band in the picture."""

    top: int
    left: int
    height: int
    width: int


class Look(NamedTuple):
    """The way in which a band is painted: see ``paint`` in dwt_bands.cl."""

    scale: float
    knee: float


def layout(shapes: Sequence[tuple[int, ...]]) -> tuple[list[BandPlace], tuple[int, int]]:
    """A place for each band, by their (height, width), and the picture's size.

    The coarser bands may need more room than the bands beside them.
    """
    (top, left), details = shapes[0], [shapes[i : i + 3] for i in range(1, len(shapes), 3)]
    gap = 2 if details and 2 * max(details[-1][2]) > _THIN else 1
    places = [BandPlace(0, 0, top, left)]
    for horizontal, vertical, diagonal in details:
        height, width = top, left
        top, left = top + gap, left + gap
        below, beside = max(horizontal[0], diagonal[0]), max(vertical[1], diagonal[1])
        places += [
            BandPlace(top, 0, below, width),
            BandPlace(0, left, height, beside),
            BandPlace(top, left, below, beside),
        ]
        top, left = top + below, left + beside
    return places, (top, left)


def looks(every: Sequence[Anywhere], gain: float, white: float) -> list[Look]:
    """The look of each band. Each level multiplies a constant by √2 along both axes: all levels by ``gain``, which is 1
    for whole numbers."""
    approximation, *rest = every
    colours = approximation.shape[0] - approximation.alpha
    typical = float(statistics.medians(approximation)[:colours].mean()) / gain
    knees = (max(_knee(band, colours), _ROUNDING * typical, 1e-30) for band in rest)
    return [Look(1.0 / (gain * white), 0.0), *(Look(1.0, knee) for knee in knees)]


def _knee(band: Anywhere, colours: int) -> float:
    """The magnitude that is shown half way: few coefficients exceed it, or one bright lamp would make all others
    gray."""
    count = colours * math.prod(band.shape[1:])
    if not count:
        return 1.0
    value, _ = statistics.largest([band], colours, max(1, round(_SHARE * count)))
    if value == 0.0:  # a smaller part is not zero
        value = statistics.largest([band], colours, 1)[0] / _SPARSE
    return value


def _paint(band: Image, result: Image, place: BandPlace, look: Look) -> None:
    if not place.height or not place.width:
        return
    planes = result.shape[0]
    sources = ("lanes", "colour", "dwt_bands") if band.linear else "dwt_bands"
    result.gpu.compute(
        sources, "paint", (place.width, place.height, planes), band, result, planes, *band.shape[1:], place.height,
        place.width, *result.shape[1:], place.top, place.left, *look, group=64, label="dwt paint",
        traffic=8 * planes * place.height * place.width, WIDTH=1 if band.linear else None, ENCODE=band.linear,
    )  # fmt: skip
