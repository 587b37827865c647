"""FLIP in float64 by two-dimensional kernels, from its papers.

P. Andersson, J. Nilsson, T. Akenine-Möller, M. Oskarsson, K. Åström, M. Fairchild, "FLIP: A Difference Evaluator for
Alternating Images", HPG 2020; P. Andersson, J. Nilsson, P. Shirley, T. Akenine-Möller, "Visualizing Errors in Rendered
High Dynamic Range Images", Eurographics 2021.
"""

import math

import numpy as np
import numpy.typing as npt
from scipy import ndimage

PPD = 0.7 * 3840 / 0.7 * math.pi / 180
TO_XYZ = np.array(
    [
        [10135552 / 24577794, 8788810 / 24577794, 4435075 / 24577794],
        [2613072 / 12288897, 8788810 / 12288897, 887015 / 12288897],
        [1425312 / 73733382, 8788810 / 73733382, 70074185 / 73733382],
    ]
)
WHITE = TO_XYZ.sum(1)[:, None, None]
# a1, b1, a2, b2 of the contrast sensitivity of Y, Cx and Cz.
SENSITIVITY = ((1, 0.0047, 0, 1e-5), (1, 0.0053, 0, 1e-5), (34.1, 0.04, 13.5, 0.025))
# Numerators and denominators of the tone curves; Reinhard's divisor has the luminance.
CURVES = {
    "aces": (0.36 * 2.51, 0.6 * 0.03, 0, 0.36 * 2.43, 0.6 * 0.59, 0.14),
    "hable": (0.231683, 0.013791, 0, 0.18, 0.3, 0.018),
    "reinhard": (0, 1, 0, 0, 1, 1),
}
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])


def opponents(rgb: np.ndarray) -> np.ndarray:
    """YCxCz of linear RGB."""
    x, y, z = np.tensordot(TO_XYZ, rgb, 1) / WHITE
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def from_opponents(ycc: np.ndarray) -> np.ndarray:
    """Linear RGB of YCxCz."""
    y = (ycc[0] + 16) / 116
    xyz = np.stack([y + ycc[1] / 500, y, y - ycc[2] / 200]) * WHITE
    return np.asarray(np.tensordot(np.linalg.inv(TO_XYZ), xyz, 1))


def hunt(rgb: np.ndarray) -> np.ndarray:
    """CIELab of linear RGB, with the Hunt effect."""
    t = np.tensordot(TO_XYZ, rgb, 1) / WHITE
    d = 6 / 29
    fx, fy, fz = np.where(t > d**3, np.cbrt(t), t / (3 * d * d) + 4 / 29)
    lightness = 116 * fy - 16
    return np.stack([lightness, 0.01 * lightness * 500 * (fx - fy), 0.01 * lightness * 200 * (fy - fz)])


