"""Puts clpix's median filter beside OpenCV's on a CPU, for radii from 1 to 15, of uint8, uint16 and float32.

    python docs/benchmarks/median_peers.py --json median.json [--device NAME] [--size 4096] [--no-peers]

One plane, from device memory to device memory, uint8 values of noise in every type; OpenCV with two threads, where it
has the radius (uint16 and float32: up to 2). ``ms`` is the sum of clpix's kernels by their events, ``opencv_ms`` a call
by the clock; both ran in turns, and medians are given, and the ratio of them. ``cpu_ratio`` compares the processors'
time, which other programs on the machine change less; OpenCV takes one thread for most of this. ``build_s`` is a
process's first call: a build, unless clpix's cache or the driver's has it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import import_module
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt
import peers

from gpuops import Gpu, Report
from gpuops import median as filters

Array = npt.NDArray[Any]
RADII = (1, 2, 3, 5, 7, 11, 15)
RUNS, SLOW_S = 9, 6.0  # fewer of what takes long together


def opencv() -> Callable[[Array, int], Callable[[], Any]]:
    """A function that prepares a call."""
    cv2 = import_module("cv2")
    cv2.setNumThreads(2)

    def prepare(plane: Array, radius: int) -> Callable[[], Any]:
        result = np.empty_like(plane)
        return lambda: cv2.medianBlur(plane, 2 * radius + 1, result)

    return prepare


def timed(call: Callable[[], Any]) -> tuple[float, float]:
    """Milliseconds by the clock, and of processors."""
    start, cpu = time.perf_counter(), time.process_time()
    call()
    return (time.perf_counter() - start) * 1e3, (time.process_time() - cpu) * 1e3


def measure(gpu: Gpu, plane: Array, radius: int, peer: Callable[[], Any] | None) -> dict[str, Any]:
    """A row of the table."""
    image = gpu.array(plane[None])
    result: list[Array] = []

    def first() -> None:
        result.append(filters.median(gpu, gpu.array(plane[None, :64, :64].copy()), (radius, radius)).numpy())

    def call() -> None:
        filters.median(gpu, image, (radius, radius))
        gpu.finish()

    build, _ = timed(first)
    ours: list[tuple[float, float]] = []
    theirs: list[tuple[float, float]] = []
    end = time.perf_counter() + SLOW_S
    while len(ours) < 3 or (len(ours) < RUNS and time.perf_counter() < end):
        gpu.report = Report()
        _, cpu = timed(call)
        ours.append((sum(last - begin for _, begin, last in gpu.report.trace_events()) * 1e3, cpu))
        if peer is not None:
            theirs.append(timed(peer))
    row = {"type": plane.dtype.name, "radius": radius, "build_s": build / 1e3}
    row["ms"], row["cpu_ms"] = (median(column) for column in zip(*ours, strict=True))
    if theirs:
        row["opencv_ms"], row["opencv_cpu_ms"] = (median(column) for column in zip(*theirs, strict=True))
        row["ratio"] = row["ms"] / row["opencv_ms"]
        row["cpu_ratio"] = row["cpu_ms"] / row["opencv_cpu_ms"]
    return row


def main() -> None:
    """Measures, prints the table, writes the JSON."""
    options = peers.options(__doc__)
    gpu = Gpu(options.device, report=Report())
    prepare = peers.peer("OpenCV", opencv, options)
    noise = np.random.default_rng(0).integers(0, 256, (options.size, options.size), np.uint8)
    columns = (
        "type",
        "radius",
        "build_s",
        "ms",
        "opencv_ms",
        "ratio",
        "cpu_ms",
        "opencv_cpu_ms",
        "cpu_ratio",
    )
    print("".join(f"{title:>15}" for title in columns))
    rows = []
    for dtype in ("uint8", "uint16", "float32"):
        plane = noise.astype(dtype)
        for radius in RADII:
            known = prepare is not None and (dtype == "uint8" or radius <= 2)
            rows.append(measure(gpu, plane, radius, prepare(plane, radius) if prepare and known else None))
            cells = [rows[-1].get(title, "") for title in columns]
            texts = [f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in cells]
            print("".join(f"{text:>15}" for text in texts), flush=True)
    peers.save(options, gpu, rows, size=options.size)


if __name__ == "__main__":
    main()
