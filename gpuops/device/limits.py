"""What a device allows, as plans ask it: memory, group sizes, and how many pixels a work-item should take."""

from __future__ import annotations

from dataclasses import dataclass

import pyopencl as cl


@dataclass(frozen=True)
class Limits:
    """The device's limits and properties. Sizes are in bytes, ``work_group`` in work-items.

    ``lanes``: how many neighbouring pixels a work-item should take at once (WIDTH in lanes.cl). CPUs whose compilers
    know vectors compute eight in the time of one; on other devices work-items are the vector's lanes.
    ``native``: whether the functions that OpenCL calls native are quick and have nearly all bits, as on GPUs; of a CPU
    some have 14.
    """

    work_group: int
    work_item_sizes: tuple[int, ...]
    local_bytes: int
    global_bytes: int
    max_alloc_bytes: int
    compute_units: int
    is_cpu: bool
    native: bool
    lanes: int
    double: bool
    half: bool

    @classmethod
    def of(cls, device: cl.Device, memory: int | None = None) -> Limits:
        """Asks a device; ``memory`` is the most bytes that it may seem to have."""
        extensions = device.extensions.split()
        is_cpu = bool(device.type & cl.device_type.CPU)
        global_bytes = int(device.global_mem_size)
        if memory is not None:
            global_bytes = min(global_bytes, memory)
        return cls(
            work_group=int(device.max_work_group_size),
            work_item_sizes=tuple(int(n) for n in device.max_work_item_sizes),
            local_bytes=int(device.local_mem_size),
            global_bytes=global_bytes,
            max_alloc_bytes=min(global_bytes, int(device.max_mem_alloc_size)),
            compute_units=int(device.max_compute_units),
            is_cpu=is_cpu,
            native=not is_cpu,
            lanes=8 if is_cpu and device.native_vector_width_float >= 4 else 1,
            double="cl_khr_fp64" in extensions,
            half="cl_khr_fp16" in extensions,
        )

    @property
    def vectors(self) -> bool:
        """Whether the device is a CPU whose compiler knows vectors."""
        return self.is_cpu and self.lanes > 1

    @property
    def band(self) -> int:
        """The largest number of rows that a work-item may go down.

        llvmpipe ends a work-item's loops after 65535 rounds altogether; the longest kernel takes 80 for a row.
        """
        return 512 if self.is_cpu and self.lanes == 1 else 2**31 - 1
