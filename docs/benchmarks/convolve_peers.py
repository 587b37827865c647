"""Puts clpix's convolution beside OpenCV's on a CPU and CuPy's on a GPU, and sums beside transforms: where they cross.

    python docs/benchmarks/convolve_peers.py --json convolve.json [--device NAME] [--size 4096] [--no-peers]

Three planes of float32 of 512² … ``--size``², kernels of 3² … 63² taps (noise, of sum 1), border reflect, from device
memory to device memory (OpenCV: three channels interleaved, as it wants them). ``sums`` (direct on CPUs, local
elsewhere) and ``fft``, the kernel's spectrum included, are sums of clpix's kernels by their events; a transform's
time hardly depends on the kernel, so that it is measured with some and taken from the next larger of them for the
others. The peer, filter2D with two threads or cupyx.scipy.ndimage.convolve, and fftconvolve beside transforms, is
timed by a call on an idle device till it is done. Medians; what would take longer than others by far is left out.
Errors, of 300 × 400 pixels of noise: the largest difference from scipy's in double precision, relative to the result's
largest value. Lines between give the taps at which transforms get faster, for each size.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from itertools import pairwise
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt
import peers
import scipy.signal
from timing import wall

from gpuops import Gpu, Image, Report
from gpuops.filters.convolve import convolve

Array = npt.NDArray[Any]
Peer = Callable[[Array, Array], Callable[[], Array]]  # of planes and a kernel; the call gives planes
SIZES, KERNELS = (512, 1024, 2048, 4096), (3, 5, 7, 9, 11, 15, 21, 31, 45, 63)
TRANSFORMED = (9, 21, 63)  # kernels with which transforms are measured
RUNS, SLOW_S, LONGEST_S = 7, 0.5, 0.2  # what took longer is not asked for larger kernels


def opencv() -> dict[str, Peer]:
    cv2 = import_module("cv2")
    cv2.setNumThreads(2)

    def prepare(planes: Array, kernel: Array) -> Callable[[], Array]:
        pixels, turned = (
            np.ascontiguousarray(np.moveaxis(planes, 0, 2)),
            np.ascontiguousarray(kernel[::-1, ::-1]),
        )
        result = np.empty_like(pixels)

        def run() -> Array:
            cv2.filter2D(pixels, -1, turned, dst=result, borderType=cv2.BORDER_REFLECT)
            return np.moveaxis(result, 2, 0)

        return run

    return {"filter2D": prepare}


def cupy() -> dict[str, Peer]:
    cp, ndimage, signal = (
        import_module(name) for name in ("cupy", "cupyx.scipy.ndimage", "cupyx.scipy.signal")
    )

    def of(call: Callable[[Any, Any], Any]) -> Peer:
        def prepare(planes: Array, kernel: Array) -> Callable[[], Array]:
            source, weights = cp.asarray(planes), cp.asarray(kernel[None])

            def run() -> Any:
                result = call(source, weights)
                cp.cuda.get_current_stream().synchronize()
                return result

            return run

        return prepare

    def by_transform(planes: Any, kernel: Any) -> Any:
        r = kernel.shape[1] // 2
        return signal.fftconvolve(
            cp.pad(planes, ((0, 0), (r, r), (r, r)), "symmetric"), kernel, "valid", (1, 2)
        )

    return {"ndimage": of(ndimage.convolve), "fftconvolve": of(by_transform)}


def kernel_of(size: int) -> Array:
    """Noise of the sum 1."""
    values = np.random.default_rng(size).random((size, size), np.float32)
    return np.asarray(values / values.sum())


def error(call: Callable[[Array, Array], Any], size: int) -> float:
    """The largest one relative to the largest value."""
    x, kernel, r = np.random.default_rng(1).random((3, 300, 400), np.float32), kernel_of(size), size // 2
    padded = np.pad(x.astype(float), ((0, 0), (r, r), (r, r)), "symmetric")
    expected = scipy.signal.fftconvolve(padded, kernel[None].astype(float), "valid", (1, 2))
    result = call(x, kernel)
    got = result.get() if hasattr(result, "get") else result
    return float(np.abs(got - expected).max() / expected.max())


def ms(run: Callable[[], float]) -> float:
    """Median of a few runs, after one that builds, in milliseconds; ``run`` gives seconds."""
    run()
    times = [run()]
    while len(times) < RUNS and sum(times) < SLOW_S:
        times.append(run())
    return median(times) * 1e3


def kernels(gpu: Gpu, image: Image, kernel: Array, method: str) -> Callable[[], float]:
    """Seconds of clpix's kernels."""

    def run() -> float:
        gpu.report = Report()
        convolve(gpu, image, kernel, method=method)
        gpu.finish()
        return sum(end - start for _, start, end in gpu.report.trace_events())

    return run


