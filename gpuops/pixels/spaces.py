"""The colour spaces that have names, and what is known of any.

Sources: IEC 61966-2-1 (sRGB); SMPTE EG 432-1 and Apple's Display P3; Adobe RGB (1998) 4.3.1.2; ISO 22028-2 (ProPhoto
RGB); ITU-R BT.709, BT.2020 and BT.2100; Academy S-2014-004 (ACEScg) and SMPTE ST 2065-1 (ACES2065-1).
"""

from __future__ import annotations

from functools import cache

from . import curves
from .colour import DATA, LINEAR, SRGB, Colour, of_primaries
from .primaries import NAMED, ColourError

#: The curve of ProPhoto RGB, whose lowest 1/32 is a line.
_PROPHOTO = curves.Parametric(1.8, 1.0, 0.0, 1 / 16, 1 / 32)
#: The primaries and the curve of each space that has a name, but for sRGB and linear Rec. 709 light.
_SPACES: dict[str, tuple[str, curves.Curve]] = {
    "display-p3": ("Display P3", curves.SRGB_CURVE),
    "adobe-rgb": ("Adobe RGB", curves.ADOBE_CURVE),
    "prophoto-rgb": ("ProPhoto RGB", _PROPHOTO),
    "rec709": ("Rec. 709", curves.BT709_CURVE),
    "rec2020": ("Rec. 2020", curves.BT709_CURVE),
    "rec2100-pq": ("Rec. 2020", curves.Pq()),
    "rec2100-hlg": ("Rec. 2020", curves.Hlg()),
    "display-p3-pq": ("Display P3", curves.Pq()),
    "linear-p3": ("Display P3", curves.LINEAR_CURVE),
    "linear-rec2020": ("Rec. 2020", curves.LINEAR_CURVE),
    "acescg": ("ACES AP1", curves.LINEAR_CURVE),
    "aces2065-1": ("ACES AP0", curves.LINEAR_CURVE),
}


@cache
def named(name: str) -> Colour:
    """Returns the space of a name in :mod:`gpuops.params.colours`."""
    if name in ("srgb", "linear", "data"):
        return {"srgb": SRGB, "linear": LINEAR, "data": DATA}[name]
    primaries, curve = _SPACES[name]
    return of_primaries(NAMED[primaries], curve)


def working(name: str) -> Colour:
    """Returns the light that steps work on, by its name in :data:`gpuops.params.colours.WORKING`."""
    return {"rec709": LINEAR, "rec2020": named("linear-rec2020"), "acescg": named("acescg")}[name]


def is_hdr(colour: Colour) -> bool:
    """Says whether values of a space are brighter than white, so that 8 bits are too few for them."""
    return any(isinstance(curve, curves.Pq | curves.Hlg) for curve in colour.curves)


def check(colour: Colour) -> None:
    """Raises ColourError where :func:`gpuops.pixels.targets.stage` has no formula for a space."""
    if colour.narrow:
        raise ColourError("has a narrow range")
    known = curves.Parametric | curves.Pq | curves.Hlg
    if colour.cube is not None or not all(isinstance(curve, known) for curve in colour.curves):
        raise ColourError("has a curve that is a table")


def has_formula(colour: Colour) -> bool:
    """Says whether :func:`gpuops.pixels.targets.stage` has a formula for a space."""
    try:
        check(colour)
    except ColourError:
        return False
    return True
