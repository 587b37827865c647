"""Tone mapping operators in float64, written from their publications; pixels are (3, …) arrays of linear Rec. 709."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

REC709 = np.array([0.2126, 0.7152, 0.0722])


def luminance(c: np.ndarray) -> np.ndarray:
    return np.tensordot(REC709, c, 1)


def matrix(m: npt.ArrayLike, c: np.ndarray) -> np.ndarray:
    return np.tensordot(np.asarray(m, np.float64), c, 1)


def linear(c: np.ndarray, white: float) -> np.ndarray:
    return c


def reinhard(c: np.ndarray, white: float) -> np.ndarray:
    """Reinhard et al. 2002, equation 3, colours scaled with the luminance."""
    y = luminance(c)
    return c * np.divide(y / (1 + y), y, out=np.ones_like(y), where=y > 0)


def reinhard_extended(c: np.ndarray, white: float) -> np.ndarray:
    """Equation 4."""
    y = luminance(c)
    return c * np.divide(y * (1 + y / white**2) / (1 + y), y, out=np.ones_like(y), where=y > 0)


def aces_narkowicz(c: np.ndarray, white: float) -> np.ndarray:
    a, b, d, e, f = 2.51, 0.03, 2.43, 0.59, 0.14
    return np.clip((c * (a * c + b)) / (c * (d * c + e) + f), 0, 1)


def aces_hill(c: np.ndarray, white: float) -> np.ndarray:
    c = matrix([[0.59719, 0.35458, 0.04823], [0.07600, 0.90834, 0.01566], [0.02840, 0.13383, 0.83777]], c)
    c = (c * (c + 0.0245786) - 0.000090537) / (c * (0.983729 * c + 0.4329510) + 0.238081)
    c = matrix(
        [[1.60475, -0.53108, -0.07367], [-0.10208, 1.10813, -0.00605], [-0.00327, -0.07276, 1.07602]], c
    )
    return np.clip(c, 0, 1)


def rgb_to_xyz(primaries: list[tuple[float, float]]) -> np.ndarray:
    """SMPTE RP 177 with the white point D65 (0.3127, 0.3290)."""
    columns = np.array([[x / y, 1, (1 - x - y) / y] for x, y in primaries]).T
    white = np.array([0.3127 / 0.3290, 1, (1 - 0.3127 - 0.3290) / 0.3290])
    return columns * np.linalg.solve(columns, white)


TO_2020 = np.linalg.solve(
    rgb_to_xyz([(0.708, 0.292), (0.170, 0.797), (0.131, 0.046)]),
    rgb_to_xyz([(0.64, 0.33), (0.30, 0.60), (0.15, 0.06)]),
)
# Blender 4's configuration (EaryChow), as in Filament and three.js
INSET = [
    [0.856627153315983, 0.0951212405381588, 0.0482516061458583],
    [0.137318972929847, 0.761241990602591, 0.101439036467562],
    [0.11189821299995, 0.0767994186031903, 0.811302368396859],
]
OUTSET = [
    [1.1271005818144368, -0.11060664309660323, -0.016493938717834573],
    [-0.1413297634984383, 1.157823702216272, -0.016493938717834257],
    [-0.14132976349843826, -0.11060664309660294, 1.2519364065950405],
]


AGX_END = 0.99858  # the published polynomial's value at 1, where Sobotka's curve is 1


def _agx(
    c: np.ndarray, slope: npt.ArrayLike = 1.0, power: float = 1.0, saturation: float = 1.0
) -> np.ndarray:
    low, high = -12.47393, 4.026069
    c = matrix(INSET, matrix(TO_2020, c))
    x = np.clip((np.log2(np.maximum(c, 1e-10)) - low) / (high - low), 0, 1)
    c = 15.5 * x**6 - 40.14 * x**5 + 31.96 * x**4 - 6.868 * x**3 + 0.4298 * x**2 + 0.1191 * x - 0.00232
    c /= AGX_END
    if saturation != 1:  # ASC CDL
        slopes = np.broadcast_to(slope, 3).reshape(3, *[1] * (c.ndim - 1))
        c = np.maximum(c * slopes, 0) ** power
        y = luminance(c)
        c = y + saturation * (c - y)
    c = np.maximum(matrix(OUTSET, c), 0) ** 2.2
    return np.clip(matrix(np.linalg.inv(TO_2020), c), 0, 1)


def agx(c: np.ndarray, white: float) -> np.ndarray:
    return _agx(c)


def agx_punchy(c: np.ndarray, white: float) -> np.ndarray:
    return _agx(c, 1.0, 1.35, 1.4)


def agx_golden(c: np.ndarray, white: float) -> np.ndarray:
    return _agx(c, [1.0, 0.9, 0.5], 0.8, 0.8)


def khronos_neutral(c: np.ndarray, white: float) -> np.ndarray:
    """The specification's formulas, with its names."""
    f90 = 0.04
    ks, kd = 0.8 - f90, 0.15
    x = c.min(0)
    f = np.where(x <= 2 * f90, x - x**2 / (4 * f90), f90)
    p = (c - f).max(0)
    pn = 1 - (1 - ks) ** 2 / (np.maximum(p, ks) + 1 - 2 * ks)
    g = 1 / (kd * (p - pn) + 1)
    return np.where(p <= ks, c - f, (c - f) * pn / np.where(p > ks, p, 1) * g + pn * (1 - g))


