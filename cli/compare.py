"""The command ``clpix compare``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from gpuops.figures import FIGURES

from . import options
from .comparing import GROUPS, GivenOptions, comparing
from .shared import STORAGE, Shared

if TYPE_CHECKING:
    from gpuops.gpu import Gpu
    from gpuops.params.comparing import MeasuredPair

# The exit codes for images that are alike, and for those that differ.
ALIKE, DIFFER = 0, 1
# The figures that are told if nobody says which.
_FIGURES = ("max", "rmse", "psnr", "ssim")


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
    from gpuops.batch.access import Access, Threaded
    from gpuops.batch.item import Item
    from gpuops.batch.reader import check_input
    from gpuops.errors import DeviceError, ParameterError, json_text, visible
    from gpuops.files import Identities
    from gpuops.files.streams import printable
    from gpuops.metrics.measure import measure
    from gpuops.params.files import STREAM
    from gpuops.process import signals

    from .checks import check_apart, check_output, check_stdin, check_storage
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
    gpu: Gpu | None = None
    try:
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
                    Access(given.how.mask, job).check_second()
                both_files = [
                    Threaded(pool, path, job, among=comparison.TOGETHER) for path in (first, second)
                ]
                gpu = open_gpu(shared, report)
                item = Item(gpu, shared.output or "", job, Access(first, job))
                output = None if shared.output is None else item.output
                try:
                    pair = comparison.opened(gpu, pool, both_files, how, given.thresholds, output)
                except ParameterError as error:
                    raise ParameterError(f"{first} and {second}: {error}") from error
                measured = item.run(measure, pair, given.thresholds)
                if output is not None:
                    comparison.write_difference(pair, pool, output, measured.gain)
    except DeviceError as error:  # with a device this is no failure of the work but "could not compare"
        if gpu is None:
            raise
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
