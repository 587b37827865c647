"""Many jobs on several devices. Each device has a process of its own, which takes the next jobs when it has room.

A process may die, as drivers and codecs crash. It is started once more. The jobs that it had begun are done again one
by one, so that a job that is to blame fails alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from ..device import DeviceInfo
from ..device.probe import death
from ..errors import GpuopsError
from ..files import drafts, locations, threads
from ..notes import note
from ..records import dataclass
from ..rows.budget import usual_memory
from .dispatch import Attempt, Dispatch
from .job import Job
from .pipeline import Done
from .worker import Worker, WorkerSettings

if TYPE_CHECKING:
    from ..gpu import Gpu

# How often the process of a device may die before the device is left out.
_DEATHS = 2
# The most jobs that a process is given at a time, lest it wait for each small one.
_AT_A_TIME = 16
# A process is given, at a time, at most one of so many parts of its share of the jobs that are left. Thus all end at
# about the same time, whatever their speed (guided self-scheduling: Polychronopoulos and Kuck, 1987).
_PARTS = 8


def run_jobs_on(
    devices: Sequence[DeviceInfo],
    open_gpu: Callable[[str], Gpu],
    jobs: Sequence[Job],
    *,
    at_once: int | None = None,
    memory: int | None = None,
    retries: int = 0,
    begin: Callable[[Job], None] = lambda _job: None,
    end: Callable[[Done], None] = lambda _done: None,
) -> Iterator[Done]:
    """Does jobs on several devices, and gives what became of each, in their order.

    It is :func:`gpuops.batch.pipeline.run_jobs` in several processes, which share ``at_once``, ``memory`` and the
    processors. Each process imports the program that calls this function: the program needs its
    ``if __name__ == "__main__"``, so that it does not do its work again.

    Parameters
    ----------
    devices : sequence of DeviceInfo
        A device that is there several times has as many processes.
    open_gpu : callable
        It is called with a device's number in that device's process; it must be picklable, as ``Gpu`` is.
    retries : int
        How often a job that has failed is tried again, by whatever process.
    """
    devices = devices[: len(jobs)]
    processors, count = threads.count(), len(devices)
    at_once = min(at_once or processors, len(jobs))
    memory = memory or usual_memory()

    def how(place: int) -> WorkerSettings:
        number = str(devices[place].index)
        shares = (_share(total, count, place) for total in (processors, at_once, memory))
        return WorkerSettings(open_gpu, number, *shares)

    yield from _Crew(jobs, retries, begin, end, devices, how).run()


@dataclass(eq=False)
class _Device:
    """A device: its process, the tasks of this process, and how often it died.

    ``asks``: it waits for an answer. ``works``: it has done a job since it was started last; ``worked``: since ever.
    """

    info: DeviceInfo
    how: WorkerSettings
    worker: Worker = field(init=False)
    tasks: deque[Attempt] = field(default_factory=deque)
    asks: bool = False
    works: bool = False
    worked: bool = False
    deaths: int = 0

    def __post_init__(self) -> None:
        self.start()

    def __str__(self) -> str:
        return f"device {self.info.index} ({self.info.name})"

    def start(self) -> None:
        self.asks = self.works = False
        self.worker = Worker(self.how)

    def end(self) -> str:
        """Ends the process and removes its unfinished files. Returns how it ended."""
        how = death(self.worker.end())
        outputs = [path for task in self.tasks for path in task.job.outputs]
        for folder in set(map(locations.folder_of_drafts, outputs)):
            drafts.sweep(folder)
        return how


@dataclass(eq=False)
class _Crew(Dispatch):
    """The devices that work, and their jobs; ``how``: the settings of the process at each place."""

    infos: Sequence[DeviceInfo]
    how: Callable[[int], WorkerSettings]

    def __post_init__(self) -> None:
        super().__post_init__()
        self._again: list[Attempt] = []
        self._worked = False
        self._devices = [_Device(info, self.how(place)) for place, info in enumerate(self.infos)]

    def end(self) -> None:
        for device in self._devices:
            device.end()

    def _fill(self) -> None:
        """Answers processes that ask for jobs, once all that they have said is known."""
        self._hear_all(0)
        for device in self._devices:
            if device.asks:
                self._answer(device)

    def _wait(self) -> None:
        self._hear_all(None)

    def _hear_all(self, timeout: float | None) -> None:
        """Takes all messages of processes. Without a timeout it waits for the first one."""
        while speakers := self._speakers(timeout):
            for device in speakers:
                self._hear(device)
            timeout = 0  # nothing is given to a process that has just died

    def _speakers(self, timeout: float | None) -> list[_Device]:
        devices = {device.worker: device for device in self._devices}
        return [devices[worker] for worker in Worker.ready(devices, timeout)]

    def _hear(self, device: _Device) -> None:
        try:
            said = device.worker.hear()
        except EOFError:
            self._died(device)
            return
        if said is None:
            device.asks = True
        elif isinstance(said, GpuopsError):
            self._refused(device, said)
        else:
            self._told(device.tasks.popleft(), said)
            device.works = device.worked = self._worked = True

    # -- what is to be done -----------------------------------------------------------------------------------

    def _answer(self, device: _Device) -> None:
        """Gives the device tasks. If there is none, it finishes those that it has, or waits."""
        tasks = self._next_ones(device)
        if not tasks and not device.tasks:
            return
        device.asks = False
        device.tasks += tasks
        device.worker.answer([task.next_try() for task in tasks])

    def _next_ones(self, device: _Device) -> list[Attempt]:
        """Returns the next tasks for a device: several if all is well, and many are left."""
        task = self._next(device)
        if task is None:
            return []
        several = min(_AT_A_TIME, len(self._rest) // (_PARTS * len(self._devices)))
        if self._again or task.died_on or not device.works:
            several = 1
        more = (self._next_new() for _ in range(several - 1))
        return [task, *(other for other in more if other is not None)]

    def _next(self, device: _Device) -> Attempt | None:
        """Returns the next task for a device.

        A task during which a process died is done alone, by another device if possible.
        """
        if any(task.died_on for task in device.tasks):
            return None
        if not device.works and (task := self._next_new()) is not None:
            return task  # a device has to show that it works before it is given a task that was begun before
        for again in self._again:
            if again.died_on is not device or len(self._devices) == 1:
                if again.died_on and device.tasks:
                    return None
                self._again.remove(again)
                return again
        return self._next_new()

    def _try_again(self, attempt: Attempt) -> None:
        self._again.append(attempt)

    # -- what became of it ------------------------------------------------------------------------------------

    def _died(self, device: _Device) -> None:
        """Starts a device's process again, or leaves the device out, and settles its tasks."""
        how = device.end()
        device.deaths += 1
        sound = device.works or (
            device.worked and not self._rest
        )  # without more jobs it cannot show it again
        for task in device.tasks:
            before, task.died_on = task.died_on, device
            if before is None:
                self._again.append(task)
                continue
            self._fail(task, f"two processes that worked on it {how}: look at this file, or leave it out")
            if sound and before is not device:  # the task is to blame, and neither device
                device.deaths -= 1
                before.deaths = max(0, before.deaths - 1)
        device.tasks.clear()
        if device.deaths < _DEATHS:
            note(f"{device}: its process {how}; it is started again, and what it had begun is done anew")
            device.start()
        else:
            note(f"{device} is left out: its process {how} for the second time")
            self._leave_out(device)

    def _refused(self, device: _Device, error: GpuopsError) -> None:
        """Leaves out a device that cannot be opened."""
        device.end()
        self._again += device.tasks
        if not self._worked and all(other.info == device.info for other in self._devices):
            raise error
        note(f"{device} is left out: {error}")
        self._leave_out(device)

    def _leave_out(self, device: _Device) -> None:
        self._devices.remove(device)
        if not self._devices:
            while (task := self._again.pop() if self._again else self._next_new()) is not None:
                self._fail(task, "no device is left to work on it")


def _share(total: int, count: int, place: int) -> int:
    """Returns the part of a total for one of ``count`` locations. Parts add up to the total, but each is at least 1."""
    return max(1, total * (place + 1) // count - total * place // count)
