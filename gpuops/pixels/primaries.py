"""Primaries and whites of colour spaces, and the matrices between linear RGB, CIE XYZ and linear Rec. 709.

Sources: SMPTE RP 177 (primaries to CIE XYZ); Lam, *Metamerism and Colour Constancy*, Bradford 1985, as in ICC.1:2022
annex E (adaptation to another white).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..records import dataclass

Chromaticity = tuple[float, float]
Matrix = npt.NDArray[np.float64]
Values = npt.NDArray[np.float64]

#: The white of ITU-R BT.709.
D65: Chromaticity = (0.3127, 0.3290)
#: The white of ICC's connection space, ICC.1:2022 7.2.16.
D50_XYZ = np.array([0.9642, 1.0, 0.8249])
#: The luminance of red, green and blue light: ITU-R BT.709, item 3.2.
REC709_LUMINANCE = (0.2126, 0.7152, 0.0722)
#: The same of ITU-R BT.601, section 2.5.1.
REC601_LUMINANCE = (0.299, 0.587, 0.114)
#: The matrix from CIE XYZ to the cone responses of Bradford's adaptation.
BRADFORD = np.array([[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]])
#: The largest number of a matrix; larger ones come from primaries that are nearly on a line.
_MOST = 1e4
#: The largest gain of a cone response.
_MOST_GAIN = 100.0


class ColourError(ValueError):
    """A colour space that makes no sense, or that is not known; the text says why."""


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
    matrix = np.linalg.solve(REC709.to_xyz(), adaptation(white, xyz(D65)) @ to_xyz)
    if not (np.abs(matrix).max() <= _MOST and abs(np.linalg.det(matrix)) > 1 / _MOST):
        raise ColourError("primaries that make no sense")
    return tuple(float(v) for v in matrix.flat)


#: The matrix that changes nothing, row by row.
IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
