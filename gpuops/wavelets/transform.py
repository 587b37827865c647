"""The two-dimensional transform on device images: one level, all levels, and the shapes that belong together.

The transform goes vertically first, then horizontally, and the inverse the other way round. That is the order of
JPEG 2000 (ISO/IEC 15444-1 annex F), which matters to the integer transform; VC-2's wavelets have rows first. Bands have
PyWavelets' names: cH is high vertically (horizontal edges).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from ..errors import ParameterError
from ..gpu import Gpu
from ..image import Image
from ..notes import note
from ..params.dwt import DEFAULT_LEVELS, DwtParams
from ..records import dataclass
from ..tiles.ends import Anywhere
from ..tiles.planes import in_turn
from ..tiles.rectangles import cut
from . import axis, bands, in_place, level, strips, two_levels
from .blocks import BandInBlock
from .strips import BandInStrips
from .wavelets import WAVELETS

Band = TypeVar("Band")
Details = tuple[Band, Band, Band]
Shape = tuple[int, ...]
# Makes one level of an image, or more: cA, [coarsest (cH, cV, cD), …].
Pass = Callable[[Image], tuple[Image, list[Details[Image]]]]

Y, X = 1, 2

# The methods that overwrite the image, and their modules.
_OVERWRITING: dict[str, Any] = {"in-place": in_place, "strip": strips}


def forward(image: Image, params: DwtParams) -> tuple[Image, Details[Image]]:
    """One level: cA, (cH, cV, cD)."""
    approximation, (details,) = _levels(image, params, 1)
    return approximation, details


def _by_axes(image: Image, params: DwtParams) -> tuple[Image, list[Details[Image]]]:
    """One level, one axis after the other."""
    first, second = _axes(params)
    low, high = axis.analyse(image, params, first)
    approximation, vertical = axis.analyse(low, params, second)
    horizontal, diagonal = axis.analyse(high, params, second)
    if first == X:
        horizontal, vertical = vertical, horizontal
    return approximation, [(horizontal, vertical, diagonal)]


def inverse(approximation: Image, details: Details[Image], params: DwtParams, shape: Shape) -> Image:
    """The image of (height, width) ``shape`` that one level's bands stand for."""
    if params.method in _OVERWRITING:
        module, image = _OVERWRITING[params.method], approximation.like((approximation.shape[0], *shape))
        for place, band in zip(module.places(image, params, 1), (approximation, *details), strict=True):
            place.put(image, band)
        module.recompose(image, params, 1)
        return image
    whole = level.fitting(
        approximation.gpu, params, approximation.dtype, (approximation.shape[0], *shape), inverse=True
    )
    if whole is not None:
        return level.inverse(approximation, details, whole)
    first, second = _axes(params)
    horizontal, vertical, diagonal = details
    if first == X:
        horizontal, vertical = vertical, horizontal
    low = axis.synthesise(approximation, vertical, params, second, shape[second - 1])
    high = axis.synthesise(horizontal, diagonal, params, second, shape[second - 1])
    return axis.synthesise(low, high, params, first, shape[first - 1])


def _axes(params: DwtParams) -> tuple[int, int]:
    """The axes in the order in which they are transformed."""
    return (X, Y) if WAVELETS[params.wavelet].rows_first else (Y, X)


def decompose(image: Image, params: DwtParams) -> tuple[Image, list[Details[Image]]]:
    """All levels: cA, [coarsest (cH, cV, cD), …, finest (cH, cV, cD)]; :func:`max_levels` of them if none are given."""
    levels = params.levels if params.levels is not None else max_levels(image.shape[1:], params)
    turns = in_turn(image.shape[0], image.nbytes)
    if len(turns) == 1:
        return _levels(image, params, levels)
    every: list[Image] = []
    for at in turns:
        part = flat(*_levels(image.planes(at), params, levels))
        every = every or [band.like((image.shape[0], *band.shape[1:])) for band in part]
        for whole, band in zip(every, part, strict=True):
            whole.put(at, band)
    for band in every:
        band.alpha = image.alpha
    return nested(every)


def working(gpu: Gpu, dtype: np.dtype[Any], params: DwtParams) -> np.dtype[Any]:
    """The dtype to compute levels of ``dtype`` in.

    The mode smooth extends a line beyond an edge as far as a filter is long. That multiplies the samples' differences,
    and rounding errors, by as much, at each level anew: floats become double precision for it, if the device has that.
    """
    return (
        np.dtype(np.float64)
        if dtype == np.float32 and params.mode == "smooth" and gpu.limits.double
        else dtype
    )


