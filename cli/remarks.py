"""The warnings of a batch: each kind is one line at its end, with the number of files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gpuops import notes
from gpuops.batch.pipeline import Done
from gpuops.errors import visible

# The notes of jobs that are still to be told, and the names of each job's files.
_kept: list[tuple[list[str], tuple[str, ...]]] = []


def take(done: Done, *, at_once: bool) -> None:
    """Takes a job's notes; ``at_once``: gives all of them now."""
    if at_once:
        for text in done.notes:
            notes.note(text)
        return
    job = done.job
    if done.notes:
        _kept.append((done.notes, (job.source, *job.outputs)))


@contextmanager
def told_at_end() -> Iterator[None]:
    """Gives what was taken inside, however that ends."""
    try:
        yield
    finally:
        for text in notes.once(_kept, "file"):
            notes.note(text)
        _kept.clear()


def left_behind() -> bytes:
    """Returns what a process that ends at once has to write first."""
    lines = (f"clpix: warning: {visible(text)}\n" for text in notes.once(_kept, "file"))
    return "".join(lines).encode(errors="backslashreplace")
