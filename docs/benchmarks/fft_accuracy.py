"""Measures the error of clpix's Fourier transforms over every length, beside scipy.fft's in the same precision.

    python docs/benchmarks/fft_accuracy.py --json accuracy.json --plot accuracy.png      every length 1…4096, single
    python docs/benchmarks/fft_accuracy.py --precision double --lengths 1:4096:7

An error is relative: L2 norm of the difference from a reference over that of the reference, of a batch of rows of
complex noise; the reference is scipy.fft in double precision (for double precision in long double). The bounds that
are counted: 1.1 times scipy's error of the same length, and a fifth of pyvkfft's tolerance, 2e-6 + 5e-7·log10 n, twice
that for lengths with a prime factor above 13 (pyvkfft/test: single precision); 1e-14·log2 n in double precision.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from importlib import import_module
from math import log2, log10
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.fft
from peers import measured_on

from gpuops import Gpu
from gpuops import fourier as fft
from gpuops.fourier.engine.radices import largest_prime

Array = npt.NDArray[Any]
Row = tuple[int, float, float, float]  # length, clpix's error, scipy's, seconds of the first call
VALUES = 1 << 16
COMPLEX = {"single": np.complex64, "double": np.complex128}


@cache
def device(name: str | None) -> Gpu:
    return Gpu(name)


def error(result: Array, reference: Array) -> float:
    return float(np.linalg.norm(result - reference) / np.linalg.norm(reference))


def measure(name: str | None, precision: str, n: int) -> Row:
    """Errors of a batch of rows of ``n``."""
    rng = np.random.default_rng(n)
    x = rng.standard_normal((max(16, VALUES // n), 2 * n)).view(np.complex128).astype(COMPLEX[precision])
    reference = scipy.fft.fft(x.astype(np.complex128 if precision == "single" else np.clongdouble))
    start = time.perf_counter()
    result = fft.fft(device(name), x)
    return n, error(result, reference), error(scipy.fft.fft(x), reference), time.perf_counter() - start


def tolerance(n: int, precision: str) -> float:
    if precision == "double":
        return 1e-14 * max(1.0, log2(n))
    return (2e-6 + 5e-7 * log10(n)) * (1 + (largest_prime(n) > 13)) / 5


def summary(rows: list[Row], precision: str) -> None:
    for what, prime in (("products of small primes", False), ("with a larger prime", True)):
        here = [row for row in rows if (largest_prime(row[0]) > 13) == prime and row[2] > 0]
        ratios = sorted((ours / scipys, n) for n, ours, scipys, _ in here)
        beyond = [n for ratio, n in ratios if ratio > 1.1]
        worst = ", ".join(f"{n}: {ratio:.2f}" for ratio, n in ratios[:-6:-1])
        outside = [n for n, ours, _, _ in here if ours > tolerance(n, precision)]
        print(
            f"{what}: {len(here)} lengths; error over scipy's: median {ratios[len(ratios) // 2][0]:.3f}, worst {worst}"
        )
        print(f"    {len(beyond)} above 1.1: {beyond[:40]}; outside the tolerance: {outside}")
    seconds = sorted(row[3] for row in rows)
    print(f"first call: median {seconds[len(seconds) // 2]:.2f} s, longest {seconds[-1]:.2f} s")


def plot(pyplot: Any, rows: list[Row], precision: str, path: Path) -> None:
    figure, axis = pyplot.subplots(figsize=(11, 5), layout="constrained")
    n = [row[0] for row in rows]
    axis.plot(n, [row[2] for row in rows], ".", markersize=2, label="scipy.fft")
    axis.plot(n, [row[1] for row in rows], ".", markersize=2, label="clpix")
    axis.plot(n, [tolerance(k, precision) for k in n], ",", color="grey", label="bound")
    axis.set(xlabel="length", ylabel="relative L2 error", title=f"{precision} precision", xscale="log")
    axis.grid(alpha=0.3)
    axis.legend()
    figure.savefig(path, dpi=150)


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--lengths", default="1:4096:1", metavar="A:B:STEP", help="B included (%(default)s)")
    parser.add_argument("--precision", choices=list(COMPLEX), default="single")
    parser.add_argument(
        "--workers", type=int, default=1, help="processes: building kernels is most of the time"
    )
    parser.add_argument("--device", help="as clpix's --device")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--plot", type=Path, metavar="FILE.png")
    options = parser.parse_args()
    first, last, step = map(int, options.lengths.split(":"))
    one: Callable[[int], Row] = partial(measure, options.device, options.precision)
    with ProcessPoolExecutor(options.workers, get_context("spawn")) as pool:
        rows = list(pool.map(one, range(first, last + 1, step)))
    context = measured_on(device(options.device).info, precision=options.precision)
    print("\n".join(f"{key}: {value}" for key, value in context.items()))
    summary(rows, options.precision)
    if options.json:
        columns = ["length", "error", "scipy_error", "first_call_s"]
        text = ",\n".join(json.dumps([n, *(float(f"{v:.4g}") for v in values)]) for n, *values in rows)
        head = json.dumps({"context": context, "columns": columns}, ensure_ascii=False)
        options.json.write_text(f'{head[:-1]}, "rows": [\n{text}\n]}}\n')
    if options.plot:
        plot(import_module("matplotlib.pyplot"), rows, options.precision, options.plot)


if __name__ == "__main__":
    main()
