"""JPEG 2000, coded by OpenImageIO: a file's statements of its components, and which of its kinds are decoded rightly.

Sources: ITU-T T.800, annexes A (codestream: SIZ, COD) and I (boxes: colr, cdef, pclr); T.814 (high throughput).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ...errors import FileError
from ...notes import note
from ...records import dataclass
from .. import containers, oiio, pillow, raster
from ..picture import Picture, Pixels, unread
from .record import INTEGERS, Format, LayerId, Storage

# How a codestream begins.
_CODESTREAM = b"\xff\x4f\xff\x51"
# The markers of the segments with the capabilities that a decoder needs, the picture's size, and the coding style.
_CAP, _SIZ, _COD = 0xFF50, 0xFF51, 0xFF52
# The marker at which a tile begins.
_SOT = 0xFF90
# The codes (EnumCS) of sRGB, of gray with its curve, and of YCbCr made of it.
_SRGB, _GRAY, _YCC = 16, 17, 18
# The number of colours of each of these codes.
_COLOURS = {_SRGB: 3, _GRAY: 1, _YCC: 3}
# The names of the codes that are refused, as messages say them.
_OTHERS = {12: "CMYK", 14: "CIELab", 20: "e-sRGB", 21: "ROMM-RGB", 24: "e-sYCC"}
# The kinds of channels: a colour, alpha, and alpha by which colours are multiplied.
_COLOUR, _OPACITY, _PREMULTIPLIED = 0, 1, 2

#: The identity of a box with EXIF.
_EXIF = b"JpgTiffExif->JP2"
#: The identity of a box with XMP.
_XMP = bytes.fromhex("be7acfcb97a942e89c71999491e3afac")
#: Boxes that only concern the storage.
_STORAGE = (b"jP  ", b"ftyp", b"jp2h", b"jp2c", b"free")


@dataclass(frozen=True)
class Component:
    bits: int
    signed: bool
    step: tuple[int, int]  # pixels of the picture from sample to sample, across and down


@dataclass(frozen=True)
class CodestreamHeader:
    """size and offset place the picture on its grid. colours is EnumCS, 0 where unknown. profile is the ICC
    profile. channels has the kind and the colour of each channel, as far as the file says."""

    size: tuple[int, int]
    offset: tuple[int, int]
    components: tuple[Component, ...]
    lossy: bool
    high_throughput: bool
    colours: int = 0
    profile: bytes = b""
    channels: tuple[tuple[int, int], ...] = ()
    palette: bool = False

    @property
    def bits(self) -> int:
        return max(component.bits for component in self.components)

    def is_subsampled(self) -> bool:
        return any(component.step != (1, 1) for component in self.components)

    def needs_pillow(self) -> bool:
        """Whether the usual decoder refuses the file, or wraps values beyond white around (lossy high throughput)."""
        return self.bits <= 8 and (len(self.components) == 2 or self.high_throughput)

    def refusal(self) -> str:
        """The reason why no decoder here gets the picture right; empty where one does."""
        if any(component.signed for component in self.components):
            return "holds signed samples; convert them to unsigned ones first"
        if self.bits > 16:
            return f"holds {self.bits}-bit samples; convert it to 16 bits first"
        inks = self.profile[16:20] == b"CMYK"
        if inks or (self.colours and self.colours not in _COLOURS):
            kind = "CMYK" if inks else _OTHERS.get(self.colours, f"kind {self.colours}")
            return f"holds colours of {kind}; convert it to gray or RGB first"
        if len(self.components) == 2 and self.palette:
            return "holds a palette with another channel beside it; convert it to RGB first"
        if len(self.components) == 2 and self.bits > 8:
            return f"holds {self.bits}-bit gray with a second channel; convert it to RGB first"
        plain = not self.palette and not self.is_subsampled() and self.colours != _YCC
        ordered = all(channel == (_COLOUR, i + 1) for i, channel in enumerate(self.channels[:3]))
        deep = self.bits > 8 or self.palette
        if self.high_throughput and deep and (self.lossy or not plain or not ordered):
            return (
                "is high-throughput JPEG 2000 (HTJ2K) of a kind that is not decoded rightly; convert it first"
            )
        if self.is_subsampled():
            return self._subsampling_trouble()
        return ""

    def _subsampling_trouble(self) -> str:
        if self.offset != (0, 0) or self.high_throughput:
            return "holds colours of less resolution, placed in a way that cannot be read; convert it first"
        chroma = [component.step for component in self.components[1:3]]
        if len(chroma) == 2 and chroma != [self.components[0].step] * 2 and self.colours != _YCC:
            return "does not say what its colours of less resolution are; convert it to RGB first"
        return ""


def _read_header(path: str) -> CodestreamHeader:
    """The header of a file; a FileError where it is damaged, or of a kind that is not decoded rightly."""
    try:
        with open(path, "rb") as file:
            header = _header(file)
    except (struct.error, IndexError):
        raise FileError(
            f"{path}: could not be opened: the file is cut off or damaged (JPEG 2000 header)"
        ) from None
    if refusal := header.refusal():
        raise FileError(f"{path}: {refusal}")
    return header


def _boxes(file: BinaryIO) -> Iterator[tuple[bytes, int, int]]:
    """The boxes of a file; a codestream alone is as one of its own."""
    end = file.seek(0, 2)
    if containers.data(file, 0, 4) == _CODESTREAM:
        yield b"jp2c", 0, end
    else:
        yield from containers.boxes(file, 0, end)


def _header(file: BinaryIO) -> CodestreamHeader:
    """The header of an open file. Raises struct.error or IndexError where it is cut off."""
    fields: dict[str, Any] = {}
    for kind, start, size in _boxes(file):
        if kind == b"jp2h":
            for inner, at, length in containers.boxes(file, start, start + size):
                _jp2_box(inner, containers.data(file, at, length), fields)
        elif kind == b"jp2c":
            return _codestream(file, start, fields)
    raise IndexError("there is no codestream")


def _jp2_box(kind: bytes, data: bytes, fields: dict[str, Any]) -> None:
    if kind == b"colr" and "colours" not in fields and "profile" not in fields:
        if data[:1] == b"\1":
            fields["colours"] = int.from_bytes(data[3:7], "big")
        elif data[:1] == b"\2":
            fields["profile"] = data[3:]
    elif kind == b"cdef":
        definitions = sorted(struct.iter_unpack(">HHH", data[2 : 2 + 6 * int.from_bytes(data[:2], "big")]))
        fields["channels"] = tuple((kind, colour) for _, kind, colour in definitions)
    elif kind == b"pclr":
        fields["palette"] = True


def _codestream(file: BinaryIO, start: int, fields: dict[str, Any]) -> CodestreamHeader:
    """The main header: segments of marker, length and data up to the first tile."""
    file.seek(start + 2)
    components: list[Component] = []
    lossy = high_throughput = False
    while True:
        marker, length = struct.unpack(">HH", file.read(4))
        if marker == _SOT or length < 2:
            break
        data = file.read(length - 2)
        if marker == _SIZ:
            width, height, left, top, count = struct.unpack_from(">IIII16xH", data, 2)
            for depth, across, down in struct.iter_unpack(">BBB", data[36 : 36 + 3 * count]):
                components.append(Component((depth & 0x7F) + 1, depth > 0x7F, (across, down)))
        elif marker == _CAP:
            high_throughput = True
        elif marker == _COD:
            lossy = data[9] == 0
    if not components:
        raise IndexError("there is no size")
    size, offset = (width - left, height - top), (left, top)
    return CodestreamHeader(size, offset, tuple(components), lossy, high_throughput, **fields)


def _define_alpha(path: str, channels: int) -> None:
    """Adds to a file's header that its last channel is alpha (box cdef), which the encoder leaves out."""
    colours = channels - 1
    definitions = [(i, _COLOUR, i + 1) for i in range(colours)] + [(colours, _OPACITY, 0)]
    data = struct.pack(">H", channels) + b"".join(struct.pack(">HHH", *entry) for entry in definitions)
    box = struct.pack(">I4s", 8 + len(data), b"cdef") + data
    written = Path(path).read_bytes()
    boxes = containers.boxes(BytesIO(written), 0, len(written))
    start, size = next((start, size) for kind, start, size in boxes if kind == b"jp2h")
    end = start + size
    header = struct.pack(">I", 8 + size + len(box)) + written[start - 4 : end] + box
    Path(path).write_bytes(written[: start - 8] + header + written[end:])


