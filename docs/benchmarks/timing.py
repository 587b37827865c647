"""Times of calls on devices that work through a queue."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from gpuops import Gpu

Call = Callable[[], Any]
WARM_S = 0.1  # clocks fall while the host prepares a case: a few short runs would not raise them again
BATCH = 20
BLOCK = 1 << 28  # bytes of a copy behind which calls are queued


def wall(call: Call, calls: int = 1) -> float:
    """Seconds of one of several calls in a row."""
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - start) / calls


def warm(call: Call) -> float:
    """Runs it until the device is at speed; the median run's seconds."""
    end = time.perf_counter() + WARM_S
    times: list[float] = []
    while len(times) < 3 or time.perf_counter() < end:
        times.append(wall(call))
    return median(times)


def stream_ms(block: Call, finish: Call, call: Call, restore: Call = lambda: None) -> float:
    """Milliseconds of one of many calls that the device finds queued behind ``block``: by the host's clock, less what
    the blocks alone take; the difference of medians of 15. ``restore`` prepares the input."""
    seconds = warm(lambda: (restore(), call(), finish()))
    calls = max(1, min(BATCH, int(0.1 / seconds)))
    queueing = wall(call, calls) * calls
    finish()
    blocks = int(2 * queueing / wall(lambda: (block(), finish()))) + 1

    def run(count: int) -> float:
        restore()
        finish()
        start = time.perf_counter()
        for _ in range(blocks):
            block()
        for _ in range(count):
            call()
        finish()
        return time.perf_counter() - start

    times = [(run(calls), run(0)) for _ in range(15)]
    return (median(long for long, _ in times) - median(short for _, short in times)) / calls * 1e3


def opencl_stream_ms(gpu: Gpu) -> Callable[..., float]:
    """The same for OpenCL; ``gpu`` takes no times."""
    items = BLOCK // 16
    source, target = (gpu.empty((BLOCK,), np.uint8) for _ in range(2))
    block = gpu.bind(gpu.kernel("copy", "copy"), (items,), source, target, np.uint64(items), local=(256,))
    return partial(stream_ms, block, gpu.finish)


def best(timed: Callable[..., float], ways: Sequence[tuple[Call, Call]]) -> dict[str, Any]:
    """The time of the fastest way; each is a call, and what restores its input."""
    ms = [timed(*way) for way in ways]
    return {"ms": min(ms), "in_place": ms.index(min(ms)) > 0, "ways_ms": ms}
