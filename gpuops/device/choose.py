"""The flat list of devices, their order of preference, and the selection of one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from gpuops.device.info import KINDS, DeviceInfo, describe
from gpuops.errors import DeviceError
from gpuops.notes import note
from gpuops.process import signals

if TYPE_CHECKING:
    import pyopencl as cl

# The advice that messages give where no device works.
HOW_TO_GET_ONE = (
    "get one with `pip install 'clpix[cpu]'`, the distribution's package pocl-opencl-icd, "
    "or the GPU vendor's driver"
)


class Candidate:
    """A device with what is known of it, checked when asked."""

    def __init__(self, device: cl.Device, info: DeviceInfo, ordinal: int) -> None:
        self.device, self.info, self.ordinal = device, info, ordinal

    def check(self, *, refresh: bool = False) -> DeviceInfo:
        """Returns the device's properties with the verdict."""
        from gpuops.device import probe

        version = self.device.platform.version.strip()
        found = probe.verdict(self.info, version, self.ordinal, refresh=refresh)
        return replace(
            self.info,
            usable=found.usable,
            reason=found.reason,
            copy_gbps=found.copy_gbps,
            gflops=found.gflops,
        )


def list_devices(*, refresh: bool = False) -> list[DeviceInfo]:
    """Every device, numbered, GPUs first, each checked; `refresh` checks again whatever the cache says."""
    return [candidate.check(refresh=refresh) for candidate in candidates(refresh=refresh)]


def select(spec: str | None = None) -> tuple[cl.Device, DeviceInfo]:
    """The device that `spec` names: "gpu", "cpu", a number of the list, or a part of its name or its
    platform's.

    None means the environment variable CLPIX_DEVICE, else the best one that works. Only devices that come
    into question are checked. Raises DeviceError with one line that says what there is.
    """
    given = "" if spec is not None else "CLPIX_DEVICE: "
    spec = (spec if spec is not None else os.environ.get("CLPIX_DEVICE", "")).strip()
    found = candidates()
    if not found:
        raise DeviceError(f"no OpenCL device{_searched()}: {HOW_TO_GET_ONE}")
    if spec:
        try:
            return _best(matching(found, spec), f"no usable device for {spec!r}")
        except DeviceError as error:
            raise DeviceError(f"{given}{error}") from None
    skipped: list[DeviceInfo] = []
    for kind in KINDS:
        checked = [(candidate, candidate.check()) for candidate in found if candidate.info.kind == kind]
        skipped += [info for _, info in checked if not info.usable]
        for info in [info for _, info in checked if kind == "gpu" and not info.usable]:
            note(f"GPU {info.index} ({info.name}) passed over: {info.reason}")
        if usable := {info: candidate for candidate, info in checked if info.usable}:
            best = rank(usable)[0]
            return usable[best].device, best
    raise DeviceError(f"no usable OpenCL device ({_reasons(skipped)}): {HOW_TO_GET_ONE}")


def _best(found: Sequence[Candidate], complaint: str) -> tuple[cl.Device, DeviceInfo]:
    """Returns the best usable one of the named devices."""
    checked = {candidate.check(): candidate for candidate in found}
    usable = [info for info in checked if info.usable]
    if not usable:
        raise DeviceError(f"{complaint}: {_reasons(checked)}")
    best = rank(usable)[0]
    return checked[best].device, best


def _searched() -> str:
    """Returns where drivers were looked for, if that was the user's choice."""
    chosen = os.environ.get("OCL_ICD_VENDORS")
    return f" (OCL_ICD_VENDORS is {chosen})" if chosen else ""


def _reasons(infos: Iterable[DeviceInfo]) -> str:
    return "; ".join(f"{info.index} {info.name}: {info.reason}" for info in infos)


def rank(infos: Iterable[DeviceInfo]) -> list[DeviceInfo]:
    """Ranks by kind, then by compute to two digits (noise does not reorder equal GPUs), then by number."""
    return sorted(infos, key=lambda i: (KINDS.index(i.kind), -float(f"{i.gflops or 0:.1e}"), i.index))


def matching(found: Sequence[Candidate], spec: str) -> list[Candidate]:
    """The candidates that a specification means, at least one."""
    word = spec.lower()
    if word in KINDS:
        chosen = [candidate for candidate in found if candidate.info.kind == word]
    elif word.isdecimal():
        chosen = [candidate for candidate in found if candidate.info.index == int(word)]
    else:
        chosen = [c for c in found if word in c.info.name.lower() or word in c.info.platform.lower()]
        chosen = chosen or [
            c for c in found if word in c.info.version.lower()
        ]  # PoCL's name only stands there
    if not chosen:
        there = ", ".join(f"{c.info.index} {c.info.name} [{c.info.platform}, {c.info.kind}]" for c in found)
        raise DeviceError(f"no device {spec!r}; there is: {there}")
    return chosen


def candidates(*, refresh: bool = False) -> list[Candidate]:
    """Every device of every platform, in an order that does not depend on the loader's."""
    try:
        import pyopencl as cl
    except ImportError as error:
        raise DeviceError(
            f"pyopencl cannot be imported ({error}): reinstall it with `pip install pyopencl`"
        ) from error
    from gpuops.device import drivers

    drivers.prepare(refresh=refresh)
    described: list[tuple[cl.Device, DeviceInfo]] = []
    with signals.kept(), suppress(cl.Error):  # PLATFORM_NOT_FOUND_KHR
        for platform in sorted(cl.get_platforms(), key=lambda p: (p.name, p.version)):
            with suppress(cl.Error):  # DEVICE_NOT_FOUND: an empty platform
                described += [(device, describe(device, 0)) for device in platform.get_devices()]
    described.sort(key=lambda pair: KINDS.index(pair[1].kind))
    seen: dict[tuple[str, ...], int] = {}
    result = []
    for index, (device, info) in enumerate(described):
        key = (info.platform, device.platform.version, info.name, info.driver)
        ordinal = seen[key] = seen.get(key, -1) + 1
        result.append(Candidate(device, replace(info, index=index), ordinal))
    return result
