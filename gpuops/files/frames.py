"""The frames of animations, composed as viewers show them by Pillow, of videos, and the pages of other formats.

Sources: GIF89a; PNG (Third Edition) 4.9 and 11.3.6 (APNG); Google, WebP Container Specification.
"""

from __future__ import annotations

import os

from ..errors import FileError
from . import by_pillow
from .picture import Pixels
from .reading import parsing, reading
from .streams import with_text_name


def count(path: str | os.PathLike[str]) -> int:
    """The number of frames or pages of a file; 1 of one that holds a single picture."""
    from .pictures import format_in

    name = os.fspath(path)
    fmt = format_in(name)
    with reading(name), with_text_name(name) as text:
        if fmt.count:
            return fmt.count(text)
        return by_pillow.count(text, fmt.pillow) if fmt.pillow else 1


def layer_of(path: str | os.PathLike[str], frame: int, count: int) -> str | None:
    """The layer by which a frame of ``count`` is read; None in a file that holds a single picture."""
    from .pictures import format_in

    return str(frame) if count > 1 or format_in(path).moving else None


def read(path: str, kind: str, layer: str | int) -> tuple[Pixels, int]:
    """The pixels of a frame as a viewer shows it, (height, width, channels) of 8 bits, and the number of frames.

    ``kind`` is Pillow's name of the format.
    """
    with by_pillow.opened(path, kind) as image:
        frames = int(getattr(image, "n_frames", 1))
        index = chosen(path, layer, frames)
        with parsing(path):
            image.seek(index)
            image.load()
        return by_pillow.samples(image), frames


def chosen(path: str, layer: str | int, count: int, several: str = "frames", one: str = "picture") -> int:
    """The number that ``layer`` says, if a file of ``count`` frames, or other things called ``several``, has it."""
    if not str(layer).isdecimal() or int(layer) >= count:
        have = f"{several} 0 to {count - 1}" if count > 1 else f"one {one}, number 0"
        what = f"{several[:-1]} {layer}" if str(layer).isdecimal() else f"layer {layer!r}"
        raise FileError(f"{path}: has no {what}; it has {have}")
    return int(layer)
