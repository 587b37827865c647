"""The frames of animations, composed as viewers show them by Pillow, and the numbers of frames, pages and pictures.

Sources: GIF89a; PNG (Third Edition) 4.9 and 11.3.6 (APNG); Google, WebP Container Specification.
"""

from __future__ import annotations

from ..errors import FileError
from . import by_pillow
from .picture import Pixels
from .reading import parsing


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