def _levels(image: Image, params: DwtParams, levels: int) -> tuple[Image, list[Details[Image]]]:
    dtype = working(image.gpu, image.dtype, params)
    if levels and image.dtype != dtype:
        parts = flat(*_levels(bands.in_precision(image, dtype), params, levels))
        return nested([bands.in_precision(band, image.dtype) for band in parts])
    if params.method in _OVERWRITING:
        image = cut(image, (0, 0), image.shape[1:])
        places = overwriting(image, params, levels)
        return nested([place.copy(image, slice(0, place.size[0])) for place in places])
    gpu, what = image.gpu, (params, image.dtype, image.shape, levels)
    coefficients: list[Details[Image]] = []
    for made in gpu.kept(("dwt passes", *what), lambda: _passes(gpu, *what)):
        image, details = made(image)
        coefficients[:0] = details
    return image, coefficients


def _passes(gpu: Gpu, params: DwtParams, dtype: np.dtype[Any], shape: Shape, levels: int) -> list[Pass]:
    """The passes over an image and its approximations that make all levels: each makes one level, or two.

    Raises ParameterError where the mode has nothing to reflect.
    """
    passes: list[Pass] = []
    while levels:
        two = two_levels.fitting(gpu, params, dtype, shape, inverse=False) if levels > 1 else None
        if two is not None:
            passes.append(partial(two_levels.forward, levels=two))
        elif whole := level.fitting(gpu, params, dtype, shape, inverse=False):
            passes.append(partial(level.forward, level=whole))
        else:
            passes.append(partial(_by_axes, params=params))
        for _ in range(1 if two is None else 2):
            for n in shape[1:]:
                axis.check_length(params, n)
            shape = (shape[0], *(axis.lengths(params, n)[0] for n in shape[1:]))
            levels -= 1
    return passes


def overwriting(image: Image, params: DwtParams, levels: int) -> Sequence[BandInBlock | BandInStrips]:
    """Does :func:`decompose` by a method that works in the image's own memory, and returns where it has the bands, in
    the order of :func:`band_shapes`."""
    module = _OVERWRITING[params.method]
    module.decompose(image, params, levels)
    places: Sequence[BandInBlock | BandInStrips] = module.places(image, params, levels)
    return places


def flat(approximation: Band, details: Sequence[Details[Band]]) -> list[Band]:
    """All bands in the order of :func:`band_shapes`."""
    return [approximation, *(band for level in details for band in level)]


def nested(bands: Sequence[Band]) -> tuple[Band, list[Details[Band]]]:
    """The inverse of :func:`flat`."""
    approximation, *rest = bands
    return approximation, [(rest[i], rest[i + 1], rest[i + 2]) for i in range(0, len(rest), 3)]


def recompose(
    approximation: Image | None,
    details: Sequence[Details[Image | None]],
    params: DwtParams,
    shape: Shape | None = None,
) -> Image:
    """The image of (height, width) ``shape``; without ``shape`` an odd length may be one longer, as in PyWavelets.

    None stands for a band of zeros. Raises ParameterError for bands that do not fit together.
    """
    levels = sizes(approximation, details, params, shape)
    like = next((band for band in flat(approximation, details) if band is not None), None)
    if like is None:
        raise ParameterError("there must be one band at least that is not None")

    def complete(bands: Sequence[Image | None], shapes: Sequence[Shape]) -> list[Image]:
        """The bands, or zeros."""
        return [
            like.gpu.zeros((like.shape[0], *size), like.dtype) if band is None else band
            for band, size in zip(bands, shapes, strict=True)
        ]

    while details:
        now, *after = levels[-len(details) :]
        low, *high = complete((approximation, *details[0]), now.bands)
        two = None
        if len(details) % 2 == 0:  # so that the last two, which are the largest, go together
            size = (low.shape[0], *after[0].image)
            two = two_levels.fitting(low.gpu, params, low.dtype, size, inverse=True)
        if two is None:
            approximation, details = inverse(low, (high[0], high[1], high[2]), params, now.image), details[1:]
        else:
            finer = complete(details[1], after[0].bands[1:])
            approximation, details = two_levels.inverse(low, high, finer, two), details[2:]
    assert approximation is not None
    return approximation


@dataclass(frozen=True)
class Sizes:
    """(height, width) of a level's bands, cA, cH, cV, cD, and of the image that they give."""

    bands: tuple[Shape, Shape, Shape, Shape]
    image: Shape


def sizes(
    approximation: Anywhere | None,
    details: Sequence[Details[Anywhere | None]],
    params: DwtParams,
    shape: Shape | None = None,
) -> list[Sizes]:
    """The sizes of all levels, the coarsest first, as :func:`recompose` goes through them.

    Raises ParameterError for bands that do not fit together.
    """
    levels: list[Sizes] = []
    planes = {band.shape[0] for band in (approximation, *flat(None, details)) if band is not None}
    if len(planes) > 1:
        raise ParameterError(f"the bands must have as many planes as each other, not {sorted(planes)}")
    low = None if approximation is None else approximation.shape[1:]
    for number, three in enumerate(details):
        bands = _complete((low, *(None if band is None else band.shape[1:] for band in three)), params)
        target = tuple(axis.samples(params, a, d) for a, d in zip(bands[0], bands[3], strict=True))
        finest = number + 1 == len(details)
        wanted = (shape or target) if finest else _low(details[number + 1], params, target)
        if any(not 0 <= n - m <= (not params.critical) for n, m in zip(target, wanted, strict=True)):
            raise ParameterError(
                f"coefficients of {target[0]}×{target[1]} samples cannot give {wanted[0]}×{wanted[1]}"
            )
        levels.append(Sizes(bands, wanted))
        low = wanted
    return levels


