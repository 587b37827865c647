"""Measures what the host does: library calls on small images until they return, and a command before its first kernel.

    python docs/benchmarks/host_time.py --json host.json [--device NAME]

A call's time is the median of 300, each on an idle device, and the least of ten such medians: until it returns, and
of that what the calling thread computed rather than waited. Images lie on the device, arrays on the host. Processes
alternate with those that they are compared to: `clpix --help` with `import click`, a command up to its first kernel
with `import pyopencl`. All have compiled modules, as an installed program has, whatever PYTHONDONTWRITEBYTECODE says.
Ratios travel; absolute times on a shared machine do not.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import peers

from gpuops import Gpu, files
from gpuops import fourier as fft
from gpuops.filters.blur import blur
from gpuops.metrics.statistics import statistics
from gpuops.ops.blur import BlurParams
from gpuops.wavelets import functions as dwt

SIZE = 256
CALLS, SERIES, RUNS = 300, 10, 15


def calls(gpu: Gpu) -> dict[str, Callable[[], object]]:
    """The calls, by what they are called with."""
    array = np.random.default_rng(1).random((SIZE, SIZE), np.float32)
    image = gpu.array(array[None])
    return {
        "blur σ 3, Image": lambda: blur(gpu, image, BlurParams(sigma=(3, 3))),
        "rfft2, Image": lambda: fft.rfft2(gpu, image),
        "rfft2, array": lambda: fft.rfft2(gpu, array),
        "wavedec2 9/7, 3 levels, Image": lambda: dwt.wavedec2(gpu, image, "cdf9/7", level=3),
        "wavedec2 9/7, 3 levels, array": lambda: dwt.wavedec2(gpu, array, "cdf9/7", level=3),
        "statistics, Image": lambda: statistics(gpu, image),
    }


def until_return(gpu: Gpu, call: Callable[[], object], clock: Callable[[], float]) -> float:
    """Microseconds of a clock until a call returns; what it has queued is not waited for."""

    def once() -> float:
        gpu.finish()
        start = clock()
        call()
        return (clock() - start) * 1e6

    for _ in range(20):
        once()
    return round(min(median(once() for _ in range(CALLS)) for _ in range(SERIES)), 1)


def process(folder: Path, *words: str) -> float:
    """Milliseconds of a process, which keeps its compiled modules in ``folder``."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "modules")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    start = time.perf_counter()
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL, env=environment)
    return (time.perf_counter() - start) * 1e3


def before_the_first_kernel(folder: Path, device: str | None) -> float:
    """Milliseconds of a command on a small picture until its first kernel starts."""
    report = folder / "report.trace.json"
    words = ["-m", "clpix", "blur", str(folder / "in.png"), "--sigma", "3", "-o", str(folder / "out.png")]
    process(
        folder, *words, "--overwrite", "--timing-file", str(report), *(["--device", device] if device else [])
    )
    events = json.loads(report.read_text())["traceEvents"]
    return float(min(event["ts"] for event in events if event.get("cat") == "kernel")) / 1e3


def main() -> None:
    """Measures, prints and writes."""
    given = peers.options(__doc__)
    gpu = Gpu(given.device)
    clocks = {"us": time.perf_counter, "thread_us": time.thread_time}
    rows: list[dict[str, Any]] = [
        {"what": what, **{unit: until_return(gpu, call, clock) for unit, clock in clocks.items()}}
        for what, call in calls(gpu).items()
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files.write(folder / "in.png", files.Picture(np.zeros((64, 64, 3), np.uint8)))
        kinds: dict[str, Callable[[], float]] = {
            "import click": lambda: process(folder, "-c", "import click"),
            "clpix --help": lambda: process(folder, "-m", "clpix", "--help"),
            "import pyopencl": lambda: process(folder, "-c", "import pyopencl"),
            "clpix blur": lambda: before_the_first_kernel(folder, given.device),
        }
        times = [{what: kind() for what, kind in kinds.items()} for _ in range(RUNS + 1)][1:]
    ms = {what: median(run[what] for run in times) for what in kinds}
    for what, beside in (("clpix --help", "import click"), ("clpix blur", "import pyopencl")):
        rows.append(
            {"what": what, "ms": round(ms[what], 1), "beside": beside, "beside_ms": round(ms[beside], 1)}
        )
    for row in rows:
        print(row)
    peers.save(given, gpu, rows, calls_of=SIZE, runs=RUNS)


if __name__ == "__main__":
    main()
