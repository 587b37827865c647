"""EXIF blocks and TIFF directories: the few operations that carry EXIF from one container to another.

An EXIF block is a small TIFF structure: directory 0 describes the picture, and points to the Exif and the GPS
directory. JPEG, PNG and WebP hold the block as it is; in a TIFF file its directories are part of the file.
Sources: TIFF revision 6.0, section 2; CIPA DC-008 (Exif 2.32), section 4.
"""

from __future__ import annotations

import io
import struct
from dataclasses import dataclass
from typing import BinaryIO

EXIF_IFD, GPS_IFD, INTEROP_IFD = 0x8769, 0x8825, 0xA005
ORIENTATION, XMP = 0x0112, 0x02BC
_THUMBNAIL_OFFSET, _THUMBNAIL_LENGTH = 0x0201, 0x0202
#: Tags of directory 0 that describe the picture rather than its storage.
_DESCRIPTIVE = (0x010E, 0x010F, 0x0110, ORIENTATION, 0x0131, 0x0132, 0x013B, 0x013C, 0x8298)
_TELLING = (0x010E, 0x010F, 0x0110, 0x013B, 0x8298)  # those no program writes by itself
#: Bytes of one value of each type, and of its unit of byte order.
_SIZES = {
    1: (1, 1), 2: (1, 1), 3: (2, 2), 4: (4, 4), 5: (8, 4), 6: (1, 1), 7: (1, 1), 8: (2, 2),
    9: (4, 4), 10: (8, 4), 11: (4, 4), 12: (8, 8), 13: (4, 4),
}  # fmt: skip
_LARGEST = 1 << 24  # a longer tag is damage


class MalformedError(ValueError):
    """The structure contradicts itself."""


@dataclass(frozen=True)
class Entry:
    """A tag's value: its type, the number of values, and their bytes in little-endian order."""

    kind: int
    count: int
    data: bytes

    def integer(self) -> int:
        return int.from_bytes(self.data[: _SIZES[self.kind][0]], "little")


Directory = dict[int, Entry]


def _read_directory(file: BinaryIO, offset: int, order: str) -> tuple[Directory, int]:
    """A directory and the offset of the next one."""
    file.seek(offset)
    (count,) = struct.unpack(order + "H", _exactly(file, 2))
    raw = _exactly(file, 12 * count)
    following = file.read(4)
    entries: Directory = {}
    for i in range(count):
        tag, kind, number = struct.unpack_from(order + "HHI", raw, 12 * i)
        if kind not in _SIZES:
            continue
        size, unit = _SIZES[kind]
        if number * size > _LARGEST:
            continue
        data = raw[12 * i + 8 : 12 * i + 12]
        if number * size > 4:
            file.seek(struct.unpack(order + "I", data)[0])
            data = _exactly(file, number * size)
        data = data[: number * size]
        entries[tag] = Entry(kind, number, data if order == "<" else _swapped(data, unit))
    return entries, struct.unpack(order + "I", following)[0] if len(following) == 4 else 0


def _exactly(file: BinaryIO, size: int) -> bytes:
    data = file.read(size)
    if len(data) != size:
        raise MalformedError("a directory reaches beyond the end")
    return data


def _swapped(data: bytes, unit: int) -> bytes:
    return b"".join(data[i : i + unit][::-1] for i in range(0, len(data), unit))


def _header(file: BinaryIO) -> tuple[str, int]:
    """Byte order and the offset of directory 0."""
    file.seek(0)
    head = file.read(8)
    order = {b"II*\0": "<", b"MM\0*": ">"}.get(head[:4])
    if order is None or len(head) < 8:
        raise MalformedError("not a classic TIFF structure")
    return order, struct.unpack(order + "I", head[4:])[0]


def _laid_out(directory: Directory, offset: int, following: int = 0) -> bytes:
    """The little-endian bytes of a directory that will begin at offset, its long values after it."""
    table = struct.pack("<H", len(directory))
    values = b""
    start = offset + 2 + 12 * len(directory) + 4
    for tag, entry in sorted(directory.items()):
        data = entry.data.ljust(4, b"\0")
        if len(entry.data) > 4:
            data = struct.pack("<I", start + len(values))
            values += entry.data + b"\0" * (len(entry.data) % 2)
        table += struct.pack("<HHI", tag, entry.kind, entry.count) + data
    return table + struct.pack("<I", following) + values


