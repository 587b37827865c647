"""Temporary files and folders that a later run can tell from abandoned ones.

The process that makes a draft holds a lock on it (flock), which the system releases when the process ends, however it
ends. A later run that gets the lock knows that nobody writes there any more, and removes the draft. The name says under
which start of the system (boot) the draft was made: on a disk that several machines share, locks of another machine
may not be seen, so drafts of another boot are only removed from disks of this machine alone.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from threading import RLock

from ..errors import FileError, byte_count
from ..process import descriptors, locks, standard_error, temporary

# The names of drafts: the start of the machine, a random number, and the extension.
_NAME = re.compile(r"\.clpix-([0-9a-f]{32})-[0-9a-f]{16}(\.\w+)?")
# The file that tells one start of the machine from another.
_BOOT_ID = "/proc/sys/kernel/random/boot_id"

# The permissions of a file that its owner alone may read, and those of any new file; the umask takes some away.
PRIVATE, USUAL = 0o600, 0o666
# Seconds to wait for threads that are beginning a draft; a slow disk may need longer.
_PATIENCE = 1.0
# Seconds to wait for files that are being opened.
_OPENING = 0.01

# Held by a thread while it begins a draft or takes a file's name, and for good by a process that is ending.
beginning = RLock()
# Drafts of this process that are not finished.
_unfinished: set[str] = set()
# Folders that this process has swept.
_swept: set[str] = set()


def discard_unfinished() -> None:
    """Removes all drafts of this process, which is about to end at once.

    Other threads begin no draft and open no file any more: a codec that opens its draft by name would make it anew.
    From here on the process prints nothing to standard error, not even their complaints.
    """
    beginning.acquire(timeout=_PATIENCE)
    _remove_unfinished()
    with suppress(OSError):
        standard_error.close()
    descriptors.open_no_more()
    time.sleep(_OPENING)
    _remove_unfinished()


def _remove_unfinished() -> None:
    for path in tuple(_unfinished):
        _remove(path)


@contextmanager
def draft_file(folder: str | os.PathLike[str], extension: str = "", mode: int = PRIVATE) -> Iterator[str]:
    """Gives the path of a new empty file in `folder`, which is removed in the end if it is still there.

    ``mode``: its permissions, from which the umask takes some away.
    """
    make = partial(os.open, flags=os.O_CREAT | os.O_EXCL | os.O_RDWR, mode=mode)
    with _draft(folder, extension, make) as path:
        yield path


@contextmanager
def draft_folder(folder: str | os.PathLike[str] | None = None) -> Iterator[str]:
    """Gives the path of a new folder in `folder`, or among the system's temporary files, for its owner alone.

    It is removed in the end, with what it holds, unless it has been moved.
    """
    with _draft(folder or temporary.folder(), "", partial(os.mkdir, mode=0o700)) as path:
        yield path


@contextmanager
def _draft(
    folder: str | os.PathLike[str], extension: str, make: Callable[[str], int | None]
) -> Iterator[str]:
    """Gives the path of a new draft; ``make`` returns its descriptor, or None if it is still to be opened."""
    folder = os.fspath(folder)
    parent = folder if folder in _swept else os.path.realpath(folder)
    if parent not in _swept:
        _swept.add(parent)
        sweep(parent)
    lock = None
    try:
        while lock is None:
            # The name is noted before there is a file, lest a signal in between leave one.
            path = os.path.join(parent, f".clpix-{_boot()}-{os.urandom(8).hex()}{extension}")
            with beginning:
                _unfinished.add(path)
                made = make(path)
            lock = _locked(path, made)
        yield path
    finally:
        _remove(path)
        _unfinished.discard(path)
        if lock is not None and lock >= 0:
            os.close(lock)


def _locked(path: str, made: int | None) -> int | None:
    """Returns a file descriptor that holds the lock of a new draft, or -1 where the disk knows no locks.

    It is ``made``, if the draft is open already. Returns None if another run has swept the draft between its making and
    its locking.
    """
    if not locks.RENAMED_WHILE_OPEN:
        if made is not None:
            os.close(made)
        return -1
    try:
        lock = locks.opened(path) if made is None else made
    except FileNotFoundError:
        return None
    try:
        locks.hold(lock)
        if _is_named(lock, path):
            return lock
    except BlockingIOError:
        pass
    except OSError:  # another process cannot get the lock either
        os.close(lock)
        return -1
    os.close(lock)
    return None


def sweep(folder: str) -> None:
    """Removes the drafts in a folder whose processes have ended. Doubtful or unremovable ones stay.

    On systems that do not rename open files, drafts have no locks, and all of them stay.
    """
    if not locks.RENAMED_WHILE_OPEN:
        return
    with suppress(OSError), os.scandir(folder) as entries:
        for path in [entry.path for entry in entries if _may_be_swept(entry)]:
            with suppress(OSError):
                lock = locks.opened(path)
                try:
                    locks.hold(lock)  # fails while its process lives
                    if _is_named(lock, path):
                        _remove(path)
                finally:
                    os.close(lock)


def _may_be_swept(entry: os.DirEntry[str]) -> bool:
    """Says whether an entry of a folder is a draft whose lock this machine would see if its process lived."""
    named = _NAME.fullmatch(entry.name)
    status = entry.stat(follow_symlinks=False) if named else None
    if named is None or status is None or not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        return False
    return named[1] == _boot() or locks.is_of_this_machine(status.st_dev)


@cache
def _boot() -> str:
    """Returns a number that the system drew when it was started; else a random one, with which nothing is swept."""
    with suppress(OSError):
        return Path(_BOOT_ID).read_text().strip().replace("-", "")
    return os.urandom(16).hex()


def _is_named(lock: int, path: str) -> bool:
    """Says whether a path still names the file that the descriptor has opened."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(lock), os.lstat(path))
    return False


def _remove(path: str) -> None:
    with suppress(FileNotFoundError):
        try:
            os.unlink(path)
        except OSError:  # a folder
            shutil.rmtree(path, ignore_errors=True)


# Scratch files, in a folder that a person names: they are there while something works, and never longer -----------


@contextmanager
def scratch_file(folder: str, nbytes: int) -> Iterator[int]:
    """Gives the descriptor of a new file in ``folder`` for ``nbytes``, which is removed in the end.

    Raises FileError as :func:`check_scratch` does, and if the disk has no room.
    """
    check_scratch(folder)
    with telling_of_scratch(folder):
        free = shutil.disk_usage(folder).free
    if nbytes > free:
        raise FileError(
            f"{folder}: {byte_count(nbytes)} are needed there, and {byte_count(free)} are free: free some, or name "
            "another folder with --scratch"
        )
    with telling_of_scratch(folder), draft_file(folder) as path:
        descriptor = os.open(path, os.O_RDWR)
        try:
            os.truncate(descriptor, nbytes)  # what was not written yet can be read
            yield descriptor
        finally:
            os.close(descriptor)


def check_scratch(folder: str) -> None:
    """Raises FileError for what is no folder that can be written to."""
    if not os.path.isdir(folder):
        what = "is a file" if os.path.exists(folder) else "there is no such folder"
        raise FileError(f"{folder}: {what}: name another one with --scratch")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise FileError(f"{folder}: the folder is not writable: name another one with --scratch")


@contextmanager
def telling_of_scratch(folder: str) -> Iterator[None]:
    """Makes errors of the system with a scratch file a FileError that names its folder."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        reason = "its disk is full" if full else f"a scratch file failed there ({error.strerror or error})"
        raise FileError(f"{folder}: {reason}: name another one with --scratch") from None
