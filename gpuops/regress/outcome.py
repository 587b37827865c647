"""What a run of a suite found: an :class:`Outcome` for each picture, and the :class:`Run` of all of them.

These are plain values on the standard library alone. Reports are made from them, and ``report.json`` is them:
see :mod:`gpuops.regress.report`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..params.comparing import WorstPixel
from ..params.thresholds import Limit

__all__ = ["DIFFERENT", "STATUSES", "UNCOMPARED", "Limit", "Outcome", "PairedPicture", "Run", "WorstPixel"]

# The verdicts, the worst first, and what each says.
STATUSES = {
    "error": "could not be compared",
    "missing": "the result is missing",
    "new": "there is no reference",
    "failed": "differs from its reference",
    "size": "has another size or other channels",
    "warned": "differs, within what only warns",
    "renamed": "equals the reference of another name",
    "skipped": "was not run",
    "passed": "differs within the thresholds",
    "equal": "equals its reference",
}
# Verdicts that make the exit code 1, and those that make it 2.
DIFFERENT, UNCOMPARED = ("failed", "size"), ("error", "missing", "new", "renamed")


class PairedPicture(NamedTuple):
    """One of the two files of a pair.

    ``path`` is where it was read, ``name`` its name within the results or references, ``sha256`` of its bytes.
    ``of`` says which of several references it is: ``base``, or the name of the platform or device that has its own.
    The rest is known if it was decoded.
    """

    path: str
    name: str
    sha256: str
    of: str = "base"
    width: int | None = None
    height: int | None = None
    channels: str | None = None
    dtype: str | None = None


@dataclass(frozen=True)
class Outcome:
    """The verdict on one picture.

    Attributes
    ----------
    name : str
        The picture's name within the suite, with ``/`` between folders.
    status : str
        One of :data:`STATUSES`.
    result, reference : PairedPicture, optional
        None where there is none.
    figures : dict
        What was measured, by the metrics' names; empty for pictures that are equal byte for byte.
    thresholds : dict
        The most or the least that was allowed, by the metrics' names.
    missed, warned : tuple of Limit
        The thresholds that it failed, and those that merely warn.
    worst : WorstPixel, optional
    message : str
        One line for people: why it could not be compared, what was left out of the comparison.
    command : str
        What made the result, if the suite ran it.
    seconds : float
        How long that, and the comparison, took.
    output : str
        What the command printed, if it failed.
    """

    name: str
    status: str
    result: PairedPicture | None = None
    reference: PairedPicture | None = None
    figures: dict[str, float] = field(default_factory=dict)
    thresholds: dict[str, float] = field(default_factory=dict)
    missed: tuple[Limit, ...] = ()
    warned: tuple[Limit, ...] = ()
    worst: WorstPixel | None = None
    message: str = ""
    tags: tuple[str, ...] = ()
    command: str = ""
    seconds: float = 0.0
    output: str = ""

    @property
    def good(self) -> bool:
        """Whether it needs no attention."""
        return self.status in ("skipped", "passed", "equal")


@dataclass(frozen=True)
class Run:
    """A suite's outcomes, in the order of their names.

    ``context`` says with what they were made: versions, device, date, command line, folders.
    """

    outcomes: Sequence[Outcome]
    context: dict[str, Any] = field(default_factory=dict)

    @property
    def totals(self) -> dict[str, int]:
        """The number of outcomes of each status that occurs, the worst first."""
        counts = Counter(outcome.status for outcome in self.outcomes)
        return {status: counts[status] for status in STATUSES if counts[status]}

    def exit_code(self, *, strict: bool = False) -> int:
        """Returns 0 if all pass, 1 if pictures differ, 2 if some could not be compared or lack their other half.

        ``strict``: warnings count as differences.
        """
        found = self.totals
        if any(status in found for status in UNCOMPARED):
            return 2
        different = (*DIFFERENT, "warned") if strict else DIFFERENT
        return int(any(status in found for status in different))
