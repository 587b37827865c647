"""The pixels of a page: maps of differences with their colours and histograms, and pictures as bytes.

These are PNG of their stored levels, deflated floats, and small JPEGs to look at. PNG: W3C Portable Network Graphics
(Third Edition). Floats are split into planes of bytes, the most significant first, each as differences to the pixel at
its left, which deflate packs better than the numbers as they lie in memory.
"""

from __future__ import annotations

import io
import struct
import zlib
from functools import cache, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...files import Picture
from ...files.png import COLOUR_TYPE, SIGNATURE, best_filters, filter_rows
from ..outcome import number

Pixels = NDArray[Any]
Map = NDArray[np.float32]

# The histogram's bars, unless it has one for each level, and the size of the drawing in its own units.
_BARS, _WIDTH, _HEIGHT = 64, 512, 120
# The height of the strip of colours below the bars, and of the numbers below that.
_STRIP, _NUMBERS = 14, 18
# PNG's colour type for the numbers of a palette's colours.
_PALETTE_TYPE = 3
# The effort of deflate: more takes much longer and saves a few per cent.
_LEVEL = 6
# The quality of JPEGs that are for looking at alone.
_QUALITY = 85
# What is shown behind transparent pixels, and instead of NaN.
_BEHIND, _NAN = 128, (255, 0, 255)


@cache
def palette() -> NDArray[np.uint8]:
    """Returns 256 colours from black by violet and orange to white, whose brightness rises evenly.

    It is a "cubehelix", so that it can be read by those who see colours differently, and in grey: D. A. Green,
    "A colour scheme for the display of astronomical intensity images", Bull. Astr. Soc. India 39 (2011), 289,
    with start 0, 0.55 rotations and hue 1.6.
    """
    level = np.linspace(0, 1, 256)
    angle, amplitude = 2 * np.pi * 0.55 * level, 1.6 * level * (1 - level) / 2
    turn = np.array([[-0.14861, 1.78277], [-0.29227, -0.90649], [1.97294, 0]])
    colours = level + amplitude * (turn @ np.stack((np.cos(angle), np.sin(angle))))
    levels: NDArray[np.uint8] = np.rint(255 * np.clip(colours, 0, 1)).astype(np.uint8)
    return levels.T


def signal(picture: Picture, *, coded: bool) -> NDArray[np.float32]:
    """Returns colours as fractions of their range, straight; ``coded``: light of floats gets the curve of sRGB."""
    pixels = picture.pixels
    if pixels.dtype.kind == "u":
        return pixels.astype(np.float32) / np.float32(np.iinfo(pixels.dtype).max)
    values = pixels.astype(np.float32)
    if coded and picture.linear:
        colours = picture.channels - picture.alpha
        values[..., :colours] = srgb(values[..., :colours])
    return values


def srgb(light: NDArray[np.float32]) -> NDArray[np.float32]:
    """Returns the signal of linear light by IEC 61966-2-1, whose straight part also takes what is negative."""
    power = np.float32(1 / 2.4)
    curved = np.float32(1.055) * np.maximum(light, np.float32(0.0031308)) ** power - np.float32(0.055)
    coded: NDArray[np.float32] = np.where(light <= 0.0031308, np.float32(12.92) * light, curved)
    return coded


def largest_difference(result: Picture, reference: Picture) -> Map:
    """Returns the largest absolute difference of a pixel's channels, as a fraction of the range, at most 1.

    A float picture beside one of integers is coded as sRGB first. NaN equals NaN, and differs by 1 from all else.
    Gray equals RGB of three such channels. A picture without alpha is opaque.
    """
    a, b = result.pixels, reference.pixels
    if a.dtype == b.dtype and a.dtype.kind == "u" and a.shape == b.shape:
        levels = _over_channels(np.maximum(a, b) - np.minimum(a, b))
        fractions: Map = levels.astype(np.float32) / np.float32(np.iinfo(a.dtype).max)
        return fractions
    coded = "u" in (result.pixels.dtype.kind, reference.pixels.dtype.kind)
    a, b = (_rgba(picture, coded=coded) for picture in (result, reference))
    with np.errstate(invalid="ignore"):
        apart = np.abs(a - b)
    # Equal infinities have no difference, and neither do two NaN; what then has none is NaN beside a number.
    apart[(a == b) | (np.isnan(a) & np.isnan(b))] = 0
    apart[np.isnan(apart)] = 1
    return np.minimum(_over_channels(apart), np.float32(1))


