"""The folder for temporary files."""

from __future__ import annotations

import os
import tempfile

from ..errors import FileError

#: A folder in the memory of Linux, which containers whose disk is read-only have as well.
MEMORY = "/dev/shm"


def folder() -> str:
    """Returns the system's folder for temporary files, or :data:`MEMORY` where no disk can be written.

    Raises FileError if that cannot be written either.
    """
    try:
        return tempfile.gettempdir()
    except FileNotFoundError:
        if not os.access(MEMORY, os.W_OK | os.X_OK):
            raise FileError("no folder for temporary files can be written: set TMPDIR to one") from None
        tempfile.tempdir = MEMORY  # for those who ask Python alone
        return MEMORY
