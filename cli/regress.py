"""The command ``clpix regress``."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpuops.errors import FileError, ParameterError, visible

from . import commands, options, suites
from .audit import audit
from .compare import GROUPS, GivenOptions, comparing
from .messages import near
from .serve import serve
from .shared import flag, option, shown
from .suites import (
    JOBS,
    LAST,
    STATE,
    Device,
    ReadingOptions,
    Telling,
    check_outputs,
    folder_and_pictures,
    refuse_in_ci,
)

if TYPE_CHECKING:
    from gpuops.regress.manifest import Case, Suite

# Threads that read files, if nobody says how many.
_READERS = 4
# The name of the subcommand that compares two folders: no folder is called so.
_FOLDERS = "two folders"


class RegressGroup(commands.CommandGroup):
    """Takes two folders where no subcommand is named."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, subcommand, rest = super().resolve_command(ctx, args)
        return "" if name == _FOLDERS else name, subcommand, rest

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        known = self.list_commands(ctx)
        if args and args[0] not in (*known, "-h", "--help"):  # options may stand before the folders
            folders = args[0].startswith("-") or (args[1:2] and not args[1].startswith("-"))
            close = [] if folders or ctx.resilient_parsing else near(args[0], known)
            if close and not Path(args[0]).exists():
                ctx.fail(f"{args[0]} is neither a folder nor a command: did you mean {close[0]!r}?")
            args = [_FOLDERS, *args]
        return super().parse_args(ctx, args)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage(ctx.command_path, "RESULTS REFERENCES [OPTIONS]")
        formatter.write_usage(ctx.command_path, "run SUITE.toml [NAMES]... [OPTIONS]")


@click.group(
    cls=RegressGroup,
    no_args_is_help=True,
    examples=(
        "clpix regress new/ expected/ --report report.html",
        "clpix regress run suite.toml --junit report.xml",
        "clpix regress accept",
    ),
)
def command() -> None:
    """Compare pictures with their references: two folders, or the cases of a suite.

    `clpix regress RESULTS REFERENCES --help` shows the options for two folders. If a folder has the name of a
    subcommand, such as run, write ./run.
    """


@dataclass(frozen=True)
class Running(Telling):
    """The options of a suite's run."""

    tags: tuple[str, ...] = option(
        "Run only cases with this tag; may be repeated.", "TAG", "--tag", default=(), multiple=True
    )
    failed_first: bool = flag("Begin with the cases that failed last time.")
    shard: str | None = option("Run only part I of N parts of the cases.", "I/N")
    across_devices: bool = flag("Run the cases on every device, and compare what they make.")
    results: str | None = option(f"The folder for results.  [default: {STATE}/results]", "DIR")


@dataclass(frozen=True)
class Accepting:
    """The options of accepting results."""

    source: str | None = option(
        "The report of the run whose results to take; needs --references.  [default: the last run's]",
        "REPORT.json",
        "--from",
    )
    references: str | None = option("The references to change.  [default: those of the run]", "DIR")
    place: str | None = option(
        "Accept them only for this device or platform, such as linux.", "NAME", "--for"
    )
    also: bool = flag("Keep the references, and make the results further ones that are valid, too.")
    remove_missing: bool = flag("Remove references that have no result.")
    recompress: bool = flag("Store PNG files smaller, with the same pixels and other bytes.")
    dry_run: bool = flag("Print what would change, and change nothing.")
    in_ci: bool = flag("Work in a CI job too, which should not approve its own results.")


@command.command(
    _FOLDERS,
    hidden=True,
    examples=(
        "clpix regress new/ expected/",
        "clpix regress new/ expected/ --max-flip 0.01 --report report.html",
        "clpix regress new/ expected/ --min-ssim 0.99 --junit report.xml",
    ),
    groups={**suites.GROUPS},
)
@options.argument("results")
@options.argument("references")
@comparing
@options.collected("telling", Telling)
def folders(telling: Telling, given: GivenOptions, results: str, references: str) -> None:
    """Compare the pictures in RESULTS with those of the same names in REFERENCES, folders included.

    The exit code is 0 if all are alike within the thresholds, or equal if there are none. It is 1 if some differ, and 2
    if some could not be compared, are missing, or have no reference.
    """
    from gpuops.regress.judge import judge, pairs

    with Device(telling.device) as device:
        check_outputs((*folder_and_pictures(results), *folder_and_pictures(references), given.how.mask or ""))
        files = pairs(results, *device.references(references))
        how, limits = given.of(telling), given.thresholds
        jobs = telling.jobs or min(_READERS, os.cpu_count() or 1)
        seen = judge(files, how, lambda _name: limits, device.open, jobs=jobs, memory=telling.memory)
        suites.finish(telling, seen, device, {"results": results, "references": references})


