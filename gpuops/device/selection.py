"""The flat list of devices, their order of preference, and the selection of one or several."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from gpuops.device import choice, drivers, loading, pocl, probe
from gpuops.device.info import KINDS, DeviceInfo, describe
from gpuops.errors import DeviceError, ParameterError
from gpuops.notes import note
from gpuops.process import ahead, signals

if TYPE_CHECKING:
    import pyopencl as cl

# The advice that messages give where no device works.
HOW_TO_GET_ONE = (
    "get one with `pip install 'clpix[cpu]'`, the distribution's package pocl-opencl-icd, "
    "or the GPU vendor's driver"
)
# The specification of every device of the best kind.
ALL = "all"
# The platforms of CPUs' drivers, the best first: most kernels are fastest with Intel's, also on AMD's processors.
RUNTIMES = ("Intel(R) OpenCL", pocl.NAME)


class Candidate:
    """A device with what is known of it, checked when asked."""

    def __init__(self, device: cl.Device, info: DeviceInfo, ordinal: int) -> None:
        self.device, self.info, self.ordinal = device, info, ordinal
        self.works: bool | None = None  # None until it is checked

    def check(self, *, refresh: bool = False, measured: bool = False) -> DeviceInfo:
        """Returns the device's properties with the verdict; with its gflops if it is to be `measured`."""
        version = self.device.platform.version.strip()
        verdict = probe.verdict(self.info, version, self.ordinal, refresh=refresh, measured=measured)
        self.works = verdict.usable
        return replace(self.info, **verdict._replace(gflops=verdict.gflops or None)._asdict())

    def numbered(self, index: int) -> Candidate:
        """Returns the same device with a number."""
        return Candidate(self.device, replace(self.info, index=index), self.ordinal)


def list_devices(*, refresh: bool = False) -> list[DeviceInfo]:
    """Every device, numbered, GPUs first, each checked and measured; `refresh` does so whatever the cache says."""
    return _checked(candidates(refresh=refresh), refresh=refresh, measured=True)


def select(spec: str | None = None) -> tuple[cl.Device, DeviceInfo]:
    """The device that `spec` names: "gpu", "cpu", a number of the list, or a part of its name or its
    platform's; the first one of several.

    None means the environment variable CLPIX_DEVICE, else the best one that works. Only devices that come
    into question are checked. Raises DeviceError with one line that says what there is.
    """
    candidate, info = _selected(spec)[0]
    return candidate.device, info


def select_all(spec: str | None = None) -> list[DeviceInfo]:
    """The devices that `spec` names as for :func:`select`, with commas between several; each works.

    "all" means every GPU that works. Where there is none, it means every accelerator, and then every CPU. Raises
    ParameterError for a list that names nothing between two commas, or a device twice.
    """
    return [info for _, info in _selected(spec)]


def names_several(spec: str | None) -> bool:
    """Says whether `spec` may name several devices, without looking for any."""
    return spec is not None and ("," in spec or spec.strip().lower() == ALL)


def _selected(spec: str | None) -> list[tuple[Candidate, DeviceInfo]]:
    """Returns the devices that a specification names, or that CLPIX_DEVICE does."""
    given = "" if spec is not None else "CLPIX_DEVICE: "
    spec = choice.words(spec)
    if alone := _alone(spec):
        return [(alone, alone.check())]
    devices = candidates()
    if not devices:
        raise DeviceError(f"no OpenCL device{_searched()}: {HOW_TO_GET_ONE}")
    if spec.lower() == ALL:
        return list(_preferred(devices, every=True))
    try:
        chosen = _of_list(devices, spec) if spec else [next(_preferred(devices))]
    except (DeviceError, ParameterError) as error:
        raise type(error)(f"{given if spec else ''}{error}") from None
    if len(chosen) == 1:
        choice.keep(spec, chosen[0][0], devices)
    return chosen


def _alone(spec: str) -> Candidate | None:
    """Returns the device that a specification meant the last time, of which alone the driver is loaded."""
    if not ahead.single:
        return None
    _import()
    drivers.prepare()
    recalled = choice.recalled(spec)
    if recalled is None:
        return None
    loading.end()
    with choice.alone(recalled):
        there = recalled.among(present())
    if there and there[0].check().usable:
        return there[0]
    choice.forget(spec)
    raise DeviceError(f"{recalled.name} is not as it was for the last command: run this one again")


def _of_list(devices: Sequence[Candidate], spec: str) -> list[tuple[Candidate, DeviceInfo]]:
    """Returns the best usable device for each name in a list."""
    chosen: list[tuple[Candidate, DeviceInfo]] = []
    for name in _names(devices, spec):
        candidate, info = _best(matching(devices, name), f"no usable device for {name!r}")
        if any(info.index == other.index for _, other in chosen):
            raise ParameterError(
                f"{spec!r} names device {info.index} ({info.name}) twice: leave out one, or give the numbers that "
                "`clpix devices` lists"
            )
        chosen.append((candidate, info))
    return chosen


def _names(devices: Sequence[Candidate], spec: str) -> Iterator[str]:
    """The names in a list. Commas part them, but not within the name of a device that is there."""
    parts = spec.split(",")
    if {part.strip().lower() for part in parts} & {"", ALL}:
        raise ParameterError(f"{spec!r} is no list of devices: write one such as 0,1, or '{ALL}' alone")
    while parts:
        lengths = range(len(parts), 1, -1)
        count = next((n for n in lengths if _named(devices, ",".join(parts[:n]).strip().lower())), 1)
        yield ",".join(parts[:count]).strip()
        del parts[:count]


