"""JPEG XL, coded by OpenImageIO, exactly (losslessly) in all depths.

Sources: ISO/IEC 18181-2 (boxes). Colours are said by code points where the format has the space itself, else by an ICC
profile. Decoders turn the picture upright, so EXIF's orientation is always 1.
"""

from __future__ import annotations

import os
import struct
from typing import Any, BinaryIO

import numpy as np

from ..errors import FileError
from ..notes import note
from ..params.storage import Storage
from ..pixels.colour import unusual
from . import colours, oiio
from .boxes import boxes
from .drafts import draft_folder
from .formats import Format
from .picture import Metadata, Picture
from .raster_page import alpha_attributes, icc_attribute, icc_of
from .streams import called

#: The least bytes of a file that OpenImageIO recognises as JPEG XL.
_LEAST = 128
#: The most bytes of metadata; more is an attack.
_LONGEST = 1 << 26
#: How a file of boxes begins; others are a codestream alone.
_BOXED = b"\0\0\0\x0cJXL "
#: The boxes that hold the picture, or concern the storage.
_STORAGE = (b"JXL ", b"ftyp", b"jxll", b"jxlc", b"jxlp", b"jxli", b"jbrd", b"free", b"skip")
#: The names of other boxes, as messages say them.
_NAMES = {b"brob": "compressed metadata", b"jumb": "JUMBF metadata", b"jhgm": "gain map"}


def read(path: str, fmt: Format, layer: str | int | None = None) -> Picture:
    if layer is not None:
        raise FileError(f"{path}: has no layer {layer!r}; it has no layers")
    if os.path.getsize(path) < _LEAST:
        with draft_folder() as folder:
            longer = os.path.join(folder, "small.jxl")
            with open(path, "rb") as file, open(longer, "wb") as copy:
                copy.write(file.read().ljust(_LEAST, b"\0"))
            with called(longer, path):
                return _read(longer)
    return _read(path)


def _read(path: str) -> Picture:
    with oiio.Reader(path) as file:
        spec = file.spec()
        codes, icc = spec.getattribute("CICP"), icc_of(spec)
        pixels = file.read()
    visible = 3 if pixels.shape[2] >= 3 else 1
    if pixels.shape[2] > visible + 1:
        note(f"{path}: is read without its further {pixels.shape[2] - visible - 1} channels")
        pixels = np.ascontiguousarray(pixels[:, :, : visible + 1])
    if codes is not None:  # the profile is made of them
        found, icc = colours.of_codes(int(codes[0]), int(codes[1]), gray=visible == 1), None
    else:
        found = colours.of_profile(icc, gray=visible == 1) if icc else colours.Found()
    colour = found.told(path, light=pixels.dtype.kind == "f")
    with open(path, "rb") as file_:
        exif, xmp = _metadata(path, file_)
    metadata = Metadata(icc, exif, xmp, colour=unusual(colour)).oriented(1)
    return Picture(pixels, alpha=pixels.shape[2] > visible, linear=colour.linear, metadata=metadata)


def _metadata(path: str, file: BinaryIO) -> tuple[bytes | None, bytes | None]:
    """EXIF, without its preview, and XMP; other boxes are named as left out."""
    from .exif import without_thumbnail

    exif = xmp = None
    unused = []
    if file.read(8) != _BOXED:
        return None, None
    for kind, start, size in boxes(file, 0, file.seek(0, 2)):
        data = b"" if kind not in (b"Exif", b"xml ", b"brob") else _at(file, start, min(size, _LONGEST))
        if kind == b"brob":
            kind, data = _expanded(data)
        if kind == b"Exif" and len(data) > 4:
            exif = data[4 + int.from_bytes(data[:4], "big") :]
        elif kind == b"xml " and xmp is None:
            xmp = data
        elif kind not in _STORAGE and kind.strip(b"\0"):
            unused.append(_NAMES.get(kind, f"box {kind.decode('latin-1')!r}"))
    if unused:
        note(f"{path}: is read without its {', '.join(dict.fromkeys(unused))}")
    return without_thumbnail(exif) if exif else None, xmp


def _expanded(data: bytes) -> tuple[bytes, bytes]:
    """The kind and data of a box that is compressed; it stays as it is where it is damaged."""
    import imagecodecs

    try:
        return data[:4], bytes(imagecodecs.brotli_decode(data[4:]))
    except imagecodecs.BrotliError:
        return b"brob", b""


def write(path: str, picture: Picture, fmt: Format, storage: Storage) -> None:
    metadata, kind = picture.metadata, picture.pixels.dtype
    attributes: dict[str, Any] = {"compression": "jpegxl:100"}  # lossless
    if picture.alpha:
        attributes |= alpha_attributes(picture.channels)
    codes = colours.codes_for(fmt, picture.colour, kind, gray=picture.channels < 3)
    if metadata.icc:
        attributes |= icc_attribute(metadata.icc)
    elif codes:
        attributes["CICP"] = ("int[4]", tuple(codes))
    try:
        oiio.write_parts(path, [(picture.pixels, attributes)])
    except OSError as error:
        # libjxl 0.12, where floats have both signs: github.com/libjxl/libjxl/issues/4902
        if kind == np.float32 and "Encoder" in str(error):
            raise OSError(
                "the encoder fails for some floats of both signs; use --dtype half, or .exr"
            ) from None
        raise
    own = ((b"Exif", b"\0\0\0\0" + metadata.exif if metadata.exif else b""), (b"xml ", metadata.xmp or b""))
    with open(path, "r+b") as file:
        kept = [box for box in boxes(file, 0, file.seek(0, 2)) if box[0] != b"brob"]
        parts = [(name, _at(file, start, size)) for name, start, size in kept]
        file.seek(0)
        for name, data in (*parts, *own):  # in place of what the encoder says of itself
            if data:
                file.write(struct.pack(">I4s", 8 + len(data), name) + data)
        file.truncate()


def _at(file: BinaryIO, start: int, size: int) -> bytes:
    file.seek(start)
    return file.read(size)
