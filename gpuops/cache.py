"""Where clpix keeps what it need not compute twice: built kernels and devices' verdicts."""

from __future__ import annotations

import os
import tempfile
from functools import cache
from pathlib import Path


@cache
def cache_folder() -> Path | None:
    """``$CLPIX_CACHE_DIR``, ``$XDG_CACHE_HOME/clpix`` or ``~/.cache/clpix``; None if it cannot be written."""
    chosen = os.environ.get("CLPIX_CACHE_DIR")
    try:
        base = (
            Path(chosen)
            if chosen
            else Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "clpix"
        )
        base.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # read-only home, or no home at all
        return None
    return base if os.access(base, os.W_OK) else None


def load(name: str) -> bytes | None:
    """The cached bytes under ``name``, or None."""
    folder = cache_folder()
    if folder is None:
        return None
    try:
        return (folder / name).read_bytes()
    except OSError:
        return None


def save(name: str, data: bytes) -> None:
    """Stores ``data`` under ``name``: whole or not at all; many processes may do so at once."""
    folder = cache_folder()
    if folder is None:
        return
    target = folder / name
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError:
        return  # a cache that cannot be written costs time, nothing else
