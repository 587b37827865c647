"""Puts clpix's 2-D Fourier transforms beside cuFFT and VkFFT on a GPU, and beside scipy.fft on a CPU.

    python docs/benchmarks/fft_peers.py --json fft.json                   all groups; sizes only with --sizes
    python docs/benchmarks/fft_peers.py --cases c2c,photo --device NAME
    python docs/benchmarks/fft_peers.py --cases sizes --sizes 64:4096:64 --plot fft.png --json sizes.json
    python docs/benchmarks/fft_peers.py --cpu                             wall times on a CPU, beside scipy.fft
    python docs/benchmarks/fft_peers.py --small                           does it run?

Peers are what is installed: cupy (cuFFT), pyvkfft with its OpenCL backend (VkFFT), scipy. Each case is measured with
clpix and then with each peer before the next begins, so that all see the machine in one state. clpix's columns: ``ms``
is the sum of its kernels' times, ``span_ms`` the time from the first one's start to the last one's end, by their
events, medians of 20 or more runs queued at once (fewer of long ones); ``stream_ms`` is one of many calls that the
device finds queued, so that neither the host nor the taking of times slows it, which is how peers are timed as well
(c2c: the better of out of place and in place); ``floors`` is ms over what the passes that a size needs at least would
take at the speed of a copy kernel; ``host_us`` is what queueing a call takes the host;
``build_s`` is what the first call takes more than the second (for kernels from no cache set CLPIX_CACHE_DIR to an
empty folder). Behind each peer's ms stand clpix's times over it: below 1 clpix is the faster. A result further than
1e-6 (relative L2) from numpy's in double precision, beyond 2048² elements from a peer's in single, is WRONG: it
counts in no mean, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from importlib import import_module
from itertools import product
from math import inf, isnan, nan
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

import numpy as np
from fft_cases import FUNCTIONS, GROUPS, KINDS, Array, Case, Row
from fft_libraries import Runner, clpix, cufft, vkfft
from peers import measured_on
from timing import Call, opencl_stream_ms, wall, warm

from gpuops import Gpu
from gpuops.bench import copies as bench
from gpuops.profile import Report

CHOICES = "c2c,r2c,c2r,convolve,photo,planes,bytes,sizes"
ON_GPU = ("ms", "span_ms", "stream_ms", "floors", "launches", "host_us", "build_s", "error")
ON_CPU = ("ms", "min_ms", "error")
COMPARED = {"ms": "ms", "stream_ms": "ms", "min_ms": "min_ms"}  # clpix's time: the peer's
EXACT = 2048 * 2048  # elements up to which a reference in double precision does not take long
LARGEST_ERROR = 1e-6
PEER_ERROR = 1e-4  # a peer further off was called wrongly: its time says nothing


def norm(values: Array) -> float:
    """L2 norm, rows summed in double precision: long sums in single lose what is added."""
    return float(np.linalg.norm(np.linalg.norm(values, axis=-1).astype(np.float64)))


def check(case: Case, x: Array, row: Row, results: dict[str, Array]) -> Row:
    """Writes the errors into the row: clpix's always, peers' where the reference is exact."""
    exact = case.rows * case.columns <= EXACT
    peer = next((name for name in ("cuFFT", "scipy") if name in results and not exact), None)
    row["reference"] = peer or f"numpy, {'double' if exact else 'single'}"
    precise = x.astype(np.result_type(x, np.float64)) if exact else x
    reference = results[peer] if peer else case.reference(precise)
    for name, result in results.items():
        if name == "clpix" or exact:
            error = norm(result.reshape(reference.shape) - reference) / norm(reference)
            row[name]["error"] = error
            if name != "clpix" and not error <= PEER_ERROR:
                row[name] = {"failed": f"its result is off by {error:.1e}"}
    row["wrong"] = not row["clpix"].get("error", inf) <= LARGEST_ERROR  # NaN is wrong as well
    return row


def on_gpu(runners: dict[str, Runner], copy_gbps: float, case: Case) -> Row:
    """The case with each library in turn."""
    x = case.values()
    row, results = case.row(x), {}
    row["floor_ms"] = row["floor_bytes"] / copy_gbps / 1e6
    for name, runner in runners.items():
        try:
            row[name], results[name] = runner(case, x)
        except Exception as error:  # what one library cannot do must not cost the other rows
            row[name] = {"failed": f"{type(error).__name__}: {error}"}
    if "ms" in row["clpix"]:
        row["clpix"]["floors"] = row["clpix"]["ms"] / row["floor_ms"]
    return check(case, x, row, results)


def on_cpu(gpu: Gpu, scipy_fft: Any, case: Case) -> Row:
    """Wall times of clpix, from device memory to device memory, and of scipy.fft with two workers, in turns."""
    x = case.values()
    row, transform = case.row(x), case.call(gpu, x)
    finish: Call = gpu.finish
    calls: dict[str, Call] = {"clpix": lambda: (transform(), finish())}
    if scipy_fft:
        calls["scipy"] = partial(getattr(scipy_fft, FUNCTIONS[case.kind]), x[0], workers=2)
    count = max(5, min(30, int(3 / max(map(warm, calls.values())))))
    times = [[wall(call) * 1e3 for call in calls.values()] for _ in range(count)]
    for name, ms in zip(calls, zip(*times, strict=True), strict=True):
        row[name] = {"ms": median(ms), "min_ms": min(ms), "runs": count}
    results = {"clpix": transform().numpy()}
    return check(case, x, row, results | {name: calls[name]() for name in calls if name == "scipy"})


def ratio(row: Row, name: str, key: str) -> float:
    """clpix's time over the peer's; NaN where either is missing or clpix's result is wrong."""
    return nan if row["wrong"] else row["clpix"].get(key, nan) / row[name].get(COMPARED[key], nan)


