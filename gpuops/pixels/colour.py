"""Colour spaces: the meaning of stored values, as curves to light and a matrix to linear Rec. 709. No OpenCL here.

Sources: SMPTE RP 177 (primaries to CIE XYZ); Lam, *Metamerism and Colour Constancy*, Bradford 1985, as in ICC.1:2022
annex E (adaptation to another white); IEC 61966-2-1 (sRGB); ICC.1:2022 10.18 (parametric curves); SMPTE ST 2084 (PQ);
ITU-R BT.2100-2 table 5 (HLG).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

Chromaticity = tuple[float, float]
Matrix = npt.NDArray[np.float64]
Values = npt.NDArray[np.float64]

#: The white of ITU-R BT.709.
D65: Chromaticity = (0.3127, 0.3290)
#: The white of ICC's connection space, ICC.1:2022 7.2.16.
D50_XYZ = np.array([0.9642, 1.0, 0.8249])
#: The luminance of red, green and blue light: ITU-R BT.709, item 3.2.
REC709_LUMINANCE = (0.2126, 0.7152, 0.0722)
#: The matrix from CIE XYZ to the cone responses of Bradford's adaptation.
BRADFORD = np.array([[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]])
#: The luminance in cd/m² that light 1 stands for: the reference white of ITU-R BT.2408.
REFERENCE_WHITE = 203.0
#: The luminance in cd/m² of PQ's largest value.
PQ_PEAK = 10000.0
#: The largest number of a matrix; larger ones come from primaries that are nearly on a line.
_MOST = 1e4
#: The largest gain of a cone response.
_MOST_GAIN = 100.0
#: The most that profiles of one space differ by, in matrices and in encoded values.
_NEARLY_ONE = 3e-3
#: Samples of a curve that has no formula on the device.
_SAMPLES = 65536


class ColourError(ValueError):
    """A colour space that makes no sense, or that is not known; the text says why."""


# Primaries and whites ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Primaries:
    """CIE 1931 (x, y) of red, green, blue and white."""

    red: Chromaticity
    green: Chromaticity
    blue: Chromaticity
    white: Chromaticity

    @classmethod
    def of(cls, numbers: tuple[float, ...]) -> Primaries:
        """Makes primaries from x and y of red, green, blue and white, in turn. Raises ColourError."""
        if len(numbers) != 8:
            raise ColourError("not eight chromaticities")
        x, y = numbers[::2], numbers[1::2]
        return cls(*zip(x, y, strict=True))

    @property
    def numbers(self) -> tuple[float, ...]:
        """x and y of red, green, blue and white, in turn."""
        return (*self.red, *self.green, *self.blue, *self.white)

    def to_xyz(self) -> Matrix:
        """Returns the matrix (3, 3) from linear RGB to CIE XYZ, where white has Y = 1. Raises ColourError."""
        columns = np.array([(x, y, 1 - x - y) for x, y in (self.red, self.green, self.blue)]).T
        if not (np.isfinite(columns).all() and all(np.isfinite(self.white)) and self.white[1] > 0):
            raise ColourError("chromaticities that make no sense")
        try:
            return np.asarray(columns * np.linalg.solve(columns, xyz(self.white)))
        except np.linalg.LinAlgError:
            raise ColourError("chromaticities that lie on a line") from None


#: The primaries of ITU-R BT.709, which sRGB has too.
REC709 = Primaries((0.64, 0.33), (0.30, 0.60), (0.15, 0.06), D65)
#: Spaces by name: ITU-R BT.601, BT.2020, BT.470; SMPTE EG 432-1 and RP 431-2; Adobe RGB (1998); ISO 22028-2;
#: SMPTE ST 2065-1; Academy S-2014-004.
NAMED = {
    "Rec. 709": REC709,
    "Rec. 601 (525 lines)": Primaries((0.630, 0.340), (0.310, 0.595), (0.155, 0.070), D65),
    "Rec. 601 (625 lines)": Primaries((0.64, 0.33), (0.29, 0.60), (0.15, 0.06), D65),
    "Display P3": Primaries((0.680, 0.320), (0.265, 0.690), (0.150, 0.060), D65),
    "DCI-P3": Primaries((0.680, 0.320), (0.265, 0.690), (0.150, 0.060), (0.314, 0.351)),
    "Rec. 2020": Primaries((0.708, 0.292), (0.170, 0.797), (0.131, 0.046), D65),
    "Adobe RGB": Primaries((0.64, 0.33), (0.21, 0.71), (0.15, 0.06), D65),
    "ProPhoto RGB": Primaries((0.7347, 0.2653), (0.1596, 0.8404), (0.0366, 0.0001), (0.3457, 0.3585)),
    "NTSC (1953)": Primaries((0.67, 0.33), (0.21, 0.71), (0.14, 0.08), (0.310, 0.316)),
    "ACES AP0": Primaries((0.7347, 0.2653), (0.0, 1.0), (0.0001, -0.0770), (0.32168, 0.33767)),
    "ACES AP1": Primaries((0.713, 0.293), (0.165, 0.830), (0.128, 0.044), (0.32168, 0.33767)),
    "CIE XYZ": Primaries((1.0, 0.0), (0.0, 1.0), (0.0, 0.0), (1 / 3, 1 / 3)),
}


def xyz(of: Chromaticity) -> Values:
    """Returns the CIE XYZ of a chromaticity, with Y = 1."""
    x, y = of
    return np.array([x / y, 1, (1 - x - y) / y])


def adaptation(source: Values, target: Values) -> Matrix:
    """Returns Bradford's matrix (3, 3) on CIE XYZ: the white ``source`` becomes ``target``. Raises ColourError."""
    responses = BRADFORD @ source
    with np.errstate(divide="ignore", invalid="ignore"):
        gains = (BRADFORD @ target) / responses
    if not (gains.min() > 0 and gains.max() <= _MOST_GAIN):
        raise ColourError("a white that is too coloured")
    return np.asarray(np.linalg.solve(BRADFORD, gains[:, np.newaxis] * BRADFORD))


