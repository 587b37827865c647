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

__all__ = ["STATUSES", "Limit", "Outcome", "OutcomeStatus", "PairedPicture", "Run", "WorstPixel"]


class OutcomeStatus(NamedTuple):
    """A verdict: what it says, the exit code that it makes, its sign in pages, and its emoji in summaries."""

    says: str
    exit_code: int
    sign: str
    emoji: str = ""


# The verdicts, the worst first.
STATUSES = {
    "error": OutcomeStatus("could not be compared", 2, "■", "❗"),
    "missing": OutcomeStatus("the result is missing", 2, "○", "❓"),
    "new": OutcomeStatus("there is no reference", 2, "✚", "🆕"),
    "failed": OutcomeStatus("differs from its reference", 1, "✕", "❌"),
    "size": OutcomeStatus("has another size or other channels", 1, "⛶", "📐"),
    "warned": OutcomeStatus("differs, within what only warns", 0, "▲", "⚠️"),
    "renamed": OutcomeStatus("equals the reference of another name", 2, "⇄", "🔀"),
    "skipped": OutcomeStatus("was not run", 0, "–"),
    "passed": OutcomeStatus("differs within the thresholds", 0, "≈"),
    "equal": OutcomeStatus("equals its reference", 0, "✓"),
}


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
    def says(self) -> str:
        """What its status says."""
        return STATUSES[self.status].says

    @property
    def good(self) -> bool:
        """Whether it needs no attention."""
        return self.status in ("skipped", "passed", "equal")

    def exit_code(self, *, strict: bool = False) -> int:
        """Returns 0 if it passes, 1 if it differs, 2 if it could not be compared or lacks its other half.

        ``strict``: a warning counts as a difference.
        """
        return 1 if strict and self.status == "warned" else STATUSES[self.status].exit_code


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

    @property
    def worst_first(self) -> list[Outcome]:
        """The outcomes in the order of :data:`STATUSES`."""
        order = list(STATUSES)
        return sorted(self.outcomes, key=lambda outcome: order.index(outcome.status))

    def exit_code(self, *, strict: bool = False) -> int:
        """Returns the largest :meth:`Outcome.exit_code`."""
        return max((outcome.exit_code(strict=strict) for outcome in self.outcomes), default=0)
