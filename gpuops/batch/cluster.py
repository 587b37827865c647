"""Many jobs on a cluster: tasks of several jobs each, of which a few for each worker are under way at a time.

Dask gives a task whose worker has died to another one. What it had written by then is replaced.
"""

from __future__ import annotations

import math
import pickle
import time
from asyncio import CancelledError
from asyncio import TimeoutError as TimedOut  # in Python 3.10 it is not the builtin one
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib.metadata import version
from queue import Empty, SimpleQueue
from typing import Any
from uuid import uuid4

import cloudpickle

from ..errors import ClusterError, GpuopsError
from ..files import locations
from ..notes import note
from ..records import dataclass
from . import tasks
from .connection import Cluster
from .dispatch import Attempt, Dispatch
from .job import Job
from .pipeline import Done

# Seconds that a task should take: its messages take milliseconds.
_TASK = 0.8
# The most jobs of a task.
_MOST = 256
# Tasks under way for each worker, so that one is there when it has ended the last.
_FLYING = 2
# The weight of a task's time in the mean of all so far.
_WEIGHT = 0.5
# Seconds between two looks at who works.
_LOOK = 1.0
# The states of a task whose worker died before its answer arrived: it is done again.
_DONE_AGAIN = ("lost", "pending")
# Seconds until such a task is looked at again.
_AGAIN = 0.05
# Seconds that an answer may take to arrive.
_ANSWER = 1.0
# Seconds without a worker until a note says so: a worker that has died is often started again at once.
_ALONE = 5.0
# The resource that workers with a GPU may declare.
_GPU = "GPU"


def run_jobs_at(
    cluster: Cluster,
    jobs: Sequence[Job],
    *,
    device: str | None = None,
    device_memory: int | None = None,
    memory: int | None = None,
    retries: int = 0,
    begin: Callable[[Job], None] = lambda _job: None,
    end: Callable[[Done], None] = lambda _done: None,
) -> Iterator[Done]:
    """Does jobs on a cluster, and gives what became of each, in their order.

    Parameters
    ----------
    device, device_memory : optional
        What :class:`gpuops.Gpu` is given in each worker.
    memory : int, optional
        As for :func:`gpuops.batch.pipeline.run_jobs`: of each worker.
    retries : int
        How often a job that has failed is tried again, by itself, on whatever worker.
    begin : callable, optional
        It is given each job before that is sent.
    end : callable, optional
        It is given what became of each job as soon as that is known.
    """
    how = tasks.Task((), (), device, device_memory, memory, version("clpix"))
    yield from _ClusterRun(jobs, retries, begin, end, cluster, how).run()


