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
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import exif

#: A number in XMP, as an attribute or an element.
_NUMBER = rb"""%s(?:\s*=\s*["']|>)\s*([-+.\deE]+)"""
#: EXIF's maker note, and Apple's numbers in it.
_NOTE, _EXIF_DIRECTORY, _FROM, _BY = 0x927C, 0x8769, 33, 48
#: Flags of these numbers: three channels, the base's primaries, and one denominator for all (of libultrahdr).
_CHANNELS, _IN_BASE, _TOGETHER = 0x80, 0x40, 0x08
#: The most stops that make sense; the range of all of half floats is 40.
_MOST_STOPS = 64


class IsoNumbers(NamedTuple):
    """The numbers of ISO 21496-1.

    base, alternate: the headrooms of both renditions, in stops. channels: of red, green and blue a row of the least and
    the largest gain, in stops, gamma, and the offsets of base and alternate. in_base: whether gains are for light of
    the base's primaries. alike: whether all channels have the same.
    """

    base: float
    alternate: float
    channels: NDArray[np.float64]
    in_base: bool
    alike: bool


def of_iso(block: bytes) -> IsoNumbers:
    """Reads numbers behind the name of their segment, or in an item. Raises ValueError.

    Source: ISO 21496-1, annex C, and libultrahdr's lib/src/gainmapmetadata.cpp for one denominator.
    """
    version, flags = int.from_bytes(block[:2], "big"), block[4] if len(block) > 4 else 0
    if version:
        raise ValueError(f"is of a version that is not known ({version})")
    count, together = 3 if flags & _CHANNELS else 1, bool(flags & _TOGETHER)
    form = ">" + ("I" + "II" + "iiIii" * count if together else "II" * 2 + "iIiIIIiIiI" * count)
    if len(block) < 5 + struct.calcsize(form):
        raise ValueError("is missing or damaged")
    numbers = np.array(struct.unpack_from(form, block, 5), np.float64)
    over, under = (numbers[1:], numbers[:1]) if together else (numbers[::2], numbers[1::2])
    if not under.all():
        raise ValueError("is missing or damaged")
    values = over / under
    channels = values[2:].reshape(count, 5)
    least, most, gamma = channels.T[:3]
    if (least > most).any() or (gamma <= 0).any() or np.abs(channels[:, :2]).max() > _MOST_STOPS:
        raise ValueError("is missing or damaged")
    channels = np.tile(channels, (3 // count, 1))
    return IsoNumbers(float(values[0]), float(values[1]), channels, bool(flags & _IN_BASE), count == 1)


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
            return of_iso(numbers).alternate
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
