"""The command ``clpix regress calibrate``."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import click

from gpuops.errors import FileError

from . import options
from .comparing import GROUPS, GivenOptions, comparing
from .shared import flag, shown
from .suites import JOBS, STATE, Device, ReadingOptions, is_ci


@dataclass(frozen=True)
class Calibrating(ReadingOptions):
    """The options of this command."""

    runs: int = shown(5, "How often to run the cases.", "N", type=click.IntRange(2))
    margin: float = shown(2.0, "Allow M times the noise.", "M", type=float)
    variance: bool = flag("Write references for pictures with noise: the mean of the runs, and its variance.")
    jobs: int | None = JOBS


@options.command(
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
    from gpuops.regress import calibrate as calibrating
    from gpuops.regress import manifest
    from gpuops.regress.cases import run_cases
    from gpuops.regress.references import references as open_references

    options.refuse("thresholds are what is measured", *GROUPS["Thresholds"], *GROUPS["As idiff"])
    if not how.margin >= 1:
        raise click.UsageError(f"--margin must be 1 or more, not {how.margin:g}")
    if how.variance and is_ci():
        raise click.UsageError(
            "this is a CI job (CI is set): --variance would approve its own results; calibrate elsewhere"
        )
    found = manifest.load(suite)
    cases = manifest.select(found.cases, names)
    made: dict[str, list[str]] = {name: [] for case in cases for name in case.outputs}
    for number in range(how.runs):
        out = Path(f"{STATE}/calibrate/{number}")
        for one in run_cases(cases, found.folder, out, how.jobs or os.cpu_count() or 1):
            if one.error:
                raise FileError(f"case {one.case.name}: {one.error}")
            for name in one.case.outputs:
                made[name].append(str(out / name))
    with Device(how.device) as device:
        noise = calibrating.noise(device.open(), made, given.of(how))
    said = {}
    if how.variance:
        noisy = {name: made[name] for name, figures in noise.items() if figures}
        known = open_references(found.references)
        said = calibrating.write_references(noisy, f"{STATE}/calibrate/mean", known)
    click.echo(calibrating.to_toml(noise, how.margin, said), nl=False)
