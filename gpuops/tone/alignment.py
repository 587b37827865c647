"""Shifts between pictures of one scene whose exposures differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..filters.convolve import convolve
from .fusion import compute

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..image import Image

Array = npt.NDArray[Any]

# The ranks of thresholds between which values are told apart, as shares of the pixels.
_RANKS = np.arange(0.1, 0.91, 0.1)
# How far from black and from white a threshold is, at least: the noise (Ward 2003, 4 of 255 levels).
_APART = 4 / 255
# Correlations this close to the largest one are as large: transforms round (relative to the number of pixels).
_ROUNDING = 1e-4


def shift_between(gpu: Gpu, first: Image, other: Image) -> tuple[int, int]:
    """Rows and columns by which ``other`` is displaced: at (y + rows, x + columns) it shows ``first``'s (y, x).

    Both are planar float32 Images of one shape. Each value becomes its rank among those of its picture, which the
    exposure does not change: G. Ward, "Fast, Robust Image Registration for Compositing High Dynamic Range Photographs
    from Hand-Held Exposures" (JGT 8, 2003), here with all deciles at which neither picture is black or white. The shift
    is where edges of the one and the other correlate most, of all that there are. Of shifts that are as good, as all
    are of a picture without detail, it is the smallest.
    """
    _, height, width = first.shape
    here, there = _ranked(_luma(gpu, first), _luma(gpu, other))
    correlation = convolve(gpu, there, _edges(here)[::-1, ::-1], mode="wrap", method="fft")
    # convolve's middle is at half of the size: this is the shift of its first row and column.
    down = np.arange(height) - (height - 1 - height // 2)
    right = np.arange(width) - (width - 1 - width // 2)
    rows, columns = np.nonzero(correlation >= correlation.max() - _ROUNDING * correlation.size)
    nearest = int(np.argmin(np.hypot(down[rows], right[columns])))
    return int(down[rows[nearest]]), int(right[columns[nearest]])


def _ranked(*pictures: Array) -> list[Array]:
    """How many of the pictures' thresholds each value exceeds, as float32."""
    thresholds = np.array([np.quantile(one, _RANKS) for one in pictures])
    ends = np.array([(one.min(), one.max()) for one in pictures])
    inside = np.all((thresholds > ends[:, :1] + _APART) & (thresholds < ends[:, 1:] - _APART), axis=0)
    if not inside.any():
        inside[len(_RANKS) // 2] = True  # the median
    return [
        np.searchsorted(found[inside], one).astype(np.float32)
        for found, one in zip(thresholds, pictures, strict=True)
    ]


def _edges(values: Array) -> Array:
    """The Laplacian, negated: with it correlations have a narrow peak. It is 0 at the border."""
    found = np.zeros_like(values)
    inner = values[1:-1, 1:-1]
    found[1:-1, 1:-1] = (
        4 * inner - values[:-2, 1:-1] - values[2:, 1:-1] - values[1:-1, :-2] - values[1:-1, 2:]
    )
    return found


def _luma(gpu: Gpu, image: Image) -> Array:
    """The luma (Rec. ITU-R BT.601) of planes, (height, width). What is not finite is black."""
    _, height, width = image.shape
    found = gpu.empty((1, height, width))
    compute(gpu, "luma", (width, height), image, found, width, height, COLOURS=image.colours)
    luma: Array = np.nan_to_num(found.numpy()[0], posinf=0.0, neginf=0.0)
    return luma


def shifted(gpu: Gpu, image: Image, down: int, right: int) -> Image:
    """Returns the image whose pixel (y, x) is that of ``image`` at (y + down, x + right); edges are mirrored."""
    planes, height, width = image.shape
    result = image.like()
    compute(gpu, "shifted", (width, height, planes), image, result, width, height, planes, down, right)
    return result
