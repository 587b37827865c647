"""The device that the last command took, so that the next one loads no driver but its own.

All drivers together are 100 MB and more of libraries and their data. Only a process that runs one command may leave
some out, as `ahead.single` says; elsewhere others may want another device.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from gpuops.device import cache, drivers, probe
from gpuops.device.drivers import Driver
from gpuops.process import ahead

if TYPE_CHECKING:
    from gpuops.device.selection import Candidate

# The environment variable that `alone` changes, and what those begin with that drivers read.
_VENDORS = "OCL_ICD_VENDORS"
_READ = (
    "CL_", "CUDA_", "GPU_", "HIP_", "INTEL_", "LD_", "LIBGL_", "LP_", "MESA_", "NVIDIA_", "OCL_", "OPENCL_", "POCL_",
    "ROCR_", "RUSTICL_", "SYCL_", "ZE_",
)  # fmt: skip
# The folders of devices, and what the names of graphics cards begin with there.
_NODES = (("/dev", ("dxg", "kfd", "nvidia")), ("/dev/dri", ("render",)))


@dataclass(frozen=True)
class LastDevice:
    """A device as it is known to its driver, and its number among all devices."""

    icd: str
    index: int
    platform: str
    platform_version: str
    name: str
    driver: str
    ordinal: int

    def among(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Returns the candidate that is the device, with its number, or nothing."""
        return [
            candidate.numbered(self.index)
            for candidate in candidates
            if LastDevice.of(candidate, self.icd, self.index) == self
        ]

    @classmethod
    def of(cls, candidate: Candidate, icd: str, index: int) -> LastDevice:
        """Describes a device of the driver that an .icd file names."""
        info = candidate.info
        version = candidate.device.platform.version
        return cls(icd, index, info.platform, version, info.name, info.driver, candidate.ordinal)

    def library(self) -> Driver | None:
        """The driver, if it is there."""
        return next((driver for driver in drivers.prepared() if driver.name == self.icd), None)


def words(spec: str | None) -> str:
    """Returns a specification of a device, or that of the environment."""
    return (spec if spec is not None else os.environ.get("CLPIX_DEVICE", "")).strip()


def _state() -> dict[str, Any]:
    """Returns all that may change which device the words mean."""
    nodes: list[str] = []
    for folder, names in _NODES:
        with suppress(OSError):
            nodes += sorted(name for name in os.listdir(folder) if name.startswith(names))
    return {
        "boot": cache.boot(),
        "nodes": nodes,
        "drivers": [[*driver, drivers.changed(driver)] for driver in drivers.prepared()],
        "program": probe.program(),
        "environment": {
            name: value for name, value in os.environ.items() if name.startswith(_READ) and name != _VENDORS
        },
    }


def recalled(spec: str) -> LastDevice | None:
    """Returns the device that the words meant the last time, if nothing has changed since. Drivers are prepared."""
    entry = cache.load_value("choice", spec) if ahead.single and len(drivers.prepared()) > 1 else None
    with suppress(TypeError, KeyError):
        if entry and entry["state"] == _state():
            device = LastDevice(**entry["device"])
            return device if device.library() else None
    return None


def keep(spec: str, chosen: Candidate, devices: Sequence[Candidate]) -> None:
    """Keeps the device that the words mean, if its driver is known, and if no device that was checked fails.

    Such a failure is said by each command, and tried again some day.
    """
    if not ahead.single or len(drivers.prepared()) < 2 or any(device.works is False for device in devices):
        return
    platform = [chosen.info.platform, chosen.device.platform.version]
    icds = [icd for icd, platforms in drivers.platforms().items() if platform in platforms]
    if len(icds) == 1:
        device = asdict(LastDevice.of(chosen, icds[0], chosen.info.index))
        cache.save_value("choice", spec, {"state": _state(), "device": device}, bad=False)


def forget(spec: str) -> None:
    """Drops what is kept: the device is not as it was."""
    cache.save_value("choice", spec, {}, bad=False)


@contextmanager
def alone(device: LastDevice) -> Iterator[None]:
    """Lets the loader see the driver of the device only, if it looks at drivers for the first time."""
    before = os.environ.get(_VENDORS)
    os.environ[_VENDORS] = str(drivers.materialise([driver for driver in [device.library()] if driver]))
    try:
        yield
    finally:
        if before is None:
            del os.environ[_VENDORS]
        else:
            os.environ[_VENDORS] = before
