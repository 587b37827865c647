"""The EXIF of camera raw files that are no TIFF files: of Fujifilm's, of Canon's newer ones, and of TIFF's relatives.

Sources: ExifTool's documentation of RAF, ORF, RW2 and CR3; L. Clévy, "Canon CR3 file format" (boxes CMT1, CMT2, CMT4).
"""

from __future__ import annotations

import os
import struct
from contextlib import suppress
from io import BytesIO
from typing import BinaryIO

from . import exif, jpeg_segments
from .containers import EXIF, Extras, boxes, of_tiff
from .exif import Directory, MalformedError, Structure

#: How Fujifilm's files begin, and where they say the place and size of a JPEG file, which has EXIF.
FUJIFILM, _PREVIEW = b"FUJIFILMCCD-RAW", 84
#: The box of Canon's in which there are directories: of the camera, of the exposure, of the place.
_CANON = bytes.fromhex("85c0b687820f11e08111f4ce462b6a48")
_PARTS = {b"CMT1": None, b"CMT2": exif.EXIF_IFD, b"CMT4": exif.GPS_IFD}
#: Bytes of a preview, or of a directory of Canon's, that are looked at.
_LONGEST = 1 << 22


def of_camera(file: BinaryIO) -> Extras:
    """What a camera's file holds beside its pixels; nothing of one that is damaged."""
    head = file.read(_PREVIEW + 8)
    with suppress(struct.error):
        if head.startswith(FUJIFILM):
            return Extras(exif=_of_preview(file, *struct.unpack_from(">II", head, _PREVIEW)))
        if head[4:8] == b"ftyp":
            return Extras(exif=_of_canon(file))
    return of_tiff(file)


def _of_preview(file: BinaryIO, start: int, size: int) -> bytes | None:
    file.seek(start)
    preview = BytesIO(file.read(min(size, _LONGEST)))
    preview.seek(2)
    blocks = (
        data for marker, data in jpeg_segments.read(preview) if marker == 0xE1 and data.startswith(EXIF)
    )
    block = next(blocks, None)
    return block and block[len(EXIF) :]


def _of_canon(file: BinaryIO) -> bytes | None:
    directory: Directory = {}
    for kind, start, size in _within(file, b"moov", 0, file.seek(0, os.SEEK_END)):
        file.seek(start)
        if kind != b"uuid" or file.read(16) != _CANON:
            continue
        for part, first, length in list(boxes(file, start + 16, start + size)):
            if part not in _PARTS:
                continue
            file.seek(first)
            with suppress(MalformedError):
                structure = Structure(BytesIO(file.read(min(length, _LONGEST))))
                values, _ = structure.tree(structure.first, exif.POINTERS)
                pointer = _PARTS[part]
                directory |= values if pointer is None else {pointer: values}
    return b"II*\0\x08\0\0\0" + exif.laid_out(directory, 8) if directory else None


def _within(file: BinaryIO, wanted: bytes, start: int, end: int) -> list[tuple[bytes, int, int]]:
    """The boxes in the first box of a kind."""
    outer = next((box for box in boxes(file, start, end) if box[0] == wanted), None)
    return [] if outer is None else list(boxes(file, outer[1], outer[1] + outer[2]))
