"""Protection of a program's signals while OpenCL's drivers are loaded, which set handlers of their own.

LLVM's handler, which most drivers bring along, ignores SIGQUIT.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# The signals that end a program and can be handled.
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
NUMBERS = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]


@contextmanager
def kept() -> Iterator[None]:
    """Delays signals until the end, for the handlers that were there before, unless another thread takes them.

    It does so in the main thread of a POSIX system; elsewhere Python cannot set handlers.
    """
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {number: signal.getsignal(number) for number in NUMBERS}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, NUMBERS)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            if handler is not None:  # None means that a library in C has set it
                signal.signal(number, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def leave_to_others() -> None:
    """Blocks signals in the calling thread, so that :func:`kept` gets them all."""
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_BLOCK, NUMBERS)
