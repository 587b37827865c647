"""The cache of results that clpix need not compute twice: built kernels, verdicts on devices, registered drivers."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import sys
import tempfile
from functools import cache
from pathlib import Path

from ..files.drafts import draft_file

#: Bytes of the digest that an entry begins with.
_DIGEST = hashlib.sha256().digest_size
#: Bytes of built kernels that are kept, about: a kernel takes 60 kB on average.
_MOST_BYTES = 1 << 30


@cache
def cache_folder() -> Path:
    """Returns ``$CLPIX_CACHE_DIR``, the system's folder for a program's cache, or a private temporary folder."""
    chosen = os.environ.get("CLPIX_CACHE_DIR")
    with contextlib.suppress(OSError, RuntimeError):  # a read-only home, or no home at all
        base = Path(chosen) if chosen else _usual_folder()
        base.mkdir(parents=True, exist_ok=True)
        if os.access(base, os.W_OK | os.X_OK):
            return base
    return temporary_folder()


def _usual_folder() -> Path:
    """Returns ``$XDG_CACHE_HOME/clpix`` or ``~/.cache/clpix``; on macOS and Windows what is usual there.

    Raises RuntimeError where there is no home.
    """
    from platformdirs import user_cache_path

    folder = user_cache_path("clpix", appauthor=False)
    if not folder.is_absolute():
        raise RuntimeError("there is no home")
    return folder


@cache
def temporary_folder() -> Path:
    """Returns a folder that nobody else can write to, as code is loaded from it; it is kept if possible."""
    import atexit
    import shutil

    if sys.platform != "win32":
        path = Path(tempfile.gettempdir()) / f"clpix-{os.getuid()}"
        with contextlib.suppress(OSError):
            path.mkdir(mode=0o700, exist_ok=True)
            status = path.lstat()
            if stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077:
                return path
    fresh = Path(tempfile.mkdtemp(prefix="clpix-"))
    atexit.register(shutil.rmtree, fresh, ignore_errors=True)
    return fresh


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
        target.parent.mkdir(parents=True, exist_ok=True)
        with draft_file(target.parent) as draft:
            Path(draft).write_bytes(data)
            os.replace(draft, target)
