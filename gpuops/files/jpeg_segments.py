"""The segments of a JPEG file, of marker, length and data, up to the first scan; and files that break the standard.

Sources: ITU-T T.81 B.1.1, B.2.2 (frames), B.2.3 (scans), and table B.3 (their parameters); T.871 (JFIF); CIPA DC-007
and DC-008 4.7.2.
"""

from __future__ import annotations

import mmap
import re
import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from .containers import EXIF, Extras
from .exif import Entry, MalformedError, Structure

#: How a segment with XMP begins.
_XMP = b"http://ns.adobe.com/xap/1.0/\0"
#: The most bytes that a segment holds.
_MOST = 65533
#: How a segment with a part of an ICC profile begins; the part's number, from 1 on, and that of all parts follow.
_ICC_PART = b"ICC_PROFILE\0"
#: How a segment that announces a gain map begins (ISO 21496-1).
_GAIN_MAP = b"urn:iso:std:iso:ts:21496"
#: The name in XMP of a gain map of Apple's own kind.
_OF_APPLE = b"http://ns.apple.com/HDRGainMap/"
#: How the segment with the index of the pictures in a file begins (CIPA DC-007, Multi-Picture Format).
MPF = b"MPF\0"
# The tag of the entries, and the bytes of one: attributes, size, offset, and two numbers of other entries.
_PICTURES, _PICTURE_SIZE = 0xB002, 16
#: The namespace of statements on a gain map.
_OF_GAIN_MAP = b"http://ns.adobe.com/hdr-gain-map/"
# The namespace of a list of the pictures that follow in the file.
_OF_PICTURES = b"http://ns.google.com/photos/1.0/container/"
# The declaration of a namespace, whose address begins so, with its prefix.
_DECLARATION = rb"""\s+xmlns:([\w.-]+)\s*=\s*(["'])%s[^"']*\2"""
# An attribute, or an element with all that is in it, of a namespace's prefix.
_STATEMENT = (
    rb"""\s+%s:[\w.-]+\s*=\s*(?:"[^"]*"|'[^']*')|<(%s:[\w.-]+)(?:\s[^>]*)?(?:/>|(?<!/)>.*?</\1\s*>)"""
)
#: The names of a file's pictures if it has a gain map: as it is, and with the gain map applied.
WITH_GAIN_MAP = ("sdr", "hdr")
#: The markers of frames: those that are sequential have scans of all coefficients.
_FRAMES, _SEQUENTIAL = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}, (0xC0, 0xC1, 0xC9)
#: The parameters of such a scan: the first and the last coefficient, and no successive approximation.
_WHOLE = b"\0\x3f\0"
#: A marker other than those within a scan: stuffed bytes, restarts and fill bytes.
_MARKER = re.compile(rb"\xff+([^\x00\xff\xd0-\xd7])", re.DOTALL)
_END, _SCAN, _JFIF = 0xD9, 0xDA, 0xE0
#: The marker and the beginning of segments that are not kept, and their contents, None where these only
#: concern the storage.
_BLOCKS: tuple[tuple[int, bytes, str | None], ...] = (
    (0xE0, b"", None),  # JFIF, and previews
    (0xE1, b"http://ns.adobe.com/xmp/extension/\0", "extended XMP"),
    (0xE2, _ICC_PART, None),
    (0xE2, MPF, "further pictures (MPF)"),
    (0xE2, _GAIN_MAP, None),
    (0xED, b"Photoshop 3.0\0", "IPTC block"),
    (0xEE, b"Adobe", None),
    (0xFE, b"", "comment"),
)


