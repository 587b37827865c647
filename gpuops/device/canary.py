"""The program that tries one device. It may crash, so only a process made for it runs it.

Prints JSON lines: {"stage": ...} before each step, so that a crash has a place, then the verdict.
"""

from __future__ import annotations

import ctypes
import json
import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NoReturn

import numpy as np
import pyopencl as cl

from gpuops.device import pocl
from gpuops.device.probe import kernel_file
from gpuops.device.selection import present

# Bytes of a copy on GPUs, at most.
GPU_COPY_BYTES = 512 << 20
# Bytes of a copy on CPUs, at least; four times the cache if that is more.
CPU_COPY_BYTES = 64 << 20
# Seconds of one launch that copies, at most, about.
COPY_SECONDS = 0.03
# Seconds of one launch that multiplies, at most, about.
MULTIPLY_SECONDS = 0.02
# The number of launches that are timed.
REPEATS = 7
# Columns of the test image.
WIDTH = 61
# Rows of the test image.
HEIGHT = 47
# The word that fills the memory that is copied.
PATTERN = np.array([0x2B5A17C3], np.uint32)


class Wrong(Exception):
    """Says that the device computed a wrong result."""


def main(arguments: Sequence[str]) -> None:
    """`list`: list all devices. `probe JSON`: try the device that the JSON describes. `measure JSON`: and all of it."""
    try:
        if arguments[0] == "list":
            stage("listing its devices")
            present()
            conclude({"usable": True, "platforms": platforms()})
        stage("starting")
        conclude({"usable": True, **probe(find(json.loads(arguments[1])), arguments[0] == "measure")})
    except Wrong as error:
        conclude({"usable": False, "reason": str(error)})
    except Exception as error:
        conclude({"usable": False, "reason": one_line(error)})


def conclude(answer: dict[str, Any]) -> NoReturn:
    """Prints the answer and ends at once, so that a driver that crashes while it is unloaded does no harm."""
    say(answer)
    os._exit(0)


def say(answer: dict[str, Any]) -> None:
    """Prints one line at once."""
    os.write(1, b"\n" + json.dumps(answer).encode() + b"\n")


def stage(name: str) -> None:
    """Prints what comes next."""
    say({"stage": name})