def _with_parts(file: BinaryIO, order: str, directory: Directory) -> dict[int, Directory]:
    """The Exif and GPS directories that directory 0 points to, by the pointing tag."""
    parts: dict[int, Directory] = {}
    for tag in (EXIF_IFD, GPS_IFD):
        if tag in directory:
            part, _ = _read_directory(file, directory[tag].integer(), order)
            part.pop(INTEROP_IFD, None)  # holds nothing but the name of the colour space
            parts[tag] = part
    return parts


def _joined(directory: Directory, parts: dict[int, Directory], offset: int, following: int = 0) -> bytes:
    """Directory 0 at offset and its parts behind it."""
    directory = {**directory, **{tag: Entry(4, 1, bytes(4)) for tag in parts}}
    end = offset + len(_laid_out(directory, offset))
    tail = b""
    for tag, part in parts.items():
        position = end + len(tail)
        directory[tag] = Entry(4, 1, struct.pack("<I", position))
        tail += _laid_out(part, position)
    return _laid_out(directory, offset, following) + tail


def of_tiff(file: BinaryIO) -> tuple[bytes | None, bytes | None]:
    """The EXIF block and the XMP packet of a TIFF file, each None where there is none worth keeping."""
    order, offset = _header(file)
    directory, _ = _read_directory(file, offset, order)
    xmp = directory[XMP].data if XMP in directory else None
    kept = {tag: directory[tag] for tag in _DESCRIPTIVE if tag in directory}
    parts = _with_parts(file, order, directory)
    turned = ORIENTATION in kept and kept[ORIENTATION].integer() != 1
    parts = {tag: part for tag, part in parts.items() if part}
    if not (parts or turned or any(tag in kept for tag in _TELLING)):
        return None, xmp
    return b"II*\0\x08\0\0\0" + _joined(kept, parts, 8), xmp


def into_tiff(file: BinaryIO, exif: bytes | None, xmp: bytes | None) -> None:
    """Adds an EXIF block and an XMP packet to a little-endian TIFF file: a new directory 0 at its end."""
    order, offset = _header(file)
    if order != "<":
        raise MalformedError("not little-endian")
    directory, following = _read_directory(file, offset, order)
    parts: dict[int, Directory] = {}
    if exif:
        block = io.BytesIO(exif)
        block_order, block_offset = _header(block)
        source, _ = _read_directory(block, block_offset, block_order)
        directory |= {tag: source[tag] for tag in _DESCRIPTIVE if tag in source}
        parts = _with_parts(block, block_order, source)
    if xmp:
        directory[XMP] = Entry(1, len(xmp), xmp)
    end = file.seek(0, 2)
    file.write(bytes(end % 2))
    end += end % 2
    file.write(_joined(directory, parts, end, following))
    file.seek(4)
    file.write(struct.pack("<I", end))


def without_thumbnail(block: bytes) -> bytes:
    """The block without its preview, which would show the picture as it was before any processing.

    Everything else stays where it is: makers' notes point to absolute positions.
    """
    try:
        order, offset = _header(io.BytesIO(block))
        _, following = _read_directory(io.BytesIO(block), offset, order)
        if not following:
            return block
        changed = bytearray(block)
        (count,) = struct.unpack_from(order + "H", block, offset)
        struct.pack_into(order + "I", changed, offset + 2 + 12 * count, 0)
        preview, _ = _read_directory(io.BytesIO(block), following, order)
        if _THUMBNAIL_OFFSET in preview and _THUMBNAIL_LENGTH in preview:
            start, size = preview[_THUMBNAIL_OFFSET].integer(), preview[_THUMBNAIL_LENGTH].integer()
            size = max(0, min(size, len(block) - start))
            changed[start : start + size] = bytes(size)
        return bytes(changed)
    except (MalformedError, struct.error):
        return block


def is_sound(block: bytes) -> bool:
    """Whether all directories of a block can be read."""
    try:
        order, offset = _header(io.BytesIO(block))
        _with_parts(io.BytesIO(block), order, _read_directory(io.BytesIO(block), offset, order)[0])
    except (MalformedError, struct.error):
        return False
    return True


def orientation(block: bytes) -> int:
    """The EXIF orientation, 1 (upright) to 8."""
    try:
        order, offset = _header(io.BytesIO(block))
        directory, _ = _read_directory(io.BytesIO(block), offset, order)
        return directory[ORIENTATION].integer() if ORIENTATION in directory else 1
    except (MalformedError, struct.error):
        return 1
