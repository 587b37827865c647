"""The server's parent process by itself: what it takes from clients, and how its children begin and end."""

import array
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from gpuops.process import requests

from .conftest import run_python
from .servers import lives, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="servers need Linux")

# A server whose commands write their arguments, or wait. "device" stands for an open device.
PROGRAM = """
import os, signal, socket, sys, time
from gpuops.process import service, zygote
path, jobs, ready = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
opened = []
def run(tell):
    arguments = sys.argv[1:]
    if arguments[0] == "wait":
        signal.signal(signal.SIGHUP, lambda *_: os._exit(7))
        print("waits", flush=True)
        time.sleep(600)
    if arguments[0] == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    print(*arguments, *opened, os.getcwd(), os.environ.get("GIVEN"), os.environ.get("OURS"), flush=True)
    if arguments[0] == "linger":
        tell(len(arguments))
        time.sleep(600)
    os._exit(len(arguments))
def refusal(request):
    return "it has to be refused" if b"REFUSED" in request.environment else None
served = service.Service(
    run=run, orphaned=lambda: os._exit(9), refusal=refusal, computes=lambda arguments: b"compute" in arguments,
    open_ahead=lambda: opened.append("device"), is_current=lambda: not os.path.exists(path + ".changed"),
    added={b"OURS": b"ours"}, jobs=jobs, ready=ready, idle=float(sys.argv[4]), watched=None,
)
zygote._PATIENCE, zygote._READY_SECONDS = 0.3, float(sys.argv[5])
listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
listener.bind(path)
listener.listen()
listener.setblocking(False)
print("listens", flush=True)
os.environ["OURS"] = "ours"
zygote.Zygote(listener, path, served).serve()
"""


class Parent:
    """A server's process, and its socket."""

    def __init__(
        self, folder: Path, jobs: int = 2, ready: int = 0, idle: float = 600, keep: float = 600
    ) -> None:
        self.path = str(folder / "s")
        self.log = folder / "log"
        words = [sys.executable, "-c", PROGRAM, self.path, *map(str, (jobs, ready, idle, keep))]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=log)
        assert self.process.stdout is not None and self.process.stdout.readline() == b"listens\n"
        self.told()  # it serves

    def connection(self) -> socket.socket:
        one = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        one.settimeout(30)
        one.connect(self.path)
        return one

    def told(self, kind: int = requests.STATUS) -> dict:
        with self.connection() as one:
            one.send(message("status", kind=kind, closed=7))
            return json.loads(one.recv(requests.LARGEST))

    def children(self) -> list[int]:
        pid = self.process.pid
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Parent]]:
    parents: list[Parent] = []

    def begun(**how: float) -> Parent:
        folder = tmp_path / str(len(parents))
        folder.mkdir()
        parents.append(Parent(folder, **how))
        return parents[-1]

    yield begun
    for parent in parents:
        parent.end()


def message(
    *words: str, kind: int = requests.COMMAND, closed: int = 1, environment: str = "GIVEN=given"
) -> bytes:
    head = requests.HEAD.pack(requests.MAGIC, requests.VERSION, kind, closed, 0, 0o22, 0, 0, len(words) + 1)
    return head + "".join(f"{word}\0" for word in ("clpix", *words, environment)).encode()


class Command:
    """A client that does one step after the other, for a command without standard input."""

    def __init__(self, parent: Parent, *words: str, environment: str = "GIVEN=given") -> None:
        self.connection = parent.connection()
        self.out, write = os.pipe()
        folder = os.open("/", os.O_PATH)
        numbers = array.array("i", [write, write, folder])
        data = message(*words, environment=environment)
        self.connection.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)])
        os.close(write)
        os.close(folder)

    def child(self) -> int:
        """The process that is going to run it; raises an error with the reason why none is."""
        answer = self.connection.recv(1000)
        if len(answer) != requests.YES.size or answer[:1] == requests.NO:
            raise ConnectionRefusedError(answer[1:].decode())
        return int(requests.YES.unpack(answer)[1])

    def go(self) -> None:
        self.connection.send(requests.GO)

    def status(self) -> int:
        return int(requests.STATUS_OF_END.unpack(self.connection.recv(4))[0])

    def line(self) -> str:
        with suppress(OSError), os.fdopen(self.out) as file:
            return file.readline().strip()
        return ""

    def result(self) -> tuple[int, str]:
        self.child()
        self.go()
        return os.waitstatus_to_exitcode(self.status()), self.line()


