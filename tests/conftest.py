"""Fixtures shared by all tests. Everything is seeded; the device is the one clpix would choose (CLPIX_DEVICE)."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import cache as cached
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from gpuops import DeviceError, Gpu, programs
from gpuops.device import cache, drivers, pocl
from gpuops.programs import Programs

# A loaded machine, or a kernel that has to be built, makes no example wrong.
UNHURRIED = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
settings.register_profile("search", deadline=None, suppress_health_check=UNHURRIED)
# The same examples in each run: a change fails for what it does. `--hypothesis-profile=search` looks for new ones.
settings.register_profile("same", settings.get_profile("search"), derandomize=True)
settings.load_profile("same")


def beside(folder: Path) -> dict[str, str]:
    """The environment of a process that imports from a folder first, and else from where this one does."""
    paths = filter(None, (str(folder), os.environ.get("PYTHONPATH")))
    return os.environ | {"PYTHONPATH": os.pathsep.join(paths)}


def run_python(*arguments: object, **options: Any) -> subprocess.CompletedProcess[Any]:
    """Runs Python in a process of its own; options are those of subprocess.run.

    What it writes is kept: as text, or as bytes where it is given bytes.
    """
    text = options.keys().isdisjoint(("input", "stdin"))
    usual = {"capture_output": True, "text": text, "timeout": 1800}
    return subprocess.run([sys.executable, *map(str, arguments)], **usual | options)


class ServedSuite:
    """A server that runs the commands of all tests, if CLPIX_TEST_SERVER is set; and whether it can run a test's."""

    def __init__(self) -> None:
        self.environment: list[bytes] | None = None

    def start(self) -> None:
        """Starts it, for the environment that this process is going to have from now on."""
        import pyopencl  # noqa: F401
        from clpix import address

        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        drivers.prepare(say=False)
        self.folder = tempfile.TemporaryDirectory(prefix="clpix-", ignore_cleanup_errors=True)
        os.environ["XDG_RUNTIME_DIR"] = self.folder.name
        os.environ["CLPIX_SERVER_PARENT"] = str(os.getpid())  # with which it ends
        os.environ.pop("CLPIX_SERVER", None)
        run_python("-m", "clpix", "server", "start", "--idle", "1h", check=True)
        os.environ["CLPIX_SERVER"] = "require"
        self.environment = address.keyed(dict(os.environb))

    def is_used(self, request: pytest.FixtureRequest) -> bool:
        """Says whether the server runs a test's command: nothing of this process is patched, and it would accept it."""
        from clpix import address

        if self.environment is None or self.environment != address.keyed(dict(os.environb)):
            return False
        patch = request.getfixturevalue("monkeypatch") if "monkeypatch" in request.fixturenames else None
        return patch is None or not (
            patch._setattr or any(target is not os.environ for target, _, _ in patch._setitem)
        )

    def stop(self) -> None:
        if self.environment is not None:
            print(run_python("-m", "clpix", "server", "status").stdout, file=sys.__stderr__)
            run_python("-m", "clpix", "server", "stop")
            self.folder.cleanup()


suite = ServedSuite()


def pytest_unconfigure() -> None:
    """Stops the server, if there is one."""
    suite.stop()


def pytest_configure(config: pytest.Config) -> None:
    """Failures show few values of arrays, kernels are built for this process alone, and ignored signals are restored.

    A job in the background ignores signals, and programs would inherit that. With CLPIX_TEST_SERVER a server is started
    that runs all commands which could be run without it.
    """
    is_controller = hasattr(config, "workerinput") is False and getattr(config.option, "numprocesses", None)
    if os.environ.get("CLPIX_TEST_SERVER") and not is_controller:
        suite.start()
    Programs.asks_pocl = False
    np.set_printoptions(threshold=30, edgeitems=2)
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


# The tests of kernels themselves; those that take longest, which come first; the options that programs are built with.
KERNELS = ("test_kernels", "test_fft_everywhere")
LONG = (
    *KERNELS,
    "test_streaming",
    "test_memory_limits",
    "test_fft",
    "test_dwt_ways",
    "test_dwt",
    "test_cluster",
)
OPTIONS = programs._options


def pytest_runtest_setup(item: pytest.Item) -> None:
    """PoCL builds kernels in half the time if it does not optimise them: only tests of kernels themselves wait."""
    quick = item.path.stem not in KERNELS and is_pocl()
    programs._options = (lambda defines: f"{OPTIONS(defines)} -cl-opt-disable") if quick else OPTIONS


