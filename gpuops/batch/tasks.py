"""The work of a cluster's worker: tasks of several jobs each, one after the other, on a device that stays open."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from importlib.metadata import version
from multiprocessing.util import Finalize
from threading import Lock
from typing import NamedTuple

from distributed import get_client, get_worker

from .. import notes
from ..errors import ClusterError, GpuopsError
from ..files import drafts, locations, threads
from ..gpu import Gpu
from ..process import memory as host_memory
from ..process import temporary
from ..rows.budget import usual_memory
from .job import Job
from .pipeline import Done, run_jobs

# A worker of several threads may be given several tasks at a time.
_turn = Lock()
# The device of this process, by its name and its memory as they were asked for.
_open: dict[tuple[str | None, int | None], Gpu] = {}


class Task(NamedTuple):
    """Jobs, and how they are to be done.

    ``new``: for each job whether none of its outputs existed when it was begun. ``memory``: bytes that pictures on
    their way may take; the default is a share of the worker's. ``made_by``: the version of clpix that sends the task.
    """

    jobs: tuple[Job, ...]
    new: tuple[bool, ...]
    device: str | None
    device_memory: int | None
    memory: int | None
    made_by: str


class Call:
    """A task that is done when it is unpickled in a worker. The scheduler only sees bytes, and does not need clpix."""

    def __init__(self, task: Task) -> None:
        self._task = task

    def __reduce__(self) -> tuple[Callable[[Task], Answer | Refusal], tuple[Task]]:
        return do, (self._task,)


class Answer(NamedTuple):
    """The outcomes of jobs, and the seconds that they took without the opening of the device."""

    told: tuple[Done, ...]
    seconds: float


class Refusal(NamedTuple):
    """The reason why a worker can do no task at all."""

    worker: str
    error: GpuopsError


def do(task: Task) -> Answer | Refusal:
    """Does a task in a worker."""
    worker = get_worker()
    with _turn, notes.to(lambda _text: None):
        try:
            check_version(task.made_by, version("clpix"))
            gpu = _opened(task.device, task.device_memory)
        except GpuopsError as error:
            return Refusal(worker.address, error)
        begun = time.perf_counter()
        memory = task.memory or usual_memory(worker.memory_manager.memory_limit)
        with threads.limited(worker.state.nthreads):
            told = tuple(run_jobs(lambda: gpu, _jobs_of(task), memory=memory))
        return Answer(told, time.perf_counter() - begun)


def _jobs_of(task: Task) -> list[Job]:
    """Returns the jobs. If this is not the first try, they may replace what a worker that died has written."""
    again: bool | None = None
    jobs = []
    for job, is_new in zip(task.jobs, task.new, strict=True):
        if is_new and any(map(locations.exists, job.outputs)):
            if again is None:
                again = _is_again()
            if again:
                job = job.replacing()
        jobs.append(job)
    return jobs


def _is_again() -> bool:
    """Says whether the task at hand was given to a worker before."""
    key = get_worker().get_current_task()
    story = get_client().story(key, on_error="ignore")
    given = [event for event in story if tuple(event[:2]) == ("scheduler", key) and event[3] == "processing"]
    return len(given) > 1


def check_version(wanted: str, installed: str) -> None:
    """Refuses a worker with another version than the program that gives it tasks."""
    if installed != wanted:
        raise ClusterError(f"it has clpix {installed}, and this is clpix {wanted}: install the same on both")


def identify() -> str:
    """Returns the version of clpix that a worker has."""
    return version("clpix")


def sweep(folders: Iterable[str]) -> None:
    """Removes unfinished files in folders, and temporary copies, of processes of this machine that have died."""
    for folder in (*folders, temporary.folder()):
        drafts.sweep(folder)


def _opened(device: str | None, memory: int | None) -> Gpu:
    """Returns the device of this process. It is closed at the process's end, or when another one is asked for."""
    key = device, memory
    if key not in _open:
        while _open:
            _open.popitem()[1].close()
        host_memory.keep_freed()  # Dask has workers give freed memory back
        _open[key] = gpu = Gpu(device, memory=memory)
        Finalize(None, gpu.close, exitpriority=0)
    return _open[key]
