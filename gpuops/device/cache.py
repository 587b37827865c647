"""Small JSON files kept between runs. Whatever goes wrong with them, the answer is "not cached"."""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def folder() -> Path:
    """The cache folder: the user's, else a private temporary one."""
    return _folder(os.environ.get("XDG_CACHE_HOME", ""), os.path.expanduser("~"))


@functools.cache
def _folder(xdg: str, home: str) -> Path:
    base = Path(xdg) if os.path.isabs(xdg) else Path(home) / ".cache"
    if base.is_absolute():  # "~" stays as it is for a user without a home
        with contextlib.suppress(OSError):
            (base / "clpix").mkdir(parents=True, exist_ok=True)
            if os.access(base / "clpix", os.W_OK | os.X_OK):
                return base / "clpix"
    return _temporary()


def _temporary() -> Path:
    """A folder that nobody else can write: drivers are loaded from what it says."""
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
        entry = json.loads((folder() / f"{kind}-{digest(key)}.json").read_text())
        return entry["value"] if entry["key"] == key and isinstance(entry["value"], dict) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def store(kind: str, key: Any, value: dict[str, Any]) -> None:
    """Store atomically; a full disk only costs time on the next run."""
    path = folder() / f"{kind}-{digest(key)}.json"
    with contextlib.suppress(OSError):
        with tempfile.NamedTemporaryFile("w", dir=path.parent, suffix=".tmp", delete=False) as file:
            try:
                json.dump({"key": key, "value": value}, file)
                file.close()
                os.replace(file.name, path)
            except OSError:
                os.unlink(file.name)
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
