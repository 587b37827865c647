"""Colour spaces of OpenColorIO's configs that clpix knows, too, so that files can say what their values are.

Source: Color Interop Forum, *Color Space Encodings for Texture Assets and CG Rendering* and *for Displays* (the names
of the form CURVE_PRIMARIES_KIND, such as ``srgb_p3d65_display``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..pixels.colour import Colour, of_primaries, tidied
from ..pixels.curves import ADOBE_CURVE, BT709_CURVE, LINEAR_CURVE, SRGB_CURVE, Curve, Hlg, Parametric, Pq
from ..pixels.primaries import NAMED

_CURVES: dict[str, Curve] = {
    "lin": LINEAR_CURVE,
    "srgb": SRGB_CURVE,
    "srgbe": SRGB_CURVE,  # which goes on beyond 1
    "g18": Parametric(1.8),
    "g22": Parametric(2.2),
    "g24": Parametric(2.4),
    "g26": Parametric(2.6),
    "itu709": BT709_CURVE,
    "pq": Pq(),
    "hlg": Hlg(),
}
_PRIMARIES = {
    "rec709": "Rec. 709",
    "p3d65": "Display P3",
    "adobergb": "Adobe RGB",
    "rec2020": "Rec. 2020",
    "ap0": "ACES AP0",
    "ap1": "ACES AP1",
}
_FORM = re.compile(rf"(?:ocio_)?({'|'.join(_CURVES)})_({'|'.join(_PRIMARIES)})(?:_scene|_display|_tx)?")
#: Other names that configs give these spaces and displays, in small letters, with "_" for all that is no letter or
#: digit.
_OTHER = {
    "srgb": "srgb_rec709",
    "srgb_display": "srgb_rec709",
    "srgb_texture": "srgb_rec709",
    "srgb_tx": "srgb_rec709",
    "display_p3": "srgb_p3d65",
    "displayp3_display": "srgb_p3d65",
    "displayp3_hdr_display": "srgbe_p3d65",
    "p3d65_display": "g26_p3d65",
    "rec_1886": "g24_rec709",
    "rec1886_rec709_display": "g24_rec709",
    "rec_2100_pq": "pq_rec2020",
    "rec2100_pq": "pq_rec2020",
    "rec2100_pq_display": "pq_rec2020",
    "rec_2100_hlg": "hlg_rec2020",
    "rec2100_hlg_display": "hlg_rec2020",
    "st2084_p3d65_display": "pq_p3d65",
    "acescg": "lin_ap1",
    "aces2065_1": "lin_ap0",
    "lin_rec709_srgb": "lin_rec709",
}


def colour_of(names: Iterable[str]) -> Colour | None:
    """Returns the space that one of these names stands for, or None where none is known."""
    for name in names:
        plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
        match = _FORM.fullmatch(_OTHER.get(plain, plain))
        if match is not None:
            curve = ADOBE_CURVE if match.groups() == ("g22", "adobergb") else _CURVES[match[1]]
            return tidied(of_primaries(NAMED[_PRIMARIES[match[2]]], curve))
    return None