def test_a_command_gets_what_its_client_has(start) -> None:
    assert Command(start(), "a", "b c").result() == (2, "a b c / given ours")


def test_nothing_begins_before_the_client_says_so(start) -> None:
    parent = start()
    command = Command(parent, "a")
    child = command.child()
    time.sleep(0.5)
    assert lives(child)
    command.connection.close()
    until(lambda: not lives(child))
    assert command.line() == ""
    assert parent.told()["running"] == 0


def test_the_end_is_told_before_the_process_ends(start) -> None:
    """Its output has ended, too, and it holds nobody up."""
    parent = start(jobs=1)
    command = Command(parent, "linger")
    child = command.child()
    command.go()
    assert os.waitstatus_to_exitcode(command.status()) == 1
    assert os.read(command.out, 100) == b"linger / given ours\n" and os.read(command.out, 1) == b""
    assert lives(child)
    command.connection.close()
    time.sleep(0.2)
    assert lives(child)  # its end is not cut short
    os.kill(child, signal.SIGKILL)
    assert Command(parent, "a").result() == (1, "a / given ours")


def test_a_crash_is_told_to_the_client_alone(start) -> None:
    parent = start()
    assert Command(parent, "crash").result() == (-signal.SIGSEGV, "")
    assert Command(parent, "a").result()[0] == 1
    assert "signal 11" in parent.log.read_text()


@pytest.mark.parametrize("data", [
    b"", b"x", b"CLPX", message("a")[:-1], message("a")[:30], b"CLPX\x63" + message("a")[5:], message("a", kind=9),
    requests.HEAD.pack(b"CLPX", requests.VERSION, 0, 1, 0, 0, 0, 0, 2**32 - 1) + b"a\0", os.urandom(5000),
    message("a", closed=0), message("a", closed=3),
], ids=range(11))  # fmt: skip
def test_damaged_requests_are_refused(start, data) -> None:
    parent = start()
    before = len(os.listdir(f"/proc/{parent.process.pid}/fd"))
    with (
        parent.connection() as one,
        open("/") if False else os.fdopen(os.open("/dev/null", os.O_RDWR)) as null,
    ):
        numbers = array.array("i", [null.fileno()] * 3)
        one.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)] if data else [])
        if not data:
            one.shutdown(socket.SHUT_WR)
        assert one.recv(100)[:1] in (requests.NO, b"")
    assert Command(parent, "a").result()[0] == 1
    until(lambda: len(os.listdir(f"/proc/{parent.process.pid}/fd")) <= before)


def test_too_many_descriptors(start) -> None:
    parent = start()
    before = len(os.listdir(f"/proc/{parent.process.pid}/fd"))
    with parent.connection() as one:
        numbers = array.array("i", [0] * 200)
        one.sendmsg([message("a")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)])
        assert one.recv(100)[:1] == requests.NO
    until(lambda: len(os.listdir(f"/proc/{parent.process.pid}/fd")) <= before)


def test_silent_clients_hold_nobody_up(start) -> None:
    parent = start()
    silent = [parent.connection() for _ in range(110)]  # more than it takes at once
    assert silent[0].recv(1) == b""  # after a while
    assert Command(parent, "a").result()[0] == 1
    for one in silent:
        one.close()


def test_who_cannot_be_served_is_told_why(start) -> None:
    parent = start()
    with pytest.raises(ConnectionRefusedError, match="it has to be refused"):
        Command(parent, "a", environment="REFUSED=1").child()
    assert parent.told()["refused"] == {"it has to be refused": 1}


