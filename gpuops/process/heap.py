"""The C library's heap: whether freed memory goes back to the system. Only glibc can be told."""

from __future__ import annotations

import ctypes
import sys
from contextlib import suppress

# Parameters of glibc's mallopt (malloc.h): the free bytes at the heap's end from which on it shrinks, the bytes from
# which on blocks are mapped by themselves, the number of such blocks, and the number of heaps.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _MMAP_MAX, _ARENA_MAX = -1, -3, -4, -8
# The number of blocks that glibc maps by itself, at most.
_USUAL_MAX = 65536


def keep_freed() -> None:
    """Lets this process keep memory that is freed, for the next picture: new pages cost a fifth of a batch's time."""
    _tell((_MMAP_MAX, 0), (_TRIM_THRESHOLD, 2**31 - 1), (_ARENA_MAX, 1))


def give_back() -> None:
    """Has this process give back large blocks that are freed, where memory is limited.

    Blocks of many sizes, one after the other, would leave gaps, and with them take half as much again.
    """
    _tell((_MMAP_MAX, _USUAL_MAX), (_MMAP_THRESHOLD, 1 << 20), (_TRIM_THRESHOLD, 1 << 24))


def _tell(*given: tuple[int, int]) -> None:
    if not sys.platform.startswith("linux"):
        return
    with suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        for parameter, value in given:
            mallopt(parameter, value)
