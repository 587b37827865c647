"""Pixels as the bytes that a page holds: PNG of their stored levels, deflated floats, small JPEGs to look at.

PNG: W3C Portable Network Graphics (Third Edition). Floats are split into planes of bytes, the most significant first,
each as differences to the pixel at its left, which deflate packs better than the numbers as they lie in memory.
"""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...files import Picture
from ...files.png import COLOUR_TYPE, SIGNATURE, best_filters, filter_rows
from .heat import signal, srgb

Pixels = NDArray[Any]

# PNG's colour type for the numbers of a palette's colours.
_PALETTE_TYPE = 3
# The effort of deflate: more takes much longer and saves a few per cent.
_LEVEL = 6
# The quality of JPEGs that are for looking at alone.
_QUALITY = 85
# What is shown behind transparent pixels, and instead of NaN.
_BEHIND, _NAN = 128, (255, 0, 255)


def png(pixels: Pixels, palette: NDArray[np.uint8] | None = None) -> bytes:
    """Returns a PNG of 8- or 16-bit levels (h, w, c), or of the numbers (h, w, 1) of a palette's colours."""
    height, width, channels = pixels.shape
    kind = COLOUR_TYPE[channels] if palette is None else _PALETTE_TYPE
    header = struct.pack(">IIBBBBB", width, height, 8 * pixels.dtype.itemsize, kind, 0, 0, 0)
    chunks = [(b"IHDR", header)]
    chunks += [(b"PLTE", palette.tobytes())] if palette is not None else []
    (filter_,) = best_filters(pixels, height)
    rows = filter_rows(pixels, 0, height, filter_)
    chunks += [(b"IDAT", zlib.compress(rows.tobytes(), _LEVEL)), (b"IEND", b"")]
    return SIGNATURE + b"".join(_chunk(name, data) for name, data in chunks)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def floats(pixels: Pixels) -> bytes:
    """Returns half or single floats (h, w, c) as a zlib stream of their planes of bytes."""
    height, width, channels = pixels.shape
    size = pixels.dtype.itemsize
    little = np.ascontiguousarray(pixels.astype(pixels.dtype.newbyteorder("<"), copy=False))
    planes = little.view(np.uint8).reshape(height, width, channels, size).transpose(3, 0, 1, 2)[::-1].copy()
    planes[:, :, 1:] -= planes[:, :, :-1].copy()
    return zlib.compress(planes.tobytes(), _LEVEL)


def visible(picture: Picture) -> NDArray[np.uint8]:
    """Returns what a screen shows of a picture: RGB in 8 bits, over grey; light through sRGB's curve, NaN magenta."""
    shown = signal(picture, coded=False)
    colours = shown[..., : picture.channels - picture.alpha]
    lost = np.isnan(colours).any(axis=2)
    colours = np.clip(np.nan_to_num(colours, nan=0), 0, 1)
    if picture.linear:
        colours = srgb(colours)
    if picture.alpha:
        alpha = np.clip(np.nan_to_num(shown[..., -1:], nan=0), 0, 1)
        colours = colours * alpha + (_BEHIND / 255) * (1 - alpha)
    rgb = np.broadcast_to(np.rint(255 * colours).astype(np.uint8), (*lost.shape, 3)).copy()
    rgb[lost] = _NAN
    return rgb


def jpeg(picture: Picture, width: int, height: int) -> tuple[bytes, int, int]:
    """Returns a JPEG to look at, made smaller to fit into the size, and its own width and height."""
    from PIL import Image

    # Every nth pixel is enough for what is made smaller at least twice after it.
    step = max(1, min(picture.width // (4 * width), picture.height // (4 * height)))
    pixels = np.ascontiguousarray(picture.pixels[::step, ::step])
    image = Image.fromarray(visible(Picture(pixels, picture.alpha, picture.linear)))
    image.thumbnail((width, height))
    file = io.BytesIO()
    image.save(file, "JPEG", quality=_QUALITY)
    return file.getvalue(), image.width, image.height