def line(row: Row, columns: Sequence[str], names: Sequence[str]) -> str:
    """A row of the table, and what failed."""
    text = f"{row['group']:<7}{row['kind']:<4}{row['case']:>11}"
    text += "".join(f"{row['clpix'].get(key, nan):>10.4g}" for key in columns)
    for name in names:
        text += f"{row[name].get('ms', nan):>11.4g}"
        text += "".join(f"{ratio(row, name, key):>11.2f}" for key in columns if key in COMPARED)
    failed = [f"    {name}: {row[name]['failed']}" for name in ("clpix", *names) if "failed" in row[name]]
    return "\n".join([text + "  WRONG" * row["wrong"], *failed])


def means(rows: Sequence[Row], columns: Sequence[str], names: Sequence[str]) -> None:
    """Prints geometric mean and worst of each ratio in each group, by kind and peer."""
    groups = dict.fromkeys((row["group"], row["kind"]) for row in rows)
    for group, name, key in product(groups, names, [key for key in columns if key in COMPARED]):
        here = [(ratio(r, name, key), r["case"]) for r in rows if (r["group"], r["kind"]) == group]
        here = [(value, case) for value, case in here if not isnan(value)]
        if here:
            text = f"{group[0]:<7}{group[1]:<4}clpix {key} / {name} {COMPARED[key]}"
            mean, (worst, case) = geometric_mean(value for value, _ in here), max(here)
            print(f"{text:<42}mean {mean:.3f}   worst {worst:.3f} at {case} (of {len(here)})")


def plot(pyplot: Any, rows: Sequence[Row], names: Sequence[str], path: Path) -> None:
    """Times over those of two passes at a copy's speed, by size."""
    figure, axes = pyplot.subplots(2, 1, figsize=(11, 9), sharex=True, layout="constrained")
    curves = [("clpix", "ms", "clpix, kernels"), ("clpix", "stream_ms", "clpix")]
    for axis, kind in zip(axes, KINDS, strict=True):
        for who, key, label in (*curves, *((name, "ms", name) for name in names)):
            here = [r for r in rows if (r["group"], r["kind"], r["wrong"]) == ("sizes", kind, False)]
            times = [r[who].get(key, nan) / r["floor_ms"] for r in here]
            axis.plot([r["rows"] for r in here], times, ".-", linewidth=1, markersize=3, label=label)
        axis.axhline(1, color="grey", linestyle=":")
        axis.set_xscale("log", base=2)
        axis.set_yscale("log")
        axis.set(title=f"{kind}, single precision", xlabel="rows = columns", ylabel="time / two passes")
        axis.xaxis.set_major_formatter("{x:g}")
        axis.yaxis.set_major_formatter("{x:g}")
        axis.grid(alpha=0.3, which="both")
        axis.legend()
    figure.savefig(path, dpi=150)


