"""The process of a server: it imports what commands need, maps the drivers, and serves until it is stopped."""

from __future__ import annotations

import json
import os
import pkgutil
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any, NoReturn

import click

from gpuops.errors import DeviceError, GpuopsError
from gpuops.process import requests, service, surroundings, zygote

from . import address
from .commands import leaves
from .entry import ENVIRONMENT

assert sys.platform == "linux"

# Modules that are only imported by commands that need them: they are large, or start something.
_LEFT_OUT = (
    "clpix.__main__", "clpix.pytest_plugin", "gpuops.batch.cluster", "gpuops.batch.tasks", "gpuops.bench",
    "gpuops.device.canary", "gpuops.files.imageio_plugin", "gpuops.regress",
)  # fmt: skip
# Modules of others that commands import when they need them.
_OTHERS = (
    "PIL.BmpImagePlugin", "PIL.GifImagePlugin", "PIL.JpegImagePlugin", "PIL.PngImagePlugin", "PIL.PpmImagePlugin",
    "click._textwrap", "imagecodecs._png", "imagecodecs.imagecodecs", "isal.isal_zlib", "numpy.ma", "platformdirs.unix",
    "pyopencl.characterize", "pyopencl.invoker", "pytools.py_codegen", "simplejpeg", "tifffile",
)  # fmt: skip
# Commands that compute on the device only with --stats, or not at all.
_WITHOUT_DEVICE = ("devices", "help", "info")


def main(given: dict[str, Any]) -> None:
    """Serves as it is given: ``socket``, ``jobs``, ``ready``, ``idle``, and ``report``, which says how that began."""
    report = os.fdopen(given["report"], "w")
    try:
        served, listener = _begun(given)
    except (GpuopsError, OSError) as error:
        report.write(json.dumps({"error": str(error)}))
        report.close()
        sys.exit(1)
    server = zygote.Zygote(listener, given["socket"], served)
    service.log(f"process {os.getpid()} serves at {given['socket']}")
    report.write(json.dumps({"pid": os.getpid()}))
    report.close()
    server.serve()
    os._exit(0)


def _begun(given: dict[str, Any]) -> tuple[service.Service, socket.socket]:
    surroundings.fresh_signals()
    environment = ENVIRONMENT
    watched = _watched(environment)
    os.chdir("/")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as cli.main does
    _import()
    added = {name: value for name, value in os.environb.items() if environment.get(name) != value}
    paths = _paths()
    seen = [_state(path) for path in paths]
    keyed = address.keyed(environment)

    def refusal(request: requests.Request) -> str | None:
        theirs = address.keyed(request.environment)
        if theirs == keyed:
            return None
        names = sorted({entry.partition(b"=")[0].decode(errors="replace") for entry in {*theirs} ^ {*keyed}})
        return f"its environment differs in {', '.join(names)}"

    served = service.Service(
        run=_run,
        orphaned=_orphaned,
        refusal=refusal,
        computes=_computes,
        open_ahead=_open_ahead,
        is_current=lambda: [_state(path) for path in paths] == seen,
        added=added,
        jobs=given["jobs"],
        ready=given["ready"],
        idle=given["idle"],
        watched=watched,
    )
    return served, _listener(given["socket"])


def _watched(environment: dict[bytes, bytes]) -> int | None:
    """Returns a pidfd of the process that CLPIX_SERVER_PARENT names."""
    text = environment.get(b"CLPIX_SERVER_PARENT", b"")
    if not text:
        return None
    try:
        return os.pidfd_open(int(text))
    except (ValueError, OSError):
        raise DeviceError(
            f"CLPIX_SERVER_PARENT is {text.decode(errors='replace')!r}: no such process runs"
        ) from None


def _import() -> None:
    """Imports what commands may need, and maps the drivers. There is one thread afterwards, or a DeviceError."""
    import clkernels
    from gpuops.device import cache, choice, drivers, probe
    from gpuops.files import formats, oiio, threads
    from gpuops.process import ahead

    if next(cache.folders(), None) is None:
        raise DeviceError("no folder for the cache can be written: name one with CLPIX_CACHE_DIR")
    threads.allow(1)  # otherwise OpenImageIO starts threads, which children would lack
    for package in ("gpuops", "clpix"):
        for module in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
            if not module.name.startswith(_LEFT_OUT):
                _import_if_there(module.name)
    for name in _OTHERS:
        _import_if_there(name)
    from .main import cli

    # What is made once in a process, and is the same in all.
    leaves(cli, click.Context(cli))
    tuple(formats.every())
    clkernels.path("canary")
    probe.program()
    oiio.library()
    drivers.prepare(say=False)
    ahead.single = True  # as is each child
    recalled = choice.recalled(choice.words(None))
    for driver in drivers.prepared():
        if recalled is None or driver.name == recalled.icd:
            ahead.load(driver.library)
    if (count := len(os.listdir("/proc/self/task"))) != 1:
        raise DeviceError(
            f"a library that has been loaded has started threads ({count - 1}): no server can run"
        )


def _import_if_there(name: str) -> None:
    """Imports a module, unless a package of others is missing that it needs."""
    try:
        import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith(("clpix", "gpuops", "clkernels")):
            raise


def _paths() -> list[str]:
    """The files and folders that an upgrade changes; of a program that runs where it is written, all its files."""
    folders = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    ours = [module.__file__ for name, module in sys.modules.items() if name.startswith(("clpix", "gpuops"))]
    files = [path for path in ours if path]
    installed = os.path.dirname(os.path.dirname(__file__)) in folders
    return [sys.executable, *folders, *(files[:1] if installed else files)]


def _state(path: str) -> tuple[int, int, int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size


def _listener(path: str) -> socket.socket:
    """Returns a socket that listens at a path, in place of one that nobody listens at any more."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    draft = f"{path}.{os.getpid()}"[:107]
    with suppress(FileNotFoundError):
        os.unlink(draft)
    listener.bind(draft)
    listener.listen(128)
    listener.setblocking(False)
    os.rename(draft, path)
    return listener


# In children -------------------------------------------------------------------------------------------------


def _run(tell: Callable[[int], None]) -> NoReturn:
    from gpuops.files import threads

    from . import exits
    from .main import run

    threads.allow(os.cpu_count() or 1)
    exits.leave_child(run(), tell)


def _orphaned() -> NoReturn:
    from . import exits

    exits.end_silently()


def _computes(arguments: list[bytes]) -> bool:
    """Says whether a command computes on the device that is used by default."""
    words = [os.fsdecode(word) for word in arguments]
    command = next((word for word in words if not word.startswith("-")), "")
    elsewhere = any(word.partition("=")[0] in ("--device", "--help", "-h", "--explain") for word in words)
    return bool(command) and command not in _WITHOUT_DEVICE and not elsewhere


def _open_ahead() -> None:
    """Opens the usual device, so that its driver is at work and its context waits for the command."""
    from gpuops import Gpu
    from gpuops.device import contexts

    with Gpu() as gpu:
        gpu.array([0.0]).numpy()
        contexts.keep(gpu.context)
