"""Locks on open files, which the system releases when a process ends, however it ends."""

from __future__ import annotations

import os
import sys

#: Whether a file can be renamed while it is open, as one is that is locked.
RENAMED_WHILE_OPEN = sys.platform != "win32"

if sys.platform == "win32":
    import msvcrt

    # The byte that stands for a file: Windows keeps others from reading what is locked, and no file is that long.
    _BYTE = 1 << 62

    def hold(descriptor: int, *, wait: bool = False) -> None:
        """Locks an open file until it is closed. Raises BlockingIOError if another process has the lock.

        ``wait``: waits for the other one instead, for ten seconds at most. OSError: the disk knows no locks.
        """
        place = os.lseek(descriptor, 0, os.SEEK_CUR)
        os.lseek(descriptor, _BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError(*error.args) from None
        finally:
            os.lseek(descriptor, place, os.SEEK_SET)

    def opened(path: str) -> int:
        """Opens a file to lock it. Windows opens no folders."""
        return os.open(path, os.O_RDWR | os.O_BINARY)

    def is_of_this_machine(device: int) -> bool:
        """Says whether all who can use a disk see its locks: here that is not known."""
        return False

else:
    import fcntl

    def hold(descriptor: int, *, wait: bool = False) -> None:
        """Locks an open file until it is closed. Raises BlockingIOError if another process has the lock.

        ``wait``: waits for the other one instead. OSError: the disk knows no locks.
        """
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))

    def opened(path: str) -> int:
        """Opens a file or folder to lock it. Network disks lock only files open for writing, and no folders."""
        kind = os.O_RDONLY | os.O_DIRECTORY if os.path.isdir(path) else os.O_RDWR
        return os.open(path, kind | os.O_NOFOLLOW | os.O_NONBLOCK)

    def is_of_this_machine(device: int) -> bool:
        """Says whether a disk is a block device: who can mount it sees its locks. Network disks have the number 0."""
        return os.major(device) != 0
