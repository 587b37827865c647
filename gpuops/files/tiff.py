"""TIFF pictures, written by tifffile: uncompressed, as deflate takes 150 times as long for half the size."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import tifffile
from numpy.typing import NDArray

from ..errors import FileError
from . import exif
from .formats import Format
from .picture import Picture

# Bytes from which on tifffile writes BigTIFF.
_BIG = 2**32 - 2**25
# tifffile's names of the units of resolutions.
_UNITS = {"in": "inch", "cm": "centimeter"}


def can_hold_exif(picture: Picture) -> bool:
    """Whether EXIF and XMP can be added: only to classic TIFF files, and EXIF only if it can be understood."""
    exif_block = picture.metadata.exif
    return picture.pixels.nbytes < _BIG and (exif_block is None or exif.lost_in_tiff(exif_block) is not None)


def read_double(path: str, page: int, shape: tuple[int, int, int]) -> NDArray[np.float64]:
    """The double samples of a page, (height, width, channels); OpenImageIO leaves some of them out."""
    logging.getLogger("tifffile").addHandler(logging.NullHandler())  # otherwise its remarks go to stderr
    try:
        with tifffile.TiffFile(path) as file:
            samples = file.pages[page].asarray()
            planar = file.pages[page].axes.startswith("S")
        return np.moveaxis(samples, 0, 2) if planar else samples.reshape(shape)
    except MemoryError:
        raise
    except Exception as error:  # whatever its parsers meet in a damaged file
        reason = str(error).split("\n")[0]
        raise FileError(
            f"{path}: its double samples could not be read ({reason}); convert it to float"
        ) from None


def write(path: str, picture: Picture, fmt: Format) -> None:
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
