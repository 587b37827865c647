"""Times clpix's statistics and tone mapping on the device, beside torch.compile's on a GPU or OpenCV's on a CPU.

    python docs/benchmarks/tonemap_peers.py --json tonemap.json [--device NAME] [--size 8192] [--no-peers]

Statistics: all that one reading pass gives of three float32 planes. Tone mapping: interleaved RGB of half floats and of
floats to 8-bit sRGB, metered first, every global operator. Milliseconds by the kernels' events, medians of 9 runs after
one that is not counted; a row names its launches. The share is of the bandwidth of a copy of 512 MiB, by the
bytes that must be read and written: pixels twice, for the meter and the operator, and the result once. ``call``
is by the clock, from an idle device till all is done.
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
from gpuops.metrics.statistics import channel_statistics, statistics
from gpuops.ops.tonemap import TonemapParams
from gpuops.params.operators import LOCAL, OPERATORS
from gpuops.pixels.coding import Decoding, Encoding
from gpuops.tone import tonemap

RUNS = 9
DECODING, ENCODING = Decoding(), Encoding(np.dtype(np.uint8), encode=True)
Array = npt.NDArray[np.float32]


def scene(size: int) -> Array:
    """Smooth light over twelve stops with grain, (3, size, size)."""
    y, x = np.mgrid[:size, :size].astype(np.float32) / size
    base = np.exp2(6 * np.sin(7 * x + 3 * y) * np.cos(5 * y) - 1)
    grain = np.random.default_rng(1).random((size, size), np.float32) * np.float32(0.2) + np.float32(0.9)
    return np.stack([base * tint * grain for tint in (1.1, 1.0, 0.8)]).astype(np.float32)


def kernels(gpu: Gpu, call: Callable[[], Any]) -> dict[str, Any]:
    """Medians: of all kernels' sum, of each launch, of a call by the clock."""
    runs, calls = [], []
    call()
    for _ in range(RUNS):
        gpu.report = Report()
        gpu.finish()
        begun = time.perf_counter()
        call()
        gpu.finish()
        calls.append(1e3 * (time.perf_counter() - begun))
        runs.append([(k.label, ms) for k in gpu.report.kernels() for ms in k.ms])
    launches = [
        {"kernel": label, "ms": median(run[n][1] for run in runs)} for n, (label, _) in enumerate(runs[0])
    ]
    total = median(sum(ms for _, ms in run) for run in runs)
    return {"ms": total, "call_ms": median(calls), "launches": launches}


def tonemapped(gpu: Gpu, pixels: Image, operator: str) -> None:
    """Metering, operator, 8-bit codes."""
    tonemap.tonemap_pixels(gpu, pixels, TonemapParams(operator, transfer="linear"), DECODING, ENCODING)


def of_torch(planes: Array) -> list[tuple[str, float]]:
    """Milliseconds of a log average, and of Reinhard with metering to 8 bits, by torch.compile."""
    import torch

    @torch.compile  # type: ignore[untyped-decorator]
    def log_average(x: Any) -> Any:
        y = 0.2126 * x[0].float() + 0.7152 * x[1].float() + 0.0722 * x[2].float()
        return torch.exp(torch.log(1e-6 + y).mean())

    @torch.compile  # type: ignore[untyped-decorator]
    def reinhard(x: Any) -> Any:  # (height, width, 3)
        v = x.float()
        y = 0.2126 * v[..., 0] + 0.7152 * v[..., 1] + 0.0722 * v[..., 2]
        scale = 0.18 / torch.exp(torch.log(1e-6 + y).mean())
        v = (v * scale / (1 + y * scale)[..., None]).clamp(0, 1)
        s = torch.where(v <= 0.0031308, 12.92 * v, 1.055 * v ** (1 / 2.4) - 0.055)
        return (s * 255 + 0.5).to(torch.uint8)

    def timed(f: Callable[[Any], Any], x: Any) -> float:
        for _ in range(3):
            f(x)
        times = []
        for _ in range(RUNS):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            f(x)
            end.record()
            torch.cuda.synchronize()
            times.append(begin.elapsed_time(end))
        return median(times)

    x = torch.from_numpy(planes).cuda()
    rows = [("torch.compile: log average, float32 planes", timed(log_average, x))]
    pixels = x.permute(1, 2, 0).contiguous()
    rows.append(("torch.compile: reinhard, metered, float32 → uint8", timed(reinhard, pixels)))
    rows.append(("torch.compile: reinhard, metered, float16 → uint8", timed(reinhard, pixels.half())))
    return rows


