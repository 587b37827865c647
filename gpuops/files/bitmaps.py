"""BMP, GIF and DDS, coded by Pillow.

BMP is written with 24 bits a pixel or 8 of gray, GIF with a palette: exact for pictures of few colours, else one that
Pillow chooses. Of a DDS file the first surface is read; half floats (BC6H) are decoded by OpenImageIO.
"""

from __future__ import annotations

import os
import struct
from typing import Any

import numpy as np

from ..errors import FileError
from ..notes import note
from ..params.storage import Storage
from . import by_pillow
from .depth import spread
from .formats import Format
from .picture import Metadata, Picture, Pixels
from .reading import trouble

#: The most colours of a GIF.
_COLOURS = 256
#: The least alpha of 8 bits that a GIF shows; less is transparent.
_OPAQUE = 128
#: The numbers of DDS's formats (DXGI) of half floats in blocks: unsigned and signed BC6H.
_BC6H = (95, 96)
#: The difference from a whole number of dots per inch within which a resolution is meant to be that.
_ROUNDING = 0.02
#: BMP's compressions of pixels whose samples have masks, and how many masks follow its shortest header.
_MASKED = {3: 3, 6: 4}
#: The bits of a pixel, and its masks, of DDS's formats (DXGI) that Pillow does not read: R16, R10G10B10A2, B8G8R8A8 and
#: B8G8R8X8, plain and of sRGB, B5G6R5, B5G5R5A1 and B4G4R4A4.
_DXGI = {
    56: (16, (0xFFFF,)),
    24: (32, (0x3FF, 0xFFC00, 0x3FF00000, 0xC0000000)),
    **dict.fromkeys((87, 91), (32, (0xFF0000, 0xFF00, 0xFF, 0xFF000000))),
    **dict.fromkeys((88, 93), (32, (0xFF0000, 0xFF00, 0xFF))),
    85: (16, (0xF800, 0x7E0, 0x1F)),
    86: (16, (0x7C00, 0x3E0, 0x1F, 0x8000)),
    115: (16, (0xF00, 0xF0, 0xF, 0xF000)),
}
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
    with open(path, "rb") as file:
        header = file.read(70).ljust(70, b"\0")
    start, size, width, height = struct.unpack_from("<IIii", header, 10)
    bits, compression = struct.unpack_from("<HI", header, 28) if size >= 40 else (0, 0)
    if bits in (16, 32) and compression in _MASKED:
        has_alpha = size >= 56 or _MASKED[compression] == 4
        masks = struct.unpack_from("<4I", header, 54)[: 4 if has_alpha else 3]
        pixels = _masked(path, start, (abs(height), width), -(-width * bits // 32) * 4, bits, masks)
        pixels = pixels if height < 0 else np.ascontiguousarray(pixels[::-1])
    else:
        pixels = by_pillow.read(path, "BMP")
    metadata = Metadata()
    if size >= 40:
        metadata = Metadata(resolution=_resolution(*struct.unpack_from("<ii", header, 38)))
        if (bits, compression) == (32, 0):  # the fourth byte is not said to be alpha, but often is
            from . import oiio

            with oiio.Reader(path) as file_:
                four = file_.read()
            if four.shape[2] == 4 and four[:, :, 3].any():
                pixels = four
    return Picture(pixels, alpha=pixels.shape[2] == 4, metadata=metadata)


def _masked(
    path: str, start: int, size: tuple[int, int], stride: int, bits: int, masks: tuple[int, ...]
) -> Pixels:
    """Samples that are some bits of a pixel's 16 or 32, as masks of red or gray, green, blue and alpha say."""
    masks = (*masks[:3], *filter(None, masks[3:]))
    shifts = [(mask & -mask or 1).bit_length() - 1 for mask in masks]
    largest = [mask >> shift for mask, shift in zip(masks, shifts, strict=True)]
    if 0 in masks or any(most & (most + 1) or most > 65535 for most in largest):
        raise trouble(path, "read", f"bits {', '.join(map(hex, masks))} of a pixel are not supported")
    height, width = size
    if not (height > 0 < width) or os.path.getsize(path) < start + stride * height:
        raise trouble(path, "read", f"{width} x {height} pixels")
    rows = np.fromfile(path, np.uint8, stride * height, offset=start).reshape(height, stride)
    packed = np.ascontiguousarray(rows[:, : width * bits // 8]).view(f"<u{bits // 8}")
    samples = [spread(packed >> shift & most, most) for shift, most in zip(shifts, largest, strict=True)]
    deep = any(one.dtype == np.uint16 for one in samples)
    return np.stack(
        [one * np.uint16(257) if deep and one.dtype == np.uint8 else one for one in samples], axis=2
    )


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
    kind = struct.unpack_from("<I", header, 128)[0] if extended else None
    if kind in _BC6H:
        from . import oiio

        with oiio.Reader(path) as reader:
            pixels = reader.read()
        return Picture(np.ascontiguousarray(pixels[:, :, :3]), linear=True)
    if kind in _DXGI:
        bits, masks = _DXGI[kind]
        height, width = struct.unpack_from("<II", header, 12)
        pixels = _masked(path, len(header), (height, width), width * bits // 8, bits, masks)
    else:
        pixels = by_pillow.read(path, "DDS")
    return Picture(pixels, alpha=pixels.shape[2] in (2, 4))
