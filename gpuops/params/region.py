"""Rectangles of images."""

from __future__ import annotations

import math

from ..errors import ParameterError
from ..records import dataclass
from .moves import Frame

# The way to write a region, as messages describe it.
_FORM = "X,Y,W,H with a width and a height, such as 0,0,640,480 or 25%,25%,50%,50%"
# The error in pixels that percentages may have, as binary numbers.
_SLACK = 1e-6


@dataclass(frozen=True)
class Region:
    """A rectangle, in whole pixels from the image's first one, or in percent of its width and height.

    Raises ParameterError where it is empty, or outside every image.
    """

    x: float
    y: float
    width: float
    height: float
    percent: bool = False

    def __post_init__(self) -> None:
        values = (self.x, self.y, self.width, self.height)
        right = all(map(math.isfinite, values)) and min(values) >= 0 and self.width > 0 and self.height > 0
        if self.percent:
            if right and max(self.x + self.width, self.y + self.height) > 100 + _SLACK:
                raise ParameterError(f"the region {self} goes beyond 100 %")
        elif right:
            right = all(float(v).is_integer() for v in values)
        if not right:
            raise ParameterError(f"a region is {_FORM}, not {self}")

    def __str__(self) -> str:
        unit = "%" if self.percent else ""
        return ",".join(f"{v:.12g}{unit}" for v in (self.x, self.y, self.width, self.height))

    def within(self, height: int, width: int) -> tuple[int, int, int, int]:
        """(x, y, width, height) in pixels of an image of this size: all those that the rectangle touches.

        Raises ParameterError where it is not inside the image.
        """
        x, columns = self._span(self.x, self.width, width)
        y, rows = self._span(self.y, self.height, height)
        if x + columns > width or y + rows > height:
            raise ParameterError(f"the region {self} is not inside the image of {width} × {height} pixels")
        return x, y, columns, rows

    def on(self, frame: Frame) -> Region:
        """Returns what a picture in a frame has of the rectangle, counted from its first pixel.

        Raises ParameterError where that is nothing, and where the rectangle is not inside what is displayed.
        """
        x, y, columns, rows = self.within(frame.height, frame.width)
        left, top = max(x, frame.x), max(y, frame.y)
        right, bottom = min(x + columns, frame.x + frame.columns), min(y + rows, frame.y + frame.rows)
        if right <= left or bottom <= top:
            raise ParameterError(f"the region {self} has none of the pixels {frame}")
        return Region(left - frame.x, top - frame.y, right - left, bottom - top)

    def _span(self, start: float, length: float, size: int) -> tuple[int, int]:
        if not self.percent:
            return int(start), int(length)
        scale = size / 100
        first = min(math.floor(start * scale + _SLACK), size - 1)
        last = min(math.ceil((start + length) * scale - _SLACK), size)
        return first, max(last - first, 1)


def region_option(text: str) -> Region:
    """``X,Y,W,H``, or all four with %. Raises ParameterError."""
    parts = [part.strip() for part in text.split(",")]
    percent = all(part.endswith("%") for part in parts)
    try:
        x, y, width, height = (float(part[:-1] if percent else part) for part in parts)
    except ValueError:
        raise ParameterError(f"a region is {_FORM}, not {text!r}") from None
    return Region(x, y, width, height, percent)
