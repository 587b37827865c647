"""Scratch files, in a folder that a person names: they are there while something works, and never longer."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import FileError, byte_count
from .drafts import draft_file


@contextmanager
def file(folder: str, nbytes: int) -> Iterator[int]:
    """Gives the descriptor of a new file in ``folder`` for ``nbytes``, which is removed in the end.

    Raises FileError as :func:`check` does, and if the disk has no room.
    """
    check(folder)
    with telling(folder):
        free = shutil.disk_usage(folder).free
    if nbytes > free:
        raise FileError(
            f"{folder}: {byte_count(nbytes)} are needed there, and {byte_count(free)} are free: free some, or name "
            "another folder with --scratch"
        )
    with telling(folder), draft_file(folder) as path:
        descriptor = os.open(path, os.O_RDWR)
        try:
            os.truncate(descriptor, nbytes)  # what was not written yet can be read
            yield descriptor
        finally:
            os.close(descriptor)


def check(folder: str) -> None:
    """Raises FileError for what is no folder that can be written to."""
    if not os.path.isdir(folder):
        what = "is a file" if os.path.exists(folder) else "there is no such folder"
        raise FileError(f"{folder}: {what}: name another one with --scratch")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise FileError(f"{folder}: the folder is not writable: name another one with --scratch")


@contextmanager
def telling(folder: str) -> Iterator[None]:
    """Makes errors of the system with a scratch file a FileError that names its folder."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        reason = "its disk is full" if full else f"a scratch file failed there ({error.strerror or error})"
        raise FileError(f"{folder}: {reason}: name another one with --scratch") from None
