"""Unsharp mask against its formula in double, with scipy's Gaussian."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import gaussian_filter

from gpuops.ops.sharpen import SharpenParams

from . import tolerance

TOLERANCE = tolerance.SHARPEN
IDENTITIES = [SharpenParams(amount=0), SharpenParams(sigma=0)]


def reference(x: np.ndarray, colours: int, p: SharpenParams) -> np.ndarray:  # type: ignore[type-arg]
    d = x - gaussian_filter(x, (0, p.sigma, p.sigma), truncate=8)
    if p.of == "colours" or colours == 1:
        sharp = np.where(abs(d) <= p.threshold, x, np.maximum(x + p.amount * d, np.minimum(x, 0)))
    else:
        y, dy = (np.tensordot((0.2126, 0.7152, 0.0722), planes[:3], 1) for planes in (x, d))
        gain = np.maximum(1 + p.amount * dy / np.where(y > 0, y, 1), 0)
        sharp = x * np.where((abs(dy) <= p.threshold) | (y <= 0), 1, gain)
    return np.concatenate([sharp[:colours], x[colours:]])
