"""What the program says: results on stdout; notes, warnings and errors on stderr, each of which is one line.

How far a batch has come is a line at the bottom of a terminal, or a line for each file; its warnings stand at its end.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpuops import notes
from gpuops.errors import DeviceError, ParameterError, shortened, visible
from gpuops.params.files import STREAM

if TYPE_CHECKING:
    from gpuops.batch.pipeline import Done

# The least similarity (difflib's ratio, at most 1) of a name that is suggested for another one.
_NEAR = 0.7
# The largest difference between the similarity of the best suggestion and that of others beside it.
_MARGIN = 0.1
# What clears the line that the cursor is in (ECMA-48: carriage return, erase in line).
CLEAR = "\r\x1b[K"
# Seconds between two changes of the line.
_EVERY = 0.1


def say(text: str) -> None:
    """Writes text to stderr. If stderr is closed, the exit code still tells of the error."""
    hide_progress()
    with suppress(OSError, ValueError):
        click.echo(text, err=True)


def show(text: str) -> None:
    """Writes text to stdout, where no progress stands in the way."""
    hide_progress()
    click.echo(text)


def result(text: str, target: str) -> None:
    """Writes what is found of a picture to stdout, or to stderr where its ``target`` is stdout."""
    (say if target == STREAM else show)(visible(text))


def warn(text: str, *, details: bool = False) -> None:
    """Writes a note to stderr as a warning; one that is a detail only if those are wanted, and without that word."""
    if not isinstance(text, notes.DetailNote):
        complain("warning", text)
    elif details:
        say(f"clpix: {visible(text)}")


def complain(kind: str, message: object) -> None:
    """Writes one line to stderr, whatever characters names have."""
    say(shortened(f"clpix: {kind}: {visible(' '.join(str(message).split()))}"))


def failure(path: str, error: Exception) -> str:
    """Returns the message of an error with one input of several: parameters that do not fit it may fit the next."""
    if isinstance(error, MemoryError):
        return f"{path}: does not fit in memory; use a smaller one"
    if isinstance(error, OSError):
        return f"{error.filename or path}: {error.strerror or error}"
    return f"{path}: {error}" if isinstance(error, ParameterError | DeviceError) else str(error)


def near(name: str, known: Iterable[str]) -> list[str]:
    """Returns the known names that are like a name, begin with it or have it as a part; the nearest comes first."""
    from difflib import SequenceMatcher

    word = name.lstrip("-").lower()

    def likeness(other: str) -> float:
        plain = other.lstrip("-").lower()
        begun = len(word) > 2 and plain.startswith(word)
        part = len(word) > 1 and word in plain.split("-")
        alike = SequenceMatcher(None, word, plain).ratio()
        return 2.0 if plain == word else 1.0 if begun else max(alike, 0.9 * part)

    ranking = sorted((-likeness(other), other) for other in known)
    close = [other for less, other in ranking if -less >= max(_NEAR, -ranking[0][0] - _MARGIN)]
    return close[:3] if len(word) > 1 else []  # one letter is similar to no name


def missing(ctx: click.Context, name: str) -> click.MissingParameter:
    """Returns the error that a parameter of the command is missing."""
    return click.MissingParameter(ctx=ctx, param=next(p for p in ctx.command.params if p.name == name))


# Whether there is a line now.
_there = False


def hide_progress() -> None:
    """Clears the line, so that something else can be written; the next change of the line brings it back."""
    global _there
    if _there:
        _write(CLEAR)
        _there = False


def show_progress(line: str) -> None:
    """Shows a line at the bottom of a terminal in place of the one before; nothing where there is no terminal."""
    global _there
    if sys.stderr.isatty():
        _there = True
        _write(CLEAR + line[: _columns() - 1])


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
        show_progress(self._line(now - self._begun))

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
def progress_of(
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
        hide_progress()


# The notes of jobs that are still to be told, and the names of each job's files.
_kept: list[tuple[list[str], tuple[str, ...]]] = []


def take_notes(done: Done, *, at_once: bool) -> None:
    """Takes a job's notes; ``at_once``: gives all of them now."""
    if at_once:
        for text in done.notes:
            notes.note(text)
        return
    job = done.job
    if done.notes:
        _kept.append((done.notes, (job.source, *job.outputs)))


@contextmanager
def notes_at_end() -> Iterator[None]:
    """Gives what was taken inside, however that ends."""
    try:
        yield
    finally:
        for text in notes.once(_kept, "file"):
            notes.note(text)
        _kept.clear()


def left_behind() -> bytes:
    """Returns what a process that ends at once has to write first."""
    lines = (f"clpix: warning: {visible(text)}\n" for text in notes.once(_kept, "file"))
    return (CLEAR * _there + "".join(lines)).encode(errors="backslashreplace")
