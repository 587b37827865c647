"""The segments of a JPEG file, of marker, length and data, up to the first scan; and files that break the standard.

Sources: ITU-T T.81 B.1.1, B.2.2 (frames), B.2.3 (scans), and table B.3 (their parameters); T.871 (JFIF); CIPA DC-007
and DC-008 4.7.2.
"""

from __future__ import annotations

import mmap
import re
import struct
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, NamedTuple

from .containers import EXIF, LONGEST
from .exif import Entry, MalformedError, Structure

#: How a segment with XMP begins.
XMP = b"http://ns.adobe.com/xap/1.0/\0"
#: How a segment with a part of an ICC profile begins; the part's number, from 1 on, and that of all parts follow.
ICC_PART = b"ICC_PROFILE\0"
#: The most bytes that a segment holds.
_MOST = 65533
#: How the segment with the index of the pictures in a file begins (CIPA DC-007, Multi-Picture Format).
MPF = b"MPF\0"
# The tag of the entries, and the bytes of one: attributes, size, offset, and two numbers of other entries.
_PICTURES, _PICTURE_SIZE = 0xB002, 16
# The most pictures that are looked at.
_MOST_PICTURES = 16
#: How a segment on a gain map begins (ISO 21496-1).
ISO = b"urn:iso:std:iso:ts:21496"
#: The namespace in XMP of Apple's own kind of gain map, and what Apple calls the map.
OF_APPLE, APPLE_MAP = b"http://ns.apple.com/HDRGainMap/1.0/", b"urn:com:apple:photo:2020:aux:hdrgainmap"
#: The namespace of statements on a gain map.
OF_GAIN_MAP = b"http://ns.adobe.com/hdr-gain-map/"
# The namespace of a list of the pictures that follow in the file.
_OF_PICTURES = b"http://ns.google.com/photos/1.0/container/"
# The declaration of a namespace, whose address begins so, with its prefix.
_DECLARATION = rb"""\s+xmlns:([\w.-]+)\s*=\s*(["'])%s[^"']*\2"""
# An attribute, or an element with all that is in it, of a namespace's prefix.
_STATEMENT = (
    rb"""\s+%s:[\w.-]+\s*=\s*(?:"[^"]*"|'[^']*')|<(%s:[\w.-]+)(?:\s[^>]*)?(?:/>|(?<!/)>.*?</\1\s*>)"""
)
#: The markers of frames: those that are sequential have scans of all coefficients.
_FRAMES, _SEQUENTIAL = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}, (0xC0, 0xC1, 0xC9)
# The markers of frames of cosine transforms, and those of tables, restarts, applications and people.
_COSINES, _OTHERS = {0xC0, 0xC1, 0xC2, 0xC9, 0xCA}, {0xC4, 0xCC, 0xDB, 0xDD, *range(0xE0, 0xF0), 0xFE}
#: The parameters of such a scan: the first and the last coefficient, and no successive approximation.
_WHOLE = b"\0\x3f\0"
#: A marker other than those within a scan: stuffed bytes, restarts and fill bytes.
_MARKER = re.compile(rb"\xff+([^\x00\xff\xd0-\xd7])", re.DOTALL)
_END, _SCAN, _JFIF = 0xD9, 0xDA, 0xE0


def segments(data: bytes) -> list[tuple[int, bytes]]:
    """The markers and contents of the segments of a file's bytes."""
    return [*read(BytesIO(data[2:]))]


