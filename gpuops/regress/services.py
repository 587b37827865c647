"""What services show of a run: JUnit's XML for GitLab, Jenkins, Azure DevOps and GitHub, and what GitHub prints.

The elements are those of pytest's ``xunit2``. Figures are properties of their test case. A line ``[[ATTACHMENT|path]]``
in ``system-out`` is a picture that GitLab and Jenkins (with its JUnit Attachments plugin) show.

GitHub Actions shows annotations, and the summary of a step in Markdown. The commands: docs.github.com, "Workflow
commands for GitHub Actions". Of each kind of annotation, a step shows ten.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from .outcome import STATUSES, Outcome, Run, block, cause, details, line, number, reason

# The annotations of one kind that are shown for a step.
SHOWN = 10
# The bytes that a step's summary may have; one that is larger is lost whole.
SUMMARY_BYTES = 1 << 20
# What may mean something in Markdown or HTML: the punctuation of ASCII but , - and /.
_MARKUP = re.compile(r"[!-+.:-@\[-`{-~]")

Attachments = Callable[[Outcome], Iterable[str | os.PathLike[str]]]


def to_junit(
    run: Run, *, suite: str = "clpix regress", attachments: Attachments | None = None, strict: bool = False
) -> str:
    """Returns the XML text: what makes the exit code 1 is a ``failure``, what makes it 2 an ``error``.

    Parameters
    ----------
    suite : str
        The suite's name, and the class of pictures that lie in no folder.
    attachments : callable, optional
        It gives the paths of pictures that belong to an outcome: for GitLab relative to the project's folder, for
        Jenkins absolute. Without it there are none.
    strict : bool
        Warnings are failures.
    """
    cases = [_case(outcome, suite, attachments, strict=strict) for outcome in run.outcomes]
    kinds = Counter(child.tag for case in cases for child in case)
    counts = {"tests": len(cases), "failures": kinds["failure"], "errors": kinds["error"]}
    seconds = f"{sum(outcome.seconds for outcome in run.outcomes):.3f}"
    attributes = {name: str(count) for name, count in counts.items()} | {"time": seconds}
    root = Element("testsuites", {"name": line(suite)} | attributes)
    element = SubElement(root, "testsuite", {"name": line(suite)} | attributes)
    element.set("skipped", str(kinds["skipped"]))
    if run.context:
        properties = SubElement(element, "properties")
        for name, value in run.context.items():
            SubElement(properties, "property", name=line(name), value=line(str(value)))
    element.extend(cases)
    indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{tostring(root, encoding="unicode")}\n'


def _case(outcome: Outcome, suite: str, attachments: Attachments | None, *, strict: bool) -> Element:
    folder = line(outcome.name).rpartition("/")[0].replace("/", ".")
    case = Element("testcase", classname=folder or line(suite), name=line(outcome.name))
    case.set("time", f"{outcome.seconds:.3f}")
    figures = {"status": outcome.status} | {name: number(v) for name, v in outcome.figures.items()}
    properties = SubElement(case, "properties")
    for name, value in figures.items():
        SubElement(properties, "property", name=line(name), value=value)
    facts = "\n".join(f"{name}: {value}" for name, value in details(outcome))
    if kind := _kind(outcome, strict=strict):
        verdict = SubElement(case, kind, message=reason(outcome))
        if kind != "skipped":
            verdict.set("type", outcome.status)
        verdict.text = facts
    said = [reason(outcome)] if outcome.status == "warned" else []
    said += [block(outcome.output)] if outcome.output else []
    paths = attachments(outcome) if attachments else ()
    said += [f"[[ATTACHMENT|{line(os.fspath(path))}]]" for path in paths]
    if said:
        SubElement(case, "system-out").text = "\n".join(said)
    return case


def _kind(outcome: Outcome, *, strict: bool) -> str | None:
    """Returns the element that says how a test case ended; None for one that passed."""
    passed = "skipped" if outcome.status == "skipped" else None
    return (passed, "failure", "error")[outcome.exit_code(strict=strict)]


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
