"""Work that is left to a thread, one piece after the other."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from .access import Pending


class Behind:
    """Work that a thread does one piece at a time, while the next piece is prepared."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool = pool
        self._last: Pending[None] | None = None

    def put(self, work: Callable[[], None]) -> None:
        """Does this work once that before is done."""
        self.wait()
        self._last = Pending(self._pool, work)

    def wait(self) -> None:
        """Waits for the last piece of work, or raises its error."""
        last, self._last = self._last, None
        if last is not None:
            last.result()
