"""BMP, coded by Pillow: 24 bits a pixel are written, or 8 of gray.

Source: Microsoft, BITMAPINFOHEADER and BITMAPV5HEADER.
"""

from __future__ import annotations

import struct

import numpy as np

from .. import colours, oiio, pillow
from ..picture import Picture, Pixels
from ..read_errors import check_size, stored, trouble
from ..samples import spread
from .record import Format, LayerId, Storage

#: The difference from a whole number of dots per inch within which a resolution is meant to be that.
_ROUNDING = 0.02
#: BMP's compressions of pixels whose samples have masks, and how many masks follow its shortest header.
_MASKED = {3: 3, 6: 4}
#: Metres of an inch.
_INCH = 0.0254


def _read(path: str, layer: LayerId) -> Picture:
    with open(path, "rb") as file:
        header = file.read(70).ljust(70, b"\0")
    start, size, width, height = struct.unpack_from("<IIii", header, 10)
    bits, compression = struct.unpack_from("<HI", header, 28) if size >= 40 else (0, 0)
    if bits in (16, 32) and compression in _MASKED:
        has_alpha = size >= 56 or _MASKED[compression] == 4
        masks = struct.unpack_from("<4I", header, 54)[: 4 if has_alpha else 3]
        pixels = masked(path, start, (abs(height), width), -(-width * bits // 32) * 4, bits, masks)
        pixels = pixels if height < 0 else np.ascontiguousarray(pixels[::-1])
    else:
        pixels = pillow.read(path, "BMP")
    resolution = None
    if size >= 40:
        resolution = _resolution(*struct.unpack_from("<ii", header, 38))
        if (bits, compression) == (32, 0):  # the fourth byte is not said to be alpha, but often is
            with oiio.Reader(path) as file_:
                four = file_.read()
            if four.shape[2] == 4 and four[:, :, 3].any():
                pixels = four
    return colours.picture(path, pixels, None, resolution=resolution)


def masked(
    path: str, start: int, size: tuple[int, int], stride: int, bits: int, masks: tuple[int, ...]
) -> Pixels:
    """Samples that are some bits of a pixel's 16 or 32, as masks of red or gray, green, blue and alpha say."""
    masks = (*masks[:3], *filter(None, masks[3:]))
    shifts = [(mask & -mask or 1).bit_length() - 1 for mask in masks]
    largest = [mask >> shift for mask, shift in zip(masks, shifts, strict=True)]
    if 0 in masks or any(most & (most + 1) or most > 65535 for most in largest):
        raise trouble(path, "read", f"bits {', '.join(map(hex, masks))} of a pixel are not supported")
    height, width = size
    check_size(path, width, height)
    rows = stored(path, np.uint8, stride * height, start).reshape(height, stride)
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


def _write(path: str, picture: Picture, storage: Storage) -> None:
    x, y, unit = picture.metadata.resolution or (0.0, 0.0, "in")
    inch = 1 if unit == "in" else 100 * _INCH
    pillow.write(path, "BMP", picture.pixels, dpi=(x * inch, y * inch))


FORMAT = Format(
    "BMP", (".bmp", ".dib"), ("uint8",), _read, _write, unread=pillow.unread_in("BMP"), magic=(b"BM",),
    channels=(1, 3), holds=frozenset({"resolution"}),
)  # fmt: skip