def one_line(error: BaseException) -> str:
    """Returns the line of an error that tells most: a build's log begins with its name and ends with its cause."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if isinstance(error, cl.Error) and "Build on" in str(error):
        causes = [line for line in lines if "error" in line.lower() and "CL_BUILD" not in line]
        return ": ".join(["cannot build kernels", *(causes or lines)[:1]])[:300]
    return (lines[0] if lines else type(error).__name__)[:300]


class _Place(ctypes.Structure):
    """What ``dladdr`` tells of an address: the library that it is in."""

    _fields_ = (
        ("library", ctypes.c_char_p), ("base", ctypes.c_void_p), ("symbol", ctypes.c_char_p), ("at", ctypes.c_void_p),
    )  # fmt: skip


def platforms() -> list[tuple[str, str, str]]:
    """Returns each platform's name, version and library.

    Every object of a driver begins with the address of its table of functions (OpenCL's extension cl_khr_icd).
    """
    stage("looking at its functions")
    dladdr = ctypes.CDLL(None).dladdr
    listed = []
    for platform in cl.get_platforms():
        table = ctypes.c_void_p.from_address(platform.int_ptr).value
        functions = (ctypes.c_void_p * 2).from_address(table or 0)
        place = _Place()
        if dladdr(ctypes.c_void_p(functions[0] or functions[1]), ctypes.byref(place)) and place.library:
            listed.append((platform.name.strip(), platform.version, os.fsdecode(place.library)))
    return listed


def find(sought: dict[str, Any]) -> cl.Device:
    """Returns the described device, as this process sees it."""
    for candidate in present():
        device, info = candidate.device, candidate.info
        platform = [info.platform, device.platform.version.strip()]
        identity = {"platform": platform, "device": [info.name, info.driver], "ordinal": candidate.ordinal}
        if identity == sought:
            return device
    raise Wrong("was not there when it was checked")


def probe(device: cl.Device, measure: bool) -> dict[str, float | None]:
    """Checks the device's arithmetic, and measures how fast it copies; with `measure`, how fast it computes as well."""
    stage("creating a context")
    context = cl.Context([device])
    queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
    stage("building kernels")
    text = kernel_file().read_text()
    program = pocl.built(device.platform.name, lambda: cl.Program(context, text).build("-cl-std=CL1.2"))
    stage("running kernels")
    check(queue, program)
    stage("measuring memory")
    copy_gbps = measured(lambda: copy_rate(queue, program))
    if not measure:
        return {"copy_gbps": copy_gbps}
    stage("measuring multiply-adds")
    return {"copy_gbps": copy_gbps, "gflops": measured(lambda: multiply_rate(queue, program)) or 0.0}


def measured(measure: Callable[[], float]) -> float | None:
    """Returns a figure, or None if memory is short: a busy device is not unusable."""
    try:
        return float(f"{measure():.4g}")
    except (cl.MemoryError, cl.RuntimeError, cl.LogicError):
        return None


def check(queue: cl.CommandQueue, program: cl.Program) -> None:
    """Compares the canary kernel's result with the host's, bit by bit."""
    device, context = queue.device, queue.context
    kernel = cl.Kernel(program, "canary")
    limit = kernel.get_work_group_info(cl.kernel_work_group_info.WORK_GROUP_SIZE, device)
    size = 64
    while size > min(limit, device.max_work_item_sizes[0]):
        size //= 2
    groups = -(-WIDTH // size)
    image = np.random.default_rng(1).integers(0, 256, (HEIGHT, WIDTH)).astype(np.float32)
    out = np.full((HEIGHT, WIDTH), np.nan, np.float32)
    sums = np.full((HEIGHT, groups), np.nan, np.float32)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(context, flags, hostbuf=a) for a in (image, out, sums)]
    arguments: list[Any] = [*buffers, np.int32(WIDTH), np.int32(HEIGHT), cl.LocalMemory(4 * size)]
    kernel.set_args(*arguments)
    cl.enqueue_nd_range_kernel(queue, kernel, (groups * size, HEIGHT), (size, 1))
    cl.enqueue_copy(queue, out, buffers[1])
    cl.enqueue_copy(queue, sums, buffers[2])
    queue.finish()
    expected_out, expected_sums = expected(image, size)
    wrong = int((out != expected_out).sum() + (sums != expected_sums).sum())
    if wrong:
        raise Wrong(f"computes wrong results: {wrong} of {out.size + sums.size} values of a test kernel")


def expected(image: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Computes in numpy the results of clkernels/device/canary.cl."""
    height, width = image.shape
    columns = -(-width // size) * size
    bordered = np.pad(image, ((2, 0), (0, columns + 3 - width)), "symmetric")  # dcba|abcd|dcba
    tile = bordered[:height, 3:].reshape(height, -1, size)
    y, x = (axis.astype(np.uint32) for axis in np.ogrid[:height, :width])
    h = x * np.uint32(2654435761) ^ y * np.uint32(2246822519)
    h ^= h >> np.uint32(15)
    mirrored = tile[:, :, ::-1].reshape(height, -1)[:, :width]
    return mirrored * np.float32(0.5) + (h % np.uint32(251)).astype(np.float32), tile.sum(axis=2)


def seconds(launch: Callable[[], cl.Event]) -> float:
    """Returns the seconds of a launch by its event, or by the clock if events are absurd (rusticl 22.3 says 1 ns)."""
    begin = time.perf_counter()
    event = launch()
    event.wait()
    wall = time.perf_counter() - begin
    device = (event.profile.end - event.profile.start) * 1e-9
    return device if 0.1 * wall < device < 1.1 * wall else wall


def processor_seconds(launch: Callable[[], cl.Event], cores: int) -> float:
    """Returns the seconds of a launch alone on the cores: other programs must not decide which CPU runtime wins."""
    begin = time.process_time()
    launch().wait()
    return (time.process_time() - begin) / cores


def available_cores() -> int:
    """Returns the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def copy_rate(queue: cl.CommandQueue, program: cl.Program) -> float:
    """Returns the 10^9 bytes a second that the copy kernel reads and writes, with buffers that exceed any cache."""
    device = queue.device
    kernel = cl.Kernel(program, "copy")
    local = min(256, kernel.get_work_group_info(cl.kernel_work_group_info.WORK_GROUP_SIZE, device))
    aim = max(CPU_COPY_BYTES, 4 * device.global_mem_cache_size)
    if device.type & cl.device_type.GPU and not device.type & cl.device_type.CPU:
        aim = GPU_COPY_BYTES
    aim = min(aim, GPU_COPY_BYTES, device.max_mem_alloc_size, device.global_mem_size // 8)
    size = 256 << 10
    while True:
        size = min(size, aim)
        count = size // 16
        a, b = (cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, 16 * count) for _ in range(2))
        cl.enqueue_fill_buffer(queue, a, PATTERN, 0, 16 * count)
        kernel.set_args(a, b, np.uint64(count))
        shape = (-(-count // local) * local,)
        launch = partial(cl.enqueue_nd_range_kernel, queue, kernel, shape, (local,))
        launch().wait()
        if size == aim or 4 * seconds(launch) > COPY_SECONDS:
            break
        size *= 4
    taken = [seconds(launch) for _ in range(REPEATS)]
    rate = 32 * count / float(np.percentile(taken, 25)) * 1e-9  # the median of the better half
    result = np.empty(4 * count, np.uint32)
    cl.enqueue_copy(queue, result, b).wait()
    if (result != PATTERN).any():
        raise Wrong("copies memory wrongly")
    return rate


def multiply_rate(queue: cl.CommandQueue, program: cl.Program) -> float:
    """Returns the speed of float32 multiply-adds, two operations each, in 10^9 operations a second."""
    device = queue.device
    items = device.max_compute_units * (1024 if device.type == cl.device_type.GPU else 256)
    out = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, 4 * items)
    on_cpu = bool(device.type & cl.device_type.CPU)
    cores = min(device.max_compute_units, available_cores())
    rates = []
    for name, flops in (("multiply_add", 16), ("multiply_add_wide", 256)):
        kernel = cl.Kernel(program, name)
        local = min(64, kernel.get_work_group_info(cl.kernel_work_group_info.WORK_GROUP_SIZE, device))
        shape = (items // local * local,)
        launch = partial(cl.enqueue_nd_range_kernel, queue, kernel, shape, (local,))
        rounds = 16
        while True:
            kernel.set_args(out, np.int32(rounds), np.float32(0.999), np.float32(0.001))
            launch().wait()
            if 4 * seconds(launch) > MULTIPLY_SECONDS:
                break
            rounds *= 4
        taken = [processor_seconds(launch, cores) if on_cpu else seconds(launch) for _ in range(2 * REPEATS)]
        rates.append(flops * rounds * shape[0] / float(np.median(taken)) * 1e-9)
    return max(rates)
