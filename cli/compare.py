"""The command ``clpix compare``, and the options by which pictures are compared, which `regress` has, too."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from gpuops.errors import ParameterError
from gpuops.figures import FIGURES, LIMITS
from gpuops.params.comparing import Comparing, MeasuredPair, Rectangle
from gpuops.params.thresholds import Thresholds
from gpuops.records import dataclass

from . import options
from .options import click_option, gathered
from .shared import STORAGE, Shared

if TYPE_CHECKING:
    from .suites import ReadingOptions

# The exit codes for images that are alike, and for those that differ.
ALIKE, DIFFER = 0, 1
# The figures that are told if nobody says which.
_FIGURES = ("max", "rmse", "psnr", "ssim")


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


@options.command(
    examples=(
        "clpix compare before.png after.png",
        "clpix compare before.png after.png --metric flip -o difference.png",
        "clpix compare before.png after.png --min-ssim 0.99 --json",
    ),
    groups={**GROUPS, "Result": ("as_json",)},
)
@options.argument("first", metavar="A")
@options.argument("second", metavar="B")
@options.declared("output", help="Write a difference picture: black where nothing differs.")
@options.declared("overwrite", help="Replace an existing difference picture (never A or B).")
@comparing
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@options.shared
def command(shared: Shared, given: GivenOptions, first: str, second: str, as_json: bool) -> None:
    """Compare images A and B. The exit code is the verdict. If it matters which one is the reference, it is A.

    0: they are alike within the thresholds, or equal if there are none. 1: they differ. 2: they could not be compared.
    Errors are fractions of the full range: 1 level of an 8-bit image is 1/255. NaN equals NaN.
    """
    from concurrent.futures import ThreadPoolExecutor

    from gpuops.batch import comparison
    from gpuops.batch.access import Access, Threaded, check_input
    from gpuops.batch.item import Item
    from gpuops.errors import DeviceError, json_text, visible
    from gpuops.files import Identities
    from gpuops.files.streams import printable
    from gpuops.metrics.measure import measure
    from gpuops.params.files import STREAM
    from gpuops.process import signals

    from .outputs import check_apart, check_output, check_stdin, check_storage
    from .pipeline import open_gpu, reporting

    options.refuse("figures are of Rec. 709's light", "working")
    if shared.output is None:
        options.refuse("without -o there is no difference picture", "dtype", "colour", *STORAGE)
    if shared.progress:
        options.refuse("two images are one step", "progress")
    how = replace(given.of(shared), metrics=given.metrics or _FIGURES)
    told = [metric for metric in FIGURES if metric in {*how.metrics, *given.thresholds.limits}]
    if shared.output == STREAM:
        raise click.UsageError("stdout is for the figures: give -o a file")
    check_stdin(first, second)
    with reporting(shared) as report:
        paths = [path for path in (first, second) if path != STREAM]
        for path in paths:
            check_input(path, alone=True)
        taken = Identities((*paths, *filter(None, [given.how.mask])))
        check_apart(taken, filter(None, [shared.output]))
        if shared.output is not None:
            check_output(shared, shared.output, taken)
            check_storage(shared, shared.output)
        with ThreadPoolExecutor(2, initializer=signals.leave_to_others) as pool:
            job = shared.of_job()
            if given.how.mask is not None:
                Access(given.how.mask, job, among=comparison.TOGETHER).check_second()
            both_files = [Threaded(pool, path, job, among=comparison.TOGETHER) for path in (first, second)]
            gpu = open_gpu(shared, report)
            item = Item(gpu, shared.output or "", job, Access(first, job))
            output = None if shared.output is None else item.output
            try:
                pair = comparison.opened(gpu, pool, both_files, how, given.thresholds, output)
                measured = item.run(measure, pair, given.thresholds)
                if output is not None:
                    comparison.write_difference(pair, pool, output, measured.gain)
            # With a device, an error of it is no failure of the work but "could not compare".
            except (DeviceError, ParameterError) as error:
                raise ParameterError(f"{first} and {second}: {error}") from error
    shown = measured.gain * measured.data_range
    if as_json:
        result_ = {
            "a": printable(first),
            "b": printable(second),
            "channels": pair.channels,
            "height": pair.reference.height,
            "width": pair.reference.width,
            "space": measured.space,
            **_as_json(measured, told, given.thresholds.table),
            "difference": {"path": printable(shared.output), "gain": shown} if shared.output else None,
        }
        click.echo(json_text(result_, 1))
    else:
        if pair.converted is not None:
            click.echo(visible(f"compared as {pair.converted}"))
        for line in _as_text(measured, told, given.thresholds.table):
            click.echo(visible(line))
        if shared.output is not None:
            click.echo(visible(f"{shared.output}: differences × {shown:.4g}"))
    click.get_current_context().exit(DIFFER if measured.missed else ALIKE)


def _as_text(measured: MeasuredPair, told: Sequence[str], thresholds: dict[str, float]) -> list[str]:
    width = max([5, *map(len, told)])
    lines = [f"{metric:<{width}} {_figure(metric, measured)}" for metric in told]
    lines += [measured.note] if measured.note else []
    if measured.equal:
        return [*lines, "equal"]
    if (worst := measured.worst) is not None:
        values = (" ".join(f"{value:.6g}" for value in side) for side in (worst.reference, worst.result))
        lines.append(f"worst at {worst.x},{worst.y}: {' and '.join(values)}")
    lines.append(f"{measured.differing} of {measured.values} values differ")
    lines += [f"warning: {limit.said}" for limit in measured.warned]
    if measured.missed and thresholds:
        lines.append(f"differ: {'; '.join(limit.said for limit in measured.missed)}")
    elif not measured.missed:
        lines.append("alike within the thresholds")
    return lines


def _figure(metric: str, measured: MeasuredPair) -> str:
    if metric in measured.undefined:
        return measured.undefined[metric]
    value = measured.figures[metric]
    text = FIGURES[metric].text(value)
    if metric == "max" and measured.data_range > 1:
        text += f" ({value * measured.data_range:.0f} of {measured.data_range:.0f} levels)"
    return text


def _as_json(measured: MeasuredPair, told: Sequence[str], thresholds: dict[str, float]) -> dict[str, Any]:
    """Returns figures as plain values."""
    worst = measured.worst
    counts = ("data_range", "values", "differing", "pixels", "bad")
    return {
        **{name: getattr(measured, name) for name in counts},
        **{metric: measured.figures.get(metric) for metric in told},
        "worst": worst and {"x": worst.x, "y": worst.y, "a": worst.reference, "b": worst.result},
        "note": measured.note,
        "thresholds": thresholds,
        "missed": [limit.name for limit in measured.missed],
        "warned": [limit.name for limit in measured.warned],
        "alike": not measured.missed,
    }
