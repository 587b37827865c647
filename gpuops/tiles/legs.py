"""The legs of a chain by rows: the steps between two turns of the picture, or filters of its spectrum.

The first row of a turned picture is made of the last row, or of a column, and each row of a filtered one is made of all
rows. So all rows before that are made and kept, and the next leg takes them in their new order, or filtered.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ..passes import Reach, Spectral, Turn
from . import course

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..plan import Plan, Step
    from .course import Shape


class Leg(NamedTuple):
    """Steps that are done on rows as they come, and the one behind them that needs all rows of their result.

    Attributes
    ----------
    steps : tuple of Step
    shape, result : (planes, height, width)
        The shapes of the input, and of the steps' result.
    end : Turn, Spectral or None
        What is done to the result then; None for the last leg.
    last : Step or None
        The step that is its end.
    """

    steps: tuple[Step, ...]
    shape: Shape
    result: Shape
    end: Turn | Spectral | None = None
    last: Step | None = None

    def of(self, todo: Plan) -> Plan:
        """Returns the leg's part of a plan."""
        return todo._replace(steps=self.steps)


def legs(gpu: Gpu, todo: Plan, shape: Shape, orientation: int) -> tuple[Leg, ...]:
    """Returns the legs of a plan for a picture of this shape and EXIF ``orientation``; there is one at least."""
    found: list[Leg] = []
    together: tuple[Step, ...] = ()
    shapes = course.shapes(gpu, todo, shape, orientation)
    for step, turn, before, after in zip(
        todo.steps, course.turns(todo, orientation), shapes[:-1], shapes[1:], strict=True
    ):
        end = course.spectral(gpu, step, before) if turn is None else turn
        if isinstance(end, Turn) and end.keeps_rows:
            together += (_of_rows(step),)
        elif end is None:
            together += (step,)
        else:
            found.append(Leg(together, shape, before, end, step))
            together, shape = (), after
    return (*found, Leg(together, shape, shapes[-1]))


def _of_rows(step: Step) -> Step:
    """Returns the step with a reach of no rows, since its turn of this picture keeps rows in their places."""
    return step._replace(operation=replace(step.operation, reach=lambda *_: Reach(0)))
