"""TIFF pictures, written by tifffile: uncompressed, as deflate takes 150 times as long for half the size."""

from __future__ import annotations

import struct
import warnings
from typing import Any

import tifffile

from ..errors import GpuopsWarning
from . import exif
from .picture import Picture

_UNITS = {"in": "inch", "cm": "centimeter"}


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
            try:
                exif.into_tiff(file, metadata.exif, metadata.xmp)
            except (exif.MalformedError, struct.error):
                text = f"{path}: EXIF and XMP are damaged or the file too large for them; they are left out"
                warnings.warn(text, GpuopsWarning, stacklevel=4)
