"""The cases of a suite on every device, for ``clpix regress run --across-devices``."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpuops.errors import ParameterError, visible

from .comparing import GivenOptions
from .suites import Device, Telling

if TYPE_CHECKING:
    from gpuops.regress.manifest import Case, Suite


def across(telling: Telling, given: GivenOptions, suite: Suite, cases: list[Case], out: Path) -> None:
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
        how = replace(given.of(telling), metrics=given.metrics or ("max",))
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
