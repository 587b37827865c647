"""A program's signals while OpenCL's drivers are loaded, which put handlers of their own.

LLVM's, which most drivers bring along, goes on after SIGQUIT as if it had not come.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

NUMBERS = [  # what ends a program, but for what cannot be handled
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT") if hasattr(signal, name)
]


@contextmanager
def kept() -> Iterator[None]:
    """What comes meanwhile waits, and goes to the handlers that there were before; unless another thread takes it.

    In the main thread of a POSIX system; elsewhere Python cannot set handlers.
    """
    if not hasattr(signal, "pthread_sigmask") or threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {number: signal.getsignal(number) for number in NUMBERS}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, NUMBERS)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            if handler is not None:  # else it was not Python that set it
                signal.signal(number, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def leave_to_others() -> None:
    """In a thread that is to take none, so that :func:`kept` has them all."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, NUMBERS)
