"""JPEG and WebP, written by Pillow: OpenImageIO's JPEG codec ends the program on a full disk."""

from __future__ import annotations

from typing import Any

import PIL.Image

from .formats import Format
from .picture import Picture

#: Options of the two formats that trade size for fidelity; these keep what the eye can see. With ``exact``,
#: colour under alpha 0 stays.
OPTIONS: dict[str, dict[str, Any]] = {
    "JPEG": {"quality": 95, "subsampling": "4:4:4"},
    "WebP": {"quality": 90, "method": 4, "exact": True},
}


def dots_per_inch(resolution: tuple[float, float, str]) -> tuple[list[float], list[int]]:
    """A resolution, both exactly and as JPEG holds it."""
    x, y, unit = resolution
    exact = [value * (2.54 if unit == "cm" else 1) for value in (x, y)]
    return exact, [min(max(round(value), 1), 65535) for value in exact]


def write(path: str, picture: Picture, fmt: Format) -> None:
    metadata = picture.metadata
    options = dict(OPTIONS[fmt.name])
    if metadata.icc:
        options["icc_profile"] = metadata.icc
    if metadata.exif:
        options["exif"] = b"Exif\0\0" + metadata.exif
    if metadata.xmp:
        options["xmp"] = metadata.xmp
    if metadata.resolution:
        options["dpi"] = dots_per_inch(metadata.resolution)[1]
    pixels = picture.pixels if picture.channels > 1 else picture.pixels[:, :, 0]
    with open(path, "wb") as file:  # to a file, and not to memory, Pillow writes without Python's lock
        PIL.Image.fromarray(pixels).save(file, fmt.name, **options)
