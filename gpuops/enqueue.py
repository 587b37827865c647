"""Launches without an event, and arguments set by their own type, neither of which pyopencl offers.

A driver that need not report a launch's end starts the next one sooner: on an NVIDIA H200 (driver 580.159) kernels that
follow each other take about 2 µs less each.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Union

import numpy as np
import numpy.typing as npt
import pyopencl as cl

from .image import Image
from .records import dataclass

if TYPE_CHECKING:
    from .gpu import Gpu
    from .programs import Kernel

Scalar = int | float | np.generic
Argument = Union[
    Image, cl.Buffer, "Local", "Later", Scalar, npt.NDArray[np.generic], tuple[Scalar, ...], None
]


@dataclass(frozen=True)
class Local:
    """A kernel argument that is ``nbytes`` of local memory."""

    nbytes: int


class Later:
    """``LATER``: stands for an Image that each call of a :class:`BoundLaunch` gives as the kernel argument."""


LATER = Later()


def _function() -> Any:
    """Returns OpenCL's function from pyopencl's module, which is linked to it; None where it is not found that way.

    A call keeps Python's lock (PyDLL), as pyopencl's own calls do unless they wait: NVIDIA's driver 580 ended the
    process when one thread launched a kernel while others made or released buffers and kernels.
    """
    try:
        function = ctypes.PyDLL(cl._cl.__file__).clEnqueueNDRangeKernel
    except (OSError, AttributeError):
        return None
    function.restype = ctypes.c_int
    return function


_enqueue = _function()


def launcher(
    queue: cl.CommandQueue, kernel: cl.Kernel, size: tuple[int, ...], local: tuple[int, ...] | None
) -> Callable[[], object]:
    """Returns a function that enqueues the kernel, with the arguments that are set when it is called."""
    if _enqueue is None:
        return lambda: cl.enqueue_nd_range_kernel(queue, kernel, size, local)
    sizes = ctypes.c_size_t * len(size)
    pointer, number = ctypes.c_void_p, ctypes.c_uint
    # In C's types from the start: to convert them would take longer than all the rest of a call in Python.
    arguments = (
        pointer(queue.int_ptr), pointer(kernel.int_ptr), number(len(size)), None, sizes(*size),
        sizes(*local) if local else None, number(0), None, None,
    )  # fmt: skip

    def enqueue() -> None:
        if _enqueue(*arguments):
            cl.enqueue_nd_range_kernel(queue, kernel, size, local)  # fails again, with pyopencl's error

    return enqueue


# numpy's numbers and arrays.
_NUMBERS = (np.generic, np.ndarray)
# Sets an argument from bytes; older versions of pyopencl may lack this function.
_set_bytes: Callable[[cl.Kernel, int, Any], None] = getattr(cl.Kernel, "_set_arg_buf", cl.Kernel.set_arg)


def set_argument(kernel: cl.Kernel, place: int, argument: Argument) -> None:
    """Sets one argument. pyopencl's ``set_arg`` takes 6 µs for a number, as it tries all other types first."""
    value = _value(argument)
    if isinstance(value, _NUMBERS):
        _set_bytes(kernel, place, value)
    else:
        kernel.set_arg(place, value)


def _value(argument: Argument) -> Any:
    if isinstance(argument, Image):
        return argument.buffer
    if isinstance(argument, Local):
        return cl.LocalMemory(argument.nbytes)
    if isinstance(argument, tuple):
        return np.array(argument, np.float32 if any(isinstance(v, float) for v in argument) else np.int32)
    if isinstance(argument, int):
        return np.int32(argument)
    if isinstance(argument, float):
        return np.float32(argument)
    return argument


@dataclass(eq=False, slots=True)
class BoundLaunch:
    """A launch with its arguments set once; calling it enqueues it again in a few microseconds.

    A call gives the Images for the places that were bound as :data:`LATER`, in their order. Any thread may call it.
    """

    gpu: Gpu  # `of.gpu` is a proxy: it takes longer, and is not an Image's Gpu itself
    of: Kernel  # which keeps the kernel's program alive, also for others that ask for it
    kernel: cl.Kernel
    size: tuple[int, ...]
    local: tuple[int, ...] | None
    label: str
    traffic: int | None
    arguments: tuple[Argument, ...]  # the pool must not hand these buffers to anybody else
    _later: tuple[int, ...] = field(init=False)
    _enqueue: Callable[[], object] = field(init=False)

    def __post_init__(self) -> None:
        self._later = tuple(place for place, argument in enumerate(self.arguments) if argument is LATER)
        self._enqueue = launcher(self.gpu.queue, self.kernel, self.size, self.local)

    def __call__(self, *images: Image) -> None:
        gpu, set_arg = self.gpu, self.kernel.set_arg
        with gpu.lock:  # no other thread sets arguments or launches in between
            for place, image in zip(self._later, images, strict=True):
                if image.gpu is not gpu:
                    gpu.check_own(image)
                set_arg(place, image.buffer)
            if gpu.report is None:
                self._enqueue()
            else:
                self.timed()

    def timed(self) -> cl.Event:
        """Enqueues the launch and returns its event, which the report, if there is one, records."""
        event = cl.enqueue_nd_range_kernel(self.gpu.queue, self.kernel, self.size, self.local)
        if self.gpu.report is not None:
            traffic = self.nbytes if self.traffic is None else int(self.traffic)
            self.gpu.report.record(self.label, self.size, self.local, traffic, event)
        return event

    @property
    def nbytes(self) -> int:
        """The bytes of the Images among its arguments."""
        return sum(argument.nbytes for argument in self.arguments if isinstance(argument, Image))


def whole_groups(
    size: Sequence[int], local: Sequence[int] | None
) -> tuple[tuple[int, ...], tuple[int, ...] | None]:
    """Returns the work-items in each dimension, rounded up to whole groups of ``local``, and that."""
    if local is None:
        return tuple(map(int, size)), None
    groups = tuple(map(int, local))
    return tuple(-(-int(n) // m) * m for n, m in zip(size, groups, strict=True)), groups
