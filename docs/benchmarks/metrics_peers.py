"""Puts clpix's metrics of pictures beside the programs that define them, on a CPU with two threads each.

    python docs/benchmarks/metrics_peers.py --json metrics-cpu.json [--device NAME]
    python docs/benchmarks/metrics_peers.py --no-peers --json metrics-h100.json

Without peers all figures are measured, at two sizes.

Float32 planes on the device and a figure on the host; peers have their own arrays of interleaved pixels. ``ms`` is
clpix's kernels by their events and ``call_ms`` the whole call by the clock. All run in turns, and the least counts.
``cpu_ms`` is the processors' time of a call, which other programs on the machine change less. ``difference`` is that
of the figures.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
import peers

from gpuops import Gpu, Report
from gpuops.metrics.counts import Threshold, counts
from gpuops.metrics.delta_e import delta_e
from gpuops.metrics.flip import TONE_MAPS, Flip, flip, hdr_flip
from gpuops.metrics.pixelmatch import pixelmatch
from gpuops.metrics.ssim import multiscale_structural_similarity, structural_similarity
from gpuops.metrics.ssimulacra2 import ssimulacra2

Array = npt.NDArray[Any]
Row = dict[str, Any]
THREADS = 2
HD, UHD = (1080, 1920), (2160, 3840)
# Turns of all at most, and seconds after which none begins.
TURNS, SECONDS = 9, 20.0


def timed(call: Callable[[], Any]) -> tuple[float, float]:
    """Milliseconds of a call, by the clock and of the processors."""
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    return (time.perf_counter() - wall) * 1e3, (time.process_time() - cpu) * 1e3


def compared(
    gpu: Gpu, name: str, ours: Callable[[], float], theirs: dict[str, Callable[[], float]]
) -> Iterator[Row]:
    """Rows of one case: clpix beside each peer. All calls give the figure."""
    figure = ours()
    figures = {peer: call() for peer, call in theirs.items()}
    times: dict[str, list[tuple[float, float]]] = {}
    kernels: list[float] = []
    end = time.perf_counter() + SECONDS
    while not kernels or (len(kernels) < TURNS and time.perf_counter() < end):
        gpu.report = Report()
        times.setdefault("", []).append(timed(ours))
        kernels.append(sum(stop - start for _, start, stop in gpu.report.trace_events()) * 1e3)
        for peer, call in theirs.items():
            times.setdefault(peer, []).append(timed(call))
    least = {who: [min(values) for values in zip(*found, strict=True)] for who, found in times.items()}
    row: Row = {"name": name, "figure": figure, "ms": min(kernels)}
    row["call_ms"], row["cpu_ms"] = least[""]
    if not theirs:
        yield row
    for peer, found in figures.items():
        wall, cpu = least[peer]
        more = {"peer": peer, "peer_ms": wall, "peer_cpu_ms": cpu, "difference": abs(found - figure)}
        yield row | more | {"ratio": row["call_ms"] / wall, "cpu_ratio": row["cpu_ms"] / cpu}


# -- FLIP ---------------------------------------------------------------------------------------------------------


def noisy(size: tuple[int, int], scale: float = 1.0) -> tuple[Array, Array]:
    """A picture of smooth noise and one that differs from it everywhere."""
    rng = np.random.default_rng(0)
    y, x = np.mgrid[: size[0], : size[1]] / 100
    waves = np.stack([0.5 + 0.4 * np.sin(x * k + y) * np.cos(y * k - x) for k in (1, 2, 3)])
    a = (scale * np.clip(waves + rng.normal(0, 0.03, waves.shape), 0, 1) ** 2).astype(np.float32)
    b = (a * rng.uniform(0.9, 1.1, a.shape)).astype(np.float32)
    return a, b


def interleaved(planes: Array) -> Array:
    """The same as (height, width, channels)."""
    return np.ascontiguousarray(np.moveaxis(planes, 0, 2))


def flip_evaluator() -> Callable[..., Callable[[], float]]:
    """Prepares a call of the authors' program."""
    module = import_module("flip_evaluator")

    def prepare(a: Array, b: Array, exposures: tuple[float, float, int] | None) -> Callable[[], float]:
        first, second = interleaved(a), interleaved(b)
        given: dict[str, Any] = {}
        if exposures:
            given = dict(zip(("startExposure", "stopExposure", "numExposures"), exposures, strict=True))
        kind = "HDR" if exposures else "LDR"

        def run() -> float:
            return float(module.evaluate(first, second, kind, False, False, True, given)[1])

        return run

    return prepare


def openimageio() -> Callable[..., Callable[[], float]]:
    """Prepares a call of OpenImageIO, which takes exposures by the luminances that they suit."""
    oiio = import_module("OpenImageIO")
    if not hasattr(oiio.ImageBufAlgo, "FLIP_diff"):
        raise ImportError("OpenImageIO has no FLIP before 3.2")
    oiio.attribute("threads", THREADS)
    k, share = TONE_MAPS["aces"].k, 0.85
    white = float(np.roots([k[i] - share * k[i + 3] for i in range(3)]).real.max())

    def prepare(a: Array, b: Array, exposures: tuple[float, float, int] | None) -> Callable[[], float]:
        first, second = (oiio.ImageBuf(interleaved(v)) for v in (a, b))
        given: dict[str, Any] = {"hdr": 0}
        if exposures:
            most, median = (white / 2.0**e for e in exposures[:2])
            given = {"hdr": 1, "maxluminance": most, "medianluminance": median}

        def run() -> float:
            errors = oiio.ImageBufAlgo.FLIP_diff(first, second, **given)
            return float(oiio.ImageBufAlgo.computePixelStats(errors).avg[0])

        return run

    return prepare


