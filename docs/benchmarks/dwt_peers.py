"""Times clpix's wavelet transform on the device, beside ptwt's on a GPU or PyWavelets' on a CPU.

    python docs/benchmarks/dwt_peers.py --json dwt.json [--device NAME] [--no-peers]

One channel of float32, out of place (lifting) and in place (strip). Milliseconds by the kernels' events, medians of 9
runs after one that is not counted; ``call`` is by the clock, from an idle device till all is done. The share is of a
copy's bandwidth (512 MiB), with 8 bytes a pixel, however many levels. ``aside`` is what the method took beside the
image, and its coefficients if these are apart, as a share of the image.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt
import peers

from gpuops import Gpu, Report
from gpuops.bench import copies as bench
from gpuops.image import Image
from gpuops.params.dwt import DwtParams
from gpuops.wavelets import strips, transform

RUNS = 9
Array = npt.NDArray[np.float32]

# Wavelet, mode, side, levels, method.
GPU_CASES = [
    *((name, "mirror", 8192, 1, "lifting") for name in ("haar", "bior2.2", "bior4.4", "dd13/7")),
    ("bior4.4", "mirror", 8191, 1, "lifting"),
    ("bior4.4", "symmetric", 8192, 1, "lifting"),
    *((name, "mirror", 16384, 5, "lifting") for name in ("haar", "bior2.2", "bior4.4")),
    ("bior4.4", "symmetric", 16384, 5, "lifting"),
    ("bior4.4", "mirror", 16384, 5, "strip"),
    ("dd13/7", "mirror", 16384, 5, "strip"),
    *(
        (name, "mirror", size, 5, "lifting")
        for size in (8192, 4096, 1024)
        for name in ("haar", "bior2.2", "bior4.4")
    ),
    ("bior4.4", "mirror", 4096, 5, "strip"),
]
CPU_CASES = [(name, "mirror", 4096, 5, "lifting") for name in ("haar", "bior2.2", "bior4.4", "dd13/7")]


def pixels(size: int) -> Array:
    """Noise on a slope."""
    noise = np.random.default_rng(0).random((size, size), np.float32)
    return noise + np.linspace(0, 1, size, dtype=np.float32)


def kernels(gpu: Gpu, call: Callable[[], Any]) -> dict[str, Any]:
    """Medians: of all kernels' sum, of each launch, of a call by the clock; and the peak of memory."""
    runs, calls, peak = [], [], 0
    call()
    gpu.finish()
    for _ in range(RUNS):
        gpu.report = Report()
        begun = time.perf_counter()
        call()
        gpu.finish()
        calls.append(1e3 * (time.perf_counter() - begun))
        runs.append([(k.label, ms) for k in gpu.report.kernels() for ms in k.ms])
        peak = gpu.report.peak_device_bytes
    launches = [
        {"kernel": label, "ms": median(run[n][1] for run in runs)} for n, (label, _) in enumerate(runs[0])
    ]
    total = median(sum(ms for _, ms in run) for run in runs)
    return {"ms": total, "call_ms": median(calls), "peak_bytes": peak, "launches": launches}


def both_ways(gpu: Gpu, image: Image, params: DwtParams) -> list[tuple[str, dict[str, Any], int]]:
    """For the transform and its inverse: name, times, and the bytes that there must be."""
    levels = params.levels or 0
    if params.method == "strip":
        forward = kernels(gpu, partial(strips.decompose, image, params, levels))
        backward = kernels(gpu, partial(strips.recompose, image, params, levels))
        return [("forward", forward, image.nbytes), ("inverse", backward, image.nbytes)]
    forward = kernels(gpu, partial(transform.decompose, image, params))
    approximation, details = transform.decompose(image, params)
    size = image.shape[1:]
    backward = kernels(gpu, partial(transform.recompose, approximation, details, params, size))
    return [("forward", forward, 2 * image.nbytes), ("inverse", backward, 3 * image.nbytes)]


def of_ptwt(name: str, size: int, levels: int) -> float:
    """Milliseconds of ptwt.wavedec2, by events."""
    import ptwt
    import torch

    x = torch.from_numpy(pixels(size)).cuda()[None]
    times = []
    for run in range(RUNS + 3):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        ptwt.wavedec2(x, name, level=levels, mode="periodic")
        end.record()
        torch.cuda.synchronize()
        if run >= 3:
            times.append(begin.elapsed_time(end))
    return median(times)


def of_pywt(name: str, size: int, levels: int) -> dict[str, float]:
    """Milliseconds of pywt.wavedec2 and waverec2 in the mode with as many coefficients, by the clock."""
    import pywt

    x = pixels(size)
    times: dict[str, list[float]] = {"forward": [], "inverse": []}
    for _ in range(5):
        begun = time.perf_counter()
        coefficients = pywt.wavedec2(x, name, "periodization", levels)
        done = time.perf_counter()
        pywt.waverec2(coefficients, name, "periodization")
        times["forward"].append(1e3 * (done - begun))
        times["inverse"].append(1e3 * (time.perf_counter() - done))
    return {way: median(ms) for way, ms in times.items()}


def main() -> None:
    """Measures, prints the table, writes the JSON."""
    given = peers.options(__doc__)
    gpu = Gpu(given.device, report=Report())
    mib = max(bench.sizes_that_fit(gpu))
    copied = next(m for m in bench.copy(gpu, [mib]) if m.what == "copy kernel").gbps
    print(f"{gpu.info.name}, float32; a copy of {mib} MiB: {copied:.0f} GB/s\n")
    print(
        "| what | ms | Gpixel/s | of copy | call, ms | aside | peer, ms | launches |\n|---|---|---|---|---|---|---|---|"
    )
    rows: list[dict[str, Any]] = []
    for name, mode, size, levels, method in CPU_CASES if gpu.limits.is_cpu else GPU_CASES:
        image = gpu.array(pixels(size)[None])
        params = DwtParams(name, mode, levels, method)
        theirs: Any = None
        if mode == "mirror" and not name.startswith("dd") and method == "lifting":
            peer = of_pywt if gpu.limits.is_cpu else of_ptwt
            theirs = peers.peer("a peer", partial(peer, name, size, levels), given)
        for way, row, needed in both_ways(gpu, image, params):
            row["gpixels"] = size * size / row["ms"] / 1e6
            row["of_copy"] = 8 * row["gpixels"] / copied
            row["aside"] = (row["peak_bytes"] - needed) / image.nbytes
            row["peer_ms"] = (
                theirs.get(way) if isinstance(theirs, dict) else theirs if way == "forward" else None
            )
            what = {
                "wavelet": name,
                "mode": mode,
                "size": size,
                "levels": levels,
                "method": method,
                "way": way,
            }
            rows.append(what | row)
            launches = ", ".join(f"{entry['ms']:.4f}" for entry in row["launches"])
            figures = f"{row['ms']:.4f} | {row['gpixels']:.1f} | {row['of_copy']:.3f} | {row['call_ms']:.3f}"
            beside = f"{row['aside']:.4f} | {row['peer_ms'] or 0:.2f}"
            print(f"| {' '.join(map(str, what.values()))} | {figures} | {beside} | {launches} |", flush=True)
    peers.save(given, gpu, rows, copy_gbps=copied)


if __name__ == "__main__":
    main()
