"""Jobs for workers, whether they are processes of this machine or of a cluster: what is left, and what became of it."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from ..errors import DeviceError, ParameterError
from ..files import locations
from ..process.memory import of_machine
from ..records import dataclass
from .job import Job
from .pipeline import Done

# The batches of this process that are under way.
under_way: set[Dispatch] = set()


def end_all() -> None:
    """Ends all work for this process, which is about to end, without half-written files."""
    for dispatch in tuple(under_way):
        dispatch.abandon()


@dataclass
class Attempt:
    """A job that was begun.

    ``is_new``: none of its outputs was there before. ``given``: a worker has got it. ``tries``: how often it has
    failed. ``died_on``: the worker that died during it.
    """

    number: int
    job: Job
    is_new: bool
    given: bool = False
    tries: int = 0
    died_on: Any = None

    def next_try(self) -> Job:
        """Returns the job for a worker. From the second try on it may replace outputs of an earlier try."""
        again, self.given = self.given, True
        return self.job.replacing() if again and self.is_new else self.job


@dataclass(eq=False)
class Dispatch(ABC):
    """The jobs that are left for workers, and the outcomes of others.

    Attributes
    ----------
    jobs : sequence of Job
    retries : int
        How often a job that has failed is tried again.
    begin, tell : callable
        They are given each job before it is sent, and what became of it as soon as that is known.
    """

    jobs: Sequence[Job]
    retries: int
    begin: Callable[[Job], None]
    tell: Callable[[Done], None]

    def __post_init__(self) -> None:
        self._rest = deque(enumerate(self.jobs))
        self._done: dict[int, Done] = {}

    def run(self) -> Iterator[Done]:
        """Gives what became of each job, in their order."""
        under_way.add(self)
        try:
            for number in range(len(self.jobs)):
                self._fill()
                while number not in self._done:
                    self._wait()
                    self._fill()
                yield self._done.pop(number)
        finally:
            self.end()
            under_way.discard(self)

    @abstractmethod
    def end(self) -> None:
        """Ends what is under way, and removes unfinished files of workers."""

    def abandon(self) -> None:
        """Does the same in a process that is about to end."""
        self.end()

    @abstractmethod
    def _fill(self) -> None:
        """Gives jobs to workers that have room."""

    @abstractmethod
    def _wait(self) -> None:
        """Waits for news of workers."""

    @abstractmethod
    def _try_again(self, attempt: Attempt) -> None:
        """Keeps a job that has failed for another try."""

    def _next_new(self) -> Attempt | None:
        """Begins the next job."""
        if not self._rest:
            return None
        number, job = self._rest.popleft()
        self.begin(job)
        return Attempt(number, job, not any(map(locations.exists, job.outputs)))

    def _told(self, attempt: Attempt, done: Done) -> None:
        """Settles a job that a worker has done, or keeps it for another try."""
        if done.error is None or isinstance(done.error, ParameterError) or attempt.tries == self.retries:
            self._settle(attempt, replace(done, job=attempt.job))
        else:
            attempt.tries += 1
            self._try_again(attempt)

    def _fail(self, attempt: Attempt, why: str) -> None:
        self._settle(attempt, Done(attempt.job, error=DeviceError(why)))

    def _settle(self, attempt: Attempt, done: Done) -> None:
        self._done[attempt.number] = done
        self.tell(done)


# -- The number of processes that share a device: more than one for many small pictures --------------------------
# The threads of one process take turns at Python's lock. Python's work on a picture, of whatever size, takes some
# milliseconds; only codecs and kernels run without the lock. So one process does a few hundred pictures a second at
# most, however many processors there are.

# Bytes of a file that take as long to decode, with its result to encode, as Python's work on a picture takes.
_AS_LONG = 1 << 17
# Jobs that make up for the start of one more process.
_WORTH = 500
# The most processes: more of them wait for the one that gives them jobs.
_MOST = 4
# Bytes of the machine's memory for each process.
_ROOM = 1 << 30


def processes_for(jobs: Sequence[Job], processors: int) -> int:
    """Returns how many processes on one device do jobs soonest, if so many processors are theirs."""
    most = min(_MOST, len(jobs) // _WORTH, of_machine() // _ROOM)
    if most < 2:
        return 1
    try:
        size = sum(os.path.getsize(job.source) for job in jobs) / len(jobs)
    except OSError:  # an input is at an address, or has vanished
        return 1
    under_lock = _AS_LONG / (_AS_LONG + size)
    return max(1, min(most, round(processors * under_lock)))
