"""Puts clpix's box filter beside OpenCV's on a CPU and CuPy's uniform_filter on a GPU, for radii from 1 to 1000.

    python docs/benchmarks/box_peers.py --json box.json [--device NAME] [--size 4096] [--no-peers]

Three planes of float32, from device memory to device memory (OpenCV, with two threads: three channels interleaved, as
it wants them), border reflect. ``ms`` is the sum of clpix's kernels by their events; the peer's is a call by the clock
till it is done. Medians. ``error`` is the largest difference from scipy's in double precision on noise of 0 to 1 of
1500 × 1100 pixels.
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
from gpuops.filters.box import Box, box

Array = npt.NDArray[Any]
Prepare = Callable[
    [Array, int], Callable[[], Any]
]  # of planes and a radius; gives a call, which gives planes
RADII = (1, 3, 10, 30, 100, 200, 1000)
SMALL = (1500, 1100)
RUNS, SLOW_S = 9, 1.0  # fewer of what takes long together


def opencv() -> Prepare:
    cv2 = import_module("cv2")
    cv2.setNumThreads(2)

    def prepare(planes: Array, radius: int) -> Callable[[], Any]:
        pixels, size = np.ascontiguousarray(np.moveaxis(planes, 0, 2)), 2 * radius + 1
        result = np.empty_like(pixels)

        def run() -> Array:
            cv2.boxFilter(pixels, -1, (size, size), result, borderType=cv2.BORDER_REFLECT)
            return np.moveaxis(result.reshape(pixels.shape), 2, 0)

        return run

    return prepare


def cupy() -> Prepare:
    cp, ndimage = import_module("cupy"), import_module("cupyx.scipy.ndimage")

    def prepare(planes: Array, radius: int) -> Callable[[], Any]:
        source, result = cp.asarray(planes), cp.empty(planes.shape, cp.float32)

        def run() -> Any:
            ndimage.uniform_filter(source, (1, 2 * radius + 1, 2 * radius + 1), output=result)
            cp.cuda.get_current_stream().synchronize()
            return result

        return run

    return prepare


def error(got: Any, expected: Array) -> float:
    """The largest."""
    host = got.get() if hasattr(got, "get") else got
    return float(np.abs(host - expected).max())


def main() -> None:
    """Measures, prints the table, writes the JSON."""
    options = peers.options(__doc__)
    gpu = Gpu(options.device, report=Report())
    name, opener = ("OpenCV", opencv) if gpu.limits.is_cpu else ("CuPy", cupy)
    prepare = peers.peer(name, opener, options)
    rng = np.random.default_rng(0)
    planes = rng.random((3, options.size, options.size), np.float32)
    small = rng.random((1, *SMALL), np.float32)
    image = gpu.array(planes)
    print(f"peer: {name if prepare else 'none'}")
    print("".join(f"{title:>12}" for title in ("radius", "ms", "error", "peer ms", "peer error", "ratio")))
    rows = []
    for radius in RADII:
        mean, size = Box((radius, radius)), 2 * radius + 1
        exact = scipy.ndimage.uniform_filter(small.astype(float), (0, size, size))
        row: dict[str, Any] = {
            "radius": radius,
            "error": error(box(gpu, gpu.array(small), mean).numpy(), exact),
        }
        run = prepare(planes, radius) if prepare else None
        box(gpu, image, mean)
        if run:
            run()
        ours: list[float] = []
        theirs: list[float] = []
        while len(ours) < 3 or (len(ours) < RUNS and sum(theirs) < SLOW_S and sum(ours) < SLOW_S * 1e3):
            gpu.report = Report()
            box(gpu, image, mean)
            gpu.finish()
            events = gpu.report.trace_events()
            ours.append(sum(end - begin for _, begin, end in events) * 1e3)
            if run:
                theirs.append(wall(run))
        row |= {"ms": median(ours), "kernels": [label for label, *_ in events]}
        if prepare:
            row |= {"peer_ms": median(theirs) * 1e3, "peer_error": error(prepare(small, radius)(), exact)}
            row["ratio"] = row["ms"] / row["peer_ms"]
        rows.append(row)
        cells = (row.get(key, "") for key in ("radius", "ms", "error", "peer_ms", "peer_error", "ratio"))
        print("".join(f"{cell:>12.4g}" if cell != "" else f"{'':>12}" for cell in cells), flush=True)
    peers.save(options, gpu, rows, peer=name if prepare else "none", shape=list(planes.shape))


if __name__ == "__main__":
    main()
