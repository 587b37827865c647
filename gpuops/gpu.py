"""Gpu: one device's context, queue, memory pool and kernels, and the one function that launches them."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from math import prod
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyopencl as cl
import pyopencl.tools

from .device import contexts
from .device.info import Limits
from .enqueue import LATER, Argument, BoundLaunch, Later, Local, Scalar, set_argument, whole_groups
from .errors import DeviceError, DeviceMemoryError, ParameterError, are_allowed, byte_count
from .image import Image
from .process import signals
from .programs import Define, GeneratedSource, Kernel, Programs, Sources
from .reuse import Plans

if TYPE_CHECKING:
    from .chain import Chain
    from .profile import Report

__all__ = [
    "LATER", "Argument", "BoundLaunch", "Define", "GeneratedSource", "Gpu", "Kernel", "Later", "Limits", "Local",
    "Scalar", "Sources",
]  # fmt: skip

T = TypeVar("T")
# Bytes: host arrays up to this size become buffers of their own instead of queued copies, and Images up to it are not
# looked at to bound the pool.
_SMALL = 1 << 20
# Bytes of zeros that become buffers of their own on CPUs: PoCL takes five times as long to fill a buffer.
_ZEROS = 1 << 16


class Gpu:
    """One OpenCL device, ready for work.

    Parameters
    ----------
    device : str, optional
        As for ``--device``: ``"gpu"``, ``"cpu"``, a number or part of a name. None takes the device of
        ``CLPIX_DEVICE``, else the best one.
    report : Report, optional
        Collects build times and every launch's event. Without a report nothing is collected.
    dump : path, optional
        A folder that receives the source of every program built.
    memory : int, optional
        Bytes that images on the device may take together, as if the device had no more.

    Raises
    ------
    DeviceError
        There is no such device, or none that works; later, if the Gpu is closed.

    Notes
    -----
    A Gpu keeps programs, plans and freed memory for the next call. :meth:`close`, or the end of a ``with`` statement,
    drops them. What is left goes with the last reference to the Gpu and to its Images. A Gpu that is not closed stays
    until Python's garbage collector finds it, as its plans refer to it.
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
        self.dump = Path(dump) if dump is not None else None
        with self.phase("platform"):
            from .device import select

            self.device, self.info = select(device)
        with self.phase("context"):
            with signals.kept():
                self.context = contexts.context(self.device)
            if report is None:
                self.queue = cl.CommandQueue(self.context)
            else:
                times = cl.command_queue_properties.PROFILING_ENABLE
                self.queue = cl.CommandQueue(self.context, properties=times)
            self._pool = cl.tools.MemoryPool(cl.tools.ImmediateAllocator(self.queue))
        self._most_active = 0  # bytes
        self.closed = False
        self.programs = Programs(self)
        # The objects that operations prepared.
        self.plans = Plans()
        # Threads hold this from a kernel's first argument to its launch, and while anything else is enqueued: drivers
        # crash otherwise.
        self.lock = RLock()

    def __enter__(self) -> Gpu:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Drops programs, plans and freed memory; drivers keep what enqueued work still needs.

        Images that are in use can still be read. Every new Image and kernel is refused with a DeviceError.
        """
        self.closed = True
        self.plans.drop_all()
        self.programs.clear()
        with self.lock:
            self._pool.stop_holding()

    def _check_open(self) -> None:
        if self.closed:
            raise DeviceError("this Gpu is closed: open another")

    def phase(self, name: str) -> AbstractContextManager[None]:
        """Returns the report's phase ``name``, or a context that does nothing if there is no report."""
        return self.report.phase(name) if self.report is not None else nullcontext()

    @cached_property
    def limits(self) -> Limits:
        """The device's limits."""
        return Limits.of(self.device, self.info, self.memory)

    def kept(self, key: Hashable, make: Callable[[], T]) -> T:
        """Returns the result of ``make``, and keeps it under ``key``; of too many the least recently used is dropped.

        It is made only once, and all threads share it.
        """
        return self.plans.get_or_make(key, make)

    # -- memory ---------------------------------------------------------------------------------------------

    def empty(self, shape: Sequence[int], dtype: npt.DTypeLike = np.float32) -> Image:
        """Returns a new, uninitialised device array. Its memory returns to the pool with the last reference to it."""
        return self.new(tuple(map(int, shape)), np.dtype(dtype))

    def new(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Image:
        """Does as :meth:`empty`, in half the time, for a tuple of ints and a numpy dtype."""
        self._check_open()
        nbytes = prod(shape) * dtype.itemsize or 1
        if nbytes > self.limits.max_alloc_bytes:
            raise self._no_room(f"one buffer of {byte_count(nbytes, up=True)} is needed", nbytes, one=True)
        try:
            with self.lock:
                if self.memory is not None:
                    self._make_room(nbytes)
                buffer: Any = self._pool.allocate(nbytes)
                if nbytes > _SMALL:
                    self._bound_pool()
        except (cl.MemoryError, MemoryError) as error:
            used = f"{byte_count(self._pool.active_bytes)} in use"
            need = f"{self.info.name} is out of memory: {byte_count(nbytes, up=True)} more are needed beside {used}"
            raise self._no_room(need, int(self._pool.managed_bytes) + self._rounded(nbytes)) from error
        if self.report is not None:
            self.report.peak_device_bytes = max(self.report.peak_device_bytes, int(self._pool.active_bytes))
        return Image(self, buffer, shape, dtype)

    def _no_room(self, need: str, nbytes: int, *, one: bool = False) -> DeviceMemoryError:
        """Returns the error that there is no room for so many bytes, or for ``one`` buffer of so many."""
        most = self.limits.max_alloc_bytes if one else self.limits.global_bytes
        if most == self.memory:
            room, hint = are_allowed(most), "raise the limit"
        else:
            room = f"{self.info.name} has {byte_count(most)}{' for one buffer' if one else ''}"
            hint = "use a smaller image or another device"
        return DeviceMemoryError(f"{need}, and {room}: {hint}", nbytes, room)

    def _make_room(self, nbytes: int) -> None:
        """Frees what the pool holds, and what is kept, if need be; raises MemoryError if that is not enough."""
        pool, most = self._pool, (self.memory or 0) - self._rounded(nbytes)
        if int(pool.managed_bytes) > most:
            self.queue.finish()  # drivers keep what is freed as long as commands wait that use it
            pool.free_held()
        while int(pool.managed_bytes) > most:
            if not self.plans.drop_one_with_memory():
                raise MemoryError
            pool.free_held()

    def _rounded(self, nbytes: int) -> int:
        """Returns the bytes that the pool takes for so many."""
        return int(self._pool.alloc_size(self._pool.bin_number(nbytes)))

    def _bound_pool(self) -> None:
        """Frees what the pool holds once it is more than was ever in use: Images of many sizes would fill a device."""
        self._most_active = max(self._most_active, int(self._pool.active_bytes))
        if int(self._pool.managed_bytes) > 2 * self._most_active:
            self._pool.free_held()

    def array(self, values: npt.ArrayLike) -> Image:
        """Copies a host array to the device as it is (shape and dtype kept, bytes in the machine's order)."""
        self._check_open()
        host = np.asarray(values, order="C")
        if not host.dtype.isnative:
            host = host.astype(host.dtype.newbyteorder("="))
        with self.phase("upload"):
            # Where memory is limited, all of it comes from the pool, which counts it.
            if 0 < host.nbytes <= (_SMALL if self.memory is None else 0):
                # A table of weights must not wait in the queue for the kernels before it, nor they for it.
                flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
                with self.lock:
                    buffer = cl.Buffer(self.context, flags, hostbuf=host)
                return Image(self, buffer, host.shape, host.dtype)
            image = self.empty(host.shape, host.dtype)
            if host.size:
                self.copy(image.buffer, host)
        return image

    def zeros(self, shape: Sequence[int], dtype: npt.DTypeLike = np.float32) -> Image:
        """Returns a new device array of zero bytes."""
        if self.limits.is_cpu and self.memory is None and prod(shape) * np.dtype(dtype).itemsize <= _ZEROS:
            return self.array(np.zeros(shape, dtype))
        image = self.empty(shape, dtype)
        if image.nbytes:
            with self.lock:
                cl.enqueue_fill_buffer(self.queue, image.buffer, np.zeros(1, np.uint8), 0, image.nbytes)
        return image

    def copy(
        self, target: cl.Buffer | npt.NDArray[Any], source: cl.Buffer | npt.NDArray[Any], **extent: Any
    ) -> None:
        """Copies bytes on the device, or between it and the host; ``extent`` is as for ``pyopencl.enqueue_copy``.

        Copies on the device are only enqueued. Others have ended on return, and threads may launch kernels meanwhile.
        """
        with_host = isinstance(target, np.ndarray) or isinstance(source, np.ndarray)
        if with_host:
            extent["is_blocking"] = False
        with self.lock:
            event = cl.enqueue_copy(self.queue, target, source, **extent)
        if with_host:
            event.wait()  # without the lock; if the event were dropped instead, Python's lock would be held meanwhile

    def read(self, images: Sequence[Image], into: Sequence[npt.NDArray[Any]]) -> None:
        """Copies Images to arrays on the host, contiguous and of as many bytes, and waits for all of them at once."""
        report = self.report
        with self.phase("download"):
            launched = report.launched if report is not None else 0
            with self.lock:
                pairs = [
                    (array, image.buffer) for image, array in zip(images, into, strict=True) if array.size
                ]
                events = [cl.enqueue_copy(self.queue, *pair, is_blocking=False) for pair in pairs]
            for event in reversed(events):  # without the lock; the last one ends last
                event.wait()
            if report is not None:
                report.saw_the_end(launched)

    def finish(self) -> None:
        """Waits until the device has done all enqueued work."""
        report = self.report
        launched = report.launched if report is not None else 0
        self.queue.finish()
        if report is not None:
            report.saw_the_end(launched)

    # -- operations -----------------------------------------------------------------------------------------

    def run(self, chain: Chain, operand: Any, *, alpha: bool = False) -> Any:
        """Does the operations of a chain, one after the other, on the device.

        Parameters
        ----------
        chain : Chain
        operand : Image or array (channels, height, width)
            Linear Rec. 709 light, unless the Image's ``space`` says something else. It stays as it is.
        alpha : bool
            Whether an array's last channel is straight alpha.

        Returns
        -------
        An Image, with the ``space`` of its values, for an Image; for an array one of float32.

        Raises
        ------
        GpuopsError
            As the operations do.
        """
        from .plan import of_library

        return of_library(self, chain, operand, alpha=alpha)

    # -- kernels --------------------------------------------------------------------------------------------

    def kernel(self, source: Sources, name: str, **defines: Define) -> Kernel:
        """Returns the kernel ``name`` of the given sources, built with ``-D`` for each define; it is cached.

        ``True`` defines a bare name, ``False`` and None leave it out; floats become exact float literals.
        ``DENORMS_ARE_ZERO`` is a build option: a GPU's logarithms and powers then take an instruction or two.
        """
        return self.kernels([(source, name, defines)])[0]

    def kernels(self, requests: Sequence[tuple[Sources, str, Mapping[str, Define]]]) -> list[Kernel]:
        """Returns several kernels as :meth:`kernel` does; on GPUs all are built at once, each program on a thread."""
        self._check_open()
        return self.programs.kernels(requests)

    def bind(
        self,
        kernel: Kernel,
        size: Sequence[int],
        *args: Argument,
        local: Sequence[int] | None = None,
        label: str | None = None,
        traffic: int | None = None,
    ) -> BoundLaunch:
        """Returns the launch prepared once, for plans that run repeatedly; as for :meth:`launch`.

        ``LATER`` among ``args`` stands for an Image that each call of the step is given.
        """
        with self.lock:
            return self._step(kernel, kernel.clone(), size, args, local, label, traffic)

    def launch(
        self,
        kernel: Kernel,
        size: Sequence[int],
        *args: Argument,
        local: Sequence[int] | None = None,
        label: str | None = None,
        traffic: int | None = None,
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
            Bytes that the kernel must read and write by its own model, for the report: by default each Image's once.
        """
        with self.lock:
            self._step(kernel, kernel.shared, size, args, local, label, traffic)()

    def compute(
        self,
        source: Sources,
        name: str,
        size: Sequence[int],
        *args: Argument,
        group: int | tuple[int, ...],
        label: str,
        traffic: int | None = None,
        **defines: Define,
    ) -> None:
        """Builds a kernel as :meth:`kernel` does and launches it as :meth:`launch` does, in groups of ``group``.

        These are its work-items in the first dimension, or in the first ones; in others there is one. There are fewer
        where the device or the kernel cannot run so many.
        """
        kernel = self.kernel(source, name, **defines)
        groups = (group,) if isinstance(group, int) else group
        local = kernel.fit(*groups, *[1] * (len(size) - len(groups)))
        self.launch(kernel, size, *args, local=local, label=label, traffic=traffic)

    def _step(
        self,
        of: Kernel,
        kernel: cl.Kernel,
        size: Sequence[int],
        args: tuple[Argument, ...],
        local: Sequence[int] | None,
        label: str | None,
        traffic: int | None,
    ) -> BoundLaunch:
        if len(args) != kernel.num_args:
            raise TypeError(f"the kernel {of.name} takes {kernel.num_args} arguments, not {len(args)}")
        for place, value in enumerate(args):
            if isinstance(value, Image):
                self.check_own(value)
            if value is not LATER:
                set_argument(kernel, place, value)
        return BoundLaunch(self, of, kernel, *whole_groups(size, local), label or of.name, traffic, args)

    def check_double(self) -> None:
        """Raises DeviceError if the device has no double precision."""
        if not self.limits.double:
            raise DeviceError(
                f"{self.info.name} has no double precision: convert to float32, or choose another with --device"
            )

    def check_own(self, image: Image) -> None:
        """Raises ParameterError for an Image in the memory of another Gpu, on which some drivers crash."""
        if image.gpu is not self:
            raise ParameterError("the Image belongs to another Gpu: use that one, or copy it by numpy()")
