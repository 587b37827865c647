"""The command ``clpix devices``."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from gpuops.errors import GpuopsError, byte_count, json_text

from . import options

if TYPE_CHECKING:
    from gpuops.device import DeviceInfo


@options.command(examples=("clpix devices", "clpix devices --json", "clpix devices --refresh"))
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.option("--refresh", is_flag=True, help="Check and measure all devices again.")
def command(as_json: bool, refresh: bool) -> None:
    """List all OpenCL devices; those used without --device are marked with *.

    A device is used only after it has run a test correctly, in a process of its own. GB/s: bytes that a copy
    kernel reads and writes. GFLOP/s: float32 multiply-adds. The results are kept until a driver changes.
    """
    from gpuops.device import list_devices, select_all

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


# How many columns of the table are words, and aligned left.
_WORDS = 6


def table(devices: Sequence[DeviceInfo], chosen: Sequence[int]) -> list[str]:
    """Returns aligned lines; the reason for skipping a device stands below it."""
    from gpuops.bench.report_formats import columns

    rows = [row(info, chosen) for info in devices]
    header, *lines = columns([*rows[0]], [[*cells.values()] for cells in rows], _WORDS)
    output = [header]
    for line, info in zip(lines, devices, strict=True):
        output += [line] if info.usable else [line, f"    skipped: {info.reason}"]
    return output


def paragraphs(devices: Sequence[DeviceInfo], chosen: Sequence[int], width: int) -> list[str]:
    """Returns the same for a terminal of ``width`` columns, which the table is too wide for."""
    lines = []
    for info in devices:
        number, kind, name, *others = row(info, chosen).items()
        lines.append(f"{number[1]}  {kind[1]}  {name[1]}")
        # Spaces that lines are not broken at keep each figure beside its title.
        told = ", ".join(f"{title} {cell}".replace(" ", "\xa0") for title, cell in others)
        for text in (told, *([] if info.usable else [f"skipped: {info.reason}"])):
            pieces = textwrap.wrap(text, width, initial_indent="    ", subsequent_indent="    ")
            lines += [line.replace("\xa0", " ") for line in pieces]
    return lines


def row(info: DeviceInfo, chosen: Sequence[int]) -> dict[str, str]:
    """Returns the cells of a device's row by the headings of their columns."""
    from gpuops.bench.report_formats import three_digits

    return {
        " #": f"{'*' if info.index in chosen else ' '}{info.index}",
        "kind": info.kind,
        "name": info.name,
        "platform": info.platform,
        "driver": info.driver,
        "OpenCL": info.version.removeprefix("OpenCL ").partition(" ")[0],
        "units": str(info.compute_units),
        "MHz": str(info.clock_mhz or "-"),
        "memory": byte_count(info.global_bytes),
        "buffer": byte_count(info.max_alloc_bytes),
        "local": byte_count(info.local_bytes),
        "group": str(info.work_group),
        "fp64": "yes" if info.double else "no",
        "fp16": "yes" if info.half else "no",
        "GB/s": three_digits(info.copy_gbps),
        "GFLOP/s": three_digits(info.gflops),
    }
