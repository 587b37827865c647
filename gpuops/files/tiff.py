"""TIFF pictures, laid out by tifffile: uncompressed, as deflate takes 150 times as long for half the size.

Strips are compressed by imagecodecs where somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from . import exif, threads
from .formats.record import Method
from .picture import Picture, Pixels
from .read_errors import parsing, quiet_tifffile

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
    """The samples of a page, (height, width, channels), that OpenImageIO cannot read.

    Where the file has no strips or tiles they are 0, or what the tag GDAL_NODATA says.
    """
    with parsing(path), quiet_tifffile().TiffFile(path) as file:
        found = file.pages[page].aspage()
        height, width, channels = shape
        planes = channels if found.planarconfig == 2 else 1
        samples = np.full((planes, height, width, channels // planes), found.nodata, found.dtype)
        # unsorted, tifffile to 2026.3 takes others for those that the file lacks
        parts = found.segments(maxworkers=threads.count(), buffersize=_AHEAD, sort=True)
        for segment, (plane, _, top, left, _), _ in parts:
            _put(segment, samples[plane, top:, left:])
    return samples[0] if planes == 1 else np.ascontiguousarray(samples[..., 0].transpose(1, 2, 0))


def _put(segment: Pixels | None, place: Pixels) -> None:
    """Puts a strip or a tile where it belongs, as far as there is room; the file may lack it."""
    if segment is not None:
        part = place[: segment.shape[1], : segment.shape[2]]
        part[:] = segment[0, : part.shape[0], : part.shape[1]]


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
            _put(segment, rows[top - first :, left:])
        yield rows


@contextmanager
def writer(path: str, picture: Picture, method: Method | None) -> Iterator[Callable[[Pixels], None]]:
    """Gives a function that writes some rows of pixels, one call after the other from the top on.

    Large pictures that are not compressed are in tiles, so that a part of them can be read.
    """
    assert method is not None
    metadata = picture.metadata
    options: dict[str, Any] = {
        "shape": picture.pixels.shape if picture.channels > 1 else picture.pixels.shape[:2],
        "dtype": picture.pixels.dtype,
        "photometric": "rgb" if picture.channels >= 3 else "minisblack",
        "planarconfig": "contig" if picture.channels > 1 else None,
        "iccprofile": metadata.icc,
        "metadata": None,
        "software": False,
        "byteorder": "<",
    }
    if picture.alpha:
        options["extrasamples"] = ["unassalpha"]
    if metadata.resolution:
        x, y, unit = metadata.resolution
        options |= {"resolution": (x, y), "resolutionunit": _UNITS[unit]}
    layout = _as_it_is if method.name == "none" else partial(_compressed, method=method)
    with layout(path, picture, options) as taking:
        yield taking
    if metadata.exif or metadata.xmp:
        with open(path, "r+b") as file:
            exif.into_tiff(file, metadata.exif, metadata.xmp)


@contextmanager
def _as_it_is(path: str, picture: Picture, options: dict[str, Any]) -> Iterator[Callable[[Pixels], None]]:
    tiled = picture.pixels.nbytes >= _TILED
    quiet_tifffile().imwrite(path, tile=(_SIDE, _SIDE) if tiled else None, **options)
    with quiet_tifffile().TiffFile(path) as known:
        start = known.pages[0].dataoffsets[0]  # all pixels follow each other from there on

    def append(pixels: Pixels) -> None:
        file.write(np.ascontiguousarray(pixels, pixels.dtype.newbyteorder("<")).data)

    def append_tiles(groups: Iterator[Pixels]) -> None:
        for rows in groups:  # the last tiles end in zeros
            filled = np.zeros((_SIDE, -(-picture.width // _SIDE) * _SIDE, picture.channels), rows.dtype)
            filled[: len(rows), : picture.width] = rows
            append(filled.reshape(_SIDE, -1, _SIDE, picture.channels).swapaxes(0, 1))

    with open(path, "r+b") as file:
        file.seek(start)
        yield _RowGroups(_SIDE, picture.height, append_tiles).put if tiled else append


@contextmanager
def _compressed(
    path: str, picture: Picture, options: dict[str, Any], method: Method
) -> Iterator[Callable[[Pixels], None]]:
    """Lays out a file of empty strips, appends the true ones, and says where they are."""
    rows = max(1, min(picture.height, _STRIP // max(1, picture.pixels[0].nbytes)))
    predictor = 1
    if method.name in _PREDICTED:
        predictor = 3 if picture.pixels.dtype.kind == "f" else 2
    quiet_tifffile().imwrite(
        path,
        iter([b"\0"] * -(-picture.height // rows)),
        compression=_COMPRESSIONS[method.name],
        predictor=predictor,
        rowsperstrip=rows,
        bigtiff=picture.pixels.nbytes >= _BIG,
        **options,
    )
    starts: list[int] = []
    sizes: list[int] = []

    def append(groups: Iterator[Pixels]) -> None:
        for data in threads.in_order(partial(_coded, method=method, predictor=predictor), groups):
            file.write(b"\0" * (file.tell() % 2))  # strips begin at even bytes
            starts.append(file.tell())
            sizes.append(file.write(data))

    with open(path, "r+b") as file:
        file.seek(0, 2)
        yield _RowGroups(rows, picture.height, append).put
    with quiet_tifffile().TiffFile(path, mode="r+") as written:
        tags = written.pages[0].tags
        kind = "Q" if written.is_bigtiff else "I"
        tags["StripOffsets"].overwrite(starts, dtype=kind)
        tags["StripByteCounts"].overwrite(sizes, dtype=kind)


def _coded(rows: Pixels, method: Method, predictor: int) -> bytes:
    """A strip as the file has it."""
    import imagecodecs

    rows = np.ascontiguousarray(rows, rows.dtype.newbyteorder("<"))
    if predictor == 2:
        rows = imagecodecs.delta_encode(rows, axis=1)
    elif predictor == 3:
        rows = imagecodecs.floatpred_encode(rows, axis=1)
    data = rows.tobytes()
    if method.name == "packbits":  # runs end with the row
        row = rows[0].nbytes
        return b"".join(imagecodecs.packbits_encode(data[at : at + row]) for at in range(0, len(data), row))
    coders = {
        "lzw": imagecodecs.lzw_encode,
        "deflate": imagecodecs.zlib_encode,
        "zstd": imagecodecs.zstd_encode,
    }
    return bytes(coders[method.name](data, **({} if method.level < 0 else {"level": method.level})))


class _RowGroups:
    """The rows of a picture of a height, on their way to strips, or rows of tiles, of so many rows each."""

    def __init__(self, rows: int, height: int, write: Callable[[Iterator[Pixels]], None]) -> None:
        self._rows, self._height, self._write = rows, height, write
        self._left: Pixels | None = None  # those that do not fill a group yet
        self._done = 0

    def put(self, pixels: Pixels) -> None:
        """Writes rows as soon as they fill groups; the last group may have fewer."""
        self._done += len(pixels)
        if self._left is not None:
            pixels = np.concatenate((self._left, pixels))
        whole = len(pixels) if self._done == self._height else len(pixels) // self._rows * self._rows
        self._write(pixels[at : min(at + self._rows, whole)] for at in range(0, whole, self._rows))
        self._left = pixels[whole:].copy() if whole < len(pixels) else None
