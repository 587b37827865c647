"""The boxes that many files consist of: length, kind and data (ISO/IEC 14496-12, 4.2)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO

#: The brands of files with a picture: of AVIF, of HEIC and other codecs in HEIF, and of Canon's raw files.
AVIF = frozenset((b"avif", b"avis"))
HEIC = frozenset(
    b"heic heix heim heis hevc hevx mif1 mif2 mif3 miaf msf1 avci avcs evbi evbs j2ki j2is jpeg jpgs vvic vvis".split()
)
RAW = frozenset((b"crx ",))
#: The most bytes of metadata; more is an attack.
LONGEST = 1 << 26


def boxes(file: BinaryIO, start: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """Kind, start and size of the data of each box between two positions."""
    position = start
    while position + 8 <= end:
        file.seek(position)
        length, kind = struct.unpack(">I4s", file.read(8))
        head = 8
        if length == 1:
            length, head = int.from_bytes(file.read(8), "big"), 16
        elif length == 0:
            length = end - position
        if length < head:
            return
        yield kind, position + head, length - head
        position += length


def data(file: BinaryIO, start: int, size: int) -> bytes:
    """The data of a box; of very long ones the beginning."""
    file.seek(start)
    return file.read(min(size, LONGEST))


def brands(head: bytes) -> frozenset[bytes]:
    """The brands in a file's first bytes, its own and those that it agrees with; behind mif3 the version is one."""
    if head[4:8] != b"ftyp":
        return frozenset()
    length = min(int.from_bytes(head[:4], "big"), len(head))
    return frozenset((head[8:12], *(head[at : at + 4] for at in range(12, length - 3, 4))))


def of_picture(head: bytes) -> frozenset[bytes] | None:
    """Which of the brands above a file has; AVIF's says most. None where it has no picture's."""
    found = brands(head)
    return next((kind for kind in (AVIF, RAW, HEIC) if kind & found), None)
