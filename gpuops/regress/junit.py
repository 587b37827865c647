"""JUnit's XML of a run, as GitLab, Jenkins, Azure DevOps and GitHub's actions read it.

The elements are those of pytest's ``xunit2``. Figures are properties of their test case. A line ``[[ATTACHMENT|path]]``
in ``system-out`` is a picture that GitLab and Jenkins (with its JUnit Attachments plugin) show.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from .outcome import Outcome, Run
from .text import block, details, line, number, reason

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
    said += [
        f"[[ATTACHMENT|{line(os.fspath(path))}]]" for path in (attachments(outcome) if attachments else ())
    ]
    if said:
        SubElement(case, "system-out").text = "\n".join(said)
    return case


def _kind(outcome: Outcome, *, strict: bool) -> str | None:
    """Returns the element that says how a test case ended; None for one that passed."""
    passed = "skipped" if outcome.status == "skipped" else None
    return (passed, "failure", "error")[outcome.exit_code(strict=strict)]
