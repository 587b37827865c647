"""How the program ends: its exit codes, and the signals that interrupt it."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from gpuops.errors import DeviceError, GpuopsError, ParameterError
from gpuops.process import signals, standard_error

from .messages import left_behind

# The exit codes.
SUCCESS, FAILURE, USAGE, NO_DEVICE = range(4)
# The commands whose exit code 1 says that pictures differ. It is 2 if they could not be compared.
VERDICTS = ("compare", "regress")


def exit_code(error: GpuopsError | OSError, command: str) -> int:
    """Returns the exit code for an error of the library, or of writing, in a command."""
    if isinstance(error, DeviceError):
        return NO_DEVICE
    return USAGE if isinstance(error, ParameterError) or command in VERDICTS else FAILURE


def _interrupt(number: int, _frame: FrameType | None) -> NoReturn:
    """Ends the program on Ctrl-C, a kill or a closed terminal, with one line and without half-written files.

    Not by an exception: raised within a callback from C it would be swallowed, or bring the process down.
    """
    said = b"clpix: error: interrupted; finished results are kept, nothing is half written\n"
    standard_error.write(left_behind() + said)
    # Before these modules are loaded to their end, no process is started, and no file begun.
    for module, name in (
        ("gpuops.batch.dispatch", "end_all"),
        ("gpuops.files.drafts", "discard_unfinished"),
    ):
        function = getattr(sys.modules.get(module), name, None)
        if function is not None:
            function()
    os._exit(128 + number)  # as shells report a signal


def leave(code: int) -> None:
    """Ends the process without unloading drivers and codecs, which takes a tenth of a short command's time.

    It returns where a thread is still at work, or somebody traces the program.
    """
    others = (thread for thread in threading.enumerate() if thread is not threading.current_thread())
    traced = sys.gettrace() or sys.getprofile() or "coverage" in sys.modules
    if traced or not all(thread.daemon for thread in others):
        return
    atexit._run_exitfuncs()
    os._exit(code)


def leave_child(code: int, tell: Callable[[int], None]) -> NoReturn:
    """Ends a process that runs one command for a server, once the command's threads have ended and all is told."""
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    atexit._run_exitfuncs()
    tell(code)
    os._exit(code)


def end_silently() -> NoReturn:
    """Ends the program without half-written files: the server that has started it has died, and the client says so."""
    standard_error.close()
    _interrupt(signal.SIGTERM, None)


@contextmanager
def interrupted_by(number: int) -> Iterator[list[int]]:
    """Gives a list that is empty until the signal comes; what is within it ends by itself. A second one ends all."""
    came: list[int] = []

    def first(number: int, _frame: FrameType | None) -> None:
        came.append(number)
        signal.signal(number, _interrupt)

    before = signal.signal(number, first)
    try:
        yield came
    finally:
        signal.signal(number, before)


def handle_signals() -> None:
    """Lets the signals that end a process end it in this way."""
    for number in signals.NUMBERS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup ignores one
            signal.signal(number, _interrupt)
