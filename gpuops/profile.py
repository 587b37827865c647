"""Where the time went: host phases and kernel events collected on the way into one Report.

Phases are disjoint stretches of the host's wall-clock time: entering an inner phase stops the outer one's
clock, so that they add up. Kernel times come from the device's events and are never added to phases.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyopencl as cl


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
        return median(self.ms)

    @property
    def gbps(self) -> float | None:
        """Model bytes over the median time, in GB/s; None where there is no model or the clock showed nothing."""
        return self.traffic / self.median_ms / 1e6 if self.traffic and self.median_ms > 0 else None


@dataclass
class Report:
    """Collects phases and kernel events; :meth:`kernels` and the writers in ``report_formats`` read them."""

    started: float = field(default_factory=time.perf_counter)
    context: dict[str, Any] = field(default_factory=dict)
    phases: dict[str, float] = field(default_factory=dict)
    builds: dict[str, int] = field(default_factory=lambda: {"hit": 0, "miss": 0})
    peak_device_bytes: int = 0
    _events: list[tuple[str, tuple[int, ...], tuple[int, ...] | None, int, cl.Event]] = field(default_factory=list)
    _stack: list[str] = field(default_factory=list)
    _mark: float = 0.0

    def _account(self) -> None:
        now = time.perf_counter()
        if self._stack:
            name = self._stack[-1]
            self.phases[name] = self.phases.get(name, 0.0) + now - self._mark
        self._mark = now

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Counts the enclosed wall-clock time (seconds) as ``name``, less what inner phases take."""
        self._account()
        self._stack.append(name)
        try:
            yield
        finally:
            self._account()
            self._stack.pop()

    def add(self, name: str, seconds: float) -> None:
        """Counts time measured elsewhere (start-up before this object existed)."""
        self.phases[name] = self.phases.get(name, 0.0) + seconds

    def record(
        self,
        label: str,
        global_size: tuple[int, ...],
        local_size: tuple[int, ...] | None,
        traffic: int,
        event: cl.Event,
    ) -> None:
        """Notes one launch; its time is read when the report is made."""
        self._events.append((label, global_size, local_size, traffic, event))

    def kernels(self) -> list[KernelTime]:
        """The launches so far, grouped by label and size, in order of first appearance (waits for them)."""
        groups: dict[tuple[str, tuple[int, ...], tuple[int, ...] | None, int], list[float]] = {}
        for label, global_size, local_size, traffic, event in self._events:
            event.wait()
            ms = (event.profile.end - event.profile.start) / 1e6
            groups.setdefault((label, global_size, local_size, traffic), []).append(ms)
        return [KernelTime(*key, tuple(times)) for key, times in groups.items()]

    @property
    def wall(self) -> float:
        """Seconds since the report was started."""
        return time.perf_counter() - self.started

    def trace_events(self) -> list[tuple[str, int, int]]:
        """(label, start ns, end ns) of every launch on the device's own clock."""
        return [(label, int(e.profile.start), int(e.profile.end)) for label, _, _, _, e in self._events]


def peak_host_bytes() -> int:
    """Largest resident set of this process so far, in bytes (0 where the system does not tell)."""
    try:
        import resource
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def process_age() -> float | None:
    """Seconds since this process was started, to the kernel's clock tick (10 ms); None where it cannot be told."""
    try:
        # Field 22 of /proc/self/stat: start time in clock ticks after boot (proc(5)); field 2 may hold spaces.
        ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        uptime = float(Path("/proc/uptime").read_text().split()[0])
        import os

        return max(0.0, uptime - ticks / os.sysconf("SC_CLK_TCK"))
    except (OSError, ValueError, IndexError):
        return None
