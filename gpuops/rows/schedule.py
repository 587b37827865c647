"""The schedule of a chain by rows: what each step takes, where all rows are kept, and which steps go together.

A *barrier* is a step of which each row of the result is made of all rows, or of columns: a turn, a filter as a product
of spectra, or work in slabs. A spool keeps the rows there. Between barriers are *segments*, in which rows come, are
worked on, and go. A segment's *stages* are steps that are done on the same rows, and passes, which look at rows above
and below or move them.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from ..params.moves import Frame, Move, Shrunk
from ..passes import Pass, Reach, Slabbed, Spectral, Turn
from ..plan import Step
from . import blocks
from .blocks import Shape, row_bytes
from .window import with_halo, with_neighbours

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..plan import Plan

# Halos of a step that a picture has at least if it goes by rows though there is room for it.
_LEAST_HALOS = 16


class RowStage(NamedTuple):
    """Steps that are done on the same rows, or one pass of a step, which needs rows above and below or moves them.

    Attributes
    ----------
    steps : tuple of Step
    one : Pass or None
        The pass of the only step.
    shape : (planes, height, width)
        That of the whole input.
    wanted : (first, end)
        The rows of the result that are wanted; a pass makes them from a multiple of its ``align`` on.
    """

    steps: tuple[Step, ...]
    one: Pass | None
    shape: Shape
    wanted: tuple[int, int] = (0, 0)

    @property
    def result(self) -> Shape:
        """The shape of the whole result."""
        return self.shape if self.one is None else self.one.shape

    @property
    def align(self) -> int:
        """The first row of the result, each time some rows are made, is a multiple of this."""
        return 1 if self.one is None else self.one.align

    @property
    def writes(self) -> bool:
        """Whether a step writes all of its input to a file."""
        return any(step.operation.writes for step in self.steps)

    @property
    def needed(self) -> tuple[int, int]:
        """The rows of the input that are needed."""
        if self.writes:
            return 0, self.shape[1]
        first, end = self.wanted if self.one is None else self.one.needs(*self.wanted)
        return max(first, 0), min(end, self.shape[1])


@dataclass(frozen=True)
class ScheduledStep:
    """A step at its place in a chain.

    Attributes
    ----------
    gpu : Gpu
    step : Step
    shape : (planes, height, width)
        That of its input.
    turn : Turn, optional
        What the step does to its input, if it does no more than turn it.
    move : Move
        Where the picture's display window is in the step's result.
    frame : Frame
        The result's.
    """

    gpu: Gpu
    step: Step
    shape: Shape
    turn: Turn | None
    move: Move
    frame: Frame

    @property
    def keeps_values(self) -> bool:
        """Whether the result has all pixels of the input, as they are, in whatever order."""
        operation, params = self.step.operation, self.step.params
        return self.turn is not None or operation.writes or operation.identity(params)

    @property
    def only_moves(self) -> bool:
        """Whether pixels come to other places, between pixels, too, and nothing else happens to them."""
        operation = self.step.operation
        return self.step.traits.kind == "geometry" and not operation.shifts

    @cached_property
    def reach(self) -> Reach:
        """How far away values of the step's input have an effect."""
        return self.step.operation.reach_of(self.gpu, self.shape, self.step.params)

    @cached_property
    def spectral(self) -> Spectral | None:
        """The filter of spectra that the step is, or None if it is none."""
        return self.step.operation.spectral(self.gpu, self.shape, self.step.params)

    @cached_property
    def slabbed(self) -> Slabbed | None:
        """The work in slabs that the step is, or None if it is none."""
        return self.step.operation.slabs(self.gpu, self.shape, self.step.params)

    @property
    def barrier(self) -> Turn | Spectral | Slabbed | None:
        """What takes all rows before it gives the first one, or None."""
        if self.turn is not None:
            return None if self.turn.keeps_rows else self.turn
        return self.spectral or self.slabbed

    @cached_property
    def passes(self) -> tuple[Pass, ...] | None:
        """The passes of the step over its input's rows.

        The tuple is empty if each row of the result depends on the same row alone. None: the step needs all at once.
        """
        gpu, operation, params, shape = self.gpu, self.step.operation, self.step.params, self.shape
        if self.turn is not None and self.turn.keeps_rows:
            return ()
        if operation.passes is not None:
            return operation.passes(gpu, shape, params)
        if not self.reach.rows:
            return ()
        if math.isinf(self.reach.rows):
            return None
        each, halo = self.step.traits.bytes_per_value, int(self.reach.rows)
        one = with_halo(shape, halo, lambda gpu, image: operation(gpu, image, params), each)
        one = one._replace(again=2 * halo * self.reach.again)
        return (with_neighbours(one, halo) if self.reach.around else one,)

    @property
    def takes_rows_once(self) -> bool:
        """Whether its input's rows are worked on as they come, a single time, and few of them are waited for."""
        operation, params = self.step.operation, self.step.params
        if self.barrier is not None or self.reach.around or not self.reach.exact or self.passes is None:
            return False
        halo, again = sum(one.window - 1 for one in self.passes), sum(one.again for one in self.passes)
        return (
            halo * _LEAST_HALOS <= self.shape[1]
            and again * blocks.PER_AGAIN * row_bytes(self.shape) <= blocks.MOST
            and operation.measure(self.gpu, self.shape, params) is None
        )

    @property
    def result(self) -> Shape:
        """The shape of the step's result."""
        return self.shape[0], self.frame.rows, self.frame.columns

    def beside_whole(self, values: int) -> float:
        """Returns the device's bytes that the step takes beside the whole of its input, of so many values."""
        traits, operation = self.step.traits, self.step.operation
        of_step = (
            operation.fixed_bytes(self.gpu, self.shape, self.step.params) if self.passes is None else 0.0
        )
        return traits.bytes_per_value * values + traits.fixed_bytes + of_step