@command.command(
    short_help="The cases of a suite",
    examples=(
        "clpix regress run suite.toml",
        "clpix regress run suite.toml soft --report report.html",
        "clpix regress run suite.toml --tag quick --shard 1/2",
    ),
    groups={"Cases": ("tags", "failed_first", "shard", "across_devices", "results"), **suites.GROUPS},
)
@options.argument("suite", metavar="SUITE.toml")
@options.argument("names", nargs=-1, metavar="[NAMES]...")
@comparing
@options.collected("telling", Running)
def run(telling: Running, given: GivenOptions, suite: str, names: tuple[str, ...]) -> None:
    """Run the cases of SUITE.toml, and compare what they make with the references.

    NAMES are those of cases, or patterns such as 'blur*'. Thresholds on the command line count over the suite's.

    With --across-devices there are no references: each case runs on every device, and the results of any two are
    compared. Without thresholds on the command line they may differ by one level of 16 bits.
    """
    from gpuops.batch.job import shard as of_shard
    from gpuops.regress import manifest
    from gpuops.regress.cases import outcomes

    content = manifest.load(suite)
    cases = manifest.select(content.cases, names, telling.tags)
    if telling.shard is not None:
        cases = of_shard(cases, telling.shard)
    if telling.failed_first:
        failed = {outcome.name for outcome in suites.last().outcomes if not outcome.good}
        cases.sort(key=lambda case: failed.isdisjoint(case.outputs))
    out = Path(telling.results or f"{STATE}/results")
    words = (word for case in cases for word in (*case.inputs, *case.arguments))
    check_outputs(
        (suite, *(str(content.folder / word) for word in words), *folder_and_pictures(content.references)),
        (str(out / output) for case in cases for output in case.outputs),
    )
    if telling.across_devices:
        if telling.memory is not None:
            raise click.UsageError("--across-devices compares whole pictures: leave out --memory")
        _across(telling, given, content, cases, out)
        return
    with Device(telling.device) as device:
        seen = outcomes(
            content, cases, out, *device.references(content.references), given.of(telling), device.open,
            over=given.thresholds, jobs=telling.jobs or os.cpu_count() or 1, memory=telling.memory,
        )  # fmt: skip
        about = {"suite": suite, "results": str(out), "references": content.references}
        if len(cases) < len(content.cases):
            tags, shard = (
                (f"--tag {tag}" for tag in telling.tags),
                telling.shard and f"--shard {telling.shard}",
            )
            about["selection"] = " ".join(filter(None, (*names, *tags, shard)))
        suites.finish(telling, seen, device, about)


def _across(telling: Telling, given: GivenOptions, suite: Suite, cases: list[Case], out: Path) -> None:
    """Runs cases on every device, tells who agrees with whom, and exits."""
    from gpuops.device import list_devices
    from gpuops.regress import agreement, references
    from gpuops.regress.cases import run_cases

    usable = [info for info in list_devices() if info.usable]
    names = [f"{info.index}: {info.name} ({info.platform})" for info in usable]
    if len(usable) < 2:
        raise ParameterError(f"there {'is one device' if usable else 'are no devices'}: nothing to compare")
    made: dict[str, dict[str, str]] = {name: {} for case in cases for name in case.outputs}
    errors: dict[str, dict[str, str]] = {name: {} for name in made}
    for info, device in zip(usable, names, strict=True):
        folder = out / f"{info.index}-{references.slug(info.name)}"
        environment = {"CLPIX_DEVICE": str(info.index)}
        for one in run_cases(cases, suite.folder, folder, telling.jobs or os.cpu_count() or 1, environment):
            for name in one.case.outputs:
                into = errors if one.error else made
                into[name][device] = one.error or str(folder / name)
    with Device(telling.device) as opened:
        how = replace(given.of(telling), metrics=given.metrics or ("max",))
        compared = partial(agreement.agreement, opened.open(), thresholds=given.thresholds, how=how)
        pictures = [compared(name, of, errors=errors[name]) for name, of in made.items()]
    for line in agreement.table(pictures, names):
        click.echo(visible(line))
    apart = sum(not one.good for one in pictures)
    verdict = f"{apart} differ" if apart else "all agree"
    click.echo(f"{len(pictures)} pictures on {len(names)} devices: {verdict}")
    click.get_current_context().exit(1 if apart else 0)


