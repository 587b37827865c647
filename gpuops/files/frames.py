"""The frames of animations, composed as viewers show them by Pillow, of videos, and the pages of TIFF.

Sources: GIF89a; PNG (Third Edition) 4.9 and 11.3.6 (APNG); Google, WebP Container Specification.
"""

from __future__ import annotations

import os
import struct
from typing import TYPE_CHECKING

import numpy as np

from ..errors import FileError
from ..notes import note
from . import by_pillow
from .formats import VIDEO, Format
from .picture import Pixels
from .reading import parsing, reading
from .streams import with_text_name

if TYPE_CHECKING:
    from .containers import Extras

#: Pillow's names of the formats that may be animations.
KINDS = {"GIF": "GIF", "PNG": "PNG", "WebP": "WEBP", "AVIF": "AVIF"}
#: The place of the bits of a sample in a PNG file.
_PNG_BITS = 24


def count(path: str | os.PathLike[str]) -> int:
    """The number of frames or pages of a file; 1 of one that holds a single picture."""
    from .pictures import format_in

    name = os.fspath(path)
    fmt = format_in(name)
    with reading(name), with_text_name(name) as text:
        if fmt.name == "TIFF":
            from . import oiio

            with oiio.Reader(text) as file:
                return file.count()
        if fmt is VIDEO:
            from . import video_frames

            return video_frames.count(text)
        if fmt.needs == "imageio":
            from . import by_imageio

            return by_imageio.count(text, fmt)
        if fmt.name not in KINDS:
            return 1
        with by_pillow.opened(text, KINDS[fmt.name]) as image:
            return int(getattr(image, "n_frames", 1))


def layer_of(path: str | os.PathLike[str], frame: int, count: int) -> str | None:
    """The layer by which a frame of ``count`` is read; None in a file that holds a single picture."""
    from .pictures import format_in

    return str(frame) if count > 1 or format_in(path) is VIDEO else None


def is_animated(fmt: Format, extras: Extras) -> bool:
    """Whether a PNG or WebP file says that it is an animation."""
    return fmt.name in KINDS and "animation" in extras.unused


def read(path: str, fmt: Format, layer: str | int) -> tuple[Pixels, int]:
    """The pixels of a frame as a viewer shows it, (height, width, channels) of 8 bits, and the number of frames."""
    if fmt.name == "PNG":
        with open(path, "rb") as file:
            if file.read(_PNG_BITS + 1)[_PNG_BITS:] == b"\x10":
                raise FileError(
                    f"{path}: is an animation of 16 bits, of which only the first picture is read"
                )
    with by_pillow.opened(path, KINDS[fmt.name]) as image:
        frames = int(getattr(image, "n_frames", 1))
        index = chosen(path, layer, frames)
        with parsing(path):
            image.seek(index)
            image.load()
        pixels = by_pillow.samples(image)
    return (_on_screen(path, pixels) if fmt.name == "GIF" else pixels), frames


def _on_screen(path: str, pixels: Pixels) -> Pixels:
    """A GIF's pixels on its logical screen, whose width and height are in its header (GIF89a, sections 18 and 20)."""
    with open(path, "rb") as file:
        width, height = struct.unpack_from("<HH", file.read(10), 6)
    shown = pixels[: height or None, : width or None]
    if shown.shape != pixels.shape:
        note(f"{path}: has a frame beyond its screen of {width} x {height} pixels; that part is left out")
    return np.ascontiguousarray(shown)


def chosen(path: str, layer: str | int, count: int, several: str = "frames", one: str = "picture") -> int:
    """The number that ``layer`` says, if a file of ``count`` frames, or other things called ``several``, has it."""
    if not str(layer).isdecimal() or int(layer) >= count:
        have = f"{several} 0 to {count - 1}" if count > 1 else f"one {one}, number 0"
        what = f"{several[:-1]} {layer}" if str(layer).isdecimal() else f"layer {layer!r}"
        raise FileError(f"{path}: has no {what}; it has {have}")
    return int(layer)
