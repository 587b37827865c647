"""The index of the pictures in a JPEG file (CIPA DC-007, Multi-Picture Format): a TIFF structure in a segment."""

from __future__ import annotations

import struct
from io import BytesIO

from .tiff_structure import Entry, MalformedError, Structure

#: How the segment begins.
START = b"MPF\0"
# The tag of the entries, and the bytes of one: attributes, size, offset, and two numbers of other entries.
_ENTRIES, _SIZE = 0xB002, 16


def count(block: bytes) -> int:
    """Returns how many pictures a segment tells of; 0 where it is damaged."""
    try:
        return len(_entries(block)[1].data) // _SIZE
    except (MalformedError, KeyError):
        return 0


def lengthened(block: bytes, more: int) -> bytes:
    """Returns a segment for a first picture that is so many bytes longer; offsets of others count from the segment.

    Raises MalformedError or KeyError for a damaged one.
    """
    structure, entries = _entries(block)
    changed = bytearray(block)
    at = len(START) + entries.position + 4
    (size,) = struct.unpack_from(structure.order + "I", block, at)
    struct.pack_into(structure.order + "I", changed, at, size + more)
    return bytes(changed)


def _entries(block: bytes) -> tuple[Structure, Entry]:
    structure = Structure.of(BytesIO(block[len(START) :]))
    return structure, structure.led_to().tags[_ENTRIES]
