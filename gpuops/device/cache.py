"""Small JSON files kept between runs. Whatever goes wrong with them, the answer is "not cached"."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gpuops.cache import cache_folder


def folder() -> Path:
    """The cache folder, else a private temporary one: drivers have to be registered somewhere."""
    return cache_folder() or temporary()


@functools.cache
def temporary() -> Path:
    """A folder that nobody else can write, as drivers are loaded from what it says; kept for the next run."""
    import atexit
    import shutil
    import tempfile

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


def digest(key: Any) -> str:
    """Short name for a JSON value."""
    return hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:20]


def load(kind: str, key: Any) -> dict[str, Any] | None:
    """What was stored under this very key, or None."""
    try:
        entry = json.loads((folder() / f"{kind}-{digest(key)}.json").read_bytes())
        return entry["value"] if entry["key"] == key and isinstance(entry["value"], dict) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def store(kind: str, key: Any, value: dict[str, Any]) -> None:
    """Store whole or not at all; a full disk only costs time on the next run."""
    import tempfile

    path = folder() / f"{kind}-{digest(key)}.json"
    with contextlib.suppress(OSError):
        handle, draft = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(handle, "w") as file:
                json.dump({"key": key, "value": value}, file)
            os.replace(draft, path)
        except BaseException:
            os.unlink(draft)
            raise


@contextlib.contextmanager
def lock() -> Iterator[None]:
    """Hold off other processes that would measure at the same time; best effort."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(ImportError, OSError):
            import fcntl

            file = stack.enter_context(open(folder() / "probe.lock", "w"))
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
