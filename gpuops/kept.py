"""Limits on the objects that operations prepare and keep on a device for the next time."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Collection, Hashable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Bounds:
    """The most that may be kept: entries, bytes on the device, and programs that suit one size only."""

    count: int = 128
    nbytes: int = 1 << 26
    programs: int = 64


def trim(kept: OrderedDict[Hashable, Any], bounds: Bounds) -> list[Any]:
    """Removes the least recently used entries until ``bounds`` are met, but never the last one; returns the removed.

    An entry's size is its ``nbytes``, or the sum of those of its items; plans know their ``programs``.
    """
    nbytes = sum(map(nbytes_of, kept.values()))
    programs = Counter(program for value in kept.values() for program in programs_of(value))  # by users
    gone: list[Any] = []
    while len(kept) > 1 and (
        len(kept) > bounds.count or nbytes > bounds.nbytes or len(+programs) > bounds.programs
    ):
        gone.append(kept.popitem(last=False)[1])
        nbytes -= nbytes_of(gone[-1])
        programs.subtract(programs_of(gone[-1]))
    return gone


def nbytes_of(value: Any) -> int:
    """Returns the bytes on the device."""
    if isinstance(value, list | tuple):
        return sum(map(nbytes_of, value))
    return int(getattr(value, "nbytes", 0))


def programs_of(value: Any) -> Collection[Hashable]:
    """Returns the programs that suit one size only and live as long as this value."""
    found: Collection[Hashable] = getattr(value, "programs", ())
    return found
