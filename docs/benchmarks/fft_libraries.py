"""The libraries that fft_peers.py puts beside each other: each runs a case, and gives its times and its result."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import metadata
from math import prod
from statistics import median
from typing import Any

import numpy as np
import pyopencl.array as cla
from fft_cases import Array, Case, Row
from timing import BATCH, BLOCK, Call, best, opencl_stream_ms, stream_ms, wall, warm

from gpuops import Gpu
from gpuops.profile import Report

Runner = Callable[[Case, Array], tuple[Row, Array]]


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
