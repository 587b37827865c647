"""Channels of a file that are not the picture's: steps that move pixels move them, and other steps leave them alone."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from ..files.layers import ExrPart, Rest
from ..files.picture import Pixels
from ..gpu import Gpu
from ..image import Image
from ..params.moves import Frame, Move
from ..plan import run
from ..rows.schedule import RowSchedule

#: Names of channels whose values are not to be mixed: depths, identities, hashes of names.
_APART = re.compile(r"(.*\.)?(Z|ZBack|depth.*|.*id|crypto.*)", re.IGNORECASE)
# What positions may be off by, after some moves.
_SLACK = 1e-9
# Planes that are moved at a time.
_TOGETHER = 8


def moved(schedule: RowSchedule, steps: int, rest: Rest) -> Rest:
    """Returns the rest of a file after so many steps of a schedule for its picture."""
    moving = [at.step for at in schedule.steps[:steps] if at.step.traits.kind == "geometry"]
    if not moving:
        return rest
    todo = schedule.plan._replace(steps=tuple(moving))
    parts = []
    for part in rest.parts:
        shape = max(1, len(part.names)), *part.pixels.shape[:2]
        own = RowSchedule.of(schedule.gpu, todo, shape, schedule.orientation, part.place)
        parts.append(_moved(schedule.gpu, own, part))
    return replace(rest, parts=tuple(parts))


def _moved(gpu: Gpu, schedule: RowSchedule, part: ExrPart) -> ExrPart:
    last = schedule.steps[-1]
    frame, exact = last.frame, {abs(one) for one in last.move.matrix} == {0, 1}
    pixels: Pixels = np.empty((frame.rows, frame.columns, len(part.names)), part.pixels.dtype)
    kinds = zip(part.names, part.kinds, strict=True)
    apart = [exact or kind == "uint" or _APART.fullmatch(name) is not None for name, kind in kinds]
    if all(apart):
        pixels = _nearest(part.pixels, part.place, last.move, frame)
        return replace(part, pixels=pixels, frame=None if frame.usual else frame)
    alone = [k for k, one in enumerate(apart) if one]
    mixed = [k for k, one in enumerate(apart) if not one]
    pixels[:, :, alone] = _nearest(part.pixels[:, :, alone], part.place, last.move, frame)
    for first in range(0, len(mixed), _TOGETHER):
        some = mixed[first : first + _TOGETHER]
        image = gpu.array(np.ascontiguousarray(np.moveaxis(part.pixels[:, :, some], -1, 0), np.float32))
        image.orientation, image.owned = schedule.orientation, True
        made = run(gpu, schedule.plan, image)
        assert isinstance(made, Image)
        with np.errstate(over="ignore"):  # beyond what a half holds is infinite
            pixels[:, :, some] = np.moveaxis(made.numpy(), 0, -1)
    return replace(part, pixels=pixels, frame=None if frame.usual else frame)


def _nearest(pixels: Pixels, before: Frame, move: Move, after: Frame) -> Pixels:
    """Returns for each pixel the value of the one that its middle comes from, and 0 where that is none."""
    back = move.back(before.width, before.height)
    x = np.arange(after.x, after.x + after.columns) + 0.5
    y = np.arange(after.y, after.y + after.rows)[:, None] + 0.5
    columns = np.floor(back.a * x + back.b * y + back.left + _SLACK).astype(int) - before.x
    rows = np.floor(back.c * x + back.d * y + back.top + _SLACK).astype(int) - before.y
    there = (columns >= 0) & (columns < before.columns) & (rows >= 0) & (rows < before.rows)
    if there.all() and (move.transposes or move.b == 0 == move.c):  # rows and columns by themselves
        if move.transposes:
            return np.ascontiguousarray(pixels.swapaxes(0, 1)[np.ix_(columns[:, 0], rows[0])])
        return np.ascontiguousarray(pixels[np.ix_(rows[:, 0], columns[0])])
    made = np.zeros((*there.shape, pixels.shape[2]), pixels.dtype)
    made[there] = pixels[rows[there], columns[there]]
    return made
