"""Puts clpix's Gaussian blur beside OpenCV's on a CPU and CuPy's on a GPU, for σ from 0.5 to 300, with errors.

    python docs/benchmarks/blur_peers.py --json blur.json [--device NAME] [--size 4096] [--no-peers]

Three planes of float32, from device memory to device memory (OpenCV: three channels interleaved, as it wants them),
border reflect. ``ms`` is the sum of clpix's kernels by their events, ``wall_ms`` a call on an idle device till it is
done, which is what peers are timed by as well: OpenCV with two threads; CuPy with its stream synchronised. Medians of
fifteen calls, fewer of long ones, after one that is not counted. ``pixels_ms`` is the sum of kernels from interleaved
uint8 RGB to the same, in linear light. ``error`` is the largest difference from the whole Gaussian (scipy in double
precision, cut at 9 σ), over an impulse, an edge and noise of 400 × 300 pixels, relative to the result's largest value.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt
import peers
import scipy.ndimage
from timing import wall

from gpuops import Gpu, Report
from gpuops.filters import blur
from gpuops.ops.blur import BlurParams
from gpuops.pixels.coding import Decoding, Encoding

Array = npt.NDArray[Any]
Blur = Callable[[Array, float], Callable[[], Array]]  # of planes; the call gives planes
SIGMAS = (0.5, 1, 2, 3, 5, 6, 8, 10, 20, 30, 100, 300)
DECODING, ENCODING = Decoding(linearise=True), Encoding(np.dtype(np.uint8), encode=True)
RUNS, SLOW_S, LONGEST_MS = 15, 2.0, 1e4  # a peer that took longer is not asked for wider ones


def opencv() -> Blur:
    cv2 = import_module("cv2")
    cv2.setNumThreads(2)

    def prepare(planes: Array, sigma: float) -> Callable[[], Array]:
        pixels = np.ascontiguousarray(np.moveaxis(planes, 0, 2))
        result = np.empty_like(pixels)

        def run() -> Array:
            cv2.GaussianBlur(pixels, (0, 0), sigma, dst=result, borderType=cv2.BORDER_REFLECT)
            return np.moveaxis(result, 2, 0)

        return run

    return prepare


def cupy() -> Blur:
    cp, ndimage = import_module("cupy"), import_module("cupyx.scipy.ndimage")

    def prepare(planes: Array, sigma: float) -> Callable[[], Array]:
        source, result = cp.asarray(planes), cp.empty(planes.shape, cp.float32)

        def run() -> Any:
            ndimage.gaussian_filter(source, (0, sigma, sigma), output=result)
            cp.cuda.get_current_stream().synchronize()
            return result

        return run

    return prepare


def error(blurred: Blur, sigma: float) -> float:
    """The largest one relative to the peak, of three kinds of images."""
    shape = (300, 400)
    point, edge = np.zeros(shape), np.zeros(shape)
    point[140, 190], edge[:, 200:] = 1, 1
    x = np.stack([point, edge, np.random.default_rng(1).random(shape)])
    expected = scipy.ndimage.gaussian_filter(x, (0, sigma, sigma), truncate=9)
    result: Any = blurred(x.astype(np.float32), sigma)()
    got = result.get() if hasattr(result, "get") else result
    return float((np.abs(got - expected).max((1, 2)) / expected.max((1, 2))).max())


def main() -> None:
    """Measures, prints the table, writes the JSON."""
    options = peers.options(__doc__)
    gpu, timed = Gpu(options.device), Gpu(options.device, report=Report())
    name, opener = ("OpenCV", opencv) if gpu.limits.is_cpu else ("CuPy", cupy)
    opened = peers.peer(name, opener, options)
    blurs = {name: opened} if opened else {}
    planes = np.random.default_rng(0).random((3, options.size, options.size), np.float32)
    image, other = gpu.array(planes), timed.array(planes)
    pixels = timed.array((np.moveaxis(planes, 0, 2) * 255).astype(np.uint8))

    def ours(x: Array, sigma: float) -> Callable[[], Array]:
        return blur.blur(gpu, gpu.array(x), BlurParams(sigma=(sigma, sigma))).numpy

    rows = []
    print(
        "".join(
            f"{title:>12}"
            for title in ("sigma", "ms", "pixels_ms", "wall_ms", "error", *blurs, "wall /", "error")
        )
    )
    for sigma in SIGMAS:
        params = BlurParams(sigma=(sigma, sigma))

        def call(params: BlurParams = params) -> None:
            blur.blur(gpu, image, params)
            gpu.finish()

        calls: dict[str, Callable[[], Any]] = {"clpix": call}
        calls |= {name: prepare(planes, sigma) for name, prepare in blurs.items()}
        times: dict[str, list[float]] = {name: [] for name in calls}
        for name, run in calls.items():
            run()  # builds
            while not times[name] or (len(times[name]) < RUNS and sum(times[name]) < SLOW_S):
                times[name].append(wall(run))

        def kernels(run: Callable[[], Any]) -> tuple[float, list[str]]:
            """Their time in ms, and what they are."""
            reports = []
            for _ in range(RUNS):
                timed.report = Report()
                run()
                timed.finish()
                reports.append(timed.report.trace_events())
            sums = (sum(end - start for _, start, end in events) for events in reports)
            return median(sums) * 1e3, [label for label, *_ in reports[-1]]

        ms, labels = kernels(lambda params=params: blur.blur(timed, other, params))
        pixels_ms, _ = kernels(
            lambda params=params: blur.blur_pixels(timed, pixels, params, DECODING, ENCODING)
        )
        row = {
            "sigma": sigma,
            "ms": ms,
            "kernels": labels,
            "pixels_ms": pixels_ms,
            "wall_ms": median(times["clpix"]) * 1e3,
            "error": error(ours, sigma),
            **{
                name: {"ms": median(times[name]) * 1e3, "error": error(peer, sigma)}
                for name, peer in blurs.items()
            },
        }
        rows.append(row)
        blurs = {name: peer for name, peer in blurs.items() if row[name]["ms"] < LONGEST_MS}
        line = [sigma, row["ms"], row["pixels_ms"], row["wall_ms"], row["error"]]
        for name in calls.keys() - {"clpix"}:
            line += [row[name]["ms"], row["wall_ms"] / row[name]["ms"], row[name]["error"]]
        print("".join(f"{value:>12.4g}" for value in line), flush=True)
    peers.save(options, gpu, rows, shape=list(planes.shape))


if __name__ == "__main__":
    main()
