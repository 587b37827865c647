"""Many jobs: threads read inputs ahead and write results behind, while the device does one job after the other."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .. import notes
from ..errors import GpuopsError
from ..files import threads
from ..files.formats.png import DeferredUnfilter, Undo
from ..process import signals
from ..rows.budget import usual_memory
from .access import Threaded
from .job import Job, run_job

if TYPE_CHECKING:
    from ..gpu import Gpu


@dataclass
class Done:
    """The outcome of a job.

    Attributes
    ----------
    job : Job
    told : Any
        The work's findings: a list for a chain, or None.
    error : Exception, optional
        Why there is no result: a GpuopsError, OSError or MemoryError.
    notes : list of str
        Notes for a person, in the order in which they came up.
    pixels : int
        Pixels of the input; 0 for a file of numbers.
    seconds : float
        From the first moment of the device's work to the end of writing.
    """

    job: Job
    told: Any = None
    error: Exception | None = None
    notes: list[str] = field(default_factory=list)
    pixels: int = 0
    seconds: float = 0.0


def run_jobs(
    open_gpu: Callable[[], Gpu],
    jobs: Iterable[Job],
    *,
    at_once: int | None = None,
    memory: int | None = None,
    begin: Callable[[Job], None] = lambda _job: None,
    end: Callable[[Done], None] = lambda _done: None,
) -> Iterator[Done]:
    """Does jobs, and gives what became of each, in their order.

    Parameters
    ----------
    open_gpu : callable
        It is called once, while the first inputs are being read.
    jobs : iterable of Job
        The next job is taken when there is room for it.
    at_once : int, optional
        How many pictures are read and written at a time: at most, and by default, one for each processor that codecs
        may use. Each picture's codec uses its share of these.
    memory : int, optional
        Bytes that pictures which were read, and results which are not yet written, may take together. The default is a
        quarter of the machine's. One picture is always worked on, whatever its size.
    begin : callable, optional
        It is given each job before its input is read.
    end : callable, optional
        It is given what became of each job as soon as that is known.
    """
    processors = threads.count()
    count = at_once or processors
    alone = isinstance(jobs, Sized) and len(jobs) == 1
    if isinstance(jobs, Sized):
        count = max(1, min(count, len(jobs)))
    with threads.limited(processors // count):
        pool = ThreadPoolExecutor(count, initializer=signals.leave_to_others)
        try:
            # One more on either side of the device takes memory, and no less time.
            line = _Line(pool, iter(jobs), count, memory or usual_memory(), begin, alone)
            for done in line.run(open_gpu):
                end(done)
                yield done
        finally:
            pool.shutdown(cancel_futures=True)


class _Flight:
    """A job on its way."""

    def __init__(self, job: Job, pool: ThreadPoolExecutor, undo: Undo, *, alone: bool) -> None:
        self.done = Done(job)
        # Of several jobs some are read and written while the device does another: rows of one take longer than that.
        rows = alone and job.chain is not None and job.chain.takes_rows_once
        self.access = Threaded(pool, job.source, job.options, numbers=job.reads_numbers, undo=undo, rows=rows)
        self._begun = 0.0

    def size(self, usual: int) -> int:
        """Returns the bytes that it holds; ``usual`` is assumed for an input that is still being read."""
        return usual if self.access.read is None else self.access.read

    def work(self, gpu: Gpu) -> None:
        """Does the device's part."""
        self._begun = time.perf_counter()
        with self._guarded():
            self.done.told = run_job(gpu, self.done.job, self.access)
        self.done.pixels = self.access.pixels

    def finish(self, gpu: Gpu) -> Done:
        """Waits for the results to be written."""
        with gpu.phase("encode"), self._guarded():
            self.access.finish()
        if gpu.report is not None:
            gpu.report.spans += self.access.spans()
        self.done.seconds = time.perf_counter() - self._begun
        return self.done

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Keeps notes, and the first error."""
        try:
            with notes.to(self.done.notes.append):
                yield
        except (GpuopsError, OSError, MemoryError) as error:
            self.done.error = self.done.error or error


@dataclass
class _Line:
    """The jobs on their way: inputs that are being read, the one on the device, and results that are being written.

    ``most``: flights on either side of the device. ``alone``: there is one in all.
    """

    pool: ThreadPoolExecutor
    rest: Iterator[Job]
    most: int
    memory: int
    begin: Callable[[Job], None]
    alone: bool
    _largest: int = 0
    _undo: DeferredUnfilter = field(default_factory=DeferredUnfilter)
    _ahead: deque[_Flight] = field(default_factory=deque)
    _behind: deque[_Flight] = field(default_factory=deque)

    def run(self, open_gpu: Callable[[], Gpu]) -> Iterator[Done]:
        self._read_ahead()
        try:
            gpu = open_gpu()
            from ..pixels.unfilter import undoing

            self._undo.give(undoing(gpu))
        finally:
            if not self._undo.known:
                self._undo.give(None)  # there is no device, and nobody waits for it
        while self._ahead:
            flight = self._ahead.popleft()
            self._read_ahead(flight)
            flight.work(gpu)
            self._largest = max(self._largest, flight.access.read or 0)
            self._behind.append(flight)
            while self._behind and (self._behind[0].access.done or self._is_full()):
                yield self._behind.popleft().finish(gpu)
            self._read_ahead()
        while self._behind:
            yield self._behind.popleft().finish(gpu)

    def _read_ahead(self, working: _Flight | None = None) -> None:
        """Begins to read as many inputs as there is room for beside the job that the device is ``working`` on."""
        known = [flight.access.read or 0 for flight in self._ahead]
        held = 0 if working is None else working.size(self._largest)
        self._largest = max([self._largest, held, *known])
        idle = working is None
        while (idle and not self._ahead) or (len(self._ahead) < self.most and self._has_room(held)):
            job = next(self.rest, None)
            if job is None:
                return
            self.begin(job)
            self._ahead.append(_Flight(job, self.pool, self._undo, alone=self.alone))

    def _has_room(self, held: int) -> bool:
        """Whether there is memory for one more. Before the first one's size is known, it is read alone."""
        return self._largest > 0 and self._held() + held + self._largest <= self.memory

    def _is_full(self) -> bool:
        return len(self._behind) > self.most or self._held() > self.memory

    def _held(self) -> int:
        ahead = sum(flight.size(self._largest) for flight in self._ahead)
        return ahead + sum(flight.access.held for flight in self._behind)
