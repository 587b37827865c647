"""The properties of a device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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
    usable: bool
    reason: str | None  # why it is skipped
    copy_gbps: float | None  # bytes read and written by a copy kernel, in 10^9 a second
    gflops: float | None  # multiply-adds in float32, two operations each


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
        usable=False,
        reason="not probed",
        copy_gbps=None,
        gflops=None,
    )
