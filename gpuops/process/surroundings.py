"""What a program takes over from the process that asked for it, as if that had started it.

Descriptors, current folder, environment, umask, signals and nice value; and that it ends with its parent.
"""

from __future__ import annotations

import ctypes
import io
import os
import signal
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import NoReturn

from .requests import Request, signals_of

assert sys.platform == "linux"

# prctl's order that a process gets a signal when its parent ends (linux/prctl.h).
_PR_SET_PDEATHSIG = 1
# What tells a program that its parent has ended: a signal that nobody else sends.
_ORPHANED = signal.SIGRTMIN
# Signals whose handling no process can change, and those that Python ignores by itself.
_FIXED = {signal.SIGKILL, signal.SIGSTOP}
_PYTHONS = {signal.SIGPIPE, signal.SIGXFSZ}


def fresh_signals() -> None:
    """Gives all signals their usual effects: who is started in the background has some ignored, and others blocked."""
    for number in signal.valid_signals() - _FIXED - _PYTHONS:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def end_with(parent: int, orphaned: Callable[[], NoReturn] | None) -> None:
    """Has this process end when the process that started it does, by calling a function or, with None, at once."""
    number = signal.SIGKILL
    if orphaned is not None:
        number = _ORPHANED
        signal.signal(number, lambda *_: orphaned())
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def adopt(request: Request, descriptors: Iterable[int], folder: int, added: Mapping[bytes, bytes]) -> None:
    """Takes over what the client is like.

    ``descriptors`` are the client's standard ones that are open, in their order; all are closed here. ``added``: what
    this process has set in its environment, which goes before the client's.
    """
    os.fchdir(folder)
    os.close(folder)
    _take_streams(request, list(descriptors))
    os.environb.clear()
    os.environb.update({**request.environment, **added})
    os.umask(request.umask)
    for number in signals_of(request.ignored) & signal.valid_signals() - _FIXED - _PYTHONS:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, signals_of(request.blocked) & signal.valid_signals())
    sys.argv = [os.fsdecode(word) for word in (request.program, *request.arguments)]


def _take_streams(request: Request, descriptors: list[int]) -> None:
    """Puts descriptors to 0, 1 and 2, and opens Python's streams on them as Python does when it starts."""
    wanted = request.descriptors()
    for number, descriptor in zip(wanted, descriptors, strict=True):
        os.dup2(descriptor, number)
        os.close(descriptor)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        before: io.TextIOWrapper = getattr(sys, name)
        stream = None
        if number in wanted:
            mode = "wb" if number else "rb"
            plain = bool(number) and before.write_through
            raw = open(number, mode, 0 if plain else -1, closefd=False)  # noqa: SIM115
            lines = bool(number) and (number == 2 or os.isatty(number))
            stream = io.TextIOWrapper(raw, before.encoding, before.errors, "\n", lines, plain)
        else:
            os.close(number)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
