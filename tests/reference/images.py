"""Images on the device, and how close two results are: what tests of many operations need."""

from pathlib import Path
from typing import Any

import numpy as np

from gpuops import Gpu, Image, files
from gpuops.pixels.coding import Decoding, Encoding

from . import colour


def on(gpu: Gpu, planes: np.ndarray, alpha: bool = False) -> Image:
    """Planes as an Image of float32 on the device."""
    image = gpu.array(planes.astype(np.float32))
    image.alpha = alpha
    return image


def save(path: Path, pixels: np.ndarray, **more: Any) -> Path:
    """Writes pixels (height, width, channels); the second or fourth channel is alpha."""
    files.write(path, files.Picture(pixels, alpha=pixels.shape[2] in (2, 4), **more))
    return path


def decoded(pixels: np.ndarray, decoding: Decoding) -> np.ndarray:
    """A file's pixels (height, width, channels) as planes of light in double."""
    most = np.iinfo(pixels.dtype).max if pixels.dtype.kind == "u" else 1
    v = np.moveaxis(pixels.astype(np.float64), -1, 0) / most
    colours = len(v) - decoding.alpha
    if decoding.linearise:
        v[:colours] = np.copysign(colour.srgb_light(np.abs(v[:colours])), v[:colours])
    if decoding.alpha and decoding.premultiply:
        v[:colours] *= v[-1]
    return v


def encoded(planes: np.ndarray, encoding: Encoding, alpha: bool) -> np.ndarray:
    """Planes of light as a file's pixels, before values are clipped and rounded."""
    v, colours = planes.copy(), len(planes) - alpha
    if encoding.unpremultiply and alpha:
        v[:colours] = np.divide(v[:colours], v[-1], out=v[:colours].copy(), where=v[-1] > 0)
    if encoding.encode:
        v[:colours] = np.copysign(colour.srgb_signal(np.abs(v[:colours])), v[:colours])
    return np.moveaxis(v, 0, -1)


def shades_and_edges() -> np.ndarray:
    """Smooth shades and sharp edges: float32 (4, 128, 160), the last plane alpha."""
    y, x = np.mgrid[:128, :160] / 160
    plane = 0.3 + 0.3 * np.sin(5 * x + 3 * y) + 0.3 * ((x - 0.5) ** 2 + (y - 0.4) ** 2 < 0.06)
    return np.stack([plane, plane**2, 1 - plane, np.full_like(plane, 0.5)]).astype(np.float32)


def close(result: np.ndarray, expected: np.ndarray, tolerance: float) -> None:
    """Asserts that values are equal within ``tolerance`` of the largest value, or of 1 if all are smaller."""
    assert result.shape == expected.shape
    assert np.abs(result - expected).max() <= tolerance * max(1.0, np.abs(expected).max())
