"""Launches as pyopencl has not: without an event, and with arguments that are set as what they are.

A driver that need not tell a launch's end starts the next sooner: on an NVIDIA H200 (driver 580.159) kernels that
follow each other take about 2 µs less each.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pyopencl as cl


def _function() -> Any:
    """OpenCL's function by way of pyopencl's module, which is linked to it; None where names are not found so."""
    try:
        function = ctypes.CDLL(cl._cl.__file__).clEnqueueNDRangeKernel
    except (OSError, AttributeError):
        return None
    pointer, number, sizes = ctypes.c_void_p, ctypes.c_uint, ctypes.POINTER(ctypes.c_size_t)
    function.argtypes = (pointer, pointer, number, sizes, sizes, sizes, number, pointer, pointer)
    function.restype = ctypes.c_int
    return function


_enqueue = _function()


def launcher(
    queue: cl.CommandQueue, kernel: cl.Kernel, size: tuple[int, ...], local: tuple[int, ...] | None
) -> Callable[[], object]:
    """A function that enqueues the kernel, with the arguments that it then has."""
    if _enqueue is None:
        return lambda: cl.enqueue_nd_range_kernel(queue, kernel, size, local)
    sizes = ctypes.c_size_t * len(size)
    arguments = queue.int_ptr, kernel.int_ptr, len(size), None, sizes(*size), sizes(*local) if local else None

    def enqueue() -> None:
        if _enqueue(*arguments, 0, None, None):
            cl.enqueue_nd_range_kernel(queue, kernel, size, local)  # fails again, with pyopencl's error

    return enqueue


# As bytes at once; older versions of pyopencl may not have it.
_set_bytes: Callable[[cl.Kernel, int, Any], None] = getattr(cl.Kernel, "_set_arg_buf", cl.Kernel.set_arg)


def set_argument(kernel: cl.Kernel, place: int, value: Any) -> None:
    """Sets one argument: pyopencl's ``set_arg`` takes 6 µs for a number, which it tries as all else first."""
    if isinstance(value, np.generic | np.ndarray):
        _set_bytes(kernel, place, value)
    else:
        kernel.set_arg(place, value)
