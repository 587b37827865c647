"""The part of a picture whose values come into a chain's result."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..passes import Pass, Turn
from .blocks import Shape
from .schedule import RowSchedule


class Footprint(NamedTuple):
    """Rows and columns of a picture, each (first, end)."""

    rows: tuple[int, int]
    columns: tuple[int, int]

    def of(self, pixels: np.ndarray[Any, Any], first: int = 0) -> np.ndarray[Any, Any]:
        """Returns those of a picture's pixels (height, width, channels), or of its rows from ``first`` on."""
        start, stop = (max(row - first, 0) for row in self.rows)
        return pixels[start:stop, slice(*self.columns)]


def footprint(schedule: RowSchedule) -> Footprint:
    """Returns the part of a picture that steps which spread values take.

    What a step leaves out to the left and to the right is known of a crop, and above and below also of a crop that
    comes later.
    """
    back: list[Callable[[Footprint], Footprint]] = []
    spread, shape = False, schedule.shape
    for at in schedule.steps:
        if at.turn is not None:
            shape = at.turn.shape(shape)
            back.append(partial(_before_turn, at.turn, shape))
            continue
        if at.passes is None:
            break  # it needs all
        if at.step.operation.writes and spread:
            back.append(partial(_all, shape))
        for one in at.passes:
            back.append(partial(_before_pass, one, shape))
            shape = one.shape
        spread = spread or at.reach.spoiled > 0
    part = _all(shape)
    for before in reversed(back):
        part = before(part)
    return part


def _all(shape: Shape, _after: Footprint | None = None) -> Footprint:
    return Footprint((0, shape[1]), (0, shape[2]))


def _before_pass(one: Pass, shape: Shape, after: Footprint) -> Footprint:
    """Returns the part of a pass's input, of this shape, on which one of its result depends."""
    first, end = one.needs(*after.rows)
    columns = (0, shape[2]) if one.columns is None else one.columns(*after.columns)
    return Footprint((max(first, 0), min(end, shape[1])), columns)


def _before_turn(turn: Turn, shape: Shape, after: Footprint) -> Footprint:
    """Returns where one of a turned picture, of this shape, was before."""
    rows, columns = after
    if turn.backwards:
        rows = shape[1] - rows[1], shape[1] - rows[0]
    if turn.mirrors:
        columns = shape[2] - columns[1], shape[2] - columns[0]
    return Footprint(columns, rows) if turn.transposes else Footprint(rows, columns)
