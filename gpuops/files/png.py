"""The chunks of PNG files, and a parallel writer: rows are filtered with numpy and deflated in strips by isal.

Threads that call numpy wait for Python's lock each time, and many of them spend their time so. Hence filters are
chosen for many strips at once, a strip is filtered as a whole, and all is done on bytes, which is what numpy does fast.

The format: W3C Portable Network Graphics (Third Edition); zlib and deflate: RFC 1950, RFC 1951. Every strip
ends in a full flush (an empty stored block, byte aligned, no references across it), so the strips joined are
one deflate stream, and the strips' Adler-32 sums combine to the stream's.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import repeat
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import FileError
from . import colours, threads
from .formats.record import Method
from .hdr_light import ContentMeter
from .picture import Picture, Pixels
from .read_errors import beginning

# How a PNG file begins.
SIGNATURE = b"\x89PNG\r\n\x1a\n"
#: PNG's colour type by the number of channels.
COLOUR_TYPE = {1: 0, 2: 4, 3: 2, 4: 6}
# Bytes that are filtered and compressed at a time: so many that a flush costs nothing and threads seldom wait for each
# other to call numpy, and so few that they stay in a core's cache.
_STRIP_BYTES = 1 << 20
# Bytes of sample rows that filters are chosen by at a time.
_SAMPLE_BYTES = 1 << 20
# Bytes of a picture's rows up to which they are not filtered: the file takes a block of the disk in any case, and to
# choose a filter takes longer than all the rest of its writing.
_FEW_BYTES = 1 << 12
# What the entropy of filter types 0 to 4 is multiplied by: the costly ones must win by so much.
_HANDICAPS = (1.0, 1.0, 1.0, 1.005, 1.02)
# The compression level; isal's higher levels save 1 % here.
_LEVEL = 1
# The modulus of Adler-32, the largest prime below 65536.
_ADLER = 65521
# Bytes of a file to the end of what its header says.
_HEADER = 29
# Bytes that are read at a time for a checksum.
_CRC_BLOCK = 1 << 20
# Bytes that are inflated at a time, at most.
_PIECE = 1 << 18
# Units of a resolution in a metre.
_METRE = {"in": 1 / 0.0254, "cm": 100.0}

Bytes = NDArray[np.uint8]
Coder = Callable[[], Any]


# Reading -------------------------------------------------------------------------------------------


def header(path: str) -> tuple[int, ...]:
    """Width, height, bits of a sample, colour type and interlacing of a file; zeros where it is cut off."""
    return header_of(beginning(path, _HEADER)[16:])


def header_of(data: bytes) -> tuple[int, ...]:
    """The same of the data of a chunk IHDR."""
    return struct.unpack_from(">IIBBxxB", data.ljust(13, b"\0"))


def chunks(file: BinaryIO, *, pixels: bool = False) -> Iterator[tuple[bytes, bytes]]:
    """Gives the kind and data of all chunks; those of pixels are empty unless they are wanted.

    Raises FileError for damage, which is found before a decoder stumbles over it.
    """
    from isal import isal_zlib

    size, at = os.fstat(file.fileno()).st_size, file.seek(len(SIGNATURE))
    kind = b""
    while kind != b"IEND":
        head = file.read(8)
        length, kind = struct.unpack(">I4s", head) if len(head) == 8 else (size, b"")
        at += 12 + length
        if at > size:
            raise FileError(f"{file.name}: is cut off; get a whole copy of it")
        data, checksum = b"", zlib.crc32(kind)
        kept = pixels or kind not in (b"IDAT", b"fdAT")
        while length:
            block = file.read(length if kept else min(length, _CRC_BLOCK))
            checksum = isal_zlib.crc32(block, checksum)
            length -= len(block)
            data = block if kept else b""
        if checksum != int.from_bytes(file.read(4), "big"):
            what = f"is damaged (checksum of {kind.decode('latin-1')!r})"
            raise FileError(f"{file.name}: {what}; get a whole copy of it")
        yield kind, data


def pixel_data(path: str) -> Iterator[bytes]:
    """Gives the deflated pixels, some bytes at a time, of a file whose chunks were checked.

    Raises struct.error for one that has been cut off since.
    """
    with open(path, "rb") as file:
        file.seek(len(SIGNATURE))
        kind = b""
        while kind != b"IEND":
            length, kind = struct.unpack(">I4s", file.read(8))
            end = file.tell() + length
            while kind == b"IDAT" and file.tell() < end:
                yield file.read(min(_PIECE, end - file.tell()))
            file.seek(end + 4)


# Writing -------------------------------------------------------------------------------------------


@contextmanager
def writer(path: str, picture: Picture, method: Method | None) -> Iterator[Callable[[Pixels], None]]:
    """Gives a function that writes some rows of 8- or 16-bit pixels, one call after the other from the top on.

    All metadata that PNG knows is written.
    """
    depth = 8 * picture.pixels.dtype.itemsize
    colour = COLOUR_TYPE[picture.channels]
    header = struct.pack(">IIBBBBB", picture.width, picture.height, depth, colour, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(SIGNATURE)
        _chunk(file, b"IHDR", header)
        _ancillary(file, picture)
        filtered = picture.pixels.nbytes > _FEW_BYTES
        put, light = _rows(file, picture.height, _coder(method), filtered=filtered), picture.metadata.light
        if light is None or not (light.anew and light.content):
            yield put
        else:
            meter = ContentMeter(picture.colour, picture.pixels.dtype.name)

            def measured(pixels: Pixels) -> None:
                meter.add(pixels[:, :, :-1] if picture.alpha else pixels)
                put(pixels)

            yield measured
            file.seek(len(SIGNATURE) + len(header) + 12)  # the chunk behind the header
            _chunk(file, b"cLLI", light._replace(content=meter.content).png_chunks()[b"cLLI"])
            file.seek(0, 2)
        _chunk(file, b"IEND", b"")


def _ancillary(file: BinaryIO, picture: Picture) -> None:
    metadata = picture.metadata
    for kind, data in metadata.light.png_chunks().items() if metadata.light else ():
        _chunk(file, kind, data)
    chunks = colours.png_chunks(picture.colour, metadata.icc, gray=picture.channels < 3)
    for kind, data in chunks.items():
        _chunk(file, kind, data)
    if metadata.resolution:
        x, y, unit = metadata.resolution
        per_metre = [min(max(round(value * _METRE[unit]), 1), 2**31 - 1) for value in (x, y)]
        _chunk(file, b"pHYs", struct.pack(">IIB", *per_metre, 1))
    if metadata.exif:
        _chunk(file, b"eXIf", metadata.exif)
    for text in metadata.texts:
        _chunk(file, *text)
    if metadata.xmp:
        _chunk(file, b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + metadata.xmp)


def _chunk(file: BinaryIO, kind: bytes, *data: bytes) -> None:
    from isal import isal_zlib

    checksum = zlib.crc32(kind)
    for part in data:
        checksum = isal_zlib.crc32(part, checksum)
    file.writelines((struct.pack(">I", sum(map(len, data))), kind, *data, struct.pack(">I", checksum)))


def _coder(method: Method | None) -> Coder:
    """Returns what makes a compressor of raw deflate: isal's, or zlib's where somebody names a level."""
    if method is None:
        from isal import isal_zlib

        return lambda: isal_zlib.compressobj(_LEVEL, isal_zlib.DEFLATED, -15)
    level = 0 if method.name == "none" else method.level
    return lambda: zlib.compressobj(level, zlib.DEFLATED, -15)


class _Strip(NamedTuple):
    """Rows ``start`` to ``stop`` of pixels, the ``kind`` of their filter, the row ``before`` all these pixels, and the
    number of the ``first`` row in the picture."""

    pixels: Pixels
    start: int
    stop: int
    kind: int
    before: Pixels | None
    first: int


def _rows(file: BinaryIO, height: int, coder: Coder, *, filtered: bool) -> Callable[[Pixels], None]:
    """A function that takes rows of a picture of this height to a file; ``filtered``: filters are chosen for them."""
    done, adler = 0, 1
    above: Pixels | None = None  # the last row so far
    waiting: Pixels | None = None  # rows that do not make a strip yet

    def put(pixels: Pixels) -> None:
        """Writes rows; the last ones of the picture end the stream. Strips are the same however rows come."""
        nonlocal done, adler, waiting
        rows = max(1, min(height, _STRIP_BYTES // pixels[0].nbytes))
        come = done + len(pixels)
        parts = [pixels]
        if waiting is not None:
            come += len(waiting)
            missing = rows - len(waiting)
            parts = [np.concatenate((waiting, pixels[:missing]))]
            parts += [pixels[missing:]] if len(pixels) > missing else []
            waiting = None
        if come < height and (left := len(parts[-1]) % rows):
            parts[-1], waiting = parts[-1][:-left], parts[-1][-left:].copy()
        todo = [strip for part in parts if len(part) for strip in strips(part, rows)]
        coded = threads.in_order if len(todo) > 1 else map  # one strip needs no thread
        for data, strip_adler, size in coded(encode, todo):
            adler = _combine(adler, strip_adler, size)
            _chunk(file, b"IDAT", *data)
        if done >= height:
            _chunk(file, b"IDAT", struct.pack(">I", adler))

    def strips(pixels: Pixels, rows: int) -> list[_Strip]:
        """The strips of so many rows of the next rows of the picture."""
        nonlocal done, above
        starts = range(0, len(pixels), rows)
        kinds = best_filters(pixels, rows, above) if filtered else repeat(0, len(starts))
        made = [
            _Strip(pixels, start, min(start + rows, len(pixels)), kind, above, done + start)
            for start, kind in zip(starts, kinds, strict=True)
        ]
        done, above = done + len(pixels), pixels[-1:].copy()
        return made

    def encode(strip: _Strip) -> tuple[tuple[bytes, ...], int, int]:
        """One strip: its deflated bytes in parts, the Adler-32 sum of the filtered bytes, and their number."""
        from isal import isal_zlib

        pixels, start, stop, kind, before, first = strip
        flat = filter_rows(pixels, start, stop, kind, before).reshape(-1)
        compressor = coder()
        flush = zlib.Z_FINISH if first + stop - start >= height else zlib.Z_FULL_FLUSH
        head = b"\x78\x01" if first == 0 else b""
        parts = head, compressor.compress(flat), compressor.flush(flush)
        return parts, isal_zlib.adler32(flat), flat.size

    return put


def _combine(first: int, second: int, length: int) -> int:
    """The Adler-32 sum of two byte strings joined, from both sums and the second's length."""
    a = ((first & 0xFFFF) + (second & 0xFFFF) - 1) % _ADLER
    b = ((first >> 16) + (second >> 16) + length * ((first & 0xFFFF) - 1)) % _ADLER
    return b << 16 | a


