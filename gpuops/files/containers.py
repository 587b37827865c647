"""The parts of a file around its pixels: EXIF and XMP byte for byte, and statements that decoders do not pass on."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, BinaryIO

from ..records import dataclass

if TYPE_CHECKING:
    from .colours import StatedColour
    from .gain_map import GainMap
    from .hdr_light import HdrLight
    from .texts import TextChunk

#: How EXIF begins in JPEG and WebP.
EXIF = b"Exif\0\0"
#: Bytes that are read at once: many small reads would each wait for Python's lock.
_SMALL = 1 << 16


@dataclass(frozen=True)
class Extras:
    """What a file holds beside its pixels.

    icc: only of PNG, whose decoder withholds some profiles. colours: the container's statement; None if only an ICC
    profile may tell. unused: names of what else is there and pictures do not keep. orientation: where rows and columns
    begin, as EXIF numbers it; 0 where the container says nothing. layers: the names of the file's pictures where these
    are several; its own is the first. light: what is said of the light of PQ and HLG. gain: the gain map.
    texts: those of PNG.
    """

    icc: bytes | None = None
    colours: StatedColour | None = None
    exif: bytes | None = None
    xmp: bytes | None = None
    unused: tuple[str, ...] = ()
    orientation: int = 0
    layers: tuple[str, ...] = ()
    light: HdrLight | None = None
    gain: GainMap | None = None
    texts: tuple[TextChunk, ...] = ()


def read(path: str, reader: Callable[[BinaryIO], Extras]) -> Extras:
    """What a format's reader finds in a file, EXIF without its preview; it may raise FileError."""
    with open(path, "rb", buffering=_SMALL) as file:
        extras = reader(file)
    if not extras.exif:
        return extras
    from . import exif

    return replace(extras, exif=exif.without_thumbnail(extras.exif))


def of_tiff(file: BinaryIO) -> Extras:
    """What a file of TIFF's structure holds, a camera's, too; nothing of one that is damaged."""
    from . import exif

    try:
        block, xmp, left = exif.of_tiff(file)
        return Extras(exif=block, xmp=xmp, unused=tuple(left))
    except exif.MalformedError:
        return Extras()  # the decoder will name the damage


# -- The boxes that many files consist of: length, kind and data (ISO/IEC 14496-12, 4.2) -------------------------

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


def of_picture(head: bytes) -> frozenset[bytes] | None:
    """Which of the brands above a file's first bytes have, as its own or among those that it agrees with.

    AVIF's says most; behind mif3 the version is one. None where it has no picture's.
    """
    if head[4:8] != b"ftyp":
        return None
    length = min(int.from_bytes(head[:4], "big"), len(head))
    brands = {head[8:12], *(head[at : at + 4] for at in range(12, length - 3, 4))}
    return next((kind for kind in (AVIF, RAW, HEIC) if kind & brands), None)
