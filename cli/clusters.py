"""Batches on a cluster, or in several processes: which options go with it, and a cluster's results."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import click

from gpuops.batch.job import Job
from gpuops.batch.pipeline import Done
from gpuops.errors import ParameterError
from gpuops.params.files import STREAM

from .messages import say
from .options import given, refuse
from .shared import Shared


def check(shared: Shared) -> None:
    """Refuses options that have no meaning with a cluster, or without one."""
    if shared.cluster is None:
        refuse("only a cluster tries again, and there is no --cluster", "retries")
        return
    refuse("times are those of one device, and workers have their own", "timing", "timing_file")
    refuse("kernels are built by the workers, on their machines", "dump_kernels")
    refuse("each worker works on as many files at a time as it has threads (dask worker --nthreads)", "jobs")
    if STREAM in (*shared.inputs, shared.output):
        raise ParameterError("'-' is a stream of this process, which no worker has: name files")
    if processes(shared) or given("device"):
        from gpuops.device import names_several

        if names_several(shared.device):
            click.get_current_context().fail(
                f"--device {shared.device}: each worker has one device: name one, or start a worker for each"
            )


def processes(shared: Shared) -> int:
    """Returns how many processes of this machine ``--cluster local:N`` asks for, or 0."""
    where = shared.cluster or ""
    if not where.startswith("local:"):
        return 0
    count = where.removeprefix("local:")
    if not re.fullmatch(r"[1-9]\d{0,3}", count, re.ASCII):
        raise ParameterError(f"--cluster {where}: write local:N with N from 1 on, such as local:4")
    return int(count)


def results(shared: Shared, jobs: Sequence[Job], **noting: Any) -> Iterator[Done]:
    """Does jobs on the cluster that the options name; ``noting`` as for :func:`run_jobs_at`."""
    from gpuops.batch.connection import connected

    assert shared.cluster is not None
    with connected(shared.cluster) as cluster:
        from gpuops.batch.cluster import run_jobs_at

        if shared.verbose:
            workers = cluster.client.nthreads()
            say(f"clpix: {cluster.client.scheduler.address} has {len(workers)} workers")
        yield from run_jobs_at(
            cluster,
            jobs,
            device=shared.device if given("device") else None,  # CLPIX_DEVICE is of this machine
            device_memory=shared.device_memory,
            memory=shared.memory,
            retries=shared.retries,
            **noting,
        )
