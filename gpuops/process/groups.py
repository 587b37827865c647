"""Processes that are started with all that they start themselves, and ended with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress

#: The system makes a group of a process's own for it: ``Popen(…, start_new_session=OWN_SESSION)``.
OWN_SESSION = sys.platform != "win32"


def end(process: subprocess.Popen[bytes]) -> None:
    """Ends a process that has a session of its own, and what it has started; on Windows the process alone."""
    if sys.platform != "win32":
        with suppress(OSError):  # it has ended
            os.killpg(process.pid, signal.SIGKILL)
            return
    with suppress(OSError):
        process.kill()
