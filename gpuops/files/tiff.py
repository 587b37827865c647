"""TIFF pictures, written by tifffile: uncompressed, as deflate takes 150 times as long for half the size."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np
import tifffile
from numpy.typing import NDArray

from ..errors import FileError
from . import exif
from .formats import Format
from .picture import Picture, Pixels

# Bytes of pixels from which on they are in tiles.
_TILED = 1 << 30
# Rows and columns of a tile.
_SIDE = 256
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
    with writer(path, picture, fmt) as put:
        put(picture.pixels)


@contextmanager
def writer(path: str, picture: Picture, fmt: Format) -> Iterator[Callable[[Pixels], None]]:
    """The same by rows: what it gives takes the picture's pixels from the top on, some rows at a time.

    Large pictures are in tiles, so that a part of them can be read.
    """
    metadata = picture.metadata
    options: dict[str, Any] = {}
    if picture.alpha:
        options["extrasamples"] = ["unassalpha"]
    if metadata.resolution:
        x, y, unit = metadata.resolution
        options |= {"resolution": (x, y), "resolutionunit": _UNITS[unit]}
    tiled = picture.pixels.nbytes >= _TILED
    tifffile.imwrite(
        path,
        shape=picture.pixels.shape if picture.channels > 1 else picture.pixels.shape[:2],
        dtype=picture.pixels.dtype,
        photometric="rgb" if picture.channels >= 3 else "minisblack",
        planarconfig="contig" if picture.channels > 1 else None,
        iccprofile=metadata.icc,
        metadata=None,
        software=False,
        byteorder="<",
        tile=(_SIDE, _SIDE) if tiled else None,
        **options,
    )
    with tifffile.TiffFile(path) as known:
        start = known.pages[0].dataoffsets[0]  # all pixels follow each other from there on
    with open(path, "r+b") as file:
        file.seek(start)
        yield _Tiles(file, picture).put if tiled else lambda pixels: _append(file, pixels)
    if metadata.exif or metadata.xmp:
        with open(path, "r+b") as file:
            exif.into_tiff(file, metadata.exif, metadata.xmp)


def _append(file: BinaryIO, pixels: Pixels) -> None:
    file.write(np.ascontiguousarray(pixels, pixels.dtype.newbyteorder("<")).data)


class _Tiles:
    """The rows of a picture on their way to tiles."""

    def __init__(self, file: BinaryIO, picture: Picture) -> None:
        self._file, self._height = file, picture.height
        width = -(-picture.width // _SIDE) * _SIDE
        self._rows = np.zeros((_SIDE, width, picture.channels), picture.pixels.dtype)
        self._width, self._filled, self._done = picture.width, 0, 0

    def put(self, pixels: Pixels) -> None:
        """Writes rows as soon as they fill tiles; the last tiles end in zeros."""
        while len(pixels):
            count = min(_SIDE - self._filled, len(pixels))
            self._rows[self._filled : self._filled + count, : self._width] = pixels[:count]
            self._filled += count
            self._done += count
            pixels = pixels[count:]
            if self._filled == _SIDE or self._done == self._height:
                self._rows[self._filled :] = 0
                tiles = self._rows.reshape(_SIDE, -1, _SIDE, self._rows.shape[2]).swapaxes(0, 1)
                _append(self._file, tiles)
                self._filled = 0
