"""JPEG with a gain map (Ultra HDR): a picture for any display, and the factors that make light beyond white of it.

imagecodecs codes both, by libultrahdr. Light of 1 is white, 203 cd/m², as PQ has it here.
Sources: ISO 21496-1; Ultra HDR Image Format 1.1 (Android); CIPA DC-007 and DC-008 (the order of segments).
"""

from __future__ import annotations

import struct
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FileError
from ..notes import note
from ..pixels.colour import SRGB, Colour, of_primaries, tidied
from ..pixels.curves import LINEAR_CURVE, SRGB_CURVE
from ..pixels.primaries import NAMED
from . import colours, containers, jpeg_segments, pillow
from .formats import Format
from .picture import Metadata, Picture

#: The primaries that libultrahdr knows, and their names there.
_GAMUTS = {"Rec. 709": "BT_709", "Display P3": "DISPLAY_P3", "Rec. 2020": "BT_2100"}
#: A colour is outside Display P3 if a channel there is below 0 by more than this share of the largest channel.
_VISIBLE = 1e-2
#: The units of the resolution that JFIF tells.
_UNITS = {1: "in", 2: "cm"}
#: How the segment with the resolution begins. The version, the unit (1: inch) and two numbers follow.
_JFIF = b"JFIF\0"


def read(path: str, extras: containers.Extras) -> Picture:
    """The light of a file with a gain map, as half floats (height, width, 3).

    Its primaries are those that the gain map's profile names, else the picture's own.

    Raises FileError where the map is missing or damaged, or belongs to a picture that libultrahdr takes for another.
    """
    import imagecodecs
    import PIL.Image

    with pillow.opened(path, "JPEG") as image:  # OpenImageIO may apply the map, too, when it opens a file
        own, size = _own(path, image.info.get("icc_profile"), extras), _resolution(image)
    data = Path(path).read_bytes()
    start = jpeg_segments.second(data)
    if start < 0:
        raise FileError(_instead(path, "its gain map is missing"))
    try:
        pixels = imagecodecs.ultrahdr_decode(data)
        with PIL.Image.open(BytesIO(data[start:])) as image:
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
    found = colours.Found(colour)
    picture = colours.picture(path, pixels, None, extras.exif, extras.xmp, size, found=found)
    return replace(picture, layer=extras.layers[1], layers=extras.layers)


def _own(path: str, profile: bytes | None, extras: containers.Extras) -> Colour:
    """The space of the file's own picture, which libultrahdr takes for sRGB where it does not know the profile."""
    found = colours.of_profile(profile, gray=False) if profile else colours.of_exif(extras.exif)
    own = found.colour or (None if profile else SRGB)
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
    return f"{path}: {reason}; --layer {jpeg_segments.WITH_GAIN_MAP[0]} reads the picture without it"


def write(path: str, picture: Picture, fmt: Format, quality: int) -> None:
    """Writes light, half floats (height, width, 3) of 0 … ``fmt.brightest``."""
    import imagecodecs

    if not colours.can_say(fmt, picture.colour, picture.pixels.dtype, gray=False):
        raise FileError(f"{path}: {fmt} holds light of {' or '.join(fmt.primaries)}; convert it first")
    if picture.colour.primaries == "Rec. 2020" and _is_beyond_p3(picture):
        note(f"{path}: {fmt} keeps colours within Display P3; others lose saturation")
    pixels = np.ones((picture.height, picture.width, 4), np.float16)
    pixels[:, :, :3] = picture.pixels
    gamut = imagecodecs.ULTRAHDR.CG[_GAMUTS[picture.colour.primaries]]
    data = imagecodecs.ultrahdr_encode(pixels, quality, gamut=gamut)
    Path(path).write_bytes(_with(bytes(data), picture.metadata))


def _is_beyond_p3(picture: Picture) -> bool:
    """Whether some light is outside Display P3, the space of the file's own picture, which factors do not leave."""
    to_rec709 = np.reshape(of_primaries(NAMED["Display P3"], LINEAR_CURVE).matrix, (3, 3))
    to_p3 = (np.linalg.inv(to_rec709) @ np.reshape(picture.colour.matrix, (3, 3))).astype(np.float32)
    for row in picture.pixels:
        light = row.astype(np.float32)
        if ((light @ to_p3.T).min(axis=1) < -_VISIBLE * light.max(axis=1)).any():
            return True
    return False


def _with(data: bytes, metadata: Metadata) -> bytes:
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
