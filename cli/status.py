"""How far a batch has come: a line at the bottom of a terminal, or a line for each file."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gpuops.batch.pipeline import Done

# What clears the line that the cursor is in (ECMA-48: carriage return, erase in line).
CLEAR = "\r\x1b[K"
# Seconds between two changes of the line.
_EVERY = 0.1

# Whether there is a line now.
_there = False


def hide() -> None:
    """Clears the line, so that something else can be written; the next change of the line brings it back."""
    global _there
    if _there:
        _write(CLEAR)
        _there = False


def left_behind() -> bytes:
    """Returns what a process that ends at once has to write first."""
    return CLEAR.encode() if _there else b""


def _write(text: str) -> None:
    with suppress(OSError, ValueError):
        sys.stderr.write(text)
        sys.stderr.flush()


class Progress:
    """How far ``total`` jobs have come. On a terminal it is a line, else a line for each job."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._begun = time.monotonic()
        self._shown = 0.0
        self._count = self._pixels = 0

    def tell(self, done: Done) -> None:
        """Takes one more job into account, and shows it."""
        self._count += 1
        self._pixels += done.pixels
        if not sys.stderr.isatty():
            from .main import say, visible

            job = done.job
            arrow = f"{Path(job.source).name} → {Path(job.target).name}"
            say(visible(f"clpix: [{self._count}/{self._total}] {arrow}{' failed' if done.error else ''}"))
            return
        global _there
        now = time.monotonic()
        if now - self._shown < _EVERY and _there:
            return
        self._shown = now
        line = self._line(now - self._begun)[: _columns() - 1]
        _there = True
        _write(CLEAR + line)

    def _line(self, seconds: float) -> str:
        left = seconds / self._count * (self._total - self._count)
        rate = f"{self._pixels / seconds / 1e6:.3g} Mpixel/s, " if self._pixels else ""
        return f"clpix: {self._count} of {self._total} files, {rate}{_clock(left)} left"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _columns() -> int:
    columns = 0
    with suppress(OSError, ValueError):
        columns = os.get_terminal_size(sys.stderr.fileno()).columns
    return columns or 80  # a terminal that does not know its size says 0


@contextmanager
def progress(total: int, *, wanted: bool | None, quiet: bool) -> Iterator[Progress | None]:
    """Gives the progress of ``total`` jobs, where it is ``wanted``, or may be: several on a terminal."""
    if wanted is None:
        wanted = total > 1 and not quiet and sys.stderr.isatty()
    try:
        yield Progress(total) if wanted else None
    finally:
        hide()
