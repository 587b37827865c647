"""Exposure fusion of several pictures of a scene: Mertens, Kautz and Van Reeth, "Exposure Fusion" (2007)."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2, prod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
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
    sizes = [(height, width)]
    for _ in range(levels):
        sizes.append(((sizes[-1][0] + 1) // 2, (sizes[-1][1] + 1) // 2))
    result = [first.like((planes, *size)) for size in sizes]
    for number, image in enumerate(images):
        share = weights[number]
        _share(gpu, share, total, 1 / len(images))
        for level, target in enumerate(result):
            if level == levels:
                _blend_top(gpu, image, share, target, more=number > 0)
            else:
                coarse = _reduced(gpu, image)
                _blend(gpu, image, coarse, share, target, more=number > 0)
                image, share = coarse, _reduced(gpu, share)
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
