"""Puts clpix's exposure fusion beside OpenCV's MergeMertens on a CPU, and beside a copy of the pictures on a GPU.

    python docs/benchmarks/merge_peers.py --json merge.json [--device NAME] [--size 4096] [--no-peers]

Three pictures of SIZE × ¾ SIZE pixels with three channels are fused: noise on a ramp, with three exposures. ``ms`` is
the sum of clpix's kernels by their events, from device memory to device memory, of float32 values. OpenCV has two
threads, pictures of float32 values (as it makes of its 8 bits first), and channels interleaved. Both ran in turns, and
the least of the runs is given. ``passes`` is ms over the time in which the device copies the three pictures once.
``error`` is the largest difference between the results, away from the borders, of which OpenCV makes others.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
import peers

from gpuops import Gpu, Report
from gpuops.tone.fusion import fused

Array = npt.NDArray[Any]
# Factors of the scene's light in the pictures.
EXPOSURES = (0.35, 1.0, 2.5)
# Exponents of contrast, saturation and exposedness, OpenCV's as well.
POWERS = (1.0, 1.0, 1.0)
ROUNDS = 7


def pictures(size: int) -> list[Array]:
    """Planes (channel, row, column) of 0 … 1 of the exposures."""
    rng = np.random.default_rng(0)
    shape = (3, size * 3 // 4, size)
    scene = np.linspace(0.02, 0.9, size, dtype=np.float32) * (0.6 + 0.4 * rng.random(shape, np.float32))
    return [np.clip(scene * factor, 0, 1).astype(np.float32) for factor in EXPOSURES]


def opencv() -> Callable[[list[Array]], Callable[[], Array]]:
    """Prepares a call that gives planes."""
    cv2 = import_module("cv2")
    cv2.setNumThreads(2)
    merge = cv2.createMergeMertens(*POWERS)

    def prepare(planes: list[Array]) -> Callable[[], Array]:
        # It takes values of 8 bits, which it divides by 255.
        pixels = [np.ascontiguousarray(np.moveaxis(one * 255, 0, 2)) for one in planes]
        return lambda: np.moveaxis(merge.process(pixels), 2, 0)

    return prepare


def measured(gpu: Gpu, size: int, peer: Any) -> dict[str, Any]:
    """The row of a size."""
    planes = pictures(size)
    images = [gpu.array(one) for one in planes]
    _, height, width = images[0].shape
    seen = [(0, 0, height, width)] * len(images)
    theirs = peer(planes) if peer else None
    times: list[float] = []
    peer_times: list[float] = []
    for _ in range(ROUNDS + 1):
        gpu.report = Report()
        result = fused(gpu, images, POWERS, seen)
        gpu.finish()
        events = gpu.report.trace_events()
        times.append(sum(end - begin for _, begin, end in events) * 1e3)
        if theirs:
            begun = time.perf_counter()
            found = theirs()
            peer_times.append((time.perf_counter() - begun) * 1e3)
    row: dict[str, Any] = {"width": width, "height": height, "ms": min(times[1:])}
    copied = 2 * sum(image.nbytes for image in images)
    row["passes"] = row["ms"] / (copied / (gpu.info.copy_gbps or float("nan")) / 1e6)
    if theirs:
        inner = (..., slice(64, -64), slice(64, -64))
        row["peer_ms"] = min(peer_times[1:])
        row["ratio"] = row["ms"] / row["peer_ms"]
        row["error"] = float(np.abs(result.numpy()[inner] - found[inner]).max())
    return row


def main() -> None:
    """Measures, prints the table, writes the JSON."""
    options = peers.options(__doc__)
    gpu = Gpu(options.device, report=Report())
    peer = peers.peer("OpenCV", opencv, options) if gpu.limits.is_cpu else None
    rows = []
    for size in (options.size // 4, options.size // 2, options.size):
        rows.append(measured(gpu, size, peer))
        print("  ".join(f"{key} {value:.4g}" for key, value in rows[-1].items()), flush=True)
    peers.save(options, gpu, rows, peer="OpenCV" if peer else "none", pictures=len(EXPOSURES))


if __name__ == "__main__":
    main()
