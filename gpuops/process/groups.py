"""Processes that are started with all that they start themselves, and ended with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any


def start(arguments: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
    """Starts a process with a group of its own, where the system has them; ``options`` are those of ``Popen``."""
    own: dict[str, Any] = {"stdin": subprocess.DEVNULL, "start_new_session": sys.platform != "win32"}
    process: subprocess.Popen[bytes] = subprocess.Popen(arguments, text=False, **own | options)
    return process


def signal_name(code: int) -> str:
    """Returns the signal that ended a process, by its exit code below 0: ``SIGSEGV``, or ``signal 77``."""
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def end(process: subprocess.Popen[bytes]) -> None:
    """Ends a process that has a session of its own, and what it has started; on Windows the process alone."""
    if sys.platform != "win32":
        with suppress(OSError):  # it has ended
            os.killpg(process.pid, signal.SIGKILL)
            return
    with suppress(OSError):
        process.kill()
