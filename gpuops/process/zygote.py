"""A server that runs each command in a child of its own, forked from a process in which imports are done.

The parent has one thread and makes no OpenCL call: drivers start threads then, and a child of such a process may hang
or find no device. So a command is isolated as if it had been started by itself, and the parent does not grow.
"""

from __future__ import annotations

import array
import gc
import json
import os
import select
import signal
import socket
import sys
import time
import traceback
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import NoReturn

from . import peers, requests, surroundings
from .service import Child, Client, Service, log

assert sys.platform == "linux"

# Seconds that a client may take to send its request.
_PATIENCE = 10.0
# Clients at once, at most: each has up to six descriptors.
_MOST = 100
# Seconds without a command after which children that have opened a device end, and free the device's memory.
_READY_SECONDS = 60.0
# Lines that are logged of what was refused, at most.
_LOGGED = 200
# What a child says once it has opened its device.
_OPENED = b"R"


def _tell_client(connection: socket.socket, code: int) -> None:
    """Says how a command ended before its process does, which takes a tenth of a second to free a graphics card."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the client may go
    for number in range(3):
        with suppress(OSError):
            os.close(number)
    with suppress(OSError):
        connection.send(requests.STATUS_OF_END.pack(code << 8))


class Zygote:
    """The server's parent process. ``listener`` is its socket, bound to ``path``; it is listening already."""

    def __init__(self, listener: socket.socket, path: str, service: Service) -> None:
        self._listener, self._path, self._service = listener, path, service
        status = os.lstat(path)
        self._file = status.st_dev, status.st_ino
        self._poll = select.epoll()
        self._handlers: dict[int, Callable[[], None]] = {}
        self._clients: set[Client] = set()
        self._waiting: deque[Client] = deque()
        self._children: set[Child] = set()
        self._leaving = False
        self._begun, self._last, self._last_use = time.time(), time.monotonic(), time.monotonic()
        self._served, self._refused = 0, Counter[str]()
        self._processor_seconds = 0.0

    def serve(self) -> None:
        """Runs commands until somebody stops the server, nobody asks for a while, or the program has changed."""
        listener, wakeup = self._listener.fileno(), socket.socketpair()
        for end in wakeup:
            end.setblocking(False)
        signal.set_wakeup_fd(wakeup[1].fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda *_: None)
        self._watch(listener, self._accept)
        self._watch(wakeup[0].fileno(), partial(self._leave, "stopped by a signal"))
        if self._service.watched is not None:
            self._watch(
                self._service.watched, partial(self._leave, "the process that it was started for has ended")
            )
        gc.collect()
        gc.freeze()  # children do not copy what the collector would touch
        self._wakeup = wakeup
        self._prepare_children()
        while not self._leaving or any(child.client for child in self._children) or self._waiting:
            for descriptor, _ in self._poll.poll(self._seconds()):
                if (handler := self._handlers.get(descriptor)) is not None:
                    handler()
            self._look_at_the_time()

    # -- time -------------------------------------------------------------------------------------------------

    def _seconds(self) -> float | None:
        """Seconds until something has to be done without being asked."""
        now = time.monotonic()
        ends = [client.begun + _PATIENCE for client in self._clients if client.request is None]
        if not self._is_busy():
            ends.append(self._last + self._service.idle)
        if self._idle_children():
            ends.append(self._last_use + _READY_SECONDS)
        return max(0.0, min(ends) - now) + 0.001 if ends else None

    def _look_at_the_time(self) -> None:
        now = time.monotonic()
        for client in [one for one in self._clients if one.request is None and now > one.begun + _PATIENCE]:
            self._drop(client)
        if now > self._last_use + _READY_SECONDS:
            self._end_idle_children()
        if not self._is_busy() and now > self._last + self._service.idle:
            self._leave("nobody asked for a while")

    def _is_busy(self) -> bool:
        return bool(self._waiting or self._clients)

    # -- descriptors that are watched -------------------------------------------------------------------------

    def _watch(self, descriptor: int, handler: Callable[[], None], events: int = select.EPOLLIN) -> None:
        if descriptor in self._handlers:
            self._poll.modify(descriptor, events)
        else:
            self._poll.register(descriptor, events)
        self._handlers[descriptor] = handler

    def _forget(self, descriptor: int) -> None:
        if self._handlers.pop(descriptor, None) is not None:
            self._poll.unregister(descriptor)

    # -- clients ----------------------------------------------------------------------------------------------

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:  # no descriptor is left, or the client has gone
            time.sleep(0.01)
            return
        if len(self._clients) >= _MOST:
            connection.close()
            return
        connection.setblocking(False)
        client = Client(connection, time.monotonic())
        self._clients.add(client)
        self._watch(connection.fileno(), partial(self._receive, client))

    def _receive(self, client: Client) -> None:
        """Takes a client's request; one that sends something else is refused."""
        try:
            client.data, client.descriptors, cut = peers.receive(client.connection)
            if not client.data:
                return self._drop(client)
            request = requests.decode(client.data)
            given = len(request.descriptors()) + 1 if request.kind == requests.COMMAND else 0
            if cut or len(client.descriptors) != given:
                raise ValueError("the request has not all of its descriptors")
        except BlockingIOError:
            return None
        except OSError:
            return self._drop(client)
        except ValueError as error:
            return self._refuse(client, str(error))
        client.request = request
        peer = peers.Peer(client.connection)
        if request.kind != requests.COMMAND:
            if peer.uid != os.geteuid():
                return self._drop(client)
            return self._tell(client)
        if not self._service.is_current():
            self._leave("the program's files have changed")
            return self._refuse(client, "the program has changed since the server was started")
        why = peer.refusal() or self._service.refusal(request)
        if why is not None:
            return self._refuse(client, why)
        client.nice = peer.nice
        self._watch(client.connection.fileno(), partial(self._gone, client), select.EPOLLRDHUP)
        self._waiting.append(client)
        self._last = time.monotonic()
        return self._begin()

    def _refuse(self, client: Client, why: str) -> None:
        self._refused[why] += 1
        if self._refused[why] == 1 and len(self._refused) < _LOGGED:
            log(f"refused: {why}")
        with suppress(OSError):
            client.connection.send(requests.NO + why.encode())
        self._drop(client)

    def _drop(self, client: Client) -> None:
        self._forget(client.connection.fileno())
        self._clients.discard(client)
        client.close()

    def _gone(self, client: Client) -> None:
        """A client has ended: its command ends as if its terminal had been closed."""
        if client.child is None:
            self._waiting.remove(client)
            self._drop(client)
            return
        self._forget(client.connection.fileno())
        with suppress(OSError):
            signal.pidfd_send_signal(client.child.handle, signal.SIGHUP)
            signal.pidfd_send_signal(client.child.handle, signal.SIGCONT)

    def _tell(self, client: Client) -> None:
        """Says how the server is, and ends it if that is asked for."""
        assert client.request is not None
        known = {
            "pid": os.getpid(), "since": self._begun, "served": self._served,
            "running": sum(child.client is not None for child in self._children), "waiting": len(self._waiting),
            "ready": sum(child.opened for child in self._idle_children()), "jobs": self._service.jobs,
            "idle": self._service.idle, "processor_seconds": self._processor_seconds, "refused": self._refused,
        }  # fmt: skip
        with suppress(OSError):
            client.connection.send(json.dumps(known).encode()[: requests.LARGEST // 2])
        self._drop(client)
        if client.request.kind == requests.STOP:
            self._leave("stopped")

    # -- children ---------------------------------------------------------------------------------------------

    def _idle_children(self) -> list[Child]:
        return [child for child in self._children if child.client is None]

    def _begin(self) -> None:
        """Begins commands that wait, as many as may run at once."""
        while (
            self._waiting and sum(child.client is not None for child in self._children) < self._service.jobs
        ):
            client = self._waiting.popleft()
            assert client.request is not None
            computes = self._service.computes(client.request.arguments)
            if computes:
                self._last_use = time.monotonic()
            ready = next((child for child in self._idle_children() if computes and child.opened), None)
            if ready is None or not self._hand_over(ready, client):
                child = self._fork(partial(self._run, client))
                child.client, client.child = client, child
            client.close_descriptors()

    def _hand_over(self, child: Child, client: Client) -> bool:
        """Gives a client to a child that waits with an open device. Returns whether that could be done."""
        assert child.pipe is not None
        numbers = array.array("i", [*client.descriptors, client.connection.fileno()])
        try:
            child.pipe.sendmsg(
                [client.nice.to_bytes(1, "little", signed=True), client.data],
                [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)],
            )
        except OSError:
            return False
        self._forget(child.pipe.fileno())
        child.pipe.close()
        child.pipe, child.client, client.child = None, client, child
        return True

    def _fork(self, work: Callable[[], NoReturn]) -> Child:
        parent = os.getpid()
        pid = os.fork()
        if pid:
            child = Child(pid, os.pidfd_open(pid))
            self._children.add(child)
            self._watch(child.handle, partial(self._ended, child))
            return child
        try:
            signal.set_wakeup_fd(-1)
            surroundings.fresh_signals()
            surroundings.end_with(parent, None)
            os.setpgid(0, 0)
            work()
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)

    def _leave_behind(self, client: Client | None) -> None:
        """Closes in a child what is the server's, all but a client."""
        self._poll.close()
        for one in (self._listener, *self._wakeup, *(child.pipe for child in self._children)):
            if one is not None:
                one.close()
        for other in self._clients - {client}:
            other.close()
        for child in self._children:
            os.close(child.handle)
        if self._service.watched is not None:
            os.close(self._service.watched)

    def _run(self, client: Client) -> NoReturn:
        """Runs a client's command, in a child."""
        self._leave_behind(client)
        self._serve(client.connection, client.data, client.descriptors, client.nice)

    def _serve(self, connection: socket.socket, data: bytes, descriptors: list[int], nice: int) -> NoReturn:
        connection.setblocking(True)
        connection.send(requests.YES.pack(1, os.getpid()))
        if connection.recv(1) != requests.GO:
            os._exit(0)
        if nice > os.getpriority(os.PRIO_PROCESS, 0):
            os.setpriority(os.PRIO_PROCESS, 0, nice)
        surroundings.end_with(os.getppid(), self._service.orphaned)
        *standard, folder = descriptors
        request = requests.decode(data)
        surroundings.adopt(request, standard, folder, self._service.added)
        self._service.run(partial(_tell_client, connection))

    def _ended(self, child: Child) -> None:
        """A child has ended: its client gets to know how."""
        _, status, usage = os.wait4(child.pid, 0)
        self._forget(child.handle)
        os.close(child.handle)
        self._children.discard(child)
        if child.pipe is not None:
            self._forget(child.pipe.fileno())
            child.pipe.close()
        if os.WIFSIGNALED(status) and child.client is not None:
            log(f"process {child.pid} was ended by signal {os.WTERMSIG(status)}")
        self._processor_seconds += usage.ru_utime + usage.ru_stime
        if child.client is not None:
            self._served += 1
            self._last = time.monotonic()
            with suppress(OSError):
                child.client.connection.send(requests.STATUS_OF_END.pack(status))
            self._drop(child.client)
            self._prepare_children()
        elif not child.opened and not self._leaving and status:
            log("no device could be opened ahead")
        self._begin()

    # -- children with an open device -------------------------------------------------------------------------

    def _prepare_children(self) -> None:
        """Has as many children wait with an open device as are wanted, if one was used lately."""
        if self._leaving or time.monotonic() > self._last_use + _READY_SECONDS:
            return
        for _ in range(self._service.ready - len(self._idle_children())):
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            child = self._fork(partial(self._wait, ours, theirs))
            theirs.close()
            child.pipe = ours
            self._watch(ours.fileno(), partial(self._opened, child))

    def _wait(self, ours: socket.socket, theirs: socket.socket) -> NoReturn:
        """Opens the device, and runs the command that comes, in a child."""
        ours.close()
        self._leave_behind(None)
        self._service.open_ahead()
        theirs.send(_OPENED)
        data, descriptors, _ = peers.receive(theirs)
        theirs.close()
        if not data:
            os._exit(0)
        connection = socket.socket(fileno=descriptors.pop())
        self._serve(connection, data[1:], descriptors, int.from_bytes(data[:1], "little", signed=True))

    def _opened(self, child: Child) -> None:
        assert child.pipe is not None
        self._forget(child.pipe.fileno())
        with suppress(OSError):
            child.opened = child.pipe.recv(1) == _OPENED

    def _end_idle_children(self) -> None:
        for child in self._idle_children():
            child.opened = False
            with suppress(OSError):
                signal.pidfd_send_signal(child.handle, signal.SIGKILL)

    def _leave(self, why: str) -> None:
        """Takes no further commands; those that have begun go on, and those that wait begin."""
        if self._leaving:
            if why.startswith("stopped by"):
                os._exit(1)  # somebody insists
            return
        self._leaving = True
        log(f"ends: {why}")
        for end in self._wakeup[:1]:
            with suppress(OSError):
                end.recv(64)
        if self._service.watched is not None:
            self._forget(self._service.watched)
        with suppress(OSError):
            status = os.lstat(self._path)
            if (status.st_dev, status.st_ino) == self._file:
                os.unlink(self._path)
        self._forget(self._listener.fileno())
        self._listener.close()
        self._end_idle_children()