def to_rec709(to_xyz: Matrix, white: Values) -> tuple[float, ...]:
    """Returns the matrix, row by row, from linear RGB to linear Rec. 709.

    ``to_xyz`` is the matrix from that RGB to CIE XYZ, and ``white`` is its white.

    Raises ColourError.
    """
    found = np.linalg.solve(REC709.to_xyz(), adaptation(white, xyz(D65)) @ to_xyz)
    if not (np.abs(found).max() <= _MOST and abs(np.linalg.det(found)) > 1 / _MOST):
        raise ColourError("primaries that make no sense")
    return tuple(float(v) for v in found.flat)


#: The matrix that changes nothing, row by row.
IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


# Curves: the light of a value 0 … 1 ----------------------------------------------------------------


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

    @property
    def name(self) -> str:
        if (self.a, self.b, self.e) == (1, 0, 0) and self.d <= 0:
            return "linear" if self.g == 1 else f"gamma {self.g:.4g}"
        return "sRGB" if alike(self, SRGB_CURVE) else "parametric curve"

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
    """The scene light of BT.2100's hybrid log-gamma; 1 is the light of a 75 % signal, BT.2408's reference white."""

    name = "HLG"

    def light(self, values: Values) -> Values:
        v = np.clip(values, 0, 1)
        a, b, c = 0.17883277, 0.28466892, 0.55991073
        scene = np.where(v <= 0.5, v * v / 3, (np.exp((v - c) / a) + b) / 12)
        return np.asarray(scene / ((np.exp((0.75 - c) / a) + b) / 12))


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
    first, second = (_srgb_signal(curve.light(v)) for curve in (a, b))
    return bool(np.abs(first - second).max() < _NEARLY_ONE)