def filter_rows(pixels: Pixels, start: int, stop: int, kind: int, before: Pixels | None = None) -> Bytes:
    """Rows start to stop as PNG stores them: a filter type (one for all rows), then the filtered bytes.

    ``before``: the row above all these, if they are not the picture's first.
    """
    step = pixels.shape[2] * pixels.dtype.itemsize
    out = np.empty((stop - start, pixels.shape[1] * step + 1), np.uint8)
    out[:, 0] = kind
    if kind == 0:
        out[:, 1:] = _stored(pixels[start:stop])
        return out
    above, rows = _row_bytes(pixels, start, stop, before)
    few = max(1, _STRIP_BYTES // rows.shape[1])
    scratch = _scratch(rows[:few], step)
    for first in range(0, len(rows), few):
        block = slice(first, first + few)
        _filter(kind, rows[block], above[block], step, out[block, 1:], scratch)
    return out


def _row_bytes(pixels: Pixels, start: int, stop: int, before: Pixels | None) -> tuple[Bytes, Bytes]:
    """The big-endian bytes of the rows above each of the rows start to stop, and of these."""
    block = pixels[max(start - 1, 0) : stop]
    if start == 0:
        block = np.concatenate((np.zeros_like(block[:1]) if before is None else before, block))
    rows = _stored(block)
    return rows[:-1], rows[1:]


def _stored(rows: Pixels) -> Bytes:
    """The bytes of rows, as PNG stores them: the high one of 16 bits first."""
    big = rows.astype(rows.dtype.newbyteorder(">"), copy=False)
    return big.reshape(len(rows), -1).view(np.uint8)


def best_filters(pixels: Pixels, rows: int, before: Pixels | None = None) -> Iterator[int]:
    """The filter type for each strip of so many rows: the one with the least entropy on two sample rows.

    A costlier filter must win by 2 %. Many strips are looked at together, so that numpy is called a few times only.
    """
    samples = np.array(sorted({rows // 4, rows // 4 + rows // 2}))
    strips = max(1, _SAMPLE_BYTES // (samples.size * pixels[0].nbytes))
    for first in range(0, len(pixels), strips * rows):
        starts = np.arange(first, min(first + strips * rows, len(pixels)), rows)
        chosen = np.minimum(starts[:, None] + samples, len(pixels) - 1).reshape(-1)
        above = pixels[np.maximum(chosen - 1, 0)]
        above[chosen == 0] = 0 if before is None else before
        step = pixels.shape[2] * pixels.dtype.itemsize
        yield from _least(_stored(pixels[chosen]), _stored(above), step, len(starts))


def _least(rows: Bytes, above: Bytes, step: int, strips: int) -> list[int]:
    """The filter types with the least entropy, for each of so many strips, all of the same number of rows."""
    out, scratch = np.empty_like(rows), _scratch(rows, step)
    codes = 256 * np.arange(strips)[:, None]  # the first one of each strip
    costs = []
    for kind, handicap in enumerate(_HANDICAPS):
        _filter(kind, rows, above, step, out, scratch)
        counts = np.bincount((out.reshape(strips, -1) + codes).reshape(-1), minlength=256 * strips)
        counts = counts.reshape(strips, 256)
        bits = np.log2(out.size // strips / np.maximum(counts, 1))
        costs.append(handicap * np.sum(counts * bits, axis=1))
    least: list[int] = np.argmin(costs, axis=0).tolist()
    return least


def _scratch(rows: Bytes, step: int) -> Bytes:
    """Memory for the work on such rows. Fresh arrays for each result would cost as much as the work."""
    return np.empty((3, len(rows), rows.shape[1] - step), np.uint8)


def _filter(kind: int, rows: Bytes, above: Bytes, step: int, out: Bytes, scratch: Bytes) -> None:
    """Filter types 0 to 4 of the PNG specification, section 9.2: each byte less its prediction, modulo 256.

    The first pixel has 0 to its left, so its prediction is above (Up, Paeth) or above / 2 (Average).
    """
    scratch = scratch[:, : len(rows)]
    head, tail, left = np.s_[:, :step], np.s_[:, step:], rows[:, :-step]
    if kind == 0:
        out[...] = rows
    elif kind == 1:
        out[head] = rows[head]
        np.subtract(rows[tail], left, out=out[tail])
    elif kind == 2:
        np.subtract(rows, above, out=out)
    elif kind == 3:
        np.subtract(rows[head], above[head] >> 1, out=out[head])
        mean, both = out[tail], scratch[0]  # (a + b) / 2 rounded down, without leaving 8 bits
        np.bitwise_xor(left, above[tail], out=mean)
        mean >>= 1
        mean += np.bitwise_and(left, above[tail], out=both)
        np.subtract(rows[tail], mean, out=mean)
    else:
        np.subtract(rows[head], above[head], out=out[head])
        _paeth(left, above[tail], above[:, :-step], out[tail], scratch)
        np.subtract(rows[tail], out[tail], out=out[tail])


def _paeth(left: Bytes, above: Bytes, corner: Bytes, out: Bytes, scratch: Bytes) -> None:
    """The one of the three that is nearest to left + above - corner; ties go to left, then to above.

    A corner below or above both others predicts the one that is farther from it, as it does when it is moved to the
    nearer one. Then it is ``down`` from the lower of them and ``up`` from the higher one; these are the distances of
    the prediction to the higher and to the lower one, and their difference is that to the corner. So one of the two is
    nearest where its distance is at most half of the other's; and nothing leaves 8 bits, which numpy is fast with.
    """
    down, up, step = scratch
    np.minimum(left, above, out=down)
    np.maximum(left, above, out=up)
    np.maximum(corner, down, out=out)
    np.minimum(out, up, out=out)
    np.subtract(out, down, out=down)
    np.subtract(up, out, out=up)
    np.greater_equal(np.right_shift(up, 1, out=step), down, out=step.view(np.bool_))
    out += np.multiply(step, up, out=step)
    np.greater_equal(np.right_shift(down, 1, out=step), up, out=step.view(np.bool_))
    out -= np.multiply(step, down, out=step)
