"""Where clpix keeps what it need not compute twice: built kernels, devices' verdicts, drivers' registrations."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from functools import cache
from pathlib import Path


@cache
def cache_folder() -> Path:
    """``$CLPIX_CACHE_DIR``, ``$XDG_CACHE_HOME/clpix`` or ``~/.cache/clpix``; else a private temporary folder."""
    chosen = os.environ.get("CLPIX_CACHE_DIR")
    with contextlib.suppress(OSError, RuntimeError):  # a read-only home, or no home at all
        base = (
            Path(chosen)
            if chosen
            else Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "clpix"
        )
        base.mkdir(parents=True, exist_ok=True)
        if os.access(base, os.W_OK | os.X_OK):
            return base
    return temporary_folder()


@cache
def temporary_folder() -> Path:
    """A folder that nobody else can write, as code is loaded from it; kept for the next run where possible."""
    import atexit
    import shutil

    if hasattr(os, "getuid"):
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
    """The cached bytes under ``name``, or None."""
    try:
        return (cache_folder() / name).read_bytes()
    except OSError:
        return None


def save(name: str, data: bytes) -> None:
    """Stores ``data`` under ``name``, whole or not at all; a cache that cannot be written only costs time."""
    target = cache_folder() / name
    with contextlib.suppress(OSError):
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(draft, target)
        except BaseException:
            os.unlink(draft)
            raise
