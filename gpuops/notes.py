"""Notes: what a person should know of a result, such as a loss, a clipped value, a device passed over.

They travel with the work that they are about. Whoever does it says :func:`to` where its notes go; of all other work
they become a :class:`~gpuops.errors.GpuopsWarning`, as of a library's functions that somebody calls.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from .errors import GpuopsWarning

_sink: ContextVar[Callable[[str], object] | None] = ContextVar("notes", default=None)


def note(text: str) -> None:
    """Says it to whoever takes the notes of this thread's work, else as a warning about the caller of the library."""
    sink = _sink.get()
    if sink is None:
        warnings.warn(text, GpuopsWarning, stacklevel=_outside())
    else:
        sink(text)


@contextmanager
def to(sink: Callable[[str], object]) -> Iterator[None]:
    """Notes of this thread's work go there, such as to a list's ``append``; innermost first, and to one place only."""
    before = _sink.set(sink)
    try:
        yield
    finally:
        _sink.reset(before)


def _outside() -> int:
    """The ``stacklevel`` for :func:`note` at which the caller of the library stands."""
    level, frame = 2, sys._getframe(2)
    package = __name__.partition(".")[0]
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        level, frame = level + 1, frame.f_back
    return level