def hable(c: np.ndarray, white: float) -> np.ndarray:
    def f(x: np.ndarray) -> np.ndarray:
        a, b, cc, d, e, ff = 0.15, 0.50, 0.10, 0.20, 0.02, 0.30
        return (x * (a * x + cc * b) + d * e) / (x * (a * x + b) + d * ff) - e / ff

    return f(2 * c) / f(np.float64(white))


def drago(c: np.ndarray, white: float) -> np.ndarray:
    """Equation 4 with Ldmax 100, bias 0.85; the adaptation luminance is what exposure brought to 0.18."""
    y = np.maximum(luminance(c), np.finfo(np.float32).tiny)
    lw, most = y / 0.18, white / 0.18
    ld = (
        100
        * 0.01
        / np.log10(most + 1)
        * np.log(lw + 1)
        / np.log(2 + 8 * (lw / most) ** (np.log(0.85) / np.log(0.5)))
    )
    return c * ld / y


def reinhard_devlin(c: np.ndarray, white: float) -> np.ndarray:
    """Equations 1 to 8 of Reinhard and Devlin 2005 for full local adaptation, with the parameters in GIVEN."""
    given = GIVEN["reinhard-devlin"]
    adaptation = given["chroma"] * c + (1 - given["chroma"]) * luminance(c)
    sigma = (np.exp(-given["intensity"]) * adaptation) ** given["contrast"]
    return np.divide(c, c + sigma, out=np.zeros_like(c), where=c > 0)


def sigmoid(c: np.ndarray, white: float) -> np.ndarray:
    """Gives x^n / (x^n + s), with s such that 0.18 stays 0.18."""
    n = GIVEN["sigmoid"]["contrast"]
    s = 0.18**n * (1 - 0.18) / 0.18
    return c**n / (c**n + s)


OPERATORS: dict[str, Callable[[np.ndarray, float], np.ndarray]] = {
    "linear": linear, "reinhard": reinhard, "reinhard-channels": lambda c, white: c / (1 + c),
    "reinhard-extended": reinhard_extended,
    "reinhard-extended-channels": lambda c, white: c * (1 + c / white**2) / (1 + c),
    "reinhard-devlin": reinhard_devlin, "aces-narkowicz": aces_narkowicz, "aces-hill": aces_hill, "agx": agx,
    "agx-punchy": agx_punchy, "agx-golden": agx_golden, "khronos-neutral": khronos_neutral, "hable": hable,
    "drago": drago, "sigmoid": sigmoid,
}  # fmt: skip


# The values that the references take for the parameters that operators otherwise meter.
GIVEN: dict[str, dict[str, float]] = {
    "reinhard-extended": {"white": 4.0},
    "reinhard-extended-channels": {"white": 4.0},
    "drago": {"white": 4.0},
    "hable": {"white": 4.0},
    "reinhard-devlin": {"contrast": 0.6, "intensity": 0.5, "adaptation": 1.0, "chroma": 0.25},
    "sigmoid": {"contrast": 1.7},
}


def pq(v: np.ndarray) -> np.ndarray:
    """SMPTE ST 2084, 1 at 203 cd/m²."""
    m1, m2, c1, c2, c3 = 2610 / 16384, 2523 / 4096 * 128, 3424 / 4096, 2413 / 4096 * 32, 2392 / 4096 * 32
    y = np.minimum(v * 203 / 10000, 1) ** m1
    return ((c1 + c2 * y) / (1 + c3 * y)) ** m2