def container(file: BinaryIO) -> Extras:
    exif = xmp = None
    unused = []
    has_gain_map, further = False, 0
    parts: list[bytes] = []  # of an ICC profile: its number, and that of all
    file.seek(2)
    for marker, data in _segments(file):
        if marker == 0xE2 and data.startswith(_ICC_PART):
            parts.append(data[len(_ICC_PART) :][:2])
        has_gain_map |= marker == 0xE2 and data.startswith(_GAIN_MAP)
        if marker == 0xE1 and data.startswith(EXIF) and exif is None:
            exif = data[len(EXIF) :]
        elif marker == 0xE1 and data.startswith(_XMP) and xmp is None:
            xmp = data[len(_XMP) :]
        elif marker in range(0xE0, 0xF0) or marker == 0xFE:
            names = [name for kind, start, name in _BLOCKS if kind == marker and data.startswith(start)]
            if data.startswith(MPF):
                further = pictures(data) - 1
            unused += names or [f"block APP{marker - 0xE0}"]
    if xmp and _OF_APPLE in xmp:
        unused.append("gain map (of Apple's kind)")
    if has_gain_map or (xmp and _OF_GAIN_MAP in xmp):
        has_gain_map = True
        if further == 1:  # it is the gain map
            unused.remove("further pictures (MPF)")
        if xmp and (xmp := without_gain_map(xmp)) is None:
            unused.append("XMP")
    if sorted(parts) != [bytes([i + 1, len(parts)]) for i in range(len(parts))]:
        unused.append("ICC profile, of which parts are missing or numbered wrongly")
    layers = WITH_GAIN_MAP if has_gain_map else ()
    return Extras(exif=exif, xmp=xmp, unused=tuple(dict.fromkeys(filter(None, unused))), layers=layers)


def second(data: bytes) -> int:
    """Where in a JPEG file another one begins, which is its gain map if it has one; −1 if there is none."""
    file = BytesIO(data)
    file.seek(2)
    for _ in _segments(file):
        pass
    end = data.find(b"\xff\xd9", file.tell())
    return data.find(b"\xff\xd8\xff", end) if end >= 0 else -1


def _segments(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """The segments from the file's position to the start of the first scan."""
    while file.read(1) == b"\xff":
        while (marker := file.read(1)) == b"\xff":
            pass  # fill bytes
        length = file.read(2)
        if marker == b"\xda" or len(length) < 2:
            return
        yield marker[0], file.read(max(0, int.from_bytes(length, "big") - 2))


def is_progressive(path: str) -> bool:
    """Whether a JPEG file's scans add to each other: its frame's marker is SOF2, 6, 10 or 14."""
    with open(path, "rb") as file:
        file.seek(2)
        return any(marker in (0xC2, 0xC6, 0xCA, 0xCE) for marker, _ in _segments(file))


def made(exif: bytes | None, xmp: bytes | None) -> bytes:
    """The segments of an EXIF block and an XMP packet."""
    blocks = [start + block for start, block in ((EXIF, exif), (_XMP, xmp)) if block]
    return b"".join(b"\xff\xe1" + struct.pack(">H", 2 + len(block)) + block for block in blocks)


def too_long(exif: bytes | None, xmp: bytes | None) -> list[str]:
    """Which of the EXIF block and the XMP packet do not fit a JPEG segment, as "exif" and "xmp"."""
    blocks = {"exif": EXIF + (exif or b""), "xmp": _XMP + (xmp or b"")}
    return [kind for kind, block in blocks.items() if len(block) > _MOST]


def dots_per_inch(resolution: tuple[float, float, str]) -> tuple[list[float], list[int]]:
    """A resolution, both exactly and as JFIF holds it."""
    x, y, unit = resolution
    exact = [value * (2.54 if unit == "cm" else 1) for value in (x, y)]
    return exact, [min(max(round(value), 1), 65535) for value in exact]


def pictures(block: bytes) -> int:
    """Returns how many pictures a segment tells of; 0 where it is damaged."""
    with suppress(MalformedError, KeyError):
        return len(_pictures(block)[1].data) // _PICTURE_SIZE
    return 0


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
    for namespace in (_OF_GAIN_MAP, _OF_PICTURES):
        declaration = re.compile(_DECLARATION % re.escape(namespace))
        for prefix in {re.escape(match[1]) for match in declaration.finditer(packet)}:
            packet = re.sub(_STATEMENT % (prefix, prefix), b"", packet, flags=re.DOTALL)
        packet = declaration.sub(b"", packet)
    return None if _OF_GAIN_MAP in packet else packet


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
