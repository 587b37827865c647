"""How many threads a codec may use for a picture: all processors, or fewer where several are coded at once."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

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
