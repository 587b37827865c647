"""The connection to a Dask cluster that is running."""

from __future__ import annotations

import json
import logging
from asyncio import TimeoutError as TimedOut  # in Python 3.10 it is not the builtin one
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from typing import Any, NamedTuple

from ..errors import ClusterError, ParameterError, one_line

# Seconds in which a scheduler has to answer, and a first worker to appear.
_PATIENCE = 10
# How a cluster is started.
_HOW = "start one with 'dask scheduler', and on each machine 'dask worker tcp://HOST:8786'"


class Cluster(NamedTuple):
    """A cluster that was running before."""

    client: Any
    name: str


@contextmanager
def connected(where: str) -> Iterator[Cluster]:
    """Gives the cluster at an address, or in a scheduler's file, once it has a worker.

    Raises ParameterError for a text that names no cluster, and ClusterError for a cluster that does not answer, or
    whose workers do not have this clpix.
    """
    try:
        import dask
        import distributed
    except ImportError:
        raise ParameterError("--cluster needs Dask: pip install 'clpix[dask]'") from None
    address = _understood(where)
    for name in ("distributed", "distributed.client"):  # what a person should know is told by notes
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    with ExitStack() as resources:
        resources.enter_context(dask.config.set({"distributed.comm.timeouts.connect": _PATIENCE}))
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
            client.wait_for_workers(1, timeout=_PATIENCE)
        except TimedOut:
            raise ClusterError(
                f"{where}: the scheduler has no workers: start one with 'dask worker {client.scheduler.address}'"
            ) from None
        _check(client)
        yield Cluster(client, where)


def _understood(where: str) -> str:
    """Returns the address of a scheduler."""
    if "://" in where:
        return where
    try:
        with open(where, encoding="utf-8-sig") as file:
            return str(json.load(file)["address"])
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


def _check(client: Any) -> None:
    """Refuses a cluster with a worker that does not have this clpix."""
    from . import tasks

    own = version("clpix")
    for address, answer in client.run(tasks.identify, on_error="return").items():
        if isinstance(answer, Exception):
            raise ClusterError(
                f"worker {address}: clpix cannot be imported there ({one_line(answer)}): pip install "
                f"'clpix[dask]=={own}' where it runs, and start it again"
            )
        try:
            tasks.check_version(own, answer)
        except ClusterError as error:
            raise ClusterError(f"worker {address}: {error}") from None