def _srgb_signal(light: Values) -> Values:
    a = np.maximum(light, 0)
    return np.asarray(np.where(a <= 0.0031308, 12.92 * a, 1.055 * a ** (1 / 2.4) - 0.055))


# Spaces --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Colour:
    """The meaning of stored values, as fractions of their type's largest one.

    Attributes
    ----------
    curves : tuple
        One curve for all channels, or three.
    matrix : nine floats
        The matrix from the curves' light to linear Rec. 709 light, row by row.
    narrow : bool
        Whether integers have black at 16 and white at 235, times 2^(bits − 8).
    chromaticities : Primaries, optional
        The primaries where their chromaticities are known.
    called : str
        The name that a profile gives itself.
    cube : Cube, optional
        A table that makes light of red, green and blue together, in place of curves, which are then straight lines.
    """

    curves: tuple[Curve, ...] = (SRGB_CURVE,)
    matrix: tuple[float, ...] = IDENTITY
    narrow: bool = False
    chromaticities: Primaries | None = field(default=None, compare=False)
    called: str = field(default="", compare=False)
    cube: Cube | None = None

    @property
    def linear(self) -> bool:
        """Whether values are light."""
        return all(curve == LINEAR_CURVE for curve in self.curves) and not self.narrow and self.cube is None

    @property
    def is_rec709(self) -> bool:
        """Whether the primaries are those of Rec. 709 and sRGB."""
        return self.matrix == IDENTITY

    @cached_property
    def luminance(self) -> tuple[float, float, float]:
        """The shares of red, green and blue light in luminance; Rec. 709's as the recommendation rounds them."""
        if self.is_rec709:
            return REC709_LUMINANCE
        red, green, blue = REC709.to_xyz()[1] @ np.reshape(self.matrix, (3, 3))
        return float(red), float(green), float(blue)

    @property
    def light(self) -> Colour:
        """Linear light of these primaries."""
        return LINEAR if self.is_rec709 else replace(self, curves=(LINEAR_CURVE,), narrow=False, cube=None)

    @property
    def srgb_signal(self) -> Colour:
        """Light of these primaries after sRGB's curve."""
        return SRGB if self.is_rec709 else replace(self, curves=(SRGB_CURVE,), narrow=False, cube=None)

    @property
    def plain(self) -> bool:
        """Whether values are light or its signal by sRGB's curve, of whatever primaries."""
        return self.curves in ((LINEAR_CURVE,), (SRGB_CURVE,)) and not self.narrow and self.cube is None

    def relative_to(self, light: Colour) -> Colour:
        """Returns the space whose matrix leads to other light than Rec. 709's."""
        inverse = np.linalg.inv(np.reshape(light.matrix, (3, 3)))
        matrix = inverse @ np.reshape(self.matrix, (3, 3))
        return replace(self, matrix=tuple(float(v) for v in matrix.flat), chromaticities=None)

    @property
    def transfer(self) -> str:
        """The name of the curves, or of the table."""
        if self.cube is not None:
            return self.cube.name
        return " / ".join(dict.fromkeys(curve.name for curve in self.curves))

    @cached_property
    def primaries(self) -> str:
        """The primaries' name, or their chromaticities."""
        for name, known in NAMED.items():
            if (
                np.abs(np.subtract(self.matrix, to_rec709(known.to_xyz(), xyz(known.white)))).max()
                < _NEARLY_ONE
            ):
                return name
        x, y = (self.known_primaries.numbers[k:6:2] for k in (0, 1))
        return ", ".join(f"({a:.4f}, {b:.4f})" for a, b in zip(x, y, strict=True))

    @property
    def known_primaries(self) -> Primaries:
        """The primaries' chromaticities where they are known, else those after adaptation to the white D65."""
        if self.chromaticities is not None:
            return self.chromaticities
        columns = (REC709.to_xyz() @ np.reshape(self.matrix, (3, 3))).T
        red, green, blue = (
            (float(x), float(y)) for x, y in (column[:2] / column.sum() for column in columns)
        )
        return Primaries(red, green, blue, D65)

    def light_of_codes(self, dtype: str) -> npt.NDArray[np.float32]:
        """Returns the light, before the matrix, of each code of an integer type: a row for each curve."""
        values = self.full_range(np.linspace(0, 1, np.iinfo(dtype).max + 1), dtype)
        return np.stack([curve.light(values) for curve in self.curves]).astype(np.float32)

    def full_range(self, values: Values, dtype: str) -> Values:
        """Rescales fractions of an integer type's largest value of a narrow range: black becomes 0 and white 1."""
        if not self.narrow:
            return values
        largest = np.iinfo(dtype).max
        unit = (largest + 1) / 256
        return np.clip((values * largest - 16 * unit) / (219 * unit), 0, 1)

    def formulas(self, levels: str | None = None) -> dict[int, tuple[float, ...]]:
        """Returns the numbers of curves with a formula on the device, by their index; ``levels`` as for samples."""
        if self.narrow and levels is not None:
            return {}
        return {i: curve.numbers for i, curve in enumerate(self.curves) if isinstance(curve, Parametric)}

    def samples(self, levels: str | None = None) -> npt.NDArray[np.float32] | None:
        """Returns light at equal steps of the values, a row for each curve; None where all curves have formulas.

        ``levels``: the integer type if values are fractions of its largest one; a narrow range is then rescaled, see
        :meth:`full_range`.
        """
        if len(self.formulas(levels)) == len(self.curves):
            return None
        counts = {len(curve.samples) if isinstance(curve, Sampled) else 0 for curve in self.curves}
        values = np.linspace(0, 1, (counts.pop() if len(counts) == 1 else 0) or _SAMPLES)
        if levels is not None:
            values = self.full_range(values, levels)
        return np.stack([curve.light(values) for curve in self.curves]).astype(np.float32)


