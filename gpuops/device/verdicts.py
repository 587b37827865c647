"""Verdicts kept between runs, as small JSON files under their keys."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator
from typing import Any

from gpuops.device import cache
from gpuops.process import locks


def digest(key: Any) -> str:
    """Returns a short name for a JSON value."""
    return hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:20]


def load(kind: str, key: Any) -> dict[str, Any] | None:
    """Returns the value that was stored under this very key, or None."""
    try:
        entry = json.loads(cache.load(f"{kind}-{digest(key)}.json") or b"")
        return entry["value"] if entry["key"] == key and isinstance(entry["value"], dict) else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def store(kind: str, key: Any, value: dict[str, Any]) -> None:
    """Stores a value whole or not at all."""
    cache.save(f"{kind}-{digest(key)}.json", json.dumps({"key": key, "value": value}).encode())


@contextlib.contextmanager
def lock() -> Iterator[None]:
    """Tries to hold off other processes that would measure at the same time."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            file = stack.enter_context(open(cache.cache_folder() / "probe.lock", "w"))
            locks.hold(file.fileno(), wait=True)
        yield
