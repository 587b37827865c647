"""Exposure fusion of several pictures of a scene: Mertens, Kautz and Van Reeth, "Exposure Fusion" (2007).

Before it, shifts between pictures whose exposures differ are found.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from ..filters.convolve import convolve
from ..gpu import Argument, Define, Gpu
from ..image import Image

#: The part of a picture that has any weight: its first row and column, and the row and column behind its last ones.
Seen = tuple[int, int, int, int]

# The standard deviation of the Gaussian about 1/2 that says how well a value is exposed (section 3.1).
_SIGMA = 0.2
# Rows of the next level that a work-item makes.
_TALL = 8
# What is added to each weight: where all are 0, pictures count alike.
_LEAST = 1e-12


def fused(
    gpu: Gpu, images: Sequence[Image], powers: tuple[float, float, float], seen: Sequence[Seen]
) -> Image:
    """Fuses planar float32 Images of one shape into one: it blends their Laplacian pyramids by their weights.

    Parameters
    ----------
    images
        Gray or RGB values of about 0 … 1, with or without alpha, which multiplies the weights.
    powers
        The exponents of contrast, saturation and exposedness. Gray has no saturation.
    seen
        The part of each image that is to count.
    """
    first = images[0]
    planes, height, width = first.shape
    levels = int(log2(min(height, width)))
    total = gpu.empty((1, height, width))
    weights: list[Image] = []
    for image, part in zip(images, seen, strict=True):
        weights.append(_weighed(gpu, image, total, powers, part, more=bool(weights)))
    result = [first.like()]
    for _ in range(levels):
        columns, rows, _ = _blocks(result[-1])
        result.append(first.like((planes, rows, columns)))
    for number, image in enumerate(images):
        share = weights[number]
        _share(gpu, share, total, 1 / len(images))
        for target in result[:-1]:
            coarse = _reduced(gpu, image)
            _blend(gpu, image, coarse, share, target, more=number > 0)
            image, share = coarse, _reduced(gpu, share)
        _blend_top(gpu, image, share, result[-1], more=number > 0)
        weights[number] = share  # the top alone: the memory of the others is free
    for fine, coarse in zip(result[-2::-1], result[:0:-1], strict=True):
        planes, height, width = fine.shape
        compute(
            gpu, "collapse", _blocks(fine), coarse, fine, width, height, planes,
            traffic=2 * fine.nbytes + coarse.nbytes,
        )  # fmt: skip
    return result[0]


def compute(
    gpu: Gpu, name: str, size: tuple[int, ...], *args: Argument, traffic: int | None = None, **defines: Define
) -> None:
    """Launches a kernel of fusion.cl."""
    label = f"merge {name.replace('_', ' ')}"
    gpu.compute("fusion", name, size, *args, group=64, label=label, traffic=traffic, TALL=_TALL, **defines)


def _blocks(image: Image) -> tuple[int, int, int]:
    """The number of blocks of 2 × 2 pixels along rows and columns, and of planes."""
    planes, height, width = image.shape
    return (width + 1) // 2, (height + 1) // 2, planes


def _weighed(
    gpu: Gpu, image: Image, total: Image, powers: tuple[float, float, float], seen: Seen, *, more: bool
) -> Image:
    _, height, width = image.shape
    weight = gpu.empty((1, height, width))
    plain = powers == (1.0, 1.0, 1.0)
    top, left, bottom, right = seen
    compute(
        gpu, "weigh", (width, height), image, weight, total, width, height,
        np.array((left, top, right, bottom), np.int32), (*powers, 0.0), 0.5 / _SIGMA**2, _LEAST, int(more),
        traffic=image.nbytes + 3 * weight.nbytes, COLOURS=image.colours, ALPHA=image.alpha, POWERS=not plain,
    )  # fmt: skip
    return weight


def _share(gpu: Gpu, weight: Image, total: Image, alike: float) -> None:
    count = prod(weight.shape)
    compute(gpu, "share", (count,), weight, total, np.uint64(count), alike, traffic=3 * weight.nbytes)


def _reduced(gpu: Gpu, image: Image) -> Image:
    planes, height, width = image.shape
    columns, rows, _ = _blocks(image)
    result = image.like((planes, rows, columns))
    compute(gpu, "reduce", (columns, -(-rows // _TALL), planes), image, result, width, height, planes)
    return result


def _blend(gpu: Gpu, fine: Image, coarse: Image, share: Image, result: Image, *, more: bool) -> None:
    planes, height, width = fine.shape
    compute(
        gpu, "blend", _blocks(fine), fine, coarse, share, result, width, height, planes, int(more),
        traffic=(2 + more) * fine.nbytes + coarse.nbytes + planes * share.nbytes,
    )  # fmt: skip


def _blend_top(gpu: Gpu, fine: Image, share: Image, result: Image, *, more: bool) -> None:
    planes, height, width = fine.shape
    compute(
        gpu, "blend_top", (planes * height * width,), fine, share, result, height * width, planes, int(more),
        traffic=(3 + more) * fine.nbytes,
    )  # fmt: skip


# -- Shifts between pictures of one scene whose exposures differ -------------------------------------------------

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
        np.searchsorted(limits[inside], one).astype(np.float32)
        for limits, one in zip(thresholds, pictures, strict=True)
    ]


def _edges(values: Array) -> Array:
    """The Laplacian, negated: with it correlations have a narrow peak. It is 0 at the border."""
    edges = np.zeros_like(values)
    inner = values[1:-1, 1:-1]
    edges[1:-1, 1:-1] = (
        4 * inner - values[:-2, 1:-1] - values[2:, 1:-1] - values[1:-1, :-2] - values[1:-1, 2:]
    )
    return edges


def _luma(gpu: Gpu, image: Image) -> Array:
    """The luma (Rec. ITU-R BT.601) of planes, (height, width). What is not finite is black."""
    _, height, width = image.shape
    luma = gpu.empty((1, height, width))
    compute(gpu, "luma", (width, height), image, luma, width, height, COLOURS=image.colours)
    return np.asarray(np.nan_to_num(luma.numpy()[0], posinf=0.0, neginf=0.0))


def shifted(gpu: Gpu, image: Image, down: int, right: int) -> Image:
    """Returns the image whose pixel (y, x) is that of ``image`` at (y + down, x + right); edges are mirrored."""
    planes, height, width = image.shape
    result = image.like()
    compute(gpu, "shifted", (width, height, planes), image, result, width, height, planes, down, right)
    return result
