"""The command ``clpix bench``."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Sequence
from dataclasses import make_dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from . import commands, options
from .messages import complain, hide_progress, show_progress
from .shared import flag, option, picture_size, shown

if TYPE_CHECKING:
    from gpuops import Gpu
    from gpuops.bench.copies import Row


@click.group(
    cls=commands.CommandGroup,
    no_args_is_help=False,
    examples=("clpix bench copy", "clpix bench fft --size 1024", "clpix bench blur --size 3840x2160 --json"),
)
def command() -> None:
    """Measure what this device can do."""


def _run(
    given: Any, measure: Callable[[Gpu], Iterable[Row]], table: Callable[[Gpu, Sequence[Row]], str]
) -> tuple[Gpu, list[Row]]:
    """Measures on the device that is given, prints all rows as a ``table`` or as JSON, and returns both.

    Ctrl-C ends the measuring behind the row that is being measured.
    A device with too little memory for a row counts as a failure (exit code 1), not as a missing device (3).
    """
    from gpuops import Gpu, Report
    from gpuops.bench.copies import to_json
    from gpuops.errors import DeviceError, json_text

    from .exits import interrupted_by

    gpu = click.get_current_context().with_resource(Gpu(given.device, report=Report()))
    rows: list[Row] = []
    with interrupted_by(signal.SIGINT) as interruption:
        try:
            for row in measure(gpu):
                rows.append(row)
                show_progress(f"clpix: {len(rows)} rows are measured; Ctrl-C ends with these")
                if interruption:
                    break
        except DeviceError as error:
            raise click.ClickException(str(error)) from error
        finally:
            hide_progress()
    if given.as_json:
        click.echo(json_text(to_json(gpu, rows), 1))
    else:
        click.echo(table(gpu, rows))
    if interruption:
        complain("error", "interrupted; these are the rows that were measured")
        click.get_current_context().exit(128 + signal.SIGINT)
    return gpu, rows


def _measuring(
    name: str, short: str, *examples: str, **own: Any
) -> Callable[[Callable[[Any], None]], click.Command]:
    """Makes a function the command `clpix bench NAME`, which is given the values of its ``own`` options and others."""
    lines = [f"clpix bench {name} {example}".rstrip() for example in examples]
    made = command.command(name, short_help=short, examples=lines)
    declared = {**own, "as_json": flag("Print the table as JSON.", "--json"), "device": None}
    kind = make_dataclass("Measuring", [(one, Any, how) for one, how in declared.items()])
    return lambda run: made(options.collected("given", kind)(run))


def _sizes(help: str, metavar: str = "N|WxH", kind: Any = picture_size) -> Any:
    """The option --size; ``help`` tells what the sizes are."""
    return option(help, metavar, "--size", default=(), type=kind, multiple=True)


@_measuring(
    "copy",
    "Copies within the device, and between it and the host",
    *("", "--size 128 --size 512", "--json --device cpu"),
    sizes=_sizes(
        "The size of a copy in MiB; may be repeated. The default is 8, 32, 128 and 512, as memory allows.",
        "MIB",
        click.IntRange(1),
    ),
)
def copy(given: Any) -> None:
    """Measure copy bandwidth: the limit that the timing report compares kernels with.

    The table has medians of repeated runs after a warm-up. Bytes within the device count twice: read and written.
    """
    from gpuops.bench import copies as bench

    def measure(gpu: Gpu) -> Iterable[Row]:
        fitting = bench.sizes_that_fit(gpu)
        if not given.sizes and len(fitting) < len(bench.SIZES):
            left_out = ", ".join(f"{size} MiB" for size in bench.SIZES if size not in fitting)
            complain("warning", f"{left_out} left out: too little device memory")
        return bench.copy(gpu, given.sizes or fitting)

    _run(given, measure, bench.table)


@_measuring(
    "fft",
    "Ways of Fourier transforms, and the least that they could take",
    *("", "--size 1024 --size 512x256", "--size 1024 --storage half --form pairs --chart fft.svg"),
    sizes=_sizes(
        "The size, in powers of two; may be repeated. The default is 1024, 512 and 512x256, on CPUs 512x256."
    ),
    channels=shown(4, "The channels of the image.", type=click.IntRange(1)),
    form=shown("planes", "A complex number for each channel, or for two.", type=("planes", "pairs")),
    storage=shown(
        "float",
        "How complex numbers are stored. Half in pairs is StellarWarp's texture.",
        type=("float", "half"),
    ),
    chart=option("Also draw the table as bars in a .png or .svg (needs matplotlib).", "FILE"),
    overwrite=flag("Replace an existing chart."),
)
def fft(given: Any) -> None:
    """Measure ways of Fourier transforms from two documents, forward and inverse, and compare them with copies.

    UAV has a launch for each radix-2 stage, through global memory. SLM has one for each axis, in local memory. Twiddles
    are from a table or computed, and radices are subdivided (R8*) or not. Data are complex, real, packed, or pixels.
    The table also has the bytes that the documents' formulas predict, and the time for these at a copy's speed.
    """
    from gpuops.bench import fft as bench
    from gpuops.files import charts

    if given.chart is None:
        options.refuse("without --chart no file is written", "overwrite")
    else:
        charts.check(given.chart, overwrite=given.overwrite)
    half = given.storage == "half"
    measure = partial(bench.measure, sizes=given.sizes, channels=given.channels, form=given.form, half=half)
    gpu, rows = _run(given, measure, bench.table)
    if given.chart is not None:
        bench.chart(gpu, rows, given.chart, overwrite=given.overwrite)


@_measuring(
    "dwt",
    "Wavelet transforms in place, and with memory to spare",
    *("", "--size 2048 --wavelet 9/7 --levels 3", "--size 4096 --device-memory 64M"),
    sizes=_sizes(
        "The size in pixels; may be repeated. The default is 1024 to 16384 as memory allows, on CPUs 512, 1024 and "
        "2048."
    ),
    wavelet=shown("dd13/7", "A wavelet that has lifting steps: haar, 5/3, 9/7, dd9/7, dd13/7.", "NAME"),
    levels=shown(1, "The levels of the transform.", type=click.IntRange(1)),
    device_memory=None,
)
def dwt(given: Any) -> None:
    """Measure memory, efficiency and time of wavelet transforms, in place and out of place.

    The tables are those of Ikuzawa, Ino and Hagihara, whose in-place method permutes chunks of samples by cycles. It is
    compared with van der Laan's method (out of place), lifting in one pass, strips (lifting in place), and the filter
    bank. Methods that need more than --device-memory are split.
    """
    from gpuops.bench import dwt as bench
    from gpuops.bench import dwt_tables

    how = (given.sizes, given.wavelet, given.levels)
    _run(given, lambda gpu: bench.measure(gpu, *how, memory=given.device_memory), dwt_tables.table)


# The options of filters.
_OF_FILTERS = {
    "sizes": _sizes("The size in pixels; may be repeated. The default is 3840x2160, on CPUs 1280x720."),
    "channels": shown(
        3, "The planes of float32. The last of 2 and of 4 is alpha.", type=click.IntRange(1, 4)
    ),
}


def _filter(name: str, what: str) -> Callable[[Callable[[], None]], click.Command]:
    """Makes the command `clpix bench NAME`, which measures the variants of a filter, with a function's docstring."""
    examples = ("", "--size 3840x2160", "--channels 4 --json")
    short = f"{what} by way of local memory, by direct reads, and as clpix does it"

    def made(about: Callable[[], None]) -> click.Command:
        def run(given: Any) -> None:
            from gpuops.bench import filters as bench

            measure = partial(bench.measure, operation=name, sizes=given.sizes, channels=given.channels)
            _run(given, measure, partial(bench.table, operation=name))

        run.__doc__ = about.__doc__
        return _measuring(name, short, *examples, **_OF_FILTERS)(run)

    return made


@_filter("blur", "Blur")
def blur() -> None:
    """Measure blurs through local memory, with direct reads, and in other ways, and compare them with a copy.

    d3d11 is the blur of the Direct3D 11 sample HDRToneMappingCS11, in both of its ways. auto is what `clpix blur` does.
    """


@_filter("bloom", "Bloom")
def bloom() -> None:
    """Measure blooms through local memory, with direct reads, and in other ways, and compare them with a copy.

    d3d11 is the bloom of the Direct3D 11 sample HDRToneMappingCS11 with its metering, in both of its ways. "mip, auto"
    is what `clpix bloom` does.
    """


@_filter("tonemap", "Tone mapping")
def tonemap() -> None:
    """Measure statistics and tone mapping, through local memory and with direct reads, and compare them with a copy.

    statistics are those of luminance, and tiles is the reduction of the Direct3D 11 sample HDRToneMappingCS11. d3d11 is
    its whole picture, in both of its ways. tonemap is each operator of `clpix tonemap`, with metering.
    """