def _container(file: BinaryIO) -> containers.Extras:
    known: dict[bytes, bytes] = {}
    unused: list[str] = []
    for kind, start, size in _boxes(file):
        identity = containers.data(file, start, 16) if kind == b"uuid" else b""
        if identity in (_EXIF, _XMP):
            known[identity] = containers.data(file, start + 16, size - 16)
        elif kind not in _STORAGE:
            unused.append(f"box {kind.decode('latin-1')!r}")
    return containers.Extras(exif=known.get(_EXIF), xmp=known.get(_XMP), unused=tuple(dict.fromkeys(unused)))


@dataclass(frozen=True, kw_only=True)
class _Jpeg2000Page(raster.Page):
    header: CodestreamHeader

    @property
    def icc(self) -> bytes | None:
        return self.header.profile or None

    def alpha(self, channels: int) -> tuple[int, int, bool]:
        """Of two or four channels the last is alpha, unless the file says of all that they are something else."""
        kinds = [kind for kind, _ in self.header.channels]
        place = channels - 1 if channels in (2, 4) else -1
        if place >= 0 and not kinds:
            note(f"{self.path}: does not say what its channel {place + 1} is; it is taken as alpha")
        elif not {_OPACITY, _PREMULTIPLIED} & {*kinds}:
            place = -1
        return 3 if channels >= 3 else 1, place, place >= 0 and bool(kinds) and _OPACITY not in kinds

    def picture(self, pixels: Pixels) -> Picture:
        width, height = self.header.size  # the decoder rounds it up to whole steps of subsampled colours
        return super().picture(np.ascontiguousarray(pixels[:height, :width]))


