"""How many threads a codec may use for a picture: all processors, or fewer where several are coded at once."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_count = os.cpu_count() or 1


def count() -> int:
    """Returns the number of threads that a codec may use."""
    return _count


@contextmanager
def limited(count: int) -> Iterator[None]:
    """Sets that number, for the whole process, until the end. Codecs that are at work keep theirs."""
    before = _count
    _set(max(1, count))
    try:
        yield
    finally:
        _set(before)


def _set(count: int) -> None:
    global _count
    _count = count
    if (library := sys.modules.get("OpenImageIO")) is not None:
        tell(library)


def tell(library: Any) -> None:
    """Tells the number to OpenImageIO, which is only loaded when it is needed."""
    library.attribute("threads", _count)
    # All EXR files share the threads; of a single one they would wait for each other, and -1 is none but their own.
    library.attribute("exr_threads", _count if _count > 1 else -1)
