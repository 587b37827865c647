"""Standard error for the program's own lines: what libraries print there by themselves is dropped while they work."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

# The descriptor that libraries print to.
_USUAL = 2
# Held while the descriptors change.
_changing = Lock()
# The descriptor of Python's standard error.
_own = _USUAL
# How many threads have libraries at work that are not to be heard.
_quiet = 0
# A descriptor of what drops all, once it was needed.
_null = -1


@contextmanager
def apart() -> Iterator[None]:
    """Gives Python's standard error a descriptor of its own for as long as it lasts, so that :func:`quiet` works."""
    global _own
    before = sys.stderr
    with os.fdopen(os.dup(_USUAL), "w", 1, before.encoding, "backslashreplace") as sys.stderr:
        _own = sys.stderr.fileno()
        try:
            yield
        finally:
            with _changing:
                os.dup2(_own, _USUAL)
                _own, sys.stderr = _USUAL, before


@contextmanager
def quiet() -> Iterator[None]:
    """Drops what libraries print meanwhile, in any thread. It does nothing in a program that is not :func:`apart`."""
    _count(1)
    try:
        yield
    finally:
        _count(-1)


def _count(change: int) -> None:
    global _quiet
    with _changing:
        before, _quiet = _quiet, _quiet + change
        if _own == _USUAL or (before and _quiet):
            return
        if _quiet:
            _drop(_USUAL)
        else:
            os.dup2(_own, _USUAL)


def write(line: bytes) -> None:
    """Writes at once, also from a signal's handler."""
    os.write(_own, line)


def close() -> None:
    """Drops all that anybody prints from now on."""
    for descriptor in {_own, _USUAL}:
        _drop(descriptor)


def _drop(descriptor: int) -> None:
    global _null
    if _null < 0:
        _null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(_null, descriptor)
