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


def shades_and_edges() -> Array:
    """Smooth shades and sharp edges: float32 (4, 128, 160), the last plane alpha."""
    y, x = np.mgrid[:128, :160] / 160
    plane = 0.3 + 0.3 * np.sin(5 * x + 3 * y) + 0.3 * ((x - 0.5) ** 2 + (y - 0.4) ** 2 < 0.06)
    return np.stack([plane, plane**2, 1 - plane, np.full_like(plane, 0.5)]).astype(np.float32)


def close(result: Array, expected: Array, tolerance: float) -> None:
    """Asserts that values are equal within ``tolerance`` of the largest value, or of 1 if all are smaller."""
    assert result.shape == expected.shape
    assert np.abs(result - expected).max() <= tolerance * max(1.0, np.abs(expected).max())
