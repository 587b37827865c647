"""FITS images: numbers of a sensor or a survey, which are taken as linear light, with the cards beside them.

Files are read whether or not they are compressed, by tiles or all of it by gzip, and written without compression.
Integers that have only moved are written as they were.

Source: the FITS Standard 4.0, 4.4.1, 4.4.2.5, 5.2, 5.3 and 7.1: the value is BZERO + BSCALE · stored, and BLANK stands
for none. The first row of a file is the lowest. Three planes are taken as red, green and blue, and those of other
cubes as pages.
"""

from __future__ import annotations

import gzip
import math
import os
import re
from bisect import bisect
from collections.abc import Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import accumulate, chain, groupby
from math import prod
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from ...errors import FileError
from ...notes import note
from .. import cards
from ..cards import BLOCK, CARD
from ..fits_integers import EXACT, TYPES, Integers, blank_of
from ..fits_tiles import Tiles, is_tiled
from ..fits_writer import FLOATS, head, write_rows
from ..picture import Metadata, Picture, Pixels, unread
from ..read_errors import chosen, parsing
from ..strips import COPIES, NeedsWholeFile, RowsOf
from ..wcs import is_of_positions
from .record import Format, LayerId

#: How files begin.
_MAGIC = b"SIMPLE  ="
#: The most blocks of a header; more are damage.
_LONGEST = 1 << 12
#: The most pages; more are damage.
_MOST = 1 << 20
#: Bytes that are copied at a time.
_AT_ONCE = 1 << 20
#: The pixel of an axis of planes that the world's value is of: it says which of them a page was.
_PLACE = re.compile(r"CRPIX([3-9]|\d\d+)")


class _Unit(NamedTuple):
    """A header and its data: the cards, their values by keyword, where data begin, their bytes without what fills the
    last block, BITPIX, the shape, how whole numbers are stored, and the tiles that they come in, if they do."""

    cards: tuple[str, ...]
    known: dict[str, cards.Value]
    start: int
    nbytes: int
    bits: int
    shape: tuple[int, ...]
    integers: Integers | None = None
    tiles: Tiles | None = None

    @property
    def kind(self) -> np.dtype[Any]:
        """The type of stored values."""
        return np.dtype(TYPES[self.bits])

    @property
    def pixels(self) -> bool:
        """Whether it is an image that has any."""
        is_image = self.tiles is not None or self.known.get("XTENSION") in (None, "IMAGE")
        return is_image and bool(self.shape) and 0 not in self.shape

    def stored(self, file: BinaryIO, plane: int, first: int, end: int) -> npt.NDArray[Any]:
        """Returns the stored values of some rows of a plane. Raises EOFError where they are missing."""
        if self.tiles is not None:
            return self.tiles.rows(file, plane, first, end)
        height, width = (self.shape[-2] if len(self.shape) > 1 else 1), self.shape[-1]
        row = width * self.kind.itemsize
        file.seek(self.start + (plane * height + first) * row)
        raw = file.read((end - first) * row)
        if len(raw) < (end - first) * row:
            raise EOFError("its last rows are missing")
        return np.frombuffer(raw, self.kind).reshape(end - first, width)

    @property
    def pages(self) -> int:
        """The pictures in it."""
        return 1 if not self.pixels or self.colours == 3 else prod(self.shape[:-2])

    @property
    def colours(self) -> int:
        """The planes of a picture in it."""
        return 3 if len(self.shape) == 3 and self.shape[0] == 3 else 1


class _Page(NamedTuple):
    """A picture in a file: its unit, the number of its first plane, its own number, and those of all with pixels."""

    unit: _Unit
    plane: int
    number: int
    others: Sequence[int]

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns."""
        shape = self.unit.shape
        return (shape[-2] if len(shape) > 1 else 1), shape[-1]

    def described(self, path: str) -> Picture:
        """Returns the picture without its pixels, and notes what is to be known of it."""
        unit = self.unit
        kept, axes = cards.kept(unit.cards), len(unit.shape)
        moved: dict[str, str | float | bool | None] = {}
        if unit.colours == 1 and axes > 2:  # the plane is the only one of its axes
            for axis, at in enumerate(np.unravel_index(self.plane, unit.shape[:-2])[::-1], 3):
                if int(at) and f"CRPIX{axis}" in unit.known:
                    moved[f"CRPIX{axis}"] = cards.number(unit.known, f"CRPIX{axis}", 0) - int(at)
        pixels = unread((*self.size, unit.colours), np.dtype(np.float32))
        metadata = Metadata(cards=cards.changed(kept, moved), integers=unit.integers)
        several = len(self.others) > 1
        layer, layers = (str(self.number), tuple(map(str, self.others))) if several else ("", ())
        return Picture(pixels, linear=True, metadata=metadata, layer=layer, layers=layers)

    def rows(self, path: str, count: int) -> Iterator[Pixels]:
        """Gives the values, from the highest row on, which is the file's last one."""
        unit, (height, width) = self.unit, self.size
        zero, scale = (
            cards.number(unit.known, name, usual) for name, usual in (("BZERO", 0.0), ("BSCALE", 1.0))
        )
        blank, said = blank_of(unit.known, unit.bits), False
        with _opened(path) as file:
            for end in range(height, 0, -count):
                first = max(0, end - count)
                made = np.empty((end - first, width, unit.colours), np.float32)
                for colour in range(unit.colours):
                    stored = unit.stored(file, self.plane + colour, first, end)[::-1]
                    if unit.integers is not None:
                        made[..., colour], exact = unit.integers.values(stored)
                    elif unit.kind.itemsize == 4 and unit.kind.kind == "f" and (zero, scale) == (0, 1):
                        made[..., colour] = stored
                        continue
                    else:
                        values = zero + scale * stored.astype(np.float64)
                        if blank is not None:
                            values[stored == blank] = np.nan
                        exact = unit.kind.kind == "f" or np.nanmax(np.abs(values), initial=0) <= EXACT
                        with np.errstate(over="ignore"):  # values beyond float's range become infinite
                            made[..., colour] = values
                    if not (said or exact):
                        note(f"{path}: holds whole numbers beyond {EXACT}, which floats round")
                        said = True
                yield made


