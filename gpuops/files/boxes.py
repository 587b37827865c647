"""The boxes that many files consist of: length, kind and data (ISO/IEC 14496-12, 4.2)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO


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
