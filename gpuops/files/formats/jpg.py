"""JPEG, read by OpenImageIO and libjpeg-turbo, and written by Pillow: OpenImageIO's codec ends the program on a full
disk.

A file with a gain map (Ultra HDR) has a picture for any display, and the factors that make light beyond white of it.
imagecodecs codes both, by libultrahdr. Light of 1 is white, 203 cd/m², as PQ has it here.
Sources: ISO 21496-1; Ultra HDR Image Format 1.1 (Android); CIPA DC-007 and DC-008 (the order of segments).
"""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import FileError
from ...notes import note
from ...params.moves import Shrunk
from ...pixels.colour import SRGB, Colour, of_primaries, tidied
from ...pixels.curves import LINEAR_CURVE, SRGB_CURVE
from ...pixels.primaries import NAMED
from .. import colours, containers, jpeg_contents, jpeg_decoding, jpeg_segments, oiio, pillow, raster
from ..drafts import draft_file
from ..picture import Metadata, Picture, Pixels, unread
from ..read_errors import parsing
from ..samples import full_range
from ..streams import called
from ..strips import COPIES, NeedsWholeFile, RowsOf
from .record import ALL, SUBSAMPLINGS, Codec, Format, LayerId, Storage

#: The error in dots per inch that the units of other formats cause.
_ROUNDING = 0.01
#: The bits of a sample that nearly all files have.
_USUAL_BITS = 8
#: The primaries that libultrahdr knows, and their names there.
_GAMUTS = {"Rec. 709": "BT_709", "Display P3": "DISPLAY_P3", "Rec. 2020": "BT_2100"}
#: A colour is outside Display P3 if a channel there is below 0 by more than this share of the largest channel.
_VISIBLE = 1e-2
#: What files of more bits are, which come as a whole.
_DEEP = "is a JPEG of more than 8 bits"
#: A length of the most digits that a file's part has.
_LONGEST = 2**32 - 1
#: The units of the resolution that JFIF tells.
_UNITS = {1: "in", 2: "cm"}
#: How the segment with the resolution begins. The version, the unit (1: inch) and two numbers follow.
_JFIF = b"JFIF\0"


def read(path: str, layer: LayerId) -> Picture:
    try:
        return _read(path, layer)
    except FileError:
        if _deep(path) is not None:
            return _read_deep(path)
        repair = jpeg_segments.mended(path)
        if repair is None:
            raise
        with suppress(FileError), draft_file(tempfile.gettempdir()) as copy, called(copy, path):
            Path(copy).write_bytes(repair[0])
            with oiio.Reader(copy) as whole:  # Pillow, which some are read by, does not tell of missing data
                whole.read()
            picture = _read(copy, layer)
            for fault in repair[1]:
                note(f"{path}: {fault}; all of its picture is there")
            return picture
        raise


def _read(path: str, layer: LayerId) -> Picture:
    extras = containers.read(path, jpeg_contents.container)
    if layer in extras.layers[1:]:
        return _read_light(path, extras)
    with oiio.Reader(path) as file:
        page = _opened(path, file, layer, extras)
        if page.has_gain_map or page.by_profile:
            return page.picture(pillow.read(path, "JPEG"))
        pixels = page.decoded(file)
        return page.picture(file.read() if pixels is None else pixels)


def _read_smaller(path: str, shrinks: Callable[[int, int, int], int], most: int) -> Picture | None:
    extras = containers.read(path, jpeg_contents.container)
    if extras.layers or jpeg_segments.samples_of(path).bits != _USUAL_BITS:
        return None
    with oiio.Reader(path) as file:
        page = _opened(path, file, None, extras)
        height, width = page.spec.height, page.spec.width
        orientation = Metadata(exif=extras.exif).orientation
        by = jpeg_decoding.divisor(shrinks(orientation, height, width), height, width)
        if by == 1 or page.has_gain_map or page.unread.nbytes * COPIES > most * by**2:
            return None
        pixels = page.decoded(file, by)
    return None if pixels is None else replace(page.picture(pixels), shrunk=Shrunk(by, width, height))


