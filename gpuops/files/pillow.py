"""Pixels of 8 bits decoded by Pillow, for the kinds of files that OpenImageIO does not give as they are stored.

Frames of animations are composed as viewers show them.
Sources: GIF89a; PNG (Third Edition) 4.9 and 11.3.6 (APNG); Google, WebP Container Specification.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from typing import Any

import numpy as np

from ..errors import FileError
from . import colours
from .picture import Metadata, Picture, Pixels, unread
from .read_errors import check_plausible, chosen, parsing
from .samples import coloured

#: A picture of this many pixels or more has to have a file of a plausible size.
LARGE = 1 << 28
#: The most pixels that a byte of a file can hold, but for codecs that predict whole pictures; those of PNG have 1 bit.
_DENSEST, _DENSEST_PNG = 2000, 8 * 1032
#: Bytes of a pixel in Pillow's modes that have other than one for each band: palettes become RGB, or RGBA.
_BANDS = {"P": 3, "PA": 4, "I": 4, "F": 4}


def kept(metadata: Metadata) -> dict[str, Any]:
    """The options by which Pillow and pillow-heif write a profile, EXIF and XMP."""
    exif = b"Exif\0\0" + metadata.exif if metadata.exif else None
    options = {"icc_profile": metadata.icc, "exif": exif, "xmp": metadata.xmp}
    return {name: value for name, value in options.items() if value}


def read(path: str, kind: str) -> Pixels:
    """The samples of a picture, (height, width, channels); ``kind`` is Pillow's name of the format."""
    with opened(path, kind) as image:
        return samples(image)


@contextmanager
def opened(path: str, kind: str | None = None, data: bytes | None = None) -> Iterator[Any]:
    """Gives Pillow's image of a file, of one kind or of any; whatever its decoder finds wrong becomes a FileError.

    ``data``: bytes to read in place of the file's.
    """
    import PIL.Image

    PIL.Image.MAX_IMAGE_PIXELS = None  # large pictures are no attack where the file is large, too
    with (
        parsing(path),
        PIL.Image.open(path if data is None else BytesIO(data), formats=(kind,) if kind else None) as image,
    ):
        claimed = image.width * image.height
        if kind != "AVIF" and claimed > LARGE:
            densest = _DENSEST_PNG if kind == "PNG" else _DENSEST
            check_plausible(path, image.width, image.height, claimed / densest)
        yield image


def samples(image: Any) -> Pixels:
    """The samples of Pillow's image, (height, width, channels) of 8 bits; palettes become RGB, or RGB with alpha."""
    if image.mode in ("P", "PA"):
        image = image.convert("RGBA" if image.has_transparency_data else "RGB")
    elif image.mode == "1":
        image = image.convert("L")
    pixels = np.asarray(image)
    return np.array(pixels if pixels.ndim == 3 else pixels[:, :, None])


def frame(path: str, kind: str, layer: str | int) -> tuple[Pixels, int]:
    """The pixels of a frame as a viewer shows it, (height, width, channels) of 8 bits, and the number of frames.

    ``kind`` is Pillow's name of the format.
    """
    with opened(path, kind) as image:
        frames = int(getattr(image, "n_frames", 1))
        index = chosen(path, layer, frames)
        with parsing(path):
            image.seek(index)
            image.load()
        return samples(image), frames


def count(path: str, kind: str | None) -> int:
    """The number of frames in a file."""
    with opened(path, kind) as image:
        return int(getattr(image, "n_frames", 1))


def unread_in(kind: str | None) -> Callable[[str], Pixels]:
    """Returns what gives an array that stands for the pixels of a file; ``kind`` is Pillow's name of the format."""

    def pixels(path: str) -> Pixels:
        with suppress(FileError), opened(path, kind) as image:
            deep = image.mode.startswith("I;16")
            channels = _BANDS.get(image.mode, len(image.getbands()))
            if image.mode == "P" and (image.has_transparency_data or getattr(image, "is_animated", False)):
                channels = 4
            return unread((image.height, image.width, channels), np.uint16 if deep else np.uint8)
        return unread((1, os.path.getsize(path), 2))  # of uncompressed kinds that Pillow does not know

    return pixels


def animated(first: Picture, loop: int | None) -> dict[str, Any]:
    """The options by which an animation is repeated, and its first picture's colours are said."""
    profile = first.metadata.icc or colours.profile_for(first.colour, first.pixels.dtype, gray=False)
    return {"loop": 1 if loop is None else loop} | ({"icc_profile": profile} if profile else {})


def image(_path: str, picture: Picture) -> Any:
    """Pillow's image of a picture of 8 bits; gray becomes RGB."""
    import PIL.Image

    return PIL.Image.fromarray(coloured(picture.pixels))


def write(path: str, kind: str, pixels: Pixels, **options: Any) -> None:
    """Writes samples of 8 bits; to a file, and not to memory, Pillow writes without Python's lock."""
    import PIL.Image

    with open(path, "wb") as file:
        PIL.Image.fromarray(pixels if pixels.shape[2] > 1 else pixels[:, :, 0]).save(file, kind, **options)
