"""Puts clpix's resize beside OpenCV's on a CPU: a photograph's size made smaller and larger.

    python docs/benchmarks/resize_peers.py --json resize.json [--device NAME] [--size 4000] [--no-peers]

Three channels of float32 noise, SIZE × ¾ SIZE pixels. ``ms`` is clpix's kernels by their events, from device memory to
device memory. OpenCV has two threads, and channels interleaved, as it wants them: INTER_AREA where the image shrinks,
whatever clpix's filter is, and INTER_LANCZOS4, of eight samples to six of clpix's, where it grows. Both ran in turns,
and the least of 15 is given. ``cpu_ms`` is the processors' time of the calls, which other programs on the machine
change less. ``error`` is the largest difference from the definition in double precision.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
import peers
from scipy.sparse import csr_array

from gpuops import Gpu, Report
from gpuops.ops.resize import OPERATION as resize
from gpuops.ops.resize import ResizeParams

Array = npt.NDArray[Any]
# (numerator, denominator of the scale, filter): 12 to 2 million pixels is the first.
CASES = [(49, 120, "lanczos3"), (49, 120, "area"), (1, 2, "lanczos3"), (1, 2, "area"), (1, 10, "lanczos3")]
CASES += [(3, 2, "lanczos3")]
ROUNDS = 15


def opencv() -> Callable[[Array, tuple[int, int]], tuple[Callable[[], Any], Array]]:
    """Prepares a call and its result: channels last."""
    cv2 = import_module("cv2")
    cv2.setNumThreads(2)

    def prepare(planes: Array, size: tuple[int, int]) -> tuple[Callable[[], Any], Array]:
        pixels = np.ascontiguousarray(np.moveaxis(planes, 0, 2))
        result = np.empty((size[1], size[0], len(planes)), np.float32)
        way = cv2.INTER_AREA if size[0] < planes.shape[2] else cv2.INTER_LANCZOS4
        return lambda: cv2.resize(pixels, size, result, interpolation=way), np.moveaxis(result, 2, 0)

    return prepare


def matrix(size: int, result: int, filter: str) -> csr_array:
    """The weights (result, sample) of an axis by their definition."""
    step = size / result
    begin, j = step * np.arange(result)[:, None], np.arange(size)
    if filter == "area":
        found = np.clip(np.minimum(begin + step, j + 1) - np.maximum(begin, j), 0, None)
    else:
        x = (j + 0.5 - begin - step / 2) / max(step, 1)
        found = np.where(abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0)
    return csr_array(found / found.sum(1, keepdims=True))


def error(got: Array, planes: Array, filter: str) -> float:
    """The largest difference from the definition."""
    y, x = (matrix(n, m, filter) for n, m in zip(planes.shape[1:], got.shape[1:], strict=True))
    return max(
        float(np.abs(plane - (x @ (y @ own.astype(float)).T).T).max())
        for plane, own in zip(got, planes, strict=True)
    )


def cpu_ms(call: Callable[[], Any]) -> float:
    """The processors' milliseconds of a call."""
    start = time.process_time()
    call()
    return (time.process_time() - start) * 1e3


def measure(gpu: Gpu, planes: Array, size: tuple[int, int], filter: str, peer: Any) -> dict[str, Any]:
    """A row of the table."""
    image, params = gpu.array(planes), ResizeParams(size, fit="stretch", filter=filter)
    call, theirs = peer(planes, size) if peer else (None, None)
    found: dict[str, list[float]] = {}

    def ours() -> None:
        resize(gpu, image, params)
        gpu.finish()

    for _ in range(ROUNDS + 1):
        gpu.report = Report()
        found.setdefault("cpu_ms", []).append(cpu_ms(ours))
        spans = [end - start for _, start, end in gpu.report.trace_events()]
        found.setdefault("ms", []).append(sum(spans) * 1e3)
        if call:
            start = time.perf_counter()
            found.setdefault("peer_cpu_ms", []).append(cpu_ms(call))
            found.setdefault("peer_ms", []).append((time.perf_counter() - start) * 1e3)
    row: dict[str, Any] = {"from": planes.shape[:0:-1], "to": size, "filter": filter}
    row |= {name: min(values[1:]) for name, values in found.items()}
    row["error"] = error(resize(gpu, image, params).numpy(), planes, filter)
    if call:
        row |= {"ratio": row["ms"] / row["peer_ms"], "cpu_ratio": row["cpu_ms"] / row["peer_cpu_ms"]}
        if filter == "area":
            row["peer_error"] = error(theirs, planes, filter)
    return row


def main() -> None:
    """Measures, prints the table, writes the JSON."""
    options = peers.options(__doc__)
    gpu = Gpu(options.device, report=Report())
    peer = peers.peer("OpenCV", opencv, options)
    shape = (3, options.size * 3 // 4, options.size)
    planes = np.random.default_rng(0).random(shape, np.float32)
    titles = ("ms", "peer_ms", "ratio", "cpu_ms", "peer_cpu_ms", "cpu_ratio", "error", "peer_error")
    print(f"{'to':>12}{'filter':>12}", "".join(f"{title:>12}" for title in titles))
    rows: list[dict[str, Any]] = []
    for num, den, filter in CASES:
        size = (round(shape[2] * num / den), round(shape[1] * num / den))
        rows.append(measure(gpu, planes, size, filter, peer))
        texts = [f"{rows[-1][title]:.3g}" if title in rows[-1] else "" for title in titles]
        print(f"{size[0]:>7}×{size[1]}{filter:>12}", "".join(f"{text:>12}" for text in texts), flush=True)
    peers.save(options, gpu, rows, shape=list(shape))


if __name__ == "__main__":
    main()
