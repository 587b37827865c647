"""The command ``clpix compare``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from gpuops.params.compare import METRICS, SSIM_SIZE, CompareParams

from . import options

if TYPE_CHECKING:
    from gpuops.gpu import Gpu
    from gpuops.metrics.compare import Comparison

# The exit code for images that are alike.
ALIKE = 0
# The exit code for images that differ.
DIFFER = 1


@options.command(short_help="How far two images differ; the verdict is the exit code")
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option(
    "-o", "--output", metavar="OUTPUT", help="Write a difference picture: black where nothing differs."
)
@click.option("--overwrite", is_flag=True, help="Replace an existing difference picture (never A or B).")
@click.option(
    "--metric",
    "metrics",
    type=options.Choice(METRICS),
    multiple=True,
    help="Which figures to print; may be repeated. Without it all.",
)
@click.option("--max-error", type=float, metavar="E", help="Alike if no value differs by more, of 0…1.")
@click.option("--min-psnr", type=float, metavar="P", help="Alike if the PSNR is at least P dB.")
@click.option("--min-ssim", type=float, metavar="S", help="Alike if the structural similarity is at least S.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@options.shared
def command(
    shared: options.Shared,
    first: str,
    second: str,
    metrics: tuple[str, ...],
    max_error: float | None,
    min_psnr: float | None,
    min_ssim: float | None,
    as_json: bool,
) -> None:
    """Compare images A and B: figures on stdout, the verdict as exit code.

    0: alike within the thresholds (without a threshold: equal). 1: they differ. 2: they could not be compared.
    Errors are fractions of the full range: 1 level of an 8-bit image is 1/255. NaN equals NaN.
    """
    import json
    from dataclasses import replace

    from gpuops.batch.item import Item
    from gpuops.batch.reader import Reader, check_input
    from gpuops.errors import DeviceError, FileError, ParameterError
    from gpuops.files.streams import printable
    from gpuops.metrics import compare
    from gpuops.params.files import STREAM

    from .checks import check_output, check_stdin
    from .pipeline import open_gpu, reporting

    if shared.output is None:
        options.refuse("without -o there is no difference picture", "dtype")
    if shared.progress:
        options.refuse("two images are one step", "progress")
    params = CompareParams(metrics or METRICS, max_error=max_error, min_psnr=min_psnr, min_ssim=min_ssim)
    if shared.output == STREAM:
        raise click.UsageError("stdout is for the figures: give -o a file")
    check_stdin(first, second)
    gpu: Gpu | None = None
    try:
        with reporting(shared, (first, second)) as report:
            paths = [path for path in (first, second) if path != STREAM]
            for path in paths:
                check_input(path)
            if shared.output is not None:
                check_output(shared, shared.output, paths)
            with Reader(shared.layer) as reader:
                reader.begin(first)
                gpu = open_gpu(shared, report)
                with gpu.phase("decode"):
                    pictures = [reader.read(path) for path in (first, second)]
            try:
                a, b, data_range = compare.pair(
                    gpu, *pictures, space=shared.space, alpha=shared.alpha == "keep"
                )
            except ParameterError as error:
                raise ParameterError(f"{first} and {second}: {error}") from error
            params = replace(params, data_range=data_range)
            item = Item(gpu, first, shared.output or "", shared.of_job(), reader)
            comparison = item.run(compare.compare, gpu, a, b, params)
            gain = compare.visible_gain(comparison, data_range)
            if shared.output is not None:
                item.output.save(compare.difference(gpu, a, b, gain), "uint8", display=True)
    except (FileError, DeviceError) as error:  # here this is no failure of the work but "could not compare"
        if gpu is None and isinstance(error, DeviceError):
            raise
        raise ParameterError(str(error)) from error
    if as_json:
        figures = _as_json(comparison, params)
        size = dict(zip(("channels", "height", "width"), a.shape, strict=True))
        picture = (
            {"path": printable(shared.output), "gain": gain * data_range}
            if shared.output is not None
            else None
        )
        result = {
            "a": printable(first),
            "b": printable(second),
            **size,
            "space": compare.space_of(a),
            **figures,
            "difference": picture,
        }
        click.echo(json.dumps(result, indent=1, ensure_ascii=False))
    else:
        if (converted := compare.converted_to(a, *pictures)) is not None:
            click.echo(f"compared as {converted}")
        for line in _as_text(comparison, params):
            click.echo(line)
        if shared.output is not None:
            click.echo(f"{printable(shared.output)}: differences × {gain * data_range:.4g}")
    click.get_current_context().exit(ALIKE if comparison.alike(params) else DIFFER)


def _as_text(comparison: Comparison, params: CompareParams) -> list[str]:
    levels = comparison.max * params.data_range
    notes = f" ({levels:.0f} of {params.data_range:.0f} levels)" if params.data_range > 1 else ""
    undefined = f"not defined below {SSIM_SIZE}×{SSIM_SIZE} pixels"
    texts = {
        "max": f"{comparison.max:.6g}{notes}",
        "rmse": f"{comparison.rmse:.6g}",
        "psnr": f"{comparison.psnr:.2f} dB",
        "ssim": f"{comparison.ssim:.6f}" if comparison.ssim is not None else undefined,
    }
    lines = [f"{metric:<5} {texts[metric]}" for metric in params.measured]
    if comparison.equal:
        return [*lines, "equal"]
    share = f"{comparison.differing} of {comparison.values} values differ"
    if not params.thresholds:
        return [*lines, share]
    missed = comparison.exceeded(params)
    kinds = {"max": "allows", "psnr": "needs", "ssim": "needs"}
    verdict = (
        "differ: " + ", ".join(f"{name} {kinds[name]} {limit:g}" for name, limit in missed.items())
        if missed
        else "alike within the thresholds"
    )
    return [*lines, share, verdict]


def _as_json(comparison: Comparison, params: CompareParams) -> dict[str, Any]:
    """Returns figures as plain values; numbers that JSON lacks become "inf", "-inf" or "nan"."""
    figures = {metric: getattr(comparison, metric) for metric in params.measured}
    return {
        "data_range": params.data_range,
        "values": comparison.values,
        "differing": comparison.differing,
        **{k: v if v is None or math.isfinite(v) else str(v) for k, v in figures.items()},
        "thresholds": params.thresholds,
        "missed": list(comparison.exceeded(params)),
        "alike": comparison.alike(params),
    }
