"""The command ``clpix server``: a process that has all imports done runs commands, each in a child of its own."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from gpuops.errors import FileError, ParameterError, json_text
from gpuops.process import locks

from . import address, commands
from .entry import ENVIRONMENT
from .messages import show

# Starts the process of the server, which finds its modules where this one does.
_START = """import json, sys; given = json.loads(sys.argv[1]); sys.path[:] = given["path"]
import clpix.entry  # before anything that changes the environment
from clpix.resident import main; main(given)"""
# The kinds of requests (gpuops.process.requests).
_STATUS, _STOP = 1, 2
# Seconds that a server may take to start, and to answer.
_STARTING, _ANSWERING = 120.0, 2.0
# Seconds after which a log is removed.
_OLD = 24 * 3600
# Seconds of a minute and so on, by the letter behind a number.
_SECONDS = {"s": 1, "m": 60, "h": 3600}


@click.group(
    cls=commands.CommandGroup,
    no_args_is_help=False,
    examples=("clpix server start", "clpix server status", "clpix server stop"),
)
def command() -> None:
    """Run a process that makes commands start at once.

    It has everything imported, and runs each command in a process of its own. Commands use it if CLPIX_SERVER is
    auto; without it they run as usual.
    """
    if sys.platform != "linux":
        raise ParameterError("servers need Linux")


def _idle(_ctx: click.Context, _param: click.Parameter, value: str) -> float:
    """Returns seconds, of a number with s, m or h behind it."""
    number, unit = (value[:-1], value[-1:]) if value[-1:] in _SECONDS else (value, "s")
    try:
        seconds = float(number) * _SECONDS[unit]
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e7:
        raise click.BadParameter(f"{value!r} is no time such as 90s, 15m or 2h")
    return seconds


@command.command(
    examples=("clpix server start --idle 2h", "clpix server start --ready 1", "clpix server start --export")
)
@click.option(
    "--ready",
    type=click.IntRange(0, 64),
    default=0,
    show_default=True,
    metavar="N",
    help="Processes that wait with the device open: worth it on a GPU, whose memory they take.",
)
@click.option(
    "--idle",
    default="15m",
    show_default=True,
    callback=_idle,
    metavar="TIME",
    help="The time without a command after which the server ends.",
)
@click.option(
    "--jobs",
    type=click.IntRange(1, 1024),
    metavar="N",
    help="Commands that run at once; others wait.  [default: processors + 1]",
)
@click.option(
    "--export", is_flag=True, help="Print what a shell has to evaluate: it starts a server that ends with it."
)
def start(ready: int, idle: float, jobs: int | None, export: bool) -> None:
    """Start a server for the environment that this shell has now.

    It prints the server's process and its socket. One that runs already stays. With
    eval "$(clpix server start --export)" a shell starts one that ends with it, and uses it.
    """
    if export:
        show(_exported(ready, idle, jobs))
        return
    socket, log = _place(make=True)
    with open(log, "a") as file:
        try:
            locks.hold(file.fileno())
        except BlockingIOError:
            show(f"{_running(socket)} {socket} (it runs already)")
            return
        os.truncate(log, 0)
        os.utime(log)
        _sweep(Path(log).parent)
        jobs = jobs or (os.cpu_count() or 1) + 1
        given = {"path": sys.path, "socket": socket, "jobs": jobs, "ready": ready, "idle": idle}
        pid = _started(given, file.fileno())
    show(f"{pid} {socket}")


def _sweep(folder: Path) -> None:
    """Removes what servers that have ended left there more than a day ago."""
    for log in folder.glob("*.log"):
        with suppress(OSError), log.open() as file:
            if time.time() - log.stat().st_mtime > _OLD:
                locks.hold(file.fileno())
                log.with_suffix(".sock").unlink(missing_ok=True)
                log.unlink()


def _exported(ready: int, idle: float, jobs: int | None) -> str:
    """Returns lines of a shell: only that knows its own process."""
    words = [sys.executable, "-m", "clpix", "server", "start", "--ready", str(ready), "--idle", f"{idle:g}s"]
    words += ["--jobs", str(jobs)] if jobs else []
    return f"export CLPIX_SERVER=auto CLPIX_SERVER_PARENT=$$\n{shlex.join(words)} >/dev/null"


def _started(given: dict[str, Any], log: int) -> int:
    """Starts a server, whose log is an open file that is locked as long as it lives. Returns its process."""
    here, there = os.pipe()
    with os.fdopen(here) as answer:
        try:
            process = subprocess.Popen(
                [sys.executable, "-c", _START, json.dumps({**given, "report": there})],
                env={os.fsdecode(name): os.fsdecode(value) for name, value in ENVIRONMENT.items()},
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log,
                pass_fds=[there], start_new_session=True,
            )  # fmt: skip
        finally:
            os.close(there)
        said = json.loads(answer.read() or "{}")
    if "pid" not in said:
        process.wait()
        raise FileError(
            f"the server could not be started: {said.get('error', 'clpix server log may tell why')}"
        )
    return int(said["pid"])


def _place(*, make: bool = False) -> tuple[str, str]:
    """Returns the paths of the socket and of the log of this environment's server."""
    try:
        folder = address.folder_of(ENVIRONMENT, make=make)
    except OSError as error:
        raise FileError(f"{os.fsdecode(error.filename)}: {error.strerror}") from None
    path = address.socket_path(ENVIRONMENT) if folder else None
    if path is None:
        raise FileError(
            "no folder is there for the server's socket that this user alone can look into, with a short name: "
            "set XDG_RUNTIME_DIR or TMPDIR to one of mode 0700"
        )
    return os.fsdecode(path), os.fsdecode(path)[: -len(".sock")] + ".log"