def _read_deep(path: str) -> Picture:
    """A picture of 12 bits, or of up to 16 that are stored without loss (ITU-T T.81, annex H), as 16 bits."""
    import imagecodecs

    extras = containers.read(path, jpeg_contents.container)
    data = Path(path).read_bytes()
    with parsing(path):
        pixels = np.atleast_3d(imagecodecs.jpeg8_decode(data))
    icc, (unit, x, y) = jpeg_segments.look_of(data)
    size = (float(x), float(y), _UNITS[unit]) if x and y and unit in _UNITS else None
    if extras.unused:
        note(f"{path}: is read without its {', '.join(extras.unused)}")
    return colours.picture(
        path, full_range(pixels, jpeg_segments.samples_of(path).bits), icc, extras.exif, extras.xmp, size
    )


def _read_rows(path: str, layer: LayerId, most: int) -> tuple[Picture, RowsOf, int] | None:
    def opened(file: oiio.Reader) -> _JpegPage:
        if (deep := _deep(path)) is not None:
            raise NeedsWholeFile(_DEEP, deep)
        return _opened(path, file, layer, containers.read(path, jpeg_contents.container))

    try:
        return raster.by_rows(path, opened, most)
    except FileError:
        deep = _deep(path)
        if deep is None:
            raise
        if deep.nbytes * COPIES <= most:
            return None
        raise NeedsWholeFile(_DEEP, deep) from None


def _deep(path: str) -> Pixels | None:
    """Stands for the pixels of a picture of more than 8 bits; None for any other."""
    own = jpeg_segments.samples_of(path)
    deep = own.bits > _USUAL_BITS and own.channels in (1, 3)
    return unread((own.height, own.width, own.channels), np.uint16) if deep else None


def _opened(path: str, file: oiio.Reader, layer: LayerId, extras: containers.Extras) -> _JpegPage:
    return _JpegPage(path, extras, file.spec(), layer, extras.layers or ("0",))


class _JpegPage(raster.Page):
    @property
    def has_gain_map(self) -> bool:
        """Whether the decoder applies a gain map, and gives half with alpha."""
        return self.spec.nchannels > 3 or str(self.spec.format) != "uint8"

    def decoded(self, file: oiio.Reader, by: int = 1) -> Pixels | None:
        """The samples that OpenImageIO gives, in less time, or a smaller picture; None where it may know more."""
        if self.inks is not None:
            return None
        file.check_plausible(self.spec)
        return jpeg_decoding.decoded(self.path, self.spec.height, self.spec.width, self.spec.nchannels, by)

    def alpha(self, channels: int) -> tuple[int, int, bool]:
        return 3 if channels >= 3 else 1, -1, False  # a decoder that applies a gain map adds one

    @property
    def unread(self) -> Pixels:
        if self.index:
            return unread((self.spec.height, self.spec.width, 3), np.float16)
        return super().unread

    def obstacle(self) -> str:
        if self.index:
            return "is read with its gain map"
        if self.has_gain_map:
            return "has a gain map"
        if self.by_profile:
            return "is a JPEG of inks"
        if jpeg_segments.mended(self.path) is not None:
            return "is a JPEG that breaks the standard"
        return "is interlaced or progressive" if jpeg_segments.is_progressive(self.path) else ""

    def said_of_several(self) -> list[str]:
        return []


def _misfits(picture: Picture, lost: Callable[[str], None]) -> list[str]:
    metadata = picture.metadata
    if metadata.resolution:
        exact, held = jpeg_segments.dots_per_inch(metadata.resolution)
        if any(abs(a - b) > _ROUNDING for a, b in zip(exact, held, strict=True)):
            lost(f"JPEG holds whole dots per inch, to 65535; the resolution becomes {held[0]} x {held[1]}")
    listed = metadata.gain.packet(metadata.xmp, _LONGEST) if metadata.gain else metadata.xmp
    dropped = jpeg_segments.too_long(metadata.exif, listed)
    for kind in dropped:
        lost(f"the {kind.upper()} is too long for JPEG; it is left out")
    return dropped


