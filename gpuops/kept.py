"""How much of what operations prepared stays on a device for the next time."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Collection, Hashable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Bounds:
    """The most that may be kept: so many entries, bytes on the device, and programs that suit one size only."""

    count: int = 128
    nbytes: int = 1 << 26
    programs: int = 64


def trim(kept: OrderedDict[Hashable, Any], bounds: Bounds) -> list[Any]:
    """Takes the least recently used entries out, as many as are too much, but never the last one; gives these.

    An entry is as large as its ``nbytes`` says, or those of what it consists of; plans know their ``programs``.
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
    """Bytes on the device."""
    if isinstance(value, list | tuple):
        return sum(map(nbytes_of, value))
    return int(getattr(value, "nbytes", 0))


def programs_of(value: Any) -> Collection[Hashable]:
    """Programs that suit one size only and live as long as this."""
    found: Collection[Hashable] = getattr(value, "programs", ())
    return found
