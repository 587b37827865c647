"""How many threads a codec may use for a picture: all processors, or fewer where several are coded at once."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from queue import SimpleQueue
from threading import Semaphore, Thread
from typing import Any, Generic, TypeVar

from .. import notes
from ..process import signals

Part = TypeVar("Part")
Coded = TypeVar("Coded")

_count = os.cpu_count() or 1


def count() -> int:
    """Returns the number of threads that a codec may use."""
    return _count


@contextmanager
def limited(count: int) -> Iterator[None]:
    """Sets that number for the whole process, as long as the context lasts. Codecs at work keep theirs."""
    before = _count
    allow(max(1, count))
    try:
        yield
    finally:
        allow(before)


def allow(count: int) -> None:
    """Sets that number for the whole process, from now on."""
    global _count
    _count = count
    if (library := sys.modules.get("OpenImageIO")) is not None:
        tell(library)


def tell(library: Any) -> None:
    """Tells the number to OpenImageIO, which is only loaded when it is needed."""
    library.attribute("threads", _count)
    # All EXR files share the threads; of a single one they would wait for each other, and -1 is none but their own.
    library.attribute("exr_threads", _count if _count > 1 else -1)


class Ahead(Generic[Part]):
    """What an iterator gives, which a thread takes from now on, and so many ahead of whoever asks.

    Notes are passed on with what they came up with. Whoever asks for no more has to close it.
    """

    def __init__(self, parts: Iterator[Part], most: int) -> None:
        self._room, self._ready = Semaphore(max(1, most)), SimpleQueue[tuple[list[Part], list[str], Any]]()
        self._closed = False
        Thread(target=self._take, args=(parts,), name="reader", daemon=True).start()

    def _take(self, parts: Iterator[Part]) -> None:
        signals.leave_to_others()
        while True:
            self._room.acquire()
            if self._closed:
                return
            said: list[str] = []
            try:
                with notes.to(said.append):
                    given, error = [next(parts)], None
            except BaseException as trouble:  # whoever asks gets it
                given, error = [], trouble
            self._ready.put((given, said, error))
            del given
            if error is not None:
                return

    def __iter__(self) -> Iterator[Part]:
        return self

    def __next__(self) -> Part:
        given, said, error = self._ready.get()
        for text in said:
            notes.note(text)
        if error is not None:
            self._ready.put(([], [], error))  # for whoever asks again
            raise error
        self._room.release()
        return given.pop()

    def close(self) -> None:
        """Ends the thread, and frees what it has taken."""
        self._closed = True
        self._room.release()


def in_order(work: Callable[[Part], Coded], items: Iterable[Part]) -> Iterator[Coded]:
    """The results of work on each item, in order, computed in threads a few items ahead of the reader."""
    if _count == 1:
        yield from map(work, items)
        return
    pool = ThreadPoolExecutor(_count)
    waiting = deque[Future[Coded]]()
    try:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > 2 * _count:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
