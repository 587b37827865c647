"""PoCL's folder: it builds programs into files, runs them from there, and keeps them for the next time."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from gpuops.device import cache

#: The name of PoCL's platform.
NAME = "Portable Computing Language"
#: The variable of the environment that names the folder.
FOLDER = "POCL_CACHE_DIR"
# What a disk says on which no programs may run.
_NO_PROGRAMS = getattr(os, "ST_NOEXEC", 0)
# Seconds within which PoCL has written a file that it puts into a folder.
_WRITTEN = 60
# The file that PoCL writes whenever it uses a program.
_USED = "last_accessed"
# The file that says until when programs were looked at, and the bytes of it that are read.
_MARK, _LONGEST = "looked-at", 200

Program = TypeVar("Program")


def tune() -> None:
    """Gives PoCL a folder that can hold its programs, as it offers no device without one, and mends it."""
    chosen = os.environ.get(FOLDER)
    if not (chosen and _can_run_from(chosen)):
        places = (f"{folder}/pocl" for folder in cache.folders())
        os.environ[FOLDER] = next(filter(_can_run_from, places), f"{cache.cache_folder()}/pocl")
    mend(os.environ[FOLDER])


def _can_run_from(folder: str) -> bool:
    """Says whether programs can be put into a folder, which is made if need be, and be run there."""
    with contextlib.suppress(OSError):
        cache.make(Path(folder))
        if sys.platform == "win32" or not os.statvfs(folder).f_flag & _NO_PROGRAMS:
            return cache.can_hold(folder)
    return False


def mend(folder: str) -> None:
    """Removes the programs of which a file is blank, a folder, or was changed after it was made.

    PoCL ends the process when it loads a damaged one. What has been looked at since the machine started, and was not
    used later, is good.
    """
    mark, now = os.path.join(folder, _MARK), time.time()
    looked_at = _looked_at(folder, mark)
    for program in _programs(folder):
        with contextlib.suppress(OSError):  # another process removes it
            used = os.path.join(program.path, _USED)
            if looked_at and os.path.isfile(used) and os.stat(used).st_mtime < looked_at:
                continue
            if _is_damaged(program.path, program.stat()):
                shutil.rmtree(program.path, ignore_errors=True)
    with contextlib.suppress(OSError), open(mark, "w") as file:
        file.write(f"{now - _WRITTEN} {_state(folder)}")


def _looked_at(folder: str, mark: str) -> float:
    """Returns the time until which the programs of a folder were looked at; 0 if that is not known."""
    with contextlib.suppress(OSError, ValueError), open(mark) as file:
        time_, _, state = file.read(_LONGEST).partition(" ")
        if state == _state(folder):
            return float(time_)
    return 0.0


def _state(folder: str) -> str:
    """Returns what is another one for another folder, and after the machine has started anew."""
    return f"{cache.boot()} {os.stat(folder).st_ino}"


def _programs(folder: str) -> Iterator[os.DirEntry[str]]:
    """Gives the folders of programs, which are in folders of their names' first letters."""
    with contextlib.suppress(OSError), os.scandir(folder) as groups:
        for group in groups:
            if group.is_dir():
                with contextlib.suppress(OSError), os.scandir(group) as programs:
                    yield from programs


def keeps_programs(platform: str) -> bool:
    """Says whether a platform is PoCL, its folder can be used, and there are programs in it."""
    return platform == NAME and lack(platform) is None and any(_programs(os.environ[FOLDER]))


def forget() -> None:
    """Removes all programs, of which one is damaged unseen. Other processes may be running them."""
    for program in list(_programs(os.environ[FOLDER])):
        shutil.rmtree(program.path, ignore_errors=True)


def _is_damaged(folder: str, status: os.stat_result) -> bool:
    with os.scandir(folder) as entries:
        for entry in entries:
            details = entry.stat()
            if stat.S_ISDIR(details.st_mode):
                if "." in entry.name or _is_damaged(entry.path, details):
                    return True
            elif entry.name != _USED and (
                details.st_mtime > status.st_mtime + _WRITTEN or _is_blank(entry.path)
            ):
                return True
    return False


def _is_blank(path: str) -> bool:
    """Says whether a file is empty or begins with zeros, as one does that a machine going down had not written."""
    with open(path, "rb", buffering=0) as file:
        return not any(file.read(4))


def built(platform: str, build: Callable[[], Program]) -> Program:
    """Builds a program, with PoCL again where another process that builds the same one removed its file meanwhile.

    PoCL 3.1 replaces a file by removing it first, and fails without a word of its compiler where two remove it at once.
    """
    for attempts_left in reversed(range(3 if platform == NAME else 1)):
        try:
            return build()
        except Exception as error:
            if not attempts_left or "error:" in str(error):
                raise
    raise AssertionError("one attempt is made at least")


def lack(platform: str) -> str | None:
    """Returns what a platform lacks on this machine at the moment, if a failure may come from that."""
    if platform != NAME or _can_run_from(os.environ.get(FOLDER, "")):
        return None
    return (
        f"PoCL found no folder that has {cache.ROOM >> 20} MB of room and lets programs run: free some, or name a "
        f"folder with {FOLDER}"
    )
