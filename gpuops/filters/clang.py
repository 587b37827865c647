"""Devices whose compiler is Clang, and so knows more than OpenCL C: larger vectors, and to fetch ahead."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..gpu import Define, Gpu

# CPUs' platforms of which that is known, and whether their kernels may fetch ahead.
CLANG = {"Portable Computing Language": True, "Intel(R) OpenCL": True, "Oclgrind": False}


def clang_defines(gpu: Gpu) -> dict[str, Define]:
    """Returns the defines of fetch_ahead.cl for a device."""
    name = gpu.device.platform.name
    clang = gpu.limits.is_cpu and name in CLANG
    return {"CLANG": clang, "AHEAD": int(CLANG[name]) if clang else None}