def rows_flip(gpu: Gpu, options: Any) -> Iterator[Row]:
    """FLIP of pictures that differ everywhere, in one place and nowhere, and of 14 exposures."""
    openers = {"flip-evaluator": flip_evaluator, "OpenImageIO": openimageio}
    known = {name: peers.peer(name, opener, options) for name, opener in openers.items()}

    def case(
        name: str, a: Array, b: Array, exposures: tuple[float, float, int] | None = None
    ) -> Iterator[Row]:
        first, second = gpu.array(a), gpu.array(b)

        def ours() -> float:
            result: Flip
            if exposures is None:
                result = flip(gpu, first, second)
            else:
                result = hdr_flip(gpu, first, second, exposures=exposures[:2], count=exposures[2])
            return result.mean

        theirs = {peer: prepare(a, b, exposures) for peer, prepare in known.items() if prepare}
        yield from compared(gpu, name, ours, theirs)

    a, b = noisy(HD)
    yield from case("FLIP, 1920 × 1080", a, b)
    few = a.copy()
    few[:, 500:604, 900:1100] = b[:, 500:604, 900:1100]  # 1 % of the pixels
    yield from case("FLIP, 1 % of it differs", a, few)
    yield from case("FLIP, equal pictures", a, a.copy())
    yield from case("FLIP, 3840 × 2160", *noisy(UHD))
    yield from case("HDR FLIP, 14 exposures", *noisy(HD, 50.0), (-9.0, 4.5, 14))


# -- all figures --------------------------------------------------------------------------------------------------


def rows_figures(gpu: Gpu) -> Iterator[Row]:
    """Every figure of pictures that differ everywhere; FLIP also of others."""
    for size in (HD, UHD):
        a, b = noisy(size)
        few = a.copy()
        few[:, : size[0] // 10, : size[1] // 10] = b[:, : size[0] // 10, : size[1] // 10]
        first, second, third = (gpu.array(v) for v in (a, b, few))
        bright, other = gpu.array(50 * a), gpu.array(50 * b)
        codes = [
            gpu.array(np.dstack([interleaved(v * 255).astype(np.uint8), np.full(size, 255, np.uint8)]))
            for v in (a, b)
        ]
        calls: dict[str, Callable[[], Any]] = {
            "FLIP": partial(flip, gpu, first, second),
            "FLIP, 1 % of it differs": partial(flip, gpu, first, third),
            "FLIP, equal pictures": partial(flip, gpu, first, first),
            "HDR FLIP, 14 exposures": partial(hdr_flip, gpu, bright, other, exposures=(-9.0, 4.5), count=14),
            "HDR FLIP, exposures that suit it": partial(hdr_flip, gpu, bright, other),
            "SSIM": partial(structural_similarity, gpu, first, second, data_range=1.0),
            "MS-SSIM": partial(multiscale_structural_similarity, gpu, first, second, data_range=1.0),
            "SSIMULACRA 2.1": partial(ssimulacra2, gpu, first, second),
            "ΔE 76": partial(delta_e, gpu, first, second, method="76"),
            "CIEDE2000": partial(delta_e, gpu, first, second),
            "ΔE ITP": partial(delta_e, gpu, first, second, method="itp"),
            "pixelmatch": partial(pixelmatch, gpu, *codes),
            "counts": partial(counts, gpu, first, second, [Threshold(0.01), Threshold(0.1)]),
        }
        for name, call in calls.items():
            call()
            kernels, walls = [], []
            for _ in range(TURNS):
                gpu.report = Report()
                walls.append(timed(call)[0])
                kernels.append(sum(stop - start for _, start, stop in gpu.report.trace_events()) * 1e3)
            yield {"name": name, "size": list(size), "ms": min(kernels), "call_ms": min(walls)}


# -- all ----------------------------------------------------------------------------------------------------------


def main() -> None:
    """Measures, prints the table, writes the JSON."""
    options = peers.options(__doc__)
    gpu = Gpu(options.device, report=Report())
    titles = ("ms", "call_ms", "cpu_ms", "peer_ms", "peer_cpu_ms", "ratio", "cpu_ratio", "difference")
    print(f"{'':>28}{'peer':>16}", "".join(f"{title:>13}" for title in titles))
    rows: list[Row] = []
    for row in rows_figures(gpu) if options.no_peers else rows_flip(gpu, options):
        rows.append(row)
        texts = [f"{row[title]:.3g}" if title in row else "" for title in titles]
        print(f"{row['name']:>28}{row.get('peer', ''):>16}", "".join(f"{t:>13}" for t in texts), flush=True)
    peers.save(options, gpu, rows, threads=THREADS)


if __name__ == "__main__":
    main()
