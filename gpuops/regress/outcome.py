"""What a run of a suite found: an :class:`Outcome` for each picture, the :class:`Run` of all of them, and their words.

These are plain values on the standard library alone. Reports are made from them, and ``report.json`` is them:
``report.schema.json`` beside this file says what is in it. JSON has no infinities and no NaN: they are the strings
"inf", "-inf" and "nan". Names from outside become text that every format can hold, and that shows.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

from ..errors import FileError, json_values
from ..figures import LIMITS
from ..params.comparing import WorstPixel as WorstPixel
from ..params.thresholds import Limit as Limit

# The version of the format: it changes when what a key means does.
SCHEMA = 1

# The powers of ten that floats have.
_LARGEST_POWER = 300
# What types are called in JSON.
_JSON = {bool: "boolean", dict: "object", tuple: "array", str: "string", float: "number", int: "integer"}
# The numbers that JSON does not have.
_ODD = ("inf", "-inf", "nan")
# What neither XML 1.0 nor UTF-8 can hold, and what would change the order or the look of the text around it: control
# characters, marks of direction, halves of surrogate pairs (undecodable bytes of file names), non-characters.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)
# Escape sequences of terminals, which colour what commands print.
_SEQUENCES = re.compile(r"\x1b\[[0-9;:?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")


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
    ``of`` says which of several references it is: ``base``, or the name of the platform or device that has its own;
    from the second valid one on with its number, as ``base:2``.
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
        """The outcomes in the order of :data:`STATUSES`, and of those of one status the worst first."""
        order = list(STATUSES)
        worst = sorted(self.outcomes, key=excess, reverse=True)
        return sorted(worst, key=lambda outcome: order.index(outcome.status))

    def exit_code(self, *, strict: bool = False) -> int:
        """Returns the largest :meth:`Outcome.exit_code`."""
        return max((outcome.exit_code(strict=strict) for outcome in self.outcomes), default=0)


def to_json(run: Run) -> str:
    """Returns the run as JSON text of ASCII characters, whatever the files are called, with a line for each outcome.

    What is not finite within ``context`` comes back as a string, since there a string may stand for itself.
    """
    head = _dumped({"schema": SCHEMA, "totals": run.totals, "context": run.context})
    outcomes = ",\n".join(_dumped(vars(outcome)) for outcome in run.outcomes)
    return f'{head[:-1]}, "outcomes": [\n{outcomes}\n]}}\n'


def from_json(text: str) -> Run:
    """Returns the Run that :func:`to_json` wrote; keys that it does not know are left out.

    Raises
    ------
    FileError
        The text is no report, or one of a newer clpix. Its line says where it errs.
    """
    try:
        report = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileError(f"the report is no JSON ({error}); name a report.json of clpix regress") from None
    if isinstance(report, dict) and report.get("schema") not in (SCHEMA, None):
        raise FileError(
            f"the report has schema {report['schema']!r}, and this clpix reads {SCHEMA}; use the clpix that wrote it"
        )
    _check(report, dict, "the report")
    for name, kind in (("schema", int), ("totals", dict[str, int]), ("context", dict)):
        typed(kind, _item(report, name, "the report"), f"the report: {name}")
    outcomes = typed(tuple[Outcome, ...], _item(report, "outcomes", "the report"), "the report: outcomes")
    for at, outcome in enumerate(outcomes):
        if outcome.status not in STATUSES:
            which = f"the report: outcomes[{at}]: status is {outcome.status!r}"
            raise FileError(f"{which}, and not one of {', '.join(STATUSES)}")
    return Run(list(outcomes), report["context"])


def _dumped(value: dict[str, Any]) -> str:
    return json.dumps(json_values(value), allow_nan=False)


def typed(kind: Any, value: Any, where: str) -> Any:
    """Returns a value of JSON as one of a type, such as that of a record's field. Raises FileError if it is none."""
    of = get_args(kind)
    if type(None) in of:
        return None if value is None else typed(of[0], value, where)
    if kind is float and value in _ODD:
        return float(value)
    if hints := _fields(kind):
        _check(value, dict, where)
        known = {name: _item(value, name, where) for name in hints}
        return kind(**{name: typed(hints[name], item, f"{where}: {name}") for name, item in known.items()})
    _check(value, get_origin(kind) or kind, where)
    if isinstance(value, list) and ... not in of and len(of) != len(value):
        raise FileError(f"{where} has {len(value)} values, and not {len(of)}")
    if isinstance(value, list):
        return tuple(typed(of[0], item, f"{where}[{at}]") for at, item in enumerate(value))
    if isinstance(value, dict) and of:
        return {name: typed(of[1], item, f"{where}: {name}") for name, item in value.items()}
    return float(value) if kind is float else value


@cache
def _fields(kind: Any) -> dict[str, Any]:
    """Returns the types of a record's fields; nothing for other types."""
    return get_type_hints(kind) if isinstance(kind, type) else {}


