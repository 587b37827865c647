"""The subcommands of ``clpix regress`` that test a suite itself: audit, calibrate, and devices beside each other."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpuops.errors import FileError, ParameterError

from . import options
from .comparing import Given, comparing
from .main import visible
from .suites import STATE, Device, Telling, has_places, how_of, is_ci, with_telling

if TYPE_CHECKING:
    from gpuops.metrics.variance import Variance
    from gpuops.params.thresholds import Thresholds
    from gpuops.regress.manifest import Case, Suite


@options.command("audit", short_help="Whether thresholds see pictures that are wrong")
@click.argument("target", metavar="REFERENCES|SUITE.toml")
@click.argument("names", nargs=-1, metavar="[NAMES]...")
@comparing
@with_telling
def audit(telling: Telling, given: Given, target: str, names: tuple[str, ...]) -> None:
    """Change every reference in ways that must fail, and list the changes that pass.

    Another reference, black, a shift by a pixel, a level more or less, red and blue swapped, mirrored, upside down,
    slightly blurred, one NaN. 0: all fail. 1: some thresholds are blind.
    """
    from gpuops.regress import audit as auditing

    with Device(telling.device) as device:
        pictures, variances, thresholds_of = _references_of(target, names, given, device)
        blind = tried = 0
        for name, passed, count in auditing.audit(
            device.open(), pictures, thresholds_of, how_of(telling, given), variances
        ):
            tried += count
            blind += len(passed)
            for one in passed:
                click.echo(visible(f"blind    {name}: {one.mutation} passes ({one.why})"))
        click.echo(f"{len(pictures)} references, {tried} wrong pictures: {blind} pass")
    click.get_current_context().exit(1 if blind else 0)


@options.command("calibrate", short_help="Thresholds from measured noise")
@click.argument("suite", metavar="SUITE.toml")
@click.argument("names", nargs=-1, metavar="[NAMES]...")
@click.option(
    "--runs", type=click.IntRange(2), default=5, show_default=True, metavar="N", help="How often cases run."
)
@click.option(
    "--margin", type=float, default=2.0, show_default=True, metavar="M", help="Allow M times the noise."
)
@click.option(
    "--variance",
    is_flag=True,
    help="Write references of what has noise: the mean of the runs, and its variance.",
)
@comparing
@with_telling
def calibrate(
    telling: Telling,
    given: Given,
    suite: str,
    names: tuple[str, ...],
    runs: int,
    margin: float,
    variance: bool,
) -> None:
    """Run the cases of SUITE.toml several times, and print thresholds that allow how far their results differ.

    They are tables of TOML for the suite. A picture that never changes needs none. With --variance the pictures of
    Monte Carlo renders get references for the Z-test; 16 runs or more make it sharp.
    """
    from gpuops.regress import calibrate as calibrating
    from gpuops.regress import manifest
    from gpuops.regress.cases import run_cases
    from gpuops.regress.references import references as open_references

    if not margin >= 1:
        raise click.UsageError(f"--margin must be 1 or more, not {margin:g}")
    if variance and is_ci():
        raise click.UsageError(
            "this is a CI job (CI is set): --variance would approve its own results; calibrate elsewhere"
        )
    found = manifest.load(suite)
    cases = manifest.select(found.cases, names)
    made: dict[str, list[str]] = {name: [] for case in cases for name in case.outputs}
    for number in range(runs):
        out = Path(f"{STATE}/calibrate/{number}")
        for one in run_cases(cases, found.folder, out, telling.jobs or os.cpu_count() or 1):
            if one.error:
                raise FileError(f"case {one.case.name}: {one.error}")
            for name in one.case.outputs:
                made[name].append(str(out / name))
    with Device(telling.device) as device:
        noise = calibrating.noise(device.open(), made, how_of(telling, given))
    said = {}
    if variance:
        noisy = {name: made[name] for name, figures in noise.items() if figures}
        said = calibrating.write_references(
            noisy, f"{STATE}/calibrate/mean", open_references(found.references)
        )
    click.echo(calibrating.to_toml(noise, margin, said), nl=False)


def _references_of(
    target: str, names: tuple[str, ...], given: Given, device: Device
) -> tuple[dict[str, str], dict[str, Variance], Callable[[str], Thresholds]]:
    """Returns the files of references and the variances by name, and thresholds: of a suite, or of a folder."""
    from fnmatch import fnmatchcase

    from gpuops.metrics import variance
    from gpuops.regress import manifest
    from gpuops.regress.references import references as open_references

    if target.endswith(".toml"):
        suite = manifest.load(target)
        makers = {name: case for case in manifest.select(suite.cases, names) for name in case.outputs}
        where, wanted = suite.references, list(makers)

        def thresholds_of(name: str) -> Thresholds:
            return given.thresholds.over(suite.thresholds(makers[name], name))
    else:
        where, wanted = target, open_references(target).names()
        wanted = [name for name in wanted if not names or any(fnmatchcase(name, one) for one in names)]

        def thresholds_of(name: str) -> Thresholds:
            return given.thresholds

    known = open_references(where)
    places = device.places() if has_places(where) else ()
    found = {name: at for name in wanted if (at := known.nearest(name, places)) is not None}
    if not found:
        raise ParameterError(f"{where}: there are no references")
    variances = {
        name: variance.read(path)
        for name, (_, place) in found.items()
        if (path := known.variance_of(name, place))
    }
    return {name: path for name, (path, _) in found.items()}, variances, thresholds_of


def across(telling: Telling, given: Given, suite: Suite, cases: list[Case], out: Path) -> None:
    """Runs cases on every device, tells who agrees with whom, and exits."""
    from gpuops.device import list_devices
    from gpuops.regress import across as devices
    from gpuops.regress.cases import run_cases
    from gpuops.regress.references import slug

    usable = [info for info in list_devices() if info.usable]
    names = [f"{info.index}: {info.name} ({info.platform})" for info in usable]
    if len(usable) < 2:
        raise ParameterError(
            f"there {'is one device' if usable else 'are no devices'} here: nothing to compare"
        )
    made: dict[str, dict[str, str]] = {name: {} for case in cases for name in case.outputs}
    errors: dict[str, dict[str, str]] = {name: {} for name in made}
    for info, device in zip(usable, names, strict=True):
        folder = out / f"{info.index}-{slug(info.name)}"
        environment = {"CLPIX_DEVICE": str(info.index)}
        for one in run_cases(cases, suite.folder, folder, telling.jobs or os.cpu_count() or 1, environment):
            for name in one.case.outputs:
                if one.error:
                    errors[name][device] = one.error
                else:
                    made[name][device] = str(folder / name)
    with Device(telling.device) as device_:
        how = replace(how_of(telling, given), metrics=given.metrics or ("max",))
        found = [
            devices.agreement(device_.open(), name, made[name], given.thresholds, how, errors[name])
            for name in made
        ]
    for line in devices.table(found, names):
        click.echo(visible(line))
    apart = sum(not one.good for one in found)
    click.echo(f"{len(found)} pictures on {len(names)} devices: {apart} differ" if apart else
               f"{len(found)} pictures on {len(names)} devices: all agree")  # fmt: skip
    click.get_current_context().exit(1 if apart else 0)
