"""Rings around peaks, and axes, in pictures of spectra."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

if TYPE_CHECKING:
    from .peaks import Peak

# The codes of what is drawn: nothing, black and white.
_NONE, _DARK, _LIGHT = 0, 128, 255
# Pixels of a picture's shorter side for each pixel of a letter's height, and the least height.
_SIDE, _LEAST = 45, 9
# The distance of an axis's marks, in cycles per pixel.
_STEP = 0.1


def annotated(
    planes: npt.NDArray[Any], middle: tuple[int, int], found: Sequence[Peak], *, axes: bool
) -> npt.NDArray[Any]:
    """Returns the picture of a spectrum with a numbered ring around each peak and its mirror image, and axes.

    ``planes``: (planes, rows, columns) of 0 … 1, with frequency 0 at ``middle``. What is drawn is white with a black
    outline. The marks of axes are in cycles per pixel.
    """
    _, rows, columns = planes.shape
    ink = Pillow.new("L", (columns, rows), _NONE)
    draw = ImageDraw.Draw(ink)
    draw.fontmode = "1"  # letters without shades
    size = max(min(rows, columns) // _SIDE, _LEAST)
    font = ImageFont.load_default(size)
    if axes:
        _draw_axes(draw, (rows, columns), middle, font, size)
    for number, peak in enumerate(found, 1):
        for sign in (1, -1):
            x, y = (
                (round(sign * f * n) + at) % n
                for f, at, n in zip(peak.frequency, middle[::-1], (columns, rows), strict=True)
            )
            for radius, code in ((size + 1, _DARK), (size - 1, _DARK), (size, _LIGHT)):
                draw.ellipse((x - radius, y - radius, x + radius, y + radius), outline=code)
            if sign == 1:
                _write(draw, (x, y), str(number), font, size, (rows, columns))
    codes = np.asarray(ink)
    result = np.where(codes >= (_DARK + _LIGHT) // 2, np.float32(1), planes)
    return np.where((codes >= _DARK // 2) & (codes < (_DARK + _LIGHT) // 2), np.float32(0), result)


def _draw_axes(
    draw: ImageDraw.ImageDraw, shape: tuple[int, int], middle: tuple[int, int], font: Any, size: int
) -> None:
    """Draws both axes through frequency 0, with marks."""
    rows, columns = shape
    y, x = middle
    for at, code in ((-1, _DARK), (1, _DARK), (0, _LIGHT)):
        draw.line((0, y + at, columns, y + at), code)
        draw.line((x + at, 0, x + at, rows), code)
    mark = size // 2
    # The first mark that has room for its text, on axes of whatever length.
    steps = np.arange(1, 6) * _STEP
    for axis, n in ((0, columns), (1, rows)):
        often = 1 if _STEP * n >= 4 * size else 2 if 2 * _STEP * n >= 4 * size else 4
        for f in (sign * step for step in steps[often - 1 :: often] for sign in (1, -1)):
            place = (x if axis == 0 else y) + round(float(f) * n)
            if not 0 <= place < n:
                continue
            px, py = (place, y) if axis == 0 else (x, place)
            ends = (px, py - mark, px, py + mark) if axis == 0 else (px - mark, py, px + mark, py)
            draw.line(ends, _LIGHT, 1)
            _write(draw, (px, py), f"{f:.1f}", font, mark, shape)


def _write(
    draw: ImageDraw.ImageDraw, at: tuple[int, int], text: str, font: Any, away: int, shape: tuple[int, int]
) -> None:
    """Writes a text to the right of a place and below it, or on the side that has room."""
    _, _, right, bottom = draw.textbbox((0, 0), text, font=font, stroke_width=1)
    x = at[0] + away if at[0] + away + right < shape[1] else at[0] - away - right
    y = at[1] + away if at[1] + away + bottom < shape[0] else at[1] - away - bottom
    draw.text((x, y), text, _LIGHT, font, stroke_width=1, stroke_fill=_DARK)
