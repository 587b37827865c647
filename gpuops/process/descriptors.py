"""Open files by their numbers."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

if sys.platform == "win32":
    from threading import Lock

    # The place of an open file is one for all threads.
    _moving = Lock()

    def read_at(descriptor: int, into: memoryview, offset: int) -> int:
        """Reads bytes from a place of a file into memory. Returns how many; 0 at the file's end."""
        with _moving:
            os.lseek(descriptor, offset, os.SEEK_SET)
            data = os.read(descriptor, len(into))
        into[: len(data)] = data
        return len(data)

    def write_at(descriptor: int, values: memoryview, offset: int) -> int:
        """Writes bytes to a place of a file. Returns how many were written."""
        with _moving:
            os.lseek(descriptor, offset, os.SEEK_SET)
            return os.write(descriptor, values)

    def open_no_more() -> None:
        """Does nothing: Windows has no limit that would keep this process from opening files."""

else:
    import resource

    def read_at(descriptor: int, into: memoryview, offset: int) -> int:
        """Reads bytes from a place of a file into memory. Returns how many; 0 at the file's end."""
        return os.preadv(descriptor, [into], offset)

    def write_at(descriptor: int, values: memoryview, offset: int) -> int:
        """Writes bytes to a place of a file. Returns how many were written."""
        return os.pwrite(descriptor, values, offset)

    def open_no_more() -> None:
        """Keeps this process from opening files from now on."""
        with suppress(OSError, ValueError):
            most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
            resource.setrlimit(resource.RLIMIT_NOFILE, (0, most))
