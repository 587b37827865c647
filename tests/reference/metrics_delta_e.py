"""Colour differences in float64: CIEDE2000 with angles in degrees as Sharma et al. print it; BT.2124; CIE 15."""

import numpy as np

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


def _hue(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray(np.where((a == 0) & (b == 0), 0.0, np.degrees(np.arctan2(b, a)) % 360))


def delta_2000(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    def cos(degrees: np.ndarray) -> np.ndarray:
        return np.asarray(np.cos(np.radians(degrees)))

    chroma = (np.hypot(p[1], p[2]) + np.hypot(q[1], q[2])) / 2
    g = 0.5 * (1 - np.sqrt(chroma**7 / (chroma**7 + 25.0**7)))
    a1, a2 = (1 + g) * p[1], (1 + g) * q[1]
    c1, c2, h1, h2 = np.hypot(a1, p[2]), np.hypot(a2, q[2]), _hue(a1, p[2]), _hue(a2, q[2])
    gray = c1 * c2 == 0
    dh = h2 - h1
    dh = np.where(dh > 180, dh - 360, np.where(dh < -180, dh + 360, dh))
    dh = np.where(gray, 0.0, dh)
    hue = (h1 + h2) / 2
    hue = np.where(np.abs(h1 - h2) > 180, np.where(h1 + h2 < 360, hue + 180, hue - 180), hue)
    hue = np.where(gray, h1 + h2, hue)
    mean_l, mean_c = (p[0] + q[0]) / 2, (c1 + c2) / 2
    t = 1 - 0.17 * cos(hue - 30) + 0.24 * cos(2 * hue) + 0.32 * cos(3 * hue + 6) - 0.20 * cos(4 * hue - 63)
    r_c = 2 * np.sqrt(mean_c**7 / (mean_c**7 + 25.0**7))
    r_t = -np.sin(np.radians(60 * np.exp(-(((hue - 275) / 25) ** 2)))) * r_c
    s_l = 1 + 0.015 * (mean_l - 50) ** 2 / np.sqrt(20 + (mean_l - 50) ** 2)
    l_term = (q[0] - p[0]) / s_l
    c_term = (c2 - c1) / (1 + 0.045 * mean_c)
    h_term = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(dh) / 2) / (1 + 0.015 * mean_c * t)
    return np.asarray(np.sqrt(l_term**2 + c_term**2 + h_term**2 + r_t * c_term * h_term))


def delta(method: str, p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Differences of coordinates."""
    return {"76": delta_76, "2000": delta_2000, "itp": delta_itp}[method](p, q)


def of_light(method: str, p: np.ndarray, q: np.ndarray, white: float = 203.0) -> np.ndarray:
    """Differences of linear Rec. 709 light."""
    p, q = (ictcp(v, white) if method == "itp" else lab(v) for v in (p, q))
    return delta(method, p, q)
