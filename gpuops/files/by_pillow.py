"""Pixels of 8 bits decoded by Pillow, for the few kinds of files that OpenImageIO does not give as they are stored."""

from __future__ import annotations

import numpy as np

from ..errors import FileError
from .picture import Pixels


def read(path: str, kind: str) -> Pixels:
    """The samples of a picture, (height, width, channels); ``kind`` is Pillow's name of the format."""
    import PIL.Image

    try:
        with PIL.Image.open(path, formats=(kind,)) as image:
            pixels = np.asarray(image)
    except MemoryError:
        raise
    except Exception as error:  # whatever its decoder meets in a damaged file
        raise FileError(f"{path}: could not be read: the file is cut off or damaged ({error})") from None
    return np.array(pixels if pixels.ndim == 3 else pixels[:, :, None])
