"""The command ``clpix bench``."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from . import commands, options, types

if TYPE_CHECKING:
    from gpuops import Gpu

Row = TypeVar("Row")
F = TypeVar("F", bound=Callable[..., Any])


@click.group(
    cls=commands.CommandGroup,
    no_args_is_help=False,
    examples=("clpix bench copy", "clpix bench fft --size 1024", "clpix bench blur --size 3840x2160 --json"),
)
def command() -> None:
    """Measure what this device can do."""


class BenchSize(types.SizeType):
    """A size, written as N or WIDTHxHEIGHT."""

    name = "size"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        """Returns the size as (width, height); the library decides which sizes there are."""
        match = re.fullmatch(r"(\d{1,9})(?:[x×](\d{1,9}))?", value, re.ASCII)
        if not match:
            self.fail(f"{value!r} is no size: give N or WIDTHxHEIGHT, in pixels", param, ctx)
        return int(match[1]), int(match[2] or match[1])


def _open(device: str | None) -> Gpu:
    """Returns the device, with a report, until the command's end."""
    from gpuops import Gpu, Report

    return click.get_current_context().with_resource(Gpu(device, report=Report()))


def _print(gpu: Gpu, rows: Iterable[Row], tables: Any, *, as_json: bool, **about: str) -> list[Row]:
    """Prints all rows by functions of ``tables``, and returns them; ``about`` goes to the table.

    Ctrl-C ends the measuring behind the row that is being measured.
    A device with too little memory for a row counts as a failure (exit code 1), not as a missing device (3).
    """

    from gpuops.errors import DeviceError, json_text

    from . import status
    from .exits import interrupted_by
    from .messages import complain

    found: list[Row] = []
    with interrupted_by(signal.SIGINT) as interruption:
        try:
            for row in rows:
                found.append(row)
                status.show(f"clpix: {len(found)} rows are measured; Ctrl-C ends with these")
                if interruption:
                    break
        except DeviceError as error:
            raise click.ClickException(str(error)) from error
        finally:
            status.hide()
    if as_json:
        click.echo(json_text(tables.to_json(gpu, found), 1))
    else:
        click.echo(tables.table(gpu, found, **about))
    if interruption:
        complain("error", "interrupted; these are the rows that were measured")
        click.get_current_context().exit(128 + signal.SIGINT)
    return found


_json = click.option("--json", "as_json", is_flag=True, help="Print the table as JSON.")


def _sizes(help: str) -> Callable[[F], F]:
    """The option --size; ``help`` tells what the sizes are."""
    return click.option("--size", "sizes", type=BenchSize(), multiple=True, metavar="N|WxH", help=help)


@command.command(
    short_help="Copies within the device, and between it and the host",
    examples=(
        "clpix bench copy",
        "clpix bench copy --size 128 --size 512",
        "clpix bench copy --json --device cpu",
    ),
)
@click.option(
    "--size",
    "sizes",
    type=click.IntRange(1),
    multiple=True,
    metavar="MIB",
    help="The size of a copy in MiB; may be repeated. The default is 8, 32, 128 and 512, as memory allows.",
)
@_json
@options.device
def copy(sizes: tuple[int, ...], as_json: bool, device: str | None) -> None:
    """Measure copy bandwidth: the limit that the timing report compares kernels with.

    The table has medians of repeated runs after a warm-up. Bytes within the device count twice: read and written.
    """
    from gpuops.bench import copies as bench

    from .messages import complain

    gpu = _open(device)
    fitting = bench.sizes_that_fit(gpu)
    if not sizes and len(fitting) < len(bench.SIZES):
        left_out = ", ".join(f"{size} MiB" for size in bench.SIZES if size not in fitting)
        complain("warning", f"{left_out} left out: too little device memory")
    _print(gpu, bench.copy(gpu, sizes or fitting), bench, as_json=as_json)


@command.command(
    short_help="Ways of Fourier transforms, and the least that they could take",
    examples=(
        "clpix bench fft",
        "clpix bench fft --size 1024 --size 512x256",
        "clpix bench fft --size 1024 --storage half --form pairs --chart fft.svg",
    ),
)
@_sizes("The size, in powers of two; may be repeated. The default is 1024, 512 and 512x256, on CPUs 512x256.")
@click.option(
    "--channels", type=click.IntRange(1), default=4, show_default=True, help="The channels of the image."
)
@click.option(
    "--form",
    type=types.ChoiceType(("planes", "pairs")),
    default="planes",
    show_default=True,
    help="A complex number for each channel, or for two.",
)
@click.option(
    "--storage",
    type=types.ChoiceType(("float", "half")),
    default="float",
    show_default=True,
    help="How complex numbers are stored. Half in pairs is StellarWarp's texture.",
)
@_json
@click.option(
    "--chart", metavar="FILE", help="Also draw the table as bars in a .png or .svg (needs matplotlib)."
)
@click.option("--overwrite", is_flag=True, help="Replace an existing chart.")
@options.device
def fft(
    sizes: tuple[tuple[int, int], ...],
    channels: int,
    form: str,
    storage: str,
    as_json: bool,
    chart: str | None,
    overwrite: bool,
    device: str | None,
) -> None:
    """Measure ways of Fourier transforms from two documents, forward and inverse, and compare them with copies.

    UAV has a launch for each radix-2 stage, through global memory. SLM has one for each axis, in local memory. Twiddles
    are from a table or computed, and radices are subdivided (R8*) or not. Data are complex, real, packed, or pixels.
    The table also has the bytes that the documents' formulas predict, and the time for these at a copy's speed.
    """
    from gpuops.bench import fft as bench_fft
    from gpuops.bench import fft_tables as bench_fft_tables
    from gpuops.files import charts

    if chart is None:
        options.refuse("without --chart no file is written", "overwrite")
    else:
        charts.check(chart, overwrite=overwrite)
    gpu = _open(device)
    measured = bench_fft.measure(gpu, sizes, channels, form=form, half=storage == "half")
    rows = _print(gpu, measured, bench_fft_tables, as_json=as_json)
    if chart is not None:
        bench_fft_tables.chart(gpu, rows, chart, overwrite=overwrite)