#: The colour space sRGB.
SRGB = Colour(chromaticities=REC709)
#: Linear light with the primaries of sRGB.
LINEAR = Colour((LINEAR_CURVE,), chromaticities=REC709)


def unusual(colour: Colour) -> Colour | None:
    """Returns the space, or None where it is sRGB or linear Rec. 709 light."""
    return None if colour in (SRGB, LINEAR) else colour


def of_primaries(primaries: Primaries, *curves: Curve, narrow: bool = False) -> Colour:
    """Returns the space of these primaries and curves. Raises ColourError."""
    matrix = to_rec709(primaries.to_xyz(), xyz(primaries.white))
    return Colour(curves, matrix, narrow, primaries)


def of_signal(transfer: str, gamma: float) -> Colour:
    """Returns the space of the signal that a tone mapping's transfer makes: see gpuops.ops.tonemap.TonemapParams."""
    curves: dict[str, Curve] = {
        "srgb": SRGB_CURVE,
        "linear": LINEAR_CURVE,
        "gamma": Parametric(gamma),
        "pq": Pq(),
    }
    return Colour((curves[transfer],), chromaticities=REC709)


def usual(colour: Colour) -> Colour:
    """Returns the same space with rounding removed: what is nearly sRGB, linear or Rec. 709 becomes exactly that.

    Curves stay as they are unless all of them are nearly the same known one: tables of three channels, one of which is
    nearly sRGB's, end at the same values.
    """
    known = (SRGB_CURVE, LINEAR_CURVE)
    curves = next(((k,) for k in known if all(alike(c, k) for c in colour.curves)), colour.curves)
    rec709 = np.abs(np.subtract(colour.matrix, IDENTITY)).max() < _NEARLY_ONE
    return replace(
        colour,
        curves=tuple(curves if len(set(curves)) > 1 else curves[:1]),
        matrix=IDENTITY if rec709 else colour.matrix,
        chromaticities=REC709 if rec709 else colour.chromaticities,
    )
