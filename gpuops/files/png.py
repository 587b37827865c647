"""A parallel PNG writer: rows are filtered with numpy and deflated in strips by isal, one thread a core.

The format: W3C Portable Network Graphics (Third Edition); zlib and deflate: RFC 1950, RFC 1951. Every strip
ends in a full flush (an empty stored block, byte aligned, no references across it), so the strips joined are
one deflate stream, and the strips' Adler-32 sums combine to the stream's.
"""

from __future__ import annotations

import struct
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, BinaryIO, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import colours, threads
from .formats import Format
from .picture import Picture

# How a PNG file begins.
SIGNATURE = b"\x89PNG\r\n\x1a\n"
# PNG's colour type by the number of channels.
_COLOUR_TYPE = {1: 0, 2: 4, 3: 2, 4: 6}
# Bytes that are compressed at a time: so many that a flush costs nothing, and so few that they stay in a
# core's cache.
_STRIP_BYTES = 1 << 20
# Bytes that are filtered at a time: so few that numpy's temporaries stay in a core's cache, too, and so many that
# threads seldom wait for each other to call numpy.
_BLOCK_BYTES = 1 << 18
# The compression level; isal's higher levels save 1 % here.
_LEVEL = 1
# The modulus of Adler-32, the largest prime below 65536.
_ADLER = 65521
# Units of a resolution in a metre.
_METRE = {"in": 1 / 0.0254, "cm": 100.0}

Bytes = NDArray[np.uint8]
Pixels = NDArray[Any]
Strip = TypeVar("Strip")


def write(path: str, picture: Picture, fmt: Format) -> None:
    """Writes an 8- or 16-bit picture of 1 to 4 channels, with everything of its metadata that PNG knows."""
    with writer(path, picture, fmt) as put:
        put(picture.pixels)