def _is_zipped(path: str) -> bool:
    """Whether a file is FITS within gzip."""
    with suppress(Exception), gzip.open(path) as file:  # anything but gzip is not
        return file.read(len(_MAGIC)) == _MAGIC
    return False


def _is_fits(head: bytes, path: str) -> bool:
    return head.startswith(_MAGIC) or (head.startswith(b"\x1f\x8b") and _is_zipped(path))


def _opened(path: str) -> BinaryIO:
    """Opens a file, whether or not gzip has compressed it."""
    return cast(BinaryIO, gzip.open(path)) if _is_zipped(path) else open(path, "rb")


def _units(path: str) -> list[_Unit]:
    """Returns the headers of a file. Raises EOFError or ValueError for one that is damaged."""
    units: list[_Unit] = []
    size, at = math.inf if _is_zipped(path) else os.path.getsize(path), 0
    with _opened(path) as file:
        while at < size and not (units and size - at < BLOCK):
            if (end := file.seek(at)) < at:  # all of a compressed file has been read
                if units[-1].pixels and end < units[-1].start + units[-1].nbytes:
                    raise EOFError("its last rows are missing")
                break
            lines: list[str] = []
            for _ in range(_LONGEST):
                block = file.read(BLOCK)
                if not (block or lines) and units:
                    return units
                if len(block) < BLOCK:
                    raise EOFError("its header is cut off")
                text = block.decode("ascii", "replace")
                lines += [text[k : k + CARD] for k in range(0, BLOCK, CARD)]
                ends = [k for k, line in enumerate(lines) if line.rstrip() == "END"]
                if ends:
                    break
            else:
                raise ValueError("its header has no end")
            unit = _unit(tuple(lines[: ends[0]]), file.tell())
            if not units and cards.keyword(lines[0]) != "SIMPLE":
                raise ValueError("it does not begin as FITS does")
            if units and cards.keyword(lines[0]) != "XTENSION":
                break  # special records, which are no images
            units.append(unit)
            if unit.pages > _MOST:
                raise ValueError(f"it claims more than {_MOST} images")
            if unit.nbytes < 0 or (unit.pixels and unit.start + unit.nbytes > size):
                raise EOFError("its last rows are missing")
            at = unit.start + -(-unit.nbytes // BLOCK) * BLOCK
    return units


def _count(path: str) -> int:
    with parsing(path):
        return sum(unit.pages for unit in _units(path))


def _pages(path: str) -> list[int]:
    """The numbers of those that have pixels; of all if none has."""
    with parsing(path):
        return _with_pixels(_units(path)) or [*range(_count(path))]


def _with_pixels(units: Sequence[_Unit]) -> list[int]:
    """The numbers of the pages of those units that have pixels."""
    starts = accumulate((unit.pages for unit in units), initial=0)
    filled = (
        range(start, start + unit.pages) for start, unit in zip(starts, units, strict=False) if unit.pixels
    )
    return [*chain.from_iterable(filled)]


def _unit(lines: tuple[str, ...], start: int) -> _Unit:
    known = cards.values(lines)
    bits, axes = known.get("BITPIX"), known.get("NAXIS")
    if not isinstance(bits, int) or bits not in TYPES or not isinstance(axes, int) or not 0 <= axes <= 999:
        raise ValueError("its header makes no sense")
    sizes = [known.get(f"NAXIS{axis}") for axis in range(axes, 0, -1)]
    shape = tuple(n for n in sizes if isinstance(n, int) and n >= 0)
    if len(shape) < axes:
        raise ValueError("its header makes no sense")
    beside, groups = (int(cards.number(known, name, n)) for name, n in (("PCOUNT", 0), ("GCOUNT", 1)))
    nbytes = abs(bits) // 8 * groups * (beside + (prod(shape) if shape else 0))
    if not is_tiled(known):
        return _Unit(lines, known, start, nbytes, bits, shape, Integers.of(known, lines, bits))
    tiles = Tiles(known, start)
    lines = tuple(line for line in lines if cards.value(line) != "COMPRESSED_IMAGE")
    integers = Integers.of(known, lines, tiles.bits)
    return _Unit(lines, known, start, nbytes, tiles.bits, tiles.shape, integers, tiles)


def _chosen(path: str, layer: LayerId) -> _Page:
    """Returns the page of a number, else the first one with pixels; notes that there are others."""
    with parsing(path):
        units = _units(path)
    starts = list(accumulate((unit.pages for unit in units), initial=0))
    count = starts.pop()
    filled = [start for start, unit in zip(starts, units, strict=True) if unit.pixels]
    index = next(iter(filled), 0) if layer is None else chosen(path, layer, count, "images", "image")
    at = bisect(starts, index) - 1
    if not units[at].pixels:
        others = f"; --layer names one that has: {', '.join(map(str, filled))}" if filled else ""
        raise FileError(f"{path}: {f'image {index}' if others else 'it'} has no pixels{others}")
    pages = _with_pixels(units)
    if len(pages) > 1 and layer is None:
        note(f"{path}: holds {len(pages)} images; number {index} is used")
    return _Page(_inheriting(units[at], units[0]), index - starts[at], index, pages)


def _inheriting(unit: _Unit, first: _Unit) -> _Unit:
    """Returns an image of an extension with the cards of the file's first header that it lacks.

    Source: the FITS registry's convention INHERIT. Without that card it gets those of a first header without pixels,
    but for coordinates, which are of no pixels there.
    """
    said = unit.known.get("INHERIT")
    if unit is first or said is False or (first.pixels and said is not True):
        return unit
    kept, taken = list[str](), False
    for card in cards.kept(first.cards):
        name = cards.keyword(card)
        if name != "CONTINUE":
            new = name in ("COMMENT", "HISTORY") or name not in unit.known
            taken = new and (said is True or not is_of_positions(name))
        kept += [card] * taken
    own = (card for card in unit.cards if cards.keyword(card) != "INHERIT")
    return unit._replace(cards=(*own, *kept))


def _read(path: str, layer: LayerId) -> Picture:
    """The values of an image as floats; layer is the number of an image in the file, or of a plane of a cube."""
    page = _chosen(path, layer)
    picture = page.described(path)
    with parsing(path):
        (pixels,) = page.rows(path, page.size[0])
    return replace(picture, pixels=pixels)


def _read_rows(path: str, layer: LayerId, most: int) -> tuple[Picture, RowsOf, int] | None:
    page = _chosen(path, layer)
    picture = page.described(path)
    if picture.pixels.nbytes * COPIES <= most:
        return None
    if _is_zipped(path):
        raise NeedsWholeFile("is compressed by gzip, and its first rows are the last ones", picture.pixels)

    def rows(path: str, count: int) -> Iterator[Pixels]:
        with parsing(path):
            yield from page.rows(path, count)

    return picture, rows, page.unit.tiles.together if page.unit.tiles else 1


def _join(path: str, pages: Sequence[str], _source: str) -> None:
    """Writes pages as they were: planes of a cube become one, with the first one's cards; images are extensions."""
    units = [_units(page)[0] for page in pages]
    with open(path, "wb") as out:
        for _, group in groupby(zip(pages, units, strict=True), lambda one: _image_of(one[1])):
            _append(out, *zip(*group, strict=True))


def _image_of(unit: _Unit) -> Hashable:
    """Returns what a page has in common with the others of its image: all but the place, and floats where integers
    do not suffice."""
    described = (card for card in cards.kept(unit.cards) if not _PLACE.fullmatch(cards.keyword(card)))
    return unit.shape, unit.integers if unit.kind.itemsize < 4 else None, tuple(described)


def _append(out: BinaryIO, pages: Sequence[str], units: Sequence[_Unit]) -> None:
    """Adds an image of pages to a file: of one, or a cube."""
    first, *others = units
    shape = (len(units), *first.shape) if others else first.shape
    same = all(unit.integers == first.integers for unit in others)
    more = first.integers.lines if same and first.integers else ()
    described = (*more, *cards.kept(first.cards))
    out.write(head(shape, first.bits if same else FLOATS, described, extension=out.tell() > 0))
    for page, unit in zip(pages, units, strict=True):
        with open(page, "rb") as file:
            file.seek(unit.start)
            for at in range(0, unit.nbytes, _AT_ONCE):
                part = file.read(min(_AT_ONCE, unit.nbytes - at))
                if not same and unit.integers:
                    values, _ = unit.integers.values(np.frombuffer(part, unit.kind))
                    part = values.astype(TYPES[FLOATS]).tobytes()
                out.write(part)
    out.write(bytes(-out.tell() % BLOCK))


FORMAT = Format(
    "FITS", (".fits", ".fit", ".fts"), ("float32",), _read, write_rows=write_rows, read_rows=_read_rows,
    sniff=_is_fits, channels=(1, 3), holds=frozenset({"cards"}), layered=True,
    count=_count, pages=_pages, join=_join, tells_errors=True,
)  # fmt: skip