def _item(table: dict[str, Any], name: str, where: str) -> Any:
    if name not in table:
        raise FileError(f"{where} lacks {name!r}; name a report.json of clpix regress")
    return table[name]


def _check(value: Any, kind: type, where: str) -> None:
    """Raises FileError unless a value of JSON is what stands for a type."""
    kinds = {float: (int, float), tuple: (list,)}.get(kind, (kind,))
    if isinstance(value, bool) != (kind is bool) or not isinstance(value, kinds):
        raise FileError(f"{where} is {_short(value)}, and not of type {_JSON[kind]}")


def _short(value: Any) -> str:
    text = ascii(value)
    return text if len(text) <= 40 else f"{text[:40]}…"


def line(text: str) -> str:
    r"""Returns the text on one line; characters that would not show become what they are in Python, as ``\x1b``."""
    return _HIDDEN.sub(_escaped, text)


def block(text: str) -> str:
    """Returns the text of several lines, without terminals' colours; other hidden characters are as in :func:`line`."""
    plain = _SEQUENCES.sub("", text).replace("\r\n", "\n")
    return "\n".join("\t".join(map(line, row.split("\t"))) for row in plain.split("\n"))


def _escaped(match: re.Match[str]) -> str:
    return ascii(match[0])[1:-1]


def number(value: float) -> str:
    """Returns a figure with six digits."""
    return f"{value:.6g}"


def values(pixel: Iterable[float]) -> str:
    """Returns the values of a pixel's channels."""
    return " ".join(map(number, pixel))


def limits(misses: Iterable[Limit]) -> str:
    """Returns what was measured beside what is allowed: ``psnr 31.2 (limit 40), max 0.5 (limit 0.1)``."""
    said = (f"{line(limit.name)} {number(limit.value)} (limit {number(limit.limit)})" for limit in misses)
    return ", ".join(said)


def cause(outcome: Outcome) -> str:
    """Returns the limits that were missed, and the message; nothing where there is neither."""
    return "; ".join(filter(None, (limits(outcome.missed or outcome.warned), line(outcome.message))))


def excess(outcome: Outcome) -> tuple[float, float, float]:
    """Says how far a picture is beyond what is allowed, as numbers to compare: the more, the worse.

    The first is the largest ratio of an error to the one that is allowed, infinite where none is. Then come what the
    threshold counts, such as pixels, and the root mean square error. NaN is infinite.
    """
    limits = [*outcome.missed, *outcome.warned]
    for name, limit in outcome.thresholds.items():
        if name in LIMITS and LIMITS[name].name in outcome.figures:
            limits.append(Limit(name, outcome.figures[LIMITS[name].name], limit))
    ratio = max(map(_ratio, limits), default=0.0)
    counted = max((limit.value for limit in limits if limit.limit == 0), default=0.0)
    return ratio, _as_bound(counted), _as_bound(outcome.figures.get("rmse", 0.0))


def _ratio(limit: Limit) -> float:
    """Returns an error as a multiple of the one that is allowed; where more is better, what lacks to the best."""
    figure = LIMITS.get(limit.name.partition(" of ")[0])
    error, allowed = limit.value, limit.limit
    if figure is not None and figure.higher:
        if math.isinf(figure.best):  # dB of an amplitude
            lacking = (allowed - error) / 20
            return 10**lacking if lacking < _LARGEST_POWER else math.inf
        error, allowed = figure.best - error, figure.best - allowed
    return _as_bound(error / allowed if allowed else math.inf if error else 0.0)


def _as_bound(value: float) -> float:
    return math.inf if math.isnan(value) else value


def reason(outcome: Outcome) -> str:
    """Says on one line why an outcome is what it is."""
    said = cause(outcome)
    return f"{outcome.says}: {said}" if said not in ("", outcome.says) else outcome.says


def details(outcome: Outcome) -> Iterable[tuple[str, str]]:
    """Gives what is known of an outcome beside its figures: pairs of a name and a text on one line."""
    if outcome.worst:
        worst = outcome.worst
        both = f"result {values(worst.result)}, reference {values(worst.reference)}"
        yield "largest difference", f"at x {worst.x}, y {worst.y}: {both}"
    for which in ("result", "reference"):
        picture = getattr(outcome, which)
        if picture is not None:
            kind = [f"{picture.width} × {picture.height}"] if picture.width else []
            kind += [part for part in (picture.channels, picture.dtype) if part]
            kind += [picture.of] if picture.of != "base" else []
            yield which, line(f"{picture.path or picture.name}{' (' + ', '.join(kind) + ')' if kind else ''}")
    if outcome.tags:
        yield "tags", line(", ".join(outcome.tags))
    if outcome.command:
        yield "command", line(outcome.command)
    if outcome.seconds:
        yield "time", f"{outcome.seconds:.3g} s"
