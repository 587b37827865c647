"""This module makes OpenCL drivers visible to the loader, and keeps drivers out that crash when they are listed.

The loader (ocl-icd) reads a folder of .icd files, each naming a driver's library. It misses Intel's CPU
runtime installed by pip, whose .icd files name a path that does not exist; conda's folder; and NVIDIA's
driver in containers, which often has no .icd file. What is missing is put, together with copies of the
others, into a folder in the cache, named by its content, and OCL_ICD_VENDORS is set to it.

OCL_ICD_VENDORS set by the user: a folder is used, with pip's runtime added; anything else (a single .icd
file, a library, or nothing that exists) is left as it is.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from gpuops import notes
from gpuops.device import cache, pocl, probe
from gpuops.errors import DeviceError, byte_count
from gpuops.files.drafts import draft_folder
from gpuops.process import memory

# The folder where the system's drivers register.
SYSTEM_FOLDER = "/etc/OpenCL/vendors"
# How the names of our folders begin.
_PREFIX = "vendors-"
# Bytes of address space that a small command takes, with drivers of CPUs and their compilers.
_ADDRESSES = 1_500_000_000
# The library of NVIDIA's driver.
_NVIDIA = "libnvidia-opencl.so.1"
# The folders where NVIDIA's library may be.
_LIBRARY_FOLDERS = (
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/nvidia/lib64",
    "/usr/lib/wsl/lib",
)


class Driver(NamedTuple):
    """An .icd file: its name, and the library it names."""

    name: str
    library: str


def register_bundled_runtimes() -> None:
    """Makes every working driver visible. Call it before the first platform query; a second call does nothing."""
    prepare()


# Whether the environment has been prepared.
_prepared = False
# The thread that changes the environment holds it.
_preparing = Lock()
# The drivers that the loader is going to load, as far as that is known.
_known: list[Driver] = []
# The names and versions of the platforms that each of them has, by its name, as far as that is known.
_platforms: dict[str, list[list[str]]] = {}
# Notes on what has been prepared.
_unsaid: list[str] = []


def prepare(*, refresh: bool = False, say: bool = True) -> None:
    """Does the work of register_bundled_runtimes; `refresh` tries the drivers that crashed again.

    Without `say` its notes wait for the next call.
    """
    global _prepared
    with _preparing:
        if refresh or not _prepared:
            with notes.to(_unsaid.append):
                _prepare(refresh=refresh)
            _prepared = True
        texts = [_unsaid.pop(0) for _ in range(len(_unsaid))] if say else []
    for text in texts:
        notes.note(text)


def prepared() -> list[Driver]:
    """The drivers that the loader is going to load, as far as that is known."""
    return list(_known)


def platforms() -> dict[str, list[list[str]]]:
    """The names and versions of the platforms that each driver has, by its name, as far as that is known."""
    return dict(_platforms)


def _prepare(*, refresh: bool) -> None:
    limit = memory.limit()
    if limit is not None and limit < _ADDRESSES:
        raise DeviceError(
            f"`ulimit -v` allows {byte_count(limit)} of addresses, and OpenCL's drivers may crash with less than "
            f"{byte_count(_ADDRESSES)}: allow more"
        )
    pocl.tune()
    user = os.environ.get("OCL_ICD_VENDORS", "")
    if os.path.basename(user.rstrip("/")).startswith(_PREFIX) and os.path.isdir(user):
        _known[:] = read_folder(user)  # inherited from a process that did all this
    elif user and not os.path.isdir(user):
        _known[:] = read_file(user)
        _tune_intel(" ".join((user, *(driver.library for driver in _known))))
    else:
        _choose(user, refresh=refresh)


def _choose(user: str, *, refresh: bool) -> None:
    present = read_folder(user or os.environ.get("OPENCL_VENDOR_PATH") or SYSTEM_FOLDER)
    drivers = present + missing(present, explicit=bool(user))
    _tune_intel(" ".join(driver.library for driver in drivers))
    try:
        refused = refused_drivers(drivers, refresh=refresh)
        wanted = [driver for driver in drivers if driver.name not in refused]
        if wanted != present:
            os.environ["OCL_ICD_VENDORS"] = str(materialise(wanted))
        _known[:] = wanted
    except OSError:
        notes.note("OpenCL drivers cannot be registered, as no folder has room: set TMPDIR to one that has")
        return
    for name, reason in refused.items():
        notes.note(f"OpenCL driver {name} passed over: it {reason}")


def read_folder(path: str) -> list[Driver]:
    """The drivers registered in a folder, each library once."""
    drivers: dict[str, Driver] = {}
    with contextlib.suppress(OSError):
        for name in sorted(os.listdir(path)):
            for driver in read_file(os.path.join(path, name)):
                drivers.setdefault(driver.library, driver)
    return list(drivers.values())


def read_file(path: str) -> list[Driver]:
    """The driver that an .icd file names; none if the file is something else, or cannot be read."""
    if path.endswith(".icd"):
        with contextlib.suppress(OSError, UnicodeDecodeError):
            return [Driver(os.path.basename(path), Path(path).read_text().partition("\n")[0].strip())]
    return []


def missing(present: list[Driver], *, explicit: bool) -> list[Driver]:
    """Drivers that the loader would not find; only pip's where the user chose the folder."""
    extra = []
    if not explicit:
        if conda := os.environ.get("CONDA_PREFIX"):
            extra += read_folder(f"{conda}/etc/OpenCL/vendors")
        if any(os.path.exists(f"{folder}/{_NVIDIA}") for folder in _LIBRARY_FOLDERS):
            extra.append(Driver("nvidia.icd", _NVIDIA))
    if intel := intel_library():
        extra.append(Driver("intel-pip.icd", intel))
    known = {os.path.basename(driver.library) for driver in present if loadable(driver)}
    names = {driver.name for driver in present}
    chosen = []
    for driver in extra:
        if loadable(driver) and os.path.basename(driver.library) not in known:
            known.add(os.path.basename(driver.library))
            name = f"extra-{driver.name}" if driver.name in names else driver.name
            chosen.append(Driver(name, driver.library))
    return chosen


