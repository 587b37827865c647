"""EXIF blocks and TIFF directories: the few operations that carry EXIF from one container to another.

An EXIF block is a small TIFF structure: directory 0 describes the picture, and points to the Exif and the GPS
directory, and Exif to the Interoperability directory. JPEG, PNG and WebP hold the block as it is; in a TIFF file
its directories are part of the file, and directory 0 describes the storage as well.
Sources: TIFF revision 6.0, appendix A; CIPA DC-008 (Exif 3.0), section 4.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Mapping
from typing import BinaryIO

from .tiff_structure import (
    EXIF_IFD,
    INTEROP_IFD,
    POINTERS,
    SIZES,
    Directory,
    Entry,
    MalformedError,
    Structure,
    laid_out,
)

#: The tag of the camera maker's note.
MAKER_NOTE = 0x927C
#: The tag ImageDescription.
DESCRIPTION = 0x010E
#: The tag Orientation.
ORIENTATION = 0x0112
#: The tag of an XMP packet.
XMP = 0x02BC
#: The tags PixelXDimension and PixelYDimension of the Exif directory.
_WIDTH, _HEIGHT = 0xA002, 0xA003
#: The tag ColorSpace of the Exif directory.
_COLOUR_SPACE = 0xA001
#: The values of ColorSpace for sRGB, and for colours that it does not name.
_SRGB, _UNCALIBRATED = 1, 0xFFFF
#: A value of ColorSpace that some cameras write for Adobe RGB.
_ADOBE = 2
#: The tag InteroperabilityIndex of the interoperability directory.
_INDEX = 0x0001
#: The index that says Adobe RGB (DCF 2.0, "option file"), and the one of all other pictures.
_ADOBE_INDEX, _USUAL_INDEX = b"R03\0", b"R98\0"
#: The tags of a preview's offsets and lengths, of a JPEG file and of strips.
_PREVIEW = ((0x0201, 0x0202), (0x0111, 0x0117))
#: Tags of directory 0 that describe its storage: how and where samples lie, what colours they are.
_STORAGE = frozenset(
    (*range(0xFE, 0x10B), 0x0111, *range(0x0115, 0x011D), *range(0x0120, 0x0126), 0x0128, 0x013D,
     *range(0x0140, 0x014A), *range(0x014C, 0x015C), *range(0x0200, 0x0216), XMP, *range(0x80E3, 0x80E7), 0x8773)
)  # fmt: skip
#: Tags of directory 0 that stay behind: other pictures of what the picture was, or blocks of another kind.
_LEFT = {
    0x012D: "transfer function", 0x014A: "sub-images", 0x83BB: "IPTC block", 0x8649: "Photoshop block",
    0x935C: "Photoshop layers",
}  # fmt: skip
#: Tags of directory 0 that programs write by themselves, and that alone are no reason to keep it.
_ROUTINE = frozenset({0x010D, ORIENTATION, 0x0129, 0x013C})
#: How descriptions begin that programs read as the file's layout; another file's would mislead them. With the names
#: of those that say more than the layout.
_LAYOUTS = {b"ImageJ=": "ImageJ description", b"<?xml": "XML description", b'{"': None}
#: The layout of an entry with one number, by its type: SHORT and LONG.
_WHOLE = {3: "HHIH2x", 4: "HHII"}
#: Types of offsets, and types that only BigTIFF has.
_PLACES = (13, 16, 17, 18)


def _description(file: BinaryIO) -> tuple[Directory, list[str]]:
    """Returns the tags of directory 0 and its parts on the picture, not its storage; and names of those left out."""
    structure = Structure.of(file)
    directory, unread = structure.tree(structure.first, POINTERS)
    described = {tag: value for tag, value in directory.items() if tag not in _STORAGE}
    foreign = [tag for tag, value in described.items() if isinstance(value, Entry) and value.kind in _PLACES]
    left = [
        _LEFT.get(tag, f"tag {tag:#06x}")
        for tag in dict.fromkeys((*(described.keys() & _LEFT), *foreign, *unread))
        if tag not in _STORAGE
    ]
    kept = {tag: value for tag, value in described.items() if tag not in _LEFT and tag not in foreign}
    text = kept.get(DESCRIPTION)
    if isinstance(text, Entry) and text.data.startswith(tuple(_LAYOUTS)):
        del kept[DESCRIPTION]
        left += [name for start, name in _LAYOUTS.items() if name and text.data.startswith(start)]
    part = kept.get(EXIF_IFD)
    note = part.get(MAKER_NOTE) if isinstance(part, dict) else None
    if isinstance(note, Entry) and _points_into_itself(note, structure.order):
        left.append("positions within the maker's note")
    return kept, left


def _points_into_itself(note: Entry, order: str) -> bool:
    """Whether a maker's note is a directory whose positions count from the block's start: it must not be moved.

    The directory begins behind some letters of the maker, or none.
    """
    for start in (0, 6, 8, 10, 12):
        (count,) = struct.unpack_from(order + "H", note.data.ljust(start + 2, b"\0"), start)
        table = note.data[start + 2 : start + 2 + 12 * count]
        if count and len(table) == 12 * count:
            rows = struct.iter_unpack(order + "HHII", table)
            far = [value for _, kind, number, value in rows if SIZES.get(kind, (0, 0))[0] * number > 4]
            if far and all(note.position <= value < note.position + len(note.data) for value in far):
                return True
    return False


def of_tiff(file: BinaryIO) -> tuple[bytes | None, bytes | None, list[str]]:
    """The EXIF block and the XMP packet of a TIFF file, each None where there is none; names of what is left out."""
    structure = Structure.of(file)
    xmp = structure.led_to().tags.get(XMP)
    kept, left = _description(file)
    turn = kept.get(ORIENTATION)
    turned = isinstance(turn, Entry) and turn.integer() != 1
    block = b"II*\0\x08\0\0\0" + laid_out(kept, 8) if turned or kept.keys() - _ROUTINE else None
    return block, xmp.data if xmp else None, left


def into_tiff(file: BinaryIO, exif: bytes | None, xmp: bytes | None) -> None:
    """Adds an EXIF block and an XMP packet to a little-endian TIFF file: a new directory 0 at its end."""
    structure = Structure.of(file)
    if structure.order != "<" or structure.big:
        raise MalformedError("not a little-endian classic TIFF structure")
    storage = structure.led_to()
    kept = _description(io.BytesIO(exif))[0] if exif else {}
    directory: Directory = {**kept, **storage.tags}
    if xmp:
        directory[XMP] = Entry(1, len(xmp), xmp)
    end = file.seek(0, 2)
    file.write(bytes(end % 2))
    end += end % 2
    file.write(laid_out(directory, end, storage.following))
    file.seek(4)
    file.write(struct.pack("<I", end))


def lost_in_tiff(block: bytes) -> list[str] | None:
    """Returns the names of an EXIF block's parts that a TIFF file cannot get; None where the block makes no sense."""
    try:
        return _description(io.BytesIO(block))[1]
    except MalformedError:
        return None


