"""The effects of the Direct3D 11 sample HDRToneMappingCS11 in numpy float64, from its description and constants."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

TAPS = np.arange(-7, 8)
WEIGHTS = np.where(TAPS == 0, 1.0, 1.25) * np.exp(-(TAPS**2) / 18) / np.sqrt(18 * np.pi)


def mapped(c: Array, luminance: float) -> Array:
    c = c * (0.72 / (luminance + 0.001))
    c = c * (1 + c / 1.5)
    return c / (1 + c)


def metered(scene: Array) -> float:
    return float((0.299 * scene[0] + 0.587 * scene[1] + 0.114 * scene[2]).mean())


def blur(scene: npt.NDArray[np.generic]) -> Array:
    result = scene.astype(np.float64)
    for axis in (2, 1):
        n = result.shape[axis]
        result = sum(
            w * result.take(np.clip(np.arange(n) + k, 0, n - 1), axis)
            for k, w in zip(TAPS, WEIGHTS, strict=True)
        )
    return result


def glow(scene: npt.NDArray[np.generic]) -> Array:
    """The blurred bright pass, sampled bilinearly at the scene's size."""
    c = scene.astype(np.float64)
    _, height, width = c.shape
    if height < 8 or width < 8:
        return np.zeros_like(c)
    bright = mapped(np.maximum(c[:, 3::8, 4::8][:, : height // 8, : width // 8] - 0.5, 0), metered(c))
    small = blur(np.rint(np.clip(bright, 0, 1) * 255) / 255)
    for axis, size in ((1, height), (2, width)):
        n = small.shape[axis]
        at = np.clip((np.arange(size) + 0.5) * n / size - 0.5, 0, n - 1)
        low = np.floor(at).astype(int)
        share = (at - low).reshape(-1, 1) if axis == 1 else at - low
        small = small.take(low, axis) * (1 - share) + small.take(np.minimum(low + 1, n - 1), axis) * share
    return small


def tonemap(scene: npt.NDArray[np.generic], *, with_bloom: bool = True, blurred: bool = False) -> Array:
    """The frame: luminance and bloom are of the scene as it is, and the blurred one is what is mapped."""
    c = scene.astype(np.float64)
    light = mapped(blur(c) if blurred else c, metered(c))
    return np.clip(light + 0.6 * glow(scene) if with_bloom else light, 0, 1)


def bloom(scene: npt.NDArray[np.generic]) -> Array:
    return scene.astype(np.float64) + 0.6 * glow(scene)
