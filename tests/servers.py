"""A server for tests: a folder for its socket, its start and end, and commands that it runs."""

from __future__ import annotations

import fcntl
import json
import os
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .conftest import run_python

# What begins the program.
PROGRAM = (sys.executable, "-m", "clpix")


class Server:
    """A server in a folder of its own, and what is asked of it."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.folder = folder
        folder.mkdir(mode=0o700, exist_ok=True)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("CLPIX_SERVER")}
        self.environment = kept | {"XDG_RUNTIME_DIR": str(folder)} | environment

    def start(self, *options: object, **how: Any) -> int:
        """Starts it and returns its process."""
        return int(self.manage("start", *options, check=True, **how).stdout.split()[0])

    def manage(self, *words: object, **how: Any) -> subprocess.CompletedProcess[str]:
        return run_python("-m", "clpix", "server", *words, **{"env": self.environment, **how})

    def status(self) -> dict[str, Any]:
        """What it says of itself."""
        servers = json.loads(self.manage("status", "--json").stdout)["servers"]
        known: dict[str, Any] = next(one for one in servers if one["here"])
        return known

    def asking(self, mode: str = "require", **more: str) -> dict[str, str]:
        """The environment of a command that is to ask it."""
        return self.environment | {"CLPIX_SERVER": mode} | more

    def run(self, *arguments: object, mode: str = "require", **how: Any) -> subprocess.CompletedProcess[Any]:
        """Runs a command in it."""
        return run_python("-m", "clpix", *arguments, **{"env": self.asking(mode), **how})

    def open(self, *arguments: object, **how: Any) -> subprocess.Popen[bytes]:
        """Starts a command in it."""
        usual = {
            "env": self.asking(),
            "stdin": subprocess.PIPE,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
        }
        return subprocess.Popen([*PROGRAM, *map(str, arguments)], **{**usual, **how})

    def children(self) -> list[int]:
        """The processes that the server has started."""
        pid = self.status()["pid"]
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@contextmanager
def served(folder: Path, *options: object, **environment: str) -> Iterator[Server]:
    """Gives a server that runs, and stops it in the end."""
    server = Server(folder, **environment)
    server.start(*options)
    try:
        yield server
    finally:
        server.manage("stop", "--all")


def until(true: Callable[[], object], seconds: float = 20.0) -> None:
    """Waits until something is so."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it did not become true"
        time.sleep(0.01)


def waits_for_input(process: subprocess.Popen[bytes]) -> None:
    """Waits until a command reads what comes through standard input: it has begun then, and cannot end."""
    assert process.stdin is not None
    process.stdin.write(b"\x89PNG\r\n\x1a\n")
    process.stdin.flush()
    descriptor = process.stdin.fileno()
    until(lambda: struct.unpack("i", fcntl.ioctl(descriptor, termios.FIONREAD, bytes(4)))[0] == 0)


def ended(process: subprocess.Popen[bytes]) -> tuple[int, bytes]:
    """Waits until a command has ended, whose standard input stays open. Returns its exit code, and what it said."""
    code = process.wait(60)
    assert process.stderr is not None
    said = process.stderr.read()
    process.communicate()
    return code, said


def lives(pid: int) -> bool:
    """Whether a process runs: one that has ended and waits for its parent does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
