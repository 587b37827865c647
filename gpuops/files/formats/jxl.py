"""JPEG XL, coded by OpenImageIO, exactly (losslessly) in all depths.

Sources: ISO/IEC 18181-2 (boxes). Colours are said by code points where the format has the space itself, else by an ICC
profile. Decoders turn the picture upright, so EXIF's orientation is always 1.
"""

from __future__ import annotations

import os
import struct
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from .. import colours, containers, oiio, raster
from ..drafts import draft_folder
from ..picture import Picture, Pixels, unread
from ..streams import called
from .record import ANY, IN_BOXES, CodePoints, Format, LayerId, Storage

#: JPEG XL's aspect ratios, by their codes.
_RATIOS = ((1, 1), (12, 10), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1))
#: The least bytes of a file that OpenImageIO recognises as JPEG XL.
_LEAST = 128
#: How a file of boxes begins; others are a codestream alone.
_BOXED = b"\0\0\0\x0cJXL "
#: The boxes that hold the picture, or concern the storage.
_STORAGE = (b"JXL ", b"ftyp", b"jxll", b"jxlc", b"jxlp", b"jxli", b"jbrd", b"free", b"skip")
#: The names of other boxes, as messages say them.
_NAMES = {b"brob": "compressed metadata", b"jumb": "JUMBF metadata", b"jhgm": "gain map"}


def read(path: str, layer: LayerId) -> Picture:
    if os.path.getsize(path) < _LEAST:
        with draft_folder() as folder:
            longer = os.path.join(folder, "small.jxl")
            Path(longer).write_bytes(Path(path).read_bytes().ljust(_LEAST, b"\0"))
            with called(longer, path):
                return _read(longer)
    return _read(path)


class _JxlPage(raster.Page):
    def alpha(self, channels: int) -> tuple[int, int, bool]:
        visible = 3 if channels >= 3 else 1
        return visible, visible if channels > visible else -1, False


def _read(path: str) -> Picture:
    extras = containers.read(path, _container)
    with oiio.Reader(path) as file:
        spec = file.spec()
        if (codes := spec.getattribute("CICP")) is not None:  # the profile is made of them
            stated = colours.of_codes(int(codes[0]), int(codes[1]), gray=spec.nchannels < 3)
            extras = replace(extras, colours=stated)
        elif oiio.icc_of(spec) is None:
            extras = replace(extras, colours=colours.StatedColour())
        picture = _JxlPage(path, extras, spec).picture(file.read())
    return replace(picture, metadata=picture.metadata.oriented(1))


def _container(file: BinaryIO) -> containers.Extras:
    exif = xmp = None
    unused = []
    boxes = containers.boxes(file, 0, file.seek(0, 2)) if file.read(8) == _BOXED else ()
    for kind, start, size in boxes:
        data = b"" if kind not in (b"Exif", b"xml ", b"brob") else containers.data(file, start, size)
        if kind == b"brob":
            kind, data = _expanded(data)
        if kind == b"Exif" and len(data) > 4:
            exif = data[4 + int.from_bytes(data[:4], "big") :]
        elif kind == b"xml " and xmp is None:
            xmp = data
        elif kind not in _STORAGE and kind.strip(b"\0"):
            unused.append(_NAMES.get(kind, f"box {kind.decode('latin-1')!r}"))
    return containers.Extras(exif=exif, xmp=xmp, unused=tuple(dict.fromkeys(unused)))


def _expanded(data: bytes) -> tuple[bytes, bytes]:
    """The kind and data of a box that is compressed; it stays as it is where it is damaged."""
    import imagecodecs

    try:
        return data[:4], bytes(imagecodecs.brotli_decode(data[4:]))
    except imagecodecs.BrotliError:
        return b"brob", b""


def _write(path: str, picture: Picture, storage: Storage) -> None:
    metadata, kind = picture.metadata, picture.pixels.dtype
    attributes: dict[str, Any] = {"compression": "jpegxl:100"}  # lossless
    attributes |= oiio.alpha_attributes(picture.channels)
    codes = colours.codes_for(FORMAT, picture.colour, kind, gray=picture.channels < 3)
    if metadata.icc:
        attributes |= oiio.icc_attribute(metadata.icc)
    elif codes:
        attributes["CICP"] = ("int[4]", tuple(codes))
    try:
        oiio.write(path, picture.pixels, attributes)
    except OSError as error:
        # libjxl 0.12, where floats have both signs: github.com/libjxl/libjxl/issues/4902
        if kind == np.float32 and "Encoder" in str(error):
            raise OSError(
                "the encoder fails for some floats of both signs; use --dtype half, or .exr"
            ) from None
        raise
    own = ((b"Exif", b"\0\0\0\0" + metadata.exif if metadata.exif else b""), (b"xml ", metadata.xmp or b""))
    written = Path(path).read_bytes()
    kept = [box for box in containers.boxes(BytesIO(written), 0, len(written)) if box[0] != b"brob"]
    parts = [(name, written[start : start + size]) for name, start, size in kept]
    with open(path, "wb") as file:
        for name, data in (*parts, *own):  # in place of what the encoder says of itself
            if data:
                file.write(struct.pack(">I4s", 8 + len(data), name) + data)


