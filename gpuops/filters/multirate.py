"""A Gaussian of large σ on a coarse grid, in about the time of one read and one write.

Along each axis there are three steps: a short window and decimation to steps of σ/LEAST or less (coarse.py); the filter
that is still to be done; and interpolation by the same window. All three dampen aliases, so that less than 2e-5 of the
response's peak is left of them.

Source: multirate filtering as in Crochiere & Rabiner, Multirate Digital Signal Processing, 1983; decimation before a
recursive Gaussian in Deriche, "Recursively implementing the Gaussian and its derivatives", INRIA 1893, 1993.
"""

from __future__ import annotations

from math import ceil

from ..gpu import Gpu
from ..image import Image, Part
from ..pixels.coding import Decoding, Encoding
from . import coarse
from .coarse import Left
from .grids import Grids, decimated, interpolated, interpolated_pixels
from .separable import Taps, convolve_axes

# The σ on a coarse grid from which on a still coarser grid is worth its launches.
_LEAST_AGAIN = 12.0


def whole(sigma: tuple[float, float]) -> tuple[Left, Left]:
    """Returns that all of a Gaussian of ``sigma`` (y, x) is left to do."""
    return Left(sigma[0]), Left(sigma[1])


def gaussian(
    gpu: Gpu, image: Image, left: tuple[Left, Left], border: str, cval: float, into: Image | None = None
) -> Image:
    """Blurs a planar float32 Image by what is left of Gaussians (y, x); at least one axis must get a coarse grid.

    ``into``: the result's memory, which may be the input's.
    """
    _, height, width = image.shape
    grids, part = grids_of(image.part, (height, width), left, border, cval)
    small = decimated(gpu, image, grids)
    small.part = part
    small = coarsely(gpu, small, grids, into=small)
    return interpolated(gpu, small, image.like() if into is None else into, grids)


def gaussian_of_pixels(
    gpu: Gpu,
    pixels: Image,
    decoding: Decoding,
    encoding: Encoding,
    left: tuple[Left, Left],
    border: str,
    cval: float,
    rows: tuple[int, int],
) -> tuple[Image, Image]:
    """Blurs pixels (height, width, channels); returns pixels, and counters as in encode.cl.

    ``rows`` are the first and the end of the pixels' rows that the result has.

    The first kernel reads pixels itself, and the last one writes them, as kernels for CPUs can.
    """
    height, width, _ = pixels.shape
    grids, part = grids_of(pixels.part, (height, width), left, border, cval)
    small = decimated(gpu, pixels, grids, decoding)
    small.part = part
    return interpolated_pixels(gpu, coarsely(gpu, small, grids, into=small), grids, encoding, rows)


def reach(shape: tuple[int, ...], left: tuple[Left, Left], border: str) -> int:
    """Returns how many pixels away a value in planes of ``shape`` has an effect, at most, along any axis."""

    def of(size: tuple[int, ...], left: tuple[Left, Left]) -> list[float]:
        grids = Grids.of(size, left, border, 0.0)
        rest, inner = (grids.y.left, grids.x.left), (grids.y.coarse, grids.x.coarse)
        far = of(inner, rest) if _again(inner, rest, border) else [len(todo.weights()) // 2 for todo in rest]
        # The sum has the windows down and up, and one sample more, as a window covers one more in some places.
        return [
            (coarse.TAPS + 1 + further) * todo.sigma / axis.left.sigma if axis.taps > 1 else further
            for axis, todo, further in zip((grids.y, grids.x), left, far, strict=True)
        ]

    return ceil(max(of(shape[1:], left)))


def grids_of(
    part: Part | None, size: tuple[int, int], left: tuple[Left, Left], border: str, cval: float
) -> tuple[Grids, Part | None]:
    """Returns the grids of an image of ``size``, and which coarse rows it has if it is a part of a picture."""
    height, width = size
    of_whole = (height if part is None else part.height), width
    whole = Grids.of(of_whole, left, border, cval)
    if part is None:
        return whole, None
    grids, first = whole.part(part.first, height)
    return grids, Part(first, whole.y.coarse)


def coarsely(gpu: Gpu, small: Image, grids: Grids, into: Image | None = None) -> Image:
    """Applies the filter that is still to be done, on the coarse grid or on a still coarser one.

    ``into``: memory that the result may take, which may be the input's.
    """
    left, border, cval = (grids.y.left, grids.x.left), grids.border, grids.cval
    if _again(small.of_whole[1:], left, border):
        return gaussian(gpu, small, left, border, cval, into)
    weights = left[0].weights(), left[1].weights()
    return convolve_axes(gpu, small, Taps(weights, border, cval, name="gaussian"))


def _again(size: tuple[int, ...], left: tuple[Left, Left], border: str) -> bool:
    """Says whether a coarse grid of ``size`` gets a still coarser one for the rest of the filter."""
    sigma = left[0].sigma, left[1].sigma
    return max(sigma) >= _LEAST_AGAIN and coarse.is_coarser((1, *size), sigma, border)
