"""Gpu: one device's context, queue, memory pool and kernels, and the one function that launches them."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Union, cast

import numpy as np
import numpy.typing as npt
import pyopencl as cl
import pyopencl.tools

import clkernels

from . import cache, signals
from .enqueue import launcher, set_argument
from .errors import DeviceError, FileError, ParameterError
from .image import Image

if TYPE_CHECKING:
    from .profile import Report

T = TypeVar("T")
_KEPT = 64  # plans
_SMALL = 1 << 20  # bytes: host arrays up to this become buffers of their own instead of queued copies

Scalar = int | float | np.generic
Argument = Union[
    "Image", cl.Buffer, "Local", "Later", Scalar, npt.NDArray[np.generic], tuple[Scalar, ...], None
]


@dataclass(frozen=True)
class Source:
    """OpenCL C that a program wrote: ``name`` for messages, ``text`` the code; ``once``: it suits one size only."""

    name: str
    text: str
    once: bool = False


Sources = str | Source | tuple[str | Source, ...]
Define = bool | int | float | str | None


@dataclass(frozen=True)
class _Program:
    """A program's source and build options, what it is called, and whether it suits one size only."""

    text: str
    options: str
    label: str = field(compare=False)
    once: bool = field(compare=False)

    @classmethod
    def of(cls, source: Sources, options: str) -> _Program:
        parts = source if isinstance(source, tuple) else (source,)
        text = "".join(
            f'#line 1 "{part.name}.cl"\n{part.text}\n' if isinstance(part, Source) else clkernels.source(part)
            for part in parts
        )
        label = "+".join(part.name if isinstance(part, Source) else part for part in parts)
        return cls(text, options, label, any(isinstance(part, Source) and part.once for part in parts))


@dataclass(frozen=True)
class Local:
    """A kernel argument that is ``nbytes`` of local memory."""

    nbytes: int


class Later:
    """``LATER``: a kernel argument, an Image, that each call of a :class:`Step` gives."""


LATER = Later()


@dataclass(frozen=True)
class Limits:
    """What plans may count on, read from the device. Sizes in bytes; ``work_group`` in work-items.

    ``lanes``: how many neighbouring pixels a work-item should take at once (WIDTH in lanes.cl). CPUs whose compilers
    know vectors compute eight in the time of one; elsewhere work-items are the vector's lanes.
    """

    work_group: int
    work_item_sizes: tuple[int, ...]
    local_bytes: int
    global_bytes: int
    max_alloc_bytes: int
    compute_units: int
    is_cpu: bool
    lanes: int
    double: bool
    half: bool

    @property
    def band(self) -> int:
        """Rows that a work-item may go down, at most.

        llvmpipe ends its loops after 65535 rounds, all in all; what is longest takes 80 for a row.
        """
        return 512 if self.is_cpu and self.lanes == 1 else 2**31 - 1


class Kernel:
    """A built kernel. ``work_group`` is the largest group that this kernel can run in on this device."""

    def __init__(self, gpu: Gpu, program: cl.Program, name: str) -> None:
        self.gpu = gpu
        self.name = name
        self._program = program
        self.shared = cl.Kernel(program, name)  # arguments of one-shot launches; steps have their own
        info = cl.kernel_work_group_info
        device = gpu.device
        self.work_group: int = int(self.shared.get_work_group_info(info.WORK_GROUP_SIZE, device))
        self.local_bytes: int = int(self.shared.get_work_group_info(info.LOCAL_MEM_SIZE, device))
        self.multiple: int = int(
            self.shared.get_work_group_info(info.PREFERRED_WORK_GROUP_SIZE_MULTIPLE, device)
        )

    def clone(self) -> cl.Kernel:
        """A kernel object of its own for arguments that are set once."""
        return cl.Kernel(self._program, self.name)

    def fit(self, *local: int) -> tuple[int, ...]:
        """``local`` with its largest dimension halved until device and kernel can run it."""
        shape = list(local)
        limits = self.gpu.limits
        for axis, most in enumerate(limits.work_item_sizes[: len(shape)]):
            while shape[axis] > most:
                shape[axis] = (shape[axis] + 1) // 2
        while prod(shape) > min(self.work_group, limits.work_group):
            widest = shape.index(max(shape))
            shape[widest] = (shape[widest] + 1) // 2
        return tuple(shape)


