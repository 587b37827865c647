"""The options by which pictures are compared: figures, thresholds, and what is left out. `compare` and `regress`
have them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from gpuops.errors import ParameterError
from gpuops.figures import FIGURES, LIMITS
from gpuops.params.comparing import Comparing, Rectangle
from gpuops.params.thresholds import Thresholds

from .options import click_option, gathered

if TYPE_CHECKING:
    from .shared import Shared
    from .suites import ReadingOptions


def _rectangle(value: str) -> Rectangle:
    match = re.fullmatch(r"(\d{1,9}),(\d{1,9}),(\d{1,9}),(\d{1,9})", value, re.ASCII)
    if not match:
        raise click.BadParameter(f"{value!r} is no rectangle: give X,Y,W,H in pixels, such as 0,0,64,16")
    x, y, width, height = map(int, match.groups())
    return x, y, width, height


def _exposures(value: str) -> tuple[float, float]:
    try:
        start, stop = map(float, value.split(","))
    except ValueError:
        words = f"{value!r} are no exposures: give START,STOP in stops, such as -2,3"
        raise click.BadParameter(words) from None
    return start, stop


# The thresholds that idiff has: what stands for a value, and what the help says.
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
# The options that say how pictures are compared, besides the figures: the type, what stands for a value, and the help.
_HOW = {
    "mask": (str, "IMAGE", "Where this picture is black, nothing is compared."),
    "ignore": (_rectangle, "X,Y,W,H", "Nothing in this rectangle is compared; may be repeated."),
    "ppd": (float, "N", "Pixels for each degree of the eye's view, for FLIP."),
    "exposures": (_exposures, "START,STOP", "The exposures of hdr-flip in stops. By default they suit the reference."),
    "window": (click.IntRange(1, 65535), "N", "The side of the window of pixelmatch-window, in pixels."),
    "radius": (click.IntRange(0), "R", "How many pixels away within-radius looks."),
    "tolerance": (click.FloatRange(0, 1, max_open=True), "E", "The error up to which pixels match, for within-radius."),
    "white": (float, "L", "cd/m² of light 1, for PU21 and ΔE ITP."),
}  # fmt: skip

#: The groups of these options in help.
GROUPS = {
    "Figures": ("metrics", "ppd", "exposures", "white", "window", "radius", "tolerance"),
    "Left out": ("mask", "ignore"),
    "Thresholds": tuple(name.replace("-", "_") for name in LIMITS),
    "As idiff": ("idiff", *_IDIFF),
}


@dataclass(frozen=True)
class GivenOptions:
    """The values of these options."""

    how: Comparing
    thresholds: Thresholds
    metrics: tuple[str, ...]

    def of(self, reading: ReadingOptions | Shared) -> Comparing:
        """Returns how pictures are compared that are read by these options."""
        return replace(self.how, space=reading.space, alpha=reading.alpha == "keep", layer=reading.layer)


def _given(**values: Any) -> GivenOptions:
    table = {
        name: value
        for name in (*_IDIFF, *LIMITS)
        if (value := values.pop(name.replace("-", "_"), None)) is not None
    }
    metrics = tuple(values.pop("metrics"))
    how = Comparing(**values)
    if metrics:
        how = replace(how, metrics=metrics)
    try:
        thresholds = Thresholds.of(table)
        if how.idiff and thresholds.limits:
            raise ParameterError(f"{FIGURES[next(iter(thresholds.limits))].option} is no threshold of idiff")
    except ParameterError as error:
        raise click.UsageError(f"--{error}") from None
    return GivenOptions(how, thresholds, metrics)


def _options() -> Iterator[Callable[[Any], Any]]:
    metric = "A figure to print; may be repeated."
    yield click_option("metrics", ["--metric"], type=FIGURES, multiple=True, help=metric)
    for name, figure in LIMITS.items():
        text = f"Alike if {figure.name} is at {'least' if figure.higher else 'most'} V."
        yield click_option(name.replace("-", "_"), type=float, metavar="V", help=text)
    for name, (metavar, text) in _IDIFF.items():
        kind = int if name == "allowfailures" else float
        yield click_option(name, type=kind, metavar=metavar, help=text)
    idiff = "Judge as OpenImageIO's idiff does, holes included."
    yield click_option("idiff", ["--idiff-compatible"], default=False, help=idiff)
    usual = {**vars(Comparing()), "ignore": None}
    for name, (type_, metavar, text) in _HOW.items():
        how = {"multiple": name == "ignore", "default": usual[name], "show_default": True}
        yield click_option(name, type=type_, metavar=metavar, help=text, **how)


#: Adds the options; a command receives them as one ``given`` argument, a :class:`GivenOptions`.
comparing = gathered("given", _given, chain.from_iterable(GROUPS.values()), list(_options()))
