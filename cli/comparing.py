"""The options by which pictures are compared: figures, thresholds, and what is left out. `compare` and `regress`
have them."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from gpuops.errors import ParameterError
from gpuops.figures import FIGURES, LIMITS
from gpuops.params.comparing import Comparing, Rectangle
from gpuops.params.thresholds import Thresholds

from . import types
from .options import added

Command = TypeVar("Command", bound=Callable[..., Any])

if TYPE_CHECKING:
    _RectangleType = click.ParamType[Rectangle]
    _ExposuresType = click.ParamType[tuple[float, float]]
else:
    _RectangleType = _ExposuresType = click.ParamType

# What the help says of the thresholds that idiff has.
_IDIFF = {
    "fail": ("E", "A pixel is bad if a value's error is above E (0 … 1)."),
    "failrelative": ("E", "The error must also be above E relative to the mean of both values."),
    "failpercent": ("P", "They differ if more than P percent of the pixels are bad."),
    "hardfail": ("E", "They differ if any error is above E."),
    "allowfailures": ("N", "They are alike if at most N pixels are bad."),
    "warn": ("E", "As --fail, for a warning."),
    "warnrelative": ("E", "As --failrelative, for a warning."),
    "warnpercent": ("P", "As --failpercent, for a warning."),
    "hardwarn": ("E", "As --hardfail, for a warning."),
}

# The options that say how pictures are compared, besides the figures.
_HOW = ("mask", "ignore", "ppd", "exposures", "white", "window", "radius", "tolerance", "idiff")

#: The groups of these options in help.
GROUPS = {
    "Figures": ("metrics", "ppd", "exposures", "white", "window", "radius", "tolerance"),
    "Left out": ("mask", "ignore"),
    "Thresholds": tuple(name.replace("-", "_") for name in LIMITS),
    "As idiff": ("idiff", *_IDIFF),
}


class _Rectangle(_RectangleType):
    """A parameter type for X,Y,W,H in pixels."""

    name = "rectangle"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Rectangle:
        match = re.fullmatch(r"(\d{1,9}),(\d{1,9}),(\d{1,9}),(\d{1,9})", str(value), re.ASCII)
        if not match:
            self.fail(f"{value!r} is no rectangle: give X,Y,W,H in pixels, such as 0,0,64,16", param, ctx)
        x, y, width, height = (int(part) for part in match.groups())
        return x, y, width, height


class _Exposures(_ExposuresType):
    """A parameter type for START,STOP in stops."""

    name = "exposures"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, float]:
        try:
            start, stop = (float(part) for part in str(value).split(","))
        except ValueError:
            self.fail(f"{value!r} are no exposures: give START,STOP in stops, such as -2,3", param, ctx)
        return start, stop


@dataclass(frozen=True)
class GivenOptions:
    """The values of these options."""

    how: Comparing
    thresholds: Thresholds
    metrics: tuple[str, ...]


def comparing(command: Command) -> Command:
    """Adds the options; the command receives them as one ``given`` argument, a :class:`GivenOptions`."""

    @functools.wraps(command)
    def with_one(**values: Any) -> Any:
        table = {
            name: value
            for name in (*_IDIFF, *LIMITS)
            if (value := values.pop(name.replace("-", "_"), None)) is not None
        }
        metrics = tuple(values.pop("metrics"))
        how = Comparing(**{name: values.pop(name) for name in _HOW})
        if metrics:
            how = replace(how, metrics=metrics)
        try:
            thresholds = Thresholds.of(table)
            if how.idiff and thresholds.limits:
                raise ParameterError(
                    f"{FIGURES[next(iter(thresholds.limits))].option} is no threshold of idiff"
                )
        except ParameterError as error:
            raise click.UsageError(f"--{error}") from None
        return command(given=GivenOptions(how, thresholds, metrics), **values)

    return cast("Command", added(with_one, *_options()))


def _options() -> list[Callable[[Any], Any]]:
    limits = [
        click.option(
            f"--{name}",
            type=float,
            metavar="V",
            help=f"Alike if {figure.name} is at {'least' if figure.higher else 'most'} V.",
        )
        for name, figure in LIMITS.items()
    ]
    counts = [
        click.option(f"--{name}", type=int if name == "allowfailures" else float, metavar=metavar, help=text)
        for name, (metavar, text) in _IDIFF.items()
    ]
    return [
        click.option(
            "--metric",
            "metrics",
            type=types.ChoiceType(FIGURES),
            multiple=True,
            help="A figure to print; may be repeated.",
        ),
        *limits,
        *counts,
        click.option(
            "--idiff-compatible",
            "idiff",
            is_flag=True,
            help="Judge as OpenImageIO's idiff does, holes included.",
        ),
        click.option("--mask", metavar="IMAGE", help="Where this picture is black, nothing is compared."),
        click.option(
            "--ignore",
            type=_Rectangle(),
            multiple=True,
            metavar="X,Y,W,H",
            help="Nothing in this rectangle is compared; may be repeated.",
        ),
        click.option(
            "--ppd", type=float, metavar="N", help="Pixels for each degree of the eye's view, for FLIP."
        ),
        click.option(
            "--exposures",
            type=_Exposures(),
            metavar="START,STOP",
            help="The exposures of hdr-flip in stops. By default they suit the reference.",
        ),
        click.option(
            "--window",
            type=click.IntRange(1, 65535),
            default=64,
            show_default=True,
            metavar="N",
            help="The side of the window of pixelmatch-window, in pixels.",
        ),
        click.option(
            "--radius",
            type=click.IntRange(0),
            default=1,
            show_default=True,
            metavar="R",
            help="How many pixels away within-radius looks.",
        ),
        click.option(
            "--tolerance",
            type=click.FloatRange(0, 1, max_open=True),
            default=0.0,
            show_default=True,
            metavar="E",
            help="The error up to which pixels match, for within-radius.",
        ),
        click.option(
            "--white",
            type=float,
            default=203.0,
            show_default=True,
            metavar="L",
            help="cd/m² of light 1, for PU21 and ΔE ITP.",
        ),
    ]
