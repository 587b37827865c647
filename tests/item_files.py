"""Writes files of items, AVIF and HEIC, as ISO/IEC 14496-12 (8.11) and ISO/IEC 23008-12 lay them out."""

import struct
from dataclasses import dataclass, field, replace
from typing import NamedTuple


class Layout(NamedTuple):
    """Which of the layouts that the standards have: versions of the boxes iloc, infe and ipma, bytes of an item's
    number and of an index of a property, and whether the description of a gain map is in the box idat."""

    iloc: int = 0
    infe: int = 2
    ipma: int = 0
    number: int = 2
    index: int = 1
    idat: bool = False


USUAL = Layout()


@dataclass(frozen=True)
class Item:
    """An item: its kind, its data, its properties as boxes, and its references, by their kinds."""

    kind: bytes
    data: bytes
    properties: tuple[bytes, ...] = ()
    references: dict[bytes, list[int]] = field(default_factory=dict)
    hidden: bool = False

    def with_property(self, *boxes: bytes) -> "Item":
        return replace(self, properties=(*self.properties, *boxes))

    def without(self, kind: bytes) -> "Item":
        return replace(self, properties=tuple(one for one in self.properties if one[4:8] != kind))

    @property
    def input(self) -> "Item":
        return replace(self, hidden=True)


def box(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I4s", 8 + len(data), kind) + data


def full(kind: bytes, version: int, data: bytes, flags: int = 0) -> bytes:
    return box(kind, struct.pack(">I", version << 24 | flags) + data)


def boxes(data: bytes) -> list[bytes]:
    """The boxes in some bytes, as a whole."""
    inside, at = [], 0
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        inside.append(data[at : at + length])
        at += length
    return inside


def inside(data: bytes, *path: bytes) -> bytes:
    """The data of a box within boxes."""
    for kind in path:
        data = next(one[8:] for one in boxes(data) if one[4:8] == kind)
        data = data[4:] if kind == b"meta" else data
    return data


def encoded(data: bytes) -> Item:
    """The item of a file that an encoder has written of one picture without metadata."""
    kind = inside(data, b"meta", b"iinf")[6:][8 + 4 + 2 + 2 :][:4]
    return Item(kind, inside(data, b"mdat"), tuple(boxes(inside(data, b"meta", b"iprp", b"ipco"))))


def nclx(primaries: int, transfer: int) -> bytes:
    """A property with code points of colour."""
    return box(b"colr", b"nclx" + struct.pack(">HHHB", primaries, transfer, 6, 0x80))


def written(
    items: dict[int, Item], primary: int, layout: Layout = USUAL, brands: bytes = b"avifmif1miaftmap"
) -> bytes:
    """A file of numbered items."""
    items = dict(sorted(items.items()))
    form = ">H" if layout.number == 2 else ">I"
    kept: list[bytes] = list(dict.fromkeys(one for item in items.values() for one in item.properties))
    entries = associations = references = b""
    for number, item in items.items():
        named = struct.pack(">H" if layout.infe == 2 else ">I", number) + bytes(2) + item.kind + b"\0"
        entries += full(b"infe", layout.infe, named, item.hidden)
        associations += struct.pack(">I" if layout.ipma else ">H", number) + bytes([len(item.properties)])
        for one in item.properties:
            essential = one[4:8] in (b"av1C", b"hvcC", b"irot", b"imir")
            index = kept.index(one) + 1
            associations += (
                bytes([index | essential << 7])
                if layout.index == 1
                else struct.pack(">H", index | essential << 15)
            )
        for kind, targets in item.references.items():
            numbers = [struct.pack(form, one) for one in targets]
            references += box(
                kind, struct.pack(form, number) + struct.pack(">H", len(numbers)) + b"".join(numbers)
            )
    idat = b"".join(item.data for item in items.values() if _within(item, layout))
    parts = [
        full(b"hdlr", 0, bytes(4) + b"pict" + bytes(13)),
        full(b"pitm", layout.number // 4, struct.pack(form, primary)),
        full(b"iinf", 0, struct.pack(">H", len(items)) + entries),
        full(b"iref", layout.number // 4, references),
        box(
            b"iprp",
            box(b"ipco", b"".join(kept))
            + full(
                b"ipma", layout.ipma, struct.pack(">I", len(items)) + associations, int(layout.index == 2)
            ),
        ),
        box(b"idat", idat) if idat else b"",
    ]
    head = box(b"ftyp", brands[:4] + bytes(4) + brands)
    start = 1
    for _ in range(2):  # of which the first tells how long all before the data is
        meta = full(b"meta", 0, b"".join([*parts, _locations(items, layout, start)]))
        start = len(head) + len(meta) + 8
    return head + meta + box(b"mdat", b"".join(i.data for i in items.values() if not _within(i, layout)))


def _within(item: Item, layout: Layout) -> bool:
    return layout.idat and item.kind == b"tmap"


def _locations(items: dict[int, Item], layout: Layout, start: int) -> bytes:
    """The box iloc; data of versions from 1 on is in two parts, with 8 bytes a number, for an index as well."""
    version = layout.iloc
    form = ">H" if version < 2 else ">I"
    data = struct.pack(">H", 0x8888 if version else 0x4440) + struct.pack(form, len(items))
    places = {False: start, True: 0}
    for number, item in items.items():
        there, length = _within(item, layout), len(item.data)
        data += struct.pack(form, number) + (struct.pack(">H", there) if version else b"")
        if version:
            data += struct.pack(">HQH", 0, places[there], 2)
            data += struct.pack(">QQQ", 1, 0, 3) + struct.pack(">QQQ", 2, 3, length - 3)
        else:
            data += struct.pack(">HIHII", 0, places[there] - 1, 1, 1, length)
        places[there] += length
    return full(b"iloc", version, data)