def _running(socket: str) -> int:
    """Returns the process of a server that has been started, once it answers."""
    deadline = time.monotonic() + _STARTING
    while time.monotonic() < deadline:
        if known := _told(socket, _STATUS):
            return int(known["pid"])
        time.sleep(0.05)
    raise FileError("a server was started, but does not answer: clpix server log may tell why")


def _told(path: str, kind: int) -> dict[str, Any] | None:
    """Returns what a server says of itself, after it got a request of a kind; None if none answers."""
    if sys.platform != "linux":
        return None
    import socket

    from gpuops.process import requests

    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.settimeout(_ANSWERING)
        try:
            connection.connect(path)
            connection.send(
                requests.HEAD.pack(requests.MAGIC, requests.VERSION, kind, 7, 0, 0, 0, 0, 1) + b"clpix\0"
            )
            known: dict[str, Any] = json.loads(connection.recv(requests.LARGEST))
        except (OSError, ValueError):
            return None
    return known


@command.command(examples=("clpix server stop", "clpix server stop --all"))
@click.option(
    "--all",
    "every",
    is_flag=True,
    help="Stop all servers of this user that are found, not only this shell's.",
)
def stop(every: bool) -> None:
    """Stop the server of this environment, once its commands have ended."""
    sockets = list(_sockets()) if every else [_place()[0]]
    stopped = [(socket, known) for socket in sockets if (known := _told(socket, _STOP))]
    if not stopped and not every:
        raise FileError(f"no server runs for this environment{_others()}")
    for socket, known in stopped:
        if not _has_ended(f"{socket[: -len('.sock')]}.log"):
            show(f"{known['pid']} ends after its commands ({known['running'] + known['waiting']})")
        else:
            show(f"{known['pid']} stopped")


def _has_ended(log: str) -> bool:
    """Waits until a server has ended, for a while. Returns whether it has."""
    deadline = time.monotonic() + 10 * _ANSWERING
    while time.monotonic() < deadline:
        try:
            with open(log) as file:
                locks.hold(file.fileno())
            return True
        except FileNotFoundError:
            return True
        except BlockingIOError:
            time.sleep(0.01)
    return False


@command.command(examples=("clpix server status", "clpix server status --json"))
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def status(as_json: bool) -> None:
    """Show the servers of this user: what each has done, and why it refused commands.

    The exit code is 1 if none runs for the environment that this shell has.
    """
    path = address.socket_path(ENVIRONMENT)
    mine = os.fsdecode(path) if path else ""
    servers = [
        {"socket": socket, "here": socket == mine, **known}
        for socket in _sockets()
        if (known := _told(socket, _STATUS))
    ]
    if as_json:
        show(json_text({"servers": servers}, 2))
    for server in servers if not as_json else ():
        show("\n".join(_lines(server)))
    if not any(server["here"] for server in servers):
        if not as_json:
            show("No server runs for this environment.")
        click.get_current_context().exit(1)


def _lines(server: dict[str, Any]) -> Iterator[str]:
    """Gives what is known of a server, as text."""
    since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(server["since"]))
    yield f"Server {server['pid']}{'' if server['here'] else ' (of another environment)'}"
    yield f"  socket   {server['socket']}"
    yield f"  since    {since}, ends {server['idle']:g} s after the last command"
    each = server["processor_seconds"] / server["served"] if server["served"] else 0.0
    yield f"  served   {server['served']} commands, each {each * 1000:.0f} ms of processor time"
    yield f"  now      {server['running']} run of {server['jobs']} at most, {server['waiting']} wait"
    yield f"  ready    {server['ready']} processes with an open device"
    for why, times in server["refused"].items():
        yield f"  refused  {times} commands: {why}"


@command.command(examples=("clpix server log",))
def log() -> None:
    """Print the log of this environment's server, or of the last one."""
    try:
        text = Path(_place()[1]).read_text(errors="replace")
    except FileNotFoundError:
        raise FileError(f"no server has run for this environment{_others()}") from None
    click.echo(text, nl=False)


@command.command(examples=("clpix server client clpixc",))
@click.argument("path")
def client(path: str) -> None:
    """Compile clpixc, which takes clpix's place in loops: it asks the server without starting Python.

    It needs a C compiler, and has to be made anew when clpix has been moved or upgraded. What no server runs it hands
    to clpix.
    """
    from .compiled_client import compile_to

    compile_to(path)
    show(path)


def _sockets() -> Iterator[str]:
    """Gives the paths of all sockets in the folder of servers."""
    folder = address.folder_of(ENVIRONMENT)
    for path in sorted(Path(os.fsdecode(folder)).glob("*.sock")) if folder else ():
        yield str(path)


def _others() -> str:
    """Returns a hint at servers of other environments."""
    pids = [str(known["pid"]) for socket in _sockets() if (known := _told(socket, _STATUS))]
    return f"; others run: {', '.join(pids)} (clpix server status)" if pids else ""
