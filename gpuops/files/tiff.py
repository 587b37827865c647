"""TIFF pictures, laid out by tifffile: uncompressed, as deflate takes 150 times as long for half the size.

Strips are compressed by imagecodecs where somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, BinaryIO

import numpy as np

from . import exif, threads
from .formats.record import Method
from .picture import Picture, Pixels
from .reading import parsing, quiet_tifffile

# Bytes of pixels from which on they are in tiles.
_TILED = 1 << 30
# Rows and columns of a tile.
_SIDE = 256
# Bytes from which on tifffile writes BigTIFF.
_BIG = 2**32 - 2**25
# Bytes of a strip that is compressed, about.
_STRIP = 1 << 18
# Bytes of strips and tiles that are read at a time, before they are decoded.
_AHEAD = 1 << 24
# tifffile's names of compressions.
_COMPRESSIONS = {"lzw": "lzw", "deflate": "adobe_deflate", "zstd": "zstd", "packbits": "packbits"}
# Compressions that gain by a predictor: differences between neighbours in place of values (TIFF 6.0, section 14).
_PREDICTED = ("lzw", "deflate", "zstd")
# tifffile's names of the units of resolutions.
_UNITS = {"in": "inch", "cm": "centimeter"}


def can_hold_exif(picture: Picture) -> bool:
    """Whether EXIF and XMP can be added: only to classic TIFF files, and EXIF only if it can be understood."""
    exif_block = picture.metadata.exif
    return picture.pixels.nbytes < _BIG and (exif_block is None or exif.lost_in_tiff(exif_block) is not None)


def read_samples(path: str, page: int, shape: tuple[int, int, int]) -> Pixels:
    """The samples of a page, (height, width, channels), that OpenImageIO cannot read."""
    with parsing(path):
        return _whole(path, page, shape)


def _whole(path: str, page: int, shape: tuple[int, int, int]) -> Pixels:
    """The samples of strips or tiles; where the file has none they are 0, or what the tag GDAL_NODATA says."""
    with quiet_tifffile().TiffFile(path) as file:
        found = file.pages[page].aspage()
        height, width, channels = shape
        planes = channels if found.planarconfig == 2 else 1
        samples = np.full((planes, height, width, channels // planes), found.nodata, found.dtype)
        # unsorted, tifffile to 2026.3 takes others for those that the file lacks
        parts = found.segments(maxworkers=threads.count(), buffersize=_AHEAD, sort=True)
        for segment, (plane, _, top, left, _), _ in parts:
            if segment is not None:
                part = samples[plane, top:, left:][: segment.shape[1], : segment.shape[2]]
                part[:] = segment[0, : part.shape[0], : part.shape[1]]
    return samples[0] if planes == 1 else np.ascontiguousarray(samples[..., 0].transpose(1, 2, 0))


def read_rows(path: str, page: int, shape: tuple[int, int, int], count: int) -> Iterator[Pixels]:
    """Gives what :func:`read_samples` returns, about ``count`` rows at a time: whole strips, or rows of tiles."""
    height, width, channels = shape
    with parsing(path), quiet_tifffile().TiffFile(path) as file:
        found = file.pages[page].aspage()
        least = found.tilelength if found.is_tiled else found.rowsperstrip
        at_once = least * max(1, count // least)
        first, rows = 0, np.empty((0, width, channels), found.dtype)
        for segment, (_, _, top, left, _), _ in found.segments(maxworkers=threads.count(), buffersize=_AHEAD):
            if top >= first + len(rows):
                if len(rows):
                    yield rows
                first, rows = top, np.zeros((min(at_once, height - top), width, channels), found.dtype)
            if segment is not None:  # of nothing but zeros there may be none
                part = rows[top - first :, left:][: segment.shape[1], : segment.shape[2]]
                part[:] = segment[0, : part.shape[0], : part.shape[1]]
        yield rows


@contextmanager
def writer(path: str, picture: Picture, method: Method | None) -> Iterator[Callable[[Pixels], None]]:
    """Gives a function that writes some rows of pixels, one call after the other from the top on.

    Large pictures that are not compressed are in tiles, so that a part of them can be read.
    """
    metadata = picture.metadata
    options: dict[str, Any] = {}
    if picture.alpha:
        options["extrasamples"] = ["unassalpha"]
    if metadata.resolution:
        x, y, unit = metadata.resolution
        options |= {"resolution": (x, y), "resolutionunit": _UNITS[unit]}
    assert method is not None
    layout = _as_it_is if method.name == "none" else partial(_compressed, method=method)
    with layout(path, picture, options | _common(picture)) as taking:
        yield taking
    if metadata.exif or metadata.xmp:
        with open(path, "r+b") as file:
            exif.into_tiff(file, metadata.exif, metadata.xmp)


def _common(picture: Picture) -> dict[str, Any]:
    return {
        "dtype": picture.pixels.dtype,
        "photometric": "rgb" if picture.channels >= 3 else "minisblack",
        "planarconfig": "contig" if picture.channels > 1 else None,
        "iccprofile": picture.metadata.icc,
        "metadata": None,
        "software": False,
        "byteorder": "<",
    }


@contextmanager
def _as_it_is(path: str, picture: Picture, options: dict[str, Any]) -> Iterator[Callable[[Pixels], None]]:
    tiled = picture.pixels.nbytes >= _TILED
    tile = (_SIDE, _SIDE) if tiled else None
    quiet_tifffile().imwrite(path, shape=_shape(picture), tile=tile, **options)
    with quiet_tifffile().TiffFile(path) as known:
        start = known.pages[0].dataoffsets[0]  # all pixels follow each other from there on
    with open(path, "r+b") as file:
        file.seek(start)
        yield _Tiles(file, picture).put if tiled else lambda pixels: _append(file, pixels)


@contextmanager
def _compressed(
    path: str, picture: Picture, options: dict[str, Any], method: Method
) -> Iterator[Callable[[Pixels], None]]:
    """Lays out a file of empty strips, appends the true ones, and says where they are."""
    rows = max(1, min(picture.height, _STRIP // max(1, picture.pixels[0].nbytes)))
    count = -(-picture.height // rows)
    predictor = 1
    if method.name in _PREDICTED:
        predictor = 3 if picture.pixels.dtype.kind == "f" else 2
    quiet_tifffile().imwrite(
        path,
        iter([b"\0"] * count),
        shape=_shape(picture),
        compression=_COMPRESSIONS[method.name],
        predictor=predictor,
        rowsperstrip=rows,
        bigtiff=picture.pixels.nbytes >= _BIG,
        **options,
    )
    with open(path, "r+b") as file:
        file.seek(0, 2)
        strips = _Strips(file, rows, picture.height, partial(_coded, method=method, predictor=predictor))
        yield strips.put
    with quiet_tifffile().TiffFile(path, mode="r+") as written:
        tags = written.pages[0].tags
        kind = "Q" if written.is_bigtiff else "I"
        tags["StripOffsets"].overwrite(strips.starts, dtype=kind)
        tags["StripByteCounts"].overwrite(strips.sizes, dtype=kind)


def _coded(rows: Pixels, method: Method, predictor: int) -> bytes:
    """A strip as the file has it."""
    import imagecodecs

    rows = np.ascontiguousarray(rows, rows.dtype.newbyteorder("<"))
    if predictor == 2:
        rows = imagecodecs.delta_encode(rows, axis=1)
    elif predictor == 3:
        rows = imagecodecs.floatpred_encode(rows, axis=1)
    data = rows.tobytes()
    if method.name == "lzw":
        return bytes(imagecodecs.lzw_encode(data))
    if method.name == "deflate":
        return bytes(imagecodecs.zlib_encode(data, level=method.level))
    if method.name == "zstd":
        return bytes(imagecodecs.zstd_encode(data, level=method.level))
    row = rows[0].nbytes  # runs of packbits end with the row
    return b"".join(imagecodecs.packbits_encode(data[at : at + row]) for at in range(0, len(data), row))


class _Strips:
    """The rows of a picture on their way to strips of so many rows."""

    def __init__(self, file: BinaryIO, rows: int, height: int, coded: Callable[[Pixels], bytes]) -> None:
        self._file, self._rows, self._height, self._coded = file, rows, height, coded
        self._left: Pixels | None = None  # those that do not fill a strip yet
        self._done = 0
        self.starts: list[int] = []
        self.sizes: list[int] = []

    def put(self, pixels: Pixels) -> None:
        """Writes rows as soon as they fill strips; the last strip may have fewer."""
        self._done += len(pixels)
        if self._left is not None:
            pixels = np.concatenate((self._left, pixels))
        whole = len(pixels) if self._done == self._height else len(pixels) // self._rows * self._rows
        parts = (pixels[at : min(at + self._rows, whole)] for at in range(0, whole, self._rows))
        for data in threads.in_order(self._coded, parts):
            self._file.write(b"\0" * (self._file.tell() % 2))  # strips begin at even bytes
            self.starts.append(self._file.tell())
            self.sizes.append(self._file.write(data))
        self._left = pixels[whole:].copy() if whole < len(pixels) else None


def _shape(picture: Picture) -> tuple[int, ...]:
    return picture.pixels.shape if picture.channels > 1 else picture.pixels.shape[:2]


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