def _unread(path: str) -> Pixels:
    """Stands for the pixels, or for ones of four channels where several are beside the colours."""
    with open(path, "rb") as file:
        if file.read(2) != b"\xff\x0a":
            file.seek(_codestream(file) + 2)
        return unread(*_Header(file.read(256)).pixels())


class _Header:
    """The beginning of a codestream, from the lowest bit on.

    Source: ISO/IEC 18181-1: SizeHeader, ImageMetadata and what that consists of, BitDepth, ExtraChannelInfo.
    """

    def __init__(self, data: bytes) -> None:
        self._bits = int.from_bytes(data, "little")

    def _take(self, count: int) -> int:
        value = self._bits & ((1 << count) - 1)
        self._bits >>= count
        return value

    def _number(self, *forms: tuple[int, int]) -> int:
        """Returns a number of one of four forms: the least, and the bits that are added (U32)."""
        least, count = forms[self._take(2)]
        return least + self._take(count)

    def _sides(self, *forms: tuple[int, int]) -> tuple[int, int]:
        """Returns the height and width in a SizeHeader, or in a PreviewHeader with such forms."""
        if small := self._take(1):
            forms = ((16, 0), (32, 0), (1, 5), (33, 9)) if forms else ()

        def side() -> int:
            if small and not forms:
                return 8 * (1 + self._take(5))
            return self._number(*(forms or ((1, 9), (1, 13), (1, 18), (1, 30))))

        height, ratio = side(), self._take(3)
        return height, height * _RATIOS[ratio - 1][0] // _RATIOS[ratio - 1][1] if ratio else side()

    def _skip_rest(self) -> None:
        """Skips the orientation, the size and the preview that a viewer shows, and the times of an animation."""
        self._take(3)
        if self._take(1):
            self._sides()
        if self._take(1):
            self._sides((1, 6), (65, 8), (321, 10), (1345, 12))
        if self._take(1):
            self._number((100, 0), (1000, 0), (1, 10), (1, 30))
            self._number((1, 0), (1001, 0), (1, 8), (1, 10))
            self._number((0, 0), (0, 3), (0, 16), (0, 32))
            self._take(1)

    def _depth(self) -> str:
        """Returns the type of samples."""
        if self._take(1):
            bits = self._number((32, 0), (16, 0), (24, 0), (1, 6))
            self._take(4)
            return "f4" if bits > 16 else "f2"
        bits = self._number((8, 0), (10, 0), (12, 0), (1, 6))
        return "f4" if bits > 16 else "u2" if bits > 8 else "u1"

    def _is_alpha(self) -> bool:
        """Whether a further channel is alpha; the bits of others are not all taken."""
        if self._take(1):
            return True
        if self._number((0, 0), (1, 0), (2, 4), (18, 6)):
            return False
        self._depth()
        self._number((0, 0), (3, 0), (4, 0), (1, 3))
        self._take(8 * self._number((0, 0), (0, 4), (16, 5), (48, 10)) + 1)
        return True

    def pixels(self) -> tuple[tuple[int, int, int], str]:
        """Returns the shape of the pixels, and their type."""
        size = self._sides()
        if self._take(1):
            return (*size, 3), "u1"
        if self._take(1):
            self._skip_rest()
        kind = self._depth()
        self._take(1)
        further = self._number((0, 0), (1, 0), (2, 4), (1, 12))
        if further > 1 or (further and not self._is_alpha()):
            return (*size, 4), kind
        self._take(1)
        gray = not self._take(1) and not self._take(1) and self._number((0, 0), (1, 0), (2, 4), (18, 6)) == 1
        return (*size, (1 if gray else 3) + further), kind


def _codestream(file: BinaryIO) -> int:
    """Returns where the codestream begins in a file of boxes; a partial one has its number before it."""
    for kind, start, _ in containers.boxes(file, 0, file.seek(0, os.SEEK_END)):
        if kind in (b"jxlc", b"jxlp"):
            return start + 4 * (kind == b"jxlp")
    raise ValueError("there is no codestream")


FORMAT = Format(
    "JPEG XL", (".jxl",), ANY, read, _write, unread=_unread, magic=(b"\xff\x0a", b"\0\0\0\x0cJXL \r\n\x87\n"),
    channels=(1, 3, 4), holds=IN_BOXES,
    coded=CodePoints(ANY, (1, 9, 11, 12), (1, 8, 13, 16, 17, 18), gray=False),  # others by a profile
    upright=True,
)  # fmt: skip
