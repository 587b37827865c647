"""Channels of a file that are not the picture's: steps that move pixels move them, and other steps leave them alone."""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..files.layers import Blocks, ExrPart, Rest
from ..files.picture import Pixels, unread
from ..files.strips import Window
from ..gpu import Gpu
from ..image import Image, Part
from ..operation import Params
from ..pixels.turns import interpolated
from ..plan import Step, run
from ..rows.blocks import block_bytes
from ..rows.flow import flow
from ..rows.schedule import RowSchedule

#: Names of channels whose values are not to be mixed: depths, identities, hashes of names.
_APART = re.compile(r"(.*\.)?(Z|ZBack|depth.*|.*id|crypto.*)", re.IGNORECASE)
# What positions may be off by, after some moves.
_SLACK = 1e-9
# Planes of a whole picture that are moved at a time.
_TOGETHER = 8


def moved(schedule: RowSchedule, steps: int, rest: Rest) -> Rest:
    """Returns the rest of a file after so many steps of a schedule for its picture; rows stay rows."""
    shifts, moving = iter(schedule.shifts), list[Step]()
    for at in schedule.steps[:steps]:
        if at.step.operation.shifts:
            moving.append(_shifting(at.step, *next(shifts, (0.0, 0.0))))
        elif at.step.traits.kind == "geometry":
            moving.append(at.step)
    if not moving:
        return rest
    parts = []
    for part in rest.parts:
        shape = max(1, len(part.names)), *part.pixels.shape[:2]
        todo = schedule.plan._replace(steps=tuple(moving))
        own = RowSchedule.of(schedule.gpu, todo, shape, schedule.orientation, part.place, schedule.shifts)
        parts.append(_moved(own, part))
    return replace(rest, parts=tuple(parts))


def _shifting(step: Step, left: float, top: float) -> Step:
    """Returns the step that shifts channels as another one has shifted the picture; what is outside is 0."""

    def function(_gpu: Gpu, image: Image, _params: Params) -> Image:
        _, height, width = image.shape
        return interpolated(image, (height, width), (-left, -top), (1.0, 0.0), 0.0, label="shift")

    return step._replace(operation=replace(step.operation, function=function, stage=None))


def _moved(schedule: RowSchedule, part: ExrPart) -> ExrPart:
    frame = schedule.steps[-1].frame
    mixed = [] if _is_exact(schedule) else [k for k in range(len(part.names)) if not _is_apart(part, k)]
    shape = frame.rows, frame.columns, len(part.names)
    made = replace(part, pixels=unread(shape, part.pixels.dtype), frame=None if frame.usual else frame)
    if part.rows is not None:
        return replace(made, rows=partial(_rows, schedule, part, mixed))
    (pixels,) = _rows(schedule, part, mixed, 0, frame.rows, frame.rows * max(1, part.row))
    return replace(made, pixels=pixels)


def _is_apart(part: ExrPart, channel: int) -> bool:
    """Whether values of a channel are not to be mixed."""
    return part.kinds[channel] == "uint" or _APART.fullmatch(part.names[channel]) is not None


def _is_exact(schedule: RowSchedule) -> bool:
    """Whether pixels become pixels."""
    move = schedule.steps[-1].move
    return {abs(one) for one in move.matrix} == {0, 1} and move.left % 1 == 0 == move.top % 1


