"""SSIMULACRA 2.1: how visible the differences of two pictures are, tuned to what people saw in compressed ones."""

from __future__ import annotations

import math
from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError
from ..gpu import Gpu
from ..image import Image
from ..operands import Operand
from .moments import MomentGroups, kernel_of, table_of, totals
from .pairs import operands

if TYPE_CHECKING:
    from ..figures import Figure
    from .band import Band
    from .pair import Pair

# Scales, each of half the size of the one before it.
_SCALES = 6
# The least side in pixels of which another scale is made.
_LEAST = 8
# Sums of each scale and plane, as in ssimulacra2.cl: three errors, each by itself and as its fourth power.
_ERRORS = 6
# One half of the window, the middle first: libjxl's recursive Gaussian of sigma 1.5 (D. Charalampidis, "Recursive
# implementation of the Gaussian filter using truncated cosine functions", IEEE Trans. Signal Process. 64, 2016), whose
# response to an impulse ends after these.
_HALF = (0.2646211054881985, 0.2129285920104222, 0.1093353727774603, 0.0360111146583644, 0.00941436780965374)
_WINDOW = (*_HALF[:0:-1], *_HALF)
# Rows of the pictures that one of the coarsest scale has.
_UNIT = 1 << (_SCALES - 1)
# Rows above and below on which a row's errors depend, at most.
_BESIDE = (len(_HALF) - 1) * _UNIT
# Numbers of 32 bits for each pixel on the device, beside both pictures' light: XYB, and smaller scales of light.
_FLOATS = 8.1
# The weights of cloudinary/ssimulacra2, src/ssimulacra2.cc (Jon Sneyers, BSD-3-Clause): for X, Y and B, and for each
# scale, the finest first, two lines. They are of the means, and of the fourth roots of the mean fourth powers, of
# structure, ringing and blur.
_WEIGHTS = np.loadtxt(str(files(__package__).joinpath("ssimulacra2.txt"))).ravel()


def ssimulacra2(gpu: Gpu, image_true: Operand, image_test: Operand) -> float:
    """Returns the SSIMULACRA 2.1 score of ``image_test``: 100 for equal pictures, 90 where nobody sees a difference
    side by side, 70 for high quality, 50 medium, 30 low; it may be negative.

    Parameters
    ----------
    image_true, image_test : array or Image (planes, height, width), float
        Linear Rec. 709 light, gray or RGB, of which 1 is white. The order counts: errors are those of ``image_test``.

    Notes
    -----
    Values that are NaN or infinite at the same place in both pictures count as equal; any other gives NaN.
    As in the reference program, a scale is left out if a side of the one before it is less than 8 pixels, and the
    weights then move up to those that are left.

    Source: https://github.com/cloudinary/ssimulacra2, version 2.1 of April 2023.

    Raises
    ------
    ParameterError
        Different shapes, a side of less than 8 pixels, another number of planes than 1 or 3, or integers, which are
        levels and not light.
    """
    a, b = operands(gpu, image_true, image_test)
    for operand in (image_true, image_test):
        dtype = operand.dtype if isinstance(operand, Image) else np.asarray(operand).dtype
        if dtype.kind != "f":
            raise ParameterError(f"SSIMULACRA 2 needs linear light as floats, not {dtype}: decode first")
    planes, height, width = a.shape
    _check(planes, height, width)
    return score(sums_of_rows(gpu, a, b, slice(0, height), (height, width)), (height, width))


def _check(planes: int, height: int, width: int) -> None:
    """Raises ParameterError for pictures that have no score."""
    if planes not in (1, 3):
        raise ParameterError(f"SSIMULACRA 2 needs gray or RGB pictures, not {planes} planes: leave alpha out")
    if min(height, width) < _LEAST:
        raise ParameterError(
            f"SSIMULACRA 2 needs pictures of {_LEAST}×{_LEAST} pixels or more, not {width}×{height}:"
            " use another metric"
        )


