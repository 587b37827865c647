"""Small kernels on whole images and bands: clkernels/wavelets/dwt_bands.cl."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..image import Image
from ..tiles.ends import HostImage, Somewhere


def to_levels(image: Image, maximum: int) -> Image:
    """Values in [0, 1] as whole levels 0 … maximum."""
    return _converted(image, np.dtype(np.int32), "to_levels", float(maximum))


def from_levels(image: Image, maximum: int) -> Image:
    """Whole levels 0 … maximum as values in [0, 1]."""
    return _converted(image, np.dtype(np.float32), "from_levels", float(maximum))


def as_floats(band: Somewhere) -> Somewhere:
    """Whole numbers as float32."""
    if isinstance(band, Image):
        return from_levels(band, 1)
    return HostImage(band.gpu, band.array.astype(np.float32), alpha=band.alpha, linear=band.linear)


def in_precision(image: Image, dtype: np.dtype[Any]) -> Image:
    """float32 as float64, or the other way round; the Image itself if it is of ``dtype``."""
    if image.dtype == dtype:
        return image
    return _converted(image, dtype, "widen" if dtype == np.float64 else "narrow", DOUBLE=True)


def _converted(image: Image, dtype: np.dtype[Any], name: str, *scalars: float, **defines: bool) -> Image:
    result, size = image.like(dtype=dtype), prod(image.shape)
    if size:
        image.gpu.compute(
            "dwt_bands", name, (size,), image, result, np.uint64(size), *scalars, group=256, label=f"dwt {name}",
            **defines,
        )  # fmt: skip
    return result
