"""EXIF blocks and TIFF directories: read, and the few operations that carry EXIF from one container to another.

An EXIF block is a small TIFF structure: directory 0 describes the picture, and points to the Exif and the GPS
directory, and Exif to the Interoperability directory. JPEG, PNG and WebP hold the block as it is; in a TIFF file
its directories are part of the file, and directory 0 describes the storage as well.
Sources: TIFF revision 6.0, section 2 and appendix A; BigTIFF as libtiff documents it; CIPA DC-008 (Exif 3.0), 4.
"""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Mapping
from contextlib import suppress
from typing import BinaryIO, NamedTuple, Union

from ..records import dataclass

#: How files begin.
MAGIC = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
#: How cameras' files begin that are like these: Olympus's, and Panasonic's.
CAMERAS = (b"IIRO", b"IIRS", b"MMOR", b"IIU\0")
#: The tags that point to the Exif, the GPS and the interoperability directory.
_POINTING = EXIF_IFD, GPS_IFD, INTEROP_IFD = 0x8769, 0x8825, 0xA005
#: Bytes of one value of each type, and of the unit of its byte order.
SIZES = {
    1: (1, 1), 2: (1, 1), 3: (2, 2), 4: (4, 4), 5: (8, 4), 6: (1, 1), 7: (1, 1), 8: (2, 2),
    9: (4, 4), 10: (8, 4), 11: (4, 4), 12: (8, 8), 13: (4, 4), 16: (8, 8), 17: (8, 8), 18: (8, 8), 129: (1, 1),
}  # fmt: skip
#: The most bytes of values in one directory; more are damage.
_LARGEST = 1 << 24
#: The most tags of a directory; more are damage.
_LONGEST = 4096
#: The tags of the camera maker's note, of ImageDescription and of Orientation.
MAKER_NOTE, DESCRIPTION, ORIENTATION = 0x927C, 0x010E, 0x0112
#: GeoTIFF's tags: scale, tie points, transformation, keys.
GEOREFERENCES = (33550, 33922, 34264, 34735)
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
     *range(0x0140, 0x014A), *range(0x014C, 0x015C), *range(0x0200, 0x0216), XMP, *range(0x80E3, 0x80E7), 0x8773,
     *range(0xBC00, 0xBD00))  # the last are those of JPEG XR
)  # fmt: skip
#: Tags of directory 0 that stay behind: other pictures of what the picture was, or blocks of another kind.
_LEFT = {
    0x012D: "transfer function", 0x014A: "sub-images", 0x83BB: "IPTC block", 0x8649: "Photoshop block",
    0x935C: "Photoshop layers",
}  # fmt: skip
#: Tags of directory 0 that programs write by themselves, and that alone are no reason to keep it.
_ROUTINE = frozenset({0x010D, ORIENTATION, 0x0129, 0x013C})
#: How descriptions begin that programs read as the file's layout; another file's would mislead them.
_LAYOUTS = (b"<?xml", b"<", b'{"')
#: How OME's begins, which is written anew.
_OF_STACKS = re.compile(rb"(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<(\w+:)?OME\b", re.DOTALL)
#: The layout of an entry with one number, by its type: SHORT and LONG.
_WHOLE = {3: "HHIH2x", 4: "HHII"}
#: Types of offsets, and types that only BigTIFF has.
_PLACES = (13, 16, 17, 18)


class MalformedError(ValueError):
    """Says that the structure contradicts itself."""


@dataclass(frozen=True)
class Entry:
    """A tag's value: its type, the number of values, and their bytes in little-endian order.

    position: where long values were. at: where the tag stood in its directory.
    """

    kind: int
    count: int
    data: bytes
    position: int = 0
    at: int = 0

    def integer(self) -> int:
        return self.integers()[0]

    def integers(self) -> list[int]:
        size = SIZES[self.kind][0]
        return [int.from_bytes(self.data[i : i + size], "little") for i in range(0, len(self.data), size)]


class Listed(NamedTuple):
    """A directory as it stands in a file: tags and their entries, in this order, and the tags that could not be read.

    Where the next directory is: its offset, and where that stands.
    """

    entries: tuple[tuple[int, Entry], ...] = ()
    unread: tuple[int, ...] = ()
    following: int = 0
    end: int = 0

    @property
    def tags(self) -> dict[int, Entry]:
        """The entries by tag; of several of a tag the first counts."""
        return dict(reversed(self.entries))


#: Values by tag; a pointing tag's value is the directory it points to.
Directory = dict[int, Union[Entry, "Directory"]]
#: The pointing tags of a directory, with those of the directories they point to.
Pointers = dict[int, "Pointers"]
POINTERS: Pointers = {EXIF_IFD: {INTEROP_IFD: {}}, GPS_IFD: {}}


