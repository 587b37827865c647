"""A journal of jobs: a text file with a line of JSON for each job that begins or ends, from which a run can be resumed.

A job that ``begins`` may have written its output, or not; one that is ``done`` has written it whole. Lines are appended
at once, so that a killed process loses none; once a second they are also put on the disk.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from typing import Any

from ..errors import FileError, masked
from ..files import locations
from ..process import locks
from ..records import dataclass
from .job import Job
from .pipeline import Done

# Seconds between two moments at which lines are put on the disk.
_SYNC = 1.0
# How a line begins.
_START = b'{"event": "'


def _name(path: str) -> str:
    """Returns how a journal names a file: from every folder, and without secrets of an address."""
    return masked(locations.absolute(path))


@dataclass(frozen=True)
class JournalEntry:
    """A journal's entry for an output: the input that it was made of, the input's size and time, and the recipe."""

    source: str
    size: int
    mtime_ns: int
    recipe: str
    done: bool

    @classmethod
    def of(cls, job: Job, *, done: bool) -> JournalEntry:
        """Returns the record of a job on its input as that is now."""
        size = mtime_ns = 0
        with suppress(
            OSError, FileError
        ):  # it has vanished, or cannot be asked: reading it will raise the error
            size, mtime_ns = locations.status(job.source)
        return cls(_name(job.source), size, mtime_ns, job.recipe, done)


class Journal:
    """A journal that this process alone reads and goes on writing.

    Raises FileError if the file is no journal, cannot be opened, or is being written by another process.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._synced = time.monotonic()
        self._begun: dict[str, dict[str, Any]] = {}
        try:
            self._file = open(path, "a+b", buffering=0)  # noqa: SIM115
        except OSError as error:
            raise FileError(f"{path}: the journal cannot be opened ({error.strerror})") from None
        try:
            locks.hold(self._file.fileno())
            self._known = self._read()
        except BlockingIOError:
            self._file.close()
            raise FileError(
                f"{path}: another run is writing this journal; wait for its end, or name another journal"
            ) from None
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_error: object) -> None:
        self._sync()
        self._file.close()

    def knows(self, output: str) -> JournalEntry | None:
        """Returns the last record of an output."""
        return self._known.get(_name(output))

    def is_done(self, job: Job) -> bool:
        """Says whether a job is done: by its recipe, on the input as it is now, with an output that is there."""
        known = self.knows(job.target)
        return known is not None and locations.exists(job.target) and known == JournalEntry.of(job, done=True)

    def is_ours(self, output: str) -> bool:
        """Says whether an output that is there was written by a run of this journal."""
        return self.knows(output) is not None

    def begin(self, job: Job) -> None:
        """Notes that a job begins, before its input is read."""
        record = JournalEntry.of(job, done=False)
        about = self._begun[job.target] = {
            "output": _name(job.target),
            "input": record.source,
            "size": record.size,
            "mtime_ns": record.mtime_ns,
            "recipe": record.recipe,
        }
        self._append({"event": "begin"} | about)

    def end(self, done: Done) -> None:
        """Notes what became of a job."""
        event = {"event": "done"} if done.error is None else {"event": "failed", "error": str(done.error)}
        self._append(event | self._begun.pop(done.job.target) | {"seconds": round(done.seconds, 4)})
        if time.monotonic() - self._synced > _SYNC:
            self._sync()

    def _append(self, event: dict[str, Any]) -> None:
        try:
            self._file.write(json.dumps(event).encode() + b"\n")
        except OSError as error:
            raise FileError(f"{self.path}: the journal cannot be written ({error.strerror})") from None

    def _sync(self) -> None:
        self._synced = time.monotonic()
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise FileError(f"{self.path}: the journal cannot be written ({error.strerror})") from None

    def _read(self) -> dict[str, JournalEntry]:
        """Reads the lines so far. The last one may have been cut off by a loss of power, and is removed then.

        Disks put zeros in the place of what they have lost.
        """
        self._file.seek(0)
        text = self._file.read()
        whole, _, rest = text.rpartition(b"\n")
        known: dict[str, JournalEntry] = {}
        lines = whole.splitlines()
        cut = rest.rstrip(b"\0")
        is_cut = (cut or lines) and cut[: len(_START)] == _START[: len(cut)]
        for number, line in enumerate([*lines, rest] if rest and not is_cut else lines, 1):
            try:
                event = json.loads(line)
                record = JournalEntry(
                    masked(str(event["input"])),
                    int(event["size"]),
                    int(event["mtime_ns"]),
                    str(event["recipe"]),
                    event["event"] == "done",
                )
                known[masked(str(event["output"]))] = record
            except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
                raise FileError(
                    f"{self.path}: line {number} is not one of a journal; name another file"
                ) from None
        if rest:
            self._file.truncate(len(text) - len(rest))
        return known
