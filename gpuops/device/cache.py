"""The cache of results that clpix need not compute twice: built kernels, verdicts on devices, registered drivers.

They depend on the processor as well.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import platform
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from .. import notes
from ..errors import FileError
from ..files.drafts import draft_file
from ..process import locks, temporary

#: Bytes of the digest that an entry begins with.
_DIGEST = hashlib.sha256().digest_size
#: Bytes of built kernels that are kept, about: a kernel takes 60 kB on average.
_MOST_BYTES = 1 << 30
#: Bytes that a disk must have free: those of the kernels of a long command, on PoCL.
ROOM = 16 << 20
# Seconds after which a device that failed is tried again: the fault may have been the machine's, not the driver's.
RETRY_SECONDS = 24 * 3600
# What is wrong with a folder of the user's own, which another umask would have made private.
_OPEN = "others can write to it"


@cache
def cache_folder() -> Path:
    """Returns the first of :func:`folders`; where there is none, a folder that this process alone uses."""
    for folder in folders():
        return folder
    import atexit

    try:
        fresh = Path(tempfile.mkdtemp(prefix="clpix-", dir=temporary.folder()))
    except (OSError, FileError):  # nothing can be written anywhere, and so nothing is kept
        return Path(os.devnull, "clpix")
    atexit.register(shutil.rmtree, fresh, ignore_errors=True)
    return fresh


def folders() -> Iterator[Path]:
    """Gives the folders that can hold the cache, the best first.

    They are ``$CLPIX_CACHE_DIR`` or the system's folder for a program's cache, and private ones among temporary files.
    Nobody else can write to them, as code is loaded from them.
    """
    with contextlib.suppress(OSError, RuntimeError):  # a read-only home, or no home at all
        chosen = os.environ.get("CLPIX_CACHE_DIR")
        base = Path(chosen) if chosen else _usual_folder()
        make(base)
        # An older version made it so, under such a umask, and others may have put something into it.
        if not chosen and _distrusted(base.stat()) == _OPEN:
            shutil.rmtree(base, ignore_errors=True)
            make(base)
        if why := _distrusted(base.stat()):
            _say_once(f"{base} is not used for the cache, as {why}: name another folder with CLPIX_CACHE_DIR")
        elif can_hold(base):
            yield base
    if sys.platform != "win32":
        with contextlib.suppress(FileError):
            for beside in dict.fromkeys((temporary.folder(), temporary.MEMORY)):
                with contextlib.suppress(OSError):
                    base = Path(beside, f"clpix-{os.getuid()}")
                    base.mkdir(mode=0o700, exist_ok=True)
                    if not _distrusted(base.lstat()) and can_hold(base):
                        yield base


def make(folder: Path) -> None:
    """Makes a folder, and those above it that are missing, for their owner alone, whatever the umask is."""
    if not folder.exists():
        make(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def _distrusted(status: os.stat_result) -> str | None:
    """Returns why others could have put something into a folder."""
    if sys.platform == "win32":
        return None
    if not stat.S_ISDIR(status.st_mode):
        return "it is no folder"
    if status.st_uid != os.getuid():
        return "it belongs to another user"
    return _OPEN if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) else None


def can_hold(folder: str | os.PathLike[str]) -> bool:
    """Says whether a folder can be written to, and whether its disk has room for the kernels of a command."""
    try:
        return os.access(folder, os.W_OK | os.X_OK) and shutil.disk_usage(folder).free >= ROOM
    except OSError:
        return False


@cache
def _say_once(text: str) -> None:
    notes.note(text)


def _usual_folder() -> Path:
    """Returns ``$XDG_CACHE_HOME/clpix`` or ``~/.cache/clpix``; on macOS and Windows what is usual there.

    Raises RuntimeError where there is no home.
    """
    from platformdirs import user_cache_path

    folder = user_cache_path("clpix", appauthor=False)
    if not folder.is_absolute():
        raise RuntimeError("there is no home")
    return folder


def load(name: str) -> bytes | None:
    """Returns the cached bytes under ``name``, or None."""
    try:
        return (cache_folder() / name).read_bytes()
    except OSError:
        return None


def load_binary(name: str) -> bytes | None:
    """Returns the bytes that :func:`save_binary` stored under ``name``; None if there are none or they are damaged.

    Drivers must not see damaged ones: Mesa's ends the process if it is given bytes that are no binary of its own.
    """
    entry = load(name) or b""
    digest, data = entry[:_DIGEST], entry[_DIGEST:]
    if hashlib.sha256(data).digest() != digest:
        return None
    with contextlib.suppress(OSError):
        os.utime(cache_folder() / name)  # as the newest it is removed last
    return data


def save_binary(name: str, data: bytes) -> None:
    """Stores a digest and the data as :func:`save` does. ``name`` is a folder and a digest.

    Now and then the folder is trimmed.
    """
    save(name, hashlib.sha256(data).digest() + data)
    if name.endswith("00"):  # one in 256 times, as looking at all files takes a while
        _trim(cache_folder() / Path(name).parent)


def _trim(folder: Path) -> None:
    """Removes the least recently used files of a folder until the others have at most _MOST_BYTES."""
    with contextlib.suppress(OSError):
        files = [(entry.stat(), entry.path) for entry in os.scandir(folder) if entry.is_file()]
        left = sum(status.st_size for status, _ in files) - _MOST_BYTES
        for status, path in sorted(files, key=lambda file: file[0].st_mtime_ns):
            if left <= 0:
                break
            os.unlink(path)
            left -= status.st_size


def save(name: str, data: bytes) -> None:
    """Stores ``data`` under ``name``, whole or not at all; a cache that cannot be written only costs time."""
    target = cache_folder() / name
    with contextlib.suppress(OSError):
        make(target.parent)
        with draft_file(target.parent) as draft:
            Path(draft).write_bytes(data)
            put(draft, target)


def put(draft: str | os.PathLike[str], target: Path) -> None:
    """Gives a file the name of an entry of the cache, also where a folder has that."""
    if target.is_dir():
        shutil.rmtree(target)
    os.replace(draft, target)


def digest(key: Any) -> str:
    """Returns a short name for a JSON value."""
    return hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:20]


def load_value(kind: str, key: Any) -> dict[str, Any] | None:
    """Returns the JSON object that was stored under this very key, or None; also if it has expired."""
    try:
        entry = json.loads(load(f"{kind}-{digest(key)}.json") or b"")
        value = entry["value"] if entry["key"] == key and isinstance(entry["value"], dict) else None
        return value if value and time.time() < value.get("expires", math.inf) else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def save_value(kind: str, key: Any, value: dict[str, Any], *, bad: bool) -> None:
    """Stores a JSON object under a key, whole or not at all; a ``bad`` one expires."""
    expires = {"expires": time.time() + RETRY_SECONDS} if bad else {}
    save(f"{kind}-{digest(key)}.json", json.dumps({"key": key, "value": {**value, **expires}}).encode())


@contextlib.contextmanager
def lock(name: str) -> Iterator[None]:
    """Tries to hold off other processes, and threads, that would measure the same at the same time."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            file = stack.enter_context(open(cache_folder() / f"probe{name}.lock", "w"))
            locks.hold(file.fileno(), wait=True)
        yield


def processor() -> dict[str, str]:
    """Returns Linux's entries for the first processor of this machine: vendor_id, model name, flags."""
    text = ""
    with contextlib.suppress(OSError), open("/proc/cpuinfo", "rb") as file:
        # The whole file takes long on big machines.
        text = file.read(8192).partition(b"\n\n")[0].decode(errors="replace")
    pairs = (line.partition(":") for line in text.splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}


def boot() -> str:
    """Returns what is another one on another machine, and after this one has started anew; empty where none tells."""
    with contextlib.suppress(OSError), open("/proc/sys/kernel/random/boot_id") as file:
        return file.read().strip()
    return ""


def processor_identity() -> str:
    """Returns all that code built for this processor depends on. Clouds give different processors the same name."""
    read = processor()
    target = os.environ.get("CL_CONFIG_CPU_TARGET_ARCH", "")
    return digest([platform.machine(), read.get("model name", ""), read.get("flags", ""), target])
