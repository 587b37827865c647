"""A process that does jobs on one device, and the object by which another process talks to it.

The process asks for jobs, by None, when it has none left and its pipeline has room for one more. The answer is a list,
which is empty while it has others to finish first. It tells the outcomes of jobs in the order in which it got them.
"""

from __future__ import annotations

import multiprocessing
import os
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from multiprocessing import connection, resource_tracker
from multiprocessing.connection import Connection
from threading import Thread
from typing import TYPE_CHECKING, Any, NoReturn

from .. import notes
from ..device import loading
from ..errors import GpuopsError
from ..files import drafts, threads
from ..process import ahead, memory, signals, standard_error
from .job import Job
from .pipeline import Done, run_jobs

if TYPE_CHECKING:
    from ..gpu import Gpu

# Seconds that a process which was killed may take to end; one that is stuck in a driver is left to the system.
_ENDING = 5.0


@dataclass(frozen=True)
class WorkerSettings:
    """The settings of a process: its device, its number of processors, its memory.

    ``at_once`` and ``memory`` are as for :func:`gpuops.batch.pipeline.run_jobs`.
    """

    open_gpu: Callable[[str], Gpu]
    device: str
    processors: int
    at_once: int
    memory: int


class Unexpected(RuntimeError):
    """An unexpected error in a process; its text is the traceback of that process."""


class Worker:
    """A process for one device, seen from the process that has started it and gives it jobs."""

    def __init__(self, how: WorkerSettings) -> None:
        # Otherwise the tracker would be started with the first process, and let signals through to it.
        resource_tracker.ensure_running()
        context = multiprocessing.get_context("spawn")
        self._parent, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, how), daemon=True)
        with theirs, signals.kept():
            self._process.start()

    def answer(self, jobs: list[Job]) -> None:
        """Answers a question for jobs. If the process has died, :meth:`hear` will tell."""
        with suppress(OSError):
            self._parent.send(jobs)

    def hear(self) -> Done | GpuopsError | None:
        """Returns the process's message: a job's outcome, the error of its device, or None if it asks for jobs.

        Raises EOFError if it has died.
        """
        try:
            said: Done | Unexpected | GpuopsError | None = self._parent.recv()
        except OSError:  # it died in the middle of a message
            raise EOFError from None
        if isinstance(said, Unexpected):
            raise said
        return said

    def end(self) -> int | None:
        """Ends the process at once, whatever it does. Returns its exit code, if it has ended in time."""
        self._process.kill()
        self._process.join(_ENDING)
        self._parent.close()
        return self._process.exitcode

    @staticmethod
    def ready(workers: Iterable[Worker], timeout: float | None = None) -> list[Worker]:
        """Waits until one of the processes says something or dies, and returns those that do."""
        pipes: dict[Any, Worker] = {worker._parent: worker for worker in workers}
        return [pipes[pipe] for pipe in connection.wait(pipes, timeout)]


def _serve(parent: Connection, how: WorkerSettings) -> None:
    """Does jobs until the other process ends this one."""
    signals.leave_to_others()
    ahead.single = True
    loading.begin(how.device)
    memory.keep_freed()
    Thread(target=_end_with_parent, daemon=True).start()
    warnings.simplefilter("ignore")  # what a person should know goes with each job
    open_gpu = cache(partial(how.open_gpu, how.device))
    try:
        with standard_error.apart(), notes.to(lambda _text: None), threads.limited(how.processors):
            while True:
                for done in run_jobs(open_gpu, _given(parent), at_once=how.at_once, memory=how.memory):
                    _say(parent, done)
    except GpuopsError as error:  # a job's errors are told with it
        _say(parent, error)
    except Exception:
        _say(parent, Unexpected(traceback.format_exc()))


def _given(parent: Connection) -> Iterator[Job]:
    """The jobs that the other process gives, until it has none for now."""
    while True:
        _say(parent, None)
        try:
            jobs = parent.recv()
        except (EOFError, OSError):
            _leave()
        if not jobs:
            return
        yield from jobs


def _say(parent: Connection, what: object) -> None:
    try:
        parent.send(what)
    except OSError:
        _leave()


def _end_with_parent() -> None:
    """Ends this process when the one that has started it ends, however that comes about."""
    process = multiprocessing.parent_process()
    assert process is not None
    process.join()
    _leave()


def _leave() -> NoReturn:
    """Ends this process without half-written files."""
    drafts.discard_unfinished()
    os._exit(0)
