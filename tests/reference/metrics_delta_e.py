"""Colour differences in float64: CIEDE2000 by scikit-image, whose values are Sharma's; BT.2124; CIE 15."""

import numpy as np
from skimage import color

# D65, from the chromaticities of ITU-R BT.709.
_WHITE = np.array([0.3127 / 0.3290, 1.0, (1 - 0.3127 - 0.3290) / 0.3290])


def _to_xyz(*primaries: tuple[float, float]) -> np.ndarray:
    """The matrix to CIE XYZ by SMPTE RP 177."""
    columns = np.array([(x / y, 1.0, (1 - x - y) / y) for x, y in primaries]).T
    return np.asarray(columns * np.linalg.solve(columns, _WHITE))


REC709 = _to_xyz((0.64, 0.33), (0.30, 0.60), (0.15, 0.06))
REC2020 = _to_xyz((0.708, 0.292), (0.170, 0.797), (0.131, 0.046))


def colours(light: np.ndarray) -> np.ndarray:
    """Three planes in float64, of gray too."""
    return np.broadcast_to(light.astype(np.float64), (3, *light.shape[1:]))


def lab(light: np.ndarray) -> np.ndarray:
    x, y, z = np.tensordot(REC709 / _WHITE[:, None], colours(light), 1)
    fx, fy, fz = (np.where(t > (24 / 116) ** 3, np.cbrt(t), (841 / 108) * t + 16 / 116) for t in (x, y, z))
    return np.stack([116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)])


def pq(nits: np.ndarray) -> np.ndarray:
    m1, m2 = 2610 / 16384, 2523 / 4096 * 128
    c1, c2, c3 = 3424 / 4096, 2413 / 4096 * 32, 2392 / 4096 * 32
    y = (nits / 10000) ** m1
    return np.asarray(((c1 + c2 * y) / (1 + c3 * y)) ** m2)


def ictcp(light: np.ndarray, white: float) -> np.ndarray:
    """I, Ct and Cp of linear Rec. 709 light, whose negative values in Rec. 2020 count as 0."""
    rgb = np.maximum(np.tensordot(np.linalg.solve(REC2020, REC709), colours(light) * white, 1), 0)
    cones = np.array([[1688, 2146, 262], [683, 2951, 462], [99, 309, 3688]]) / 4096
    to_ictcp = np.array([[2048, 2048, 0], [6610, -13613, 7003], [17933, -17390, -543]]) / 4096
    return np.asarray(np.tensordot(to_ictcp, pq(np.tensordot(cones, rgb, 1)), 1))


def delta_76(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    return np.asarray(np.sqrt(((p - q) ** 2).sum(0)))


def delta_itp(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    i, t, c = p - q
    return np.asarray(720 * np.sqrt(i**2 + (t / 2) ** 2 + c**2))


def delta_2000(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    return np.asarray(color.deltaE_ciede2000(p, q, channel_axis=0))


def delta(method: str, p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Differences of coordinates."""
    return {"76": delta_76, "2000": delta_2000, "itp": delta_itp}[method](p, q)


def of_light(method: str, p: np.ndarray, q: np.ndarray, white: float = 203.0) -> np.ndarray:
    """Differences of linear Rec. 709 light."""
    p, q = (ictcp(v, white) if method == "itp" else lab(v) for v in (p, q))
    return delta(method, p, q)
