"""The parts of a file around its pixels: EXIF and XMP byte for byte, and statements that decoders do not pass on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import BinaryIO

from .colours import Found
from .tiff_structure import MalformedError

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
    are several; its own is the first.
    """

    icc: bytes | None = None
    colours: Found | None = None
    exif: bytes | None = None
    xmp: bytes | None = None
    unused: tuple[str, ...] = ()
    orientation: int = 0
    layers: tuple[str, ...] = ()


def read(path: str, reader: Callable[[BinaryIO], Extras]) -> Extras:
    """What a format's reader finds in a file, EXIF without its preview; it may raise FileError."""
    with open(path, "rb", buffering=_SMALL) as file:
        extras = reader(file)
    if not extras.exif:
        return extras
    from .exif import without_thumbnail

    return replace(extras, exif=without_thumbnail(extras.exif))


def of_tiff(file: BinaryIO) -> Extras:
    """What a file of TIFF's structure holds, a camera's, too; nothing of one that is damaged."""
    from . import exif

    try:
        found, xmp, left = exif.of_tiff(file)
        return Extras(exif=found, xmp=xmp, unused=tuple(left))
    except MalformedError:
        return Extras()  # the decoder will name the damage
