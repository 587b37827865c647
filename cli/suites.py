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

from . import compare
from .outputs import check_apart, levels_of, make_folder
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
GROUPS = {**compare.GROUPS, "Reports": ("report", "junit", "json", "github", "strict")}


@dataclass(frozen=True)
class ReadingOptions:
    """The options of how pictures are read."""

    device: str | None = None
    space: str = "auto"
    alpha: str = "keep"
    layer: str | None = None


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


def refuse_in_ci(hint: str) -> None:
    """Refuses to make results references in a CI job."""
    if os.environ.get("CI", "").lower() not in ("", "0", "false"):
        raise click.UsageError(f"this is a CI job (CI is set), and would approve its own results: {hint}")


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

    def references(self, path: str) -> tuple[References, tuple[str, ...]]:
        """Returns references, and the names under which this device and platform may have some of their own."""
        from gpuops.regress.index import references
        from gpuops.regress.references import places_of

        known = references(path)
        if len(known.places) == 1:
            return known, ()
        info = self.open().info
        return known, places_of(info.name, info.platform)

    def heat(self, result: Picture, reference: Picture) -> npt.NDArray[np.float32]:
        """Returns the FLIP map (height, width) of two pictures of one size."""
        from gpuops.metrics.flip import flip_map

        return flip_map(self.open(), result, reference)

    def context(self) -> dict[str, str]:
        if self._gpu is None:
            return {}
        info = self._gpu.info
        return {"device": info.name, "platform": info.platform, "driver": info.driver}


def last(source: str = LAST) -> Run:
    from gpuops.regress.outcome import from_json

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
            raise ParameterError(f"{path}: is also an input and is never overwritten; name another --results")
    check_apart(taken, written)


def folder_and_pictures(path: str) -> Iterator[str]:
    """Gives a folder and the pictures in it; what is none, such as an index, is given alone."""
    from gpuops.regress.references import pictures_in

    yield path
    if os.path.isdir(path):
        yield from (os.path.join(path, name) for name in pictures_in(path))


def finish(telling: Telling, outcomes: Iterable[Outcome], device: Device, about: dict[str, str]) -> None:
    """Tells the outcomes one by one, writes the reports, and exits."""
    from gpuops.bench.report_formats import versions
    from gpuops.regress.outcome import Run, to_json

    results = []
    for outcome in outcomes:
        results.append(outcome)
        if not telling.quiet and not outcome.good:
            click.echo(line_of(outcome))
    context = {
        **{name: versions()[name] for name in ("clpix", "date")},
        "command": masked(shlex.join(["clpix", *sys.argv[1:]])),
        **about,
        **device.context(),
    }
    seen = Run(results, context)
    if not results:
        raise ParameterError(f"{about.get('results')}: there are no pictures to compare")
    totals = ", ".join(f"{count} {status}" for status, count in seen.totals.items())
    click.echo(f"{len(results)} pictures: {totals}")
    if not telling.quiet:
        if set(seen.totals) == {"new"}:
            click.echo(visible(_about_first_run(about["references"])))
        if spare := [one.name for one in results if one.status == "skipped"]:
            shown = f"{', '.join(spare[:3])}{', …' * (len(spare) > 3)}"
            removes = "'clpix regress accept --remove-missing' removes them"
            click.echo(visible(f"references that no case of {about['suite']} makes: {shown}; {removes}"))
    text = to_json(seen)
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
        from gpuops.regress.services import to_junit

        _write(telling.junit, to_junit(seen, strict=telling.strict, attachments=attached))
    if telling.github:
        from gpuops.regress.services import annotated, summary

        for line in annotated(seen, strict=telling.strict):
            click.echo(line)
        if path := os.environ.get("GITHUB_STEP_SUMMARY"):
            with open(path, "a", encoding="utf-8") as file:
                file.write(summary(seen))


def _pictures_of(outcome: Outcome) -> list[str]:
    """Returns the pictures of an outcome that needs attention."""
    both = () if outcome.good else (outcome.result, outcome.reference)
    return [picture.path for picture in both if picture is not None]


def _write(path: str, text: str) -> None:
    """Writes a report, in folders that are made if they are not there."""
    from gpuops.files.output import write_text

    make_folder(path, levels_of(path))
    write_text(path, text, overwrite=True)


def line_of(outcome: Outcome) -> str:
    """Returns one line on a picture that needs attention."""
    parts = [limit.said for limit in (*outcome.missed, *outcome.warned)]
    if outcome.worst is not None and outcome.missed:
        worst = outcome.worst
        values = [" ".join(f"{v:.5g}" for v in side) for side in (worst.result, worst.reference)]
        parts.append(f"worst at {worst.x},{worst.y}: {values[0]} in place of {values[1]}")
    if outcome.message:
        parts.append(outcome.message)
    if outcome.reference is not None and outcome.reference.of.partition(":")[0] != "base":
        parts.append(f"reference of {outcome.reference.of}")
    return visible(f"{outcome.status:<8} {outcome.name}: {'; '.join(parts)}")