class Step:
    """A launch with its arguments set once; calling it enqueues it again in a few microseconds.

    A call gives the Images for the places that were bound as :data:`LATER`, in their order.
    """

    __slots__ = ("_enqueue", "_kept", "_later", "gpu", "kernel", "label", "local", "size", "traffic")

    def __init__(
        self,
        gpu: Gpu,
        kernel: cl.Kernel,
        size: tuple[int, ...],
        local: tuple[int, ...] | None,
        label: str,
        traffic: int,
        kept: tuple[Argument, ...],
    ) -> None:
        self.gpu = gpu
        self.kernel = kernel
        self.size = size
        self.local = local
        self.label = label
        self.traffic = traffic
        self._kept = kept  # the pool must not hand these buffers to anybody else
        self._later = tuple(place for place, argument in enumerate(kept) if argument is LATER)
        self._enqueue = launcher(gpu.queue, kernel, size, local)

    def __call__(self, *images: Image) -> None:
        for place, image in zip(self._later, images, strict=True):
            self.gpu.check_own(image)
            self.kernel.set_arg(place, image.buffer)
        if self.gpu.report is None:
            self._enqueue()
        else:
            self.timed()

    def timed(self) -> cl.Event:
        """The launch with its event, which the report, if there is one, records."""
        event = cl.enqueue_nd_range_kernel(self.gpu.queue, self.kernel, self.size, self.local)
        if self.gpu.report is not None:
            self.gpu.report.record(self.label, self.size, self.local, self.traffic, event)
        return event


