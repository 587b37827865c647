"""How far above white gain maps reach, by what they say of themselves.

Sources: ISO 21496-1; Ultra HDR Image Format 1.1 (Android); Apple, "Applying Apple HDR effect to your photos".
"""

from __future__ import annotations

import math
import re
import struct
from contextlib import suppress
from fractions import Fraction
from io import BytesIO

from . import exif

#: A number in XMP, as an attribute or an element.
_NUMBER = rb"""%s(?:\s*=\s*["']|>)\s*([-+.\deE]+)"""
#: Where the larger headroom is in the numbers of ISO 21496-1.
_ALTERNATE = 13
#: EXIF's maker note, and Apple's numbers in it.
_NOTE, _EXIF_DIRECTORY, _FROM, _BY = 0x927C, 0x8769, 33, 48


def stops(kind: str, numbers: bytes, own: bytes, xmp: bytes, block: bytes | None) -> float | None:
    """Returns the stops above white that a map reaches, as far as it is said.

    Parameters
    ----------
    kind : str
        "Apple" or another one.
    numbers, own : bytes
        The map's own, of ISO 21496-1, and its XMP; empty if it has none.
    xmp, block : bytes
        The picture's XMP and EXIF.
    """
    with suppress(ValueError, ArithmeticError, struct.error, exif.MalformedError, KeyError):
        if numbers:
            return float(Fraction(*struct.unpack_from(">II", numbers, _ALTERNATE)))
        if kind == "Apple":
            return math.log2(apple_headroom(own + xmp, block))
        return _number(own, b"HDRCapacityMax")
    return None


def _number(xmp: bytes, name: bytes) -> float | None:
    match = re.search(_NUMBER % name, xmp)
    return float(match[1]) if match else None


def apple_headroom(xmp: bytes, block: bytes | None) -> float:
    """Returns the brightest light of a picture with Apple's gain map, 1 being white: of XMP, or else of EXIF's note.

    Raises ValueError, KeyError or :class:`gpuops.files.exif.MalformedError` if neither says it.
    """
    told = _number(xmp, b"HDRGainMapHeadroom")
    if told is not None and told >= 1:
        return told
    note = exif.entry(block or b"", _NOTE, _EXIF_DIRECTORY)
    if note is None or not note.data.startswith(b"Apple iOS\0\0\1MM"):
        raise ValueError("nothing says how bright it is")
    # Offsets count from the note's beginning; the directory is behind its 14 bytes.
    structure = exif.Structure(BytesIO(b"MM\0*\0\0\0\x0e" + note.data[8:]))
    tags = structure.led_to().tags
    start, step = (Fraction(*struct.unpack("<ii", tags[tag].data[:8])) for tag in (_FROM, _BY))
    dim = step <= Fraction(1, 100)
    if start < 1:
        stops = -20 * step + Fraction("1.8") if dim else Fraction("-0.101") * step + Fraction("1.601")
    else:
        stops = -70 * step + 3 if dim else Fraction("-0.303") * step + Fraction("2.303")
    return float(2 ** max(float(stops), 0.0))
