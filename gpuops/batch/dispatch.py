"""Jobs for workers, whether they are processes of this machine or of a cluster: what is left, and what became of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import DeviceError, ParameterError
from ..files import locations
from .pipeline import Done

if TYPE_CHECKING:
    from .job import Job
    from .worker import JobNews


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


class Dispatch(ABC):
    """The jobs that are left for workers, and the outcomes of others.

    Parameters
    ----------
    jobs : sequence of Job
    retries : int
        How often a job that has failed is tried again.
    begin, end : callable
        They are given each job before it is sent, and what became of it as soon as that is known.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        retries: int,
        begin: Callable[[Job], None],
        end: Callable[[Done], None],
    ) -> None:
        self._count, self._retries, self._begin, self._end = len(jobs), retries, begin, end
        self._rest = deque(enumerate(jobs))
        self._done: dict[int, Done] = {}

    def run(self) -> Iterator[Done]:
        """Gives what became of each job, in their order."""
        for number in range(self._count):
            self._fill()
            while number not in self._done:
                self._wait()
                self._fill()
            yield self._done.pop(number)

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
        self._begin(job)
        return Attempt(number, job, not any(map(locations.exists, job.outputs)))

    def _told(self, attempt: Attempt, news: JobNews) -> None:
        """Settles a job of which there is news, or keeps it for another try."""
        if news.error is None or isinstance(news.error, ParameterError) or attempt.tries == self._retries:
            self._settle(attempt, Done(attempt.job, *news))
        else:
            attempt.tries += 1
            self._try_again(attempt)

    def _fail(self, attempt: Attempt, why: str) -> None:
        self._settle(attempt, Done(attempt.job, error=DeviceError(why)))

    def _settle(self, attempt: Attempt, done: Done) -> None:
        self._done[attempt.number] = done
        self._end(done)
