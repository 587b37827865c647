"""Running of a suite: each case is a process of its own, with a limit of time; then its pictures are judged."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from ..gpu import Gpu
from ..params.comparing import Comparing
from ..params.thresholds import Thresholds
from ..process import groups
from .judge import judge, pairs
from .manifest import Case, Suite
from .outcome import Outcome, PairedPicture
from .references import BASE, References

# Characters of what a command printed that are kept, at its end.
_KEPT = 4000


@dataclass(frozen=True)
class Made:
    """What became of a case: ``error`` is one line, empty if its command succeeded; ``output`` is what it printed."""

    case: Case
    seconds: float
    error: str = ""
    output: str = ""


def outcomes(
    suite: Suite,
    cases: Sequence[Case],
    out: Path,
    references: References,
    places: Sequence[str],
    how: Comparing,
    open_gpu: Callable[[], Gpu],
    *,
    over: Thresholds | None = None,
    jobs: int = 1,
    memory: int | None = None,
) -> Iterator[Outcome]:
    """Runs cases of a suite, and gives the outcome of each of their pictures, in the order of the cases.

    If these are all cases of the suite, references that none makes follow, as skipped. ``out``: the folder of their
    results. ``places``: see :meth:`References.valid`. ``over``: thresholds that count over the suite's. ``jobs``: how
    many cases run at once. ``memory`` is as for :func:`judge`.
    """
    over = over or Thresholds()
    spare = _spare(suite, references, places) if len(cases) == len(suite.cases) else {}
    for made in run_cases(cases, suite.folder, out, jobs):
        case = made.case
        written = [name for name in case.outputs if not made.error and (out / name).is_file()]

        def thresholds(name: str, case: Case = case) -> Thresholds:
            return over.over(suite.thresholds(case, name))

        judged = judge(
            pairs(out, references, places, written, spare), how, thresholds, open_gpu, memory=memory
        )
        why = made.error or "the command did not write this file"
        lost = [Outcome(name, "error", message=why) for name in case.outputs if name not in written]
        command, output = " ".join(case.command(str(out))), made.output if made.error else ""
        for outcome in (*judged, *lost):
            seconds = outcome.seconds + made.seconds / len(case.outputs)
            yield replace(outcome, tags=case.tags, command=command, output=output, seconds=seconds)
    for name, (picture, *_) in spare.items():
        yield Outcome(name, "skipped", None, picture, message="no case makes this picture")


def _spare(suite: Suite, references: References, places: Sequence[str]) -> dict[str, list[PairedPicture]]:
    """Returns the references of pictures that no case of the suite makes, by name."""
    made = {output for case in suite.cases for output in case.outputs}
    spare = {}
    for name in (name for name in references.names() if name not in made):
        for place in (*places, BASE):
            if digests := references.digests(name, place):
                spare[name] = [PairedPicture("", name, digest, place) for digest in digests]
                break
    return spare


def run_cases(
    cases: Sequence[Case], folder: Path, out: Path, jobs: int, environment: Mapping[str, str] | None = None
) -> Iterator[Made]:
    """Runs the cases, ``jobs`` at once, and gives what became of each, in their order.

    ``folder`` is where commands run, ``out`` the folder of their results, ``environment`` has further variables.
    """
    variables = {**os.environ, **(environment or {})}
    with ThreadPoolExecutor(max(1, jobs)) as pool:
        yield from pool.map(lambda case: _run(case, folder, out, variables), cases)


def _run(case: Case, folder: Path, out: Path, environment: Mapping[str, str]) -> Made:
    for output in case.outputs:
        path = out / output
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)  # a result of an earlier run must not pass for this one's
    arguments = case.command(str(out.resolve()))
    if arguments[0] == "clpix":
        arguments = (sys.executable, "-m", "clpix", *arguments[1:])
    begun = time.perf_counter()
    try:
        process = groups.start(
            arguments, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
    except OSError as failure:
        return Made(case, 0.0, f"{arguments[0]}: could not be started ({failure.strerror})")
    try:
        printed, _ = process.communicate(timeout=case.timeout)
        error = "" if process.returncode == 0 else _ended(process.returncode)
    except subprocess.TimeoutExpired:
        groups.end(process)
        printed, _ = process.communicate()
        error = f"the command took longer than its {case.timeout:g} s"
    except BaseException:
        groups.end(process)
        raise
    output = printed.decode(errors="replace")[-_KEPT:]
    if error and (last := output.strip().rpartition("\n")[2].strip()):
        error += f": {last}"
    return Made(case, time.perf_counter() - begun, error, output)


def _ended(code: int) -> str:
    if code >= 0:
        return f"the command ended with exit code {code}"
    return f"the command was ended by {groups.signal_name(code)}"