def test_as_many_run_as_may(start) -> None:
    parent = start(jobs=2)
    commands = [Command(parent, "wait") for _ in range(3)]
    children = [command.child() for command in commands[:2]]
    known = parent.told()
    assert (known["running"], known["waiting"]) == (2, 1)
    commands[0].connection.close()  # it has not begun
    assert commands[2].child() not in children
    commands[2].go()
    assert commands[2].line() == "waits"
    commands[2].connection.close()
    until(lambda: parent.told()["running"] == 1)


def test_a_changed_program_is_not_run(start) -> None:
    parent = start()
    running = Command(parent, "wait")
    running.child()
    Path(f"{parent.path}.changed").touch()
    with pytest.raises(ConnectionRefusedError, match="the program has changed"):
        Command(parent, "a").child()
    assert not os.path.exists(parent.path) and parent.process.poll() is None
    running.connection.close()
    assert parent.process.wait(30) == 0


def test_a_server_leaves_the_socket_of_another(start) -> None:
    parent = start()
    other = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    os.rename(parent.path, f"{parent.path}.old")
    other.bind(parent.path)
    parent.process.send_signal(signal.SIGTERM)
    assert parent.process.wait(30) == 0 and os.path.exists(parent.path)


def test_ready_children(start) -> None:
    parent = start(ready=1, keep=2.0)
    until(lambda: parent.told()["ready"] == 1)
    (ready,) = parent.children()
    assert Command(parent, "a").result() == (1, "a / given ours")  # it needs no device
    assert parent.children() == [ready]
    assert Command(parent, "compute").result() == (1, "compute device / given ours")
    until(lambda: parent.told()["ready"] == 1)  # it has been replaced
    os.kill(parent.children()[0], signal.SIGKILL)
    until(lambda: not parent.children())
    assert Command(parent, "compute").result()[0] == 1  # by another one
    until(lambda: parent.told()["ready"] == 1)
    until(lambda: not parent.children(), 10)  # nobody computed for a while
    assert Command(parent, "compute").result() == (1, "compute / given ours")
    until(lambda: parent.told()["ready"] == 1)
    parent.told(requests.STOP)
    assert parent.process.wait(30) == 0


@pytest.mark.parametrize("times", [5, pytest.param(60, marks=pytest.mark.exhaustive)])
def test_no_child_outlives_its_parent(start, times) -> None:
    """The parent is killed at any time: while it forks, and while children wait or run."""
    for turn in range(times):
        parent = start(ready=2)
        commands = [Command(parent, "wait"), Command(parent, "compute")]
        with suppress(OSError):
            commands[0].child()
            commands[0].go()
        time.sleep(0.002 * (turn % 30))
        children = parent.children()
        parent.process.kill()
        parent.process.wait()
        until(lambda pids=children: not any(map(lives, pids)))
        until(lambda number=parent: not _of(number))
        for command in commands:
            command.connection.close()


def _of(parent: Parent) -> list[str]:
    """Processes that still run the parent's program."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if parent.path.encode() in (folder / "cmdline").read_bytes().split(b"\0") and lives(
                int(folder.name)
            ):
                found.append(folder.name)
    return found


def test_a_server_needs_no_extras() -> None:
    """It imports all that commands may need, as far as it is installed, and has one thread afterwards."""
    extras = "PyOpenColorIO av cloudpickle dask distributed fsspec matplotlib pillow_heif psutil rawpy s3fs"
    code = (
        "import os, sys\n"
        f"for name in {extras.split()!r}:\n    sys.modules[name] = None\n"
        "os.environ['OPENBLAS_NUM_THREADS'] = '1'\n"
        "from clpix import resident\nresident._import()\n"
        "print(len(os.listdir('/proc/self/task')), 'gpuops.files.formats.png' in sys.modules)"
    )
    done = run_python("-c", code)
    assert (done.stdout, done.returncode) == ("1 True\n", 0), done.stderr