def _write(path: str, picture: Picture, storage: Storage) -> None:
    metadata, own = picture.metadata, b""
    if metadata.gain:
        try:
            own = metadata.gain.file()
        except (ValueError, OSError, SyntaxError) as error:
            note(f"{path}: the gain map is damaged, and left out ({error})")
        else:
            metadata = replace(metadata, xmp=metadata.gain.packet(metadata.xmp, len(own)))
    options = pillow.kept(metadata)
    if picture.metadata.resolution:
        options["dpi"] = jpeg_segments.dots_per_inch(picture.metadata.resolution)[1]
    options |= {"quality": FORMAT.quality(storage), "subsampling": storage.subsampling or "4:4:4"}
    pillow.write(path, "JPEG", picture.pixels, **options)
    if metadata.gain and own:
        Path(path).write_bytes(metadata.gain.behind(Path(path).read_bytes(), own))


# Light, by a gain map ------------------------------------------------------------------------------


def _read_light(path: str, extras: containers.Extras) -> Picture:
    """The light of a file with a gain map, as half floats (height, width, 3).

    Its primaries are those that the gain map's profile names, else the picture's own.

    Raises FileError where the map is missing or damaged, or belongs to a picture that libultrahdr takes for another.
    """
    import imagecodecs
    import PIL.Image

    from .. import apple_gain_map
    from ..gain_numbers import apple_headroom

    gain = extras.gain
    with pillow.opened(path, "JPEG") as image:  # OpenImageIO may apply the map, too, when it opens a file
        own, size = _own(path, image.info.get("icc_profile"), extras), _resolution(image)
    if gain is None:
        raise FileError(_instead(path, "its gain map is missing"))
    try:
        if gain.kind == "Apple":
            headroom = apple_headroom(gain.xmp + (extras.xmp or b""), extras.exif)
            pixels, profile = apple_gain_map.light(pillow.read(path, "JPEG"), gain.pixels(), headroom), None
        else:
            pixels = imagecodecs.ultrahdr_decode(Path(path).read_bytes())
            with PIL.Image.open(BytesIO(gain.data)) as image:
                profile = image.info.get("icc_profile")
    except MemoryError:
        raise
    except Exception as error:
        reason = str(error).split("\n")[0]
        raise FileError(
            _instead(path, f"its gain map is damaged, or of a kind that is not known ({reason})")
        ) from None
    alternate = colours.of_profile(profile, gray=False).colour if profile else None
    named = alternate if alternate is not None and alternate.primaries in _GAMUTS else own
    colour = tidied(of_primaries(NAMED[named.primaries], LINEAR_CURVE))
    if extras.unused:
        note(f"{path}: is read without its {', '.join(extras.unused)}")
    pixels = np.ascontiguousarray(pixels[:, :, :3])
    stated = colours.StatedColour(colour)
    picture = colours.picture(path, pixels, None, extras.exif, extras.xmp, size, stated=stated)
    return replace(picture, layer=extras.layers[1], layers=extras.layers)


def _own(path: str, profile: bytes | None, extras: containers.Extras) -> Colour:
    """The space of the file's own picture, which libultrahdr takes for sRGB where it does not know the profile."""
    stated = colours.of_profile(profile, gray=False) if profile else colours.of_exif(extras.exif)
    own = stated.colour or (None if profile else SRGB)
    if own is None or tidied(own).curves != (SRGB_CURVE,) or own.primaries not in _GAMUTS:
        raise FileError(
            _instead(path, "its gain map is for colours other than sRGB, Display P3 and Rec. 2020")
        )
    return own


