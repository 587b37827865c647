"""Strips and tiles of TIFF pages: whether they are whole. Some decoders fill what is missing, and say nothing.

Sources: TIFF 6.0, sections 3, 15 (tiles) and 21 (YCbCr: the order of samples, and how many there are); TIFF Technical
Note 2 (JPEG: each strip or tile is a whole picture, but for tables that the tag JPEGTables has for all); ITU-T T.81,
annex B.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import BinaryIO, NamedTuple

from . import exif, jpeg_segments
from .read_errors import parsing, quiet_tifffile, trouble
from .strips import DENSEST

#: The entries of a page's directory by their tags; none where it is damaged.
Tags = Mapping[int, exif.Entry]

#: The tags of where strips and tiles are, each with that of their bytes.
PLACES = ((273, 279), (324, 325))
#: The number of JPEG among compressions, and all whose strips and tiles are JPEG pictures.
JPEG, JPEGS = 7, (7, 33007, 34892)
# The first kind of JPEG in TIFF, whose strips are no whole pictures, and the numbers of JPEG XR.
_OLD_JPEG, _JPEG_XR = 6, (22610, 34934)
# Compressions of bytes that YCbCr has: none, LZW, deflate by two numbers, and PackBits.
_OF_BYTES = (1, 5, 8, 32946, 32773)
#: The interpretation of samples as YCbCr.
YCBCR = 6
#: The value of PlanarConfiguration for channels one after the other.
SEPARATE = 2
# The value of FillOrder for bytes whose lowest bit comes first.
_LOWEST_FIRST = 2
# The last bytes of a strip among which its end marker is; some programs fill up behind it.
_ENDING = 16


class _StripOrTile(NamedTuple):
    """A strip or tile: its bytes in the file; its rows and columns, and those of the picture that are in it."""

    start: int
    size: int
    height: int
    width: int
    rows: int
    columns: int


def tags_of_page(path: str, page: int) -> Tags:
    """The entries of a file's directory of a page, without those that could not be read; none of a damaged one."""
    with suppress(OSError):
        status = os.stat(path)
        return _tags(path, page, status.st_size, status.st_mtime_ns)
    return {}


@lru_cache(
    maxsize=4
)  # a reader asks for the same more than once, and the way to a page is over all before it
def _tags(path: str, page: int, _size: int, _changed: int) -> Tags:
    with suppress(exif.MalformedError), open(path, "rb") as file:
        structure = exif.Structure(file)
        offset = structure.first
        for _ in range(page):
            offset = structure.following(offset)
        return structure.directory(offset).tags
    return {}


def numbers(tags: Tags, tag: int) -> list[int]:
    """The whole numbers of a tag; none without it."""
    return tags[tag].integers() if tag in tags else []


def number(tags: Tags, tag: int, usual: int = 0) -> int:
    """The first of them."""
    return next(iter(numbers(tags, tag)), usual)


def is_sparse(tags: Tags) -> bool:
    """Whether some of a page's strips or tiles are not in the file: their place and size are 0, as GDAL has it."""
    return any((0, 0) in zip(numbers(tags, at), numbers(tags, size), strict=False) for at, size in PLACES)


def check(path: str, tags: Tags) -> None:
    """Refuses a page of whose strips or tiles one is not whole, as far as its decoder would not notice.

    All have to be in the file. JPEG has to end, and to be of the size that the directory says: decoders take what is
    missing for gray, and as much memory as a header claims. Other YCbCr has to have all its samples: the decoder
    leaves out what it cannot read. Raises FileError.
    """
    compression, there = number(tags, 259, 1), os.path.getsize(path)
    of_bytes = number(tags, 262) == YCBCR and compression not in (*JPEGS, _OLD_JPEG)
    if compression in _JPEG_XR or (of_bytes and compression not in _OF_BYTES):
        raise trouble(path, "read", f"compression {compression} is not supported")
    parts = [*_parts(path, tags)]
    with open(path, "rb") as file:
        for i, part in enumerate(parts, 1):
            if part.start == part.size == 0:
                continue  # it is meant to be missing
            if not 0 < part.size <= there - part.start or not part.start:
                raise trouble(path, "read", f"strip or tile {i} of {len(parts)} is missing")
            whole = True
            if compression in JPEGS:
                whole = _is_jpeg(file, part, tags)
            elif of_bytes:
                with parsing(path):
                    whole = _has_samples(file, part, tags, compression)
            if not whole:
                raise trouble(path, "read", f"strip or tile {i} of {len(parts)}")


def _parts(path: str, tags: Tags) -> Iterator[_StripOrTile]:
    """All strips or tiles of a page. Raises FileError where the directory does not have them all."""
    height, width = number(tags, 257), number(tags, 256)
    tile = number(tags, 323), number(tags, 322)
    down, across = tile if min(tile) > 0 else (max(1, min(height, number(tags, 278, height))), width)
    starts, sizes = (numbers(tags, tag) for tag in PLACES[min(tile) > 0])
    planes = number(tags, 277, 1) if number(tags, 284) == SEPARATE else 1
    count = planes * -(-height // down) * -(-width // max(1, across))
    if not count or min(len(starts), len(sizes)) < count:
        raise trouble(path, "read", f"{min(len(starts), len(sizes))} strips or tiles of {max(1, count)}")
    places = iter(zip(starts, sizes, strict=False))
    for _ in range(planes):
        for y in range(0, height, down):
            for x in range(0, width, across):
                rows, columns = min(down, height - y), min(across, width - x)
                yield _StripOrTile(*next(places), down, across, rows, columns)


def _is_jpeg(file: BinaryIO, part: _StripOrTile, tags: Tags) -> bool:
    """Whether a strip or tile is a JPEG picture that ends, and of the page's kind and size."""
    file.seek(part.start + 2)
    own = jpeg_segments.samples(jpeg_segments.read(file))
    file.seek(max(part.start, part.start + part.size - _ENDING))
    ended = b"\xff\xd9" in file.read(min(part.size, _ENDING))
    fits = part.columns <= own.width <= part.width and part.rows <= own.height <= part.height
    channels = 1 if number(tags, 284) == SEPARATE else number(tags, 277, 1)
    plausible = own.width * own.height * channels <= part.size * DENSEST
    return ended and fits and plausible and (own.bits, own.channels) == (number(tags, 258, 1), channels)


def _has_samples(file: BinaryIO, part: _StripOrTile, tags: Tags, compression: int) -> bool:
    """Whether a strip or tile has all bytes of YCbCr, which come by blocks: the brightness of all pixels of one, and
    its colour."""
    import imagecodecs

    across, down = (numbers(tags, 530) or [2, 2])[:2]
    if not {across, down} <= {1, 2, 4}:
        return False
    rows = part.height if 323 in tags else part.rows
    needed = -(-part.width // across) * -(-rows // down) * (across * down + 2)
    if number(tags, 284) == SEPARATE:
        needed = part.width * rows
    if needed > part.size * DENSEST:
        return False
    file.seek(part.start)
    data: bytes | bytearray = file.read(part.size)
    if number(tags, 266) == _LOWEST_FIRST:
        data = imagecodecs.bitorder_decode(data)
    if compression != 1:
        data = quiet_tifffile().TIFF.DECOMPRESSORS[compression](data, out=needed)
    return len(data) >= needed
