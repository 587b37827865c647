"""TIFF pictures, laid out by tifffile: uncompressed, as deflate takes 150 times as long for half the size.

Strips are compressed by imagecodecs where somebody asks for it.
"""

from __future__ import annotations

import shutil
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from ..errors import FileError
from . import exif, stacks, threads
from .formats.record import Method
from .picture import Picture, Pixels
from .read_errors import parsing, quiet_tifffile, trouble
from .tiff_parts import tags_of_page

# Bytes of pixels from which on they are in tiles.
_TILED = 1 << 30
# Rows and columns of a tile.
_SIDE = 256
# Bytes from which on tifffile writes BigTIFF.
BIG = 2**32 - 2**25
# Bytes of a strip that is compressed, about.
_STRIP = 1 << 18
# Bytes of strips and tiles that are read at a time, before they are decoded.
_AHEAD = 1 << 24
# tifffile's names of compressions.
_COMPRESSIONS = {"lzw": "lzw", "deflate": "adobe_deflate", "zstd": "zstd", "packbits": "packbits"}
# Compressions that gain by a predictor: differences between neighbours in place of values (TIFF 6.0, section 14).
_PREDICTED = ("lzw", "deflate", "zstd")
# The tags of where strips and tiles are.
_PLACES = (273, 324)
# tifffile's names of the units of resolutions.
_UNITS = {"in": "inch", "cm": "centimeter"}


def read_samples(path: str, page: int, shape: tuple[int, int, int]) -> Pixels:
    """The samples of a page, (height, width, channels), that OpenImageIO cannot read.

    Where the file has no strips or tiles they are 0, or what the tag GDAL_NODATA says.
    """
    return next(read_rows(path, page, shape, shape[0]))


