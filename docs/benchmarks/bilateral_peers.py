"""Puts clpix's bilateral filter beside OpenCV's on a CPU, for windows of 5, 9 and 15 pixels, one and three channels.

    python docs/benchmarks/bilateral_peers.py --json bilateral.json [--device NAME] [--size 4096] [--no-peers]

float32 noise, σ of colour 0.2 and of distance 3, border reflect. ``ms`` is clpix's kernel by its event, from device
memory to device memory, of the round window, which is OpenCV's too, and of the square one; OpenCV has two threads, and
channels interleaved, as it wants them. They run in turn: the ratios are medians of those of neighbours in time, of five
rounds. OpenCV's distance of several channels is the sum of absolute differences; clpix's is the Euclidean one.
``error`` is the largest difference from the definition in double precision, over 200 × 300 pixels (of OpenCV by its
own distance).
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt
import peers
from timing import wall

from gpuops import Gpu, Report
from gpuops.filters.bilateral import bilateral
from gpuops.params.bilateral import WINDOWS, BilateralParams

Array = npt.NDArray[Any]
SIZES, CHANNELS, ROUNDS = (5, 9, 15), (1, 3), 5
SIGMA_COLOR, SIGMA_SPATIAL = 0.2, 3.0
SMALL = (200, 300)


def opencv() -> Callable[[Array, int], tuple[Callable[[], Any], Array]]:
    """Prepares a call and its result: channels last."""
    cv2 = import_module("cv2")
    cv2.setNumThreads(2)

    def prepare(planes: Array, win_size: int) -> tuple[Callable[[], Any], Array]:
        pixels = np.ascontiguousarray(np.moveaxis(planes, 0, 2))
        result = np.empty_like(pixels)

        def run() -> None:
            cv2.bilateralFilter(pixels, win_size, SIGMA_COLOR, SIGMA_SPATIAL, result, cv2.BORDER_REFLECT)

        return run, np.moveaxis(result, 2, 0)

    return prepare


def definition(planes: Array, params: BilateralParams, power: int) -> Array:
    """Distances of colours being sums of absolute differences to the ``power``, and the root of that."""
    x, r = planes.astype(float), params.radius
    padded = np.pad(x, [(0, 0), (r, r), (r, r)], mode="symmetric")
    sums, total = np.zeros_like(x), np.zeros(x.shape[1:])
    for j, reach in zip(range(-r, r + 1), params.reaches, strict=True):
        for i in range(-reach, reach + 1):
            v = padded[:, r + j : r + j + x.shape[1], r + i : r + i + x.shape[2]]
            colour = (abs(v - x) ** power).sum(0) ** (1 / power)
            space = (i * i + j * j) / params.sigma_spatial**2
            w = np.exp(-0.5 * (space + (colour / params.sigma_color) ** 2))
            sums += w * v
            total += w
    return np.asarray(sums / total)


def main() -> None:
    """Measures, prints the table, writes the JSON."""
    options = peers.options(__doc__)
    gpu = Gpu(options.device, report=Report())
    peer = peers.peer("OpenCV", opencv, options)
    rng = np.random.default_rng(0)
    titles = ("channels", "win_size", *(f"{w}{t}" for w in WINDOWS for t in (" ms", " ratio")), "OpenCV ms")
    print("".join(f"{title:>14}" for title in titles), f"{'error':>12}{'OpenCV error':>14}")
    rows = []
    for channels in CHANNELS:
        planes = rng.random((channels, options.size, options.size), np.float32)
        small = np.ascontiguousarray(planes[:, : SMALL[0], : SMALL[1]])
        image = gpu.array(planes)

        def ours(params: BilateralParams, image: Any = image) -> float:
            gpu.report = Report()
            bilateral(gpu, image, params)
            gpu.finish()
            return sum(end - start for _, start, end in gpu.report.trace_events()) * 1e3

        for win_size in SIZES:
            params = {w: BilateralParams(SIGMA_COLOR, SIGMA_SPATIAL, win_size, w) for w in WINDOWS}
            run = peer(planes, win_size)[0] if peer else None
            rounds: list[dict[str, float]] = []
            for _ in range(ROUNDS + 1):
                times = {window: ours(params[window]) for window in WINDOWS}
                rounds.append(times | ({"OpenCV": wall(run) * 1e3} if run else {}))
            del rounds[0]
            row: dict[str, Any] = {"channels": channels, "win_size": win_size}
            for name in rounds[0]:
                row[name] = {"ms": median(times[name] for times in rounds)}
            for window in WINDOWS:
                got = bilateral(gpu, gpu.array(small), params[window]).numpy()
                row[window]["error"] = float(np.abs(got - definition(small, params[window], 2)).max())
                if run:
                    row[window]["ratio"] = median(times[window] / times["OpenCV"] for times in rounds)
            if peer:
                call, result = peer(small, win_size)
                call()
                row["OpenCV"]["error"] = float(np.abs(result - definition(small, params["round"], 1)).max())
            rows.append(row)
            line = [channels, win_size]
            for window in WINDOWS:
                line += [row[window]["ms"], row[window].get("ratio", np.nan)]
            theirs = row.get("OpenCV", {})
            line += [theirs.get("ms", np.nan)]
            errors = max(row[w]["error"] for w in WINDOWS), theirs.get("error", np.nan)
            print("".join(f"{v:>14.4g}" for v in line), f"{errors[0]:>12.2g}{errors[1]:>14.2g}", flush=True)
    peers.save(options, gpu, rows, size=options.size)


if __name__ == "__main__":
    main()
