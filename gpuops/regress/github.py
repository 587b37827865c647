"""What GitHub Actions shows of a run: annotations, and the summary of a step in Markdown.

The commands: docs.github.com, "Workflow commands for GitHub Actions". Of each kind of annotation, a step shows ten.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .outcome import STATUSES, Outcome, Run
from .text import cause, details, line, reason

# The annotations of one kind that are shown for a step.
SHOWN = 10
# The bytes that a step's summary may have; one that is larger is lost whole.
SUMMARY_BYTES = 1 << 20
# What may mean something in Markdown or HTML: the punctuation of ASCII but , - and /.
_MARKUP = re.compile(r"[!-+.:-@\[-`{-~]")


def annotated(run: Run, *, strict: bool = False) -> list[str]:
    """Returns the lines to print for annotations of what failed and what warns: at most ten of a kind.

    ``strict``: warnings are errors.
    """
    errors = [outcome for outcome in run.outcomes if outcome.exit_code(strict=strict)]
    warnings = [outcome for outcome in run.outcomes if outcome.status == "warned" and not strict]
    return [*_of_kind("error", errors), *_of_kind("warning", warnings)]


def _of_kind(kind: str, outcomes: list[Outcome]) -> Iterable[str]:
    shown = outcomes if len(outcomes) <= SHOWN else outcomes[: SHOWN - 1]
    for outcome in shown:
        yield _command(kind, f"{outcome.status}: {outcome.name}", f"{outcome.name} {reason(outcome)}")
    if rest := outcomes[len(shown) :]:
        title = f"{len(rest)} more"
        yield _command(kind, title, f"{title}: {', '.join(line(outcome.name) for outcome in rest[:20])}")


def _command(kind: str, title: str, message: str) -> str:
    data = line(message).replace("%", "%25")
    name = line(title).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
    return f"::{kind} title={name}::{data}"


def summary(run: Run, *, title: str = "clpix regress", limit: int = SUMMARY_BYTES - 1024) -> str:
    """Returns the summary in Markdown: the totals, and a table of all that needs attention, the worst first.

    ``limit`` is the most bytes that it may have in UTF-8: rows beyond are left out, and a line says how many.
    """
    rows = [outcome for outcome in run.worst_first if not outcome.good]
    totals = ", ".join(f"{count} {status}" for status, count in run.totals.items()) or "no pictures"
    text = [f"## {escaped(title)}\n\n**{totals}**\n"]
    if rows:
        text.append("\n| status | picture | why | where |\n|---|---|---|---|\n")
    # The line that says how many are left out is shorter than this.
    room = limit - 100 - sum(len(part.encode()) for part in text)
    for at, outcome in enumerate(rows):
        row = _row(outcome)
        room -= len(row.encode())
        if room < 0:
            text.append(f"\n{len(rows) - at} more are left out: they are in the report.\n")
            break
        text.append(row)
    return "".join(text)


def _row(outcome: Outcome) -> str:
    status = f"{STATUSES[outcome.status].emoji} {outcome.status}"
    why = cause(outcome) or outcome.says
    where = dict(details(outcome)).get("largest difference", "")
    return f"| {status} | <code>{escaped(outcome.name)}</code> | {escaped(why)} | {escaped(where)} |\n"


def escaped(text: str) -> str:
    """Returns the text, on one line, so that it means nothing in Markdown and in HTML."""
    return _MARKUP.sub(lambda match: f"&#{ord(match[0])};", line(text))