def available(openers: dict[str, Call]) -> dict[str, Any]:
    """The results of the openers by name; prints a line for each that fails."""
    found = {}
    for name, opener in openers.items():
        try:
            found[name] = opener()
        except Exception as error:  # not installed, no driver, a library that does not load
            print(f"{name} is left out: {error}")
    return found


def main() -> int:
    """Measures, prints the table and the means, writes the JSON."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--cases", default=CHOICES, help="groups (default: %(default)s)")
    parser.add_argument("--sizes", default="1:0:1", metavar="A:B:STEP", help="of the group sizes, B included")
    parser.add_argument("--cpu", action="store_true", help="beside scipy.fft on a CPU, instead of the groups")
    parser.add_argument("--small", action="store_true", help="all sizes but --sizes divided by 16")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--device", help="as clpix's --device")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--plot", type=Path, metavar="FILE.png", help="a plot of the group sizes")
    options = parser.parse_args()
    groups = options.cases.split(",")
    if set(groups) - set(CHOICES.split(",")):
        parser.error(f"--cases takes {CHOICES}")
    groups = ["cpu"] if options.cpu else groups
    by = 16 if options.small else 1
    cases = [Case(g, k, p, h // by, w // by) for g in groups for k, p, h, w in GROUPS.get(g, ())]
    first, last, step = map(int, options.sizes.split(":"))
    sizes = range(first, last + 1, step) if "sizes" in groups else ()
    cases += [Case("sizes", kind, 1, n, n) for n in sizes for kind in KINDS]
    if not cases or (options.plot and cases[-1].group != "sizes"):
        parser.error("the group sizes needs --sizes, and --plot that group")

    device = options.device or ("cpu" if options.cpu else None)
    gpu, untimed = Gpu(device, report=None if options.cpu else Report()), Gpu(device)
    context = measured_on(gpu.info)
    openers: dict[str, Call] = {"scipy": lambda: import_module("scipy.fft")}
    if not options.cpu:
        openers = {"cuFFT": partial(cufft, gpu, context), "VkFFT": partial(vkfft, untimed, context)}
    peers = available({} if options.no_peers else openers)
    columns: tuple[str, ...]
    run: Callable[[Case], Row]
    if options.cpu:
        columns, run = ON_CPU, partial(on_cpu, gpu, peers.get("scipy"))
    else:
        size = max(bench.sizes_that_fit(gpu, (8, 32) if options.small else bench.SIZES))
        copies: Any = bench.copy(gpu, (size,))
        with closing(copies):
            copied = next(copies)  # of all its ways the first is the copy kernel
        own = partial(clpix, gpu, untimed, opencl_stream_ms(untimed))
        context |= {"copy_gbps": copied.gbps, "copy_mib": size}
        columns, run = ON_GPU, partial(on_gpu, {"clpix": own, **peers}, copied.gbps)
    print("\n".join(f"{key}: {value}" for key, value in context.items()))
    heads = "".join(f"{key + ' /':>11}" for key in columns if key in COMPARED)
    print(f"{'':22}", *(f"{key:>10}" for key in columns), *(f"{name:>11}{heads}" for name in peers), sep="")
    result: Row = {"context": context, "rows": []}
    for case in cases:
        result["rows"].append(run(case))
        print(line(result["rows"][-1], columns, list(peers)), flush=True)
        if options.json:  # after every row: a run that is cut short leaves what it had
            options.json.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    means(result["rows"], columns, list(peers))
    if options.plot:
        for pyplot in available({"the plot": partial(import_module, "matplotlib.pyplot")}).values():
            plot(pyplot, result["rows"], list(peers), options.plot)
    return int(any(row["wrong"] for row in result["rows"]))


if __name__ == "__main__":
    raise SystemExit(main())