class Structure:
    """A TIFF structure in a file: the order of its bytes, whether it is BigTIFF's, the offset of directory 0."""

    def __init__(self, file: BinaryIO) -> None:
        file.seek(0)
        head = file.read(16)
        self.file = file
        self.order = {b"II": "<", b"MM": ">"}.get(head[:2], "")
        self.big = head[2:4] in (b"+\0", b"\0+")
        known = self.big or head[2:4] in (b"*\0", b"\0*") or head[:4] in CAMERAS
        if not self.order or not known or len(head) < (16 if self.big else 8):
            raise MalformedError("not a TIFF structure")
        kind, start = ("Q", 8) if self.big else ("I", 4)
        (self.first,) = struct.unpack_from(self.order + kind, head, start)

    def directory(self, offset: int) -> Listed:
        """Reads a directory."""
        head, word, room = ("Q", "Q", 8) if self.big else ("H", "I", 4)
        (count,) = struct.unpack(self.order + head, self._exactly(offset, struct.calcsize("=" + head)))
        if count > _LONGEST:
            raise MalformedError("a directory is too long")
        size, start = 4 + 2 * room, self.file.tell()
        raw = self._exactly(start, size * count)
        following = self.file.read(room)
        entries: list[tuple[int, Entry]] = []
        unread = []
        budget = _LARGEST
        for i in range(0, size * count, size):
            tag, kind, number = struct.unpack_from(f"{self.order}HH{word}", raw, i)
            length, unit = SIZES.get(kind, (0, 1))
            data, position = raw[i + 4 + room : i + size], 0
            if length and room < number * length <= budget:
                (position,) = struct.unpack(self.order + word, data)
                data = self._bytes(position, number * length)
                budget -= len(data)
            if length == 0 or len(data) < number * length:
                unread.append(tag)
                continue
            data = data[: number * length]
            data = data if self.order == "<" else _swapped(data, unit)
            entries.append((tag, Entry(kind, number, data, position, start + i)))
        (offset,) = struct.unpack(self.order + word, following.ljust(room, b"\0"))
        return Listed(tuple(entries), tuple(unread), offset, start + len(raw))

    def following(self, offset: int) -> int:
        """Returns the offset of the directory behind one, of which nothing else is read."""
        head, word, size, room = ("Q", "Q", 8, 8) if self.big else ("H", "I", 2, 4)
        (count,) = struct.unpack(self.order + head, self._exactly(offset, size))
        behind = self._exactly(offset + size + (4 + 2 * room) * count, room)
        return int(struct.unpack(self.order + word, behind)[0])

    def led_to(self, *pointers: int) -> Listed:
        """Reads the directory that the tags lead to from directory 0 on; an empty one where a tag is missing."""
        directory = self.directory(self.first)
        for tag in pointers:
            directory = self.directory(directory.tags[tag].integer()) if tag in directory.tags else Listed()
        return directory

    def tree(self, offset: int, pointers: Pointers) -> tuple[Directory, list[int]]:
        """A directory with the directories that it points to, and the tags that could not be read."""
        listed = self.directory(offset)
        unread = list(listed.unread)
        directory: Directory = {}
        for tag, entry in listed.tags.items():
            if tag in pointers:
                try:
                    part, further = self.tree(entry.integer(), pointers[tag])
                except MalformedError:
                    part, further = {}, [tag]
                unread += further
                if part:
                    directory[tag] = part
            elif tag not in _POINTING:
                directory[tag] = entry
        return directory, unread

    def _exactly(self, offset: int, size: int) -> bytes:
        data = self._bytes(offset, size)
        if len(data) != size:
            raise MalformedError("a directory reaches beyond the end")
        return data

    def _bytes(self, offset: int, size: int) -> bytes:
        """The bytes at an offset, as far as there are any."""
        with suppress(OSError, OverflowError, ValueError):
            self.file.seek(offset)
            return self.file.read(size)
        return b""


def _swapped(data: bytes, unit: int) -> bytes:
    return b"".join(data[i : i + unit][::-1] for i in range(0, len(data), unit))


def laid_out(directory: Directory, offset: int, following: int = 0) -> bytes:
    """The little-endian bytes of a directory that will begin at offset, long values and directories after it."""
    table = struct.pack("<H", len(directory))
    values = b""
    start = offset + 2 + 12 * len(directory) + 4
    for tag, entry in sorted(directory.items(), key=lambda item: item[0]):
        position = start + len(values)
        if isinstance(entry, dict):
            values += laid_out(entry, position)
            entry = Entry(4, 1, struct.pack("<I", position))
        data = entry.data.ljust(4, b"\0")
        if len(entry.data) > 4:
            data = struct.pack("<I", position)
            values += entry.data + b"\0" * (len(entry.data) % 2)
        table += struct.pack("<HHI", tag, entry.kind, entry.count) + data
    return table + struct.pack("<I", following) + values


