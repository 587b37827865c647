"""Coding-independent code points: a colour space as four numbers, as PNG's cICP and ICC's cicp have it.

Sources: ITU-T H.273 (07/2024), tables 2 (primaries), 3 (transfer) and 4 (matrix coefficients).
"""

from __future__ import annotations

from ..pixels.colour import Colour, of_primaries
from ..pixels.curves import BT709_CURVE, LINEAR_CURVE, SRGB_CURVE, Curve, Hlg, Parametric, Pq
from ..pixels.primaries import D65, NAMED, ColourError, Primaries

#: The primaries of each code.
PRIMARIES = {
    1: NAMED["Rec. 709"],
    4: NAMED["NTSC (1953)"],
    5: NAMED["Rec. 601 (625 lines)"],
    6: NAMED["Rec. 601 (525 lines)"],
    7: NAMED["Rec. 601 (525 lines)"],
    8: Primaries((0.681, 0.319), (0.243, 0.692), (0.145, 0.049), (0.310, 0.316)),
    9: NAMED["Rec. 2020"],
    10: NAMED["CIE XYZ"],
    11: NAMED["DCI-P3"],
    12: NAMED["Display P3"],
    22: Primaries((0.630, 0.340), (0.295, 0.605), (0.155, 0.077), D65),
}

#: The constant α of SMPTE 240M's curve, which has this form with 4 L below β.
_ALPHA_240 = 1.111572195921731
#: The constant β of SMPTE 240M's curve.
_BETA_240 = 0.022821585529445
#: The inverse of SMPTE 240M's curve.
_SMPTE240 = Parametric(1 / 0.45, 1 / _ALPHA_240, (_ALPHA_240 - 1) / _ALPHA_240, 1 / 4, 4 * _BETA_240)

#: The curve of each code; the logarithmic ones, 9 and 10, are left out.
TRANSFERS: dict[int, Curve] = {
    **dict.fromkeys((1, 6, 11, 12, 14, 15), BT709_CURVE),
    4: Parametric(2.2),
    5: Parametric(2.8),
    7: _SMPTE240,
    8: LINEAR_CURVE,
    13: SRGB_CURVE,
    16: Pq(),
    17: Parametric(2.6, (52.37 / 48) ** (1 / 2.6)),
    18: Hlg(),
}
#: The codes to write, in the order in which one with the right curve is sought.
_PREFERRED = (13, 8, 16, 18, 4, 5, 1, 7, 17)
#: The matrix code of RGB.
_RGB = 0
#: Bytes of the four codes.
SIZE = 4


def colour_of(data: bytes) -> Colour:
    """The space of four code points: primaries, transfer, matrix coefficients, full range. Raises ColourError."""
    codes = tuple(data)
    if len(codes) != SIZE:
        raise ColourError("has another length than four")
    primaries, transfer, matrix, full = codes
    if primaries not in PRIMARIES or transfer not in TRANSFERS or matrix != _RGB or full > 1:
        raise ColourError(f"has codes that are not known or not for RGB ({', '.join(map(str, codes))})")
    return of_primaries(PRIMARIES[primaries], TRANSFERS[transfer], narrow=not full)


def codes_of(colour: Colour) -> bytes | None:
    """The four code points of a space, None where there are none for it."""
    primaries = next((code for code, known in PRIMARIES.items() if known == colour.chromaticities), None)
    transfer = next((code for code in _PREFERRED if (TRANSFERS[code],) == colour.curves), None)
    if primaries is None or transfer is None:
        return None
    return bytes((primaries, transfer, _RGB, not colour.narrow))
