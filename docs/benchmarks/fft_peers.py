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
import pyopencl.array as cla

from gpuops import Gpu, bench, fft
from gpuops.profile import Report
from gpuops.report_formats import device_context, versions

Array = npt.NDArray[Any]
Call = Callable[[], Any]
Row = dict[str, Any]
Runner = Callable[["Case", Array], tuple[Row, Array]]

KINDS = ("c2c", "r2c")
FUNCTIONS = {"c2c": "fft2", "r2c": "rfft2", "c2r": "irfft2", "convolve": "convolution"}
PHOTOS = ((1920, 1080), (3840, 2160), (6000, 4000), (3000, 2000), (1536, 1536), (3072, 3072))  # width, height
GROUPS: dict[str, list[tuple[str, int, int, int]]] = {  # kind, planes, rows, columns
    "c2c": [("c2c", 1, n, n) for n in (512, 1024, 2048, 4096, 8192)],
    "r2c": [("r2c", 1, n, n) for n in (1024, 2048, 4096, 8192)],
    "c2r": [("c2r", 1, n, n) for n in (1024, 2048, 4096, 8192)],
    "convolve": [("convolve", 1, n, n) for n in (1024, 2048, 4096)],
    "photo": [(kind, 1, height, width) for kind in KINDS for width, height in PHOTOS],
    "planes": [("r2c", 3, n, n) for n in (2048, 4096)],
    "bytes": [("r2c", 3, n, n) for n in (2048, 4096)],
    "cpu": [(kind, 1, n, n) for kind in KINDS for n in (1024, 2048, 4096)],
}
CHOICES = "c2c,r2c,c2r,convolve,photo,planes,bytes,sizes"
ON_GPU = ("ms", "span_ms", "stream_ms", "floors", "launches", "host_us", "build_s", "error")
ON_CPU = ("ms", "min_ms", "error")
COMPARED = {"ms": "ms", "stream_ms": "ms", "min_ms": "min_ms"}  # clpix's time: the peer's
EXACT = 2048 * 2048  # elements up to which a reference in double precision does not take long
LARGEST_ERROR = 1e-6
PEER_ERROR = 1e-4  # a peer further off was called wrongly: its time says nothing
WARM_S = 0.1  # clocks fall while the host prepares a case: a few short runs would not raise them again
BATCH = 20
BLOCK = 1 << 28  # bytes of a copy behind which calls are queued


