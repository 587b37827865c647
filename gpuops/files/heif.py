"""Statements about the picture in a file of items, AVIF or HEIC, which decoders do not pass on.

Source: ISO/IEC 23008-12 (HEIF): the boxes meta, pitm, iprp with ipco and ipma, colr, pixi, av1C; AV1-ISOBMFF 2.3.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import field, replace
from io import BytesIO
from typing import Any, BinaryIO

import numpy as np

from ..errors import FileError
from ..notes import note
from ..pixels.spaces import is_hdr
from ..records import dataclass
from . import colours, containers, hdr_light
from .picture import Picture, Pixels

#: The items' types of codecs other than those of HEIC and AVIF, by their names.
_CODECS = {
    "avc1": "AVC",
    "vvc1": "VVC",
    "j2k1": "JPEG 2000",
    "jpeg": "JPEG",
    "unci": "no codec (uncompressed)",
}
#: What messages call a gain map.
GAIN_MAP = "gain map"
#: The kind of a derived image of a picture and a gain map, and the brand of files that have one.
TONE_MAP = b"tmap"
#: The most bytes of brands that are looked at.
_LONGEST_BRANDS = 4096
#: Auxiliary pictures by how the names of their kinds end.
_AUXILIARY = {
    "hdrgainmap": GAIN_MAP,
    "auxid:2": "depth map",
    "depth": "depth map",
    "portraiteffectsmatte": "matte",
}


@dataclass(frozen=True)
class PrimaryItem:
    """The primary item's bits a sample, whether it is gray, its code points of primaries and transfer, and its codec,
    where that is neither HEIC's nor AVIF's; names of what else is there and pictures do not keep; the boxes that tell
    of its light; its width and height as they are stored, its ICC profile; whether the file claims to have an image
    that is derived of it and a gain map.
    """

    bits: int = 8
    gray: bool = False
    codes: tuple[int, int] | None = None
    codec: str = ""
    unused: tuple[str, ...] = ()
    light: Mapping[bytes, bytes] = field(default_factory=dict)
    size: tuple[int, int] = (0, 0)
    profile: bytes = b""
    tone_mapped: bool = False


def read_header(path: str) -> PrimaryItem:
    """What a file says of its primary picture; a FileError where it says nothing that makes sense."""
    with open(path, "rb") as file:
        places = {kind: place for kind, *place in containers.boxes(file, 0, file.seek(0, 2))}
        if b"mini" in places:
            raise FileError(
                f"{path}: has a short header (its box 'mini'), which is not read; convert it first"
            )
        start, size = places.get(b"meta", (0, containers.LONGEST + 1))
        if size > containers.LONGEST:
            raise FileError(f"{path}: is damaged: it does not say what it holds")
        meta = containers.data(file, start + 4, size - 4)
        start, size = places.get(b"ftyp", (0, 0))
        brands = containers.data(file, start, min(size, _LONGEST_BRANDS))
    try:
        boxes = dict(within(meta))
        primary = int.from_bytes(boxes[b"pitm"][4:8] if boxes[b"pitm"][0] else boxes[b"pitm"][4:6], "big")
        tone_mapped = TONE_MAP in (brands[at : at + 4] for at in range(8, len(brands), 4))
        return replace(header_of(boxes, primary), tone_mapped=tone_mapped)
    except (struct.error, KeyError, IndexError, ValueError):
        raise FileError(f"{path}: is damaged: it does not say what its picture is like") from None


def within(data: bytes) -> list[tuple[bytes, bytes]]:
    """The kind and data of each box within a box."""
    return [
        (kind, data[start : start + size])
        for kind, start, size in containers.boxes(BytesIO(data), 0, len(data))
    ]


def header_of(meta: dict[bytes, bytes], primary: int) -> PrimaryItem:
    """What the boxes of a file's metadata say of an item. Raises struct.error, KeyError, IndexError or ValueError."""
    properties = dict(within(meta[b"iprp"]))
    shared = dict(enumerate(within(properties[b"ipco"]), 1))
    item = PrimaryItem(codec=_codec(meta.get(b"iinf", b""), primary))
    for index in _of_item(BytesIO(properties[b"ipma"]), primary):
        kind, data = shared.get(index, (b"", b""))
        if kind == b"pixi":
            item = replace(item, bits=max(data[5 : 5 + data[4]]), gray=data[4] == 1)
        elif kind == b"av1C":
            bits = 8 + 2 * (data[2] >> 6 & 1) + 2 * (data[2] >> 5 & data[2] >> 6 & 1)
            item = replace(item, bits=bits, gray=bool(data[2] >> 4 & 1))
        elif kind == b"ispe":
            item = replace(item, size=struct.unpack_from(">II", data, 4))
        elif kind == b"colr" and data[:4] == b"nclx":
            item = replace(item, codes=struct.unpack_from(">HH", data, 4))
        elif kind == b"colr" and data[:4] in (b"prof", b"rICC"):
            item = replace(item, profile=data[4:])
        elif kind in (b"mdcv", b"clli"):
            item = replace(item, light={**item.light, kind: data})
    besides = [name for kind, data in shared.values() if kind == b"auxC" for name in _auxiliary(data)]
    besides += [GAIN_MAP] * (TONE_MAP in meta.get(b"iinf", b""))
    return replace(item, unused=tuple(dict.fromkeys(besides)))


