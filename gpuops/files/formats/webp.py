"""WebP, read by OpenImageIO and written by Pillow.

Source: Google, WebP Container Specification (RIFF).
"""

from __future__ import annotations

import struct
from typing import Any, BinaryIO

from .. import containers, oiio, pillow, raster
from ..picture import Picture
from .record import IN_BOXES, Animation, Codec, Format, LayerId, Levels, Method, Storage

#: libwebp's method and quality of each level of lossless WebP, as its WebPConfigLosslessPreset has them.
_LOSSLESS = ((0, 0), (1, 20), (2, 25), (3, 30), (3, 50), (4, 50), (4, 75), (4, 90), (5, 90), (6, 100))
#: The method of lossy WebP: how long its encoder looks for a smaller file, 0 … 6.
_METHOD = 4
#: The chunks that are read, or only concern the storage.
_STORAGE = (b"VP8 ", b"VP8L", b"VP8X", b"ALPH", b"ANMF", b"ICCP", b"EXIF", b"XMP ")


def _container(file: BinaryIO) -> containers.Extras:
    file.seek(12)
    chunks: dict[bytes, bytes] = {}
    while len(head := file.read(8)) == 8:
        kind, length = struct.unpack("<4sI", head)
        chunks[kind] = file.read(length + length % 2)[:length]
    exif = chunks.get(b"EXIF")
    others = [kind for kind in chunks if kind not in _STORAGE]
    unused = ["animation" if kind == b"ANIM" else f"chunk {kind.decode('latin-1')!r}" for kind in others]
    return containers.Extras(
        exif=exif.removeprefix(containers.EXIF) if exif else None,
        xmp=chunks.get(b"XMP "),
        unused=tuple(unused),
    )


def _read(path: str, layer: LayerId) -> Picture:
    extras = containers.read(path, _container)
    if layer is not None and "animation" in extras.unused:
        return raster.frame(path, "WEBP", layer, extras)
    with oiio.Reader(path) as file:
        return raster.Page(path, extras, file.spec(), layer).picture(file.read())


def _options(storage: Storage) -> dict[str, Any]:
    """Pillow's options. Without a chosen storage, what the eye can see is kept; so is colour under alpha 0."""
    method = FORMAT.method(storage)
    if method is not None and method.name == "lossless":
        effort, quality = _LOSSLESS[method.level]
        return {"lossless": True, "quality": quality, "method": effort, "exact": True}
    return {"quality": FORMAT.quality(storage), "method": _METHOD, "exact": True}


def _write(path: str, picture: Picture, storage: Storage) -> None:
    pillow.write(path, "WEBP", picture.pixels, **_options(storage), **pillow.kept(picture.metadata))


def _animated(path: str, first: Picture, loop: int | None, storage: Storage) -> dict[str, Any]:
    return _options(storage) | pillow.animated(first, loop)


FORMAT = Format(
    "WebP", (".webp",), ("uint8",), _read, _write, unread=pillow.unread_in("WEBP"),
    sniff=lambda head, _: head.startswith(b"RIFF") and head[8:12] == b"WEBP", channels=(3, 4), holds=IN_BOXES,
    largest=16383,
    codec=Codec(90, ("4:2:0",), {"lossy": None, "lossless": Levels(0, 9, 6)}, Method("lossy")), lossy=True,
    layered=True, pillow="WEBP",
    animation=Animation((".webp",), _animated, pillow.image),
)  # fmt: skip
