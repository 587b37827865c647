"""Measured times: host phases and kernel events, collected in one Report.

Phases are disjoint stretches of a thread's wall-clock time: entering an inner phase stops the outer one's clock, so
that they add up; those of several threads add up to more. Kernel times come from the device's events and are never
added to phases.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .records import dataclass

if TYPE_CHECKING:
    import pyopencl as cl

# Seconds that a start may idle while it waits for a cold disk.
_WAITING = 2.0


@dataclass(frozen=True)
class KernelTime:
    """All launches of one label at one size. Times in milliseconds, traffic in bytes of one launch."""

    label: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...] | None
    traffic: int
    ms: tuple[float, ...]

    @property
    def median_ms(self) -> float:
        from statistics import median

        return median(self.ms)

    @property
    def gbps(self) -> float | None:
        """10⁹ bytes of traffic a second at the median time; None without any, or where the clock cannot tell."""
        return self.traffic / self.median_ms / 1e6 if self.traffic and self.median_ms > 0 else None


class Span(NamedTuple):
    """Work of a thread beside the command's own: its kind, the thread, start and end on ``time.perf_counter``."""

    kind: str
    thread: str
    start: float
    end: float


class _Launch(NamedTuple):
    label: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...] | None
    traffic: int
    event: cl.Event
    noted: int  # host clock after queueing, in ns


class _Phases(threading.local):
    """The phases that a thread is in, the innermost last, and when the clock of that one was started."""

    def __init__(self) -> None:
        self.stack: list[str] = []
        self.mark = 0.0


@dataclass
class Report:
    """Collects phases and kernel events; :meth:`kernels` and the writers in ``report_formats`` read them.

    Attributes
    ----------
    context : dict
        The device, versions and such of the run (:func:`gpuops.report_formats.device_context`, the command line …).
    phases, intervals
        Seconds by phase, and the stretches they are made of as (name, start, end) on ``time.perf_counter``.
    builds : dict
        Programs built from source (miss) and loaded from the cache (hit).
    spans : list of Span
        What threads have done that read ahead and write behind. The phases are those of the command's own thread.
    results : list of dict
        What the work has found of each input, as plain values.
    step : str
        The step of a chain that launches belong to from now on; it stands before their labels.
    """

    started: float = field(default_factory=time.perf_counter)
    context: dict[str, Any] = field(default_factory=dict)
    phases: dict[str, float] = field(default_factory=dict)
    builds: dict[str, int] = field(default_factory=lambda: {"hit": 0, "miss": 0})
    peak_device_bytes: int = 0
    results: list[dict[str, Any]] = field(default_factory=list)
    step: str = ""
    intervals: list[tuple[str, float, float]] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    ended: float | None = None
    _launches: list[_Launch] = field(default_factory=list)
    _awaited: list[tuple[int, int]] = field(default_factory=list)
    _within: _Phases = field(default_factory=_Phases)
    _counting: threading.Lock = field(default_factory=threading.Lock)
    _added: float = 0.0

    def _account(self) -> None:
        now, within = time.perf_counter(), self._within
        if within.stack:
            self._count(within.stack[-1], within.mark, now)
        within.mark = now

    def _count(self, name: str, start: float, end: float) -> None:
        with self._counting:
            self.phases[name] = self.phases.get(name, 0.0) + end - start
            self.intervals.append((name, start, end))

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Counts the enclosed wall-clock time (seconds) as ``name``, without the time of inner phases."""
        self._account()
        self._within.stack.append(name)
        try:
            yield
        finally:
            self._account()
            self._within.stack.pop()

    def add(self, name: str, seconds: float) -> None:
        """Counts time measured elsewhere: start-up, one part after the other from ``started`` on."""
        start = self.started + self._added
        self._added += seconds
        self._count(name, start, start + seconds)

    def record(
        self,
        label: str,
        global_size: tuple[int, ...],
        local_size: tuple[int, ...] | None,
        traffic: int,
        event: cl.Event,
    ) -> None:
        """Notes one launch; its time is read when the report is made."""
        label = f"{self.step}: {label}" if self.step else label
        self._launches.append(_Launch(label, global_size, local_size, traffic, event, time.perf_counter_ns()))

    @property
    def launched(self) -> int:
        """The number of launches that have been noted."""
        return len(self._launches)

    def saw_the_end(self, launched: int) -> None:
        """Notes that the first ``launched`` launches have ended, for which the host has just waited."""
        self._awaited.append((launched, time.perf_counter_ns()))

    def kernels(self) -> list[KernelTime]:
        """The launches so far, grouped by label and size, in order of first appearance (waits for them)."""
        groups: dict[tuple[str, tuple[int, ...], tuple[int, ...] | None, int], list[float]] = {}
        for launch in self._launches:
            launch.event.wait()
            ms = (launch.event.profile.end - launch.event.profile.start) / 1e6
            groups.setdefault(launch[:4], []).append(ms)
        return [KernelTime(*key, tuple(times)) for key, times in groups.items()]

    def close(self) -> None:
        """Stops the wall clock, so that everything written from here on tells the same total."""
        self._account()
        self.ended = self.ended or time.perf_counter()

    @property
    def wall(self) -> float:
        """Seconds from the report's start to its :meth:`close`, or to now."""
        return (self.ended or time.perf_counter()) - self.started

    def trace_events(self) -> list[tuple[str, float, float]]:
        """(label, start, end) of every launch, in seconds of the host's clock (``time.perf_counter``).

        The device's clock has an origin of its own. Two facts bound the difference of the clocks from above: a launch
        was queued before it was noted here, and ended before the host had waited for it. The host may see both late, if
        other processes use the processor, but never early: the smallest difference is the nearest to the true one.
        """
        for launch in self._launches:
            launch.event.wait()
        bounds = [launch.noted - int(launch.event.profile.queued) for launch in self._launches]
        bounds += [seen - int(self._launches[n - 1].event.profile.end) for n, seen in self._awaited if n]
        offset = min(bounds, default=0)
        known = ((launch.label, launch.event.profile) for launch in self._launches)
        return [(label, (at.start + offset) / 1e9, (at.end + offset) / 1e9) for label, at in known]


def process_age() -> float | None:
    """Returns the seconds since this program was started, to a clock tick (10 ms); None where that is not known."""
    if sys.platform != "linux":
        return None
    try:
        # Field 22 of /proc/self/stat: start in clock ticks after boot (proc(5)); field 2 may hold spaces.
        ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        uptime = float(Path("/proc/uptime").read_text().split()[0])
        import os

        age = max(0.0, uptime - ticks / os.sysconf("SC_CLK_TCK"))
    except (OSError, ValueError, IndexError):
        return None
    # `sh -c "a && b"` runs b in the shell's own process, which has waited for a: that time is not the program's.
    busy = time.process_time()
    return age if age < busy + _WAITING else busy
