"""Notes: texts on a result that a person should know, such as a loss, a clipped value, a device passed over.

Code that does some work can say by :func:`to` where its notes go. All other notes, such as those of the library's
functions that somebody calls, become a :class:`~gpuops.errors.GpuopsWarning`.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import reduce
from typing import Any, NamedTuple, TypeVar

from .errors import GpuopsWarning

T = TypeVar("T")

# The function that takes notes in the current context; without one they are dropped.
_sink: ContextVar[Callable[[str], object] | None] = ContextVar("notes", default=None)
# The counts by their texts, where they are to be added.
_sums: ContextVar[dict[str, Counter[str]] | None] = ContextVar("sums", default=None)

# The function that takes findings in the current context; without one they are dropped.
_findings: ContextVar[Callable[[Finding], object] | None] = ContextVar("findings", default=None)


#: A program's function that tells a person, in any thread, why the first run takes long; None: nobody is told.
on_wait: Callable[[str], object] | None = None


class DetailNote(str):
    """A note that is only for those who ask for details."""

    __slots__ = ()


class Finding(NamedTuple):
    """A finding of an operation beside its result: a text for a person, and figures as plain values for a report.

    ``detail``: it is only shown to those who ask for details.
    """

    text: str
    figures: dict[str, Any]
    detail: bool = False


@contextmanager
def _set(variable: ContextVar[T], value: T) -> Iterator[None]:
    """Gives a variable a value for this thread's work inside."""
    before = variable.set(value)
    try:
        yield
    finally:
        variable.reset(before)


def finding(text: str, figures: dict[str, Any], *, detail: bool = False) -> None:
    """Gives a finding to this thread's work. It is dropped unless that collects findings, as a command's chain does."""
    sink = _findings.get()
    if sink is not None:
        sink(Finding(text, figures, detail))


def findings_to(sink: Callable[[Finding], object]) -> AbstractContextManager[None]:
    """Sends findings of this thread's work inside to ``sink``, such as a list's ``append``."""
    return _set(_findings, sink)


def note(text: str) -> None:
    """Gives the text to the sink of this thread's work; without one, warns with the library's caller as the place."""
    sink = _sink.get()
    if sink is None and not isinstance(text, DetailNote):
        warnings.warn(text, GpuopsWarning, stacklevel=_outside())
    elif sink is not None:
        sink(text)


def to(sink: Callable[[str], object]) -> AbstractContextManager[None]:
    """Sends notes of this thread's work inside to ``sink``, such as a list's ``append``; only the innermost counts."""
    return _set(_sink, sink)


@contextmanager
def silence() -> Iterator[None]:
    """Drops notes of this thread's work inside, and counts, which :func:`summed` outside would add."""
    with _set(_sums, None), _set(_sink, lambda _text: None):
        yield


def tally(text: str, counts: Mapping[str, int]) -> None:
    """Gives a text whose ``{}`` stands for counts such as "3 NaN, 2 infinite"; nothing if all of them are 0.

    Within :func:`summed` the counts of the same text are added, and it is given at the end.
    """
    sums = _sums.get()
    if sums is not None:
        sums.setdefault(text, Counter()).update(counts)
    elif parts := [f"{count} {name}" for name, count in counts.items() if count]:
        note(text.format(", ".join(parts)))


def values_were(count: int) -> str:
    """Returns the words with which a note on so many values begins."""
    return "1 value was" if count == 1 else f"{count} values were"


def once(groups: Iterable[tuple[Iterable[str], Iterable[str]]], what: str) -> Iterator[str]:
    """Gives texts of several groups once if they differ by numbers alone, or by the names that each group has.

    ``what`` is the word for a group, such as "file". Details are left out.
    """
    first: dict[str, str] = {}
    totals: Counter[str] = Counter()
    for texts, names in groups:
        kinds: dict[str, str] = {}
        for text in texts:
            kind = reduce(lambda rest, name: rest.replace(name, ""), names, text)
            if not isinstance(text, DetailNote):
                kinds.setdefault(re.sub(r"\d+( values? w(as|ere))?", "", kind), text)
        for kind, text in kinds.items():
            first.setdefault(kind, text)
        totals.update(kinds.keys())
    for kind, text in first.items():
        more = totals[kind] - 1
        yield f"{text}; so it is in {more} more {what}{'s' * (more > 1)}" if more else text


@contextmanager
def summed() -> Iterator[None]:
    """Adds the counts of :func:`tally` inside, for work that comes in parts."""
    sums: dict[str, Counter[str]] = {}
    with _set(_sums, sums):
        yield
    for text, counts in sums.items():
        tally(text, counts)


def some_of(names: Sequence[str], most: int = 8) -> str:
    """Returns names for a text, of which there may be any number: the first ones, and how many there are further."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _outside() -> int:
    """Returns the ``stacklevel`` for :func:`note` that belongs to the library's caller."""
    level, frame = 2, sys._getframe(2)
    package = __name__.partition(".")[0]
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        level, frame = level + 1, frame.f_back
    return level