def _auxiliary(data: bytes) -> list[str]:
    """The name of an auxiliary picture; none of alpha."""
    kind = data[4:].partition(b"\0")[0].decode("latin-1")
    return [name for ending, name in _AUXILIARY.items() if kind.endswith(ending)]


def _codec(data: bytes, item: int) -> str:
    """What a picture is coded by that is neither HEIC nor AVIF: the type in its box infe; "" for others."""
    for _, entry in within(data[8 if data[:1] == b"\1" else 6 :]):
        wide = 4 if entry[:1] == b"\3" else 2
        if int.from_bytes(entry[4 : 4 + wide], "big") == item:
            return _CODECS.get(entry[6 + wide : 10 + wide].decode("latin-1"), "")
    return ""


def _of_item(file: BinaryIO, item: int) -> list[int]:
    """The numbers, from 1 on, of the properties that an item has."""
    version, flags, count = struct.unpack(">B3sI", file.read(8))
    for _ in range(count):
        number = int.from_bytes(file.read(4 if version else 2), "big")
        (some,) = file.read(1)
        form, most = (">H", 0x7FFF) if flags[2] & 1 else (">B", 0x7F)
        entries = struct.iter_unpack(form, file.read(some * struct.calcsize(form)))
        if number == item:
            return [value & most for (value,) in entries]
    return []


def described(
    path: str, pixels: Pixels, header: PrimaryItem, info: dict[str, Any], *, turned: bool
) -> Picture:
    """The picture of samples, with what a decoder has found beside them: ICC profile, EXIF and XMP.

    ``turned``: the decoder has turned it upright.
    """
    # Old writers say one channel of colours, too, so that the decoded values decide.
    if header.gray and pixels.shape[2] > 2 and (pixels[:, :, :1] == pixels[:, :, 1:3]).all():
        pixels = np.ascontiguousarray(pixels[:, :, [0, 3] if pixels.shape[2] == 4 else [0]])
    from .exif import without_thumbnail

    icc, exif, xmp = (info.get(name) or None for name in ("icc_profile", "exif", "xmp"))
    exif = without_thumbnail(exif.removeprefix(b"Exif\0\0")) if exif else None
    coded = header.codes if not icc else None
    stated = colours.of_codes(*coded, gray=pixels.shape[2] < 3) if coded else None
    picture = colours.picture(path, pixels, icc, exif, xmp, stated=stated)
    light, unused = hdr_light.of_boxes(header.light), header.unused
    if light is not None and not is_hdr(picture.colour):
        unused, light = (*light.names, *unused), None
    if unused:
        note(f"{path}: is read without its {', '.join(unused)}")
    picture = replace(picture, metadata=replace(picture.metadata, light=light))
    return replace(picture, metadata=picture.metadata.oriented(1)) if turned else picture.upright()