def _over_channels(values: Pixels) -> Pixels:
    """Returns the largest value of each pixel; over whole planes, since numpy is slow along an axis of three."""
    return reduce(np.maximum, np.moveaxis(values, 2, 0))


def _rgba(picture: Picture, *, coded: bool) -> NDArray[np.float32]:
    values = signal(picture, coded=coded)
    colours = picture.channels - picture.alpha
    full = np.ones((*values.shape[:2], 4), np.float32)
    full[..., :3] = values[..., :colours]
    if picture.alpha:
        full[..., 3] = values[..., -1]
    return full


def clean(heat: Map) -> Map:
    """Returns the map with values within 0 … 1; NaN counts as 1."""
    return np.clip(np.nan_to_num(np.asarray(heat, np.float32), nan=1), 0, 1)


def worst_tile(heat: Map, size: int = 64) -> tuple[int, int]:
    """Returns the centre (x, y) of the tile whose mean is the largest."""
    height, width = heat.shape
    rows, columns = np.arange(0, height, size), np.arange(0, width, size)
    sums = np.add.reduceat(np.add.reduceat(heat, rows, axis=0, dtype=np.float64), columns, axis=1)
    areas = np.outer(np.diff(rows, append=height), np.diff(columns, append=width))
    row, column = np.unravel_index(np.argmax(sums / areas), sums.shape)
    return (int(min(column * size + size // 2, width - 1)), int(min(row * size + size // 2, height - 1)))


def histogram(heat: Map, top: float) -> list[int]:
    """Returns the numbers of pixels in equal steps of differences from 0 to ``top``; those that are 0 are left out.

    Differences of 8-bit levels have a step for each level: others would hold now one of them and now two.
    """
    errors = heat[heat > 0].astype(np.float64)
    levels = errors * 255
    if errors.size and np.abs(levels - np.rint(levels)).max() < 1e-3:
        return [int(count) for count in np.bincount(np.rint(levels).astype(int))[1:]]
    return [int(count) for count in np.histogram(errors, bins=_BARS, range=(0, top))[0]]


def drawing(counts: list[int], top: float, mark: float | None, label: str) -> str:
    """Returns an SVG drawing, all of attributes: the histogram, its bars as the logarithms of their numbers of pixels,
    above the colours of the map, the numbers of both ends, and a mark at the threshold.
    """
    step, base = _WIDTH / len(counts), _HEIGHT
    gap = 1 if step > 4 else 0
    most = np.log1p(max(*counts, 1))
    heights = [100 * np.log1p(count) / most for count in counts]
    bars = "".join(
        f'<rect x="{k * step:.1f}" y="{base - height:.1f}" width="{step - gap:.1f}" height="{height:.1f}"/>'
        for k, height in enumerate(heights)
        if height
    )
    width = _WIDTH / _BARS
    strip = "".join(
        f'<rect x="{k * width:.1f}" y="{base + 2}" width="{width + 0.5:.1f}" height="{_STRIP}" '
        f'fill="#{colour.tobytes().hex()}"/>'
        for k, colour in enumerate(palette()[:: 256 // _BARS])
    )
    height = base + 2 + _STRIP + _NUMBERS
    y, end = height - 4, number(top)
    numbers = f'<text x="0" y="{y}">0</text><text x="{_WIDTH}" y="{y}" text-anchor="end">{end}</text>'
    return (
        f'<svg class="histogram" viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{label}">'
        f'<g class="bars">{bars}</g><g>{strip}</g>{_mark(mark, top)}{numbers}</svg>'
    )


def _mark(mark: float | None, top: float) -> str:
    if mark is None or not np.isfinite(mark):
        return ""
    x = _WIDTH * min(max(mark / top, 0), 1)
    anchor, shift = ("end", -5) if x > _WIDTH / 2 else ("start", 5)
    beyond = " (beyond)" if mark > top else ""
    return (
        f'<path class="mark" d="M{x:.1f} 0V{_HEIGHT + 2 + _STRIP}"/>'
        f'<text class="mark" x="{x + shift:.1f}" y="11" text-anchor="{anchor}">threshold {number(mark)}{beyond}</text>'
    )


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
