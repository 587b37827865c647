"""The transform in place, nearly as fast as out of place: each level overwrites strips by their low and high halves.

Low and high rows alternate, as even and odd rows did. Along a row each strip of columns becomes a low and a high half,
and the next level takes the low halves for its image, in runs half as long. Nothing is permuted: a coefficient's place
is computed. Samples that a tile needs after its neighbours have overwritten them are put aside before, at each level
anew: at most 2 % of a large image, and a quarter of a small one, which has too few rows for bands of many groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

import numpy as np

from ..errors import DeviceError, ParameterError
from ..image import Image
from ..params.dwt import DwtParams
from .level import MOST, SAMPLES, Layout, Level

_STRIP = 10  # binary logarithm of a strip's columns, if groups have as many
_RUN = 3  # binary logarithm of the columns of the shortest run, which one work-item has
# The most to put aside, as a part of the image: if that makes bands enough for half of the device's compute units, and
# otherwise. So many bands take as much memory whatever the image's size; a band on its way out takes a quarter later.
_ASIDE, _MORE_ASIDE = 0.0195, 0.25

Details = tuple[Image, Image, Image]
Shape = tuple[int, int]


def decompose(image: Image, params: DwtParams, levels: int) -> None:
    """All levels of an Image (planes, height, width), float32 or float64, which is overwritten: see :func:`split`.

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


def bands(image: Image, params: DwtParams, levels: int) -> tuple[Image, list[Details]]:
    """cA, [coarsest (cH, cV, cD), …] of an Image that stays as it is."""
    copy = image.like()
    copy.put(slice(0, image.shape[0]), image)
    decompose(copy, params, levels)
    return split(copy, params, levels)


def image_of(approximation: Image, details: Sequence[Details], params: DwtParams, shape: Shape) -> Image:
    """The inverse of :func:`bands`."""
    image = approximation.like((approximation.shape[0], *shape))
    levels = _levels(image, params, len(details))
    for (layout, size), (horizontal, vertical, diagonal) in zip(levels, reversed(details), strict=True):
        for band, odd, high in ((horizontal, 1, 0), (vertical, 0, 1), (diagonal, 1, 1)):
            _move(image, layout, size, band, odd, high, back=True)
    if levels:
        _move(image, *levels[-1], approximation, 0, 0, back=True)
    else:
        image.put(slice(0, image.shape[0]), approximation)
    recompose(image, params, len(details))
    return image


def split(image: Image, params: DwtParams, levels: int) -> tuple[Image, list[Details]]:
    """The bands of an Image that :func:`decompose` has overwritten: copies."""
    approximation, *rest = each(image, params, levels)
    return approximation, [(rest[i], rest[i + 1], rest[i + 2]) for i in range(0, len(rest), 3)]


def each(image: Image, params: DwtParams, levels: int) -> Iterator[Image]:
    """The bands of :func:`split` one after the other: cA, the coarsest cH, cV, cD, and so on."""
    found = _levels(image, params, levels)
    if not found:
        copy = image.like()
        copy.put(slice(0, image.shape[0]), image)
        yield copy
    for number, (layout, size) in enumerate(reversed(found)):
        low, high = (ceil(n / 2) for n in size), (n // 2 for n in size)
        (low_y, low_x), (high_y, high_x) = low, high
        places = ((low_y, low_x, 0, 0), (high_y, low_x, 1, 0), (low_y, high_x, 0, 1), (high_y, high_x, 1, 1))
        for rows, columns, odd, right in places[number > 0 :]:
            band = image.like((image.shape[0], rows, columns))
            _move(image, layout, size, band, odd, right, back=False)
            yield band
            del band


def _levels(image: Image, params: DwtParams, levels: int) -> list[tuple[Layout, Shape]]:
    """For each level, the layout of its image, and its height and width."""
    _, height, width = image.shape
    if image.dtype.name not in SAMPLES:
        raise ParameterError(f"the method strip takes float32 and float64, not {image.dtype}")
    if height * width >= MOST:
        raise ParameterError(f"the method strip takes less than {MOST} samples a plane: use lifting")
    strip = _strip(image, params)
    most = most_levels(image, params)
    if levels > most:
        raise ParameterError(f"the method strip takes {most} levels at most, not {levels}: use lifting")
    found = []
    for level in range(levels):
        shape = ceil(height / 2**level), ceil(width / 2**level)
        if params.mode == "periodization" and any(n % 2 for n in shape):
            raise ParameterError(
                f"the method strip under periodization needs even lengths on every level, not {shape[0]}×{shape[1]}: "
                "use mirror, or the method lifting"
            )
        found.append((Layout(strip, strip - level, width << level, height * width), shape))
    return found


def _strip(image: Image, params: DwtParams) -> int:
    """The binary logarithm of a strip's columns: as many as the smaller one of the transform's and the inverse's groups
    has."""
    planes, height, width = image.shape
    wanted = Layout(_STRIP, _STRIP, width, height * width)
    strip = _STRIP
    for inverse in (False, True):
        group = (
            Level(image.gpu, params, image.dtype, planes, (height, width), inverse, wanted).prepared().group
        )
        if group is None:
            raise DeviceError(
                f"{image.gpu.info.name} cannot run groups that are large enough: use --method lifting"
            )
        strip = min(strip, (group[1] << _RUN).bit_length() - 1)
    return strip


def _level(image: Image, params: DwtParams, layout: Layout, shape: Shape, *, inverse: bool) -> Level:
    """A level that overwrites an image of ``shape``, which lies in the buffer of ``image`` by ``layout``."""
    room, more = int(_ASIDE * image.nbytes), int(_MORE_ASIDE * image.nbytes)
    level = Level(image.gpu, params, image.dtype, image.shape[0], shape, inverse, layout, room, more)
    return level.prepared()


def _move(image: Image, layout: Layout, size: Shape, band: Image, odd: int, high: int, *, back: bool) -> None:
    """Copies a band of one level from the strips, or ``back`` to them."""
    planes, height, width = band.shape
    if not band.nbytes:
        return
    kernel = image.gpu.kernel(
        ("dwt_layout", "dwt_strips"), "band_of_strips", S=SAMPLES[image.dtype.name], STRIPS=True, BACK=back
    )
    image.gpu.launch(
        kernel, (width, height, planes), image, 2 * layout.pitch, layout.vector(size[1]), band, height, width,
        np.uint64(layout.plane), odd * layout.pitch, high, local=(*kernel.fit(64), 1, 1), label="dwt strips",
        traffic=2 * band.nbytes,
    )  # fmt: skip
