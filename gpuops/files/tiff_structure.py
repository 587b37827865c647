"""TIFF structures: directories of tags, read from a file, and written as bytes.

Sources: TIFF revision 6.0, section 2; BigTIFF as libtiff documents it; CIPA DC-008 (Exif 3.0), section 4.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple, Union

#: How files begin.
MAGIC = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
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


@dataclass(frozen=True)
class Structure:
    """A TIFF structure in a file."""

    file: BinaryIO
    order: str
    big: bool
    first: int  # offset of directory 0

    @classmethod
    def of(cls, file: BinaryIO) -> Structure:
        file.seek(0)
        head = file.read(16)
        order = {b"II": "<", b"MM": ">"}.get(head[:2], "")
        if order and len(head) >= 8 and head[2:4] in (b"*\0", b"\0*"):
            return cls(file, order, False, struct.unpack_from(order + "I", head, 4)[0])
        if order and len(head) == 16 and head[2:4] in (b"+\0", b"\0+"):
            return cls(file, order, True, struct.unpack_from(order + "Q", head, 8)[0])
        raise MalformedError("not a TIFF structure")

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

    def led_to(self, *pointers: int) -> Listed:
        """Reads the directory that the tags lead to from directory 0 on; an empty one where a tag is missing."""
        found = self.directory(self.first)
        for tag in pointers:
            found = self.directory(found.tags[tag].integer()) if tag in found.tags else Listed()
        return found

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
        try:
            self.file.seek(offset)
        except (OSError, OverflowError, ValueError):
            return b""
        return self.file.read(size)


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


def tags_of_page(path: str, page: int) -> dict[int, Entry]:
    """The entries of a TIFF file's directory of a page, without those that could not be read; none of a damaged one."""
    try:
        with open(path, "rb") as file:
            structure = Structure.of(file)
            found = structure.directory(structure.first)
            for _ in range(page):
                found = structure.directory(found.following)
            return found.tags
    except MalformedError:
        return {}
