"""Transfers to the device and back while kernels run: a queue for each direction, and staging memory for both.

A device reaches host memory of the driver's own at full speed and by itself. The host's threads copy data to and from
such memory, in two turns: while one is transferred, the next is being filled. Downloaded data is copied by a thread of
its own, as a new array's pages take longer to allocate than to fill.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from itertools import cycle
from math import prod
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Any
from weakref import proxy

import numpy as np
import numpy.typing as npt
import pyopencl as cl

from ..image import Image
from ..records import dataclass

if TYPE_CHECKING:
    from ..gpu import Gpu

Array = npt.NDArray[Any]

# Pieces of staging memory that take turns.
TURNS = 2
# The most threads that copy.
_THREADS = 8
# Bytes that are worth a thread.
_PIECE = 1 << 20
# Bytes of staging memory that a device keeps for the next time, at most.
_STAGING = 1 << 29


def pinned(gpu: Gpu, queue: cl.CommandQueue, nbytes: int) -> npt.NDArray[np.uint8]:
    """Returns host memory of the driver's own, which devices reach without a copy in between, until :func:`unpin`."""
    flags = cl.mem_flags
    enqueue_map: Any = cl.enqueue_map_buffer  # its types allow fewer flags and dtypes than it takes
    access = cl.map_flags.READ | cl.map_flags.WRITE
    with gpu.lock:
        buffer = cl.Buffer(gpu.context, flags.READ_WRITE | flags.ALLOC_HOST_PTR, nbytes)
        array, mapped = enqueue_map(queue, buffer, access, 0, (nbytes,), np.uint8, is_blocking=False)
    mapped.wait()
    return np.asarray(array)


def unpin(gpu: Gpu, queue: cl.CommandQueue, array: npt.NDArray[np.uint8]) -> None:
    """Gives the memory of :func:`pinned` back; the array must not be used any more."""
    mapped: Any = array.base
    with gpu.lock:
        released = mapped.release(queue)
    released.wait()


class _Staging:
    """A device's staging memory. It takes longer to allocate than to fill, so it is kept for the next time."""

    def __init__(self, gpu: Gpu) -> None:
        self._gpu: Gpu = proxy(gpu)  # which keeps this object
        self._free: defaultdict[int, list[npt.NDArray[np.uint8]]] = defaultdict(list)
        self._kept = 0
        self._changing = Lock()

    def take(self, queue: cl.CommandQueue, nbytes: int) -> npt.NDArray[np.uint8]:
        """Returns an array of ``nbytes`` or more."""
        size = max(_PIECE, 1 << (nbytes - 1).bit_length())
        with self._changing:
            if self._free[size]:
                self._kept -= size
                return self._free[size].pop()
        return pinned(self._gpu, queue, size)

    def give(self, queue: cl.CommandQueue, array: npt.NDArray[np.uint8]) -> None:
        """Takes an array back."""
        with self._changing:
            keeps = self._kept + array.nbytes <= _STAGING
            if keeps:
                self._kept += array.nbytes
                self._free[array.nbytes].append(array)
        if not keeps:
            unpin(self._gpu, queue, array)


