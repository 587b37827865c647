"""Puts clpix's 2-D Fourier transforms beside cuFFT and VkFFT on a GPU, and beside scipy.fft on a CPU.

    python docs/benchmarks/fft_peers.py --json fft.json                   all groups; sizes only with --sizes
    python docs/benchmarks/fft_peers.py --cases c2c,photo --device NAME
    python docs/benchmarks/fft_peers.py --cases sizes --sizes 64:4096:64 --plot fft.png --json sizes.json
    python docs/benchmarks/fft_peers.py --cpu                             wall times on a CPU, beside scipy.fft
    python docs/benchmarks/fft_peers.py --small                           does it run?

Peers are what is installed: cupy (cuFFT), pyvkfft with its OpenCL backend (VkFFT), scipy. Each case is measured with
clpix and then with each peer before the next begins, so that all see the machine in one state. clpix's columns: ``ms``
is the sum of its kernels' times, ``span_ms`` the time from the first one's start to the last one's end, by their
events, medians of 20 or more runs queued at once (fewer of long ones); ``batch_ms`` is one of ten calls between two
markers, which is how peers are timed (c2c: the better of out of place and in place); ``floors`` is ms over what two
passes over the data would take at the speed of a copy kernel; ``host_us`` is what queueing a call takes the host;
``build_s`` is what the first call takes more than the second (for kernels from no cache set CLPIX_CACHE_DIR to an
empty folder). Behind each peer's ms stand clpix's times over it: below 1 clpix is the faster. A result further than
1e-6 (relative L2) from numpy's in double precision, beyond 2048² elements from a peer's in single, is WRONG: it
counts in no mean, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from importlib import import_module, metadata
from itertools import product
from math import inf, isnan, nan, prod
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyopencl as cl
import pyopencl.array as cla

from gpuops import Gpu, bench, fft
from gpuops.profile import Report
from gpuops.report_formats import device_context, versions

Array = npt.NDArray[Any]
Call = Callable[[], Any]
Row = dict[str, Any]
Runner = Callable[["Case", Array], tuple[Row, Array]]

KINDS = ("c2c", "r2c")
PHOTOS = ((1920, 1080), (3840, 2160), (6000, 4000), (3000, 2000), (1536, 1536), (3072, 3072))  # width, height
GROUPS: dict[str, list[tuple[str, int, int, int]]] = {  # kind, planes, rows, columns
    "c2c": [("c2c", 1, n, n) for n in (512, 1024, 2048, 4096, 8192)],
    "r2c": [("r2c", 1, n, n) for n in (1024, 2048, 4096, 8192)],
    "photo": [(kind, 1, height, width) for kind in KINDS for width, height in PHOTOS],
    "planes": [("r2c", 3, n, n) for n in (2048, 4096)],
    "cpu": [(kind, 1, n, n) for kind in KINDS for n in (1024, 2048, 4096)],
}
CHOICES = "c2c,r2c,photo,planes,sizes"
ON_GPU = ("ms", "span_ms", "batch_ms", "floors", "launches", "host_us", "build_s", "error")
ON_CPU = ("ms", "min_ms", "error")
COMPARED = {"ms": "ms", "span_ms": "ms", "batch_ms": "ms", "min_ms": "min_ms"}  # clpix's time: the peer's
EXACT = 2048 * 2048  # elements up to which a reference in double precision does not take long
LARGEST_ERROR = 1e-6
PEER_ERROR = 1e-4  # a peer further off was called wrongly: its time says nothing
WARM_S = 0.1  # clocks fall while the host prepares a case: a few short runs would not raise them again
BATCH = 10
TINY = np.float32(1e-20)  # in place each result is the next input: from here ten of them stay finite


class Case(NamedTuple):
    """One transform; r2c takes real values and makes columns 0 … columns // 2 of the spectrum."""

    group: str
    kind: str
    planes: int
    rows: int
    columns: int

    @property
    def function(self) -> str:
        """Its name in numpy.fft, scipy.fft and gpuops.fft."""
        return "fft2" if self.kind == "c2c" else "rfft2"

    @property
    def out_shape(self) -> tuple[int, int, int]:
        return self.planes, self.rows, self.columns if self.kind == "c2c" else self.columns // 2 + 1

    def values(self) -> Array:
        """Noise around 0: a mean would be most of the spectrum's energy and hide errors elsewhere."""
        width = 2 * self.columns if self.kind == "c2c" else self.columns
        numbers = np.random.default_rng(1).standard_normal((self.planes, self.rows, width), np.float32)
        return numbers.view(np.complex64) if self.kind == "c2c" else numbers

    def row(self, x: Array) -> Row:
        """What the report says of it; the floor is two passes: input read, spectrum written, read, written."""
        name = f"{f'{self.planes}×' if self.planes > 1 else ''}{self.columns}×{self.rows}"
        return {**self._asdict(), "case": name, "floor_bytes": x.nbytes + 3 * 8 * prod(self.out_shape)}


