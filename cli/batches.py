"""Which jobs of a batch are to be done, and where: options of journals, of a cluster, and of several processes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import click

from gpuops.batch.job import Job
from gpuops.batch.journal import Journal
from gpuops.batch.pipeline import Done
from gpuops.errors import FileError, ParameterError
from gpuops.files import locations
from gpuops.params.files import STREAM

from .messages import say
from .options import given, refuse
from .shared import Shared


def check(shared: Shared) -> None:
    """Refuses options that contradict each other."""
    for first, second, why in (
        ("overwrite", "skip-existing", "one replaces what is there, and the other keeps it"),
        ("skip-existing", "update", "one keeps all that is there, and the other what is new enough"),
        ("overwrite", "update", "one replaces all that is there, and the other what is out of date"),
    ):
        if all(getattr(shared, name.replace("-", "_")) for name in (first, second)):
            click.get_current_context().fail(f"--{first} and --{second}: {why}; leave out one")
    if shared.journal is not None and shared.resume is not None:
        click.get_current_context().fail("--resume goes on writing its journal: leave out --journal")


def journal_of(shared: Shared, jobs: Sequence[Job]) -> AbstractContextManager[Journal | None]:
    """Opens the journal that the options name."""
    path = shared.resume if shared.resume is not None else shared.journal
    return nullcontext() if path is None or not jobs else Journal(path)


def look_at(jobs: Sequence[Job]) -> None:
    """Finds out which outputs at addresses exist, by listing their folders rather than asking for each."""
    outputs = [output for job in jobs for output in job.outputs if locations.is_address(output)]
    if outputs:
        locations.look_at(outputs)


def remaining(shared: Shared, jobs: Sequence[Job], journal: Journal | None) -> Iterator[Job]:
    """Yields the jobs that are not done, by what the options say. Outputs that are out of date may be replaced."""
    resumed = None if shared.resume is None else journal
    for job in jobs:
        try:
            there = all(map(locations.exists, job.outputs))
        except FileError:  # an address does not answer, which the check of the output says
            there = False
        if not there:
            done = False
        elif resumed is not None:
            done = resumed.is_done(job)
        else:
            done = _is_new_enough(job, journal) if shared.update else shared.skip_existing
        if not done:
            ours = resumed is not None and resumed.is_ours(job.target)
            updated = shared.update and (resumed is None or not there)
            yield job.replacing() if ours or updated else job


def _is_new_enough(job: Job, journal: Journal | None) -> bool:
    """Says whether outputs were made of the input as it is now, and by this recipe if the journal knows it."""
    if journal is not None and (known := journal.knows(job.target)) is not None:
        return known.done and journal.is_done(job)
    try:
        made = locations.status(job.source).mtime_ns
        return all(locations.status(output).mtime_ns >= made for output in job.outputs)
    except OSError:  # one has vanished
        return False


def check_cluster(shared: Shared) -> None:
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
