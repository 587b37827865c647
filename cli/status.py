"""How far a batch has come: a line at the bottom of a terminal, or a line for each file."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gpuops.batch.pipeline import Done
from gpuops.errors import visible

from .messages import say

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


def show(line: str) -> None:
    """Shows a line at the bottom of a terminal in place of the one before; nothing where there is no terminal."""
    global _there
    if sys.stderr.isatty():
        _there = True
        _write(CLEAR + line[: _columns() - 1])


def left_behind() -> bytes:
    """Returns what a process that ends at once has to write first."""
    return CLEAR.encode() if _there else b""


def _write(text: str) -> None:
    with suppress(OSError, ValueError):
        sys.stderr.write(text)
        sys.stderr.flush()


class Progress:
    """The progress of ``total`` jobs (None if the number is not known): one line on a terminal, elsewhere one a file.

    ``frames`` is given if the jobs are the frames of one file. It is a word for what is done with them.
    """

    def __init__(self, total: int | None, frames: str | None = None) -> None:
        self._total, self._frames = total, frames
        self._begun = time.monotonic()
        self._shown = 0.0
        self._count = self._pixels = 0

    def tell(self, done: Done) -> None:
        """Takes one more job into account, and shows it."""
        self._count += 1
        self._pixels += done.pixels
        if not sys.stderr.isatty():
            if self._frames is None:
                ended = " failed" if done.error else ""
                name = _arrow(done.job.source, done.job.target)
                say(visible(f"clpix: [{self._count}/{self._total}] {name}{ended}"))
            return
        now = time.monotonic()
        if now - self._shown < _EVERY and _there:
            return
        self._shown = now
        show(self._line(now - self._begun))

    def end(self, source: str, target: str) -> None:
        """Tells, where no terminal has shown it, that all frames of a file are done."""
        if not sys.stderr.isatty():
            rate = self._rate(time.monotonic() - self._begun)
            say(visible(f"clpix: {_arrow(source, target)}: {self._count} frames {self._frames}, {rate}"))

    def _line(self, seconds: float) -> str:
        of, left = "", ""
        if self._total is not None and self._total >= self._count:
            of = f" of {self._total}"
            left = f", {_clock(seconds / self._count * (self._total - self._count))} left"
        what = "files" if self._frames is None else f"frames {self._frames}"
        rate = self._rate(seconds)
        return f"clpix: {self._count}{of} {what}{', ' * bool(rate)}{rate}{left}"

    def _rate(self, seconds: float) -> str:
        if self._frames is not None:
            return f"{self._count / max(seconds, _EVERY):.3g} frames/s"
        return f"{self._pixels / seconds / 1e6:.3g} Mpixel/s" if self._pixels else ""


def _arrow(source: str, target: str) -> str:
    return f"{Path(source).name} → {Path(target).name}"


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
def progress(
    total: int | None, *, wanted: bool | None, quiet: bool, frames: str | None = None
) -> Iterator[Progress | None]:
    """Gives the progress of jobs if it is ``wanted``; with None, that of several jobs on a terminal.

    ``total`` and ``frames`` are those of :class:`Progress`.
    """
    if wanted is None:
        wanted = total != 1 and not quiet and sys.stderr.isatty()
    try:
        yield Progress(total, frames) if wanted else None
    finally:
        hide()
