"""Images of FITS that are compressed tile by tile, in the rows of a table.

Source: the FITS Standard 4.0, 10.1 to 10.4 (tiles, Rice, gzip, quantised floats and their dither), 7.3.1, 7.3.5 (tables
and their heaps) and appendix I (the sequence of random numbers).
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping
from functools import cache
from math import prod
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from . import cards

Values = npt.NDArray[Any]

#: The bytes of a table's values by their letters; P and Q describe an array in the heap.
_BYTES = {"L": 1, "B": 1, "A": 1, "I": 2, "J": 4, "K": 8, "E": 4, "D": 8, "C": 8, "M": 16, "P": 8, "Q": 16}
#: The types of values that stand in a table's rows.
_TYPES = {"J": ">i4", "K": ">i8", "E": ">f4", "D": ">f8", "P": ">i4", "Q": ">i8"}
#: The columns of compressed values, and those of tiles that do not gain by it.
_CODED, _ZIPPED, _PLAIN = "COMPRESSED_DATA", "GZIP_COMPRESSED_DATA", "UNCOMPRESSED_DATA"
_RICE, _GZIP = ("RICE_1", "RICE_ONE"), ("GZIP_1", "GZIP_2")
#: How many values a byte can hold at most, by deflate.
_DENSEST = 1032
#: Random numbers in a sequence, and by how many of them one begins earlier than another.
_RANDOM, _STARTS = 10_000, 500
#: The quantised number of a 0 that stays one.
_ZERO = -2147483646


def is_tiled(known: Mapping[str, cards.Value]) -> bool:
    """Whether a header with these values is one of a compressed image."""
    return known.get("XTENSION") == "BINTABLE" and known.get("ZIMAGE") is True


class Tiles:
    """The tiles of an image.

    shape: the image's, with rows and columns last. bits: BITPIX of its values. Raises ValueError for what makes no
    sense. A compression that is not read is only refused when rows are asked for, as other images may be in the file.
    """

    def __init__(self, known: Mapping[str, cards.Value], start: int) -> None:
        self._known = known
        axes = range(_whole(known, "ZNAXIS", 1, 999), 0, -1)
        self.shape = tuple(_whole(known, f"ZNAXIS{axis}", 1) for axis in axes)
        self.bits = _whole(known, "ZBITPIX", -64)
        usual = dict.fromkeys(axes, 1) | {1: self.shape[-1]}
        tile = [int(cards.number(known, f"ZTILE{axis}", usual[axis])) for axis in axes]
        self._tile = tuple(min(side, size) for side, size in zip(tile, self.shape, strict=True))
        if min(self._tile) < 1:
            raise ValueError("its tiles have no pixels")
        self._grid = tuple(-(-size // side) for size, side in zip(self.shape, self._tile, strict=True))
        self._row, rows = _whole(known, "NAXIS1", 1), _whole(known, "NAXIS2", 1)
        beside = _whole(known, "PCOUNT", 0)
        if rows != prod(self._grid) or prod(self.shape) > _DENSEST * (beside + 64 * rows):
            raise ValueError("its tiles are not as many as its pixels need")
        self._start, self._heap = start, start + int(cards.number(known, "THEAP", self._row * rows))
        self._end = start + self._row * rows + beside
        self._columns = self._table()
        self.method = str(known.get("ZCMPTYPE", "")).strip()
        named = {
            str(value): known.get(f"ZVAL{name[5:]}")
            for name, value in known.items()
            if name.startswith("ZNAME")
        }
        self._block, self._width = (
            int(value) if isinstance(value := named.get(name), int) else usual_
            for name, usual_ in (("BLOCKSIZE", 32), ("BYTEPIX", 4))
        )
        self._kept: tuple[tuple[int, ...], Values] | None = None  # the tiles that were read last

    @property
    def together(self) -> int:
        """Rows that come together."""
        return self._tile[-2] if len(self.shape) > 1 else 1

    def _table(self) -> dict[str, tuple[int, str, str]]:
        """The place of each column in a row, its letter, and that of the values in the heap."""
        columns: dict[str, tuple[int, str, str]] = {}
        at = 0
        for number in range(1, _whole(self._known, "TFIELDS", 0, 999) + 1):
            form = re.match(r"(\d*)([A-Z])([A-Z]?)", str(self._known.get(f"TFORM{number}", "")))
            if form is None:
                raise ValueError("its table makes no sense")
            count, letter = int(form[1] or 1), form[2]
            columns[str(self._known.get(f"TTYPE{number}", ""))] = at, letter, form[3]
            at += -(-count // 8) if letter == "X" else count * _BYTES.get(letter, 0)
        if at > self._row:
            raise ValueError("its table makes no sense")
        return columns

    def rows(self, file: BinaryIO, plane: int, first: int, end: int) -> Values:
        """The stored values of some rows of a plane, from the lowest on; floats where they were quantised."""
        if self.method not in (*_RICE, *_GZIP, "NOCOMPRESS"):
            known = self.method or "nothing known"
            raise ValueError(f"its tiles are compressed by {known}, which is not read")
        height, width = (self.shape[-2] if len(self.shape) > 1 else 1), self.shape[-1]
        leading = np.unravel_index(plane, self.shape[:-2]) if self.shape[:-2] else ()
        above = self._tile[:-2] if len(self.shape) > 1 else ()
        before = tuple(int(at) // side for at, side in zip(leading, above, strict=True))
        inner = tuple(int(at) % side for at, side in zip(leading, above, strict=True))
        side, parts = self.together, []
        for band in range(first // side, -(-end // side)):
            key = (*before, band)
            if self._kept is None or self._kept[0] != key:
                self._kept = key, self._band(file, key, min(side, height - band * side), width)
            rows = self._kept[1][inner]
            parts.append(rows[max(0, first - band * side) : end - band * side])
        return np.concatenate(parts)

    def _band(self, file: BinaryIO, key: tuple[int, ...], rows: int, width: int) -> Values:
        """The values of the tiles beside each other: (…, rows, width)."""
        place = key if len(self.shape) > 1 else key[:-1]
        tiles = []
        for column in range(self._grid[-1]):
            at = (*place, column)
            shape = tuple(
                min(side, size - k * side) for side, size, k in zip(self._tile, self.shape, at, strict=True)
            )
            number = int(np.ravel_multi_index(at, self._grid))
            tiles.append(self._values(file, number, prod(shape)).reshape(shape))
        band = np.concatenate(tiles, axis=-1)
        return band.reshape(*band.shape[: max(0, len(self.shape) - 2)], rows, width)

    def _values(self, file: BinaryIO, number: int, count: int) -> Values:
        """The values of a tile."""
        data = self._array(file, number, _CODED)
        quantised = self.bits < 0 and ("ZSCALE" in self._columns or "ZSCALE" in self._known)
        if not data:
            plain = np.dtype(f">{'f' if self.bits < 0 else 'i'}{abs(self.bits) // 8}")
            zipped = self._array(file, number, _ZIPPED)
            data = _inflated(zipped, count) if zipped else self._array(file, number, _PLAIN)
            return _typed(data, plain if self.bits != 8 else np.dtype("u1"), count)
        if self.method in _RICE:
            stored = self._rice(data, count)
        else:
            data = data if self.method == "NOCOMPRESS" else _inflated(data, count)
            width = len(data) // count
            if self.method == "GZIP_2" and width > 1:
                data = np.frombuffer(data[: width * count], np.uint8).reshape(width, count).T.tobytes()
            letter = "f" if self.bits < 0 and not quantised else "u" if width == 1 else "i"
            stored = _typed(data, np.dtype(f">{letter}{width}"), count)
        return self._floats(file, stored, number) if quantised else stored

    def _rice(self, data: bytes, count: int) -> Values:
        import imagecodecs

        kind = {1: np.uint8, 2: np.int16, 4: np.int32}.get(self._width)
        if kind is None or not 1 <= self._block <= 1 << 16 or count > _DENSEST * len(data):
            raise ValueError("a tile makes no sense")
        return np.asarray(imagecodecs.rcomp_decode(data, shape=(count,), dtype=kind, nblock=self._block))

    def _floats(self, file: BinaryIO, stored: Values, number: int) -> Values:
        """The floats of quantised numbers; those of ZBLANK are NaN."""
        scale, zero, blank = (
            self._value(file, number, name, usual)
            for name, usual in (("ZSCALE", 1.0), ("ZZERO", 0.0), ("ZBLANK", None))
        )
        way = str(self._known.get("ZQUANTIZ", "NO_DITHER")).strip()
        numbers = stored.astype(np.float64)
        if way.startswith("SUBTRACTIVE_DITHER"):
            seed = int(cards.number(self._known, "ZDITHER0", 1))
            numbers = numbers - np.concatenate([*_dither(number + seed - 1, stored.size)]) + 0.5
        values = numbers * float(scale or 0) + float(zero or 0)
        if way == "SUBTRACTIVE_DITHER_2":
            values[stored == _ZERO] = 0
        if blank is not None:
            values[stored == blank] = np.nan
        return np.asarray(values.astype(np.float32) if self.bits == -32 else values)

    def _value(self, file: BinaryIO, number: int, name: str, usual: float | None) -> float | None:
        """What a column says of a tile, or the header of all."""
        if name not in self._columns:
            value = self._known.get(name, usual)
            return value if isinstance(value, int | float) else usual
        at, letter, _ = self._columns[name]
        file.seek(self._start + number * self._row + at)
        kind = np.dtype(_TYPES.get(letter, ">f8"))
        return float(np.frombuffer(file.read(kind.itemsize), kind)[0])

    def _array(self, file: BinaryIO, number: int, name: str) -> bytes:
        """The bytes of a tile in the heap; none where a column has none."""
        if name not in self._columns:
            return b""
        at, letter, kind = self._columns[name]
        if letter not in "PQ":
            raise ValueError("its table makes no sense")
        file.seek(self._start + number * self._row + at)
        one = np.dtype(_TYPES[letter])
        count, offset = map(int, np.frombuffer(file.read(2 * one.itemsize), one))
        size = count * _BYTES.get(kind, 1)
        if min(count, offset) < 0 or self._heap + offset + size > self._end:
            raise EOFError("a tile is missing")
        file.seek(self._heap + offset)
        return file.read(size)


def _whole(known: Mapping[str, cards.Value], name: str, least: int, most: int = 2**40) -> int:
    value = known.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ValueError("its header makes no sense")
    return value


def _inflated(data: bytes, count: int) -> bytes:
    """The bytes that gzip has made these of, if they are no more than so many values can have."""
    inflater = zlib.decompressobj(31)
    plain = inflater.decompress(data, 8 * count + 1)
    if not plain or len(plain) > 8 * count:
        raise ValueError("a tile makes no sense")
    return plain


def _typed(data: bytes, kind: np.dtype[Any], count: int) -> Values:
    if len(data) != count * kind.itemsize:
        raise EOFError("a tile is cut off")
    return np.frombuffer(data, kind)


@cache
def _random() -> npt.NDArray[np.float32]:
    """The numbers of appendix I: 16807 times the one before, modulo 2³¹ − 1, as parts of that."""
    numbers, seed = np.empty(_RANDOM), 1
    for k in range(_RANDOM):
        seed = 16807 * seed % (2**31 - 1)
        numbers[k] = seed / (2**31 - 1)
    return numbers.astype(np.float32)


def _dither(number: int, count: int) -> Iterator[npt.NDArray[np.float32]]:
    """Gives the random numbers of the values of a tile, which begin at a place of the tile's own."""
    numbers = _random()
    while count > 0:
        start = int(_STARTS * numbers[number % _RANDOM])
        part = numbers[start : start + count]
        yield part
        count -= len(part)
        number += 1
