"""The effects of the Direct3D 11 sample HDRToneMappingCS11 in numpy float64, from its description and constants."""

import numpy as np

TAPS = np.arange(-7, 8)
WEIGHTS = np.where(TAPS == 0, 1.0, 1.25) * np.exp(-(TAPS**2) / 18) / np.sqrt(18 * np.pi)


def mapped(c: np.ndarray, luminance: float) -> np.ndarray:
    c = c * (0.72 / (luminance + 0.001))
    c = c * (1 + c / 1.5)
    return c / (1 + c)


def metered(scene: np.ndarray) -> float:
    return float((0.299 * scene[0] + 0.587 * scene[1] + 0.114 * scene[2]).mean())


def along(values: np.ndarray, axis: int) -> np.ndarray:
    """15 taps along an axis, edges repeated."""
    at = np.arange(values.shape[axis])
    taps = (values.take(np.clip(at + k, 0, at[-1]), axis) for k in TAPS)
    return np.asarray(sum(w * tap for w, tap in zip(WEIGHTS, taps, strict=True)))


def blur(scene: np.ndarray) -> np.ndarray:
    return along(along(scene.astype(np.float64), 2), 1)


def glow(scene: np.ndarray) -> np.ndarray:
    """The bloom texture, sampled bilinearly at the scene's size.

    A group's threads load pixel (8 i + 4, 8 j + 3) of the scene, also for i beyond the texture, where the scene's edge
    counts; they map what is above 0.5, and blur that along the row. Buffers hold floats; the texture has 8 bits, UNORM.
    """
    c = scene.astype(np.float64)
    _, height, width = c.shape
    if height < 8 or width < 8:
        return np.zeros_like(c)
    x = np.clip(8 * (np.arange(width // 8)[:, None] + TAPS) + 4, 0, width - 1)
    bright = mapped(np.maximum(c[:, 8 * np.arange(height // 8) + 3][:, :, x] - 0.5, 0), metered(c))
    small = np.rint(np.clip(along(bright @ WEIGHTS, 1), 0, 1) * 255) / 255
    for axis, size in ((1, height), (2, width)):
        n = small.shape[axis]
        at = np.clip((np.arange(size) + 0.5) * n / size - 0.5, 0, n - 1)
        low = np.floor(at).astype(int)
        share = (at - low).reshape(-1, 1) if axis == 1 else at - low
        small = small.take(low, axis) * (1 - share) + small.take(np.minimum(low + 1, n - 1), axis) * share
    return small


def tonemap(scene: np.ndarray, *, with_bloom: bool = True, blurred: bool = False) -> np.ndarray:
    """The frame: luminance and bloom are of the scene as it is, and the blurred one is what is mapped."""
    c = scene.astype(np.float64)
    light = mapped(blur(c) if blurred else c, metered(c))
    return np.clip(light + 0.6 * glow(scene) if with_bloom else light, 0, 1)


def bloom(scene: np.ndarray) -> np.ndarray:
    return scene.astype(np.float64) + 0.6 * glow(scene)