@cached
def is_pocl() -> bool:
    """Whether the device under test is PoCL's."""
    with suppress(DeviceError), Gpu() as gpu:
        return gpu.info.platform == pocl.NAME
    return False


def in_blocks(patch: pytest.MonkeyPatch, nbytes: int = 1 << 12, per_halo: float | None = None) -> None:
    """Has every picture go by rows, in blocks of so many bytes, or of so much of what a pixel depends on."""
    patch.setattr("gpuops.batch.memory.is_too_large", lambda *_: True)
    patch.setattr("gpuops.rows.blocks.ENOUGH", nbytes)
    patch.setattr("gpuops.rows.blocks.MOST", nbytes)
    if per_halo is not None:
        patch.setattr("gpuops.rows.blocks._PER_HALO", per_halo)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks as exhaustive the cases that a test has beyond those of its mark ``cases``; leaves out those of others.

    Devices share a test's cases: CLPIX_SHARE_OF_CASES is k/n for the one of number k among n of them.

    Without that mark, a test that computes on the device has the first and the last one, since each builds kernels;
    but not tests of what is refused, by their names.
    """
    items.sort(key=lambda item: LONG.index(item.path.stem) if item.path.stem in LONG else len(LONG))
    tests: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        tests[item.nodeid.partition("[")[0]].append(item)
    share, of = map(int, os.environ.get("CLPIX_SHARE_OF_CASES", "0/1").split("/"))
    for number, cases in enumerate(tests.values()):
        if len(cases) >= of:
            left_out = {id(case) for k, case in enumerate(cases) if (k + number) % of != share}
            items[:] = [item for item in items if id(item) not in left_out]
    for cases in tests.values():
        cases = [case for case in cases if case.get_closest_marker("exhaustive") is None]
        if not cases:
            continue
        most = cases[0].get_closest_marker("cases")
        computes = not {"gpu", "opened", "planned"}.isdisjoint(cases[0].fixturenames)
        computes &= not re.search("bad_|refused|wrong_", cases[0].name)
        for item in cases[most.args[0] :] if most else cases[1:-1] if computes else ():
            item.add_marker("exhaustive")


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    """An empty folder that is the current one, out of CI."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    return tmp_path


@pytest.fixture(scope="session")
def gpu() -> Iterator[Gpu]:
    """The device under test."""
    with Gpu() as gpu:
        yield gpu


@pytest.fixture(params=["cpu", "gpu"])
def planned(request: pytest.FixtureRequest, gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> Gpu:
    """The device under test, planned for as a CPU and as a GPU."""
    claims = {} if request.param == "cpu" else {"is_cpu": False, "lanes": 1}
    monkeypatch.setitem(vars(gpu), "limits", replace(gpu.limits, **claims))
    return gpu


@pytest.fixture
def opened() -> Iterator[Callable[..., Gpu]]:
    """Opens the device under test anew, as ``Gpu(…)``, until the test's end."""
    with ExitStack() as stack:
        yield lambda **options: stack.enter_context(Gpu(**options))


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers, the same in every run."""
    return np.random.default_rng(20240229)


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache folder of its own, empty, for this test's process and its children."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("CLPIX_CACHE_DIR", str(folder))
    monkeypatch.setattr(Programs, "asks_pocl", True)
    cache.cache_folder.cache_clear()
    yield folder
    cache.cache_folder.cache_clear()


@dataclass(frozen=True)
class Run:
    """The result of a run of the program."""

    code: int
    out: str
    err: str


@pytest.fixture
def clpix(capfd: pytest.CaptureFixture[str], request: pytest.FixtureRequest) -> Callable[..., Run]:
    """Runs the program in this process: ``clpix("blur", path, "-o", out)``.

    Under CLPIX_TEST_SERVER a server runs it instead, unless the test has changed something in this process.
    """
    from clpix.main import main

    def run(*args: object) -> Run:
        if suite.is_used(request):
            done = run_python("-m", "clpix", *args, text=False)
            return Run(
                done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
            )
        capfd.readouterr()
        handlers = {
            number: signal.getsignal(number)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
        }
        try:
            with warnings.catch_warnings():
                main([str(arg) for arg in args])
            code: object = None
        except SystemExit as exit:  # kept no longer than here: it refers to the command's Gpu
            code = exit.code
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
        out, err = capfd.readouterr()
        assert code is not None, "the program always says how it ended"
        return Run(code if isinstance(code, int) else 0, out, err)

    return run
