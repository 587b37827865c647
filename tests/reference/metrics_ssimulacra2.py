"""SSIMULACRA 2.1 in float64, from the description in cloudinary/ssimulacra2 and libjxl's constants."""

import numpy as np
import numpy.typing as npt
import scipy.ndimage

from gpuops.metrics.ssimulacra2 import _WEIGHTS  # data: known scores say whether they are right

MIX = np.array([[0.3, 0.622, 0.078], [0.23, 0.692, 0.078], [0.24342268924547819, 0.20476744424496821, 0.0]])
MIX[2, 2] = 1 - MIX[2, 0] - MIX[2, 1]
BIAS = 0.0037930732552754493


def taps(sigma: float = 1.5) -> np.ndarray:
    """Returns the impulse response of Charalampidis's recursive Gaussian (2016), by his equations' numbers.

    It is Σ βₖ cos(ωₖ n) for |n| < N. β makes its sum 1 and its variance σ², and has a third condition.
    """
    size = round(3.2795 * sigma + 0.2546)  # (57)
    omega = np.array([1, 3, 5]) * np.pi / (2 * size)  # Table I
    signs = np.array([1, -1, 1])
    p = signs / np.tan(omega / 2)  # (37)
    r = signs * p**2 / np.sin(omega)  # (44)
    rho = np.exp(-((sigma * omega) ** 2) / 2) / size  # (50)
    zeta = np.cross(p, r)  # (52), before its division by the last
    zeta /= zeta[2]
    beta = np.linalg.solve([p, r, zeta], [1, size**2 - sigma**2, zeta @ rho])  # (53) to (56)
    n = np.arange(1 - size, size)
    return np.asarray(beta @ np.cos(np.outer(omega, n)))


def xyb(rgb: np.ndarray) -> np.ndarray:
    """Returns positive XYB of linear RGB."""
    roots = np.cbrt(np.maximum(np.tensordot(MIX, rgb, 1) + BIAS, 0)) - np.cbrt(BIAS)
    x, y, b = (roots[0] - roots[1]) / 2, (roots[0] + roots[1]) / 2, roots[2]
    return np.stack([14 * x + 0.42, y + 0.01, b - y + 0.55])


def blurred(plane: np.ndarray) -> np.ndarray:
    for axis in (0, 1):
        plane = scipy.ndimage.correlate1d(plane, taps(), axis, mode="constant", cval=0.0)
    return plane


def halved(rgb: np.ndarray) -> np.ndarray:
    _, height, width = rgb.shape
    padded = np.pad(rgb, ((0, 0), (0, height % 2), (0, width % 2)), "edge")
    return np.asarray((padded[:, ::2] + padded[:, 1::2]).reshape(3, -1, padded.shape[2] // 2, 2).sum(3) / 4)


def errors(a: np.ndarray, b: np.ndarray) -> list[np.ndarray]:
    """Returns the maps of structure, ringing and blur of one plane of XYB."""
    mu_a, mu_b = blurred(a), blurred(b)
    covariance = 2 * (blurred(a * b) - mu_a * mu_b) + 0.0009
    variances = (blurred(a * a) - mu_a**2) + (blurred(b * b) - mu_b**2) + 0.0009
    structure = 1 - (1 - (mu_a - mu_b) ** 2) * covariance / variances
    edges = (1 + np.abs(b - mu_b)) / (1 + np.abs(a - mu_a)) - 1
    return [np.maximum(v, 0) for v in (structure, edges, -edges)]


def norms(a: npt.ArrayLike, b: npt.ArrayLike) -> np.ndarray:
    """Returns the norms by plane, scale, norm and error, of linear RGB or gray."""
    pictures = [
        np.broadcast_to(np.asarray(v, np.float64), (3, *np.shape(v)[1:])).astype(np.float64) for v in (a, b)
    ]
    found: list[list[list[float]]] = [[], [], []]
    for scale in range(6):
        if min(pictures[0].shape[1:]) < 8:
            break
        if scale:
            pictures = [halved(v) for v in pictures]
        for plane, (p, q) in enumerate(zip(*(xyb(v) for v in pictures), strict=True)):
            maps = errors(p, q)
            found[plane].append([float(v.mean()) for v in maps])
            found[plane].append([float((v**4).mean() ** 0.25) for v in maps])
    return np.array(found)


def score(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    values = norms(a, b).ravel()
    s = float(values @ _WEIGHTS[: values.size]) * 0.9562382616834844
    s = 2.326765642916932 * s - 0.020884521182843837 * s**2 + 6.248496625763138e-05 * s**3
    return 100 - 10 * s**0.6276336467831387 if s > 0 else 100.0
