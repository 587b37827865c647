"""Filters by their definitions, in float64."""

from functools import partial

import numpy as np
import scipy.ndimage
import scipy.signal

from gpuops.params.bilateral import BilateralParams

from . import borders


def convolved(x: np.ndarray, w: np.ndarray, mode: str, cval: float) -> np.ndarray:
    """By the definition; scipy.ndimage's own reflect is wrong where the kernel is several times the image's size."""
    by, bx = w.shape
    padded = borders.pad(x, ((by, by), (bx, bx)), mode, cval)
    whole = scipy.signal.convolve(padded, w, method="auto")  # by float64 transforms for large kernels
    return whole[by + by // 2 :, bx + bx // 2 :][: x.shape[0], : x.shape[1]]


def median(x: np.ndarray, radius: tuple[int, int], mode: str = "reflect", cval: float = 0) -> np.ndarray:
    """scipy's; of float16, which it has not, by way of float32."""
    size = (2 * radius[0] + 1, 2 * radius[1] + 1)
    wide = x.astype(np.float32) if x.dtype == np.float16 else x
    median_of = partial(borders.filtered, scipy.ndimage.median_filter, mode=mode, reach=radius[1], cval=cval)
    planes = [median_of(p, size) for p in wide]
    return np.stack(planes).astype(x.dtype)


def bilateral(x: np.ndarray, params: BilateralParams, alpha: bool = False) -> np.ndarray:
    """The filtered planes, all of them colours but an alpha's: sums of products over the window, as defined."""
    x, r = x.astype(float), params.radius
    colours = x[: len(x) - alpha]
    padded = borders.pad(x, [(0, 0), (r, r), (r, r)], params.border, params.cval)
    sums, total = np.zeros_like(x), np.zeros(x.shape[1:])
    for j in range(-r, r + 1):
        for i in range(-r, r + 1):
            if params.window == "round" and i * i + j * j > r * r:
                continue
            v = padded[:, r + j : r + j + x.shape[1], r + i : r + i + x.shape[2]]
            with np.errstate(invalid="ignore"):
                squares = ((v[: len(colours)] - colours) ** 2).sum(0)
            space = (i * i + j * j) / params.sigma_spatial**2
            w = np.exp(-0.5 * (space + squares / params.sigma_color**2))
            w[~np.isfinite(v).all(0)] = 0
            sums += w * np.where(w > 0, v, 0)
            total += w
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(x).all(0), sums / total, x)
