"""The transform in place, nearly as fast as out of place: each level overwrites strips by their low and high halves.

Low and high rows alternate, as even and odd rows did. Along a row each strip of columns becomes a low and a high half,
and the next level takes the low halves for its image, in runs half as long. Nothing is permuted: a coefficient's place
is computed. Samples that a tile needs after its neighbours have overwritten them are put aside before, at each level
anew: at most 2 % of a large image, and a quarter of a small one, which has too few rows for bands of many groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..errors import ParameterError
from ..image import Image
from ..params.dwt import DwtParams
from ..records import dataclass
from .blocks import BandInBlock, regions
from .extension import TYPES
from .level import MOST, Level, LevelLayout

_STRIP = 10  # binary logarithm of a strip's columns, if groups have as many
_RUN = 3  # binary logarithm of the columns of the shortest run, which one work-item has

Shape = tuple[int, int]


def decompose(image: Image, params: DwtParams, levels: int) -> None:
    """All levels of an Image (planes, height, width), float32 or float64, which is overwritten: see :func:`places`.

    ``params``: a wavelet with lifting steps, the mode ``mirror``, or ``periodization`` for lengths that stay even.
    Raises ParameterError for other parameters, or more levels than :func:`most_levels`.
    """
    for layout, shape in _levels(image, params, levels):
        _level(image, params, layout, shape, inverse=False).run(image)


def recompose(image: Image, params: DwtParams, levels: int) -> None:
    """The inverse of :func:`decompose`, over the same memory."""
    for layout, shape in reversed(_levels(image, params, levels)):
        _level(image, params, layout, shape, inverse=True).run(image)


def most_levels(image: Image, params: DwtParams) -> int:
    """The most levels that there can be: eight, or fewer if the device's groups are small."""
    return _strip(image, params) - _RUN + 1


def places(image: Image, params: DwtParams, levels: int) -> Sequence[BandInStrips | BandInBlock]:
    """The places of the bands that :func:`decompose` has left: cA, the coarsest cH, cV, cD, …"""
    bands = [*_places(_levels(image, params, levels))]
    return bands or [BandInBlock((0, 0), image.shape[1:])]


@dataclass(frozen=True)
class BandInStrips:
    """The place of a band in the strips of a level of ``width`` columns: in ``odd`` rows, in ``high`` halves."""

    layout: LevelLayout
    width: int
    size: Shape
    odd: int
    high: int

    def copy(self, image: Image, rows: slice) -> Image:
        """Rows of the band."""
        band = image.like((image.shape[0], rows.stop - rows.start, self.size[1]))
        _move(image, self, band, first=rows.start)
        return band

    def put(self, image: Image, band: Image) -> None:
        """Overwrites the band."""
        _move(image, self, band, back=True)


def _places(levels: Sequence[tuple[LevelLayout, Shape]]) -> Iterator[BandInStrips]:
    """The places of all bands: cA, the coarsest cH, cV, cD, and so on."""
    for number, (layout, (height, width)) in enumerate(reversed(levels)):
        for odd, high in ((0, 0), (1, 0), (0, 1), (1, 1))[number > 0 :]:
            yield BandInStrips(layout, width, ((height + 1 - odd) // 2, (width + 1 - high) // 2), odd, high)


def _levels(image: Image, params: DwtParams, levels: int) -> list[tuple[LevelLayout, Shape]]:
    """For each level, the layout of its image, and its height and width."""
    _, height, width = image.shape
    if image.dtype.name not in ("float32", "float64"):
        raise ParameterError(f"the method strip takes float32 and float64, not {image.dtype}")
    if height * width >= MOST:
        raise ParameterError(f"the method strip takes less than {MOST} samples a plane: use lifting")
    strip = _strip(image, params)
    most = most_levels(image, params)
    if levels > most:
        raise ParameterError(f"the method strip takes {most} levels at most, not {levels}: use lifting")
    return [
        (LevelLayout(strip, strip - level, width << level, height * width), shape)
        for level, shape in enumerate(regions((height, width), params, levels))
    ]


def _strip(image: Image, params: DwtParams) -> int:
    """The binary logarithm of a strip's columns: as many as the smaller one of the transform's and the inverse's groups
    has."""
    _, height, width = image.shape
    wanted = LevelLayout(_STRIP, _STRIP, width, height * width)
    strip = _STRIP
    for inverse in (False, True):
        _, items = _level(image, params, wanted, (height, width), inverse=inverse).required_group
        strip = min(strip, (items << _RUN).bit_length() - 1)
    return strip


def _level(image: Image, params: DwtParams, layout: LevelLayout, shape: Shape, *, inverse: bool) -> Level:
    """A level that overwrites an image of ``shape``, which lies in the buffer of ``image`` by ``layout``."""
    return Level(image.gpu, params, image.dtype, image.shape[0], shape, inverse, layout).prepared()


def _move(image: Image, at: BandInStrips, band: Image, *, first: int = 0, back: bool = False) -> None:
    """Copies a band of one level, or its rows from the ``first`` on, from the strips, or ``back`` to them."""
    planes, height, width = band.shape
    if not band.nbytes:
        return
    pitch, layout = at.layout.pitch, at.layout.vector(at.width)
    image.gpu.compute(
        ("dwt_layout", "dwt_strips"), "band_of_strips", (width, height, planes), image, 2 * pitch, layout, band, height,
        width, np.uint64(at.layout.plane), (at.odd + 2 * first) * pitch, at.high, group=64, label="dwt strips",
        traffic=2 * band.nbytes, S=TYPES[image.dtype.name], STRIPS=True, BACK=back,
    )  # fmt: skip
