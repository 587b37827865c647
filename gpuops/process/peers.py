"""The process at the other end of a Unix socket, compared with this one: what it may see, do and use.

What one process asks another to do, it has to be able to do itself: a sandbox, a container or a limit that the asking
process has would be left otherwise. So it is looked up in /proc, and never believed.
"""

from __future__ import annotations

import array
import os
import signal
import socket
import struct
import sys
from contextlib import suppress

from . import requests

assert sys.platform == "linux"

# The namespaces of a process (man 7 namespaces).
_NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts")
# Lines of /proc/PID/status: ids, rights, filters of system calls, and processors.
_LINES = (
    "Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp",
    "Seccomp_filters", "Cpus_allowed", "Mems_allowed",
)  # fmt: skip
# Files that hold one fact each, and what it is called.
_FILES = {"limits": "limits", "cgroup": "control group", "oom_score_adj": "OOM score"}
# The place of the nice value and of the scheduling policy behind the name in /proc/PID/stat.
_NICE, _POLICY = 16, 38
# Linux's option that gives a pidfd of the peer (asm-generic/socket.h).
_SO_PEERPIDFD = 77
# SO_PEERCRED's three numbers: process, user, group.
_CREDENTIALS = struct.Struct("3i")


class Peer:
    """The process that opened the other end of a connection; ``nice`` is its nice value once it has been looked at."""

    def __init__(self, connection: socket.socket) -> None:
        packed = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        self.pid, self.uid, self.gid = _CREDENTIALS.unpack(packed)
        self._connection = connection
        self.nice = 0

    def refusal(self) -> str | None:
        """Returns in which way the process differs from this one; None: in none that matters."""
        if (self.uid, self.gid) != (os.geteuid(), os.getegid()):
            return "its user or group differs"
        if self.pid <= 0:
            return "its process cannot be seen from here"
        try:
            handle = self._handle()
            try:
                theirs = facts(self.pid)
                signal.pidfd_send_signal(handle, 0)  # the number has not become another process's meanwhile
            finally:
                os.close(handle)
        except (OSError, ValueError, IndexError):
            return "its process has ended, or cannot be looked at"
        ours = facts("self")
        self.nice = int(theirs["nice"])
        if self.nice < int(ours["nice"]):
            return "its nice value is lower"
        return next(
            (f"its {name} differs" for name in ours if name != "nice" and ours[name] != theirs[name]), None
        )

    def _handle(self) -> int:
        """Returns a pidfd of the process that connected; before Linux 6.5, of that which has its number."""
        try:
            return self._connection.getsockopt(socket.SOL_SOCKET, _SO_PEERPIDFD)
        except OSError:
            return os.pidfd_open(self.pid)


def receive(connection: socket.socket) -> tuple[bytes, list[int], bool]:
    """Returns a message, the descriptors with it, and whether some of it was cut off."""
    numbers = array.array("i")
    size = socket.CMSG_SPACE(5 * numbers.itemsize)
    data, ancillary, flags, _ = connection.recvmsg(requests.LARGEST, size, socket.MSG_CMSG_CLOEXEC)
    for level, kind, content in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            numbers.frombytes(content[: len(content) // numbers.itemsize * numbers.itemsize])
    return data, list(numbers), bool(flags & (socket.MSG_TRUNC | socket.MSG_CTRUNC))


def facts(process: int | str) -> dict[str, str | int]:
    """Returns what a process may see, do and use, by name. Raises OSError if that cannot be read."""
    base = f"/proc/{process}"
    with open(f"{base}/status", errors="replace") as file:
        status = dict(line.partition(":")[::2] for line in file)
    known: dict[str, str | int] = {name: status[name].strip() for name in _LINES if name in status}
    for name in _NAMESPACES:
        with suppress(FileNotFoundError):  # an older kernel
            known[f"namespace {name}"] = os.readlink(f"{base}/ns/{name}")
    root = os.stat(f"{base}/root")
    known["root folder"] = f"{root.st_dev}:{root.st_ino}"
    for name, called in _FILES.items():
        with open(f"{base}/{name}", errors="replace") as file:
            known[called] = file.read()
    with suppress(OSError), open(f"{base}/attr/current", errors="replace") as file:  # no security module
        known["security label"] = file.read()
    with open(f"{base}/stat", errors="replace") as file:
        fields = file.read().rpartition(")")[2].split()
    return known | {"nice": int(fields[_NICE]), "scheduling policy": fields[_POLICY]}
