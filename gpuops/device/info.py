"""The properties of a device, and what it allows, as plans ask it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..records import dataclass

if TYPE_CHECKING:
    import pyopencl as cl

# The kinds of devices, in the order of preference.
KINDS = ("gpu", "accelerator", "cpu")


@dataclass(frozen=True)
class DeviceInfo:
    """One device of the flat, numbered list."""

    index: int
    platform: str
    name: str
    vendor: str
    kind: str  # one of KINDS
    driver: str
    version: str  # of OpenCL
    compute_units: int
    clock_mhz: int
    global_bytes: int
    local_bytes: int
    max_alloc_bytes: int
    work_group: int
    double: bool
    half: bool
    usable: bool = False
    reason: str | None = "not probed"  # why it is skipped
    copy_gbps: float | None = None  # bytes read and written by a copy kernel, in 10^9 a second
    gflops: float | None = None  # multiply-adds in float32, two operations each


def kind_of(device: cl.Device) -> str:
    """Returns the kind of a device. A simulator that claims to be every kind (Oclgrind) counts as a CPU."""
    import pyopencl as cl

    if device.type & cl.device_type.CPU:
        return "cpu"
    return "gpu" if device.type & cl.device_type.GPU else "accelerator"


def describe(device: cl.Device, index: int) -> DeviceInfo:
    """Reads a device's properties; it counts as unusable until it is probed."""
    extensions = device.extensions.split()
    return DeviceInfo(
        index=index,
        platform=device.platform.name.strip(),
        name=device.name.strip(),
        vendor=device.vendor.strip(),
        kind=kind_of(device),
        driver=device.driver_version.strip(),
        version=device.version.strip(),
        compute_units=device.max_compute_units,
        clock_mhz=device.max_clock_frequency,
        global_bytes=device.global_mem_size,
        local_bytes=device.local_mem_size,
        max_alloc_bytes=device.max_mem_alloc_size,
        work_group=device.max_work_group_size,
        double="cl_khr_fp64" in extensions,
        half="cl_khr_fp16" in extensions,
    )


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

    @classmethod
    def of(cls, device: cl.Device, info: DeviceInfo, memory: int | None = None) -> Limits:
        """Asks a device; ``memory`` is the most bytes that it may seem to have."""
        is_cpu = info.kind == "cpu"
        global_bytes = info.global_bytes if memory is None else min(info.global_bytes, memory)
        return cls(
            work_group=info.work_group,
            work_item_sizes=tuple(map(int, device.max_work_item_sizes)),
            local_bytes=info.local_bytes,
            global_bytes=global_bytes,
            max_alloc_bytes=min(global_bytes, info.max_alloc_bytes),
            compute_units=info.compute_units,
            is_cpu=is_cpu,
            native=not is_cpu,
            lanes=8 if is_cpu and device.native_vector_width_float >= 4 else 1,
            double=info.double,
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