def hyab(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The distance of large colour differences, to the power of 0.7."""
    d = a - b
    return np.asarray((np.abs(d[0]) + np.hypot(d[1], d[2])) ** 0.7)


def sensitivity_kernel(which: int, ppd: float) -> np.ndarray:
    """A contrast sensitivity as a kernel; all have the radius of the widest."""
    a1, b1, a2, b2 = SENSITIVITY[which]
    r = math.ceil(3 * math.sqrt(0.04 / (2 * math.pi**2)) * ppd)
    y, x = np.mgrid[-r : r + 1, -r : r + 1] / ppd
    squared = x * x + y * y
    g = sum(a * math.sqrt(math.pi / b) * np.exp(-(math.pi**2) * squared / b) for a, b in ((a1, b1), (a2, b2)))
    return np.asarray(g / g.sum())


def feature_kernel(kind: str, ppd: float) -> np.ndarray:
    """The kernel of edges or points along x."""
    sigma = 0.5 * 0.082 * ppd
    r = math.ceil(3 * sigma)
    y, x = np.mgrid[-r : r + 1, -r : r + 1].astype(float)
    g = np.exp(-(x * x + y * y) / (2 * sigma * sigma))
    k = -x * g if kind == "edge" else (x * x / sigma**2 - 1) * g
    return np.where(k > 0, k / k[k > 0].sum(), np.where(k < 0, k / -k[k < 0].sum(), 0))


def filtered(plane: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """Correlates; the border is replicated."""
    return np.asarray(ndimage.correlate(plane, kernel, mode="nearest"))


def features(y: np.ndarray, kind: str, ppd: float) -> np.ndarray:
    """The magnitude of edges or points."""
    kernel = feature_kernel(kind, ppd)
    base = y - y.mean()  # loses less, as all kernels' sums are 0
    return np.hypot(filtered(base, kernel), filtered(base, kernel.T))


def flip(reference: npt.ArrayLike, test: npt.ArrayLike, ppd: float = PPD) -> np.ndarray:
    """The error map of two pictures of linear RGB planes."""
    pictures = [np.clip(np.asarray(v, np.float64), 0, 1) for v in (reference, test)]
    seen = []
    for rgb in pictures:
        ycc = opponents(rgb)
        smooth = np.stack([filtered(ycc[c], sensitivity_kernel(c, ppd)) for c in range(3)])
        seen.append(hunt(np.clip(from_opponents(smooth), 0, 1)))
    colour = hyab(*seen)
    green, blue = (hunt(np.array(v, float).reshape(3, 1, 1)) for v in ((0, 1, 0), (0, 0, 1)))
    most = float(hyab(green, blue)[0, 0])
    knee = 0.4 * most
    colour = np.where(
        colour < knee, 0.95 / knee * colour, 0.95 + (colour - knee) / (most - knee) * (1 - 0.95)
    )
    lightness = [(opponents(rgb)[0] + 16) / 116 for rgb in pictures]
    edges, points = (
        np.abs(np.subtract(*(features(y, kind, ppd) for y in lightness))) for kind in ("edge", "point")
    )
    feature = (np.maximum(edges, points) / math.sqrt(2)) ** 0.5
    return np.asarray(colour ** (1 - feature))


def tone_mapped(rgb: np.ndarray, curve: str) -> np.ndarray:
    """Light through a tone curve, clamped."""
    k = CURVES[curve]
    divisor = np.tensordot(LUMINANCE, rgb, 1) if curve == "reinhard" else rgb
    above, below = k[0] * rgb**2 + k[1] * rgb + k[2], k[3] * divisor**2 + k[4] * divisor + k[5]
    return np.asarray(np.clip(above / below, 0, 1))


def exposures(reference: npt.ArrayLike, curve: str) -> np.ndarray:
    """The automatic exposures."""
    k, t = CURVES[curve], 0.85
    a, b, c = k[0] - t * k[3], k[1] - t * k[4], k[2] - t * k[5]
    most = max(np.roots([a, b, c]).real)
    y = np.sort(np.tensordot(LUMINANCE, np.maximum(np.asarray(reference, np.float64), 0), 1), axis=None)
    least = 2.0**-23
    start, stop = (math.log2(most / max(v, least)) for v in (y[-1], y[len(y) // 2]))
    return np.linspace(start, stop, max(2, math.ceil(stop - start)))


def hdr_flip(
    reference: npt.ArrayLike, test: npt.ArrayLike, at: np.ndarray, curve: str = "aces", ppd: float = PPD
) -> tuple[np.ndarray, np.ndarray]:
    """The error map and the index of the exposure at which each pixel's error is largest."""
    pictures = [np.maximum(np.asarray(v, np.float64), 0) for v in (reference, test)]
    maps = np.stack([flip(*(tone_mapped(v * 2.0**e, curve) for v in pictures), ppd) for e in at])
    return maps.max(0), maps.argmax(0)


def formula_pair() -> tuple[np.ndarray, np.ndarray]:
    """A pair of pictures made by formulas, in sRGB-encoded values before they are rounded."""
    y, x = np.mgrid[:96, :128]
    first = np.stack([x / 127, y / 95, 0.1 + 0.8 * ((x // 8 + y // 8) % 2)])
    second = first.copy()
    second[:, 24:72, 32:96] = second[:, 24:72, 32:96] * 0.9 + 0.05
    second[:, 48, 64] = 1
    second[0, 40:44] = 1 - second[0, 40:44]
    return first, second
