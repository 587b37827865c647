"""EXIF and XMP of PNG, JPEG and WebP files, byte for byte as they are stored.

Sources: PNG (Third Edition) 5.3, 11.3; ITU-T T.81 B.1.1 and CIPA DC-008 4.7.2 (JPEG); Google, WebP Container
Specification (RIFF).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import BinaryIO

from . import exif as exif_blocks

_EXIF = b"Exif\0\0"
_XMP = b"http://ns.adobe.com/xap/1.0/\0"
_XMP_KEY = b"XML:com.adobe.xmp\0"
_JPEG_SEGMENT = 65533
_CRC_BLOCK = 1 << 20
_LONGEST = 1 << 26  # of metadata; more is an attack


@dataclass(frozen=True)
class Extras:
    icc: bytes | None = None  # only of PNG, whose decoder withholds profiles that are not to its taste
    exif: bytes | None = None
    xmp: bytes | None = None
    damage: str = ""  # what is wrong with the file, when its container already shows that


# PNG: signature, then chunks of length, kind, data and checksum -----------------------------------


def read_png(file: BinaryIO) -> Extras:
    """Walks all chunks with their checksums, so that damage is found before a decoder stumbles over it."""
    icc = exif = xmp = None
    size = file.seek(0, 2)
    file.seek(8)
    while True:
        head = file.read(8)
        if len(head) < 8:
            return Extras(icc, exif, xmp, "is cut off")
        length, kind = struct.unpack(">I4s", head)
        if file.tell() + length + 4 > size:
            return Extras(icc, exif, xmp, "is cut off")
        if kind in (b"iCCP", b"eXIf", b"iTXt"):
            data = file.read(length)
            checksum = zlib.crc32(data, zlib.crc32(kind))
            if kind == b"iCCP":
                icc = _inflated(data.partition(b"\0")[2][1:])
            elif kind == b"eXIf":
                exif = data
            elif data.startswith(_XMP_KEY):
                xmp = _international_text(data)
        else:
            checksum = _checksum(file, kind, length)
        if checksum != int.from_bytes(file.read(4), "big"):
            return Extras(icc, exif, xmp, f"is damaged (checksum of {kind.decode('latin-1')!r})")
        if kind == b"IEND":
            return Extras(icc, exif, xmp)


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


def read_jpeg(file: BinaryIO) -> Extras:
    exif = xmp = None
    file.seek(2)
    for marker, data in _segments(file):
        if marker == 0xE1 and data.startswith(_EXIF) and exif is None:
            exif = data[len(_EXIF) :]
        elif marker == 0xE1 and data.startswith(_XMP) and xmp is None:
            xmp = data[len(_XMP) :]
    return Extras(exif=exif, xmp=xmp)


def _segments(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """The segments from the file's position to the start of the first scan, where the file is left."""
    while True:
        head = file.read(4)
        if len(head) < 4 or head[0] != 0xFF or head[1] == 0xDA:
            file.seek(-len(head), 1)
            return
        data = file.read(max(0, int.from_bytes(head[2:], "big") - 2))
        yield head[1], data


def fits_jpeg(exif: bytes | None, xmp: bytes | None) -> tuple[bool, bool]:
    """Whether each fits a JPEG segment."""
    return len(_EXIF + (exif or b"")) <= _JPEG_SEGMENT, len(_XMP + (xmp or b"")) <= _JPEG_SEGMENT


# WebP: a RIFF of chunks ------------------


def read_webp(file: BinaryIO) -> Extras:
    chunks = dict(_riff(file))
    exif = chunks.get(b"EXIF")
    return Extras(exif=exif.removeprefix(_EXIF) if exif else None, xmp=chunks.get(b"XMP "))


def _riff(file: BinaryIO) -> Iterator[tuple[bytes, bytes]]:
    file.seek(12)
    while len(head := file.read(8)) == 8:
        kind, length = struct.unpack("<4sI", head)
        data = file.read(length + length % 2)[:length]
        yield kind, data


# All of them --------------------------------------------------------------------------------------


def read_extras(path: str, format_name: str) -> Extras:
    """EXIF (without its preview), XMP and the like of a file of the named format."""
    readers = {"PNG": read_png, "JPEG": read_jpeg, "WebP": read_webp, "TIFF": _read_tiff}
    if format_name not in readers:
        return Extras()
    with open(path, "rb") as file:
        extras = readers[format_name](file)
    if extras.exif:
        return replace(extras, exif=exif_blocks.without_thumbnail(extras.exif))
    return extras


def _read_tiff(file: BinaryIO) -> Extras:
    try:
        exif, xmp = exif_blocks.of_tiff(file)
        return Extras(exif=exif, xmp=xmp)
    except (exif_blocks.MalformedError, struct.error):
        return Extras()  # BigTIFF, or damage that the decoder will name
