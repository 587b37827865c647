"""A job that was begun on a cluster: with absolute paths for a worker, and with its own names in the outcome."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..errors import GpuopsError
from ..files import locations
from .job import Job
from .pipeline import Done
from .worker import JobNews


@dataclass
class Begun:
    """A job that was begun.

    ``is_new``: none of its outputs existed before. ``again``: an earlier task may have written some of them. ``tries``:
    how often it has failed. ``died``: it was in a task whose workers have died.
    """

    number: int
    job: Job
    is_new: bool
    again: bool = False
    tries: int = 0
    died: bool = False

    def sent(self) -> Job:
        """Returns the job for a worker: with absolute paths, which mean the same there."""
        job = self.job.replacing() if self.again and self.is_new else self.job
        return replace(
            job,
            source=locations.absolute(job.source),
            target=locations.absolute(job.target),
            asides=tuple(map(locations.absolute, job.asides)),
        )

    def done(self, told: JobNews) -> Done:
        """Returns the job's outcome; messages have the paths as they were given here."""
        names = {locations.absolute(path): path for path in (self.job.source, *self.job.outputs)}

        def named(text: str) -> str:
            for absolute, path in names.items():
                text = text.replace(absolute, path)
            return text

        error = told.error
        if isinstance(error, GpuopsError):
            error = type(error)(named(str(error)))
        return Done(self.job, told.told, error, list(map(named, told.notes)), told.pixels, told.seconds)
