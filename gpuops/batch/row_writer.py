"""Results whose rows are written as they come."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import files
from ..errors import FileError
from ..files.picture import in_blocks
from ..files.streams import to_stream
from ..files.strips import Window
from ..notes import note
from ..operation import Move, Params
from ..ops.write import WriteParams
from ..params.files import STREAM
from ..pixels.coding import Losses
from ..rows.threads import Writing

if TYPE_CHECKING:
    from ..rows.blocks import Shape
    from ..rows.schedule import RowSchedule
    from .item import Item
    from .output import FilePixels, Output


# Bytes of a sample of other channels, at most.
_SAMPLE = 4


class Goal(NamedTuple):
    """A file that rows go to: the result's, or that of a step that writes on the way, with the step's parameters."""

    output: Output
    shape: Shape
    shown: bool
    params: Params | None = None

    @property
    def row(self) -> int:
        """Bytes of a row, as it is written."""
        return self.shape[0] * self.shape[2] * self.output.depth(display=self.shown).itemsize

    @property
    def coded(self) -> int:
        """Bytes of the rows that are coded together, where those are many."""
        output = self.output
        method = output.format.method(output.options.storage)
        together: int = output.format.codec.together.get(method.name, 0) if method is not None else 0
        rest = output.origin.metadata.rest if output.format.read_all else None
        rows = (part.pixels.shape[1] * len(part.names) for part in (rest.parts if rest else ()))
        return together * (self.row + _SAMPLE * int(max(rows, default=0)))


def goals_of(item: Item, schedule: RowSchedule, asides: Sequence[str]) -> list[Goal]:
    """Returns the files that are written, in the order of the chain."""
    goals, paths, shown = [], iter(asides), False
    for number, at in enumerate(schedule.steps, 1):
        step = at.step
        if step.operation.writes:
            assert isinstance(step.params, WriteParams)
            output = _moved(item.output.aside(next(paths), step.params.storage), schedule, number)
            goals.append(Goal(output, at.shape, shown, step.params))
        shown = shown or step.traits.display
    return [*goals, Goal(_moved(item.output, schedule, len(schedule.steps)), schedule.result, shown)]


def _moved(output: Output, schedule: RowSchedule, steps: int) -> Output:
    """Returns the output of a picture after so many steps; metadata follow, and a note says what cannot."""
    before = frame = schedule.frame
    move = Move.none(before.width, before.height)
    if steps:
        move, frame = schedule.steps[steps - 1].move, schedule.steps[steps - 1].frame
    metadata = output.origin.metadata
    metadata, lost = metadata.moved(move, before, frame)
    if lost:
        note(f"{output.path}: the {' and the '.join(lost)} cannot follow the pixels: left out")
    of_values = metadata.light or metadata.gain or metadata.integers
    if of_values and not all(step.keeps_values for step in schedule.steps[:steps]):
        changed = metadata.changed()
        same = all(step.keeps_values or step.only_moves for step in schedule.steps[:steps])
        copied = all(step.keeps_values or step.step.traits.copies for step in schedule.steps[:steps])
        gain, integers = metadata.gain if same else changed.gain, metadata.integers if copied else None
        metadata = replace(changed, gain=gain, integers=integers)
    if output.options.dtype is not None:
        metadata = replace(metadata, integers=None)
    measured = sum(step.step.operation.shifts for step in schedule.steps[:steps])
    if metadata.rest and output.format.read_all and measured <= len(schedule.shifts):
        from .layers import moved

        metadata = replace(metadata, rest=moved(schedule, steps, metadata.rest))
    return output.of(replace(output.origin, metadata=metadata))


class WholeWriter:
    """A context in which a result is made that is one block; it is written at the end."""

    def __init__(self, output: Output) -> None:
        self.output = output

    def __enter__(self) -> WholeWriter:
        return self

    def put(self, result: FilePixels) -> None:
        """Takes the result."""
        self._result = result

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None:
            self.output.write(self._result)

    def warn(self) -> None:
        """Does nothing: losses are noted as the result is written."""


class RowWriter:
    """A context in which a result's rows are written by a thread while the next ones are made."""

    def __init__(self, output: Output, height: int, pool: ThreadPoolExecutor) -> None:
        self.output, self._height = output, height
        self._resources, self._writing = ExitStack(), Writing(pool)
        self._context = copy_context()  # of its own, as files that are open at a time end in any order
        self._lost = Losses()
        self._first: FilePixels | None = None
        self._beside: Window | None = None
        self._row = 0

    def __enter__(self) -> RowWriter:
        return self

    def put(self, rows: FilePixels) -> None:
        """Writes the next rows."""
        picture = rows.picture()
        pixels = picture.pixels
        if self._first is None:
            self._put = self._context.run(self._opened, picture)
            self._resources.push(self._finish)
            self._first = rows._replace(pixels=pixels[:0])
            rest = rows.metadata.rest
            if rest is not None and rest.by_rows and self.output.format.read_all:
                blocks = rest.parts[rest.own].blocks(nbytes=rest.at_once)
                self._beside = Window(self._resources.enter_context(closing(blocks)))
        self._lost = Losses(
            self._lost.clipped + rows.lost.clipped, self._lost.not_finite + rows.lost.not_finite
        )
        for piece in self._with_channels(pixels):
            with self.output.gpu.phase("encode"):
                self._writing.put(partial(self._put, piece))

    def _with_channels(self, pixels: files.Pixels) -> Iterator[files.Pixels]:
        """Gives rows with the other channels of the picture's part behind their own, some at a time."""
        rest = self.output.origin.metadata.rest
        if self._beside is None or rest is None:
            yield pixels
            return
        count = max(1, rest.at_once // (rest.parts[rest.own].row or 1))
        for piece in in_blocks(pixels, count):  # here, as a device may move them, which one thread uses
            first, self._row = self._row, self._row + len(piece)
            yield np.concatenate((piece, self._beside.rows(first, self._row)), axis=2)

    def _opened(self, rows: files.Picture) -> Callable[[files.Pixels], None]:
        output, (_, width, channels) = self.output, rows.pixels.shape
        path = output.path
        if path == STREAM:
            path = self._resources.enter_context(to_stream(sys.stdout.buffer, output.format.extension))
        if output.options.strip:
            if rows.metadata.orientation != 1:
                raise FileError(f"{path}: is to be turned upright, which needs all of it: leave out --strip")
            rows = files.stripped(rows)
        header = replace(rows, pixels=files.unread((self._height, width, channels), rows.pixels.dtype))
        how = output.options
        writing = files.writing(path, header, overwrite=how.overwrite, storage=how.storage)
        return self._resources.enter_context(writing)

    def _finish(self, kind: Any, _error: Any, _trace: Any) -> None:
        if kind is None:
            self._writing.wait()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool | None:
        with self.output.gpu.phase("encode"):
            return self._context.run(self._resources.__exit__, kind, error, trace)

    def warn(self) -> None:
        """Notes the values that the result has lost."""
        assert self._first is not None
        self.output.warn(self._first._replace(lost=self._lost))
