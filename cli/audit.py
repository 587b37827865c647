"""The command ``clpix regress audit``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from gpuops.errors import ParameterError, visible
from gpuops.params.thresholds import Thresholds

from . import options
from .compare import GROUPS, GivenOptions, comparing
from .suites import Device, ReadingOptions

if TYPE_CHECKING:
    from gpuops.metrics.variance import Variance


@options.command(
    short_help="Whether thresholds see pictures that are wrong",
    examples=(
        "clpix regress audit expected/",
        "clpix regress audit expected/ --max-error 0.001",
        "clpix regress audit suite.toml soft",
    ),
    groups={**GROUPS},
)
@options.argument("target", metavar="REFERENCES|SUITE.toml")
@options.argument("names", nargs=-1, metavar="[NAMES]...")
@comparing
@options.collected("telling", ReadingOptions)
def audit(telling: ReadingOptions, given: GivenOptions, target: str, names: tuple[str, ...]) -> None:
    """Change every reference in ways that must fail, and list the changes that pass.

    The changes are: another reference, black, a shift by a pixel, a level more or less, red and blue swapped, mirrored,
    upside down, slightly blurred, one NaN. The exit code is 0 if all fail, and 1 if thresholds miss some.
    """
    from gpuops.regress import thresholds as auditing

    with Device(telling.device) as device:
        pictures, variances, thresholds_of = _references_of(target, names, given, device)
        blind = tried = 0
        how = given.of(telling)
        for name, passed, count in auditing.audit(device.open(), pictures, thresholds_of, how, variances):
            tried += count
            blind += len(passed)
            for one in passed:
                click.echo(visible(f"blind    {name}: {one.mutation} passes ({one.why})"))
        click.echo(f"{len(pictures)} references, {tried} wrong pictures: {blind} pass")
    click.get_current_context().exit(1 if blind else 0)


def _references_of(
    target: str, names: tuple[str, ...], given: GivenOptions, device: Device
) -> tuple[dict[str, str], dict[str, Variance], Callable[[str], Thresholds]]:
    """Returns the files of references and the variances by name, and thresholds: of a suite, or of a folder."""
    from fnmatch import fnmatchcase

    from gpuops.metrics import variance
    from gpuops.regress import manifest

    if target.endswith(".toml"):
        suite = manifest.load(target)
        cases = manifest.select(suite.cases, names)
        made = ((case, name) for case in cases for name in case.outputs)
        thresholds = {name: given.thresholds.over(suite.thresholds(case, name)) for case, name in made}
        where = suite.references
        known, places = device.references(where)
    else:
        where, (known, places) = target, device.references(target)
        wanted = (n for n in known.names() if not names or any(fnmatchcase(n, one) for one in names))
        thresholds = dict.fromkeys(wanted, given.thresholds)
    nearest = {name: at for name in thresholds if (at := known.nearest(name, places)) is not None}
    if not nearest:
        raise ParameterError(f"{where}: there are no references")
    variances = {
        name: variance.read(path)
        for name, (_, place) in nearest.items()
        if (path := known.variance_of(name, place))
    }
    return {name: path for name, (path, _) in nearest.items()}, variances, thresholds.__getitem__
