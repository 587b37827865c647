"""Gain maps of Apple's own kind: the picture's light is multiplied by 1 + (h − 1) · g, of a headroom h.

Source: Apple, "Applying Apple HDR effect to your photos" (developer.apple.com); the curve of g is that of BT.709.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..errors import FileError
from ..notes import note
from ..params.moves import Move
from ..pixels.colour import of_primaries, tidied
from ..pixels.curves import BT709_CURVE, LINEAR_CURVE, SRGB_CURVE
from ..pixels.primaries import NAMED
from . import gain_samples, jpeg_segments
from .exif import MalformedError
from .gain_map import GainMap, coded
from .gain_numbers import apple_headroom
from .jpeg_contents import WITH_GAIN_MAP
from .picture import Picture

#: What Apple calls a gain map.
NAME = jpeg_segments.APPLE_MAP.decode()
#: What a map's file says of itself.
_PACKET = (
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    '<rdf:Description rdf:about="" xmlns:HDRGainMap="{}"'
    ' xmlns:apdi="http://ns.apple.com/pixeldatainfo/1.0/" apdi:AuxiliaryImageType="{}"'
    ' HDRGainMap:HDRGainMapVersion="131072" HDRGainMap:HDRGainMapHeadroom="{:.6g}"/></rdf:RDF></x:xmpmeta>'
)


def light(pixels: NDArray[np.uint8], codes: NDArray[np.uint8], headroom: float) -> NDArray[np.float16]:
    """Returns the light of a picture (height, width, 3) of sRGB's curve with Apple's map, which has any size."""
    height, width = pixels.shape[:2]
    made, at = np.empty(pixels.shape, np.float16), 0
    decoded = SRGB_CURVE.light(np.arange(256) / 255).astype(np.float32)
    for rows in gain_samples.by_rows(
        codes[:, :, :1], (width, height), Move.none(width, height), width, height
    ):
        own = decoded[pixels[at : at + len(rows)]]
        made[at : (at := at + len(rows))] = own * (1 + (headroom - 1) * BT709_CURVE.light(rows / 255))
    return made


def beside(path: str, picture: Picture, codes: NDArray[np.uint8], layer: str | int | None) -> Picture:
    """Returns a picture with a map that a file has beside it, or their light, if that is the layer.

    Raises FileError for light of a picture of another kind, or if nothing says how bright it is.
    """
    metadata, wants_light = picture.metadata, layer == WITH_GAIN_MAP[1]
    try:
        headroom = apple_headroom(metadata.xmp or b"", metadata.exif)
    except (ValueError, KeyError, ArithmeticError, MalformedError):
        if wants_light:
            raise FileError(
                f"{path}: nothing says how bright its gain map makes it; leave out --layer"
            ) from None
        note(f"{path}: is read without its gain map, of which nothing says how bright it is")
        return picture
    colour = picture.colour
    if wants_light:
        if (
            picture.pixels.dtype != np.uint8
            or picture.alpha
            or colour.curves != (SRGB_CURVE,)
            or colour.primaries not in NAMED
        ):
            raise FileError(f"{path}: has a gain map for colours that are not known; leave out --layer")
        own = tidied(of_primaries(NAMED[colour.primaries], LINEAR_CURVE))
        pixels = light(picture.pixels, codes, headroom)
        picture = replace(picture, pixels=pixels, linear=True, metadata=metadata.coloured(own))
    else:
        size = (picture.width, picture.height)
        gain = GainMap(_file(codes, headroom), size, headroom=math.log2(headroom))
        picture = replace(picture, metadata=replace(metadata, gain=gain))
    return replace(picture, layer=WITH_GAIN_MAP[wants_light], layers=WITH_GAIN_MAP)


def _file(codes: NDArray[np.uint8], headroom: float) -> bytes:
    """A map's JPEG file, with what it says of itself."""
    said = _PACKET.format(jpeg_segments.OF_APPLE.decode(), NAME, headroom)
    return coded(codes[:, :, :1], (0xE1, jpeg_segments.XMP + said.encode()))