class Gpu:
    """One OpenCL device, ready for work.

    Parameters
    ----------
    device : str, optional
        As ``--device``: ``"gpu"``, ``"cpu"``, a number or part of a name; None takes ``CLPIX_DEVICE``, else the
        best.
    report : Report, optional
        Collects build times and every launch's event. Without one nothing is kept.
    dump : path, optional
        A folder that receives the source of every program built.
    memory : int, optional
        Bytes that images on the device may take together, as if it had no more.

    Raises
    ------
    DeviceError
        No such device, or none that works.
    """

    def __init__(
        self,
        device: str | None = None,
        *,
        report: Report | None = None,
        dump: str | os.PathLike[str] | None = None,
        memory: int | None = None,
    ) -> None:
        self.report = report
        self.memory = memory
        self._dump = Path(dump) if dump is not None else None
        with self.phase("platform"):
            from .device import select

            self.device, self.info = select(device)
        with self.phase("context"):
            with signals.kept():
                self.context = cl.Context([self.device])
            if report is None:
                self.queue = cl.CommandQueue(self.context)
            else:
                self.queue = cl.CommandQueue(
                    self.context, properties=cl.command_queue_properties.PROFILING_ENABLE
                )
            self._pool = cl.tools.MemoryPool(cl.tools.ImmediateAllocator(self.queue))
        self._programs: dict[_Program, cl.Program] = {}
        self._kernels: dict[tuple[Sources, str, str], Kernel] = {}
        # What operations prepared, least recently used first.
        self.plans: OrderedDict[Hashable, Any] = OrderedDict()

    def phase(self, name: str) -> AbstractContextManager[None]:
        """The report's phase ``name``, or nothing without a report."""
        return self.report.phase(name) if self.report is not None else nullcontext()

    @cached_property
    def limits(self) -> Limits:
        """The device's limits."""
        device = self.device
        extensions = device.extensions.split()
        is_cpu = bool(device.type & cl.device_type.CPU)
        global_bytes = int(device.global_mem_size)
        if self.memory is not None:
            global_bytes = min(global_bytes, self.memory)
        return Limits(
            work_group=int(device.max_work_group_size),
            work_item_sizes=tuple(int(n) for n in device.max_work_item_sizes),
            local_bytes=int(device.local_mem_size),
            global_bytes=global_bytes,
            max_alloc_bytes=min(global_bytes, int(device.max_mem_alloc_size)),
            compute_units=int(device.max_compute_units),
            is_cpu=is_cpu,
            lanes=8 if is_cpu and device.native_vector_width_float >= 4 else 1,
            double="cl_khr_fp64" in extensions,
            half="cl_khr_fp16" in extensions,
        )

    def kept(self, key: Hashable, make: Callable[[], T]) -> T:
        """What ``make`` gives, kept for the next time under ``key``; the least recently used of many goes."""
        if key not in self.plans:
            self.plans[key] = make()
            if len(self.plans) > _KEPT:
                self.plans.popitem(last=False)
        self.plans.move_to_end(key)
        found: T = self.plans[key]
        return found

    # -- memory ---------------------------------------------------------------------------------------------

    def empty(self, shape: Sequence[int], dtype: npt.DTypeLike = np.float32) -> Image:
        """A new device array, uninitialised, from the pool; it returns there when the last reference goes."""
        shape = tuple(map(int, shape))
        dtype = np.dtype(dtype)
        nbytes = max(1, prod(shape) * dtype.itemsize)
        if nbytes > self.limits.max_alloc_bytes:
            hint = "use a smaller image or another device" if self.memory is None else "raise the limit"
            raise DeviceError(
                f"one buffer of {nbytes / 1e6:.3g} MB is needed and {self.info.name} allows "
                f"{self.limits.max_alloc_bytes / 1e6:.3g} MB at most: {hint}"
            )
        try:
            buffer = self._allocate(nbytes)
        except (cl.MemoryError, MemoryError) as error:
            raise DeviceError(
                f"{self.info.name} is out of memory: {nbytes / 1e6:.3g} MB more are needed beside "
                f"{self._pool.active_bytes / 1e6:.3g} MB in use of {self.limits.global_bytes / 1e6:.3g} MB"
            ) from error
        if self.report is not None:
            self.report.peak_device_bytes = max(self.report.peak_device_bytes, int(self._pool.active_bytes))
        return Image(self, buffer, shape, dtype)

    def _allocate(self, nbytes: int) -> cl.Buffer:
        """Memory from the pool. MemoryError where there would be more than :attr:`memory`."""
        pool = self._pool
        if self.memory is not None:
            rounded = int(pool.alloc_size(pool.bin_number(nbytes)))
            if int(pool.managed_bytes) + rounded > self.memory:
                pool.free_held()
            if int(pool.managed_bytes) + rounded > self.memory:
                raise MemoryError
        return cast(cl.Buffer, pool.allocate(nbytes))

    def array(self, values: npt.ArrayLike) -> Image:
        """Copies a host array to the device as it is (shape and dtype kept)."""
        host = np.ascontiguousarray(values)
        with self.phase("upload"):
            # Where memory is limited all of it is counted.
            if 0 < host.nbytes <= (_SMALL if self.memory is None else 0):
                # A table of weights must not wait in the queue for the kernels before it, nor they for it.
                flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
                return Image(self, cl.Buffer(self.context, flags, hostbuf=host), host.shape, host.dtype)
            image = self.empty(host.shape, host.dtype)
            if host.size:
                cl.enqueue_copy(self.queue, image.buffer, host)
        return image

    def zeros(self, shape: Sequence[int], dtype: npt.DTypeLike = np.float32) -> Image:
        """A new device array of zero bytes."""
        image = self.empty(shape, dtype)
        if image.nbytes:
            cl.enqueue_fill_buffer(self.queue, image.buffer, np.zeros(1, np.uint8), 0, image.nbytes)
        return image

    def finish(self) -> None:
        """Waits until the device has done all that was asked."""
        self.queue.finish()
        if self.report is not None:
            self.report.saw_the_end()

    # -- kernels --------------------------------------------------------------------------------------------

    def kernel(self, source: Sources, name: str, **defines: Define) -> Kernel:
        """The kernel ``name`` of the given sources, built with ``-D`` for each define; cached.

        ``True`` defines a bare name, ``False`` and None leave it out; floats become exact float literals.
        ``DENORMS_ARE_ZERO`` is a build option: a GPU's logarithms and powers then take an instruction or two.
        """
        return self.kernels([(source, name, defines)])[0]

    def kernels(self, requests: Sequence[tuple[Sources, str, Mapping[str, Define]]]) -> list[Kernel]:
        """:meth:`kernel` of several, all built at a time on GPUs, whose drivers take one thread for a program."""
        # By what they are made of: a text of many kilobytes is not to be put together for each launch.
        keys = [(source, name, _options(defines)) for source, name, defines in requests]
        new = [key for key in dict.fromkeys(keys) if key not in self._kernels]
        programs = [_Program.of(source, options) for source, _, options in new]
        self._build_missing([program for program in dict.fromkeys(programs) if program not in self._programs])
        for key, program in zip(new, programs, strict=True):
            self._kernels[key] = Kernel(self, self._programs[program], key[1])
        return [self._kernels[key] for key in keys]

    def _build_missing(self, missing: Sequence[_Program]) -> None:
        if not missing:
            return
        with self.phase("build"), warnings.catch_warnings():
            warnings.simplefilter("ignore", cl.CompilerWarning)  # a driver's chatter; a failure is raised
            if self.device.type & cl.device_type.CPU or len(missing) == 1:
                built = [self._build(program) for program in missing]
            else:
                with ThreadPoolExecutor(len(missing)) as pool:
                    built = list(pool.map(self._build, missing))
        for program, (result, known) in zip(missing, built, strict=True):
            self._programs[program] = result
            if self.report is not None:
                self.report.builds["hit" if known else "miss"] += 1

    def _build(self, wanted: _Program) -> tuple[cl.Program, bool]:
        """The program, and whether its binary was known."""
        label, text, options = wanted.label, wanted.text, wanted.options
        digest = hashlib.sha256("\0".join((text, options, self._identity)).encode()).hexdigest()
        if self._dump is not None:
            _write_source(self._dump / f"{label}-{digest[:8]}.cl", f"// options: {options}\n{text}")
        entry = f"kernels/{digest}"
        binary = cache.load_binary(entry)
        if binary is not None:
            with suppress(cl.Error):  # written by another version of the driver after all: build anew
                return cl.Program(self.context, [self.device], [binary]).build(options), True
        try:
            program = cl.Program(self.context, text).build(options)
        except cl.RuntimeError as error:
            raise DeviceError(_build_failure(self.info.name, label, str(error))) from error
        # PoCL keeps what it builds itself; for a binary it builds twice more, for groups of any size: only what serves
        # images of any size is worth that.
        if not (wanted.once and self.device.platform.name == "Portable Computing Language"):
            with suppress(cl.Error):  # a runtime that gives no binaries only builds again next time
                cache.save_binary(entry, program.get_info(cl.program_info.BINARIES)[0])
        return program, False

    @cached_property
    def _identity(self) -> str:
        """What a built binary depends on beside its source."""
        from .device.drivers import cpu_identity

        device = self.device
        parts = (
            device.platform.name,
            device.platform.version,
            device.name,
            device.driver_version,
            device.version,
        )
        return "\0".join((*parts, cl.VERSION_TEXT, cpu_identity() if self.limits.is_cpu else ""))

    def bind(
        self,
        kernel: Kernel,
        size: Sequence[int],
        *args: Argument,
        local: Sequence[int] | None = None,
        label: str | None = None,
        traffic: int = 0,
    ) -> Step:
        """A :class:`Step`: the launch prepared once, for plans that run again and again. As :meth:`launch`.

        ``LATER`` among ``args`` stands for an Image that is another on each call.
        """
        return self._step(kernel.clone(), kernel.name, size, args, local, label, traffic)

    def launch(
        self,
        kernel: Kernel,
        size: Sequence[int],
        *args: Argument,
        local: Sequence[int] | None = None,
        label: str | None = None,
        traffic: int = 0,
    ) -> None:
        """Enqueues a kernel once; its event goes to the report.

        Parameters
        ----------
        size : ints
            Work-items in each dimension, rounded up to whole groups of ``local``; kernels guard their stores.
        args
            Images and buffers, :class:`Local`, None (a null pointer), ints (int), floats (float; numpy's float64
            is one), other numpy scalars and arrays as they are, tuples (an OpenCL vector of 2, 4, 8 or 16).
        traffic : int
            Bytes that the kernel must read and write by its own model, for the report.
        """
        self._step(kernel.shared, kernel.name, size, args, local, label, traffic)()

    def _step(
        self,
        kernel: cl.Kernel,
        name: str,
        size: Sequence[int],
        args: tuple[Argument, ...],
        local: Sequence[int] | None,
        label: str | None,
        traffic: int,
    ) -> Step:
        if len(args) != kernel.num_args:
            raise TypeError(f"the kernel {name} takes {kernel.num_args} arguments, not {len(args)}")
        for place, value in enumerate(args):
            if value is not LATER:
                set_argument(kernel, place, self._argument(value))
        if local is None:
            rounded = tuple(int(n) for n in size)
        else:
            rounded = tuple(-(-int(n) // int(m)) * int(m) for n, m in zip(size, local, strict=True))
            local = tuple(int(m) for m in local)
        return Step(self, kernel, rounded, local, label or name, int(traffic), args)

    def _argument(self, value: Argument) -> Any:
        if isinstance(value, Image):
            self.check_own(value)
            return value.buffer
        return _argument(value)

    def check_own(self, image: Image) -> None:
        """Raises ParameterError for an Image in the memory of another Gpu: some drivers crash on it."""
        if image.gpu is not self:
            raise ParameterError(
                "the Image belongs to another Gpu: use that one, or copy it by way of numpy()"
            )


def _write_source(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    except OSError as error:
        with suppress(OSError):
            path.unlink()
        raise FileError(f"{path}: could not be written ({error.strerror})") from None


def _argument(value: Argument) -> Any:
    if isinstance(value, Local):
        return cl.LocalMemory(value.nbytes)
    if isinstance(value, tuple):
        return np.array(value, np.float32 if any(isinstance(v, float) for v in value) else np.int32)
    if isinstance(value, bool | int):
        return np.int32(value)
    if isinstance(value, float):
        return np.float32(value)
    return value


def _options(defines: Mapping[str, Define]) -> str:
    wanted = (_define(k, v) for k, v in sorted(defines.items()) if not (v is None or v is False))
    return f"-w {' '.join(wanted)}"  # compilers' warnings say nothing to those who use the program


def _define(key: str, value: bool | int | float | str | None) -> str:
    if key == "DENORMS_ARE_ZERO":
        return "-cl-denorms-are-zero"
    if value is True:
        return f"-D {key}"
    if isinstance(value, float):
        return f"-D {key}={float(np.float32(value))!r}f"
    return f"-D {key}={value}"


def _build_failure(device: str, label: str, log: str) -> str:
    lines = [line.strip() for line in log.splitlines()]
    first = next((line for line in lines if "error" in line.lower()), lines[0] if lines else "no message")
    return f"{device} could not build {label}.cl ({first}): update its driver or choose another with --device"
