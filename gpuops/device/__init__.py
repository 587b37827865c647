"""This package finds OpenCL devices, checks that each works, ranks them, and selects one. It never prompts.

Drivers crash, hang and return wrong numbers, so none is trusted before a process of its own has tried it:
`drivers` makes drivers visible, `canary` is the program that tries a device, `probe` runs it and keeps its
verdict in the cache, `selection` lists and selects.
"""

from __future__ import annotations

from gpuops.device.drivers import register_bundled_runtimes
from gpuops.device.info import DeviceInfo
from gpuops.device.selection import list_devices, names_several, rank, select, select_all

__all__ = [
    "DeviceInfo", "list_devices", "names_several", "rank", "register_bundled_runtimes", "select", "select_all",
]  # fmt: skip
