"""clpix bench."""

from __future__ import annotations

import click

from . import options


@click.group(short_help="Measure this device", no_args_is_help=False)
def command() -> None:
    """Measure what this device can do."""


@command.command(short_help="Copies within the device, and between it and the host")
@click.option(
    "--size",
    "sizes",
    type=click.IntRange(1),
    multiple=True,
    metavar="MIB",
    help="Size of a copy in MiB; may be repeated. Without it 8, 32, 128 and 512, as memory allows.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON.")
@options.device
def copy(sizes: tuple[int, ...], as_json: bool, device: str | None) -> None:
    """Measure copy bandwidth: the limit that the timing report compares kernels with.

    The median of repeated runs after a warm-up. Within the device bytes count as read and as written.
    """
    import json

    from gpuops import Gpu, Report, bench

    from .main import complain

    gpu = Gpu(device, report=Report())
    fitting = bench.sizes_that_fit(gpu)
    if not sizes and len(fitting) < len(bench.SIZES):
        left_out = ", ".join(f"{size} MiB" for size in bench.SIZES if size not in fitting)
        complain("warning", f"{left_out} left out: too little device memory")
    measurements = list(bench.copy(gpu, sizes or fitting))
    if as_json:
        click.echo(json.dumps(bench.to_json(gpu, measurements), indent=1, ensure_ascii=False))
    else:
        click.echo(bench.table(gpu, measurements))