def read_rows(path: str, page: int, shape: tuple[int, int, int], count: int) -> Iterator[Pixels]:
    """Gives what :func:`read_samples` returns, about ``count`` rows at a time: whole strips, or rows of tiles.

    Planes that follow each other, and files that lack parts, come as a whole only. Raises FileError where the places of
    some parts are not even named.
    """
    height, width, channels = shape
    with parsing(path), quiet_tifffile().TiffFile(path) as file:
        image = file.pages[page].aspage()
        planes = channels if image.planarconfig == 2 else 1
        least = min(height, image.tilelength if image.is_tiled else image.rowsperstrip)
        parts = planes * -(-height // max(1, least)) * (-(-width // image.tilewidth) if image.is_tiled else 1)
        if parts > len(image.dataoffsets):
            raise trouble(path, "read", f"{len(image.dataoffsets)} strips or tiles of {parts}")
        at_once = height if count >= height else least * max(1, count // least)

        def empty(top: int) -> Pixels:
            rows = planes, min(at_once, height - top), width, channels // planes
            return np.full(rows, image.nodata, image.dtype)

        first, rows = 0, empty(0)
        # unsorted, tifffile to 2026.3 takes others for those that the file lacks
        segments = image.segments(maxworkers=threads.count(), buffersize=_AHEAD, sort=count >= height)
        for segment, (plane, _, top, left, _), _ in segments:
            if top >= first + rows.shape[1]:
                yield rows[0]
                first, rows = top, empty(top)
            if segment is not None:
                place = rows[plane, top - first :, left:][: segment.shape[1], : segment.shape[2]]
                place[:] = segment[0, : place.shape[0], : place.shape[1]]
        yield rows[0] if planes == 1 else np.ascontiguousarray(rows[..., 0].transpose(1, 2, 0))


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
    elif metadata.spacing:
        options |= {"resolution": metadata.spacing, "resolutionunit": "none"}
    layout = _as_it_is if method.name == "none" else partial(_compressed, method=method)
    with layout(path, picture, options) as taking:
        yield taking
    if metadata.exif or metadata.xmp:
        block = (
            stacks.described(metadata.exif, picture.pixels.shape, picture.pixels.dtype)
            if metadata.exif
            else None
        )
        with open(path, "r+b") as file:
            exif.into_tiff(file, block, metadata.xmp)


def join(path: str, pages: Sequence[str], source: str) -> None:
    """Writes one file of pages, each of which is a file of :func:`writer`; ``source``: the file whose pages they were,
    all of them, or "".

    Raises FileError where that is too large for a classic TIFF file.
    """
    whole = stacks.text_of(tags_of_page(source, 0)) if source else ""  # type: ignore[arg-type]
    with open(path, "wb") as out:
        out.write(b"II*\0" + bytes(4))
        link = 4
        for page in pages:
            with open(page, "rb") as file:
                structure = exif.Structure(file)
                directory, _ = structure.tree(structure.first, exif.POINTERS)
                base = out.tell()
                file.seek(0)
                shutil.copyfileobj(file, out)
            out.write(bytes(out.tell() % 2))
            at = out.tell()
            if structure.big or at >= BIG:
                raise FileError(
                    f"{path}: its pages take more than 4 GB: write them to files of their own, as {{frame}}.tif"
                )
            for tag in _PLACES:
                if isinstance(places := directory.get(tag), exif.Entry):
                    moved = [place + base for place in places.integers()]
                    directory[tag] = exif.Entry(4, len(moved), struct.pack(f"<{len(moved)}I", *moved))
            if link == 4 and (text := stacks.text_of(directory)):
                with quiet_tifffile().TiffFile(page) as known:
                    first = known.pages[0]
                    shape = first.imagelength, first.imagewidth, first.samplesperpixel
                stacks.with_text(directory, stacks.written(text, shape, first.dtype, len(pages), whole))
            out.write(exif.laid_out(directory, at))
            end = out.tell()
            out.seek(link)
            out.write(struct.pack("<I", at))
            link = at + 2 + 12 * len(directory)
            out.seek(end + end % 2)


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
        yield _by_groups(_SIDE, picture.height, append_tiles) if tiled else append


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
        bigtiff=picture.pixels.nbytes >= BIG,
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
        yield _by_groups(rows, picture.height, append)
    with quiet_tifffile().TiffFile(path, mode="r+") as written:
        tags = written.pages[0].tags
        kind = "Q" if written.is_bigtiff else "I"
        tags["StripOffsets"].overwrite(starts, dtype=kind)
        tags["StripByteCounts"].overwrite(sizes, dtype=kind)


def _coded(rows: Pixels, method: Method, predictor: int) -> bytes:
    """A strip as the file has it."""
    import imagecodecs

    encode = getattr(imagecodecs, f"{'zlib' if method.name == 'deflate' else method.name}_encode")
    rows = np.ascontiguousarray(rows, rows.dtype.newbyteorder("<"))
    if predictor > 1:
        rows = quiet_tifffile().TIFF.PREDICTORS[predictor](rows, axis=1)
    data = rows.tobytes()
    if method.name == "packbits":  # runs end with the row
        row = rows[0].nbytes
        return b"".join(encode(data[at : at + row]) for at in range(0, len(data), row))
    return bytes(encode(data, **({} if method.level < 0 else {"level": method.level})))


def _by_groups(rows: int, height: int, write: Callable[[Iterator[Pixels]], None]) -> Callable[[Pixels], None]:
    """A function that takes rows of a picture of a height to strips, or rows of tiles, of so many rows each.

    It writes rows as soon as they fill groups; the last group may have fewer.
    """
    left: list[Pixels] = []  # those that do not fill a group yet
    done = 0

    def put(pixels: Pixels) -> None:
        nonlocal left, done
        done += len(pixels)
        pixels = np.concatenate((*left, pixels)) if left else pixels
        whole = len(pixels) if done == height else len(pixels) // rows * rows
        write(pixels[at : min(at + rows, whole)] for at in range(0, whole, rows))
        left = [pixels[whole:].copy()] * (whole < len(pixels))

    return put