def _description(file: BinaryIO) -> tuple[Directory, list[str]]:
    """Returns the tags of directory 0 and its parts on the picture, not its storage; and names of those left out."""
    structure = Structure(file)
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
    if isinstance(text, Entry) and text.data.startswith(_LAYOUTS) and not _OF_STACKS.match(text.data):
        del kept[DESCRIPTION]
        left += ["XML description"] * text.data.startswith(b"<")
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
    structure = Structure(file)
    xmp = structure.led_to().tags.get(XMP)
    kept, left = _description(file)
    turn = kept.get(ORIENTATION)
    turned = isinstance(turn, Entry) and turn.integer() != 1
    block = b"II*\0\x08\0\0\0" + laid_out(kept, 8) if turned or kept.keys() - _ROUTINE else None
    return block, xmp.data if xmp else None, left


def into_tiff(file: BinaryIO, exif: bytes | None, xmp: bytes | None) -> None:
    """Adds an EXIF block and an XMP packet to a little-endian TIFF file: a new directory 0 at its end."""
    structure = Structure(file)
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
    with suppress(MalformedError):
        return _description(io.BytesIO(block))[1]
    return None


def without_thumbnail(block: bytes) -> bytes:
    """The block without its preview, which would show the picture as it was before any processing.

    Everything else stays where it is: makers' notes point to absolute positions.
    """
    with suppress(MalformedError):
        structure = Structure(io.BytesIO(block))
        first = structure.led_to()
        if first.following:
            changed = bytearray(block)
            struct.pack_into("I", changed, first.end, 0)
            preview = structure.directory(first.following).tags
            places = [[preview[tag].integers() for tag in pair if tag in preview] for pair in _PREVIEW]
            for start, size in (
                place for pair in places if len(pair) == 2 for place in zip(*pair, strict=False)
            ):
                size = max(0, min(size, len(block) - start))
                changed[start : start + size] = bytes(size)
            return bytes(changed)
    return block


def sized(block: bytes, width: int, height: int) -> bytes:
    """The block with the picture's size in pixels in place of another one; everything stays where it is."""
    return _changed(block, (EXIF_IFD,), {_WIDTH: width, _HEIGHT: height}, kind=4)


def oriented(block: bytes, orientation: int) -> bytes:
    """The block with this orientation in place of another one; everything stays where it is."""
    return _changed(block, (), {ORIENTATION: orientation}, kind=3)


def is_adobe_rgb(block: bytes) -> bool:
    """Whether the block says that colours are Adobe RGB's: CIPA DC-008, ColorSpace, and DC-009 (DCF), 3.2.5."""
    said, index = entry(block, _COLOUR_SPACE, EXIF_IFD), entry(block, _INDEX, EXIF_IFD, INTEROP_IFD)
    if said is None or said.integer() != _UNCALIBRATED:
        return said is not None and said.integer() == _ADOBE
    return index is not None and index.data == _ADOBE_INDEX


def coloured(block: bytes, *, srgb: bool) -> bytes:
    """The block, changed to say that colours are sRGB or something else, not Adobe RGB; everything stays in place."""
    changed = _changed(block, (EXIF_IFD,), {_COLOUR_SPACE: _SRGB if srgb else _UNCALIBRATED}, kind=3)
    index = entry(changed, _INDEX, EXIF_IFD, INTEROP_IFD)
    if index is None or index.data != _ADOBE_INDEX:
        return changed
    return changed[: index.at + 8] + _USUAL_INDEX + changed[index.at + 12 :]


def orientation(block: bytes) -> int:
    """The EXIF orientation, 1 (upright) to 8."""
    stated = entry(block, ORIENTATION)
    return 1 if stated is None else stated.integer()


def entry(block: bytes, tag: int, *path: int) -> Entry | None:
    """A tag's entry in the directory that the tags of ``path`` lead to; None where there is none, or only damage."""
    with suppress(MalformedError):
        return Structure(io.BytesIO(block)).led_to(*path).tags.get(tag)
    return None


def _changed(block: bytes, path: tuple[int, ...], wanted: Mapping[int, int], kind: int) -> bytes:
    """The block with other values of tags that are one SHORT or LONG each, and become of this ``kind``.

    They are in directory 0, or in that to which the tags of ``path`` lead.
    """
    try:
        structure = Structure(io.BytesIO(block))
        directory = structure.led_to(*path)
    except MalformedError:
        return block
    changed = bytearray(block)
    for tag, entry in directory.entries:
        if tag in wanted and entry.count == 1 and entry.kind in _WHOLE and entry.integer() != wanted[tag]:
            struct.pack_into(structure.order + _WHOLE[kind], changed, entry.at, tag, kind, 1, wanted[tag])
    return bytes(changed)