class Transfers:
    """A context for transfers through an :class:`Inlet` and an :class:`Outlet`; all data has arrived at its end.

    Parameters
    ----------
    overlap
        If false, each transfer waits for all before it, kernels included, and is waited for: for comparison.
    """

    def __init__(self, gpu: Gpu, *, overlap: bool = True) -> None:
        self.gpu = gpu
        self.overlap = overlap
        self._resources = ExitStack()
        self.inlets: list[Inlet] = []
        self.outlets: list[Outlet] = []

    def __enter__(self) -> Transfers:
        gpu = self.gpu
        self.up, self.down = gpu.kept(
            "transfers", lambda: (cl.CommandQueue(gpu.context), cl.CommandQueue(gpu.context))
        )
        self._count = min(_THREADS, os.cpu_count() or 1)
        self._threads = self._resources.enter_context(ThreadPoolExecutor(self._count))
        self.back = self._resources.enter_context(ThreadPoolExecutor(1))
        self._staging = gpu.kept("staging", lambda: _Staging(gpu))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                for outlet in self.outlets:
                    outlet.drain()
        finally:
            for queue in (self.up, self.down):
                queue.finish()
            self.back.shutdown()  # after an error, too: it reads staging memory, which goes next
            for inlet in self.inlets:
                inlet.close()
            self._resources.close()

    def staging(self, nbytes: int) -> npt.NDArray[np.uint8]:
        """Returns host memory that the device reaches by itself, until the context ends."""
        array = self._staging.take(self.up, nbytes)
        self._resources.callback(self._staging.give, self.up, array)
        return array

    def copy(self, source: Array, target: Array) -> None:
        """Copies host memory by several threads."""
        axis = int(np.argmax(source.shape))
        count = max(1, min(self._count, source.nbytes // _PIECE, source.shape[axis]))
        pieces = (np.array_split(array, count, axis) for array in (target, source))
        list(self._threads.map(np.copyto, *pieces))

    def settle(self) -> None:
        """Waits for all transfers and kernels, where transfers are not to overlap."""
        if not self.overlap:
            for queue in (self.up, self.gpu.queue, self.down):
                queue.finish()


@dataclass
class _InletTurn:
    """One of an inlet's turns: ``sent`` is when its staging memory, ``used`` when its buffer may be filled anew."""

    buffer: Image
    staging: npt.NDArray[np.uint8]
    used: cl.Event
    sent: cl.Event | None = None


class Inlet:
    """Arrays of up to ``nbytes`` on their way to the device, where they take twice as much until the end."""

    def __init__(self, transfers: Transfers, nbytes: int) -> None:
        self._transfers = transfers
        gpu = transfers.gpu
        # Kernels that are still under way may use what the pool gives.
        self._places = [
            _InletTurn(gpu.empty((nbytes,), np.uint8), transfers.staging(max(1, nbytes)), _marker(gpu))
            for _ in range(TURNS)
        ]
        self._turn = -1
        transfers.inlets.append(self)

    def send(self, parts: Sequence[Array], axis: int) -> Image:
        """Sends the parts, side by side along an axis, and returns their Image, for kernels until :meth:`release`."""
        transfers, gpu = self._transfers, self._transfers.gpu
        shape = list(parts[0].shape)
        shape[axis] = sum(part.shape[axis] for part in parts)
        dtype = parts[0].dtype
        nbytes = prod(shape) * dtype.itemsize
        self._turn = (self._turn + 1) % TURNS
        place = self._places[self._turn]
        image = Image(gpu, place.buffer.buffer, tuple(shape), dtype)
        if not nbytes:
            return image
        with gpu.phase("upload"):
            if place.sent is not None:
                place.sent.wait()
            staging = place.staging[:nbytes].view(dtype).reshape(shape)
            at = 0
            for part in parts:
                where = [slice(None)] * len(shape)
                where[axis] = slice(at, at := at + part.shape[axis])
                transfers.copy(part, staging[tuple(where)])
            with gpu.lock:
                place.sent = cl.enqueue_copy(
                    transfers.up, place.buffer.buffer, staging, is_blocking=False, wait_for=[place.used]
                )
                transfers.up.flush()
                cl.enqueue_barrier(gpu.queue, wait_for=[place.sent])
            transfers.settle()
        return image

    def release(self) -> None:
        """Is to be called when all kernels that read the last Image are in the queue."""
        self._places[self._turn].used = _marker(self._transfers.gpu)

    def close(self) -> None:
        """Gives the device's memory back, for kernels that come after those that read it."""
        self._places.clear()


class Outlet:
    """Images of one kind on their way to the host, up to ``nbytes`` at a time."""

    def __init__(self, transfers: Transfers, nbytes: int) -> None:
        self._transfers = transfers
        self._staging = cycle([transfers.staging(max(1, nbytes)) for _ in range(TURNS)])
        # Each entry keeps its Image, whose memory must not be reused before, nor freed by another thread.
        self._awaited: list[tuple[Future[None], Image]] = []
        transfers.outlets.append(self)

    def receive(self, image: Image, first: int, target: Array) -> None:
        """Copies rows from ``first`` on of planes (planes, rows, columns) to ``target``, as many as it has.

        They have arrived when the context ends. Pixels (rows, columns, channels) count as one plane.
        """
        transfers, gpu = self._transfers, self._transfers.gpu
        if not target.size:
            return
        planes, rows = target.shape[0], target.shape[1]
        row = target.nbytes // (planes * rows)
        height = image.nbytes // (planes * row)
        with gpu.phase("download"):
            while len(self._awaited) >= TURNS:
                self._awaited.pop(0)[0].result()
            staging = next(self._staging)[: target.nbytes].view(target.dtype).reshape(target.shape)
            ready = _marker(gpu)
            transfers.settle()
            # All events are kept: pyopencl waits for a copy whose event is dropped.
            with gpu.lock:
                arrived = [
                    cl.enqueue_copy(
                        transfers.down, staging[plane], image.buffer, src_offset=(plane * height + first) * row,
                        is_blocking=False, wait_for=[ready],
                    )
                    for plane in range(planes)
                ]  # fmt: skip
                transfers.down.flush()
            self._awaited.append((transfers.back.submit(self._finish, arrived, staging, target), image))
            if not transfers.overlap:
                self.drain()

    def drain(self) -> None:
        """Waits for all transfers that are under way."""
        with self._transfers.gpu.phase("download"):
            while self._awaited:
                self._awaited.pop(0)[0].result()

    def _finish(self, arrived: Sequence[cl.Event], staging: Array, target: Array) -> None:
        for event in arrived:
            event.wait()
        self._transfers.copy(staging, target)


def _marker(gpu: Gpu) -> cl.Event:
    """Returns an event for other queues to wait for: all kernels enqueued so far have ended."""
    with gpu.lock:
        event = cl.enqueue_marker(gpu.queue)
        gpu.queue.flush()
    return event