def image_shape(
    approximation: Anywhere | None,
    details: Sequence[Details[Anywhere | None]],
    params: DwtParams,
    shape: Shape | None = None,
) -> tuple[int, int, int]:
    """(planes, height, width) of the image that :func:`recompose` gives. Raises ParameterError as that function."""
    given = next(band for band in (approximation, *flat(None, details)) if band is not None)
    levels = sizes(approximation, details, params, shape)
    height, width = levels[-1].image if levels else given.shape[1:]
    return given.shape[0], height, width


def _complete(given: Sequence[Shape | None], params: DwtParams) -> tuple[Shape, Shape, Shape, Shape]:
    """The sizes of cA, cH, cV, cD; those that are None follow from the others.

    Raises ParameterError unless the bands belong together.
    """
    approximation, horizontal, vertical, diagonal = given
    known = [size for size in given if size is not None]
    if not known:
        raise ParameterError("a level whose bands are all None has no size")

    def length(along: int, one: Shape | None, other: Shape | None) -> int:
        return (one or other or known[0])[along]

    low = length(0, approximation, vertical), length(1, approximation, horizontal)
    high = length(0, horizontal, diagonal), length(1, vertical, diagonal)
    shapes = low, (high[0], low[1]), (low[0], high[1]), high
    if any(size not in (None, whole) for size, whole in zip(given, shapes, strict=True)) or any(
        not 0 <= a - d <= params.critical for a, d in zip(low, high, strict=True)
    ):
        names = zip(("cA", "cH", "cV", "cD"), given, strict=True)
        bands = ", ".join(f"{name} {size}" for name, size in names)
        raise ParameterError(f"the bands of a level do not fit together: {bands}")
    return shapes


def _low(details: Details[Anywhere | None], params: DwtParams, default: Shape) -> Shape:
    """(height, width) of the approximation beside these details; ``default`` where they are None."""
    horizontal, vertical, _ = details
    others = () if params.critical else details  # all four bands are alike, or only one has the low length

    def length(axis: int, *bands: Anywhere | None) -> int:
        return next((band.shape[axis] for band in bands if band is not None), default[axis - 1])

    return length(Y, vertical, *others), length(X, horizontal, *others)


def band_shapes(params: DwtParams, shape: Shape, levels: int) -> list[tuple[str, Shape]]:
    """Names and (height, width) of all bands of an image: cA5, cH5, cV5, cD5, cH4, …"""
    bands: list[tuple[str, Shape]] = []
    for number in range(1, levels + 1):
        (low_y, high_y), (low_x, high_x) = (axis.lengths(params, n) for n in shape)
        bands[:0] = [
            (f"cH{number}", (high_y, low_x)),
            (f"cV{number}", (low_y, high_x)),
            (f"cD{number}", (high_y, high_x)),
        ]
        shape = (low_y, low_x)
    return [(f"cA{levels}", shape), *bands]


def max_levels(shape: Shape, params: DwtParams) -> int:
    """PyWavelets' ``dwtn_max_level``: levels until a filter is as long as the shorter side.

    In the modes mirror and vc2, which PyWavelets lacks, levels go on until the shorter side is a single sample.
    """
    shortest, reach = min(shape), WAVELETS[params.wavelet].length - 1
    return max(0, (shortest // (1 if params.critical else reach)).bit_length() - 1)


def with_levels(params: DwtParams, shape: Shape, say: Callable[[str], None] = note) -> DwtParams:
    """The parameters with a number of levels: :data:`DEFAULT_LEVELS` unless another one is given, fewer for small
    images. It is told by ``say`` if there is none."""
    if params.levels is not None:
        warn_of_levels(shape, params)
        return params
    levels = min(DEFAULT_LEVELS, max_levels(shape, params))
    if levels == 0:
        say(f"{shape[0]}×{shape[1]} pixels are too few for a level that could be shrunk")
    return replace(params, levels=levels)


def warn_of_levels(shape: Shape, params: DwtParams) -> None:
    """Gives PyWavelets' warning if more levels are asked for than :func:`max_levels`."""
    most = max_levels(shape, params)
    if params.levels is not None and params.levels > most:
        note(
            f"{params.levels} levels are more than {shape[0]}×{shape[1]} samples have use for ({most} with "
            f"{params.wavelet}): the border reaches all coefficients"
        )
