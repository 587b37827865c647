"""The command ``clpix regress calibrate``."""

from __future__ import annotations

import os
from pathlib import Path

import click

from gpuops.errors import FileError

from . import options
from .comparing import GROUPS, GivenOptions, comparing
from .suites import STATE, Device, Telling, how_of, is_ci, jobs, with_reading


@options.command(
    "calibrate",
    short_help="Thresholds from measured noise",
    examples=(
        "clpix regress calibrate suite.toml",
        "clpix regress calibrate suite.toml soft --runs 3",
        "clpix regress calibrate suite.toml --runs 2 --margin 4",
    ),
    groups={"Noise": ("runs", "margin", "variance"), **GROUPS},
)
@click.argument("suite", metavar="SUITE.toml")
@click.argument("names", nargs=-1, metavar="[NAMES]...")
@click.option(
    "--runs",
    type=click.IntRange(2),
    default=5,
    show_default=True,
    metavar="N",
    help="How often to run the cases.",
)
@click.option(
    "--margin", type=float, default=2.0, show_default=True, metavar="M", help="Allow M times the noise."
)
@click.option(
    "--variance",
    is_flag=True,
    help="Write references for pictures with noise: the mean of the runs, and its variance.",
)
@comparing
@jobs
@with_reading
def calibrate(
    telling: Telling,
    given: GivenOptions,
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

    options.refuse("thresholds are what is measured", *GROUPS["Thresholds"], *GROUPS["As idiff"])
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
