"""The schedule of a chain by rows: what each step takes, where all rows are kept, and which steps go together.

A *barrier* is a step of which each row of the result is made of all rows, or of columns: a turn, a filter as a product
of spectra, or work in slabs. A spool keeps the rows there. Between barriers are *segments*, in which rows come, are
worked on, and go. A segment's *stages* are steps that are done on the same rows, and passes, which look at rows above
and below or move them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from ..params.moves import Frame, Move
from ..passes import Pass, Reach, Slabbed, Spectral, Turn
from ..tiles.memory import ROUNDED, no_room
from .window import with_halo, with_neighbours

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..plan import Plan, Step

Shape = tuple[int, int, int]

# Bytes of a block's planes from which on larger blocks are no faster.
_ENOUGH = 1 << 25
# Rows of a block for each row of the largest halo, if there is room: the halo is computed once more for each block.
# Twice as many take no less of the processor's time for a bloom of 1.2 gigapixels, and a quarter more memory.
_PER_HALO = 2
# Windows of a block, up to twice as many bytes, where a pass makes fewer rows than it takes: each block repeats one.
_WINDOWS = 8
# Copies of a block's planes that are on the device at a time: a file's floats, planes, a step's result, the pixels to
# be written, and one to spare.
_ENDS = 5
# Copies of its rows that a pass has beside its own work: the rows that it keeps, those rows joined, and the result.
_LOCAL = 3
# Copies of its rows that a ``write`` step takes: light, and the pixels that are made of it.
_SEEN = 3


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
        return (with_neighbours(one, halo) if self.reach.around else one,)

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
    """

    gpu: Gpu
    plan: Plan
    shape: Shape
    orientation: int
    frame: Frame
    steps: tuple[ScheduledStep, ...]
    end: ScheduledStep | None = None
    shifts: tuple[tuple[float, float], ...] = ()

    @classmethod
    def of(
        cls,
        gpu: Gpu,
        todo: Plan,
        shape: Shape,
        orientation: int = 1,
        frame: Frame | None = None,
        shifts: Iterable[tuple[float, float]] = (),
    ) -> RowSchedule:
        """Returns the schedule of a plan for pictures of a shape and an EXIF orientation, in a frame."""
        measured = iter(shifts := tuple(shifts))
        steps: list[ScheduledStep] = []
        of_step, turned = shape, orientation
        place = frame = frame or Frame.of(*shape[1:])
        moved = Move.none(frame.width, frame.height)
        for step in todo.steps:
            operation = step.operation
            step = step._replace(params=step.params.framed(place))
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
        return cls(gpu, todo, shape, orientation, frame, tuple(steps), shifts=shifts)

    def with_steps(self, steps: Iterable[Step]) -> RowSchedule:
        """Returns the schedule of other steps for the same picture, and with the same end."""
        todo = self.plan._replace(steps=tuple(steps))
        made = RowSchedule.of(self.gpu, todo, self.shape, self.orientation, self.frame)
        return replace(made, end=self.end)

    def shifted(self, shifts: Iterable[tuple[float, float]]) -> RowSchedule:
        """Returns the schedule with the shifts that its steps have measured."""
        return RowSchedule.of(self.gpu, self.plan, self.shape, self.orientation, self.frame, shifts)

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


def block_bytes(gpu: Gpu, stages: tuple[RowStage, ...], *, ends: float = 0.0, tables: float = 0.0) -> int:
    """Returns how many bytes the planes of a block of rows should take, both of the file's rows and of a pass's result.

    ``ends``: copies of a block that are taken before the first stage or behind the last one, beside the usual ones;
    ``tables``: bytes that are taken all the time.

    Raises DeviceError if the device has no room for a single row of each.
    """
    room, widest, shrinking = gpu.limits.global_bytes / ROUNDED, 0, 0
    copies, fixed, least = _ENDS + ends, tables, row_bytes(stages[0].shape)
    beside = 0.0  # copies that a step on these rows alone has beside its input and its result
    for stage in stages:
        for step in stage.steps:
            fixed += step.traits.fixed_bytes + step.operation.fixed_bytes(gpu, stage.shape, step.params)
            if stage.one is None:
                beside = max(beside, step.traits.bytes_per_value / 4 - 1)
        copies += _SEEN * sum(step.operation.writes for step in stage.steps)
        if stage.one is not None:
            row, of_pass = row_bytes(stage.shape), _LOCAL + stage.one.bytes_per_value / 4
            copies += of_pass
            fixed += (stage.one.window - 1) * row * of_pass
            widest = max(widest, stage.one.window * row)
            if stage.result[1] < stage.shape[1]:
                shrinking = max(shrinking, stage.one.window * row)
            least = max(least, row, stage.one.align * row_bytes(stage.result))
    copies += beside
    most = int(min((room - fixed) // copies, gpu.limits.max_alloc_bytes - widest))
    if most < least:
        needed = ROUNDED * (fixed + copies * least)
        raise no_room(gpu, f"rows of {stages[0].shape[2]} pixels need", needed)
    enough = max(_ENOUGH, min(2 * _ENOUGH, _WINDOWS * shrinking))
    return max(least, min(most, max(enough, math.ceil(_PER_HALO * widest / 2))))


def row_bytes(shape: Shape) -> int:
    """Returns the bytes of a row of planes."""
    return 4 * shape[0] * shape[2]


def rows_at_once(shape: Shape, at_once: int) -> int:
    """Returns how many rows come at a time if their planes are to take so many bytes."""
    return max(1, min(shape[1], at_once // row_bytes(shape)))
