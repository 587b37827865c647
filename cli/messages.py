"""What the program says: results on stdout; notes, warnings and errors on stderr, each of which is one line."""

from __future__ import annotations

import sys
from contextlib import suppress

import click

from gpuops import notes
from gpuops.errors import DeviceError, ParameterError, shortened, visible


def say(text: str) -> None:
    """Writes text to stderr. If stderr is closed, the exit code still tells of the error."""
    if (status := sys.modules.get(f"{__package__}.status")) is not None:
        status.hide()
    with suppress(OSError, ValueError):
        click.echo(text, err=True)


def show(text: str) -> None:
    """Writes text to stdout, where no progress stands in the way."""
    if (status := sys.modules.get(f"{__package__}.status")) is not None:
        status.hide()
    click.echo(text)


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
