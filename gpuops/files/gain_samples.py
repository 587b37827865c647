"""Values of a gain map at the places of a picture's pixels, whatever the sizes of both."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..params.moves import Move

Values = NDArray[np.floating[Any]]
Codes = NDArray[np.unsignedinteger[Any]]

# What positions may be off by, in pixels.
_SLACK = 1e-6


def moved(codes: Codes, size: tuple[int, int], move: Move) -> Values:
    """Returns a map (height, width, channels) of a picture of a size for the moved picture.

    It has as many pixels for what is shown as before, but no more than the picture; between the middles of pixels it is
    linear, and beyond the edge as there.
    """
    back = move.back(*size)
    (height, width), (across, down) = codes.shape[:2], size
    density = [
        math.hypot(x * width / across, y * height / down) for x, y in ((back.a, back.c), (back.b, back.d))
    ]
    columns = min(max(round(move.width * density[0]), 1), move.width)
    rows = min(max(round(move.height * density[1]), 1), move.height)
    return np.concatenate([*by_rows(codes, size, move, columns, rows)])


def by_rows(codes: Codes, size: tuple[int, int], move: Move, columns: int, rows: int) -> Iterator[Values]:
    """Gives the rows of the map for the moved picture, some at a time; values are means of what they cover."""
    back = move.back(*size)
    (height, width), (across, down) = codes.shape[:2], size
    steps = (move.width / columns, move.height / rows)
    scales = (width / across, height / down)
    factors = [back.a * steps[0] * scales[0], back.b * steps[1] * scales[0]]
    factors += [back.c * steps[0] * scales[1], back.d * steps[1] * scales[1]]
    x_count, y_count = (max(1, math.ceil(math.hypot(factors[k], factors[k + 2]) - _SLACK)) for k in (0, 1))
    x = (np.arange(columns * x_count) + 0.5) / x_count
    together = max(1, (1 << 20) // len(x) // y_count)
    for first in range(0, rows, together):
        count = min(together, rows - first)
        y = first + ((np.arange(count * y_count) + 0.5) / y_count)[:, None]
        places = (
            factors[0] * x + factors[1] * y + back.left * scales[0] - 0.5,
            factors[2] * x + factors[3] * y + back.top * scales[1] - 0.5,
        )
        values = _between(codes, *places)
        yield values.reshape(count, y_count, columns, x_count, -1).mean(axis=(1, 3))


def _between(codes: Codes, x: Values, y: Values) -> Values:
    """The values at places, (rows, columns, channels): linear between middles of pixels, which are whole numbers."""
    height, width = codes.shape[:2]
    x, y = np.clip(x, 0, width - 1), np.clip(y, 0, height - 1)
    left, top = x.astype(np.intp), y.astype(np.intp)
    right, bottom = np.minimum(left + 1, width - 1), np.minimum(top + 1, height - 1)
    u, v = (x - left)[..., None], (y - top)[..., None]
    upper = codes[top, left] * (1 - u) + codes[top, right] * u
    lower = codes[bottom, left] * (1 - u) + codes[bottom, right] * u
    values: Values = upper * (1 - v) + lower * v
    return values