class Case(NamedTuple):
    """One transform; r2c takes real values and makes columns 0 … columns // 2 of the spectrum, c2r the reverse.

    convolve: circular, with a kernel as large as the image, by its transfer function. The group bytes: clpix from
    interleaved pixels of bytes, peers, which cannot, from planes of their values.
    """

    group: str
    kind: str
    planes: int
    rows: int
    columns: int

    @property
    def half(self) -> tuple[int, int, int]:
        """The shape of half a spectrum."""
        return self.planes, self.rows, self.columns // 2 + 1

    @property
    def out_shape(self) -> tuple[int, int, int]:
        return self.half if self.kind == "r2c" else (self.planes, self.rows, self.columns)

    def values(self) -> Array:
        """Noise around 0: a mean would be most of the spectrum's energy and hide errors elsewhere."""
        width = 2 * self.columns if self.kind == "c2c" else self.columns
        rng, shape = np.random.default_rng(1), (self.planes, self.rows, width)
        if self.group == "bytes":
            return rng.integers(0, 256, shape, np.uint8) / np.float32(255)
        numbers = rng.standard_normal(shape, np.float32)
        if self.kind == "c2r":
            return np.fft.rfft2(numbers).astype(np.complex64)
        return numbers.view(np.complex64) if self.kind == "c2c" else numbers

    def transfer(self) -> Array:
        """Of a convolution's kernel."""
        kernel = np.random.default_rng(2).standard_normal((self.planes, self.rows, self.columns), np.float32)
        return np.fft.rfft2(kernel, norm="ortho").astype(np.complex64)

    def reference(self, x: Array) -> Array:
        """numpy's result."""
        if self.kind == "convolve":
            return np.fft.irfft2(np.fft.rfft2(x) * self.transfer(), s=x.shape[1:])
        size = {"s": (self.rows, self.columns)} if self.kind == "c2r" else {}
        result: Array = getattr(np.fft, FUNCTIONS[self.kind])(x, **size)
        return result

    def call(self, gpu: Gpu, x: Array) -> Call:
        """clpix's, from device memory to device memory."""
        if self.group == "bytes":
            pixels = np.ascontiguousarray(np.moveaxis(np.rint(x * 255), 0, 2), np.uint8)
            return partial(fft.rfft2_of_pixels, gpu, gpu.array(pixels))
        image = gpu.array(x)
        if self.kind == "convolve":
            transfer, size = gpu.array(self.transfer()), (self.rows, self.columns)
            return lambda: fft.convolution(gpu, image, transfer, (1, 1), size, "wrap", 0.0)
        size = {"s": (self.rows, self.columns)} if self.kind == "c2r" else {}
        return partial(getattr(fft, FUNCTIONS[self.kind]), gpu, image, **size)

    def row(self, x: Array) -> Row:
        """What the report says of it; the floor is two passes: input read, spectrum written, read, written.

        Of a convolution three: image, two intermediates and transfer function read, intermediates and image written.
        """
        name = f"{f'{self.planes}×' if self.planes > 1 else ''}{self.columns}×{self.rows}"
        spectra = {"c2c": 3, "r2c": 3, "c2r": 2, "convolve": 5}[self.kind]
        spectrum = 8 * prod(self.out_shape if self.kind == "c2c" else self.half)
        real = 4 * prod(self.out_shape) * {"c2r": 1, "convolve": 1}.get(self.kind, 0)
        read = x.size if self.group == "bytes" else x.nbytes
        return {**self._asdict(), "case": name, "floor_bytes": read + spectra * spectrum + real}


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


def stream_ms(block: Call, finish: Call, call: Call, restore: Call = lambda: None) -> float:
    """Milliseconds of one of many calls that the device finds queued behind ``block``: by the host's clock, less what
    the blocks alone take; the difference of medians of 15. ``restore`` prepares the input."""
    seconds = warm(lambda: (restore(), call(), finish()))
    calls = max(1, min(BATCH, int(0.1 / seconds)))
    queueing = wall(call, calls) * calls
    finish()
    blocks = int(2 * queueing / wall(lambda: (block(), finish()))) + 1

    def run(count: int) -> float:
        restore()
        finish()
        start = time.perf_counter()
        for _ in range(blocks):
            block()
        for _ in range(count):
            call()
        finish()
        return time.perf_counter() - start

    times = [(run(calls), run(0)) for _ in range(15)]
    return (median(long for long, _ in times) - median(short for _, short in times)) / calls * 1e3


def opencl_stream_ms(gpu: Gpu) -> Callable[..., float]:
    """The same for OpenCL; ``gpu`` takes no times."""
    items = BLOCK // 16
    source, target = (gpu.empty((BLOCK,), np.uint8) for _ in range(2))
    block = gpu.bind(gpu.kernel("copy", "copy"), (items,), source, target, np.uint64(items), local=(256,))
    return partial(stream_ms, block, gpu.finish)


