"""Images on the device, and how close two results are: what tests of many operations need."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gpuops import Gpu, Image

Array = npt.NDArray[Any]


def on(gpu: Gpu, planes: Array, alpha: bool = False) -> Image:
    """Planes as an Image of float32 on the device."""
    image = gpu.array(planes.astype(np.float32))
    image.alpha = alpha
    return image


def close(result: Array, expected: Array, tolerance: float) -> None:
    """Asserts that values are equal within ``tolerance`` of the largest value, or of 1 if all are smaller."""
    assert result.shape == expected.shape
    assert np.abs(result - expected).max() <= tolerance * max(1.0, np.abs(expected).max())