def measure(gpu: Gpu, size: int, known: dict[str, Peer]) -> list[dict[str, Any]]:
    """The rows of one image size."""
    planes = np.random.default_rng(0).random((3, size, size), np.float32)
    image, by_sums = gpu.array(planes), "direct" if gpu.limits.is_cpu else "local"
    rows, slow = [], set()
    for taps in KERNELS:
        row: dict[str, Any] = {"size": size, "kernel": taps, "taps": taps * taps}
        ways = {"sums": lambda taps=taps: ms(kernels(gpu, image, kernel_of(taps), by_sums))}
        if taps in TRANSFORMED:
            ways["fft"] = lambda taps=taps: ms(kernels(gpu, image, kernel_of(taps), "fft"))
        for name, prepare in known.items():
            ways[name] = lambda prepare=prepare, taps=taps: ms(timed(prepare(planes, kernel_of(taps))))
        for name, way in ways.items():
            if name not in slow:
                row[name] = way()
                if row[name] > LONGEST_S * 1e3 and name != "fft":
                    slow.add(name)
        rows.append(row)
    for row, after in zip(rows[-2::-1], rows[:0:-1], strict=True):
        row.setdefault("fft", after["fft"])
    return rows


def timed(call: Callable[[], Any]) -> Callable[[], float]:
    """Seconds of a call."""
    return lambda: wall(call)


def crossover(rows: list[dict[str, Any]]) -> float | None:
    """Taps at which transforms are as fast as sums: between two kernels, along a straight line of logarithms."""
    ratios = [(math.log(row["taps"]), math.log(row["sums"] / row["fft"])) for row in rows if "sums" in row]
    for (x0, y0), (x1, y1) in pairwise(ratios):
        if y0 <= 0 < y1:
            return math.exp(x0 - y0 * (x1 - x0) / (y1 - y0))
    return None


def main() -> None:
    """Measures, prints the table, writes the JSON."""
    options = peers.options(__doc__)
    gpu = Gpu(options.device, report=Report())
    by_sums = "direct" if gpu.limits.is_cpu else "local"
    known = peers.peer(*(("OpenCV", opencv) if gpu.limits.is_cpu else ("CuPy", cupy)), options) or {}
    titles = ("size", "taps", "sums", "fft", *known)
    print("".join(f"{title:>12}" for title in titles))
    rows, crossovers = [], {}
    for size in SIZES:
        if size > options.size:
            continue
        these = measure(gpu, size, known)
        rows += these
        for row in these:
            print("".join(f"{row[t]:>12.4g}" if t in row else f"{'–':>12}" for t in titles))
        crossovers[size] = crossover(these)
        print(
            f"transforms are faster from {crossovers[size] or float('nan'):.0f} taps on, {size}²", flush=True
        )
    errors = {}
    for taps in (3, 21):
        ways: dict[str, Callable[[Array, Array], Any]] = {
            name: lambda x, k, name=name: convolve(gpu, x, k, method=name) for name in (by_sums, "fft")
        }
        ways |= {name: lambda x, k, peer=peer: peer(x, k)() for name, peer in known.items()}
        errors[taps] = {name: error(way, taps) for name, way in ways.items()}
        print(f"errors, {taps}²: " + ", ".join(f"{name} {value:.2g}" for name, value in errors[taps].items()))
    peers.save(options, gpu, rows, crossovers=crossovers, errors=errors)


if __name__ == "__main__":
    main()
