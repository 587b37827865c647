"""Curves of colour spaces, and tables in place of curves: the light of stored values 0 … 1.

Sources: IEC 61966-2-1 (sRGB); ICC.1:2022 10.18 (parametric curves); SMPTE ST 2084 (PQ); ITU-R BT.2100-2 table 5 (HLG);
ITU-R BT.2408, section 6 (PQ and HLG beside each other: at 1000 cd/m²).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from .primaries import D50_XYZ, Values

#: The luminance in cd/m² that light 1 stands for: the reference white of ITU-R BT.2408.
REFERENCE_WHITE = 203.0
#: The luminance in cd/m² of PQ's largest value.
PQ_PEAK = 10000.0
#: The luminance in cd/m² of the display that HLG is seen on, and the exponent of its opto-optical transfer function.
HLG_PEAK, HLG_GAMMA = 1000.0, 1.2
#: The most that encoded values of one curve differ by.
_NEARLY_ONE = 3e-3


@dataclass(frozen=True)
class Parametric:
    """(a V + b)^g + e from V = d on, c V + f below. Light of −V is minus that of V: negative values survive."""

    g: float
    a: float = 1.0
    b: float = 0.0
    c: float = 0.0
    d: float = 0.0
    e: float = 0.0
    f: float = 0.0

    @property
    def numbers(self) -> tuple[float, ...]:
        return self.g, self.a, self.b, self.c, self.d, self.e, self.f

    @cached_property
    def name(self) -> str:
        if (self.a, self.b, self.e) == (1, 0, 0) and self.d <= 0:
            return "linear" if self.g == 1 else f"gamma {self.g:.4g}"
        known = {"sRGB": SRGB_CURVE, "BT.709": BT709_CURVE}
        return next((name for name, curve in known.items() if alike(self, curve)), "parametric curve")

    def light(self, values: Values) -> Values:
        v = np.abs(values)
        above = np.maximum(self.a * v + self.b, 0.0) ** self.g + self.e
        light = np.where(v >= self.d, above, self.c * v + self.f)
        return np.asarray(np.where(values < 0, -light, light))


@dataclass(frozen=True)
class Sampled:
    """Straight lines between samples at equal steps; constant beyond."""

    samples: tuple[float, ...]
    called: str = ""

    @property
    def name(self) -> str:
        return self.called or ("sRGB" if alike(self, SRGB_CURVE) else f"curve of {len(self.samples)} points")

    def light(self, values: Values) -> Values:
        n = len(self.samples)
        return np.asarray(np.interp(values, np.arange(n) / (n - 1), self.samples))


@dataclass(frozen=True)
class Pq:
    """SMPTE ST 2084, in units of 203 cd/m²."""

    name = "PQ"

    def light(self, values: Values) -> Values:
        power = np.clip(values, 0, 1) ** (32 / 2523)
        ratio = np.maximum(power - 0.8359375, 0) / (18.8515625 - 18.6875 * power)
        return np.asarray(ratio ** (8192 / 1305) * (PQ_PEAK / REFERENCE_WHITE))


@dataclass(frozen=True)
class Hlg:
    """BT.2100's hybrid log-gamma: the light of the scene, not of the display.

    Its opto-optical transfer function makes display light of that: each colour times Y^(γ − 1), where Y is their
    luminance. The unit is such that grays of 1 become 203 cd/m² on a display of 1000 cd/m²: a signal of 75 %.
    """

    name = "HLG"

    def light(self, values: Values) -> Values:
        v = np.clip(values, 0, 1)
        a, b, c = 0.17883277, 0.28466892, 0.55991073
        scene = np.where(v <= 0.5, v * v / 3, (np.exp((v - c) / a) + b) / 12)
        return np.asarray(scene * (HLG_PEAK / REFERENCE_WHITE) ** (1 / HLG_GAMMA))


@dataclass(frozen=True)
class Cube:
    """Tetrahedra between the colours of equal steps of red, green and blue; constant beyond 0 … 1.

    Attributes
    ----------
    entries : bytes
        float32 (n, n, n, 4): for each step of blue, of green and of red CIELAB's f of X, Y and Z relative to the white
        D50 (CIE 15:2018, 8.2.1), and 0. Many profiles are straight lines in these, and all of them are smooth.
    profile : bytes
        The ICC profile that it was made of.
    """

    entries: bytes = field(repr=False)
    profile: bytes = field(repr=False)

    name = "table"

    @property
    def size(self) -> int:
        """The number of steps along an axis."""
        return round(float(np.cbrt(len(self.entries) / 16)))

    @classmethod
    def of_xyz(cls, values: Values, profile: bytes) -> Cube:
        """Makes one of CIE XYZ (blue, green, red, 3) under D50."""
        relative = values / D50_XYZ
        entries = np.zeros((*values.shape[:3], 4), np.float32)
        entries[..., :3] = np.where(
            relative > (6 / 29) ** 3, np.cbrt(relative), relative / (3 * (6 / 29) ** 2) + 4 / 29
        )
        return cls(entries.tobytes(), profile)


Curve = Parametric | Sampled | Pq | Hlg

#: The curve of values that are light.
LINEAR_CURVE = Parametric(1.0)
#: The curve of sRGB (IEC 61966-2-1).
SRGB_CURVE = Parametric(2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)
#: The curve of Adobe RGB (1998), 4.3.1.2.
ADOBE_CURVE = Parametric(563 / 256)
#: The constant α of ITU-R BT.709's curve V = α L^0.45 − (α − 1); below β it is 4.5 L.
_ALPHA = 1.099296826809442
#: The constant β of this curve.
_BETA = 0.018053968510807
#: The inverse of this curve, which is BT.2020's, too.
BT709_CURVE = Parametric(1 / 0.45, 1 / _ALPHA, (_ALPHA - 1) / _ALPHA, 1 / 4.5, 4.5 * _BETA)


def alike(a: Curve, b: Curve) -> bool:
    """Says whether the sRGB signals of two curves' light differ by less than a step of 8 bits everywhere."""
    v = np.linspace(0, 1, 257)
    first, second = (srgb_signal(np.maximum(curve.light(v), 0)) for curve in (a, b))
    return bool(np.abs(first - second).max() < _NEARLY_ONE)


def srgb_signal(light: Values) -> Values:
    """Returns the sRGB signal of light, in the type of light; that of −L is minus that of L."""
    a = np.abs(light)
    signal = np.where(a <= 0.0031308, 12.92 * a, 1.055 * a ** (1 / 2.4) - 0.055)
    return np.asarray(np.copysign(signal, light))
