"""JPEG and WebP, written by Pillow: OpenImageIO's JPEG codec ends the program on a full disk."""

from __future__ import annotations

from typing import Any

import PIL.Image

from ..params.storage import Storage
from . import by_pillow
from .formats import Format
from .picture import Picture

#: libwebp's method and quality of each level of lossless WebP, as its WebPConfigLosslessPreset has them.
_LOSSLESS = ((0, 0), (1, 20), (2, 25), (3, 30), (3, 50), (4, 50), (4, 75), (4, 90), (5, 90), (6, 100))
#: The method of lossy WebP: how long its encoder looks for a smaller file, 0 … 6.
_METHOD = 4


def dots_per_inch(resolution: tuple[float, float, str]) -> tuple[list[float], list[int]]:
    """A resolution, both exactly and as JPEG holds it."""
    x, y, unit = resolution
    exact = [value * (2.54 if unit == "cm" else 1) for value in (x, y)]
    return exact, [min(max(round(value), 1), 65535) for value in exact]


def options(fmt: Format, storage: Storage) -> dict[str, Any]:
    """Pillow's options. Without a chosen storage, what the eye can see is kept."""
    if fmt.name == "JPEG":
        return {"quality": storage.quality_of(fmt.name), "subsampling": storage.subsampling or "4:4:4"}
    method = storage.method(fmt.name)
    assert method is not None
    # exact: colour under alpha 0 stays
    if method.name == "lossless":
        effort, quality = _LOSSLESS[method.level]
        return {"lossless": True, "quality": quality, "method": effort, "exact": True}
    return {"quality": storage.quality_of(fmt.name), "method": _METHOD, "exact": True}


def write(path: str, picture: Picture, fmt: Format, storage: Storage) -> None:
    metadata = picture.metadata
    found = options(fmt, storage)
    found |= by_pillow.kept(metadata)
    if metadata.resolution:
        found["dpi"] = dots_per_inch(metadata.resolution)[1]
    pixels = picture.pixels if picture.channels > 1 else picture.pixels[:, :, 0]
    with open(path, "wb") as file:  # to a file, and not to memory, Pillow writes without Python's lock
        PIL.Image.fromarray(pixels).save(file, fmt.name, **found)
