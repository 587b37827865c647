"""Measured limits of a device, copies within it, and between it and the host; and what all measurements have."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from statistics import median
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyopencl as cl

from ..enqueue import BoundLaunch
from ..errors import DeviceError, ParameterError, byte_count
from ..gpu import Gpu
from ..image import Image
from ..profile import KernelTime, Report
from ..tiles.transfers import pinned, unpin
from .report_formats import SCHEMA_VERSION, cell, cells, device_context, versions

# Sizes of the copies in MiB.
SIZES = (8, 32, 128, 512)
# Bytes of a MiB.
MIB = 1 << 20


class Row(SimpleNamespace):
    """The figures of a measurement, by the names that JSON has for them."""

    def _asdict(self) -> dict[str, Any]:
        """Returns the figures for :func:`gpuops.errors.json_values`."""
        return vars(self)


def ratio(value: float | None, whole: float | None) -> float | None:
    """Returns ``value`` over ``whole``; None where one is not known, as where the device's clock cannot tell it."""
    return value / whole if value is not None and whole else None


def speed(ms: Sequence[float], moved: int) -> tuple[float, float | None]:
    """Returns the median of several runs, and the 10⁹ bytes a second that it comes to; None if nothing is moved."""
    return median(ms), ratio(moved / 1e6 or None, median(ms))


def heading(gpu: Gpu) -> str:
    """Returns the first line of a table: device and date."""
    info = gpu.info
    return f"{info.name} ({info.platform}, driver {info.driver})  ·  {versions()['date']}"


def table_of(gpu: Gpu, of: Mapping[str, Callable[[Any], str]], rows: Sequence[Row], *notes: str) -> str:
    """Returns rows as text for a person: the device, :func:`~.report_formats.cells`, and notes."""
    return "\n".join([heading(gpu), *cells(of, rows), *notes])


def to_json(gpu: Gpu, rows: Sequence[Row]) -> dict[str, Any]:
    """Returns rows, with the device and versions of the measurement, for :func:`gpuops.errors.json_text`."""
    return {
        "schema_version": SCHEMA_VERSION,
        "context": {**versions(), **device_context(gpu.info)},
        "measurements": rows,
    }


def _row(what: str, mib: int, moved: int, ms: tuple[float, ...]) -> Row:
    """Returns one row of the table: ``moved`` bytes in one run, read and written, and each run's time in ms."""
    median_ms, gbps = speed(ms, moved)
    return Row(what=what, mib=mib, bytes=moved, ms=ms, runs=len(ms), median_ms=median_ms, gbps=gbps)