def _resolution(image: Any) -> tuple[float, float, str] | None:
    """The resolution that JFIF tells; EXIF keeps its own."""
    (x, y), unit = image.info.get("jfif_density", (0, 0)), _UNITS.get(image.info.get("jfif_unit", 0))
    return (float(x), float(y), unit) if x and y and unit else None


def _instead(path: str, reason: str) -> str:
    return f"{path}: {reason}; --layer {jpeg_contents.WITH_GAIN_MAP[0]} reads the picture without it"


def _write_light(path: str, picture: Picture, storage: Storage) -> None:
    """Writes light, half floats (height, width, 3) of 0 … ``GAIN_MAP.brightest``."""
    import imagecodecs

    if not colours.can_say(GAIN_MAP, picture.colour, picture.pixels.dtype, gray=False):
        raise FileError(
            f"{path}: {GAIN_MAP} holds light of {' or '.join(GAIN_MAP.primaries)}; convert it first"
        )
    if picture.colour.primaries == "Rec. 2020" and _is_beyond_p3(picture):
        note(f"{path}: {GAIN_MAP} keeps colours within Display P3; others lose saturation")
    pixels = np.ones((picture.height, picture.width, 4), np.float16)
    pixels[:, :, :3] = picture.pixels
    gamut = imagecodecs.ULTRAHDR.CG[_GAMUTS[picture.colour.primaries]]
    data = imagecodecs.ultrahdr_encode(pixels, GAIN_MAP.quality(storage), gamut=gamut)
    Path(path).write_bytes(_with_metadata(bytes(data), picture.metadata))


def _is_beyond_p3(picture: Picture) -> bool:
    """Whether some light is outside Display P3, the space of the file's own picture, which factors do not leave."""
    to_rec709 = np.reshape(of_primaries(NAMED["Display P3"], LINEAR_CURVE).matrix, (3, 3))
    to_p3 = (np.linalg.inv(to_rec709) @ np.reshape(picture.colour.matrix, (3, 3))).astype(np.float32)
    for row in picture.pixels:
        light = row.astype(np.float32)
        if ((light @ to_p3.T).min(axis=1) < -_VISIBLE * light.max(axis=1)).any():
            return True
    return False


def _with_metadata(data: bytes, metadata: Metadata) -> bytes:
    """libultrahdr's file with EXIF and XMP before all its other segments, and the resolution in its JFIF segment."""
    added = jpeg_segments.made(metadata.exif, metadata.xmp)
    changed = bytearray(data)
    if metadata.resolution:
        dots = jpeg_segments.dots_per_inch(metadata.resolution)[1]
        struct.pack_into(">BHH", changed, data.index(_JFIF) + len(_JFIF) + 2, 1, *dots)
    start = data.index(jpeg_segments.MPF)
    end = start - 2 + int.from_bytes(data[start - 2 : start], "big")
    changed[start:end] = jpeg_segments.lengthened(data[start:end], len(added))
    return bytes(changed[:2] + added + changed[2:])


_EXTENSIONS = (".jpg", ".jpeg", ".jpe", ".jfif")
#: The same files with light: libultrahdr's limits are 8192 pixels a side and 10000 cd/m².
GAIN_MAP = Format(
    "JPEG with a gain map", _EXTENSIONS, ("float16",), read, _write_light, channels=(3,), holds=ALL - {"icc"},
    misfits=_misfits, least=8, largest=8192, brightest=10000 / 203,
    primaries=("Rec. 709", "Display P3", "Rec. 2020"), codec=Codec(95), lossy=True, layered=True,
)  # fmt: skip
FORMAT = Format(
    "JPEG", _EXTENSIONS, ("uint8",), read, _write, read_rows=_read_rows, read_smaller=_read_smaller,
    magic=(b"\xff\xd8\xff",), channels=(1, 3), holds=ALL | {"gain"}, misfits=_misfits, largest=65500,
    codec=Codec(95, SUBSAMPLINGS), lossy=True, layered=True, gain_map=GAIN_MAP,
)  # fmt: skip
