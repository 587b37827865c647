"""Moves: where pixels of an input are in the result; and frames: where a picture's pixels are in what is displayed.

Positions are in pixels, and edges of pixels are whole numbers: pixel (i, j) covers i … i + 1 from the left and
j … j + 1 from the top.
"""

from __future__ import annotations

from math import ceil, floor
from typing import NamedTuple

# The error in pixels that positions may have, as binary numbers.
_SLACK = 1e-6
#: EXIF's orientations as matrices: the turns that they ask for.
_TURNS = {
    1: (1, 0, 0, 1), 2: (-1, 0, 0, 1), 3: (-1, 0, 0, -1), 4: (1, 0, 0, -1),
    5: (0, 1, 1, 0), 6: (0, -1, 1, 0), 7: (0, -1, -1, 0), 8: (0, 1, -1, 0),
}  # fmt: skip


class Move(NamedTuple):
    """What is at (x, y) in the display window comes to (a·x + b·y + left, c·x + d·y + top) in that of the result.

    ``width`` and ``height`` are those of the result's display window.
    """

    a: float
    b: float
    c: float
    d: float
    left: float
    top: float
    width: int
    height: int

    @classmethod
    def none(cls, width: int, height: int) -> Move:
        """Returns the move by which everything stays."""
        return cls(1, 0, 0, 1, 0, 0, width, height)

    @classmethod
    def turn(cls, orientation: int, width: int, height: int) -> Move:
        """Returns the turn that an orientation of EXIF asks for, of a window of this size."""
        a, b, c, d = _TURNS[orientation]
        across, down = (width, height) if b == 0 else (height, width)
        return cls(a, b, c, d, across * (a + b < 0), down * (c + d < 0), across, down)

    @property
    def matrix(self) -> tuple[float, float, float, float]:
        """The four factors by rows."""
        return self[:4]

    @property
    def transposes(self) -> bool:
        """Whether rows become columns."""
        return self.a == 0 == self.d

    def __call__(self, x: float, y: float) -> tuple[float, float]:
        """Returns where a point comes to."""
        return self.a * x + self.b * y + self.left, self.c * x + self.d * y + self.top

    def then(self, other: Move) -> Move:
        """Returns both moves as one, this one first."""
        a, b, c, d = other.matrix
        return Move(
            a * self.a + b * self.c, a * self.b + b * self.d, c * self.a + d * self.c, c * self.b + d * self.d,
            *other(self.left, self.top), other.width, other.height,
        )  # fmt: skip

    def back(self, width: int, height: int) -> Move:
        """Returns the move by which everything comes to its place in the input, of this size, again."""
        area = self.a * self.d - self.b * self.c
        a, b, c, d = self.d / area, -self.b / area, -self.c / area, self.a / area
        left, top = a * self.left + b * self.top, c * self.left + d * self.top
        return Move(a, b, c, d, -left, -top, width, height)

    def box(self, x: float, y: float, width: float, height: float) -> tuple[int, int, int, int]:
        """Returns the smallest box of whole pixels (x, y, width, height) that holds what comes of a box."""
        corners = [self(x + across, y + down) for across in (0, width) for down in (0, height)]
        xs, ys = zip(*corners, strict=True)
        left, top = floor(min(xs) + _SLACK), floor(min(ys) + _SLACK)
        return left, top, max(1, ceil(max(xs) - _SLACK) - left), max(1, ceil(max(ys) - _SLACK) - top)


class Shrunk(NamedTuple):
    """How a decoder has made a picture smaller: of ``by`` × ``by`` pixels one. The size is that of the file's picture.

    Where they are no multiples, the last pixels reach beyond the picture's edge.
    """

    by: int
    width: int
    height: int

    @property
    def move(self) -> Move:
        """Where pixels of the file's picture are in the smaller one."""
        return Move(
            1 / self.by, 0, 0, 1 / self.by, 0, 0, -(-self.width // self.by), -(-self.height // self.by)
        )


class Frame(NamedTuple):
    """Where a picture's pixels, its data window, are in the display window, which is the picture that is meant.

    Attributes
    ----------
    x, y : int
        The first pixel, seen from the display window.
    columns, rows : int
        How many pixels there are.
    width, height : int
        The size of the display window.
    left, top : int
        Its first pixel in the file's own coordinates.
    """

    x: int
    y: int
    columns: int
    rows: int
    width: int
    height: int
    left: int = 0
    top: int = 0

    @classmethod
    def of(cls, height: int, width: int) -> Frame:
        """Returns the frame of a picture that has all pixels, and no more."""
        return cls(0, 0, width, height, width, height)

    @property
    def usual(self) -> bool:
        """Whether there is nothing to say but the size."""
        return self == Frame.of(self.height, self.width)

    @property
    def data(self) -> tuple[int, int, int, int]:
        """The data window, seen from the display window: x, y, columns, rows."""
        return self[:4]

    @property
    def shown(self) -> Frame:
        """The frame of the display window's pixels, all of them."""
        return self._replace(x=0, y=0, columns=self.width, rows=self.height)

    @property
    def window(self) -> tuple[int, int, int, int, int, int]:
        """Both windows as files state them: x and y of the pixels; x, y, width and height of the display window."""
        return self.x + self.left, self.y + self.top, self.left, self.top, self.width, self.height

    def __str__(self) -> str:
        x, y, left, top, width, height = self.window
        return f"at {x},{y} of the window {width}×{height}" + (f" at {left},{top}" if left or top else "")

    def union(self, other: Frame) -> Frame:
        """Returns the same display window with a data window that holds both."""
        return self._around(other.x, other.y, other.x + other.columns, other.y + other.rows)

    def _around(self, left: int, top: int, right: int, bottom: int) -> Frame:
        x, y = min(self.x, left), min(self.y, top)
        columns, rows = max(self.x + self.columns, right) - x, max(self.y + self.rows, bottom) - y
        return self._replace(x=x, y=y, columns=columns, rows=rows)

    def moved(self, move: Move) -> Frame:
        """Returns the frame of the moved picture.

        A picture that has all its pixels has all of them then. Where the display window is cut, so is the data window;
        if nothing is left of it, a pixel stays that is outside.
        """
        width, height = move.width, move.height
        x, y, right, bottom = _edges(move.box(0, 0, self.width, self.height))
        cut = x < 0 or y < 0 or right > width or bottom > height
        left, top = (0, 0) if cut else (self.left, self.top)
        if self.data == (0, 0, self.width, self.height):
            return Frame(0, 0, width, height, width, height, left, top)
        x, y, right, bottom = _edges(move.box(*self.data))
        if cut:
            x, right = _cut(x, right, width)
            y, bottom = _cut(y, bottom, height)
        return Frame(x, y, right - x, bottom - y, width, height, left, top)


def _edges(box: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    x, y, width, height = box
    return x, y, x + width, y + height


def _cut(first: int, end: int, length: int) -> tuple[int, int]:
    """Returns the part of an interval that is inside a length; without one, the pixel that is nearest to it."""
    if first >= length:
        return first, first + 1
    if end <= 0:
        return end - 1, end
    return max(first, 0), min(end, length)
