"""What the program says: results on stdout; notes, warnings and errors on stderr, each of which is one line."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import suppress

import click

from gpuops import notes
from gpuops.errors import DeviceError, ParameterError, shortened, visible
from gpuops.params.files import STREAM

# The least similarity (difflib's ratio, at most 1) of a name that is suggested for another one.
_NEAR = 0.7
# The largest difference between the similarity of the best suggestion and that of others beside it.
_MARGIN = 0.1


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

    found = sorted((-likeness(other), other) for other in known)
    close = [other for less, other in found if -less >= max(_NEAR, -found[0][0] - _MARGIN)]
    return close[:3] if len(word) > 1 else []  # one letter is similar to no name


def missing(ctx: click.Context, name: str) -> click.MissingParameter:
    """Returns the error that a parameter of the command is missing."""
    return click.MissingParameter(ctx=ctx, param=next(p for p in ctx.command.params if p.name == name))
