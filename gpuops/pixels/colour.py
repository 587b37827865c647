"""Colour spaces: the meaning of stored values, as curves to light and a matrix to linear Rec. 709. No OpenCL here."""

from __future__ import annotations

from dataclasses import field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..records import dataclass
from .curves import HLG_GAMMA, LINEAR_CURVE, SRGB_CURVE, Cube, Curve, Hlg, Parametric, Pq, Sampled, alike
from .primaries import D65, IDENTITY, NAMED, REC709, REC709_LUMINANCE, Primaries, Values, to_rec709, xyz

#: The most that profiles of one space differ by, in matrices.
_NEARLY_ONE = 3e-3
#: Samples of a curve that has no formula on the device.
_SAMPLES = 65536


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
    data : bool
        Whether values are numbers without a colour, which nothing converts.
    """

    curves: tuple[Curve, ...] = (SRGB_CURVE,)
    matrix: tuple[float, ...] = IDENTITY
    narrow: bool = False
    chromaticities: Primaries | None = field(default=None, compare=False)
    called: str = field(default="", compare=False)
    cube: Cube | None = None
    data: bool = False

    @cached_property
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

    @cached_property
    def scene(self) -> tuple[float, ...]:
        """The shares in luminance of the curves' light, and γ of BT.2100's OOTF, where it is HLG's; else nothing."""
        if self.curves != (Hlg(),):
            return ()
        return (*map(float, self.known_primaries.to_xyz()[1]), HLG_GAMMA)

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
        return replace(self, matrix=tuple(float(v) for v in matrix.flat))

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
            matrix = to_rec709(known.to_xyz(), xyz(known.white))
            if np.abs(np.subtract(self.matrix, matrix)).max() < _NEARLY_ONE:
                return name
        x, y = (self.known_primaries.numbers[k:6:2] for k in (0, 1))
        return ", ".join(f"({a:.4f}, {b:.4f})" for a, b in zip(x, y, strict=True))

    @property
    def known_primaries(self) -> Primaries:
        """The primaries' chromaticities where they are known, else those after adaptation to the white D65."""
        if self.chromaticities is not None:
            return self.chromaticities
        columns = (REC709.to_xyz() @ np.reshape(self.matrix, (3, 3))).T
        points = (column[:2] / column.sum() for column in columns)
        red, green, blue = ((float(x), float(y)) for x, y in points)
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
#: Numbers such as counts and heights. Operations work on them as on light.
DATA = Colour((LINEAR_CURVE,), chromaticities=REC709, called="data", data=True)


def unusual(colour: Colour) -> Colour | None:
    """Returns the space, or None where it is sRGB or linear Rec. 709 light."""
    return None if colour in (SRGB, LINEAR) else colour


def of_primaries(primaries: Primaries, *curves: Curve, narrow: bool = False) -> Colour:
    """Returns the space of these primaries and curves. Raises ColourError."""
    matrix = to_rec709(primaries.to_xyz(), xyz(primaries.white))
    return Colour(curves, matrix, narrow, primaries)


def of_signal(transfer: str, gamma: float) -> Colour:
    """Returns the space of the signal that a tone mapping's transfer makes: see gpuops.ops.tonemap.TonemapParams."""
    curves: dict[str, Curve] = {"srgb": SRGB_CURVE, "linear": LINEAR_CURVE, "pq": Pq()}
    curve = Parametric(gamma) if transfer == "gamma" else curves[transfer]
    return Colour((curve,), chromaticities=REC709)


def tidied(colour: Colour) -> Colour:
    """Returns the same space with rounding removed: what is nearly sRGB, linear or Rec. 709 becomes exactly that.

    Curves stay as they are unless all of them are nearly the same known one: tables of three channels, one of which is
    nearly sRGB's, end at the same values.
    """
    known = (SRGB_CURVE, LINEAR_CURVE)
    curves = next(((k,) for k in known if all(alike(c, k) for c in colour.curves)), colour.curves)
    rec709 = np.abs(np.subtract(colour.matrix, IDENTITY)).max() < _NEARLY_ONE
    colour = replace(colour, curves=tuple(curves if len(set(curves)) > 1 else curves[:1]))
    return replace(colour, matrix=IDENTITY, chromaticities=REC709) if rec709 else colour