def wall(call: Call, calls: int = 1) -> float:
    """Seconds of one of several calls in a row."""
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - start) / calls


def warm(call: Call) -> float:
    """Runs it until the device is at speed; the median run's seconds."""
    end = time.perf_counter() + WARM_S
    times: list[float] = []
    while len(times) < 3 or time.perf_counter() < end:
        times.append(wall(call))
    return median(times)


def batch_ms(
    mark: Call, elapsed: Callable[[Any, Any], float], finish: Call, call: Call, restore: Call = lambda: None
) -> float:
    """Milliseconds between two marks of a queue for one of ten calls between them.

    The median of 20 such batches, fewer of both for long calls; ``restore`` prepares the input of a batch.
    """
    seconds = warm(lambda: (restore(), call(), finish()))
    calls = max(1, min(BATCH, int(0.2 / seconds)))
    times = []
    for _ in range(max(3, min(20, int(4 / (seconds * calls))))):
        restore()
        start = mark()
        wall(call, calls)
        end = mark()
        finish()
        times.append(elapsed(start, end) / calls)
    return median(times)


def opencl_batch_ms(gpu: Gpu) -> Callable[..., float]:
    """The same for OpenCL: a marker passes when all that was queued before it is done."""
    mark: Call = partial(cl.enqueue_marker, gpu.queue)
    return partial(batch_ms, mark, lambda a, b: (b.profile.end - a.profile.end) / 1e6, gpu.finish)


def clpix(gpu: Gpu, case: Case, x: Array) -> tuple[Row, Array]:
    """clpix's times, from device memory to device memory, and its result."""
    call = partial(getattr(fft, case.function), gpu, gpu.array(x))
    gpu.finish()

    def whole() -> None:
        call()
        gpu.finish()

    gpu.report = first = Report()
    build = wall(whole) - wall(whole)
    gpu.report = None
    count = max(5, min(50, int(1 / warm(whole))))
    reports = [Report() for _ in range(count)]
    for report in reports:  # queued at once: a device that waits for the host would be measured with it
        gpu.report = report
        call()
    gpu.report = None
    runs = [report.trace_events() for report in reports]
    queueing = []
    for _ in range(9):
        queueing.append(wall(call, BATCH))
        gpu.finish()
    row: Row = {
        "ms": median(sum(end - start for _, start, end in run) for run in runs) * 1e3,
        "span_ms": median(max(e for *_, e in run) - min(s for _, s, _ in run) for run in runs) * 1e3,
        "batch_ms": opencl_batch_ms(gpu)(call),
        "launches": len(runs[-1]),
        "kernels": [label for label, *_ in runs[-1]],
        "runs": count,
        "host_us": median(queueing) * 1e6,
        "build_s": max(0.0, build),
        "built": first.builds["miss"],
    }
    return row, call().numpy()


def best(timed: Callable[..., float], ways: Sequence[tuple[Call, Call]]) -> Row:
    """The time of the fastest way; each is a call, and what restores its input."""
    ms = [timed(*way) for way in ways]
    return {"ms": min(ms), "in_place": ms.index(min(ms)) > 0, "ways_ms": ms}