@command.command(
    short_help="Make results the references",
    examples=(
        "clpix regress accept --dry-run",
        "clpix regress accept",
        "clpix regress accept 'so*' --for linux",
    ),
    groups={"Acceptance": options.names(Accepting)},
)
@options.argument("names", nargs=-1, metavar="[NAMES]...")
@options.collected("how", Accepting)
def accept(how: Accepting, names: tuple[str, ...]) -> None:
    """Make results of a run the new references, byte for byte.

    NAMES are names of pictures, or patterns. Without them, all results are taken that are new, renamed or differ. A
    result that has changed since the run is refused, and so is one that is no picture. It takes the place of the
    reference that it was compared with. The references of a renamed picture get the new name.
    """
    from gpuops.regress import acceptance, index, references

    if not (how.in_ci or how.dry_run):
        refuse_in_ci("use --in-ci if it may")
    place = how.place and references.slug(how.place)
    if place == "":
        raise ParameterError(f"--for {how.place}: is no name of a device or platform; give one such as linux")
    seen = suites.last(how.source or LAST)
    target = how.references or (seen.context.get("references") if how.source is None else None)
    if not target:
        raise ParameterError(
            f"{how.source or LAST}: a report does not choose which folder changes: name it by --references"
        )
    chosen = acceptance.choose(seen, names, place=place, also=how.also, remove_missing=how.remove_missing)
    into = index.references(str(target))
    if how.dry_run:
        acceptance.check(seen, chosen, into)
        for name, (source, _, _, _, old) in chosen.items():
            what = f"remove {name}" if source is None else f"accept {name} from {source}"
            click.echo(visible(f"would rename {old} to {name}" if old else f"would {what}"))
        return
    changed = acceptance.accept(seen, chosen, into, recompress=how.recompress)
    for name in changed:
        source, old = chosen[name].source, chosen[name].old
        what = f"renamed {old} to {name}" if old else f"{'removed' if source is None else 'accepted'} {name}"
        click.echo(visible(what))
    click.echo(visible(f"{len(changed)} of {len(chosen)} references changed in {target}"))
    if not how.remove_missing and (left := len(acceptance.missing(seen))):
        click.echo(f"{left} references have no result; --remove-missing removes them")


command.add_command(audit)
command.add_command(serve)


@dataclass(frozen=True)
class Calibrating(ReadingOptions):
    """The options of this command."""

    runs: int = shown(5, "How often to run the cases.", "N", type=click.IntRange(2))
    margin: float = shown(2.0, "Allow M times the noise.", "M", type=float)
    variance: bool = flag("Write references for pictures with noise: the mean of the runs, and its variance.")
    jobs: int | None = JOBS


@command.command(
    short_help="Thresholds from measured noise",
    examples=(
        "clpix regress calibrate suite.toml",
        "clpix regress calibrate suite.toml soft --runs 3",
        "clpix regress calibrate suite.toml --runs 2 --margin 4",
    ),
    groups={"Noise": ("runs", "margin", "variance"), **GROUPS},
)
@options.argument("suite", metavar="SUITE.toml")
@options.argument("names", nargs=-1, metavar="[NAMES]...")
@comparing
@options.collected("how", Calibrating)
def calibrate(how: Calibrating, given: GivenOptions, suite: str, names: tuple[str, ...]) -> None:
    """Run the cases of SUITE.toml several times, and print thresholds that allow how far their results differ.

    They are tables of TOML for the suite. A picture that never changes needs none. With --variance the pictures of
    Monte Carlo renders get references for the Z-test; 16 runs or more make it sharp.
    """
    from gpuops.regress import index, manifest, thresholds
    from gpuops.regress.cases import run_cases

    options.refuse("thresholds are what is measured", *GROUPS["Thresholds"], *GROUPS["As idiff"])
    if not how.margin >= 1:
        raise click.UsageError(f"--margin must be 1 or more, not {how.margin:g}")
    if how.variance:
        refuse_in_ci("calibrate --variance elsewhere")
    content = manifest.load(suite)
    cases = manifest.select(content.cases, names)
    made: dict[str, list[str]] = {name: [] for case in cases for name in case.outputs}
    for number in range(how.runs):
        out = Path(f"{STATE}/calibrate/{number}")
        for one in run_cases(cases, content.folder, out, how.jobs or os.cpu_count() or 1):
            if one.error:
                raise FileError(f"case {one.case.name}: {one.error}")
            for name in one.case.outputs:
                made[name].append(str(out / name))
    with Device(how.device) as device:
        noise = thresholds.noise(device.open(), made, given.of(how))
    said = {}
    if how.variance:
        noisy = {name: made[name] for name, figures in noise.items() if figures}
        known = index.references(content.references)
        said = thresholds.write_references(noisy, f"{STATE}/calibrate/mean", known)
    click.echo(thresholds.to_toml(noise, how.margin, said), nl=False)
