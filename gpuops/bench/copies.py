"""Measured limits of a device: copies within it, and between it and the host."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyopencl as cl

from ..errors import DeviceError, ParameterError, byte_count
from ..profile import KernelTime, Report
from ..tiles.transfers import pinned, unpin
from . import tables
from .report_formats import cell

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..image import Image

# Sizes of the copies in MiB.
SIZES = (8, 32, 128, 512)
# Bytes of a MiB.
MIB = 1 << 20


@dataclass(frozen=True)
class Measurement(tables.Row):
    """One row of the table: ``bytes`` moved in one run, read and written, and each run's time in ms."""

    what: str
    mib: int
    bytes: int
    ms: tuple[float, ...]

    more = ("runs", "median_ms", "gbps")

    @property
    def model_bytes(self) -> int:  # type: ignore[override]
        return self.bytes

    @property
    def runs(self) -> int:
        return len(self.ms)


def sizes_that_fit(gpu: Gpu, sizes: Sequence[int] = SIZES) -> tuple[int, ...]:
    """Returns the sizes (MiB) whose buffers take at most half of the device's memory.

    There are two buffers on the device; if that is a CPU, the host's two buffers take the same memory.
    """
    buffers = 4 if gpu.limits.is_cpu else 2
    most = min(gpu.limits.max_alloc_bytes, gpu.limits.global_bytes // (2 * buffers))
    return tuple(size for size in sizes if size * MIB <= most)


def copy(gpu: Gpu, sizes: Sequence[int]) -> Iterator[Measurement]:
    """Measures copies of ``sizes`` MiB: by a kernel, by the driver, from and to pageable and pinned memory.

    Within the device the times are those of events, and bytes count twice, as read and as written. To and from the
    host the times are by the host's clock, until the data has arrived, and bytes count once.

    Raises
    ------
    ParameterError
        A size below 1 MiB, or a gpu without a report (events need a profiling queue).
    DeviceError
        The device has too little memory.
    """
    need_events(gpu)
    for size in sizes:
        if size < 1:
            raise ParameterError(f"a size must be 1 MiB or more, not {size}")
    if not sizes:
        return
    most = max(sizes) * MIB
    source, target = gpu.zeros((most,), np.uint8), gpu.zeros((most,), np.uint8)
    pageable = np.ones(most, np.uint8)  # not zeros: the system would map them all to one page
    direct = pinned(gpu, gpu.queue, most)
    direct[:] = 1
    kernel = gpu.kernel("copy", "copy")
    local = kernel.fit(256)

    enqueue_copy: Any = cl.enqueue_copy

    def copying(destination: Any, origin: Any, **extent: int) -> Callable[[], cl.Event]:
        return lambda: enqueue_copy(gpu.queue, destination, origin, **extent)

    try:
        for size in sizes:
            n = size * MIB
            items = n // 16
            step = gpu.bind(kernel, (items,), source, target, np.uint64(items), local=local, traffic=2 * n)
            by_driver = copying(target.buffer, source.buffer, byte_count=n)
            yield Measurement("copy kernel", size, 2 * n, _event_times(step.timed))
            yield Measurement("clEnqueueCopyBuffer", size, 2 * n, _event_times(by_driver))
            for name, host in (("pageable", pageable[:n]), ("pinned", direct[:n])):
                there, back = copying(target.buffer, host), copying(host, source.buffer)
                yield Measurement(f"host → device, {name}", size, n, repeat(partial(wall_ms, gpu, there)))
                yield Measurement(f"device → host, {name}", size, n, repeat(partial(wall_ms, gpu, back)))
    finally:
        unpin(gpu, gpu.queue, direct)


# Runs before the first that is timed.
WARM_UP = 3
# Timed runs, at least.
FEWEST = 5
# Timed runs, at most.
MOST = 50
# Seconds of timed runs after which no more follow.
ENOUGH_S = 0.2


def _event_times(enqueue: Callable[[], cl.Event]) -> tuple[float, ...]:
    """Returns the milliseconds of each run after a warm-up, from its event."""

    def run() -> float:
        event = enqueue()
        event.wait()
        return float(event.profile.end - event.profile.start) / 1e6

    return repeat(run)


def wall_ms(gpu: Gpu, call: Callable[[], object]) -> float:
    """Returns the milliseconds of a run by the host's clock."""
    start = time.perf_counter()
    call()
    gpu.finish()
    return (time.perf_counter() - start) * 1e3


def need_events(gpu: Gpu) -> None:
    """Raises ParameterError for a gpu without a report: only a profiling queue tells how long kernels took."""
    if gpu.report is None:
        raise ParameterError("measuring needs a Gpu with a Report")


def runs(gpu: Gpu, call: Callable[[], object]) -> list[list[KernelTime]]:
    """Returns the kernels of each run of a call, after a warm-up."""
    found: list[list[KernelTime]] = []

    def run() -> float:
        with own_report(gpu) as report:
            call()
            found.append(report.kernels())
        return sum(sum(kernel.ms) for kernel in found[-1])

    count = len(repeat(run))
    return found[-count:]


def times(gpu: Gpu, call: Callable[[], object]) -> tuple[list[KernelTime], tuple[float, ...]]:
    """Returns the kernels of one call, and the sum of their times in each run, in ms."""
    found = runs(gpu, call)
    return found[-1], tuple(sum(sum(kernel.ms) for kernel in kernels) for kernels in found)


@contextmanager
def own_report(gpu: Gpu) -> Iterator[Report]:
    """Collects the launches inside in a report of their own, and not in the gpu's."""
    kept = gpu.report
    report = gpu.report = Report()
    try:
        yield report
    finally:
        gpu.report = kept


def copy_image(gpu: Gpu, image: Image) -> None:
    """Reads and writes all planes once, but for the rest that is less than a float4."""
    kernel = gpu.kernel("copy", "copy")
    items = max(1, image.nbytes // 16)
    source = image if image.nbytes >= 16 else gpu.zeros((4,))
    target = gpu.empty((4 * items,))
    gpu.launch(
        kernel, (items,), source, target, np.uint64(items), local=kernel.fit(256), traffic=2 * 16 * items
    )  # fmt: skip


def check_memory(gpu: Gpu, size: tuple[int, int], channels: int, item: int, *, images: int) -> None:
    """Raises DeviceError if ``images`` images of ``size`` (width, height) do not fit, ParameterError for none.

    Each has ``channels`` planes, with ``item`` bytes a value.
    """
    if min(size) < 1:
        raise ParameterError(f"an image has a pixel at least: {size[0]}×{size[1]} is no size")
    buffer, limits = item * size[0] * size[1] * channels, gpu.limits
    for needed, there, what in (
        (images * buffer, limits.global_bytes, "of device memory"),
        (buffer, limits.max_alloc_bytes, "in one buffer"),
    ):
        if needed > there:
            raise DeviceError(
                f"{channels} channels of {size[0]}×{size[1]} need {byte_count(needed)} {what}, and "
                f"{gpu.info.name} has {byte_count(there)}: use a smaller --size, fewer --channels or another device"
            )


def repeat(run: Callable[[], float]) -> tuple[float, ...]:
    """Calls ``run`` and returns its results, in milliseconds: 5 to 50 after a warm-up, as many as fit into 0.2 s."""
    for _ in range(WARM_UP):
        run()
    times: list[float] = []
    while len(times) < FEWEST or (len(times) < MOST and sum(times) < ENOUGH_S * 1e3):
        times.append(run())
    return tuple(times)


# The cells of a row, by the table's headings.
_CELLS: dict[str, Callable[[Measurement], str]] = {
    "copy": lambda row: row.what,
    "MiB": lambda row: str(row.mib),
    "runs": lambda row: str(row.runs),
    "min ms": lambda row: f"{min(row.ms):.4f}",
    "median": lambda row: f"{row.median_ms:.4f}",
    "max": lambda row: f"{max(row.ms):.4f}",
    "GB/s": lambda row: cell(row.gbps),
}


def table(gpu: Gpu, rows: Sequence[Measurement]) -> str:
    """Returns the measurements as text for a person."""
    note = (
        "GB/s at the median; within the device bytes count as read and as written, to and from the host once."
    )
    return tables.table(gpu, _CELLS, rows, note)
