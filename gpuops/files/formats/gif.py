"""GIF, coded by Pillow: a palette is exact for pictures of few colours, else one that Pillow chooses.

Source: GIF89a.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from ...notes import note
from ...pixels.colour import SRGB
from .. import pillow
from ..picture import Picture, Pixels
from ..samples import coloured
from .record import Animation, Format, LayerId, Storage

#: The most colours of a GIF.
_COLOURS = 256
#: The least alpha of 8 bits that a GIF shows; less is transparent.
_OPAQUE = 128
#: How a frame is cleared before the next: to the background, which is transparent.
_CLEARED = 2


def _read(path: str, layer: LayerId) -> Picture:
    with pillow.opened(path, "GIF") as image:
        several = image.n_frames > 1
        if "comment" in image.info:
            note(f"{path}: is read without its comment")
    if several and layer is None:
        note(f"{path}: is read without its animation")
    index = layer or 0
    pixels, count = pillow.frame(path, "GIF", index)
    pixels = _on_screen(path, pixels)
    return Picture(pixels, alpha=pixels.shape[2] == 4).numbered(index, count)


def _write(path: str, picture: Picture, storage: Storage) -> None:
    with open(path, "wb") as file:
        image, options = _paletted(path, picture.pixels)
        image.save(file, "GIF", optimize=False, **options)


def _paletted(path: str, pixels: Pixels) -> tuple[Any, dict[str, Any]]:
    """Pillow's image with a palette for pixels (height, width, 3 or 4), and the options to save it with.

    The palette holds all colours if there are few enough, else those that median cut chooses, with dithering.
    """
    import PIL.Image

    colour = np.ascontiguousarray(pixels[:, :, :3])
    hidden = pixels[:, :, 3] < _OPAQUE if pixels.shape[2] == 4 else np.zeros(colour.shape[:2], bool)
    if pixels.shape[2] == 4 and np.any((pixels[:, :, 3] != 0) & (pixels[:, :, 3] != 255)):
        note(f"{path}: GIF has no partial alpha; half and more becomes full, less becomes none")
    room = _COLOURS - bool(hidden.any())
    packed = colour.astype(np.uint32) @ np.array([1 << 16, 1 << 8, 1], np.uint32)
    packed[hidden] = packed[~hidden][0] if not hidden.all() else 0  # what is not seen needs no colour
    distinct, places = np.unique(packed, return_inverse=True)
    if len(distinct) <= room:
        codes = places.reshape(packed.shape).astype(np.uint8)
        palette = (distinct[:, None] >> np.array([16, 8, 0], np.uint32) & 255).astype(np.uint8)
    else:
        note(f"{path}: GIF holds {_COLOURS} colours; its {len(distinct)} become {room} of them, dithered")
        chosen = PIL.Image.fromarray(colour).quantize(room, dither=PIL.Image.Dither.FLOYDSTEINBERG)
        codes = np.array(chosen)
        palette = np.array(chosen.getpalette("RGB"), np.uint8).reshape(-1, 3)
    options: dict[str, Any] = {}
    if hidden.any():
        codes[hidden] = len(palette)
        palette = np.concatenate((palette, np.zeros((1, 3), np.uint8)))
        options["transparency"] = len(palette) - 1
    image = PIL.Image.fromarray(codes)
    image.putpalette(palette.tobytes())
    return image, options


def _on_screen(path: str, pixels: Pixels) -> Pixels:
    """Pixels on the logical screen, whose width and height are in the header (sections 18 and 20)."""
    with open(path, "rb") as file:
        width, height = struct.unpack_from("<HH", file.read(10), 6)
    shown = pixels[: height or None, : width or None]
    if shown.shape != pixels.shape:
        note(f"{path}: has a frame beyond its screen of {width} x {height} pixels; that part is left out")
    return np.ascontiguousarray(shown)


def _animated(path: str, first: Picture, loop: int | None, storage: Storage) -> dict[str, Any]:
    if first.colour != SRGB:
        note(f"{path}: GIF cannot say that its values are not sRGB; they are taken for that")
    return {"disposal": _CLEARED} | ({} if loop is None else {"loop": loop})


def _image(path: str, picture: Picture) -> Any:
    image, options = _paletted(path, coloured(picture.pixels))
    image.info.update(options)
    return image


FORMAT = Format(
    "GIF", (".gif",), ("uint8",), _read, _write, unread=pillow.unread_in("GIF"),
    magic=(b"GIF87a", b"GIF89a"), channels=(3, 4), largest=65535, lossy=True, layered=True, pillow="GIF",
    animation=Animation((".gif",), _animated, _image),
)  # fmt: skip