def _preferred(
    devices: Sequence[Candidate], *, every: bool = False
) -> Iterator[tuple[Candidate, DeviceInfo]]:
    """Gives every device that works of the best kind that has one, the best first."""
    skipped: list[DeviceInfo] = []
    for kind in KINDS:
        works = False
        of_kind = [candidate for candidate in devices if candidate.info.kind == kind]
        for candidate, info in _ranked(of_kind, every=every):
            if info.usable:
                works = True
                yield candidate, info
                continue
            skipped.append(info)
            if kind == "gpu":
                note(f"GPU {info.index} ({info.name}) passed over: {info.reason}")
        if works:
            return
    raise DeviceError(f"no usable OpenCL device ({_reasons(skipped)}): {HOW_TO_GET_ONE}")


def _best(devices: Sequence[Candidate], complaint: str) -> tuple[Candidate, DeviceInfo]:
    """Returns the best usable one of the named devices."""
    checked: list[DeviceInfo] = []
    for kind in KINDS:
        for candidate, info in _ranked([candidate for candidate in devices if candidate.info.kind == kind]):
            if info.usable:
                return candidate, info
            checked.append(info)
    raise DeviceError(f"{complaint}: {_reasons(checked)}")


def _ranked(devices: Sequence[Candidate], *, every: bool = False) -> Iterator[tuple[Candidate, DeviceInfo]]:
    """Gives devices of one kind with their verdicts, those that work from the best to the worst.

    All are checked and measured first if their speeds may differ: not CPUs' drivers, which share one processor, and not
    GPUs that are alike. Otherwise each is checked when it is asked for; with `every`, all are at once.
    """
    alike = len({(candidate.info.platform, candidate.info.name) for candidate in devices}) < 2
    measured = not alike and any(candidate.info.kind != "cpu" for candidate in devices)
    if measured or every:
        checked = zip(_checked(devices, measured=measured), devices, strict=True)
        for info, candidate in sorted(checked, key=lambda pair: (pair[0].usable, _order(pair[0]))):
            yield candidate, info
    else:
        for candidate in sorted(devices, key=lambda candidate: _order(candidate.info)):
            yield candidate, candidate.check()


def _checked(devices: Sequence[Candidate], **how: bool) -> list[DeviceInfo]:
    """Checks devices at once; CPUs one after the other, as they are one and the same processor."""
    from concurrent.futures import ThreadPoolExecutor

    others = [candidate for candidate in devices if candidate.info.kind != "cpu"]
    with ThreadPoolExecutor(max(1, len(others))) as threads:
        running = {candidate.info: threads.submit(candidate.check, **how) for candidate in others}
    return [
        running[candidate.info].result() if candidate.info in running else candidate.check(**how)
        for candidate in devices
    ]


def _searched() -> str:
    """Returns where drivers were looked for, if that was the user's choice."""
    chosen = os.environ.get("OCL_ICD_VENDORS")
    return f" (OCL_ICD_VENDORS is {chosen})" if chosen else ""


def _reasons(infos: Iterable[DeviceInfo]) -> str:
    return "; ".join(f"{info.index} {info.name}: {info.reason}" for info in infos)


def rank(infos: Iterable[DeviceInfo]) -> list[DeviceInfo]:
    """Ranks by kind, then CPUs by their drivers, others by compute to two digits (noise does not reorder equal GPUs).

    Devices that are equal in this come in the order of their numbers.
    """
    return sorted(infos, key=_order)


def _order(info: DeviceInfo) -> tuple[float, ...]:
    known = info.platform in RUNTIMES
    runtime = RUNTIMES.index(info.platform) if known else len(RUNTIMES)
    speed = runtime if info.kind == "cpu" else -float(f"{info.gflops or 0:.1e}")
    return (KINDS.index(info.kind), speed, info.index)


def matching(devices: Sequence[Candidate], spec: str) -> list[Candidate]:
    """The candidates that a specification means, at least one."""
    word = spec.lower()
    if word in KINDS:
        chosen = [candidate for candidate in devices if candidate.info.kind == word]
    elif word.isdecimal():
        chosen = [candidate for candidate in devices if candidate.info.index == int(word)]
    else:
        chosen = _named(devices, word)
    if not chosen:
        there = ", ".join(f"{c.info.index} {c.info.name} [{c.info.platform}, {c.info.kind}]" for c in devices)
        raise DeviceError(f"no device {spec!r}; there is: {there}")
    return chosen


def _named(devices: Sequence[Candidate], word: str) -> list[Candidate]:
    """The candidates with a word in their or their platform's name, or else in their version, as PoCL's name is."""
    chosen = [c for c in devices if word in c.info.name.lower() or word in c.info.platform.lower()]
    return chosen or [c for c in devices if word in c.info.version.lower()]


def candidates(*, refresh: bool = False) -> list[Candidate]:
    """Every device of every platform, in an order that does not depend on the loader's."""
    _import()
    drivers.prepare(refresh=refresh)
    return present()


def _import() -> None:
    try:
        import pyopencl  # noqa: F401
    except ImportError as error:
        raise DeviceError(
            f"pyopencl cannot be imported ({error}): reinstall it with `pip install pyopencl`"
        ) from error


def present() -> list[Candidate]:
    """Every device of every platform that is there, as :func:`candidates` has them; it makes no drivers visible."""
    import pyopencl as cl

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
