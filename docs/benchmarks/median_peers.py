"""Puts clpix's median filter beside OpenCV's on a CPU and CuPy's on a GPU, for radii from 1 to 15.

    python docs/benchmarks/median_peers.py --json median.json [--device NAME] [--size 4096] [--no-peers]

uint8, uint16 and float32, from device memory to device memory, uint8 values of noise in every type; one plane on a CPU,
three on a GPU. OpenCV has two threads, and is asked for what it has (uint16 and float32: up to radius 2); CuPy is not
asked for wider windows of a type once a call took half a second. ``ms`` is the sum of clpix's kernels by their events,
``peer_ms`` a call by the clock till it is done; both ran in turns, and medians are given, and the ratio of them.
``cpu_ratio`` compares the processors' time, which other programs on the machine change less; OpenCV takes one thread
for most of this. ``build_s`` is a process's first call: a build, unless clpix's cache or the driver's has it.
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
from gpuops.filters import median as filters

Array = npt.NDArray[Any]
Prepare = Callable[[Array, int], Callable[[], Any]]  # of planes and a radius; gives a call
RADII = (1, 2, 3, 4, 5, 7, 9, 11, 15)
RUNS, SLOW_S, PEERS_S = 9, {"cpu": 6.0, "gpu": 0.3}, 0.5  # fewer of what takes long together


def opencv() -> Prepare:
    cv2 = import_module("cv2")
    cv2.setNumThreads(2)

    def prepare(planes: Array, radius: int) -> Callable[[], Any]:
        result = np.empty_like(planes[0])
        return lambda: cv2.medianBlur(planes[0], 2 * radius + 1, result)

    return prepare


def cupy() -> Prepare:
    cp, ndimage = import_module("cupy"), import_module("cupyx.scipy.ndimage")

    def prepare(planes: Array, radius: int) -> Callable[[], Any]:
        source, result = cp.asarray(planes), cp.empty(planes.shape, planes.dtype)

        def run() -> None:
            ndimage.median_filter(source, (1, 2 * radius + 1, 2 * radius + 1), output=result)
            cp.cuda.get_current_stream().synchronize()

        return run

    return prepare


def timed(call: Callable[[], Any]) -> tuple[float, float]:
    """Milliseconds by the clock, and of processors."""
    start, cpu = time.perf_counter(), time.process_time()
    call()
    return (time.perf_counter() - start) * 1e3, (time.process_time() - cpu) * 1e3


def measure(gpu: Gpu, planes: Array, radius: int, peer: Callable[[], Any] | None) -> dict[str, Any]:
    """A row of the table."""
    image = gpu.array(planes)
    result: list[Array] = []

    def first() -> None:
        part = np.ascontiguousarray(planes[:1, :64, :64])
        result.append(filters.median(gpu, gpu.array(part), (radius, radius)).numpy())

    def call() -> None:
        filters.median(gpu, image, (radius, radius))
        gpu.finish()

    build, _ = timed(first)
    ours: list[tuple[float, float]] = []
    theirs: list[tuple[float, float]] = []
    if not gpu.limits.is_cpu:
        call()  # clocks rise, memory is taken
        if peer is not None:
            peer()  # a build
    end = time.perf_counter() + SLOW_S["cpu" if gpu.limits.is_cpu else "gpu"]
    while len(ours) < 3 or (len(ours) < RUNS and time.perf_counter() < end):
        gpu.report = Report()
        _, cpu = timed(call)
        ours.append((sum(last - begin for _, begin, last in gpu.report.trace_events()) * 1e3, cpu))
        if peer is not None:
            theirs.append(timed(peer))
    row = {"type": planes.dtype.name, "radius": radius, "build_s": build / 1e3}
    row["ms"], row["cpu_ms"] = (median(column) for column in zip(*ours, strict=True))
    if theirs:
        row["peer_ms"], row["peer_cpu_ms"] = (median(column) for column in zip(*theirs, strict=True))
        row["ratio"] = row["ms"] / row["peer_ms"]
        if gpu.limits.is_cpu:
            row["cpu_ratio"] = row["cpu_ms"] / row["peer_cpu_ms"]
    return row


def main() -> None:
    """Measures, prints the table, writes the JSON."""
    options = peers.options(__doc__)
    gpu = Gpu(options.device, report=Report())
    name, opener = ("OpenCV", opencv) if gpu.limits.is_cpu else ("CuPy", cupy)
    prepare = peers.peer(name, opener, options)
    shape = (1 if gpu.limits.is_cpu else 3, options.size, options.size)
    noise = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
    columns = ("type", "radius", "build_s", "ms", "peer_ms", "ratio", "cpu_ms", "peer_cpu_ms", "cpu_ratio")
    print(f"peer: {name if prepare else 'none'}; planes: {shape}")
    print("".join(f"{title:>12}" for title in columns))
    rows: list[dict[str, Any]] = []
    for dtype in ("uint8", "uint16", "float32"):
        planes, slow = noise.astype(dtype), False
        for radius in RADII:
            known = prepare is not None and not slow
            if name == "OpenCV" and dtype != "uint8":
                known = known and radius <= 2
            rows.append(measure(gpu, planes, radius, prepare(planes, radius) if prepare and known else None))
            slow = slow or (name == "CuPy" and rows[-1].get("peer_ms", 0.0) > PEERS_S * 1e3)
            cells = [rows[-1].get(title, "") for title in columns]
            texts = [f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in cells]
            print("".join(f"{text:>12}" for text in texts), flush=True)
    peers.save(options, gpu, rows, peer=name if prepare else "none", shape=list(shape))


if __name__ == "__main__":
    main()
