"""Which jobs of a batch are to be done: those of a shard, and those that are not done yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext

import click

from gpuops.batch.job import Job
from gpuops.batch.journal import Journal
from gpuops.errors import FileError
from gpuops.files import locations

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
    for job in jobs:
        try:
            there = all(map(locations.exists, job.outputs))
        except FileError:  # an address does not answer, which the check of the output says
            there = False
        if not there:
            ours = shared.resume is not None and journal is not None and journal.is_ours(job.target)
            yield job.replacing() if ours or shared.update else job
        elif shared.resume is not None and journal is not None:
            if not journal.is_done(job):
                yield job.replacing() if journal.is_ours(job.target) else job
        elif shared.update:
            if not _is_new_enough(job, journal):
                yield job.replacing()
        elif not shared.skip_existing:
            yield job


def _is_new_enough(job: Job, journal: Journal | None) -> bool:
    """Says whether outputs were made of the input as it is now, and by this recipe if the journal knows it."""
    if journal is not None and (known := journal.knows(job.target)) is not None:
        return known.done and journal.is_done(job)
    try:
        made = locations.status(job.source).mtime_ns
        return all(locations.status(output).mtime_ns >= made for output in job.outputs)
    except OSError:  # one has vanished
        return False
