"""Words and numbers of reports: names from outside become text that every format can hold, and that shows."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .outcome import Limit, Outcome

# What neither XML 1.0 nor UTF-8 can hold, and what would change the order or the look of the text around it: control
# characters, marks of direction, halves of surrogate pairs (undecodable bytes of file names), non-characters.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)
# Escape sequences of terminals, which colour what commands print.
_SEQUENCES = re.compile(r"\x1b\[[0-9;:?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")


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


def limits(found: Iterable[Limit]) -> str:
    """Returns what was measured beside what is allowed: ``psnr 31.2 (limit 40), max 0.5 (limit 0.1)``."""
    return ", ".join(
        f"{line(limit.name)} {number(limit.value)} (limit {number(limit.limit)})" for limit in found
    )


def cause(outcome: Outcome) -> str:
    """Returns the limits that were missed, and the message; nothing where there is neither."""
    return "; ".join(filter(None, (limits(outcome.missed or outcome.warned), line(outcome.message))))


def reason(outcome: Outcome) -> str:
    """Says on one line why an outcome is what it is."""
    said = cause(outcome)
    return f"{outcome.says}: {said}" if said not in ("", outcome.says) else outcome.says


def details(outcome: Outcome) -> Iterable[tuple[str, str]]:
    """Gives what is known of an outcome beside its figures: pairs of a name and a text on one line."""
    if outcome.worst:
        worst = outcome.worst
        yield (
            "largest difference",
            f"at x {worst.x}, y {worst.y}: result {values(worst.result)}, reference {values(worst.reference)}",
        )
    for which in ("result", "reference"):
        picture = getattr(outcome, which)
        if picture is not None:
            kind = [f"{picture.width} × {picture.height}"] if picture.width else []
            kind += [part for part in (picture.channels, picture.dtype) if part]
            kind += [picture.of] if picture.of != "base" else []
            yield which, line(f"{picture.path}{' (' + ', '.join(kind) + ')' if kind else ''}")
    if outcome.tags:
        yield "tags", line(", ".join(outcome.tags))
    if outcome.command:
        yield "command", line(outcome.command)
    if outcome.seconds:
        yield "time", f"{outcome.seconds:.3g} s"