def of_opencv(planes: Array) -> list[tuple[str, float]]:
    """OpenCV's operators, which meter as well, to float32: milliseconds."""
    import cv2

    pixels = np.ascontiguousarray(np.moveaxis(planes, 0, -1))
    rows = []
    for name, operator in (
        ("TonemapReinhard", cv2.createTonemapReinhard()),
        ("TonemapDrago", cv2.createTonemapDrago()),
    ):
        times = []
        for _ in range(5):
            begun = time.perf_counter()
            operator.process(pixels)
            times.append(1e3 * (time.perf_counter() - begun))
        rows.append((f"OpenCV {cv2.__version__}: {name}", median(times)))
    return rows


def main() -> None:
    """Measures, prints the table, writes the JSON."""
    given = peers.options(__doc__)
    gpu = Gpu(given.device, report=Report())
    of_peer = of_opencv if gpu.limits.is_cpu else of_torch
    mib = max(bench.sizes_that_fit(gpu))
    copied = next(m for m in bench.copy(gpu, [mib]) if m.what == "copy kernel").gbps
    planes = scene(given.size)
    print(f"{gpu.info.name}, {given.size}² RGB; a copy of {mib} MiB: {copied:.0f} GB/s\n")
    print("| what | ms | GB/s | of copy | call, ms | launches |\n|---|---|---|---|---|---|")
    rows: list[dict[str, Any]] = []

    def show(name: str, nbytes: int, call: Callable[[], Any]) -> None:
        row = {"what": name, "bytes": nbytes, **kernels(gpu, call)}
        row["gbps"] = nbytes / row["ms"] / 1e6
        row["of_copy"] = row["gbps"] / copied
        rows.append(row)
        launches = ", ".join(f"{entry['kernel']} {entry['ms']:.4f}" for entry in row["launches"])
        figures = f"{row['ms']:.4f} | {row['gbps']:.0f} | {row['of_copy']:.3f} | {row['call_ms']:.2f}"
        print(f"| {name} | {figures} | {launches} |", flush=True)

    image = gpu.array(planes)
    show("statistics with histogram, float32 planes", image.nbytes, partial(statistics, gpu, image))
    show("without histogram", image.nbytes, partial(statistics, gpu, image, histogram=False))
    show("tiles (Direct3D 11 sample)", image.nbytes, partial(statistics, gpu, image, method="tiles"))
    show("each channel by itself", image.nbytes, partial(channel_statistics, gpu, image))
    del image
    for dtype in (np.float16, np.float32):
        pixels = gpu.array(np.ascontiguousarray(np.moveaxis(planes, 0, -1)).astype(dtype))
        nbytes = 2 * pixels.nbytes + planes.size
        for operator in OPERATORS:
            if operator not in LOCAL:
                name = f"{operator}, metered, {np.dtype(dtype)} → uint8"
                show(name, nbytes, partial(tonemapped, gpu, pixels, operator))
        del pixels
    measured = peers.peer("a peer", lambda: of_peer(planes), given) or []
    for name, ms in measured:
        rows.append({"what": name, "ms": ms})
        print(f"| {name} | {ms:.4f} | | | | |")
    peers.save(given, gpu, rows, shape=[given.size, given.size, 3], copy_gbps=copied)


if __name__ == "__main__":
    main()