def _read(path: str, layer: LayerId) -> Picture:
    extras, header = containers.read(path, _container), _read_header(path)
    if header.needs_pillow():
        spec, pixels = oiio.no_spec(), pillow.read(path, "JPEG2000")
    else:
        with oiio.Reader(path) as file:
            spec, pixels = file.spec(), file.read()
    return _Jpeg2000Page(path, extras, spec, header=header).picture(pixels)


def _write(path: str, picture: Picture, storage: Storage) -> None:
    attributes = oiio.alpha_attributes(picture.channels) | oiio.icc_attribute(picture.metadata.icc)
    oiio.write(path, picture.pixels, attributes)
    if picture.alpha:
        _define_alpha(path, picture.channels)


def _unread(path: str) -> Pixels:
    header = _read_header(path)
    width, height = (size - offset for size, offset in zip(header.size, header.offset, strict=True))
    return unread((height, width, len(header.components)), np.uint8 if header.bits <= 8 else np.uint16)


FORMAT = Format(
    "JPEG 2000",
    (".jp2",),  # a bare codestream (.j2k) has no room for alpha and profile, and is only read
    INTEGERS, _read, _write, unread=_unread, magic=(b"\0\0\0\x0cjP  \r\n\x87\n", _CODESTREAM),
    channels=(1, 3, 4), holds=frozenset({"icc"}),
    least=32,  # as the encoder halves the picture five times
)  # fmt: skip
