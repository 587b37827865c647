"""The part of a command that runs in a server: it sends what it was started with, and takes over how that ends.

It imports only what Python has built in or has imported already: the server makes no command faster otherwise. The
messages are those of :mod:`gpuops.process.requests`.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import _socket
import os
import sys

from . import address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

assert sys.platform == "linux"

# As in gpuops.process.requests, which takes too long to import.
_MAGIC, _VERSION = b"CLPX", 1
_NO, _GO, _YES = 0, b"G", 5  # 5: bytes of the answer
# Seconds to wait until a command begins: until then it may still run without the server, and where it must not, longer.
_PATIENCE, _MORE_PATIENCE = 2.0, 30.0
# Signals that go on to the process that runs the command; those that a process may be told to ignore, too.
_FORWARDED = (
    _signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP, _signal.SIGQUIT, _signal.SIGUSR1, _signal.SIGUSR2,
)  # fmt: skip
_PYTHONS = (_signal.SIGPIPE, _signal.SIGXFSZ)  # Python ignores these by itself


def ask(mode: str, environment: dict[bytes, bytes]) -> None:
    """Has the server run the command, and ends with its exit code; returns if the command has to run here.

    ``mode`` is the value of CLPIX_SERVER, and ``environment`` what the program was started with. With ``require`` the
    program ends instead of returning, except for commands that no server runs.
    """
    if mode not in ("auto", "require"):
        _end(f"CLPIX_SERVER is {mode!r}: set it to auto, off or require", 2)
    arguments = sys.argv[1:]
    if _is_alone(arguments):
        return
    patience = _PATIENCE if mode == "auto" else _MORE_PATIENCE
    why = _doubt(arguments) or _asked(arguments, environment, patience)
    if mode == "require":
        _end(f"{why} (CLPIX_SERVER=require)", _failure(arguments))


def _is_alone(arguments: list[str]) -> bool:
    """Says whether no server runs such a command."""
    command = next((word for word in arguments if not word.startswith("-")), "")
    return (
        command in address.ALONE
        or "_CLPIX_COMPLETE" in os.environ
        or len(arguments) > address.MANY
        or any(
            word.startswith("@")
            or word.partition("=")[0] in address.ALONE_WITH
            or word.lower().endswith(address.VIDEOS)
            or any(own in word for own in address.OWN)
            for word in arguments
        )
    )


def _doubt(arguments: list[str]) -> str | None:
    """Returns why this process cannot be stood in for."""
    if (os.getuid(), os.getgid()) != (os.geteuid(), os.getegid()):
        return "the program runs with another user's rights"
    own = sys.orig_argv[1:2]
    if own and own[0].startswith("-") and own[0] not in ("-m", "--"):
        return f"Python has the option {own[0]}"
    if "LD_PRELOAD" in os.environ:
        return "LD_PRELOAD is set"
    if sys.gettrace() or sys.getprofile() or "coverage" in sys.modules:
        return "the program is traced"
    if "-" in arguments and os.isatty(0):
        return "standard input is a terminal"
    return None


def _asked(arguments: list[str], environment: dict[bytes, bytes], patience: float) -> str:
    """Has the server run the command, and ends; returns why it does not."""
    closed = sum((not _is_open(number)) << number for number in range(3))
    path = address.socket_path(environment)
    if path is None:
        return "no server runs: no folder can be trusted with its socket"
    child = _Child()
    ignored = child.listen()
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET | _socket.SOCK_CLOEXEC)
    connection.settimeout(patience)
    try:
        connection.connect(path)
        if _peer(connection) != os.geteuid():
            return "the server is another user's"
        _send(connection, _message(arguments, environment, closed, ignored), closed)
        answer = connection.recv(4096)
        if len(answer) != _YES or answer[0] == _NO:
            return f"the server does not run it: {answer[1:].decode(errors='replace') or 'it ended'}"
        child.handle = os.pidfd_open(int.from_bytes(answer[1:], "little"))
        connection.settimeout(None)
        connection.send(_GO)
    except FileNotFoundError:
        return "no server runs"
    except OSError as error:
        return f"no server can be asked: {error.strerror or 'it does not answer'}"
    finally:
        if child.handle is None:
            child.deafen()
    try:
        status = connection.recv(4)
    except OSError:
        status = b""
    if len(status) != 4:
        child.wait()
        told = "look at what is there before you run it again (see clpix server log)"
        _end(f"the server ended while the command ran: {told}", _failure(arguments))
    child.deafen()
    return _end_as(int.from_bytes(status, "little", signed=True))


def _send(connection: Any, message: bytes, closed: int) -> None:
    """Sends the request, with the standard descriptors that are open, and the current folder."""
    folder = os.open(".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    descriptors = [*(number for number in range(3) if not closed >> number & 1), folder]
    numbers = b"".join(number.to_bytes(4, sys.byteorder) for number in descriptors)
    connection.sendmsg([message], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, numbers)])
    os.close(folder)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def _peer(connection: Any) -> int:
    """Returns the user of the process at the other end."""
    packed: bytes = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
    return int.from_bytes(packed[4:8], sys.byteorder)


def _message(arguments: list[str], environment: dict[bytes, bytes], closed: int, ignored: int) -> bytes:
    """Returns the request."""
    blocked = sum(1 << (number - 1) for number in _signal.pthread_sigmask(_signal.SIG_BLOCK, ()))
    umask = os.umask(0o077)
    os.umask(umask)
    words = [os.fsencode(word) for word in (sys.argv[0], *arguments)]
    numbers = (
        (_VERSION, 1),
        (0, 1),
        (closed, 1),
        (0, 1),
        (umask, 4),
        (ignored, 8),
        (blocked, 8),
        (len(words), 4),
    )
    head = b"".join(number.to_bytes(size, "little") for number, size in numbers)
    entries = [name + b"=" + value for name, value in environment.items()]
    return _MAGIC + head + b"".join(word + b"\0" for word in (*words, *entries))


class _Child:
    """The process that runs the command, which gets this process's signals once it is there."""

    def __init__(self) -> None:
        self.handle: int | None = None

    def listen(self) -> int:
        """Takes signals from now on. Returns those that are ignored, which stay so, as bits."""
        ignored = 0
        for number in range(1, _signal.NSIG):
            if number in _PYTHONS:
                continue
            try:
                if _signal.getsignal(number) == _signal.SIG_IGN:
                    ignored |= 1 << (number - 1)
                elif number in _FORWARDED:
                    _signal.signal(number, self._forward)
                elif number in (_signal.SIGTSTP, _signal.SIGCONT):
                    _signal.signal(number, self._stop if number == _signal.SIGTSTP else self._go_on)
            except ValueError:
                continue
        return ignored

    def deafen(self) -> None:
        """Gives signals their usual effect again."""
        for number in (*_FORWARDED, _signal.SIGTSTP, _signal.SIGCONT):
            if _signal.getsignal(number) != _signal.SIG_IGN:
                usual = _signal.default_int_handler if number == _signal.SIGINT else _signal.SIG_DFL
                _signal.signal(number, usual)

    def _forward(self, number: int, _frame: object) -> None:
        if self.handle is None:  # nothing has begun
            _raise(number)
        else:
            self._send(number)

    def _stop(self, _number: int, _frame: object) -> None:
        self._send(_signal.SIGSTOP)
        _raise(_signal.SIGTSTP)  # it goes on from here
        _signal.signal(_signal.SIGTSTP, self._stop)

    def _go_on(self, _number: int, _frame: object) -> None:
        self._send(_signal.SIGCONT)

    def _send(self, number: int) -> None:
        if self.handle is not None:
            try:
                _signal.pidfd_send_signal(self.handle, number)
            except OSError:  # it has ended
                return

    def wait(self) -> None:
        """Waits until the process has ended, for a little while."""
        import select

        if self.handle is not None:
            poll = select.poll()
            poll.register(self.handle, select.POLLIN)
            poll.poll(_PATIENCE * 1000)


def _raise(number: int) -> None:
    """Sends this process a signal that has its usual effect."""
    if number not in (_signal.SIGKILL, _signal.SIGSTOP):
        _signal.signal(number, _signal.SIG_DFL)
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, (number,))
    os.kill(os.getpid(), number)


def _failure(arguments: list[str]) -> int:
    """Returns the exit code of a failure: 1 of a comparison says that pictures differ."""
    return 2 if arguments[:1] == ["compare"] else 1


def _end_as(status: int) -> NoReturn:
    """Ends this process as another one has ended."""
    if os.WIFSIGNALED(status):
        _raise(os.WTERMSIG(status))
        os._exit(128 + os.WTERMSIG(status))
    os._exit(os.WEXITSTATUS(status))


def _end(text: str, code: int) -> NoReturn:
    """Says one line and ends."""
    try:
        os.write(2, f"clpix: error: {text}\n".encode(errors="backslashreplace"))
    finally:
        os._exit(code)