def without_thumbnail(block: bytes) -> bytes:
    """The block without its preview, which would show the picture as it was before any processing.

    Everything else stays where it is: makers' notes point to absolute positions.
    """
    try:
        structure = Structure.of(io.BytesIO(block))
        first = structure.led_to()
        if not first.following:
            return block
        changed = bytearray(block)
        struct.pack_into("I", changed, first.end, 0)
        preview = structure.directory(first.following).tags
        for offsets, lengths in _PREVIEW:
            if offsets in preview and lengths in preview:
                for start, size in zip(
                    preview[offsets].integers(), preview[lengths].integers(), strict=False
                ):
                    size = max(0, min(size, len(block) - start))
                    changed[start : start + size] = bytes(size)
        return bytes(changed)
    except MalformedError:
        return block


def sized(block: bytes, width: int, height: int) -> bytes:
    """The block with the picture's size in pixels in place of another one; everything stays where it is."""
    return _changed(block, (EXIF_IFD,), {_WIDTH: width, _HEIGHT: height}, kind=4)


def oriented(block: bytes, orientation: int) -> bytes:
    """The block with this orientation in place of another one; everything stays where it is."""
    return _changed(block, (), {ORIENTATION: orientation}, kind=3)


def is_adobe_rgb(block: bytes) -> bool:
    """Whether the block says that colours are Adobe RGB's: CIPA DC-008, ColorSpace, and DC-009 (DCF), 3.2.5."""
    said, index = _entry(block, _COLOUR_SPACE, EXIF_IFD), _entry(block, _INDEX, EXIF_IFD, INTEROP_IFD)
    if said is None or said.integer() != _UNCALIBRATED:
        return said is not None and said.integer() == _ADOBE
    return index is not None and index.data == _ADOBE_INDEX


def coloured(block: bytes, *, srgb: bool) -> bytes:
    """The block, changed to say that colours are sRGB or something else, not Adobe RGB; everything stays in place."""
    changed = _changed(block, (EXIF_IFD,), {_COLOUR_SPACE: _SRGB if srgb else _UNCALIBRATED}, kind=3)
    index = _entry(changed, _INDEX, EXIF_IFD, INTEROP_IFD)
    if index is None or index.data != _ADOBE_INDEX:
        return changed
    return changed[: index.at + 8] + _USUAL_INDEX + changed[index.at + 12 :]


def orientation(block: bytes) -> int:
    """The EXIF orientation, 1 (upright) to 8."""
    entry = _entry(block, ORIENTATION)
    return 1 if entry is None else entry.integer()


def _entry(block: bytes, tag: int, *path: int) -> Entry | None:
    """A tag's entry in the directory that the tags of ``path`` lead to; None where there is none, or only damage."""
    try:
        return Structure.of(io.BytesIO(block)).led_to(*path).tags.get(tag)
    except MalformedError:
        return None


def _changed(block: bytes, path: tuple[int, ...], wanted: Mapping[int, int], kind: int) -> bytes:
    """The block with other values of tags that are one SHORT or LONG each, and become of this ``kind``.

    They are in directory 0, or in that to which the tags of ``path`` lead.
    """
    try:
        structure = Structure.of(io.BytesIO(block))
        found = structure.led_to(*path)
    except MalformedError:
        return block
    changed = bytearray(block)
    for tag, entry in found.entries:
        if tag in wanted and entry.count == 1 and entry.kind in _WHOLE and entry.integer() != wanted[tag]:
            struct.pack_into(structure.order + _WHOLE[kind], changed, entry.at, tag, kind, 1, wanted[tag])
    return bytes(changed)
