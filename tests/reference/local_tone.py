"""Local tone mapping in float64, written from the publications; light is (3, height, width) of linear Rec. 709."""

from dataclasses import dataclass

import numpy as np
import scipy.ndimage


@dataclass(frozen=True)
class Dodging:
    """Luminance around each pixel at nine scales, and how uneven it is at eight: (scales, height, width)."""

    around: np.ndarray
    activity: np.ndarray

    def gains(self, threshold: float) -> np.ndarray:
        """1/(1 + V) at the largest scale up to which activity is below the threshold, else at the smallest."""
        even = np.cumprod(self.activity < threshold, axis=0).sum(0)
        chosen = np.maximum(even - 1, 0)
        return 1 / (1 + np.take_along_axis(self.around, chosen[None], 0)[0])


def dodging(luminance: np.ndarray, key: float = 0.18, phi: float = 8.0) -> Dodging:
    """Reinhard et al. 2002, section 3.2: equations 5 to 7 with α1 = 1/(2√2), and 1.6 α1 for the surround."""
    alpha = 1 / (2 * np.sqrt(2))

    def response(a: float, s: float) -> np.ndarray:
        sigma = a * s / np.sqrt(2)  # exp(−r²/(a s)²)
        return scipy.ndimage.gaussian_filter(luminance, sigma, truncate=12)

    scales = 1.6 ** np.arange(8)
    v1 = np.stack([response(alpha, s) for s in scales])
    v2 = np.stack([response(1.6 * alpha, s) for s in scales])
    sharpening = (2.0**phi * key / scales**2)[:, None, None]
    return Dodging(v1, np.abs(v1 - v2) / (sharpening + v1))


def bilateral(x: np.ndarray, sigma_color: float, sigma_spatial: float) -> np.ndarray:
    """The filtered plane (height, width). Pixels beyond it weigh nothing; pixels that are not finite weigh nothing, and
    stay."""
    height, width = x.shape
    rows, columns = (np.exp(-0.5 * (np.arange(1 - n, n) / sigma_spatial) ** 2) for n in (height, width))
    known = np.isfinite(x)
    value = np.where(known, x, 0)
    result = x.copy()
    for j, i in np.argwhere(known).tolist():
        near = rows[height - 1 - j : 2 * height - 1 - j, None] * columns[width - 1 - i : 2 * width - 1 - i]
        w = near * np.exp(-0.5 * ((value - x[j, i]) / sigma_color) ** 2) * known
        result[j, i] = (w * value).sum() / w.sum()
    return result


def durand(
    log_luminance: np.ndarray,
    base: np.ndarray,
    contrast: float = 50.0,
    shadows: float = 0.0,
    highlights: float = 0.0,
) -> np.ndarray:
    """Durand & Dorsey 2002 in decades: the gain that compresses the base, whose brightest becomes 1."""
    lowest, highest = np.percentile(base, [shadows, 100 - highlights])
    base = np.clip(base, lowest, highest)
    factor = min(1.0, np.log10(contrast) / (highest - lowest))
    detail = log_luminance - base
    return 10 ** (factor * (base - highest) + detail - log_luminance)
