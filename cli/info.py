"""The command ``clpix info``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from . import options
from .shared import STORAGE, Shared

if TYPE_CHECKING:
    from gpuops.batch.file_statistics import Measured
    from gpuops.batch.options import Options
    from gpuops.files import NamedArrays, Picture, Strips
    from gpuops.gpu import Gpu

    from .tables import Table


@options.command(
    examples=(
        "clpix info photo.jpg",
        "clpix info light.exr --stats --histogram",
        "clpix info photos/*.jpg --json",
    ),
    groups={"Figures": ("stats", "histogram", "as_json")},
)
@partial(options.inputs, required=True)
@click.option("--stats", is_flag=True, help="Measure luminance and each channel, on the device.")
@click.option("--histogram", is_flag=True, help="With --stats: show as bars how many values each stop has.")
@click.option("--json", "as_json", is_flag=True, help="Print everything, as one JSON list.")
@click.option("--overwrite", is_flag=True, help="Replace an existing timing file or table.")
@options.declared("frames", help="Look at these frames or pages.")
@options.declared("table", more=" A row for each channel, with --stats.")
@options.shared
def command(shared: Shared, stats: bool, histogram: bool, as_json: bool) -> None:
    """Show what files are: format, size, channels, depth, metadata and layers, or the arrays of files of numbers.

    --stats also measures their values: NaN and infinities, extremes, means, percentiles, dynamic range. It measures
    linear light, for which integers are decoded from sRGB. With --space encoded it measures the stored values.
    """
    options.refuse("nothing is written", "dtype", "colour", "working", *STORAGE)
    options.refuse("results come one after the other", "progress")
    if not stats:
        measuring = ("histogram", "device", "device_memory", "space", "alpha", "repeat", "dump_kernels")
        options.refuse("without --stats nothing is measured", *measuring, "timing", "timing_file", "table")
    if shared.timing_file is None and shared.table is None:
        options.refuse("without --timing-file and --table no file is written", "overwrite")

    import sys
    from contextlib import nullcontext
    from dataclasses import replace

    from gpuops.batch import contents, describe
    from gpuops.errors import DeviceError, GpuopsError, json_text, visible
    from gpuops.files import Identities, Strips
    from gpuops.files.streams import from_stream, printable
    from gpuops.params.files import STREAM

    from .exits import FAILURE
    from .inputs import by_frames
    from .messages import complain, failure
    from .outputs import check_apart, check_stdin
    from .pipeline import open_gpu, reporting
    from .tables import table_of

    check_stdin(*shared.inputs)
    if shared.frames is not None:
        shared = by_frames(replace(shared, below=("",) * len(shared.inputs)), shared.frames)
    how = shared.of_job()
    hows = [replace(how, layer=layer) for layer in shared.layer_of] or [how] * len(shared.inputs)
    gpu: Gpu | None = None
    listed: list[Any] = []
    with table_of(shared) as rows, reporting(shared) as report:
        check_apart(Identities(shared.inputs), ())
        for path, job in zip(shared.inputs, hows, strict=True):
            try:
                with from_stream(sys.stdin.buffer) if path == STREAM else nullcontext(path) as here:
                    with report.phase("decode") if report else nullcontext():
                        fmt, content = contents.read(here, job)
                        if isinstance(content, Strips) and not stats:
                            contents.check(content)
                    if stats and gpu is None:
                        gpu = open_gpu(shared, report)
                    measured = _measured(gpu, here, content, job) if gpu else {}
            except (GpuopsError, OSError, MemoryError) as error:
                if isinstance(error, DeviceError) and gpu is None:  # no file is to blame
                    raise
                message = failure(path, error)
                complain("error", message)
                listed.append({"path": printable(path), "error": printable(message)})
                continue
            if rows is not None:
                _add(rows, path, job.layer if shared.frames else None, measured)
            told = content.picture if isinstance(content, Strips) else content
            if as_json:
                plain = _as_json(measured, histogram) if stats else {}
                listed.append(describe.as_json(path, fmt, told, plain))
                continue
            lines = [*describe.as_text(path, fmt, told), *(_as_text(measured, histogram) if stats else ())]
            click.echo("\n".join(map(visible, lines)))
        if as_json:
            click.echo(json_text(listed, 1))
    if shared.failed or any("error" in one for one in listed):
        click.get_current_context().exit(FAILURE)


def _as_json(measured: Mapping[str, Measured], histogram: bool) -> dict[str, Any]:
    from gpuops.batch.statistics_text import as_json

    return {name: as_json(one, histogram=histogram) for name, one in measured.items()}


def _as_text(measured: Mapping[str, Measured], histogram: bool) -> Iterator[str]:
    from gpuops.batch import statistics_text

    for name, figures in measured.items():
        yield from statistics_text.table(figures, name)
        yield from statistics_text.chart(figures) if histogram else ()
    if measured:
        yield statistics_text.NOTE


def _add(rows: Table, path: str, page: str | None, measured: Mapping[str, Measured]) -> None:
    """Adds a row for each channel."""
    from gpuops.batch.statistics_text import flat_figures

    for name, one in measured.items():
        for channel, of in one.all.items():
            numbers = {
                f"percentile_{key}" if key.isdecimal() else key: n for key, n in flat_figures(of).items()
            }
            figures = {"array": name} if name else {}
            rows.add(path, page, {**figures, "channel": channel, "values": one.values, **numbers})


def _measured(
    gpu: Gpu, path: str, content: Picture | NamedArrays | Strips, job: Options
) -> dict[str, Measured]:
    """Returns statistics by arrays' names; those of a picture are under ""."""
    from gpuops.batch import file_statistics
    from gpuops.batch.file_statistics import numbers
    from gpuops.files import NamedArrays

    with gpu.phase("compute"):
        for _ in range(job.repeat):
            if isinstance(content, NamedArrays):
                figures = numbers(gpu, path, content)
            else:
                figures = {"": file_statistics.measured(gpu, path, content, job)}
    return figures