@command.command(
    short_help="Wavelet transforms in place, and with memory to spare",
    examples=(
        "clpix bench dwt",
        "clpix bench dwt --size 2048 --wavelet 9/7 --levels 3",
        "clpix bench dwt --size 4096 --device-memory 64M",
    ),
)
@_sizes(
    "The size in pixels; may be repeated. The default is 1024 to 16384 as memory allows, on CPUs 512, 1024 and "
    "2048."
)
@click.option(
    "--wavelet",
    default="dd13/7",
    show_default=True,
    metavar="NAME",
    help="A wavelet that has lifting steps: haar, 5/3, 9/7, dd9/7, dd13/7.",
)
@click.option(
    "--levels", type=click.IntRange(1), default=1, show_default=True, help="The levels of the transform."
)
@click.option("--json", "as_json", is_flag=True, help="Print the tables as JSON.")
@options.device_memory
@options.device
def dwt(
    sizes: tuple[tuple[int, int], ...],
    wavelet: str,
    levels: int,
    as_json: bool,
    device_memory: int | None,
    device: str | None,
) -> None:
    """Measure memory, efficiency and time of wavelet transforms, in place and out of place.

    The tables are those of Ikuzawa, Ino and Hagihara, whose in-place method permutes chunks of samples by cycles. It is
    compared with van der Laan's method (out of place), lifting in one pass, strips (lifting in place), and the filter
    bank. Methods that need more than --device-memory are split.
    """
    from gpuops.bench import dwt as bench_dwt
    from gpuops.bench import dwt_tables as bench_dwt_tables

    gpu = _open(device)
    measured = bench_dwt.measure(gpu, sizes, wavelet, levels, memory=device_memory)
    _print(gpu, measured, bench_dwt_tables, as_json=as_json)


def _filters(name: str, what: str, help: str) -> click.Command:
    """Returns the command `clpix bench NAME`, which measures the variants of a filter."""

    @_sizes("The size in pixels; may be repeated. The default is 3840x2160, on CPUs 1280x720.")
    @click.option(
        "--channels",
        type=click.IntRange(1, 4),
        default=3,
        show_default=True,
        help="The planes of float32. The last of 2 and of 4 is alpha.",
    )
    @_json
    @options.device
    def run(sizes: tuple[tuple[int, int], ...], channels: int, as_json: bool, device: str | None) -> None:
        from gpuops.bench import filters as bench_filters

        gpu = _open(device)
        measured = bench_filters.measure(gpu, name, sizes, channels)
        _print(gpu, measured, bench_filters, as_json=as_json, operation=name)

    short = f"{what} by way of local memory, by direct reads, and as clpix does it"
    examples = (
        f"clpix bench {name}",
        f"clpix bench {name} --size 3840x2160",
        f"clpix bench {name} --channels 4 --json",
    )
    return command.command(name, short_help=short, help=help, examples=examples)(run)


blur = _filters(
    "blur",
    "Blur",
    """Measure blurs through local memory, with direct reads, and in other ways, and compare them with a copy.

    d3d11 is the blur of the Direct3D 11 sample HDRToneMappingCS11, in both of its ways. auto is what `clpix blur` does.
    """,
)
bloom = _filters(
    "bloom",
    "Bloom",
    """Measure blooms through local memory, with direct reads, and in other ways, and compare them with a copy.

    d3d11 is the bloom of the Direct3D 11 sample HDRToneMappingCS11 with its metering, in both of its ways. "mip, auto"
    is what `clpix bloom` does.
    """,
)
tonemap = _filters(
    "tonemap",
    "Tone mapping",
    """Measure statistics and tone mapping, through local memory and with direct reads, and compare them with a copy.

    statistics are those of luminance, and tiles is the reduction of the Direct3D 11 sample HDRToneMappingCS11. d3d11 is
    its whole picture, in both of its ways. tonemap is each operator of `clpix tonemap`, with metering.
    """,
)
