"""Schedulers and workers of Dask's for tests, each in a process of its own."""

import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from .conftest import beside

ROOT = Path(__file__).parents[1]
# What a worker does before it begins, such that clpix cannot be imported there.
WITHOUT_CLPIX = """
class Lacking:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("gpuops", "clpix"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Lacking())
"""
# The same, such that it has another version.
WITH_ANOTHER = """
import importlib.metadata
found = importlib.metadata.version
importlib.metadata.version = lambda name: "9.9" if name == "clpix" else found(name)
"""


class Cluster:
    """A scheduler, which does not have clpix, and workers; their current folder is not that of the tests."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.workers: list[subprocess.Popen[bytes]] = []
        self._processes = ExitStack()
        self.scheduler = self._start(
            "dask_scheduler", WITHOUT_CLPIX, {}, "--port", "0", "--scheduler-file", str(self.file)
        )
        self._wait(self.file.exists)

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(self, *_error: object) -> None:
        self.kill()
        self._processes.close()

    def add(self, *options: str, before: str = "", **environment: str) -> subprocess.Popen[bytes]:
        """Starts a worker, and waits until it is there."""
        count = self.count()
        words = f"--scheduler-file {self.file} --no-nanny --nthreads 1 --memory-limit 0 --local-directory {self.folder}"
        found = self._start("dask_worker", before, environment, *words.split(), *options)
        self.workers.append(found)
        self._wait(lambda: self.count() > count)
        return found

    def count(self) -> int:
        """Returns the number of workers."""
        from distributed import Client

        with Client(scheduler_file=str(self.file), set_as_default=False) as client:
            return len(client.nthreads())

    def kill(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()

    def _start(
        self, module: str, before: str, environment: dict[str, str], *arguments: str
    ) -> subprocess.Popen[bytes]:
        code = (
            f"import sys, runpy\n{before}\nrunpy.run_module('distributed.cli.{module}', run_name='__main__')"
        )
        process = subprocess.Popen(
            [sys.executable, "-c", code, "--no-dashboard", *arguments],
            cwd=self.folder,
            env=beside(ROOT) | environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return self._processes.enter_context(process)

    @staticmethod
    def _wait(there: Any) -> None:
        end = time.monotonic() + 600
        while not there():
            assert time.monotonic() < end
            time.sleep(0.05)
