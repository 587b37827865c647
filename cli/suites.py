"""What the commands of suites share: their options, the device, and how outcomes are told."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpuops.errors import FileError, ParameterError, byte_count, masked, visible

from . import checks, comparing
from .shared import file_option, flag, option

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from gpuops.files.picture import Picture
    from gpuops.gpu import Gpu
    from gpuops.regress.outcome import Outcome, Run
    from gpuops.regress.references import References

# Where a run leaves its results and its report, in the folder where it was started.
STATE = ".clpix-regress"
# The report of the last run in there.
LAST = f"{STATE}/last.json"

#: The groups of the options that commands of suites have, in help.
GROUPS = {**comparing.GROUPS, "Reports": ("report", "junit", "json", "github", "strict")}


@dataclass(frozen=True)
class ReadingOptions:
    """The options of how pictures are read."""

    device: str | None = None
    space: str = option(
        "Compare linear light or the stored values.", default="auto", type=["auto", "linear", "encoded"]
    )
    alpha: str = option("Compare alpha, or leave it out.", default="keep", type=["keep", "drop"])
    layer: str | None = option("The layer to read from files of several.", "NAME")


#: The option of how many cases, or files, are done at the same time.
JOBS = option("How many to do at the same time.", "N", type=click.IntRange(1))


@dataclass(frozen=True)
class Telling(ReadingOptions):
    """The options of reports, and of how pictures are read."""

    report: str | None = file_option(
        "Write a page with all pictures, or a folder without scripts.", "FILE.html|DIR"
    )
    junit: str | None = file_option("Write JUnit's XML, for GitLab, Jenkins and others.")
    json: str | None = file_option("Write all figures as JSON.")
    github: bool = flag("Print annotations and write the step summary of GitHub.")
    strict: bool = flag("Count warnings as differences.")
    jobs: int | None = JOBS
    memory: int | None = None
    quiet: bool = flag("Print only the totals.", "-q", "--quiet")


def is_ci() -> bool:
    """Says whether this is a CI job."""
    return os.environ.get("CI", "").lower() not in ("", "0", "false")


class Device(ExitStack):
    """The device, which is opened when it is first needed and closed at the end."""

    def __init__(self, name: str | None) -> None:
        super().__init__()
        self._name = name
        self._gpu: Gpu | None = None

    def open(self) -> Gpu:
        if self._gpu is None:
            from gpuops.gpu import Gpu

            self._gpu = self.enter_context(Gpu(self._name))
        return self._gpu

    def places(self, known: References) -> tuple[str, ...]:
        """Returns the names under which this device and platform may have references of their own among the known."""
        from gpuops.regress.references import places_of

        if len(known.places) == 1:
            return ()
        info = self.open().info
        return places_of(info.name, info.platform)

    def heat(self, result: Picture, reference: Picture) -> npt.NDArray[np.float32]:
        """Returns the FLIP map (height, width) of two pictures of one size."""
        from gpuops.metrics.measure import flip_map

        return flip_map(self.open(), result, reference)

    def context(self) -> dict[str, str]:
        if self._gpu is None:
            return {}
        info = self._gpu.info
        return {"device": info.name, "platform": info.platform, "driver": info.driver}


def last(source: str = LAST) -> Run:
    from gpuops.regress.report import from_json

    try:
        return from_json(Path(source).read_text(encoding="utf-8-sig"))
    except OSError:
        raise ParameterError(f"{source}: there is no report of a run; run the suite first") from None


def check_outputs(read: Iterable[str], results: Iterable[str] = ()) -> None:
    """Refuses results and reports that would take the place of what is ``read``, or of each other.

    Folders that are read are no places for a report's files either.
    """
    from gpuops.files import Identities

    taken, written = Identities(read), [LAST, *results]
    for path in written:
        if path in taken:
            raise ParameterError(
                f"{path}: is also an input, which is never overwritten; name another --results"
            )
    checks.check_apart(taken, written)


def folder_and_pictures(path: str) -> Iterator[str]:
    """Gives a folder and the pictures in it; what is none, such as an index, is given alone."""
    from gpuops.regress.references import pictures_in

    yield path
    if os.path.isdir(path):
        yield from (os.path.join(path, name) for name in pictures_in(path))


def finish(telling: Telling, outcomes: Iterable[Outcome], device: Device, about: dict[str, str]) -> None:
    """Tells the outcomes one by one, writes the reports, and exits."""
    from gpuops.bench.report_formats import versions
    from gpuops.regress import report
    from gpuops.regress.outcome import Run

    found = []
    for outcome in outcomes:
        found.append(outcome)
        if not telling.quiet and not outcome.good:
            click.echo(_line(outcome))
    context = {
        **{name: versions()[name] for name in ("clpix", "date")},
        "command": masked(shlex.join(["clpix", *sys.argv[1:]])),
        **about,
        **device.context(),
    }
    seen = Run(found, context)
    if not found:
        raise ParameterError(f"{about.get('results')}: there are no pictures to compare")
    totals = ", ".join(f"{count} {status}" for status, count in seen.totals.items())
    click.echo(f"{len(found)} pictures: {totals}")
    if not telling.quiet and set(seen.totals) == {"new"}:
        click.echo(visible(_about_first_run(about["references"])))
    text = report.to_json(seen)
    from .messages import complain

    try:
        _write(LAST, text)
    except FileError as error:  # the verdict stands
        complain("warning", f"{error}; accept needs it, or --from a report that --json writes")
    if telling.json:
        _write(telling.json, text)
    _write_reports(telling, seen, device)
    click.get_current_context().exit(seen.exit_code(strict=telling.strict))


def _about_first_run(references: str) -> str:
    """Returns what to do where no picture has a reference."""
    where = f"in {references}" if os.path.exists(references) else f"as there is no folder {references}"
    return f"none has a reference, {where}: look at them, and let 'clpix regress accept' make them references"


def _write_reports(telling: Telling, seen: Run, device: Device) -> None:
    attached: Callable[[Outcome], list[str]] = _pictures_of
    if telling.report:
        from gpuops.regress.html import Settings, attachments, write_folder, write_page

        settings = Settings(heat=device.heat, heat_name="FLIP", heat_threshold="max-flip")
        in_one = telling.report.lower().endswith((".html", ".htm"))
        written = (write_page if in_one else write_folder)(telling.report, seen, settings, overwrite=True)
        size = sum(one.size for one in written)
        more = f" and {len(written) - 1} more files" if len(written) > 1 else ""
        click.echo(visible(f"{written[0].path}{more}: {byte_count(size)}"))
        if not in_one:
            attached = attachments(telling.report, seen)
    if telling.junit:
        from gpuops.regress import junit

        _write(telling.junit, junit.to_junit(seen, strict=telling.strict, attachments=attached))
    if telling.github:
        from gpuops.regress import github

        for line in github.annotated(seen, strict=telling.strict):
            click.echo(line)
        if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
            with open(summary, "a", encoding="utf-8") as file:
                file.write(github.summary(seen))


def _pictures_of(outcome: Outcome) -> list[str]:
    """Returns the pictures of an outcome that needs attention."""
    both = () if outcome.good else (outcome.result, outcome.reference)
    return [picture.path for picture in both if picture is not None]


def _write(path: str, text: str) -> None:
    from gpuops.files.drafts import USUAL, draft_file

    folder = os.path.dirname(path) or "."
    try:
        os.makedirs(folder, exist_ok=True)
        with draft_file(folder, os.path.splitext(path)[1], USUAL) as draft:
            Path(draft).write_text(text, encoding="utf-8")
            os.replace(draft, path)
    except OSError as error:
        raise FileError(f"{path}: could not be written ({error.strerror})") from None


def _line(outcome: Outcome) -> str:
    """Returns one line on a picture that needs attention."""
    parts = [limit.said for limit in (*outcome.missed, *outcome.warned)]
    if outcome.worst is not None and outcome.missed:
        worst = outcome.worst
        values = [" ".join(f"{v:.5g}" for v in side) for side in (worst.result, worst.reference)]
        parts.append(f"worst at {worst.x},{worst.y}: {values[0]} in place of {values[1]}")
    if outcome.message:
        parts.append(outcome.message)
    if outcome.reference is not None and outcome.reference.of != "base":
        parts.append(f"reference of {outcome.reference.of}")
    return visible(f"{outcome.status:<8} {outcome.name}: {'; '.join(parts)}")
