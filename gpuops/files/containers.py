"""The parts of a file around its pixels: EXIF and XMP byte for byte, and statements that decoders do not pass on.

Sources: PNG (Third Edition) 5.3, 11.3; ITU-T T.81 B.1.1 and CIPA DC-008 4.7.2 (JPEG); Google, WebP Container
Specification (RIFF).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from io import BytesIO
from typing import BinaryIO

from . import colours, mpf, xmp_packets
from .boxes import boxes
from .colours import Found

#: How a JPEG segment with EXIF begins.
_EXIF = b"Exif\0\0"
#: How a JPEG segment with XMP begins.
_XMP = b"http://ns.adobe.com/xap/1.0/\0"
#: How a PNG chunk with XMP begins.
_XMP_KEY = b"XML:com.adobe.xmp\0"
#: The most bytes that a JPEG segment holds.
_JPEG_SEGMENT = 65533
#: How a JPEG segment with a part of an ICC profile begins; the part's number, from 1 on, and that of all parts follow.
_ICC_PART = b"ICC_PROFILE\0"
#: How a JPEG segment that announces a gain map begins (ISO 21496-1).
_GAIN_MAP = b"urn:iso:std:iso:ts:21496"
#: The name in XMP of a gain map of Apple's own kind.
_OF_APPLE = b"http://ns.apple.com/HDRGainMap/"
#: The names of a JPEG's pictures if it has a gain map: as it is, and with the gain map applied.
WITH_GAIN_MAP = ("sdr", "hdr")
#: Bytes that are read at once: many small reads would each wait for Python's lock.
SMALL = 1 << 16
#: Bytes that are read at a time for a checksum.
_CRC_BLOCK = 1 << 20
#: Bytes of a header's line, at most.
_LONGEST_LINE = 1 << 12
#: The most bytes of metadata; more is an attack.
_LONGEST = 1 << 26


@dataclass(frozen=True)
class Extras:
    icc: bytes | None = None  # only for PNG, whose decoder withholds some profiles
    colours: Found | None = None  # the container's statement; None if only an ICC profile may tell
    exif: bytes | None = None
    xmp: bytes | None = None
    unused: tuple[str, ...] = ()  # names of what else the file holds and pictures do not keep
    orientation: int = (
        0  # where rows and columns begin, as EXIF numbers it; 0 where the container says nothing
    )
    layers: tuple[
        str, ...
    ] = ()  # the names of the file's pictures where these are several; its own is the first
    damage: str = ""  # a fault of the file that its container shows
    refusal: str = ""  # contents that no decoder here gets right


# PNG: signature, then chunks of length, kind, data and checksum -----------------------------------


#: PNG's chunks of the pixels, and hints that concern storage and display alone.
_PNG_STORAGE = frozenset(
    b"IHDR PLTE IDAT IEND tRNS sRGB gAMA cHRM pHYs sBIT bKGD hIST sPLT tIME fcTL fdAT vpAg oFFs".split()
)
#: The names of chunks that are not kept, as messages say them.
_PNG_NAMES = {b"acTL": "animation", b"sCAL": "physical scale"}
#: PNG's chunks that say which colours the values are.
_PNG_COLOUR = (b"cICP", b"iCCP", b"sRGB", b"gAMA", b"cHRM")
#: PNG's colour types of gray.
_PNG_GRAY = (0, 4)
#: The keys of texts that programs write by themselves.
_ROUTINE_TEXTS = ("Software", "Creation Time", "date:create", "date:modify", "date:timestamp")


def read_png(file: BinaryIO) -> Extras:
    """Walks all chunks with their checksums, so that damage is found before a decoder stumbles over it."""
    found = Extras()
    chunks: dict[bytes, bytes] = {}
    gray = False
    unused: list[str] = []
    size = file.seek(0, 2)
    file.seek(8)
    while True:
        head = file.read(8)
        if len(head) < 8:
            return replace(found, damage="is cut off")
        length, kind = struct.unpack(">I4s", head)
        if file.tell() + length + 4 > size:
            return replace(found, damage="is cut off")
        if kind in (b"IDAT", b"fdAT"):
            checksum = _checksum(file, kind, length)
        else:
            data = file.read(length)
            checksum = zlib.crc32(data, zlib.crc32(kind))
            if kind in _PNG_COLOUR:
                chunks[kind] = data
            elif kind == b"IHDR" and len(data) == 13:
                gray = data[9] in _PNG_GRAY
            elif kind == b"eXIf":
                found = replace(found, exif=data)
            elif kind == b"iTXt" and data.startswith(_XMP_KEY):
                found = replace(found, xmp=_international_text(data))
            elif kind in (b"tEXt", b"zTXt", b"iTXt"):
                key = data.partition(b"\0")[0].decode("latin-1")
                unused += [f"text {key!r}"] * (key not in _ROUTINE_TEXTS)
            elif kind in _PNG_NAMES or kind not in _PNG_STORAGE:
                unused.append(_PNG_NAMES.get(kind, f"chunk {kind.decode('latin-1')!r}"))
        if checksum != int.from_bytes(file.read(4), "big"):
            return replace(found, damage=f"is damaged (checksum of {kind.decode('latin-1')!r})")
        if kind == b"IEND":
            said = colours.of_png(chunks, gray=gray)
            counts = b"iCCP" in chunks and not said.overrules
            return replace(
                found,
                icc=colours.profile_in(chunks[b"iCCP"]) if counts else None,
                colours=said,
                unused=tuple(dict.fromkeys(unused)),
            )


def _checksum(file: BinaryIO, kind: bytes, length: int) -> int:
    from isal import isal_zlib

    checksum = zlib.crc32(kind)
    while length:
        block = file.read(min(length, _CRC_BLOCK))
        checksum = isal_zlib.crc32(block, checksum)
        length -= len(block)
    return checksum


def _international_text(data: bytes) -> bytes | None:
    """The text of an iTXt chunk: key, compression flag and method, language, translated key, text."""
    rest = data[len(_XMP_KEY) :]
    parts = rest[2:].split(b"\0", 2)
    if len(parts) < 3:
        return None
    return _inflated(parts[2]) if rest[0] else parts[2]


def _inflated(data: bytes) -> bytes | None:
    try:
        return zlib.decompressobj().decompress(data, _LONGEST)
    except zlib.error:
        return None


# JPEG: segments of marker, length and data up to the first scan -----------------------------------


#: The marker and the beginning of segments that are not kept, and their contents, None where these only
#: concern the storage.
_JPEG_BLOCKS: tuple[tuple[int, bytes, str | None], ...] = (
    (0xE0, b"", None),  # JFIF, and previews
    (0xE1, b"http://ns.adobe.com/xmp/extension/\0", "extended XMP"),
    (0xE2, _ICC_PART, None),
    (0xE2, mpf.START, "further pictures (MPF)"),
    (0xE2, _GAIN_MAP, None),
    (0xED, b"Photoshop 3.0\0", "IPTC block"),
    (0xEE, b"Adobe", None),
    (0xFE, b"", "comment"),
)


def read_jpeg(file: BinaryIO) -> Extras:
    exif = xmp = None
    unused = []
    has_gain_map, further = False, 0
    parts: list[bytes] = []  # of an ICC profile: its number, and that of all
    file.seek(2)
    for marker, data in _segments(file):
        if marker == 0xE2 and data.startswith(_ICC_PART):
            parts.append(data[len(_ICC_PART) :][:2])
        has_gain_map |= marker == 0xE2 and data.startswith(_GAIN_MAP)
        if marker == 0xE1 and data.startswith(_EXIF) and exif is None:
            exif = data[len(_EXIF) :]
        elif marker == 0xE1 and data.startswith(_XMP) and xmp is None:
            xmp = data[len(_XMP) :]
        elif marker in range(0xE0, 0xF0) or marker == 0xFE:
            names = [name for kind, start, name in _JPEG_BLOCKS if kind == marker and data.startswith(start)]
            if data.startswith(mpf.START):
                further = mpf.count(data) - 1
            unused += names or [f"block APP{marker - 0xE0}"]
    if xmp and _OF_APPLE in xmp:
        unused.append("gain map (of Apple's kind)")
    if has_gain_map or (xmp and xmp_packets.GAIN_MAP in xmp):
        has_gain_map = True
        if further == 1:  # it is the gain map
            unused.remove("further pictures (MPF)")
        if xmp and (xmp := xmp_packets.without_gain_map(xmp)) is None:
            unused.append("XMP")
    if sorted(parts) != [bytes([i + 1, len(parts)]) for i in range(len(parts))]:
        unused.append("ICC profile, of which parts are missing or numbered wrongly")
    layers = WITH_GAIN_MAP if has_gain_map else ()
    return Extras(exif=exif, xmp=xmp, unused=tuple(dict.fromkeys(filter(None, unused))), layers=layers)


def second_jpeg(data: bytes) -> int:
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


def jpeg_segments(exif: bytes | None, xmp: bytes | None) -> bytes:
    """The segments of an EXIF block and an XMP packet."""
    blocks = [start + block for start, block in ((_EXIF, exif), (_XMP, xmp)) if block]
    return b"".join(b"\xff\xe1" + struct.pack(">H", 2 + len(block)) + block for block in blocks)


def fits_jpeg(exif: bytes | None, xmp: bytes | None) -> tuple[bool, bool]:
    """Whether the EXIF block and the XMP packet each fit a JPEG segment."""
    return len(_EXIF + (exif or b"")) <= _JPEG_SEGMENT, len(_XMP + (xmp or b"")) <= _JPEG_SEGMENT


# WebP: a RIFF of chunks ------------------


#: WebP's chunks that are read, or only concern the storage.
_WEBP_STORAGE = (b"VP8 ", b"VP8L", b"VP8X", b"ALPH", b"ANMF", b"ICCP", b"EXIF", b"XMP ")


def read_webp(file: BinaryIO) -> Extras:
    chunks = dict(_riff(file))
    exif = chunks.get(b"EXIF")
    others = [kind for kind in chunks if kind not in _WEBP_STORAGE]
    unused = ["animation" if kind == b"ANIM" else f"chunk {kind.decode('latin-1')!r}" for kind in others]
    return Extras(
        exif=exif.removeprefix(_EXIF) if exif else None, xmp=chunks.get(b"XMP "), unused=tuple(unused)
    )


def _riff(file: BinaryIO) -> Iterator[tuple[bytes, bytes]]:
    file.seek(12)
    while len(head := file.read(8)) == 8:
        kind, length = struct.unpack("<4sI", head)
        data = file.read(length + length % 2)[:length]
        yield kind, data


# JPEG 2000: boxes of length, kind and data (ITU-T T.800 annex I); or a codestream alone ----------


#: The identity of a JP2 box with EXIF.
_JP2_EXIF = b"JpgTiffExif->JP2"
#: The identity of a JP2 box with XMP.
_JP2_XMP = bytes.fromhex("be7acfcb97a942e89c71999491e3afac")
#: JP2's boxes that only concern the storage.
_JP2_STORAGE = (b"jP  ", b"ftyp", b"jp2h", b"jp2c", b"free")


def read_jpeg2000(file: BinaryIO) -> Extras:
    from . import jpeg2000

    end = file.seek(0, 2)
    file.seek(0)
    if file.read(4) == jpeg2000.CODESTREAM:
        return Extras()
    exif = xmp = None
    unused: list[str] = []
    for kind, start, size in boxes(file, 0, end):
        if kind == b"uuid":
            file.seek(start)
            identity, data = file.read(16), file.read(min(size - 16, _LONGEST))
            if identity == _JP2_EXIF:
                exif = data
            elif identity == _JP2_XMP:
                xmp = data
        if kind not in _JP2_STORAGE and (kind != b"uuid" or identity not in (_JP2_EXIF, _JP2_XMP)):
            unused.append(f"box {kind.decode('latin-1')!r}")
    return Extras(exif=exif, xmp=xmp, unused=tuple(dict.fromkeys(unused)))


# Radiance HDR: lines of text, an empty one, and the axes (Ward, Real Pixels) ----------------------

_HDR_KEYS = {"EXPOSURE": "exposure", "COLORCORR": "colour correction", "VIEW": "view"}
_HDR_KEYS |= {"PIXASPECT": "pixel aspect ratio", "GAMMA": "gamma"}
#: The orders of rows and columns, of orientations 1 to 8.
_AXES = ("-Y +X", "-Y -X", "+Y -X", "+Y +X", "+X -Y", "-X -Y", "-X +Y", "+X +Y")


def read_hdr(file: BinaryIO) -> Extras:
    file.seek(0)
    unused: list[str] = []
    refusal = ""
    found = None
    while line := file.readline(_LONGEST_LINE).decode("latin-1").strip():
        key, _, value = line.partition("=")
        if key == "FORMAT" and value.strip() != "32-bit_rle_rgbe":
            refusal = f"holds pixels of the kind {value.strip()}; convert it to 32-bit_rle_rgbe first"
        if key == "PRIMARIES":
            found = colours.of_chromaticities(_numbers(value), "primaries")
        if key in _HDR_KEYS and not _are_ones(value):
            unused.append(_HDR_KEYS[key])
    axes = file.readline(_LONGEST_LINE).decode("latin-1").split()[::2]
    orientation = 1 + _AXES.index(" ".join(axes)) if " ".join(axes) in _AXES else 0
    return Extras(
        colours=found, unused=tuple(dict.fromkeys(unused)), orientation=orientation, refusal=refusal
    )


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(map(float, text.split()))
    except ValueError:
        return ()


def _are_ones(text: str) -> bool:
    """Whether all factors of a header line are 1, so that they change nothing."""
    try:
        return all(float(number) == 1 for number in text.split())
    except ValueError:
        return False


# All of them --------------------------------------------------------------------------------------


def read_extras(path: str, format_name: str, start: bytes | None = None) -> Extras:
    """EXIF (without its preview), XMP and the like of a file of the named format.

    ``start``: its first bytes, if they are known, as many as :data:`SMALL` if it has so many.
    """
    readers = {"PNG": read_png, "JPEG": read_jpeg, "WebP": read_webp, "TIFF": _read_tiff}
    readers |= {"JPEG 2000": read_jpeg2000, "Radiance HDR": read_hdr}
    if format_name not in readers:
        return Extras()
    if start is not None and len(start) < SMALL:
        extras = readers[format_name](BytesIO(start))
    else:
        with open(path, "rb", buffering=SMALL) as file:
            extras = readers[format_name](file)
    if extras.exif:
        from .exif import without_thumbnail

        return replace(extras, exif=without_thumbnail(extras.exif))
    return extras


def _read_tiff(file: BinaryIO) -> Extras:
    from .exif import of_tiff
    from .tiff_structure import MalformedError

    try:
        exif, xmp, left = of_tiff(file)
        return Extras(exif=exif, xmp=xmp, unused=tuple(left))
    except (MalformedError, struct.error):
        return Extras()  # damage that the decoder will name
