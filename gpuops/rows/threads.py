"""Threads that read rows before they are asked for, and write them while the next ones are made."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Executor
from contextlib import closing, suppress
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy.typing as npt

from .. import notes
from ..errors import FileError

if TYPE_CHECKING:
    from ..files import Strips
    from ..files.picture import Pixels
    from ..gpu import Gpu
    from ..image import Image
    from .spool import Spool

Array = npt.NDArray[Any]
T = TypeVar("T")


class Pending(Generic[T]):
    """Work that a thread does. Its notes are passed on when its result is asked for.

    ``size``: bytes of memory that it holds. ``span``: which thread has done it from when to when.
    """

    def __init__(self, threads: Executor, work: Callable[[], T], size: int = 0) -> None:
        self.size = size
        self.span: tuple[str, float, float] | None = None
        self._said: list[str] = []
        self._future = threads.submit(self._noting, work)

    def _noting(self, work: Callable[[], T]) -> T:
        start = time.perf_counter()
        try:
            with notes.to(self._said.append):
                return work()
        finally:
            self.span = threading.current_thread().name, start, time.perf_counter()

    @property
    def done(self) -> bool:
        """Whether there is a result, or an error."""
        return self._future.done()

    def result(self) -> T:
        """Waits for the result, or raises the work's error."""
        try:
            return self._future.result()
        finally:
            for text in self._said:
                notes.note(text)


class Writing:
    """Work that a thread does one piece at a time, while the next piece is prepared."""

    def __init__(self, pool: Executor) -> None:
        self._pool = pool
        self._last: Pending[None] | None = None

    def put(self, work: Callable[[], None]) -> None:
        """Does this work once that before is done."""
        self.wait()
        self._last = Pending(self._pool, work)

    def wait(self) -> None:
        """Waits for the last piece of work, or raises its error."""
        last, self._last = self._last, None
        if last is not None:
            last.result()


def rows_ahead(
    gpu: Gpu, pool: Executor, strips: Strips, count: int
) -> Generator[tuple[int, Pixels], None, None]:
    """Gives ``count`` rows of a picture at a time, with the number of the first one, as :func:`read_ahead` does."""
    first = 0
    with closing(read_ahead(gpu, pool, strips.rows(count))) as blocks:
        for block in blocks:
            rows = [
                block[start : start + count] for start in range(0, len(block), count)
            ]  # tiles may have more
            del block
            for at in accumulate(map(len, rows[:-1]), initial=first):
                first = at + len(rows[0])
                yield at, rows.pop(0)  # whose memory belongs to the caller


def read_ahead(gpu: Gpu, pool: Executor, blocks: Iterator[T]) -> Generator[T, None, None]:
    """Gives blocks of rows of which a thread reads the next one meanwhile."""
    coming = Pending(pool, lambda: next(blocks, None))
    try:
        while True:
            with gpu.phase("decode"):
                block = coming.result()
            if block is None:
                return
            coming, given = Pending(pool, lambda: next(blocks, None)), [block]
            del block
            yield given.pop()  # whose memory belongs to the caller
    except GeneratorExit:  # no more rows are needed
        with suppress(FileError):
            coming.result()
        raise


def in_panels(
    gpu: Gpu,
    spool: Spool,
    pool: Executor,
    planes: int,
    present: int,
    work: Callable[[Image, int, int], Array],
) -> None:
    """Replaces the panels of the first ``planes`` of a spool by the results of ``work``.

    ``work`` is given a panel on the device (1, rows, columns), its plane, and its first column, and returns what
    replaces it. ``present``: the rows of a panel. A thread reads the next panel meanwhile, and another one writes the
    one before.
    """
    places = [(plane, at) for plane in range(planes) for at in spool.panels]
    panels = (spool.panel(plane, at, present) for plane, at in places)
    writing = Writing(pool)
    with closing(read_ahead(gpu, pool, panels)) as ahead:
        for plane, at in places:
            made = work(gpu.array(next(ahead)[None]), plane, at.start)
            writing.put(partial(spool.put_panel, plane, at, made[0]))
            del made
    writing.wait()
