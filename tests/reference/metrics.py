"""Metrics by skimage and numpy, in float64."""

import numpy as np
from skimage import metrics

from gpuops.pixels.primaries import REC709_LUMINANCE


def skimage_ssim(a: np.ndarray, b: np.ndarray, data_range: float) -> float:
    a, b = (x.astype(np.float64).reshape(-1, *x.shape[-2:]) for x in (a, b))
    return float(
        metrics.structural_similarity(
            a,
            b,
            data_range=data_range,
            channel_axis=0,
            gaussian_weights=True,
            sigma=1.5,
            use_sample_covariance=False,
        )
    )


def luminance(image: np.ndarray, weights: tuple[float, ...] = REC709_LUMINANCE) -> np.ndarray:
    return np.tensordot(np.float32(weights).astype(np.float64), image.astype(np.float64), 1)


def halved(image: np.ndarray) -> np.ndarray:
    """Means of the 2 × 2 pixels that exist, of planes."""
    planes, height, width = image.shape
    size = (height + 1) // 2, (width + 1) // 2
    padded = np.zeros((planes, 2 * size[0], 2 * size[1]))
    exists = np.zeros(padded.shape[1:])
    padded[:, :height, :width] = image
    exists[:height, :width] = 1
    total, count = (v.reshape(*v.shape[:-2], size[0], 2, size[1], 2).sum((-3, -1)) for v in (padded, exists))
    return np.asarray(total / count)
