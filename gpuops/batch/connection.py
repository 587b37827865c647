"""The connection to a Dask cluster: to one that is running, or to processes of this machine."""

from __future__ import annotations

import json
import logging
import re
import sys
from asyncio import TimeoutError as TimedOut  # in Python 3.10 it is not the builtin one
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.metadata import version
from multiprocessing import resource_tracker
from typing import Any, NamedTuple

from ..errors import ClusterError, ParameterError, one_line
from ..files import threads
from ..files.drafts import draft_folder

# Seconds in which a scheduler has to answer, and a first worker to appear.
_PATIENCE = 10
# How often processes of this machine may die during a task before the task is given up.
_DEATHS = 2
# How a cluster is started.
_HOW = "start one with 'dask scheduler', and on each machine 'dask worker tcp://HOST:8786'"

# Seconds after which a process of this machine that has died, and did not come back, is replaced by another one.
_GIVEN_UP = 10
# The clusters on this machine, whose nannies start processes anew when they die.
_clusters: list[Any] = []
# The child processes that this one had before it started such a cluster; None without one.
_others: list[Any] | None = None


class Cluster(NamedTuple):
    """A cluster. ``local``: the number of its processes on this machine, or 0 for a cluster that was running before."""

    client: Any
    name: str
    local: int

    def revive(self) -> None:
        """Starts processes of this machine in place of those that are gone.

        A Dask nanny does so at once, unless a process dies while it is being started. That can happen if it is given a
        deadly task as soon as it is known.
        """
        if self.local:
            self.client.cluster.scale(self.local)


@contextmanager
def connected(where: str) -> Iterator[Cluster]:
    """Gives the cluster at an address, in a scheduler's file, or of ``local:N`` processes, once it has a worker.

    Raises ParameterError for a text that names no cluster, and ClusterError for a cluster that does not answer, or
    whose workers do not have this clpix.
    """
    try:
        import dask
        import distributed
    except ImportError:
        raise ParameterError("--cluster needs Dask: pip install 'clpix[dask]'") from None
    count, address = _understood(where)
    for name in ("distributed", "distributed.client"):  # what a person should know is told by notes
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    with ExitStack() as resources:
        resources.enter_context(
            dask.config.set(
                {
                    "distributed.comm.timeouts.connect": _PATIENCE,
                    "distributed.deploy.lost-worker-timeout": _GIVEN_UP,
                }
            )
        )
        if count:
            address = resources.enter_context(_started(count))
        try:
            client = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
        except OSError:
            raise ClusterError(
                f"{where}: no scheduler answers there: {_HOW}, or use --cluster local:2"
            ) from None
        except (ValueError, ImportError, RuntimeError) as error:
            raise ParameterError(f"--cluster {where}: {one_line(error)}") from None
        resources.enter_context(client)
        try:
            client.wait_for_workers(count or 1, timeout=_PATIENCE)
        except TimedOut:
            raise ClusterError(
                f"{where}: the scheduler has no workers: start one with 'dask worker {client.scheduler.address}'"
            ) from None
        _check(client)
        yield Cluster(client, where, count)


def _understood(where: str) -> tuple[int, Any]:
    """Returns a number of processes, or the address of a scheduler."""
    if where.startswith("local:"):
        count = where.removeprefix("local:")
        if not re.fullmatch(r"[1-9]\d{0,3}", count, re.ASCII):
            raise ParameterError(f"--cluster {where}: write local:N with N from 1 on, such as local:4")
        return int(count), None
    if "://" in where:
        return 0, where
    try:
        with open(where, encoding="utf-8-sig") as file:
            return 0, str(json.load(file)["address"])
    except OSError as error:
        raise ParameterError(
            f"--cluster {where}: the scheduler's file cannot be read ({error.strerror}): name the one that "
            "'dask scheduler --scheduler-file' writes, an address such as tcp://HOST:8786, or local:N"
        ) from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ParameterError(
            f"--cluster {where}: is no scheduler's file, which is JSON with an address: let "
            "'dask scheduler --scheduler-file' write it anew"
        ) from None


@contextmanager
def _started(count: int) -> Iterator[Any]:
    """Gives a cluster of processes of this machine, which share its processors.

    A scheduler runs whatever it is sent. So these processes talk by TLS, with a key that only they have, and their web
    servers serve nothing.
    """
    global _others
    import dask
    import distributed
    import psutil

    try:
        security = distributed.Security.temporary()
    except ImportError:
        raise ParameterError("--cluster local:N needs cryptography: pip install 'clpix[dask]'") from None
    _begin_tracker()
    _others = psutil.Process().children()
    with (
        draft_folder() as folder,
        dask.config.set(
            {
                "temporary-directory": folder,
                "distributed.scheduler.http.routes": [],
                "distributed.worker.http.routes": [],
            }
        ),
        distributed.LocalCluster(
            n_workers=count,
            threads_per_worker=max(1, threads.count() // count),
            processes=True,
            memory_limit=0,  # the pictures on their way are bounded
            security=security,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
            scheduler_kwargs={"allowed_failures": _DEATHS, "dashboard": False},
        ) as cluster,
    ):
        _clusters.append(cluster)
        yield cluster
    _clusters.clear()
    _others = None


def _begin_tracker() -> None:
    """Starts Python's resource tracker, which clears up after other processes, so that it prints no warnings."""
    sys.warnoptions.append("ignore")
    try:
        resource_tracker.ensure_running()
    finally:
        sys.warnoptions.remove("ignore")


def end_all() -> None:
    """Ends all processes of a cluster on this machine, even those that are being started. This one ends next."""
    if _others is None:
        return
    import psutil

    for cluster in _clusters:
        for nanny in [*cluster.workers.values()]:
            nanny.close_gracefully()
    ending = [process for process in psutil.Process().children() if process not in _others]
    for process in ending:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(ending, _PATIENCE)


def _check(client: Any) -> None:
    """Refuses a cluster with a worker that does not have this clpix."""
    from . import tasks

    own = version("clpix")
    for address, found in client.run(tasks.identify, on_error="return").items():
        if isinstance(found, Exception):
            raise ClusterError(
                f"worker {address}: clpix cannot be imported there ({one_line(found)}): pip install "
                f"'clpix[dask]=={own}' where it runs, and start it again"
            )
        try:
            tasks.check_version(own, found)
        except ClusterError as error:
            raise ClusterError(f"worker {address}: {error}") from None
