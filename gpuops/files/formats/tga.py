"""TGA, coded by OpenImageIO.

Source: Truevision TGA 2.0.
"""

from __future__ import annotations

from .. import colours, oiio
from ..picture import Picture
from ..samples import straight
from .record import Format, LayerId, Storage

#: The type of alpha by which colours are multiplied.
_PREMULTIPLIED = 4
#: The kinds of pictures, and their bits a pixel, or those of a palette's entry.
_KINDS, _BITS = (1, 2, 3, 9, 10, 11), (8, 15, 16, 24, 32)


def _sniff(head: bytes, _path: str) -> bool:
    """Whether bytes make sense as a header, which begins with no sign of its own."""
    if len(head) < 18 or head[1] > 1 or head[2] not in _KINDS or head[16] not in _BITS:
        return False
    has_palette = head[2] in (1, 9)
    return any(head[12:14]) and any(head[14:16]) and (not has_palette or head[7] in _BITS)


def _read(path: str, layer: LayerId) -> Picture:
    with oiio.Reader(path) as file:
        spec, pixels = file.spec(), file.read()
        size = oiio.resolution(spec)
        premultiplied = spec.get_int_attribute("targa:alpha_type") == _PREMULTIPLIED
    if premultiplied and pixels.shape[2] in (2, 4):
        pixels = straight(pixels)
    return colours.picture(path, pixels, None, resolution=size)


def _write(path: str, picture: Picture, storage: Storage) -> None:
    oiio.write(path, picture.pixels, oiio.alpha_attributes(picture.channels))


FORMAT = Format(
    "TGA", (".tga",), ("uint8",), _read, _write, unread=oiio.unread_in, sniff=_sniff, unsigned=True,
    largest=65535,
)  # fmt: skip
