"""Items of an AVIF or HEIC file around a gain map: the derived image ``tmap`` of a base and a map.

Sources: ISO/IEC 14496-12, 8.11 (pitm, iloc, iinf with infe, idat, iref); ISO/IEC 23008-12 with its amendment 1 of 2024
(``tmap``, which stands on two items by a reference ``dimg``; 10.2.6: the brand of files that have one).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from typing import NamedTuple

from . import containers
from .heif import TONE_MAP, PrimaryItem, header_of, within

#: Why a gain map cannot be had.
DAMAGED = "is missing or damaged"
#: What decoders do not know, so that they leave it alone; and a brand that such files have anyway.
_UNKNOWN, _BRAND = b"skip", b"mif1"
#: Pictures that are made of others, which may stand on themselves.
_DERIVED = frozenset((b"grid", b"iden", b"iovl", TONE_MAP))
#: References by which an item is beside another one, and not a picture of its own.
_BESIDE = (b"auxl", b"thmb")
#: The most bytes of a description; those of ISO 21496-1 are 142, and later versions may have more.
_LONGEST = 4096
#: The most bytes of a box that tells of items; more is an attack.
_MOST = 1 << 22


class Reference(NamedTuple):
    """A reference of an item to others, and where in the file its kind is."""

    kind: bytes
    at: int
    source: int
    targets: list[int]


class FileItem(NamedTuple):
    """The kind of an item, and where in the file it is, and the last byte of its flags."""

    kind: bytes
    at: int
    flags: int


class _Cursor:
    """Reads whole numbers of some bytes one after the other, up to an end. Raises ValueError beyond it."""

    def __init__(self, data: bytes, start: int, end: int) -> None:
        self._data, self.at, self._end = data, start, min(end, len(data))

    def number(self, size: int) -> int:
        if self.at + size > self._end:
            raise ValueError(DAMAGED)
        self.at += size
        return int.from_bytes(self._data[self.at - size : self.at], "big")

    def version(self) -> int:
        """That of a box; skips its flags."""
        version = self.number(1)
        self.number(3)
        return version


class Items:
    """The items of a file's bytes. Raises ValueError where these are damaged."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        whole = {kind: place for kind, *place in self._boxes(0, len(data))}
        self._brands = whole[b"ftyp"]
        start, end = whole[b"meta"]
        self._places = {kind: place for kind, *place in self._boxes(start + 4, end)}
        self._meta = dict(within(data[start + 4 : end]))

    def _boxes(self, start: int, end: int) -> Iterator[tuple[bytes, int, int]]:
        """Kind, start and end of the data of each box between two places."""
        for kind, at, size in containers.boxes(BytesIO(self.data), start, end):
            yield kind, at, min(at + size, end)

    def _box(self, kind: bytes) -> tuple[_Cursor, int]:
        """What reads a box of the metadata, and its end."""
        if kind not in self._places:
            raise ValueError(DAMAGED)
        start, end = self._places[kind]
        if end - start > _MOST:
            raise ValueError(DAMAGED)
        return _Cursor(self.data, start, end), end

    @property
    def primary(self) -> int:
        """The number of the primary item."""
        cursor, _ = self._box(b"pitm")
        return cursor.number(4 if cursor.version() else 2)

    def items(self) -> dict[int, FileItem]:
        """The items by their numbers."""
        cursor, end = self._box(b"iinf")
        cursor.number(4 if cursor.version() else 2)
        items = {}
        for _, start, stop in self._boxes(cursor.at, end):
            entry = _Cursor(self.data, start, stop)
            version = entry.version()
            if version not in (2, 3):
                continue
            number = entry.number(2 if version == 2 else 4)
            entry.number(2)
            at = entry.at
            items[number] = FileItem(entry.number(4).to_bytes(4, "big"), at, start + 3)
        return items

    def references(self) -> list[Reference]:
        """All references between items."""
        if b"iref" not in self._places:
            return []
        cursor, end = self._box(b"iref")
        size = 4 if cursor.version() else 2
        references = []
        for kind, start, stop in self._boxes(cursor.at, end):
            entry = _Cursor(self.data, start, stop)
            source, count = entry.number(size), entry.number(2)
            targets = [entry.number(size) for _ in range(count)]
            references.append(Reference(kind, self.data.rindex(kind, 0, start), source, targets))
        return references

    def content(self, item: int) -> bytes:
        """The data of an item; of very long ones the beginning."""
        cursor, _ = self._box(b"iloc")
        version = cursor.version()
        sizes = cursor.number(2)
        of_offset, of_length, of_base, of_index = (sizes >> shift & 15 for shift in (12, 8, 4, 0))
        of_index *= version > 0
        for _ in range(cursor.number(2 if version < 2 else 4)):
            number = cursor.number(2 if version < 2 else 4)
            method = cursor.number(2) & 15 if version else 0
            elsewhere, base, count = cursor.number(2), cursor.number(of_base), cursor.number(2)
            if number != item:
                cursor.at += count * (of_index + of_offset + of_length)
                continue
            if method > 1 or elsewhere:
                raise ValueError("is in a place that is not read")
            start, end = (0, len(self.data)) if method == 0 else self._places[b"idat"]
            content = b""
            while count and len(content) < _LONGEST:
                cursor.number(of_index)
                content += self._extent(
                    start + base + cursor.number(of_offset), cursor.number(of_length), end
                )
                count -= 1
            return content
        raise ValueError(DAMAGED)

    def _extent(self, start: int, size: int, end: int) -> bytes:
        """A part of an item's data; without a size to the end of what it is in."""
        if start + size > end:
            raise ValueError(DAMAGED)
        return self.data[start : min(start + size if size else end, start + _LONGEST)]

    def tone_map(self) -> tuple[int, int] | None:
        """The numbers of the derived image of the primary item and a map, and of the map.

        None if they stand on other items only. Raises ValueError if there are none.
        """
        items, references, primary = self.items(), self.references(), self.primary
        inputs = {one.source: one.targets for one in references if one.kind == b"dimg"}
        derived = [number for number, one in items.items() if one.kind == TONE_MAP]
        if not derived or any(len(inputs.get(number, ())) != 2 for number in derived):
            raise ValueError(DAMAGED)
        for number in derived:
            base, gain = inputs[number]
            if base != primary:
                continue
            stands_on = [items[one].kind for one in inputs.get(gain, ())] if gain in items else [TONE_MAP]
            if gain == primary or items[gain].kind == TONE_MAP or _DERIVED.intersection(stands_on):
                raise ValueError(DAMAGED)
            return number, gain
        return None

    def header(self, item: int) -> PrimaryItem:
        """What is said of an item's picture."""
        return header_of(self._meta, item)

    def showing(self, item: int | None = None) -> bytes:
        """The file's bytes without a derived image, and with another primary item, or the same."""
        changed = bytearray(self.data)
        start, end = self._brands
        changed[start + 8 : end] = changed[start + 8 : end].replace(TONE_MAP, _BRAND)
        items = self.items()
        unknown = {number for number, one in items.items() if one.kind == TONE_MAP}
        places = []
        with suppress(ValueError):  # the decoder will name the damage
            references = self.references()
            own = [one for one in references if one.source in unknown]
            places += [one.at for one in own]
            places += [one.at for one in references if one.source == item and one.kind in _BESIDE]
            if item is None:  # nor are maps looked at, which may be damaged
                needed = {self.primary}.union(*(one.targets for one in references if one not in own))
                unknown |= items.keys() & {one for each in own for one in each.targets} - needed
        for at in (*places, *(items[number].at for number in unknown)):
            changed[at : at + 4] = _UNKNOWN
        if item is not None:
            changed[items[item].flags] &= 0xFE  # it may be hidden, which a primary item is not
            cursor, _ = self._box(b"pitm")
            size = 4 if cursor.version() else 2
            if item >= 1 << 8 * size:
                raise ValueError("has a number that the box 'pitm' of its file does not hold")
            changed[cursor.at : cursor.at + size] = item.to_bytes(size, "big")
        return bytes(changed)
