"""JPEG and WebP, written by Pillow (through imageio): OpenImageIO's JPEG codec ends the program on a full disk."""

from __future__ import annotations

import io
from typing import Any

import imageio.v3 as iio

from .formats import Format
from .picture import Picture

#: Both trade size for fidelity; these keep what the eye can see. exact: colour under alpha 0 stays.
_OPTIONS: dict[str, dict[str, Any]] = {
    "JPEG": {"quality": 95, "subsampling": "4:4:4"},
    "WebP": {"quality": 90, "method": 4, "exact": True},
}


def write(path: str, picture: Picture, fmt: Format) -> None:
    metadata = picture.metadata
    options = dict(_OPTIONS[fmt.name])
    if metadata.icc:
        options["icc_profile"] = metadata.icc
    if metadata.exif:
        options["exif"] = b"Exif\0\0" + metadata.exif
    if metadata.xmp:
        options["xmp"] = metadata.xmp
    if metadata.resolution:
        x, y, unit = metadata.resolution
        per_inch = 2.54 if unit == "cm" else 1.0
        options["dpi"] = (x * per_inch, y * per_inch)
    pixels = picture.pixels if picture.channels > 1 else picture.pixels[:, :, 0]
    encoded = io.BytesIO()
    iio.imwrite(encoded, pixels, plugin="pillow", extension=fmt.extension, **options)
    with open(path, "wb") as file:
        file.write(encoded.getbuffer())
