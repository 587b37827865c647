"""TIFF pictures, written by tifffile: uncompressed, as deflate takes 150 times as long for half the size."""

from __future__ import annotations

from typing import Any

import tifffile

from . import exif
from .picture import Picture

_BIG = 2**32 - 2**25  # from here on tifffile writes BigTIFF
_UNITS = {"in": "inch", "cm": "centimeter"}


def can_hold_exif(picture: Picture) -> bool:
    """EXIF and XMP are added to classic TIFF files only, and EXIF only if it can be understood."""
    exif_block = picture.metadata.exif
    return picture.pixels.nbytes < _BIG and (exif_block is None or exif.is_sound(exif_block))


def write(path: str, picture: Picture) -> None:
    metadata = picture.metadata
    options: dict[str, Any] = {}
    if picture.alpha:
        options["extrasamples"] = ["unassalpha"]
    if metadata.resolution:
        x, y, unit = metadata.resolution
        options |= {"resolution": (x, y), "resolutionunit": _UNITS[unit]}
    tifffile.imwrite(
        path,
        picture.pixels if picture.channels > 1 else picture.pixels[:, :, 0],
        photometric="rgb" if picture.channels >= 3 else "minisblack",
        planarconfig="contig" if picture.channels > 1 else None,
        iccprofile=metadata.icc,
        metadata=None,
        software=False,
        byteorder="<",
        **options,
    )
    if metadata.exif or metadata.xmp:
        with open(path, "r+b") as file:
            exif.into_tiff(file, metadata.exif, metadata.xmp)
