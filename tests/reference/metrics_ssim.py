"""Structural similarity by numpy, from the papers of Wang et al. (2003, 2004) and their programs; pairs."""

from typing import Any

import numpy as np
import numpy.typing as npt

LUMA = np.array([0.299, 0.587, 0.114])  # ITU-R BT.601


def pair(height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns ramps and a chessboard, and the same with its middle half faded, a white pixel and four inverted rows.

    Both are of 8 bits, in [0, 1].
    """
    y, x = np.mgrid[:height, :width]
    first = np.stack([x / (width - 1), y / (height - 1), 0.1 + 0.8 * ((x // 8 + y // 8) % 2)])
    second = first.copy()
    middle = np.s_[:, height // 4 : height * 3 // 4, width // 4 : width * 3 // 4]
    second[middle] = second[middle] * 0.9 + 0.05
    second[:, height // 2, width // 2] = 1
    second[0, 40:44] = 1 - second[0, 40:44]
    return np.round(first * 255) / 255, np.round(second * 255) / 255


_GAUSSIAN = np.exp(-0.5 * (np.arange(-5, 6) / 1.5) ** 2)
#: The weights of an axis, and what variances are multiplied by, for each convention.
WINDOWS = {"wang": (_GAUSSIAN, 1.0), "skimage": (np.ones(7), 49 / 48)}


def terms(
    a: npt.ArrayLike, b: npt.ArrayLike, data_range: float, convention: str = "wang"
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the maps of the luminance and the contrast term of one plane, where windows are inside it.

    Numbers have 64 bits or more beside their exponents, so that ⟨a²⟩ − ⟨a⟩² keeps enough of them at 10,000.
    """
    weights, sample = WINDOWS[convention]
    weights = weights.astype(np.longdouble) / weights.sum(dtype=np.longdouble)

    def mean(v: Any) -> Any:
        for axis in (0, 1):
            count = v.shape[axis] - len(weights) + 1
            v = sum(w * v.take(range(k, k + count), axis) for k, w in enumerate(weights))
        return v

    a, b = np.asarray(a, np.longdouble), np.asarray(b, np.longdouble)
    mu_a, mu_b = mean(a), mean(b)
    variances = sample * (mean(a * a) - mu_a**2 + mean(b * b) - mu_b**2)
    covariance = sample * (mean(a * b) - mu_a * mu_b)
    c1, c2 = (0.01 * data_range) ** 2, (0.03 * data_range) ** 2
    luminance = (2 * mu_a * mu_b + c1) / (mu_a**2 + mu_b**2 + c1)
    contrast = (2 * covariance + c2) / (variances + c2)
    return luminance.astype(np.float64), contrast.astype(np.float64)


def multiscale(a: np.ndarray, b: np.ndarray, data_range: float) -> float:
    """Returns the mean over planes of Wang, Simoncelli and Bovik's MS-SSIM."""
    exponents = [0.0448, 0.2856, 0.3001, 0.2363, 0.1333]
    results = []
    for planes in zip(a, b, strict=True):
        product = 1.0
        for level, exponent in enumerate(exponents):
            luminance, contrast = terms(*planes, data_range)
            mean = (luminance * contrast).mean() if level == 4 else contrast.mean()
            product *= max(mean, 0.0) ** exponent
            planes = tuple(averaged(plane, 2) for plane in planes)
        results.append(product)
    return float(np.mean(results))


def averaged(plane: npt.ArrayLike, factor: int) -> np.ndarray:
    """Returns what Wang's program has after imfilter(plane, ones(factor) / factor², 'symmetric') and (1:factor:end).

    imfilter's middle of n weights is the ⌊(n + 1) / 2⌋th.
    """
    plane = np.asarray(plane, np.float64)
    before = (factor + 1) // 2 - 1
    padded = np.pad(plane, (before, factor - 1 - before), "symmetric")
    windows = np.lib.stride_tricks.sliding_window_view(padded, (factor, factor))
    return np.asarray(windows.mean((2, 3))[::factor, ::factor])