@dataclass(eq=False)
class _ClusterRun(Dispatch):
    """The workers of a cluster, and the tasks that are under way."""

    cluster: Cluster
    how: tasks.Task

    def __post_init__(self) -> None:
        super().__post_init__()
        self._client, self._name = self.cluster
        self._folders: set[str] = set()  # in which workers write
        self._again: deque[list[Attempt]] = deque()
        self._suspects: deque[Attempt] = deque()  # jobs of tasks whose workers have died
        self._flying: dict[str, tuple[Any, list[Attempt]]] = {}
        self._ended: SimpleQueue[Any] = SimpleQueue()
        self._seconds: float | None = None  # of a job
        self._id = uuid4().hex
        self._sent = 0
        self._refused: set[str] = set()
        self._seen: set[str] = set()
        self._gone = False  # whether a worker has vanished
        self._alone: float | None = None  # since when no worker is left
        self._warned = False  # whether a note has said so
        self._looked = -math.inf
        self._resources: dict[str, int] = {}
        self._workers = self._look()
        if any(resources.get(_GPU, 0) >= 1 for resources in self._workers.values()):
            self._resources = {_GPU: 1}
            self._workers = self._look()

    def end(self) -> None:
        if self._client.status != "running":
            return
        self._client.cancel([future for future, _ in self._flying.values()])
        self._look()
        if self._gone:
            tasks.sweep(self._folders)
            self._client.run(tasks.sweep, sorted(self._folders), on_error="ignore")

    def abandon(self) -> None:
        tasks.sweep(self._folders)

    # -- who works --------------------------------------------------------------------------------------------

    def _look(self) -> dict[str, dict[str, float]]:
        """Returns the workers that may be given tasks, with their resources."""
        self._looked = time.monotonic()
        try:
            workers = self._client.scheduler_info(n_workers=-1)["workers"]
        except (OSError, TimedOut):
            raise self._lost() from None
        if self._client.status != "running":
            raise self._lost()
        self._gone = self._gone or not self._seen <= workers.keys()
        self._seen |= workers.keys()
        return {
            address: worker["resources"]
            for address, worker in workers.items()
            if address not in self._refused and (not self._resources or worker["resources"].get(_GPU, 0) >= 1)
        }

    def _watch(self) -> None:
        """Looks for workers, and notes once if there has been none for a while."""
        self._workers = self._look()
        if self._workers:
            self._alone, self._warned = None, False
            return
        self._alone = self._alone or self._looked
        if self._looked - self._alone > _ALONE and not self._warned:
            self._warned = True
            note(
                f"{self._name}: no worker is left; waiting for one: 'dask worker {self._client.scheduler.address}'"
            )

    def _lost(self) -> ClusterError:
        return ClusterError(
            f"{self._name}: the scheduler is gone: start it again; what is done is kept, and --resume or "
            "--skip-existing leave it out"
        )

    # -- what is to be done -----------------------------------------------------------------------------------

    def _fill(self) -> None:
        """Sends tasks while there is room for them."""
        if time.monotonic() - self._looked > _LOOK:
            self._watch()
        room = _FLYING * len(self._workers)
        if self._suspects:  # each is done while nothing else is under way, so that no other job is blamed
            if not self._flying and room:
                self._send([self._suspects.popleft()])
            return
        if any(one.died_on for _, todo in self._flying.values() for one in todo):
            return
        while len(self._flying) < room and (todo := self._next(room)):
            self._send(todo)

    def _next(self, room: int) -> list[Attempt]:
        """Returns the jobs of the next task: enough to take a while, but so few that no worker idles at the end."""
        if self._again:
            return self._again.popleft()
        enough = 1 if self._seconds is None else math.ceil(_TASK / max(self._seconds, 1e-6))
        count = min(enough, _MOST, math.ceil(len(self._rest) / room))
        todo = [one for _ in range(count) if (one := self._next_new()) is not None]
        outputs = (path for one in todo for path in one.job.outputs)
        self._folders.update(map(locations.folder_of_drafts, outputs))
        return todo

    def _try_again(self, attempt: Attempt) -> None:
        self._again.append([attempt])

    def _send(self, todo: list[Attempt]) -> None:
        self._sent += 1
        task = self.how._replace(
            jobs=tuple(_absolute(one.next_try()) for one in todo), new=tuple(one.is_new for one in todo)
        )
        future = self._client.submit(
            pickle.loads,
            cloudpickle.dumps(tasks.Call(task)),
            key=f"clpix-{self._id}-{self._sent}",
            retries=self.retries,
            resources=self._resources or None,
            workers=list(self._workers) if self._refused else None,
        )
        self._flying[future.key] = future, todo
        future.add_done_callback(self._ended.put)

    # -- what became of it ------------------------------------------------------------------------------------

    def _wait(self) -> None:
        """Waits for the end of a task, but not for long."""
        try:
            future = self._ended.get(timeout=_LOOK)
        except Empty:
            return
        status = future.status
        answer = self._result(future) if status == "finished" else None
        if answer is None and status in ("finished", *_DONE_AGAIN):
            time.sleep(_AGAIN)
            self._ended.put(future)
            return
        _, todo = self._flying.pop(future.key)
        if answer is not None:
            self._answered(todo, answer)
        elif status == "error":
            self._broken(todo, future.exception())
        else:
            raise self._lost()
        future.release()  # otherwise it is done again when the worker that holds its result dies

    def _result(self, future: Any) -> tasks.Answer | tasks.Refusal | None:
        """Returns the result of a task that has ended; None if it has not arrived, as its worker may have died."""
        try:
            answer: tasks.Answer | tasks.Refusal = future.result(timeout=_ANSWER)
        except TimedOut:
            return None
        except (OSError, CancelledError):
            raise self._lost() from None
        return answer

    def _answered(self, todo: list[Attempt], answer: tasks.Answer | tasks.Refusal) -> None:
        if isinstance(answer, tasks.Refusal):
            self._leave_out(answer)
            self._again.append(todo)
            return
        each = answer.seconds / len(todo)
        self._seconds = each if self._seconds is None else self._seconds + _WEIGHT * (each - self._seconds)
        for one, done in zip(todo, answer.told, strict=True):
            self._told(one, _named(one.job, done))

    def _broken(self, todo: list[Attempt], error: BaseException) -> None:
        """Does the jobs of a task that killed its workers again, one by one, so that only the one to blame fails."""
        from distributed import KilledWorker

        if isinstance(error, ImportError):
            raise ClusterError(f"{self._name}: clpix cannot be imported by a worker ({error})")
        if not isinstance(error, KilledWorker):
            raise error
        for one in todo:
            if one.died_on:
                self._fail(one, "every worker that worked on it died: look at this file, or leave it out")
            else:
                one.died_on = self._name
                self._suspects.append(one)

    def _leave_out(self, refusal: tasks.Refusal) -> None:
        """Gives no more tasks to a worker that can do none. Raises its reason if no other one is left."""
        if refusal.worker in self._refused:
            return
        self._refused.add(refusal.worker)
        self._workers = self._look()
        if not self._workers:
            raise type(refusal.error)(f"worker {refusal.worker}: {refusal.error}")
        note(f"worker {refusal.worker} is left out: {refusal.error}")


def _absolute(job: Job) -> Job:
    """Returns a job for a worker: with absolute paths, which mean the same there."""
    source, target, *asides = map(locations.absolute, (job.source, *job.outputs))
    return replace(job, source=source, target=target, asides=tuple(asides))


def _named(job: Job, done: Done) -> Done:
    """Returns what became of a job with the paths as they were given here."""
    names = {locations.absolute(path): path for path in (job.source, *job.outputs)}

    def named(text: str) -> str:
        for absolute, path in names.items():
            text = text.replace(absolute, path)
        return text

    error = done.error
    if isinstance(error, GpuopsError):
        error = type(error)(named(str(error)))
    return replace(done, error=error, notes=list(map(named, done.notes)))