def cufft(gpu: Gpu, context: Row) -> Runner:
    """cuFFT by CuPy's plans, on the CUDA device that has the OpenCL device's name."""
    import cupy as cp
    from cupy.cuda import cufft, runtime

    names = [runtime.getDeviceProperties(i)["name"].decode() for i in range(runtime.getDeviceCount())]
    if gpu.device.name.strip() not in names:
        raise RuntimeError(f"CUDA's devices are {names}, without {gpu.device.name}")
    cp.cuda.Device(names.index(gpu.device.name.strip())).use()
    context |= {"cupy": cp.__version__, "cufft": cufft.getVersion(), "cuda": runtime.driverGetVersion()}

    stream = cp.cuda.get_current_stream()
    timed = partial(batch_ms, stream.record, cp.cuda.get_elapsed_time, stream.synchronize)

    def measure(case: Case, x: Array) -> tuple[Row, Array]:
        cp.get_default_memory_pool().free_all_blocks()  # OpenCL cannot use what CuPy keeps of the case before
        source, target = cp.asarray(x), cp.empty(case.out_shape, cp.complex64)
        n, out = x.shape[1:], case.out_shape[1:]
        kind, forward = getattr(cufft, f"CUFFT_{case.kind.upper()}"), cufft.CUFFT_FORWARD
        plan = cufft.PlanNd(n, n, 1, prod(n), out, 1, prod(out), kind, case.planes, "C", 1, None)
        ways: list[tuple[Call, Call]] = [(lambda: plan.fft(source, target, forward), lambda: None)]
        if case.kind == "c2c":
            small, work = cp.asarray(x * TINY), cp.empty_like(source)
            ways.append((lambda: plan.fft(work, work, forward), lambda: cp.copyto(work, small)))
        return best(timed, ways), cp.asnumpy(target)

    return measure


def vkfft(gpu: Gpu, context: Row) -> Runner:
    """VkFFT by pyvkfft, in clpix's context and queue."""
    from pyvkfft.opencl import VkFFTApp, vkfft_version

    queue, timed = gpu.queue, opencl_batch_ms(gpu)
    copy: Any = cl.enqueue_copy  # typed for less than it takes
    context |= {"pyvkfft": metadata.version("pyvkfft"), "vkfft": vkfft_version()}

    def measure(case: Case, x: Array) -> tuple[Row, Array]:
        x = x if case.planes > 1 else x[0]
        source, target = cla.to_device(queue, x), cla.empty(queue, case.out_shape[-x.ndim :], np.complex64)
        app = VkFFTApp(x.shape, x.dtype, queue, ndim=2, inplace=False, r2c=case.kind == "r2c")
        ways: list[tuple[Call, Call]] = [(lambda: app.fft(source, target), lambda: None)]
        if case.kind == "c2c":
            small, work = cla.to_device(queue, x * TINY), cla.empty(queue, x.shape, x.dtype)
            inside = VkFFTApp(x.shape, x.dtype, queue, ndim=2, inplace=True)
            ways.append((lambda: inside.fft(work), lambda: copy(queue, work.data, small.data)))
        return best(timed, ways), target.get()

    return measure


def norm(values: Array) -> float:
    """L2 norm, rows summed in double precision: long sums in single lose what is added."""
    return float(np.linalg.norm(np.linalg.norm(values, axis=-1).astype(np.float64)))


def check(case: Case, x: Array, row: Row, results: dict[str, Array]) -> Row:
    """Writes the errors into the row: clpix's always, peers' where the reference is exact."""
    exact = case.rows * case.columns <= EXACT
    peer = next((name for name in ("cuFFT", "scipy") if name in results and not exact), None)
    row["reference"] = peer or f"numpy, {'double' if exact else 'single'}"
    precise = x.astype(np.result_type(x, np.float64)) if exact else x
    reference = results[peer] if peer else getattr(np.fft, case.function)(precise)
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
    row, transform = case.row(x), partial(getattr(fft, case.function), gpu, gpu.array(x))
    finish: Call = gpu.finish
    calls: dict[str, Call] = {"clpix": lambda: (transform(), finish())}
    if scipy_fft:
        calls["scipy"] = partial(getattr(scipy_fft, case.function), x[0], workers=2)
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
    curves = [("clpix", "ms", "clpix, kernels"), ("clpix", "span_ms", "clpix, span")]
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
    """What the openers give; a line for each that cannot."""
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

    gpu = Gpu(options.device or ("cpu" if options.cpu else None), report=None if options.cpu else Report())
    context = {**versions(), **device_context(gpu.info)}
    openers: dict[str, Call] = {"scipy": lambda: import_module("scipy.fft")}
    if not options.cpu:
        openers = {"cuFFT": partial(cufft, gpu, context), "VkFFT": partial(vkfft, gpu, context)}
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
        context |= {"copy_gbps": copied.gbps, "copy_mib": size}
        columns, run = ON_GPU, partial(on_gpu, {"clpix": partial(clpix, gpu), **peers}, copied.gbps)
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