def _rows(
    schedule: RowSchedule, part: ExrPart, mixed: list[int], first: int, end: int, nbytes: int
) -> Generator[Pixels, None, None]:
    """Gives rows of a moved part: ``mixed`` channels become what a picture would, others the nearest pixel's value."""
    width, count = schedule.result[2], max(1, nbytes // (part.row or 1))
    alone = [k for k in range(len(part.names)) if k not in mixed]
    worked = []
    together = _TOGETHER if part.rows is None else max(1, len(mixed))
    for start in range(0, len(mixed), together):
        some = mixed[start : start + together]
        worked.append((some, Window(_worked(schedule, part, some, first, end, nbytes))))
    for at in range(first, end, count):
        stop = min(end, at + count)
        if not mixed:
            yield _nearest(schedule, part, alone, at, stop, nbytes)
            continue
        rows = np.empty((stop - at, width, len(part.names)), part.pixels.dtype)
        if alone:
            rows[:, :, alone] = _nearest(schedule, part, alone, at, stop, nbytes)
        for some, window in worked:
            with np.errstate(over="ignore"):  # beyond what a half holds is infinite
                rows[:, :, some] = window.rows(at - first, stop - first)
            if stop == end:
                window.clear()
        yield rows


def _worked(
    schedule: RowSchedule, part: ExrPart, channels: list[int], first: int, end: int, nbytes: int
) -> Generator[Pixels, None, None]:
    """Gives rows of some channels, moved as those of a picture."""
    gpu, shape = schedule.gpu, (len(channels), *schedule.shape[1:])
    own = RowSchedule.of(gpu, schedule.plan, shape, schedule.orientation, part.place)
    if part.rows is None:
        yield _at_once(own, part.pixels[:, :, channels])[first:end]
        return

    def picked(first: int, end: int, nbytes: int) -> Generator[Pixels, None, None]:
        return (block[:, :, channels] for block in part.blocks(first, end, nbytes))

    rows: Blocks = picked
    for segment in own.segments:
        if segment.steps:
            rows = partial(_flowing, segment, rows)
        if segment.end is not None:
            rows = partial(_turned, segment, part, rows)
    yield from rows(first, end, nbytes)


def _at_once(schedule: RowSchedule, pixels: Pixels) -> Pixels:
    made = run(schedule.gpu, schedule.plan, _planes(schedule, pixels))
    assert isinstance(made, Image)
    return np.moveaxis(made.numpy(), 0, -1)


def _planes(schedule: RowSchedule, pixels: Pixels) -> Image:
    image = schedule.gpu.array(np.ascontiguousarray(np.moveaxis(pixels, -1, 0), np.float32))
    image.orientation, image.owned = schedule.orientation, True
    return image


@dataclass
class _Source:
    """Rows on the device: a :class:`gpuops.rows.source.RowSource`."""

    schedule: RowSchedule
    rows: Blocks
    decoding: None = None

    def __call__(self, at_once: int, wanted: tuple[int, int]) -> Generator[Image, None, None]:
        at = max(0, wanted[0])
        for block in self.rows(at, wanted[1], at_once):
            image = _planes(self.schedule, block)
            image.part = Part(at, self.schedule.shape[1])
            at += len(block)
            yield image


def _flowing(
    segment: RowSchedule, rows: Blocks, first: int, end: int, nbytes: int
) -> Generator[Pixels, None, None]:
    """Gives rows of a segment's result."""
    at_once = min(nbytes, block_bytes(segment.gpu, segment.stages((first, end))))
    for image in flow(segment, _Source(segment, rows), at_once=at_once, wanted=(first, end)):
        assert isinstance(image, Image) and image.part is not None
        start = image.part.first
        yield np.moveaxis(image.numpy(), 0, -1)[max(0, first - start) : max(0, end - start)]


def _turned(
    segment: RowSchedule, part: ExrPart, rows: Blocks, first: int, end: int, nbytes: int
) -> Generator[Pixels, None, None]:
    """Gives rows of the turn at a segment's end, each block of all rows before the turn that it needs."""
    turn, planes, orientation = segment.end, segment.shape[0], segment.orientation
    assert turn is not None
    for at in segment.steps:
        orientation = (at.turn and at.turn.leaves) or orientation
    frame = segment.steps[-1].frame if segment.steps else segment.frame
    before = replace(part, pixels=unread((*segment.result[1:], planes), np.float32), frame=frame, rows=rows)
    todo = segment.plan._replace(steps=(turn.step,))
    alone = RowSchedule.of(segment.gpu, todo, segment.result, orientation, frame)
    count = max(1, nbytes // before.row)
    for top in range(first, end, count):
        yield _nearest(alone, before, [*range(planes)], top, min(end, top + count), nbytes)


def _nearest(
    schedule: RowSchedule, part: ExrPart, channels: list[int], first: int, end: int, nbytes: int
) -> Pixels:
    """Returns for each pixel of some rows the value of the one that its middle comes from, and 0 where that is none."""
    last, before = schedule.steps[-1], part.place
    move, after = last.move, last.frame
    back = move.back(before.width, before.height)
    x = np.arange(after.x, after.x + after.columns) + 0.5
    y = np.arange(after.y + first, after.y + end)[:, None] + 0.5
    columns = np.floor(back.a * x + back.b * y + back.left + _SLACK).astype(int) - before.x
    rows = np.floor(back.c * x + back.d * y + back.top + _SLACK).astype(int) - before.y
    if move.transposes:  # rows and columns by themselves
        columns, rows = columns[:, :1].T, rows[:1].T
    elif move.b == 0 == move.c:
        columns, rows = columns[:1], rows[:, :1]
    there = (columns >= 0) & (columns < before.columns), (rows >= 0) & (rows < before.rows)
    shape = *np.broadcast_shapes(rows.shape, columns.shape), len(channels)
    made: Pixels | None = None
    wanted = rows[there[1] & there[0]] if rows.shape == columns.shape else rows[there[1]]
    at = int(wanted.min(initial=len(part.pixels)))
    for block in part.blocks(at, int(wanted.max(initial=-1)) + 1, nbytes):
        here = there[1] & (rows >= at) & (rows < at + len(block))
        values = block if len(channels) == block.shape[2] else block[:, :, channels]
        if made is None and here.all() and there[0].all() and rows.shape != columns.shape:
            made = values[np.ix_(rows[:, 0] - at, columns[0])]
            break
        made = np.zeros(shape, part.pixels.dtype) if made is None else made
        if rows.shape == columns.shape:
            both = here & there[0]
            made[both] = values[rows[both] - at, columns[both]]
        else:
            to = np.ix_(here[:, 0], there[0][0])
            made[to] = values[np.ix_(rows[here] - at, columns[there[0]])]
        at += len(block)
    made = np.zeros(shape, part.pixels.dtype) if made is None else made
    return np.ascontiguousarray(made.swapaxes(0, 1)) if move.transposes else made