def read(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """The same of a file, from its position on."""
    while file.read(1) == b"\xff":
        while (marker := file.read(1)) == b"\xff":
            pass  # fill bytes
        length = file.read(2)
        if marker == b"\xda" or len(length) < 2:
            return
        yield marker[0], file.read(max(0, int.from_bytes(length, "big") - 2))


def first_table(data: bytes) -> int:
    """Where, in a file's bytes, what applications and people have added ends, and its tables and frame begin."""
    at = 2
    while data[at : at + 1] == b"\xff" and (data[at + 1] in range(0xE0, 0xF0) or data[at + 1] == 0xFE):
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return at


def xmp_of(data: bytes) -> bytes:
    """The XMP packet in a file's bytes, empty if there is none."""
    return next((block[len(XMP) :] for _, block in segments(data) if block.startswith(XMP)), b"")


class Samples(NamedTuple):
    """The bits of a sample, the height, the width and the channels of a file's picture."""

    bits: int
    height: int
    width: int
    channels: int


def samples(segments: Iterable[tuple[int, bytes]]) -> Samples:
    """What the first segment of a frame says; zeros where none does, or the height comes later."""
    for marker, data in segments:
        if marker in _FRAMES and len(data) > 5:
            return Samples(*struct.unpack_from(">BHHB", data))
    return Samples(0, 0, 0, 0)


def look_of(data: bytes) -> tuple[bytes | None, tuple[int, int, int]]:
    """The ICC profile in a file's bytes, of parts in their order, and the unit and the densities that JFIF tells."""
    there = segments(data)
    parts = sorted(
        block[len(ICC_PART) :] for kind, block in there if kind == 0xE2 and block.startswith(ICC_PART)
    )
    jfif = next((block for kind, block in there if kind == _JFIF and block.startswith(b"JFIF\0")), b"")
    unit, x, y = struct.unpack_from(">BHH", jfif, 7) if len(jfif) >= 12 else (0, 0, 0)
    return b"".join(part[2:] for part in parts) or None, (unit, x, y)


def samples_of(path: str) -> Samples:
    """The same of a file."""
    with open(path, "rb") as file:
        file.seek(2)
        return samples(read(file))


def is_of_cosines(path: str) -> bool:
    """Whether a file's frame is of cosine transforms, as every decoder finds: nothing is in its header that has no
    length, and no further frame."""
    with open(path, "rb") as file:
        file.seek(2)
        markers = [marker for marker, _ in read(file)]
    frames = [marker for marker in markers if marker not in _OTHERS]
    return len(frames) == 1 and frames[0] in _COSINES


def behind(file: BinaryIO, scan: int) -> list[bytes]:
    """What is behind the first picture of a file, from where another one begins; ``scan``: where its first scan is."""
    file.seek(scan)
    data = file.read(LONGEST)
    start = data.find(b"\xff\xd8\xff", max(data.find(b"\xff\xd9"), 0))
    return [data[start:]] if start >= 0 else []


def is_progressive(path: str) -> bool:
    """Whether a JPEG file's scans add to each other: its frame's marker is SOF2, 6, 10 or 14."""
    with open(path, "rb") as file:
        file.seek(2)
        return any(marker in (0xC2, 0xC6, 0xCA, 0xCE) for marker, _ in read(file))


def made(exif: bytes | None, xmp: bytes | None) -> bytes:
    """The segments of an EXIF block and an XMP packet."""
    blocks = [start + block for start, block in ((EXIF, exif), (XMP, xmp)) if block]
    return b"".join(b"\xff\xe1" + struct.pack(">H", 2 + len(block)) + block for block in blocks)


def too_long(exif: bytes | None, xmp: bytes | None) -> list[str]:
    """Which of the EXIF block and the XMP packet do not fit a JPEG segment, as "exif" and "xmp"."""
    blocks = {"exif": EXIF + (exif or b""), "xmp": XMP + (xmp or b"")}
    return [kind for kind, block in blocks.items() if len(block) > _MOST]


def dots_per_inch(resolution: tuple[float, float, str]) -> tuple[list[float], list[int]]:
    """A resolution, both exactly and as JFIF holds it."""
    x, y, unit = resolution
    exact = [value * (2.54 if unit == "cm" else 1) for value in (x, y)]
    return exact, [min(max(round(value), 1), 65535) for value in exact]


def others(file: BinaryIO, at: int, block: bytes) -> list[bytes]:
    """The pictures but the first one that a segment with an index, which is at a position, tells of.

    Those that are damaged are missing; all are where the segment is.
    """
    pictures = list[bytes]()
    with suppress(MalformedError, KeyError, struct.error):
        structure, entries = _pictures(block)
        for number in range(1, min(len(entries.data) // _PICTURE_SIZE, _MOST_PICTURES)):
            _, length, offset = struct.unpack_from(
                structure.order + "3I", entries.data, _PICTURE_SIZE * number
            )
            file.seek(at + len(MPF) + offset)
            data = file.read(min(length, LONGEST))
            if data.startswith(b"\xff\xd8\xff"):
                pictures.append(data)
    return pictures


def lengthened(block: bytes, more: int) -> bytes:
    """Returns a segment for a first picture that is so many bytes longer; offsets of others count from the segment.

    Raises MalformedError or KeyError for a damaged one.
    """
    structure, entries = _pictures(block)
    changed = bytearray(block)
    at = len(MPF) + entries.position + 4
    (size,) = struct.unpack_from(structure.order + "I", block, at)
    struct.pack_into(structure.order + "I", changed, at, size + more)
    return bytes(changed)


def _pictures(block: bytes) -> tuple[Structure, Entry]:
    structure = Structure(BytesIO(block[len(MPF) :]))
    return structure, structure.led_to().tags[_PICTURES]


def without_gain_map(packet: bytes) -> bytes | None:
    """The packet without what it says of a gain map and of further pictures; None where that cannot be cut out.

    All other bytes stay as they are.
    """
    for namespace in (OF_GAIN_MAP, _OF_PICTURES):
        declaration = re.compile(_DECLARATION % re.escape(namespace))
        for prefix in {re.escape(match[1]) for match in declaration.finditer(packet)}:
            packet = re.sub(_STATEMENT % (prefix, prefix), b"", packet, flags=re.DOTALL)
        packet = declaration.sub(b"", packet)
    return None if OF_GAIN_MAP in packet else packet


# Files that break the standard in ways that lose nothing, and that every reader takes -----------------------------


@dataclass
class _Faults:
    """What to put in place of bytes, from and to, and why; whether there is an end marker, and all coefficients."""

    changes: list[tuple[int, int, bytes, str]] = field(default_factory=list)
    ends: bool = False
    complete: bool = False


def has_end(path: str) -> bool:
    """Whether the first picture of a file has an end marker."""
    return _faults(path).ends


def mended(path: str) -> tuple[bytes, list[str]] | None:
    """The bytes of a file as the standard has them, and what of it is changed; None where nothing is."""
    faults = _faults(path)
    if not (faults.changes if faults.ends else faults.complete):
        return None
    data = Path(path).read_bytes()
    for start, stop, right, _ in reversed(faults.changes):
        data = data[:start] + right + data[stop:]
    said = list(dict.fromkeys(why for *_, why in faults.changes if why))
    return (data, said) if faults.ends else (data + bytes([0xFF, _END]), [*said, "has no end marker"])


def _faults(path: str) -> _Faults:
    faults = _Faults()
    with (
        open(path, "rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        suppress(IndexError, ValueError),  # a header that is cut off
    ):
        _find(faults, data)
    return faults


def _find(faults: _Faults, data: mmap.mmap) -> None:
    missing: dict[int, list[int]] = {}  # for each component, the bits of its 64 coefficients that no scan had
    sequential, kind, at = False, 0, 2
    while (marker := _MARKER.search(data, at)) is not None:
        if marker.start() > at and kind != _SCAN:
            faults.changes.append((at, marker.start(), b"", ""))
        kind, start = marker[1][0], marker.end()
        if kind == _END:
            faults.ends = True
            return
        at = start + max(2, int.from_bytes(data[start : start + 2], "big"))
        if kind in _FRAMES:
            sequential = kind in _SEQUENTIAL
            missing = {data[start + 8 + 3 * i]: [1] * 64 for i in range(data[start + 7])}
        elif kind == _JFIF and data[start + 2 : start + 7] == b"JFIF\0" and data[start + 7] != 1:
            faults.changes.append((start + 7, start + 8, b"\1", "says a version of JFIF that there is not"))
        elif kind == _SCAN:
            first, last, bits = tuple(_WHOLE if sequential else data[at - 3 : at])
            if sequential and data[at - 3 : at] != _WHOLE:
                faults.changes.append((at - 3, at, _WHOLE, "says wrongly which coefficients its scans have"))
            for i in range(data[start + 2]):
                component = missing.get(data[start + 3 + 2 * i], [])
                component[first : last + 1] = [bits & 15] * len(component[first : last + 1])
    faults.complete = bool(missing) and not any(map(any, missing.values()))