def clpix(gpu: Gpu, untimed: Gpu, timed: Callable[..., float], case: Case, x: Array) -> tuple[Row, Array]:
    """clpix's times, from device memory to device memory, and its result."""
    call = case.call(gpu, x)
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
    stream, queueing = case.call(untimed, x), []
    for _ in range(9):
        queueing.append(wall(stream, BATCH))
        untimed.finish()
    row: Row = {
        "ms": median(sum(end - start for _, start, end in run) for run in runs) * 1e3,
        "span_ms": median(max(e for *_, e in run) - min(s for _, s, _ in run) for run in runs) * 1e3,
        "stream_ms": timed(stream),
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

    def plan_of(case: Case, kind: str) -> Any:
        n = case.rows, case.columns
        shapes = {"r": n, "c": n if kind == "c2c" else case.half[1:]}
        a, b = shapes[kind[0]], shapes[kind[2]]
        kinds = getattr(cufft, f"CUFFT_{kind.upper()}")
        return cufft.PlanNd(n, a, 1, prod(a), b, 1, prod(b), kinds, case.planes, "C", 1, None)

    def measure(case: Case, x: Array) -> tuple[Row, Array]:
        cp.get_default_memory_pool().free_all_blocks()  # OpenCL cannot use what CuPy keeps of the case before
        blocks = [cp.empty(BLOCK, cp.uint8) for _ in range(2)]
        timed = partial(stream_ms, lambda: cp.copyto(*blocks), stream.synchronize)
        source = cp.asarray(x)
        target = cp.empty(case.out_shape, cp.float32 if case.kind in ("c2r", "convolve") else cp.complex64)
        forward, inverse = cufft.CUFFT_FORWARD, cufft.CUFFT_INVERSE
        if case.kind == "convolve":
            there, back = plan_of(case, "r2c"), plan_of(case, "c2r")
            transfer, spectrum = cp.asarray(case.transfer()), cp.empty(case.half, cp.complex64)

            def convolve() -> None:
                there.fft(source, spectrum, forward)
                cp.multiply(spectrum, transfer, out=spectrum)
                back.fft(spectrum, target, inverse)

            return best(timed, [(convolve, lambda: None)]), cp.asnumpy(target) / (case.rows * case.columns)
        plan = plan_of(case, case.kind)
        if case.kind == "c2r":  # which overwrites its input
            spectrum = source.copy()
            result = best(timed, [(lambda: plan.fft(spectrum, target, inverse), lambda: None)])
            plan.fft(source, target, inverse)
            return result, cp.asnumpy(target) / (case.rows * case.columns)
        ways: list[tuple[Call, Call]] = [(lambda: plan.fft(source, target, forward), lambda: None)]
        if case.kind == "c2c":
            work = cp.empty_like(source)
            ways.append((lambda: plan.fft(work, work, forward), lambda: work.fill(0)))
        return best(timed, ways), cp.asnumpy(target)

    return measure


def vkfft(gpu: Gpu, context: Row) -> Runner:
    """VkFFT by pyvkfft, in clpix's context and queue."""
    from pyvkfft.opencl import VkFFTApp, vkfft_version

    queue, timed = gpu.queue, opencl_stream_ms(gpu)
    context |= {"pyvkfft": metadata.version("pyvkfft"), "vkfft": vkfft_version()}

    def measure(case: Case, x: Array) -> tuple[Row, Array]:
        x = x if case.planes > 1 else x[0]
        if case.kind == "convolve":
            raise NotImplementedError("pyvkfft has no convolution")
        kind = np.float32 if case.kind == "c2r" else np.complex64
        source, target = cla.to_device(queue, x), cla.empty(queue, case.out_shape[-x.ndim :], kind)
        real = target if case.kind == "c2r" else source
        app = VkFFTApp(real.shape, real.dtype, queue, ndim=2, inplace=False, r2c=case.kind != "c2c")
        call: Call = partial(app.ifft if case.kind == "c2r" else app.fft, source, target)
        ways: list[tuple[Call, Call]] = [(call, lambda: None)]
        if case.kind == "c2c":
            work = cla.zeros(queue, x.shape, x.dtype)
            inside = VkFFTApp(x.shape, x.dtype, queue, ndim=2, inplace=True)
            ways.append((lambda: inside.fft(work), lambda: None))
        result = best(timed, ways)
        if case.kind == "c2r":
            app.ifft(cla.to_device(queue, x), target)  # which may overwrite its input
        return result, target.get()

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

    device = options.device or ("cpu" if options.cpu else None)
    gpu, untimed = Gpu(device, report=None if options.cpu else Report()), Gpu(device)
    context = {**versions(), **device_context(gpu.info)}
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