def sums_of_rows(gpu: Gpu, a: Image, b: Image, rows: slice, size: tuple[int, int]) -> npt.NDArray[np.float64]:
    """Returns the sums of errors, and of their fourth powers, in some rows of pictures, by plane, scale and error.

    Parameters
    ----------
    a, b : Image
        The pictures, or a part of them: it begins with a multiple of ``_UNIT`` rows, and has ``_BESIDE`` rows
        above and below those that count, as far as the pictures have them.
    rows : slice
        The rows of the Images that count: from a multiple of ``_UNIT`` to another, or to the end.
    size : (height, width)
        That of the whole pictures.
    """
    (planes, height, width), scales = a.shape, len(sizes(size))
    kernel = kernel_of(gpu, ("ssimulacra2",), "xyb", len(_WINDOW))
    # Where the planes of b begin in its memory, and from where to where planes follow each other: 0 for gray, whose one
    # plane stands for three.
    second, plane = 0, height * width if planes > 1 else 0
    pictures = gpu.empty((2 * 3, height, width))  # in XYB; the smaller scales use its memory
    sums = []
    for scale in range(scales):
        last = scale == scales - 1
        smaller = None if last else gpu.empty((2 * 3, -(-height // 2), -(-width // 2)))
        cells = (-(-width // (2 * gpu.limits.lanes)), -(-height // 2))
        moved = 4 * height * width * (12 if plane else 8) + (smaller.nbytes if smaller else 0)
        gpu.launch(
            kernel, cells, a, b, pictures, smaller, np.uint64(second), np.uint64(plane), height, width,
            local=kernel.fit(64, 1), traffic=moved,
        )  # fmt: skip
        first, end = rows.start >> scale, -(-rows.stop >> scale)
        sums.append(_sums(gpu, pictures, height, width, first, end))
        if smaller is not None:  # it has both pictures' planes
            a, b, (_, height, width) = smaller, smaller, smaller.shape
            second, plane = 3 * height * width, height * width
    return np.stack(totals(gpu, sums), 1)


def sizes(size: tuple[int, int]) -> list[tuple[int, int]]:
    """Returns the (height, width) of each scale of pictures of this size."""
    scales = [size]
    while len(scales) < _SCALES and min(scales[-1]) >= _LEAST:
        height, width = scales[-1]
        scales.append((-(-height // 2), -(-width // 2)))
    return scales


def score(sums: npt.NDArray[np.float64], size: tuple[int, int]) -> float:
    """Returns the score of the sums of all rows of pictures of this size; NaN if one of them is."""
    norms = _norms(sums, size)
    s = 0.9562382616834844 * float(np.dot(_WEIGHTS[: norms.size], norms.ravel()))
    s = 2.326765642916932 * s - 0.020884521182843837 * s**2 + 6.248496625763138e-05 * s**3
    return 100.0 if s <= 0 else 100.0 - 10.0 * s**0.6276336467831387


def _norms(sums: npt.NDArray[np.float64], size: tuple[int, int]) -> npt.NDArray[np.float64]:
    """Returns means, and fourth roots of mean fourth powers, by plane, scale, norm and error."""
    pixels = np.array([height * width for height, width in sizes(size)])
    by_norm = (sums / pixels[:, None]).reshape(3, len(pixels), 3, 2).swapaxes(2, 3)
    return np.stack([by_norm[:, :, 0], by_norm[:, :, 1] ** 0.25], 2)


def _sums(gpu: Gpu, pictures: Image, height: int, width: int, first: int, end: int) -> Image:
    """Returns each group's sums of errors in some rows, with their rounding errors: (planes, groups, errors, 2)."""
    kernel = kernel_of(gpu, ("ssimulacra2",), "errors", len(_WINDOW))
    strips = MomentGroups.of(gpu, kernel, len(_WINDOW), 3, end - first, width)
    partial = gpu.empty((3, math.prod(strips.groups), _ERRORS, 2))
    gpu.launch(
        kernel, strips.size, pictures, table_of(gpu, _WINDOW), partial, height, width, first, end, *strips.numbers,
        *strips.memory, local=strips.local, traffic=2 * 3 * 4 * height * width,
    )  # fmt: skip
    return partial


def fit(figure: Figure, pair: Pair) -> Figure:
    """Returns the record of the figure for these pictures."""
    picture = pair.reference
    _check(picture.colours, picture.height, picture.width)
    floats = _FLOATS / picture.colours
    return replace(figure, above=_BESIDE, below=_BESIDE, multiple=_UNIT, floats=floats)


def sums_of_band(band: Band) -> npt.NDArray[np.float64]:
    """Returns what :func:`sums_of_rows` does of a band's light."""
    return sums_of_rows(band.gpu, *band.light, band.counted, (band.place.height, band.reference.width))


def score_of_pair(sums: npt.NDArray[np.float64], pair: Pair) -> float:
    """Returns the score of the sums of all bands."""
    return score(sums, (pair.reference.height, pair.reference.width))
