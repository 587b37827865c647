"""The memory of the machine and of this process."""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

if sys.platform == "win32":

    class _Status(ctypes.Structure):
        """MEMORYSTATUSEX of the Windows API."""

        _fields_ = (
            ("length", ctypes.c_ulong),
            ("load", ctypes.c_ulong),
            ("physical", ctypes.c_ulonglong),
            ("others", ctypes.c_ulonglong * 6),
        )

    def of_machine() -> int:
        """Returns the bytes of the machine's memory."""
        status = _Status(length=ctypes.sizeof(_Status))
        if not ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)):
            raise ctypes.WinError()
        return int(status.physical)

    def limit() -> int | None:
        """Returns None: Windows limits no process's address space."""
        return None

    def peak() -> int:
        """Returns 0: this process's largest resident set is not known here."""
        return 0

else:
    import resource

    # Bytes of the unit of getrusage's largest resident set.
    _UNIT = 1 if sys.platform == "darwin" else 1024

    @cache
    def of_machine() -> int:
        """Returns the bytes of the machine's memory."""
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")

    def limit() -> int | None:
        """Returns the bytes of address space that this process may have, as ``ulimit -v`` sets them; None: any."""
        most, _ = resource.getrlimit(resource.RLIMIT_AS)
        return None if most == resource.RLIM_INFINITY else most

    def peak() -> int:
        """Returns this process's largest resident set so far, in bytes."""
        try:
            # Not getrusage first: on Linux its maximum is inherited from the process that started this one.
            status = Path("/proc/self/status").read_text()
            return int(status.partition("VmHWM:")[2].split()[0]) * 1024
        except (OSError, ValueError, IndexError):
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT


# Parameters of glibc's mallopt (malloc.h): the free bytes at the heap's end from which on it shrinks, the bytes from
# which on blocks are mapped by themselves, the number of such blocks, and the number of heaps.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _MMAP_MAX, _ARENA_MAX = -1, -3, -4, -8
# -- The C library's heap: whether freed memory goes back to the system. Only glibc can be told ------------------

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
