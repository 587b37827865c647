"""The command ``clpix devices``."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from gpuops.errors import byte_count, json_text

from . import options

if TYPE_CHECKING:
    from gpuops.device import DeviceInfo


@options.command(
    examples=("clpix devices", "clpix devices --json", "clpix devices --refresh"),
)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.option("--refresh", is_flag=True, help="Check and measure all devices again.")
def command(as_json: bool, refresh: bool) -> None:
    """List all OpenCL devices; those used without --device are marked with *.

    A device is used only after it has run a test correctly, in a process of its own. GB/s: bytes that a copy
    kernel reads and writes. GFLOP/s: float32 multiply-adds. The results are kept until a driver changes.
    """
    from gpuops.device import list_devices, select_all
    from gpuops.errors import GpuopsError

    devices = list_devices(refresh=refresh)
    trouble: GpuopsError | None = None
    chosen: list[int] = []
    try:
        chosen = [info.index for info in select_all()]
    except GpuopsError as error:
        trouble = error
    if as_json:
        from dataclasses import asdict

        listed = [{**asdict(info), "default": info.index in chosen} for info in devices]
        click.echo(json_text({"devices": listed}, 2))
    elif devices:
        lines = table(devices, chosen)
        width = shutil.get_terminal_size().columns
        if sys.stdout.isatty() and max(map(len, lines)) > width:
            lines = paragraphs(devices, chosen, width)
        click.echo("\n".join(lines))
    if trouble:
        raise trouble


# The headings of columns that are aligned left.
TEXTS = [" #", "kind", "name", "platform", "driver", "OpenCL"]
# The headings of columns that are aligned right.
NUMBERS = ["units", "MHz", "memory", "buffer", "local", "group", "fp64", "fp16", "GB/s", "GFLOP/s"]


def table(devices: Sequence[DeviceInfo], chosen: Sequence[int]) -> list[str]:
    """Returns aligned lines; the reason for skipping a device stands below it."""
    rows = [[*TEXTS, *NUMBERS], *(row(info, chosen) for info in devices)]
    widths = [max(len(cells[i]) for cells in rows) for i in range(len(rows[0]))]
    lines = []
    for cells, info in zip(rows, [None, *devices], strict=True):
        aligned = [
            cell.ljust(width) if i < len(TEXTS) else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        lines.append("  ".join(aligned).rstrip())
        if info and not info.usable:
            lines.append(f"    skipped: {info.reason}")
    return lines


def paragraphs(devices: Sequence[DeviceInfo], chosen: Sequence[int], width: int) -> list[str]:
    """Returns the same for a terminal of ``width`` columns, which the table is too wide for."""
    lines = []
    for info in devices:
        number, kind, name, *cells = row(info, chosen)
        titles = [*TEXTS, *NUMBERS][3:]
        # Spaces that lines are not broken at keep each figure beside its title.
        told = ", ".join(
            f"{title} {cell}".replace(" ", "\xa0") for title, cell in zip(titles, cells, strict=True)
        )
        lines.append(f"{number}  {kind}  {name}")
        for text in (told, *([] if info.usable else [f"skipped: {info.reason}"])):
            found = textwrap.wrap(text, width, initial_indent="    ", subsequent_indent="    ")
            lines += [line.replace("\xa0", " ") for line in found]
    return lines


def row(info: DeviceInfo, chosen: Sequence[int]) -> list[str]:
    """Returns the cells of a device's row."""
    return [
        f"{'*' if info.index in chosen else ' '}{info.index}",
        info.kind,
        info.name,
        info.platform,
        info.driver,
        info.version.removeprefix("OpenCL ").partition(" ")[0],
        str(info.compute_units),
        str(info.clock_mhz or "-"),
        byte_count(info.global_bytes),
        byte_count(info.max_alloc_bytes),
        byte_count(info.local_bytes),
        str(info.work_group),
        "yes" if info.double else "no",
        "yes" if info.half else "no",
        figure(info.copy_gbps),
        figure(info.gflops),
    ]


def figure(value: float | None) -> str:
    """Returns a measured number with three digits."""
    return "-" if value is None else f"{value:.0f}" if value >= 100 else f"{value:.3g}"
