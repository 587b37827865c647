"""BMP, GIF and DDS, coded by Pillow.

BMP is written with 24 bits a pixel or 8 of gray, GIF with a palette: exact for pictures of few colours, else one that
Pillow chooses. Of a DDS file the first surface is read; half floats (BC6H) are decoded by OpenImageIO.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from ..errors import FileError
from ..notes import note
from ..params.storage import Storage
from . import by_pillow
from .formats import Format
from .picture import Metadata, Picture, Pixels

#: The most colours of a GIF.
_COLOURS = 256
#: The least alpha of 8 bits that a GIF shows; less is transparent.
_OPAQUE = 128
#: The numbers of DDS's formats (DXGI) of half floats in blocks: unsigned and signed BC6H.
_BC6H = (95, 96)
#: The difference from a whole number of dots per inch within which a resolution is meant to be that.
_ROUNDING = 0.02
#: Metres of an inch.
_INCH = 0.0254


def read(path: str, fmt: Format, layer: str | int | None = None) -> Picture:
    if fmt.name == "GIF":
        return _read_gif(path, fmt, layer)
    if layer is not None:
        raise FileError(f"{path}: has no layer {layer!r}; a {fmt} file has one picture")
    return _read_bmp(path) if fmt.name == "BMP" else _read_dds(path)


def write(path: str, picture: Picture, fmt: Format, storage: Storage) -> None:
    (_write_gif if fmt.name == "GIF" else _write_bmp)(path, picture)


# BMP: Microsoft, BITMAPINFOHEADER and BITMAPV5HEADER ------------------------------------------------


def _read_bmp(path: str) -> Picture:
    pixels = by_pillow.read(path, "BMP")
    with open(path, "rb") as file:
        header = file.read(46)
    size = struct.unpack_from("<I", header, 14)[0]
    metadata = Metadata()
    if size >= 40:
        bits, compression = struct.unpack_from("<HI", header, 28)
        metadata = Metadata(resolution=_resolution(*struct.unpack_from("<ii", header, 38)))
        if (bits, compression) == (32, 0):  # the fourth byte is not said to be alpha, but often is
            from . import oiio

            with oiio.Reader(path) as file_:
                four = file_.read()
            if four.shape[2] == 4 and four[:, :, 3].any():
                pixels = four
    return Picture(pixels, alpha=pixels.shape[2] == 4, metadata=metadata)


def _resolution(x: int, y: int) -> tuple[float, float, str] | None:
    """A resolution of pixels per metre; per inch where that is a whole number."""
    if min(x, y) < 1:
        return None
    inch = [value * _INCH for value in (x, y)]
    if all(abs(value - round(value)) < _ROUNDING for value in inch):
        return float(round(inch[0])), float(round(inch[1])), "in"
    return x / 100, y / 100, "cm"


def _write_bmp(path: str, picture: Picture) -> None:
    import PIL.Image

    x, y, unit = picture.metadata.resolution or (0.0, 0.0, "in")
    inch = 1 if unit == "in" else 100 * _INCH
    pixels = picture.pixels if picture.channels > 1 else picture.pixels[:, :, 0]
    with open(path, "wb") as file:
        PIL.Image.fromarray(pixels).save(file, "BMP", dpi=(x * inch, y * inch))


# GIF: GIF89a ----------------------------------------------------------------------------------------


def _read_gif(path: str, fmt: Format, layer: str | int | None) -> Picture:
    from . import frames

    with by_pillow.opened(path, "GIF") as image:
        several = image.n_frames > 1
        if "comment" in image.info:
            note(f"{path}: is read without its comment")
    if several and layer is None:
        note(f"{path}: is read without its animation")
    index = layer or 0
    pixels, count = frames.read(path, fmt, index)
    return Picture(
        pixels,
        alpha=pixels.shape[2] == 4,
        layer=str(index) if several else "",
        layers=tuple(map(str, range(count))) if several else (),
    )


def _write_gif(path: str, picture: Picture) -> None:
    with open(path, "wb") as file:
        image, options = paletted(path, picture.pixels)
        image.save(file, "GIF", optimize=False, **options)


def paletted(path: str, pixels: Pixels) -> tuple[Any, dict[str, Any]]:
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
    found, places = np.unique(packed, return_inverse=True)
    if len(found) <= room:
        codes = places.reshape(packed.shape).astype(np.uint8)
        palette = (found[:, None] >> np.array([16, 8, 0], np.uint32) & 255).astype(np.uint8)
    else:
        note(f"{path}: GIF holds {_COLOURS} colours; its {len(found)} become {room} of them, dithered")
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


# DDS: Microsoft, Programming Guide for DDS ----------------------------------------------------------


def _read_dds(path: str) -> Picture:
    with open(path, "rb") as file:
        header = file.read(148)
    extended = header[84:88] == b"DX10" and len(header) == 148
    if extended and struct.unpack_from("<I", header, 128)[0] in _BC6H:
        from . import oiio

        with oiio.Reader(path) as reader:
            pixels = reader.read()
        return Picture(np.ascontiguousarray(pixels[:, :, :3]), linear=True)
    pixels = by_pillow.read(path, "DDS")
    return Picture(pixels, alpha=pixels.shape[2] in (2, 4))