def sizes_that_fit(gpu: Gpu, sizes: Sequence[int] = SIZES) -> tuple[int, ...]:
    """Returns the sizes (MiB) whose buffers take at most half of the device's memory.

    There are two buffers on the device; if that is a CPU, the host's two buffers take the same memory.
    """
    buffers = 4 if gpu.limits.is_cpu else 2
    most = min(gpu.limits.max_alloc_bytes, gpu.limits.global_bytes // (2 * buffers))
    return tuple(size for size in sizes if size * MIB <= most)


def copy(gpu: Gpu, sizes: Sequence[int]) -> Iterator[Row]:
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
    enqueue_copy: Any = cl.enqueue_copy

    def copying(destination: Any, origin: Any, **extent: int) -> Callable[[], cl.Event]:
        return lambda: enqueue_copy(gpu.queue, destination, origin, **extent)

    try:
        for size in sizes:
            n = size * MIB
            step = copy_step(gpu, source, target, n // 16)
            by_driver = copying(target.buffer, source.buffer, byte_count=n)
            yield _row("copy kernel", size, 2 * n, _event_times(step.timed))
            yield _row("clEnqueueCopyBuffer", size, 2 * n, _event_times(by_driver))
            for name, host in (("pageable", pageable[:n]), ("pinned", direct[:n])):
                there, back = copying(target.buffer, host), copying(host, source.buffer)
                yield _row(f"host → device, {name}", size, n, repeat(partial(wall_ms, gpu, there)))
                yield _row(f"device → host, {name}", size, n, repeat(partial(wall_ms, gpu, back)))
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
    runs: list[list[KernelTime]] = []

    def run() -> float:
        with own_report(gpu) as report:
            call()
            runs.append(report.kernels())
        return sum(sum(kernel.ms) for kernel in runs[-1])

    count = len(repeat(run))
    return runs[-count:]


def times(gpu: Gpu, call: Callable[[], object]) -> tuple[list[str], int, tuple[float, ...]]:
    """Returns the labels of one call's launches, the bytes that they move, and the sum of their times in each run.

    The bytes are those that the launches have to read and write by the library's own model; times are in ms.
    """
    return summary(runs(gpu, call))


def summary(runs: Sequence[Sequence[KernelTime]]) -> tuple[list[str], int, tuple[float, ...]]:
    """Returns the same of the kernels of each run."""
    labels = [kernel.label for kernel in runs[-1] for _ in kernel.ms]
    moved = sum(kernel.traffic * len(kernel.ms) for kernel in runs[-1])
    return labels, moved, tuple(sum(sum(kernel.ms) for kernel in kernels) for kernels in runs)


@contextmanager
def own_report(gpu: Gpu) -> Iterator[Report]:
    """Collects the launches inside in a report of their own, and not in the gpu's."""
    kept = gpu.report
    report = gpu.report = Report()
    try:
        yield report
    finally:
        gpu.report = kept


def copy_step(gpu: Gpu, source: Image, target: Image, items: int, moved: int | None = None) -> BoundLaunch:
    """Returns the launch of a kernel whose items read and write a float4 each; others than ``moved`` do nothing."""
    kernel, count = gpu.kernel("copy", "copy"), items if moved is None else moved
    return gpu.bind(
        kernel, (items,), source, target, np.uint64(count), local=kernel.fit(256), traffic=32 * count
    )


def copy_image(gpu: Gpu, image: Image) -> None:
    """Reads and writes all planes once, but for the rest that is less than a float4."""
    items = max(1, image.nbytes // 16)
    source = image if image.nbytes >= 16 else gpu.zeros((4,))
    copy_step(gpu, source, gpu.empty((4 * items,)), items)()


def checked(
    gpu: Gpu,
    sizes: Sequence[tuple[int, int]],
    usual: Sequence[tuple[int, int]],
    channels: int,
    item: int,
    *,
    images: int,
) -> tuple[tuple[int, int], ...]:
    """Returns each of the ``sizes`` (width, height) once, or the ``usual`` ones.

    Raises DeviceError if ``images`` images of one do not fit, ParameterError for an image without pixels. Each has
    ``channels`` planes, with ``item`` bytes a value.
    """
    pairs = tuple(dict.fromkeys(sizes or usual))
    for width, height in pairs:
        if min(width, height) < 1:
            raise ParameterError(f"an image has a pixel at least: {width}×{height} is no size")
        buffer, limits = item * width * height * channels, gpu.limits
        for needed, there, what in (
            (images * buffer, limits.global_bytes, "of device memory"),
            (buffer, limits.max_alloc_bytes, "in one buffer"),
        ):
            if needed > there:
                raise DeviceError(
                    f"{channels} channels of {width}×{height} need {byte_count(needed)} {what}, and {gpu.info.name} "
                    f"has {byte_count(there)}: use a smaller --size, fewer --channels or another device"
                )
    return pairs


def repeat(run: Callable[[], float]) -> tuple[float, ...]:
    """Calls ``run`` and returns its results, in milliseconds: 5 to 50 after a warm-up, as many as fit into 0.2 s."""
    for _ in range(WARM_UP):
        run()
    times: list[float] = []
    while len(times) < FEWEST or (len(times) < MOST and sum(times) < ENOUGH_S * 1e3):
        times.append(run())
    return tuple(times)


# The cells of a row, by the table's headings.
_CELLS: dict[str, Callable[[Row], str]] = {
    "copy": lambda row: str(row.what),
    "MiB": lambda row: str(row.mib),
    "runs": lambda row: str(row.runs),
    "min ms": lambda row: f"{min(row.ms):.4f}",
    "median": lambda row: f"{row.median_ms:.4f}",
    "max": lambda row: f"{max(row.ms):.4f}",
    "GB/s": lambda row: cell(row.gbps),
}


def table(gpu: Gpu, rows: Sequence[Row]) -> str:
    """Returns the measurements as text for a person."""
    note = (
        "GB/s at the median; within the device bytes count as read and as written, to and from the host once."
    )
    return table_of(gpu, _CELLS, rows, note)
