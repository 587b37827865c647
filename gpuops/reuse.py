"""The objects that operations prepare and keep on a device for the next time, and the limits on them."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Hashable
from threading import RLock
from typing import Any, TypeVar

from .records import dataclass

T = TypeVar("T")


@dataclass(frozen=True)
class Bounds:
    """The most that may be kept: entries, bytes on the device, and programs that suit one size only."""

    count: int = 128
    nbytes: int = 1 << 26
    programs: int = 64


# The limits on a device's plans.
_LIMITS = Bounds()


class Plans(OrderedDict[Hashable, Any]):
    """What is kept, by its key, the least recently used first. Several threads may use it."""

    def __init__(self) -> None:
        super().__init__()
        # Held while entries change, and while one is made; not while dropped ones are freed, which drivers do slowly.
        self._changing, self._making = RLock(), RLock()

    def get_or_make(self, key: Hashable, make: Callable[[], T]) -> T:
        """Returns the entry of a key, or the result of ``make``, which is kept as that."""
        entry = self._entry(key)
        if entry is None:
            with self._making:
                entry = self._entry(key)
                if entry is None:
                    entry = (make(),)
                    with self._changing:
                        self[key] = entry[0]
                        gone = trim(self, _LIMITS)
                    del gone
        value: T = entry[0]
        return value

    def _entry(self, key: Hashable) -> tuple[Any] | None:
        with self._changing:
            if key not in self:
                return None
            self.move_to_end(key)
            return (self[key],)

    def drop_all(self) -> None:
        """Drops all entries."""
        with self._changing:
            gone = list(self.values())
            self.clear()
        del gone

    def drop_one_with_memory(self) -> bool:
        """Drops the least recently used entry that has memory on the device. Says whether there was one."""
        with self._changing:
            for key, value in self.items():
                if nbytes_of(value):
                    del self[key]
                    return True
        return False


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
    programs: Collection[Hashable] = getattr(value, "programs", ())
    return programs
