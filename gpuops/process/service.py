"""What a server does for its clients, those that it has, its children, and its log."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import field
from typing import NoReturn

from ..records import dataclass
from .requests import Request


@dataclass(frozen=True)
class Service:
    """What a server does, and for how long.

    Parameters
    ----------
    run : callable
        Runs the command of ``sys.argv``, and ends the process with its exit code. It is given a function that tells the
        client this code when all is done but the process's end.
    orphaned : callable
        Ends a process whose server has died, without half-written files.
    refusal : callable
        Returns why a request cannot be served, or None.
    computes : callable
        Whether a command with these arguments is going to use the device that ``open_ahead`` opens.
    open_ahead : callable
        Opens the usual device.
    is_current : callable
        Whether the program's files are still those that were imported.
    added : dict
        What this process has set in its environment since its start.
    jobs, ready : int
        Children that run commands at once, at most; and those that wait with an open device.
    idle : float
        Seconds without a command after which the server ends.
    watched : int, optional
        A pidfd of a process with which the server ends.
    """

    run: Callable[[Callable[[int], None]], NoReturn]
    orphaned: Callable[[], NoReturn]
    refusal: Callable[[Request], str | None]
    computes: Callable[[list[bytes]], bool]
    open_ahead: Callable[[], None]
    is_current: Callable[[], bool]
    added: dict[bytes, bytes]
    jobs: int
    ready: int
    idle: float
    watched: int | None


@dataclass(eq=False)
class Client:
    """A connection, and what it asks for."""

    connection: socket.socket
    begun: float
    data: bytes = b""
    request: Request | None = None
    descriptors: list[int] = field(default_factory=list)
    nice: int = 0
    child: Child | None = None

    def close(self) -> None:
        self.connection.close()
        self.close_descriptors()
        self.child = None  # which refers to this one: the collector would come late

    def close_descriptors(self) -> None:
        for descriptor in self.descriptors:
            os.close(descriptor)
        self.descriptors = []


@dataclass(eq=False)
class Child:
    """A process: its client, or the socket through which it gets one, and whether it has its device open."""

    pid: int
    handle: int
    client: Client | None = None
    pipe: socket.socket | None = None
    opened: bool = False


def log(text: str) -> None:
    """Writes a line to standard error, which is the server's log; a full disk does not matter."""
    with suppress(OSError):
        os.write(2, f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}\n".encode())