@contextmanager
def writer(path: str, picture: Picture, fmt: Format) -> Iterator[Callable[[Pixels], None]]:
    """The same by rows: what it gives takes the picture's pixels from the top on, some rows at a time."""
    depth = 8 * picture.pixels.dtype.itemsize
    colour = _COLOUR_TYPE[picture.channels]
    header = struct.pack(">IIBBBBB", picture.width, picture.height, depth, colour, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(SIGNATURE)
        _chunk(file, b"IHDR", header)
        _ancillary(file, picture)
        yield _Rows(file, picture.height).put
        _chunk(file, b"IEND", b"")


def _ancillary(file: BinaryIO, picture: Picture) -> None:
    metadata = picture.metadata
    chunks = colours.png_chunks(picture.colour, metadata.icc, gray=picture.channels < 3)
    for kind, data in chunks.items():
        _chunk(file, kind, data)
    if metadata.resolution:
        x, y, unit = metadata.resolution
        per_metre = [min(max(round(value * _METRE[unit]), 1), 2**31 - 1) for value in (x, y)]
        _chunk(file, b"pHYs", struct.pack(">IIB", *per_metre, 1))
    if metadata.exif:
        _chunk(file, b"eXIf", metadata.exif)
    if metadata.xmp:
        _chunk(file, b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + metadata.xmp)


def _chunk(file: BinaryIO, kind: bytes, *data: bytes) -> None:
    from isal import isal_zlib

    checksum = zlib.crc32(kind)
    for part in data:
        checksum = isal_zlib.crc32(part, checksum)
    file.writelines((struct.pack(">I", sum(map(len, data))), kind, *data, struct.pack(">I", checksum)))


class _Rows:
    """The rows of a picture of this height on their way to a file."""

    def __init__(self, file: BinaryIO, height: int) -> None:
        self._file, self._height = file, height
        self._done = 0
        self._above: Pixels | None = None  # the last row so far
        self._adler = 1

    def put(self, pixels: Pixels) -> None:
        """Writes rows; the last ones of the picture end the stream."""
        from isal import isal_zlib

        count, row_bytes, before, above = len(pixels), pixels[0].nbytes, self._done, self._above
        rows = max(1, min(count, _STRIP_BYTES // row_bytes))

        def encode(start: int) -> tuple[tuple[bytes, ...], int, int]:
            """One strip: its deflated bytes in parts, the Adler-32 sum of the filtered bytes, and their number."""
            stop = min(start + rows, count)
            filtered = filter_rows(pixels, start, stop, above)
            flat = filtered.reshape(-1)
            compressor = isal_zlib.compressobj(_LEVEL, isal_zlib.DEFLATED, -15)
            last = before + stop >= self._height
            flush = isal_zlib.Z_FINISH if last else isal_zlib.Z_FULL_FLUSH
            head = b"\x78\x01" if before + start == 0 else b""
            return (
                (head, compressor.compress(flat), compressor.flush(flush)),
                isal_zlib.adler32(flat),
                flat.size,
            )

        for data, strip_adler, size in _in_order(encode, range(0, count, rows)):
            self._adler = _combine(self._adler, strip_adler, size)
            _chunk(self._file, b"IDAT", *data)
        self._done += count
        self._above = pixels[-1:].copy()
        if self._done >= self._height:
            _chunk(self._file, b"IDAT", struct.pack(">I", self._adler))


def _in_order(work: Callable[[int], Strip], items: Iterable[int]) -> Iterator[Strip]:
    """The results of work on each item, in order, computed in threads a few items ahead of the reader."""
    count = threads.count()
    if count == 1:
        yield from map(work, items)
        return
    pool = ThreadPoolExecutor(count)
    waiting = deque[Future[Strip]]()
    try:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > 2 * count:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def _combine(first: int, second: int, length: int) -> int:
    """The Adler-32 sum of two byte strings joined, from both sums and the second's length."""
    a = ((first & 0xFFFF) + (second & 0xFFFF) - 1) % _ADLER
    b = ((first >> 16) + (second >> 16) + length * ((first & 0xFFFF) - 1)) % _ADLER
    return b << 16 | a


def filter_rows(pixels: Pixels, start: int, stop: int, before: Pixels | None = None) -> Bytes:
    """Rows start to stop as PNG stores them: a filter type (one for all rows), then the filtered bytes.

    ``before``: the row above all these, if they are not the picture's first.
    """
    above, rows = _row_bytes(pixels, start, stop, before)
    step = pixels.shape[2] * pixels.dtype.itemsize
    kind = _best_filter(rows, above, step)
    out = np.empty((rows.shape[0], rows.shape[1] + 1), np.uint8)
    out[:, 0] = kind
    few = max(1, _BLOCK_BYTES // rows.shape[1])
    for first in range(0, len(rows), few):
        block = slice(first, first + few)
        _filter(kind, rows[block], above[block], step, out[block, 1:])
    return out


def _row_bytes(pixels: Pixels, start: int, stop: int, before: Pixels | None) -> tuple[Bytes, Bytes]:
    """The big-endian bytes of rows start to stop, and of the rows above each of them."""
    block = pixels[max(start - 1, 0) : stop]
    if start == 0 and before is not None:
        block = np.concatenate((before, block))
    block = block.astype(block.dtype.newbyteorder(">"), copy=False)
    rows = block.reshape(len(block), -1).view(np.uint8)
    if start == 0 and before is None:
        rows = np.concatenate((np.zeros_like(rows[:1]), rows))
    return rows[:-1], rows[1:]


def _best_filter(rows: Bytes, above: Bytes, step: int) -> int:
    """The filter type with the least entropy on a few sample rows; a costlier filter must win by 2 %."""
    sample = slice(len(rows) // 4, None, max(1, len(rows) // 2))
    rows, above = rows[sample], above[sample]
    out = np.empty_like(rows)
    best, least = 0, np.inf
    for kind, handicap in ((0, 1.0), (1, 1.0), (2, 1.0), (3, 1.005), (4, 1.02)):
        _filter(kind, rows, above, step, out)
        counts = np.bincount(out.reshape(-1), minlength=256).astype(np.float64)
        entropy = handicap * float(np.sum(counts * np.log2(out.size / np.maximum(counts, 1))))
        if entropy < least:
            best, least = kind, entropy
    return best


def _filter(kind: int, rows: Bytes, above: Bytes, step: int, out: Bytes) -> None:
    """Filter types 0 to 4 of the PNG specification, section 9.2: each byte less its prediction, modulo 256.

    The first pixel has 0 to its left, so its prediction is above (Up, Paeth) or above / 2 (Average).
    """
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
        mean = left ^ above[tail]
        mean >>= 1
        mean += left & above[tail]  # (a + b) / 2 rounded down, without leaving 8 bits
        np.subtract(rows[tail], mean, out=out[tail])
    else:
        np.subtract(rows[head], above[head], out=out[head])
        np.subtract(rows[tail], _paeth(left, above[tail], above[:, :-step]), out=out[tail])


def _paeth(left: Bytes, above: Bytes, corner: Bytes) -> Bytes:
    """The one of the three that is nearest to left + above - corner; ties go to left, then to above.

    A corner that is not between the two others predicts the one that is farther from it, as one at their nearer end
    does. Of one between them, the prediction's distances to the higher one, the lower one and the corner are ``up``,
    ``down``, and their difference. So nothing leaves 8 bits, and all is done by numpy's fast operations.
    """
    found, high = np.minimum(left, above), np.maximum(left, above)
    corner = np.maximum(corner, found)
    np.minimum(corner, high, out=corner)
    up, down = corner - found, high - corner
    _replace(found, high, up < down)
    near = np.minimum(up, down)
    np.maximum(up, down, out=up)
    up -= near
    _replace(found, corner, up < near)
    return found


def _replace(values: Bytes, others: Bytes, where: NDArray[np.bool_]) -> None:
    """Sets values to others where the condition holds, by masks of bits. The others' memory is used up."""
    others ^= values
    others &= np.negative(where.view(np.uint8))
    values ^= others
