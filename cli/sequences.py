"""Batches whose inputs decide about a step together, such as one exposure for all frames of a sequence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import click

from gpuops.errors import visible
from gpuops.files.streams import printable
from gpuops.params.files import STREAM

from .messages import complain, failure, say

if TYPE_CHECKING:
    from gpuops.batch.consensus import Settled
    from gpuops.batch.job import Job
    from gpuops.batch.pipeline import Done
    from gpuops.profile import Report

    from .shared import Shared

    Run = Callable[[Sequence[Job]], Iterable[Done]]


def sequence(
    shared: Shared, report: Report | None, jobs: Sequence[Job]
) -> Callable[[Iterable[Job], Run], list[Job]] | None:
    """Returns what settles jobs, or None if each input is worked on by itself.

    It gives those jobs whose inputs could be measured, with what was found; errors of others are printed. ``jobs`` are
    those of all inputs, whether their work is to be done here or not; they are measured when it is first asked.
    """
    if not jobs or jobs[0].chain is None:
        return None
    from gpuops.batch import consensus

    if not consensus.is_open(jobs):
        return None
    if len(jobs) > 1 and any(job.source == STREAM for job in jobs):
        raise click.UsageError(
            "inputs that decide together are read twice, and standard input can be read once: name a file"
        )
    known: dict[str, Job] | None = None

    def settled(some: Iterable[Job], run: Run) -> list[Job]:
        nonlocal known
        if len(jobs) == 1:
            return [consensus.alone(job) for job in some]
        if known is None:
            found = consensus.settled(jobs, run, _failed, partial(tell, shared, report))
            known = {job.target: job for job in found}
        return [replace(job, work=known[job.target].work) for job in some if job.target in known]

    return settled


def _failed(done: Done) -> None:
    assert done.error is not None
    if isinstance(done.error, BrokenPipeError):
        raise done.error
    complain("error", failure(done.job.source, done.error))


def tell(shared: Shared, report: Report | None, found: Settled, frame: int | None = None) -> None:
    """Adds what an input was measured for to the report, and prints it with --verbose.

    ``frame`` is its number in a video.
    """
    which = {} if frame is None else {"frame": frame}
    if report is not None:
        figures = {f"metered {found.figure}": found.measured, found.figure: found.used}
        report.results.append({"input": found.source, **which, **figures})
    if shared.verbose:
        name = printable(found.source) + (f": frame {frame}" if which else "")
        text = f"{found.figure} {found.used:+.3f} {found.unit} (metered {found.measured:+.3f})"
        say(visible(f"clpix: {name}: {text}"))
