"""The part of a picture on which the result of a chain depends."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .course import Shape, passes, turns

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..passes import Pass, Turn
    from ..plan import Plan


class Place(NamedTuple):
    """Rows and columns of a picture, each (first, end)."""

    rows: tuple[int, int]
    columns: tuple[int, int]

    def of(self, pixels: np.ndarray[Any, Any], first: int = 0) -> np.ndarray[Any, Any]:
        """Returns those of a picture's pixels (height, width, channels), or of its rows from ``first`` on."""
        start, stop = (max(row - first, 0) for row in self.rows)
        return pixels[start:stop, slice(*self.columns)]


def needed(gpu: Gpu, todo: Plan, shape: Shape, orientation: int) -> Place:
    """Returns the place of all that steps which spread values take of a picture.

    Parameters
    ----------
    shape : (planes, height, width)
        That of the picture.
    orientation : int
        EXIF's, of the picture.

    What a step leaves out to the left and to the right is known of a crop, and above and below also of a crop that
    comes later.
    """
    back: list[Callable[[Place], Place]] = []
    spread = False
    for step, turn in zip(todo.steps, turns(todo, orientation), strict=True):
        if turn is not None:
            shape = turn.shape(shape)
            back.append(partial(_before_turn, turn, shape))
            continue
        of_step, reach = passes(gpu, step, shape), step.operation.reach(gpu, shape, step.params)
        if of_step is None:
            break  # it needs all
        if step.operation.writes and spread:
            back.append(partial(_all, shape))
        for one in of_step:
            back.append(partial(_before_pass, one, shape))
            shape = one.shape
        spread = spread or reach.spoiled > 0
    place = _all(shape)
    for before in reversed(back):
        place = before(place)
    return place


def _all(shape: Shape, _place: Place | None = None) -> Place:
    return Place((0, shape[1]), (0, shape[2]))


def _before_pass(one: Pass, shape: Shape, place: Place) -> Place:
    """Returns the place in a pass's input, of this shape, on which one in its result depends."""
    first, end = one.needs(*place.rows)
    columns = (0, shape[2]) if one.columns is None else one.columns(*place.columns)
    return Place((max(first, 0), min(end, shape[1])), columns)


def _before_turn(turn: Turn, shape: Shape, place: Place) -> Place:
    """Returns the place that one in a turned picture, of this shape, had before."""
    rows, columns = place
    if turn.backwards:
        rows = shape[1] - rows[1], shape[1] - rows[0]
    if turn.mirrors:
        columns = shape[2] - columns[1], shape[2] - columns[0]
    return Place(columns, rows) if turn.transposes else Place(rows, columns)
