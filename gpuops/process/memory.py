"""The memory of the machine and of this process."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path

if sys.platform == "win32":
    import ctypes

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
        found, _ = resource.getrlimit(resource.RLIMIT_AS)
        return None if found == resource.RLIM_INFINITY else found

    def peak() -> int:
        """Returns this process's largest resident set so far, in bytes."""
        try:
            # Not getrusage first: on Linux its maximum is inherited from the process that started this one.
            status = Path("/proc/self/status").read_text()
            return int(status.partition("VmHWM:")[2].split()[0]) * 1024
        except (OSError, ValueError, IndexError):
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT
