"""Programs: OpenCL C built for a device and kept as long as it is of use, and the kernels in it."""

from __future__ import annotations

import hashlib
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from pathlib import Path
from threading import Lock, RLock
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary, proxy

import numpy as np
import pyopencl as cl

import clkernels

from .device import cache, pocl
from .errors import DeviceError, FileError
from .process import standard_error

if TYPE_CHECKING:
    from .gpu import Gpu

#: The most kernels that stay built while nobody uses them: those for any size, and those for one size.
MOST_LASTING, MOST_ONCE = 256, 16


@dataclass(frozen=True)
class GeneratedSource:
    """Generated OpenCL C: ``name`` is for messages, ``text`` is the code; ``once``: it suits one size only; ``long``:
    compilers take long for it."""

    name: str
    text: str
    once: bool = False
    long: bool = False


Sources = str | GeneratedSource | tuple[str | GeneratedSource, ...]
Define = bool | int | float | str | None
_Key = tuple[Sources, str, str]  # sources, the kernel's name, options


@dataclass(frozen=True)
class Program:
    """A program's source and build options, its label, and what :class:`GeneratedSource` says of its parts."""

    text: str
    options: str
    label: str = field(compare=False)
    once: bool = field(compare=False)
    long: bool = field(compare=False)

    @classmethod
    def of(cls, source: Sources, options: str) -> Program:
        """The program of joined sources."""
        given = source if isinstance(source, tuple) else (source,)
        parts = [
            GeneratedSource(part, clkernels.text(part)) if isinstance(part, str) else part for part in given
        ]
        text = clkernels.joined((part.name, part.text) for part in parts)
        label = "+".join(part.name for part in parts)
        return cls(text, options, label, any(part.once for part in parts), any(part.long for part in parts))


class Kernel:
    """A built kernel. ``work_group`` is the largest group that this kernel can run in on this device; ``once`` is as in
    :class:`GeneratedSource`."""

    def __init__(self, gpu: Gpu, program: cl.Program, name: str, once: bool = False) -> None:
        self.gpu = gpu
        self.name = name
        self.once = once
        self._program = program
        with gpu.lock:
            self.shared = cl.Kernel(program, name)  # arguments of one-shot launches; steps have their own
        info = cl.kernel_work_group_info
        device = gpu.device
        self.work_group: int = int(self.shared.get_work_group_info(info.WORK_GROUP_SIZE, device))
        self.local_bytes: int = int(self.shared.get_work_group_info(info.LOCAL_MEM_SIZE, device))
        self.multiple: int = int(
            self.shared.get_work_group_info(info.PREFERRED_WORK_GROUP_SIZE_MULTIPLE, device)
        )

    def clone(self) -> cl.Kernel:
        """A kernel object of its own for arguments that are set once."""
        return cl.Kernel(self._program, self.name)

    def fit(self, *local: int) -> tuple[int, ...]:
        """``local`` with its largest dimension halved until device and kernel can run it."""
        shape = list(local)
        limits = self.gpu.limits
        for axis, most in enumerate(limits.work_item_sizes[: len(shape)]):
            while shape[axis] > most:
                shape[axis] = (shape[axis] + 1) // 2
        while prod(shape) > min(self.work_group, limits.work_group):
            widest = shape.index(max(shape))
            shape[widest] = (shape[widest] + 1) // 2
        return tuple(shape)

    def runs(self, items: int) -> bool:
        """Whether a group of so many work-items can run, and the kernel's own local memory is there."""
        return self.fit(items) == (items,) and self.local_bytes <= self.gpu.limits.local_bytes


def in_largest_group(
    build: Callable[[int], Kernel | None], items: int, least: int = 1
) -> tuple[Kernel, int] | None:
    """The kernel for the largest group that can run, and its work-items: ``items``, half of them and so on.

    ``build`` makes the kernel for so many, or None where something else forbids them. None if not even ``least`` can
    run.
    """
    while items >= least:
        kernel = build(items)
        if kernel is not None and kernel.runs(items):
            return kernel, items
        items //= 2
    return None


class Programs:
    """The kernels of a device, built when they are asked for; any thread may ask.

    A program lives as long as one of its kernels. A kernel lives as long as a plan's step or this object refers to it.
    This object keeps the most recently used kernels, and fewer of those for one size: see :data:`MOST_LASTING`.
    It refers to the Gpu weakly, and so do kernels: the Gpu refers to them.
    """

    #: Whether PoCL is asked for binaries: later processes begin sooner, and this one builds three times as long.
    asks_pocl = True

    def __init__(self, gpu: Gpu) -> None:
        self.gpu: Gpu = proxy(gpu)
        self._programs: WeakValueDictionary[Program, cl.Program] = WeakValueDictionary()
        self._kernels: WeakValueDictionary[_Key, Kernel] = WeakValueDictionary()
        # Keyed by whether kernels suit one size only; the least recently used come first.
        self._recent: dict[bool, OrderedDict[Kernel, None]] = {False: OrderedDict(), True: OrderedDict()}
        self._changing = RLock()  # held while these change
        self._building = RLock()  # held while programs are built: none is built twice

    def __len__(self) -> int:
        """The number of programs that are kept."""
        return len(self._programs)

    def clear(self) -> None:
        """Drops the kernels that nobody else refers to, and their programs."""
        with self._changing:
            gone = [kernel for recent in self._recent.values() for kernel in recent]
            for recent in self._recent.values():
                recent.clear()
        del gone  # without the lock, as drivers take their time

    def kernels(self, requests: Sequence[tuple[Sources, str, Mapping[str, Define]]]) -> list[Kernel]:
        """Returns kernels by sources, name and defines, as :meth:`gpuops.gpu.Gpu.kernels`."""
        # The keys name the sources: a text of many kilobytes is not to be put together for each launch.
        keys = [(source, name, _options(defines)) for source, name, defines in requests]
        known = self._known(keys)
        if len(kernels := [kernel for kernel in known if kernel]) == len(keys):
            return kernels
        with self._building:
            known = self._known(keys)
            made = self._made([key for key, kernel in zip(keys, known, strict=True) if not kernel])
        return [kernel or made[key] for key, kernel in zip(keys, known, strict=True)]

    def _known(self, keys: Sequence[_Key]) -> list[Kernel | None]:
        """Returns the kernels; None for those that are not built yet."""
        with self._changing:
            kernels = [self._kernels.get(key) for key in keys]  # a key's hash takes longer than all the rest
            for kernel in kernels:
                if kernel:
                    self._used(kernel)
            return kernels

    def _used(self, kernel: Kernel) -> None:
        """Notes that the kernel was used just now, so that all others are dropped before it."""
        recent = self._recent[kernel.once]
        recent[kernel] = None
        recent.move_to_end(kernel)
        if len(recent) > (MOST_ONCE if kernel.once else MOST_LASTING):
            recent.popitem(last=False)

    def _made(self, keys: Sequence[_Key]) -> dict[_Key, Kernel]:
        """Makes new kernels; their programs may be built already."""
        wanted = {key: Program.of(key[0], key[2]) for key in keys}
        there = {program: built for program in wanted.values() if (built := self._programs.get(program))}
        there |= self._built([program for program in dict.fromkeys(wanted.values()) if program not in there])
        made = {key: Kernel(self.gpu, there[of], key[1], of.once) for key, of in wanted.items()}
        with self._changing:
            self._programs.update(there)
            self._kernels.update(made)
            for kernel in made.values():
                self._used(kernel)
        return made

    def _built(self, missing: Sequence[Program]) -> dict[Program, cl.Program]:
        gpu = self.gpu
        if not missing:
            return {}
        with gpu.phase("build"), _quiet():
            if gpu.device.type & cl.device_type.CPU or len(missing) == 1:
                built = [self.build(program) for program in missing]
            else:
                with ThreadPoolExecutor(len(missing)) as pool:
                    built = list(pool.map(self.build, missing))
        if gpu.report is not None:
            for _, known in built:
                gpu.report.builds["hit" if known else "miss"] += 1
        return {program: result for program, (result, _) in zip(missing, built, strict=True)}

    def build(self, wanted: Program) -> tuple[cl.Program, bool]:
        """Returns the program, and whether its binary was in the cache."""
        gpu, label, text, options = self.gpu, wanted.label, wanted.text, wanted.options
        digest = hashlib.sha256("\0".join((text, options, self._identity)).encode()).hexdigest()
        if gpu.dump is not None:
            _write_source(gpu.dump / f"{label}-{digest[:8]}.cl", f"// options: {options}\n{text}")
        entry = f"kernels/{digest}"
        binary = cache.load_binary(entry)
        if binary is not None:
            with suppress(cl.Error):  # written by another version of the driver after all: build anew
                return cl.Program(gpu.context, [gpu.device], [binary]).build(options), True
        try:
            program = pocl.built(gpu.info.platform, lambda: cl.Program(gpu.context, text).build(options))
        except cl.RuntimeError as error:
            lack = pocl.lack(gpu.info.platform)
            raise DeviceError(lack or _build_failure(gpu.info.name, label, str(error))) from error
        # PoCL keeps its builds itself. To give a binary it builds twice more, for groups of any size: that is only for
        # short programs, which serve images of any size.
        if gpu.info.platform != pocl.NAME or (self.asks_pocl and not (wanted.once or wanted.long)):
            with suppress(cl.Error):  # a runtime that gives no binaries only builds again next time
                cache.save_binary(entry, program.get_info(cl.program_info.BINARIES)[0])
        return program, False

    @cached_property
    def _identity(self) -> str:
        """Everything that a built binary depends on besides its source."""
        info = self.gpu.info
        parts = info.platform, self.gpu.device.platform.version, info.name, info.driver, info.version
        machine = cache.processor_identity() if self.gpu.limits.is_cpu else ""
        return "\0".join((*parts, cl.VERSION_TEXT, machine))


class _WarningFilters:
    """Python's warning filters, which all threads share: the first thread that builds sets one, the last removes it."""

    lock = Lock()
    users = 0
    saved = warnings.catch_warnings()


@contextmanager
def _quiet() -> Iterator[None]:
    """Silences drivers, which print, and whose messages pyopencl makes warnings of; a failure is still raised."""
    with _WarningFilters.lock:
        if not _WarningFilters.users:
            _WarningFilters.saved = warnings.catch_warnings()
            _WarningFilters.saved.__enter__()
            warnings.simplefilter("ignore", cl.CompilerWarning)
        _WarningFilters.users += 1
    try:
        with standard_error.quiet():
            yield
    finally:
        with _WarningFilters.lock:
            _WarningFilters.users -= 1
            if not _WarningFilters.users:
                _WarningFilters.saved.__exit__(None, None, None)


def _options(defines: Mapping[str, Define]) -> str:
    wanted = (_define(k, v) for k, v in sorted(defines.items()) if not (v is None or v is False))
    return f"-w {' '.join(wanted)}"  # compilers' warnings do not help people who use the program


def _define(key: str, value: bool | int | float | str | None) -> str:
    if key == "DENORMS_ARE_ZERO":
        return "-cl-denorms-are-zero"
    if value is True:
        return f"-D {key}"
    if isinstance(value, float):
        return f"-D {key}={float(np.float32(value))!r}f"
    return f"-D {key}={value}"


def _write_source(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    except OSError as error:
        with suppress(OSError):
            path.unlink()
        raise FileError(f"{path}: could not be written ({error.strerror})") from None


def _build_failure(device: str, label: str, log: str) -> str:
    lines = [line.strip() for line in log.splitlines()]
    first = next((line for line in lines if "error" in line.lower()), lines[0] if lines else "no message")
    return f"{device} could not build {label}.cl ({first}): update its driver or choose another with --device"
