"""The number of pixels that differ visibly, as pixelmatch 7.2 counts them: exactly its numbers."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, overload

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError, check_name
from ..image import Image
from ..operands import Operand
from ..records import dataclass
from .pairs import bytes_on_device, same_shape, spans
from .tolerant import densest_window

if TYPE_CHECKING:
    from ..figures import Figure
    from ..gpu import Gpu
    from .band import Band
    from .pair import Pair


#: What is behind pixels that are not opaque.
BACKGROUNDS = ("checkerboard", "white")
# The largest δ that pixelmatch knows.
_LARGEST = 35215
# What δ is multiplied by in pixelmatch.cl to be a whole number.
_SCALE = 255**2 * 10**16 * 10**4
# Pixels: beyond them pixelmatch's own arithmetic of 32 bits ends.
_MOST_PIXELS = 1 << 29
# The rows that it looks at on either side: neighbours, and their neighbours.
_BESIDE = 2


@dataclass(frozen=True)
class Pixelmatch:
    """The numbers of pixels: those that differ, those that differ only by anti-aliasing, and all.

    pixelmatch's result is ``different``.
    """

    different: int
    antialiased: int
    pixels: int


@overload
def pixelmatch(
    gpu: Gpu, image_true: Operand, image_test: Operand, *, threshold: float = ..., include_aa: bool = ...,
    background: str = ..., first: int = ..., rows: slice | None = ..., full: Literal[False] = ...,
) -> Pixelmatch: ...  # fmt: skip
@overload
def pixelmatch(
    gpu: Gpu, image_true: Operand, image_test: Operand, *, threshold: float = ..., include_aa: bool = ...,
    background: str = ..., first: int = ..., rows: slice | None = ..., full: Literal[True],
) -> tuple[Pixelmatch, Image]: ...  # fmt: skip
def pixelmatch(
    gpu: Gpu,
    image_true: Operand,
    image_test: Operand,
    *,
    threshold: float = 0.1,
    include_aa: bool = False,
    background: str = "checkerboard",
    first: int = 0,
    rows: slice | None = None,
    full: bool = False,
) -> Pixelmatch | tuple[Pixelmatch, Image]:
    """Counts the pixels that differ visibly; with ``full`` it also says what each pixel is.

    Parameters
    ----------
    image_true, image_test : Image or array (rows, columns, 4) of uint8
        Encoded RGB and straight alpha.
    threshold : float
        0 … 1: a pixel differs if its YIQ difference is above 35215 · threshold².
    include_aa : bool
        Whether pixels that differ by anti-aliasing count too.
    background : str
        What is behind pixels that are not opaque: the ``"checkerboard"`` of pixelmatch 7, which depends on the place,
        or ``"white"``, as in pixelmatch up to 6 and odiff.
    first : int
        The row that the images begin with, if they are rows of larger pictures: the checkerboard is that of these.
    rows : slice, optional
        The rows that count, and of which the Image is; the others are their neighbours.
    full : bool
        Whether to return an Image (rows, columns) of uint8 too: 0 the same, 1 different, 2 different by anti-aliasing.

    Raises
    ------
    ParameterError
        Other types or shapes, different shapes, or an option out of range.
    """
    check_name("background", background, BACKGROUNDS)
    if not 0 <= threshold <= 1:
        raise ParameterError(f"threshold must be 0 … 1, not {threshold}")
    a, b = (bytes_on_device(gpu, one, "RGBA", (0, 0, 4), or_bool=False) for one in (image_true, image_test))
    same_shape(a, b)
    height, width, _ = a.shape
    _check_pixels(height * width)
    lanes = gpu.limits.lanes
    kernel = gpu.kernel(
        "pixelmatch", "pixelmatch", WIDTH=lanes, WHITE=background == "white", ALIASED=include_aa, MASK=full
    )
    start, stop, _ = (rows or slice(None)).indices(height)
    items, groups, span = spans(kernel, (stop - start) * width, lanes)
    partial = gpu.empty((groups, 2), np.uint32)
    mask = gpu.empty((stop - start, width), np.uint8) if full else None
    gpu.launch(
        kernel, (groups * items,), a, b, partial, mask, width, height, np.uint32(start * width),
        np.uint32(stop * width), np.uint32(span), np.uint64(first * width),
        float(_LARGEST * threshold**2 * 255**2), _limit(threshold), local=(items,),
        traffic=a.nbytes + b.nbytes + (mask.nbytes if mask else 0),
    )  # fmt: skip
    different, antialiased = (int(n) for n in partial.numpy().sum(0, dtype=np.int64))
    figures = Pixelmatch(different, antialiased, (stop - start) * width)
    return (figures, mask) if mask is not None else figures


def _check_pixels(count: int) -> None:
    """Raises ParameterError for pictures of too many pixels, of which the checkerboard is not known."""
    if count > _MOST_PIXELS:
        raise ParameterError(f"pixelmatch counts {_MOST_PIXELS} pixels at most: cut pictures into parts")


def _limit(threshold: float) -> npt.NDArray[np.uint64]:
    """Returns the largest whole δ that is within the threshold, as pixelmatch rounds it: low and high 64 bits."""
    limit = math.floor(Fraction(_LARGEST * threshold * threshold) * _SCALE)
    return np.array([limit & (2**64 - 1), limit >> 64], np.uint64)


def fit(figure: Figure, pair: Pair, *, windows: bool = False) -> Figure:
    """Returns the record of a figure of pixels, or of windows, for these pictures."""
    if pair.reference.alpha or pair.result.alpha:  # only then the checkerboard shows
        _check_pixels(pair.reference.width * pair.reference.height)
    return replace(figure, above=_BESIDE, below=_BESIDE + (_side(pair) - 1 if windows else 0))


def different(band: Band) -> int:
    """Returns how many pixels of the rows that count differ."""
    return pixelmatch(band.gpu, *band.codes, first=band.place.first, rows=band.counted).different


def densest(band: Band) -> int | None:
    """Returns the most of them in a window that begins in these rows; None if none does."""
    side, first = _side(band.pair), band.place.first
    rows = slice(band.counted.start, min(band.place.height, band.place.stop + side - 1) - first)
    if rows.stop - rows.start < side:
        return None
    _, kinds = pixelmatch(band.gpu, *band.codes, first=first, rows=rows, full=True)
    return densest_window(band.gpu, kinds, side).count


def _side(pair: Pair) -> int:
    return min(pair.how.window, pair.reference.height, pair.reference.width)