@dataclass(frozen=True)
class RowSchedule:
    """A plan for pictures of one shape, or a segment of it.

    Attributes
    ----------
    gpu : Gpu
    plan : Plan
    shape : (planes, height, width)
    orientation : int
        The picture's EXIF orientation.
    frame : Frame
        The picture's.
    steps : tuple of ScheduledStep
    end : ScheduledStep, optional
        The barrier behind the steps of a segment.
    shifts : tuple of (left, top)
        How far (to the right, down) the steps that measure a shift have moved the picture, as far as that is known.
    shrunk : Shrunk, optional
        How the picture was made smaller as it was read.
    """

    gpu: Gpu
    plan: Plan
    shape: Shape
    orientation: int
    frame: Frame
    steps: tuple[ScheduledStep, ...]
    end: ScheduledStep | None = None
    shifts: tuple[tuple[float, float], ...] = ()
    shrunk: Shrunk | None = None

    @classmethod
    def of(
        cls,
        gpu: Gpu,
        todo: Plan,
        shape: Shape,
        orientation: int = 1,
        frame: Frame | None = None,
        shifts: Iterable[tuple[float, float]] = (),
        shrunk: Shrunk | None = None,
    ) -> RowSchedule:
        """Returns the schedule of a plan for pictures of a shape and an EXIF orientation, in a frame.

        Steps that others do the work of are replaced by these. Positions are those of the picture before it was
        ``shrunk``.
        """
        measured = iter(shifts := tuple(shifts))
        steps: list[ScheduledStep] = []
        of_step, turned = shape, orientation
        place = frame = frame or Frame.of(*shape[1:])
        moved = shrunk.move if shrunk else Move.none(frame.width, frame.height)
        waiting = deque(todo.steps)
        while waiting:
            step = waiting.popleft()
            operation, params = step.operation, step.params.framed(place)
            if shrunk and not steps:
                params = replace(params, shrunk=shrunk)
            if operation.parts is not None:
                parts = operation.parts(params, turned, place.height, place.width)
                waiting.extendleft(Step.of(part, step.name) for part in reversed(parts))
                continue
            step = step._replace(params=params)
            turn = operation.turn(step.params, turned) if operation.turn is not None else None
            move = operation.moved(step.params, turn, place)
            place, moved = place.moved(move), moved.then(move)
            if operation.shifts:
                left, top = next(measured, (0.0, 0.0))
                moved = moved._replace(left=moved.left + left, top=moved.top + top)
            turned = (turn and turn.leaves) or turned
            steps.append(ScheduledStep(gpu, step, of_step, turn, moved, place))
            of_step = steps[-1].result
        todo = todo._replace(steps=tuple(at.step for at in steps))
        return cls(gpu, todo, shape, orientation, frame, tuple(steps), shifts=shifts, shrunk=shrunk)

    def with_steps(self, steps: Iterable[Step]) -> RowSchedule:
        """Returns the schedule of other steps for the same picture, and with the same end."""
        todo = self.plan._replace(steps=tuple(steps))
        made = RowSchedule.of(self.gpu, todo, self.shape, self.orientation, self.frame, shrunk=self.shrunk)
        return replace(made, end=self.end)

    def shifted(self, shifts: Iterable[tuple[float, float]]) -> RowSchedule:
        """Returns the schedule with the shifts that its steps have measured."""
        return RowSchedule.of(
            self.gpu, self.plan, self.shape, self.orientation, self.frame, shifts, self.shrunk
        )

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """The shapes of the picture and of what each step makes of it."""
        return (self.shape, *(step.result for step in self.steps))

    @property
    def result(self) -> Shape:
        """The shape of the last step's result."""
        return self.shapes[-1]

    @property
    def filter(self) -> Spectral | None:
        """The filter of spectra at the end of a segment, or None."""
        return self.end.spectral if self.end is not None else None

    @property
    def obstacle(self) -> str | None:
        """The first step that needs all rows of its input at once, in words, or None. Barriers are none."""
        for at in self.steps:
            if at.barrier is None and at.passes is None:
                return at.step.operation.words(at.step.params)
        return None

    @property
    def takes_rows_once(self) -> bool:
        """Whether a picture that has room as a whole is done by rows: each step works on them as they come."""
        return all(at.takes_rows_once for at in self.steps)

    @cached_property
    def segments(self) -> tuple[RowSchedule, ...]:
        """The segments between barriers; there is one at least."""
        ends = [number for number, at in enumerate(self.steps) if at.barrier is not None]
        segments, first, shape, orientation, frame = [], 0, self.shape, self.orientation, self.frame
        for stop in (*ends, len(self.steps)):
            steps, end = self.steps[first:stop], self.steps[stop] if stop < len(self.steps) else None
            todo = self.plan._replace(steps=tuple(at.step for at in steps))
            segments.append(RowSchedule(self.gpu, todo, shape, orientation, frame, steps, end))
            for at in self.steps[first : stop + 1]:
                orientation, shape, frame = (at.turn and at.turn.leaves) or orientation, at.result, at.frame
            first = stop + 1
        return tuple(segments)

    def stages(self, wanted: tuple[int, int] | None = None) -> tuple[RowStage, ...]:
        """Returns the stages of a segment in which no step needs all rows at once; there is at least one.

        The last stage has no pass: it does the rest on the rows of the result that are ``wanted``, or on all rows.
        """
        stages: list[RowStage] = []
        together: tuple[Step, ...] = ()
        shape = self.shape
        for at in self.steps:
            assert at.passes is not None
            if not at.passes:
                together += (at.step,)
                continue
            if together:
                stages.append(RowStage(together, None, shape))
            for one in at.passes:
                stages.append(RowStage((at.step,), one, shape))
                shape = one.shape
            together = ()
        stages.append(RowStage(together, None, shape))
        wanted = wanted or (0, shape[1])
        for k in reversed(range(len(stages))):
            stages[k] = stages[k]._replace(wanted=(wanted[0] - wanted[0] % stages[k].align, wanted[1]))
            wanted = stages[k].needed
        return tuple(stages)

    def needed(self, wanted: tuple[int, int] | None = None) -> tuple[int, int]:
        """Returns the rows (first, end) of the picture on which rows of the result, or all of them, depend."""
        return self.stages(wanted)[0].needed
