"""Pixels of 8 bits decoded by Pillow, for the few kinds of files that OpenImageIO does not give as they are stored."""

from __future__ import annotations

import numpy as np

from .picture import Pixels
from .reading import parsing


def read(path: str, kind: str) -> Pixels:
    """The samples of a picture, (height, width, channels); ``kind`` is Pillow's name of the format."""
    import PIL.Image

    with parsing(path), PIL.Image.open(path, formats=(kind,)) as image:
        pixels = np.asarray(image)
    return np.array(pixels if pixels.ndim == 3 else pixels[:, :, None])