def loadable(driver: Driver) -> bool:
    """Says whether the library can exist: the dynamic linker finds names without a folder."""
    return "/" not in driver.library or os.path.exists(driver.library)


def intel_library() -> str | None:
    """Intel's CPU runtime, where pip put it: in a virtual environment, for a user, under a prefix."""
    usual = f"{sys.prefix}/lib/libintelocl.so"
    if os.path.exists(usual):
        return os.path.realpath(os.path.dirname(usual)) + "/libintelocl.so"
    from importlib import metadata

    try:
        files = metadata.files("intel-opencl-rt") or ()
    except metadata.PackageNotFoundError:
        return None
    for path in (Path(str(file.locate())) for file in files if file.name == "libintelocl.so"):
        if path.exists():
            return os.path.realpath(path.parent) + "/libintelocl.so"
    return None  # pip install --target drops libraries


def _tune_intel(libraries: str) -> None:
    """Tells Intel's runtime what an AMD CPU can do; otherwise some versions build far slower code."""
    read = cache.processor()
    flags = set(read.get("flags", "").split())
    if "intelocl" in libraries and read.get("vendor_id") == "AuthenticAMD" and "avx2" in flags:
        wide = flags >= {"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"}
        os.environ.setdefault("CL_CONFIG_CPU_TARGET_ARCH", "skx" if wide else "core-avx2")


def refused_drivers(drivers: list[Driver], *, refresh: bool) -> dict[str, str]:
    """Returns the drivers that crash the process when platforms are listed, by name, with what they do."""
    key = {"drivers": [[*driver, changed(driver)] for driver in drivers], "program": probe.program()}
    cached = None if refresh else cache.load_value("drivers", key)
    if cached:
        _platforms.update(cached.get("platforms", {}))
        return {str(name): str(reason) for name, reason in cached["refused"].items()}
    refused = {}
    listed = _listed(drivers)
    if not listed.get("usable"):
        for driver in drivers:
            alone = _listed([driver])
            if not alone.get("usable"):
                refused[driver.name] = str(alone["reason"])
        rest = [driver for driver in drivers if driver.name not in refused]
        listed = _listed(rest)
        if not listed.get("usable"):
            raise DeviceError(f"the OpenCL drivers cannot be listed: together they {listed['reason']}")
    _platforms.update(_by_driver(drivers, listed.get("platforms", ())))
    cache.save_value("drivers", key, {"refused": refused, "platforms": _platforms}, bad=bool(refused))
    return refused


def changed(driver: Driver) -> int:
    """Returns the time at which a driver's library was changed; 0 if it is not where libraries usually are."""
    folders = ("",) if "/" in driver.library else _LIBRARY_FOLDERS
    for folder in folders:
        with contextlib.suppress(OSError):
            return os.stat(os.path.join(folder, driver.library)).st_mtime_ns
    return 0


def _listed(drivers: list[Driver]) -> dict[str, Any]:
    return probe.run_canary(["list"], {"OCL_ICD_VENDORS": str(materialise(drivers))})


def _by_driver(drivers: list[Driver], listed: Iterable[Sequence[str]]) -> dict[str, list[list[str]]]:
    """Returns names and versions of platforms by the names of drivers, from those with libraries."""
    names = {os.path.basename(driver.library): driver.name for driver in drivers}
    platforms: dict[str, list[list[str]]] = {}
    for platform, version, library in listed:
        if name := names.get(os.path.basename(library)):
            platforms.setdefault(name, []).append([platform, version])
    return platforms


def materialise(drivers: list[Driver]) -> Path:
    """A folder with exactly these drivers; complete once it has its name, and never changed afterwards."""
    for base in cache.folders():
        with contextlib.suppress(OSError):  # a quota
            return _materialise(drivers, base)
    return _materialise(drivers, cache.cache_folder())


def _materialise(drivers: list[Driver], base: Path) -> Path:
    folder = base / (_PREFIX + cache.digest(drivers))
    if read_folder(str(folder)) == sorted(drivers):
        return folder
    with draft_folder(base) as name:
        draft = Path(name)
        for driver in drivers:
            (draft / driver.name).write_text(driver.library + "\n")
        try:
            os.rename(draft, folder)
        except OSError:  # another process was first, or what is there is damaged
            for driver in drivers:
                cache.put(draft / driver.name, folder / driver.name)
    return folder
