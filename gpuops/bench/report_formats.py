"""A Report as text table, JSON, CSV or Chrome trace; docs/timing.md has the schema."""

from __future__ import annotations

import csv
import io
import os
import platform
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timezone
from importlib import metadata
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError, byte_count, json_text
from ..process import memory
from ..profile import KernelTime, Report

if TYPE_CHECKING:
    from ..device import DeviceInfo

# The phases that move pixels to the device and back.
_TRANSFERS = ("upload", "download")
# What readers and writers do.
_WORK = {"reader": "decode", "writer": "encode"}
# The version of the JSON report's layout.
SCHEMA_VERSION = 1


def device_context(info: DeviceInfo) -> dict[str, Any]:
    """Returns the entries of ``report.context`` that describe the device."""
    return {
        "device": info.name,
        "platform": info.platform,
        "driver": info.driver,
        "opencl": info.version,
        "copy_gbps": info.copy_gbps,
    }


def versions() -> dict[str, Any]:
    """Returns the versions of the software that times depend on, and today's date (UTC)."""
    return {
        **{name: _version(name) for name in ("clpix", "numpy", "pyopencl")},
        "python": platform.python_version(),
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:  # run from a source tree that was never installed
        return None


def totals(report: Report) -> dict[str, Any]:
    """Returns wall-clock time, its part that no phase covers, time of all kernels, peak memory, programs built."""
    wall = report.wall
    return {
        "wall_ms": wall * 1e3,
        "unaccounted_ms": (wall - sum(report.phases.values())) * 1e3,
        "kernels_ms": sum(sum(kernel.ms) for kernel in report.kernels()),
        "peak_host_bytes": memory.peak(),
        "peak_device_bytes": report.peak_device_bytes,
        "builds": dict(report.builds),
    }


def _share(report: Report, kernel: KernelTime) -> float | None:
    """The kernel's GB/s as a fraction of the measured copy bandwidth."""
    copy = report.context.get("copy_gbps")
    return kernel.gbps / copy if copy and kernel.gbps is not None else None


def to_json(report: Report) -> dict[str, Any]:
    """The whole report as plain values, for :func:`gpuops.errors.json_text`."""
    sums = totals(report)  # before the report is made, which it does not report
    return {
        "schema_version": SCHEMA_VERSION,
        "context": {**versions(), **report.context},
        "phases": [{"name": name, "ms": seconds * 1e3} for name, seconds in report.phases.items()],
        "kernels": [_plain(report, kernel) for kernel in report.kernels()],
        "totals": sums,
        **({"results": report.results} if report.results else {}),
    }


def _plain(report: Report, kernel: KernelTime) -> dict[str, Any]:
    return {
        "name": kernel.label,
        "global_size": kernel.global_size,
        "local_size": kernel.local_size or None,
        "count": len(kernel.ms),
        "min_ms": min(kernel.ms),
        "median_ms": kernel.median_ms,
        "max_ms": max(kernel.ms),
        "all_ms": kernel.ms,
        "bytes": kernel.traffic,
        "gbps": kernel.gbps,
        "share_of_copy": _share(report, kernel),
    }


# The columns of the CSV report.
COLUMNS = (
    "kind", "name", "count", "total_ms", "min_ms", "median_ms", "max_ms", "global_size", "local_size",
    "bytes", "gbps", "share_of_copy", "value",
)  # fmt: skip


def to_csv(report: Report) -> str:
    """A row for each phase, each kernel, the totals, and each number found; a cell that does not apply is empty."""
    sums = totals(report)
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for name, seconds in report.phases.items():
        writer.writerow({"kind": "phase", "name": name, "total_ms": seconds * 1e3})
    for kernel in report.kernels():
        sizes = {side: _size(getattr(kernel, side)) for side in ("global_size", "local_size")}
        row = {"kind": "kernel", **_plain(report, kernel), **sizes, "total_ms": sum(kernel.ms)}
        writer.writerow(row)
    for name in ("unaccounted", "wall"):
        writer.writerow({"kind": "total", "name": name, "total_ms": sums[f"{name}_ms"]})
    for result in report.results:
        where = f"{result['input']}: " + (f"frame {result['frame']}: " if "frame" in result else "")
        for name, value in result.items():
            if isinstance(value, int | float) and name != "frame":
                writer.writerow({"kind": "result", "name": f"{where}{name}", "value": value})
    return text.getvalue()


def to_trace(report: Report) -> dict[str, Any]:
    """Chrome trace events (opens in Perfetto): tracks of phases, kernels, transfers, and of each reader and writer.

    Times are microseconds from the report's start; :meth:`Report.trace_events` tells how clocks are aligned.
    """
    tracks: dict[str, tuple[str, list[tuple[str, float, float]]]] = {
        "host": ("phase", [part for part in report.intervals if part[0] not in _TRANSFERS]),
        f"device: {report.context.get('device', 'OpenCL')}": ("kernel", report.trace_events()),
        "transfers": ("phase", [part for part in report.intervals if part[0] in _TRANSFERS]),
    }
    numbers: dict[tuple[str, str], int] = {}
    for kind, thread, start, end in report.spans:
        count = sum(known == kind for known, _ in numbers)
        track = f"{kind} {numbers.setdefault((kind, thread), count + 1)}"
        tracks.setdefault(track, ("file", []))[1].append((_WORK[kind], start, end))
    events: list[dict[str, Any]] = [
        {"ph": "M", "name": "process_name", "pid": 1, "tid": 1, "args": {"name": "clpix"}}
    ]
    for number, (track, (category, stretches)) in enumerate(tracks.items(), 1):
        events.append({"ph": "M", "name": "thread_name", "pid": 1, "tid": number, "args": {"name": track}})
        for name, start, end in stretches:
            at = {"ts": (start - report.started) * 1e6, "dur": (end - start) * 1e6}
            events.append({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": number, **at})
    return {"traceEvents": events, "displayTimeUnit": "ms", "otherData": {**versions(), **report.context}}


# The columns of a terminal that the table is made for.
_WIDTH = 80
# What stands between figures of a line.
_BETWEEN = "  ·  "


def table(report: Report) -> str:
    """The report as text for a person, of lines for a terminal of 80 columns; the total comes first."""
    sums = totals(report)
    known = {**versions(), **report.context}
    copy = known.get("copy_gbps")
    wall, builds = sums["wall_ms"], sums["builds"]
    host, device = byte_count(sums["peak_host_bytes"]), byte_count(sums["peak_device_bytes"])
    head = [
        f"{wall:.2f} ms in all",
        f"{sums['kernels_ms']:.3f} ms in kernels",
        f"peak memory: host {host}, device {device}",
        f"programs: {builds['miss']} built, {builds['hit']} from the cache",
        f"clpix {known['clpix'] or '(not installed)'}",
        f"{known['device']} ({known.get('platform')}, driver {known.get('driver')})"
        if "device" in known
        else "no device",
        f"copies {copy:.0f} GB/s" if copy else "copy bandwidth not measured",
    ]
    spent = [(name, seconds * 1e3) for name, seconds in report.phases.items()]
    phases = [
        (name, f"{ms:.2f}", f"{100 * ms / wall:.1f}" if wall > 0 else "")
        for name, ms in [("wall", wall), *spent, ("unaccounted", sums["unaccounted_ms"])]
    ]
    lines = [*_folded(head), "", *columns(("phase", "ms", "%"), phases)]
    kernels = report.kernels()
    if kernels:
        figures: dict[str, Callable[[KernelTime], str]] = {
            "runs": lambda kernel: str(len(kernel.ms)),
            "min ms": lambda kernel: three_digits(min(kernel.ms)),
            "median": lambda kernel: three_digits(kernel.median_ms),
            "max": lambda kernel: three_digits(max(kernel.ms)),
            "global": lambda kernel: _size(kernel.global_size),
            "local": lambda kernel: _size(kernel.local_size),
            "GB/s": lambda kernel: cell(kernel.gbps),
            "% copy": lambda kernel: cell(_share(report, kernel), per=0.01),
        }
        rows = cells({"kernel": lambda kernel: kernel.label, **figures}, kernels)
        if max(map(len, rows)) > _WIDTH:  # each name gets a line of its own
            names = ["kernel", *(kernel.label for kernel in kernels)]
            below = cells({"": lambda _kernel: "", **figures}, kernels)
            rows = [line for both in zip(names, below, strict=True) for line in both]
        lines += ["", *rows]
    return "\n".join(lines)


def _folded(parts: Sequence[str]) -> list[str]:
    """Puts as many parts into each line as there is room for."""
    lines: list[str] = []
    for part in parts:
        if lines and len(longer := f"{lines[-1]}{_BETWEEN}{part}") <= _WIDTH:
            lines[-1] = longer
        else:
            lines.append(part)
    return lines


def cell(value: float | None, digits: int = 1, *, per: float = 1.0) -> str:
    """Returns a table's cell for ``value`` over ``per``; a dash for None."""
    return "-" if value is None else f"{value / per:.{digits}f}"


def cells(of: Mapping[str, Callable[[Any], str]], rows: Iterable[Any]) -> list[str]:
    """Lines of a table that has a column for each function, which makes a row's cell, by the column's heading."""
    return columns(tuple(of), [[one(row) for one in of.values()] for row in rows])


def columns(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Lines of a text table: the first ``left`` columns to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    sides = [str.ljust] * left + [str.rjust] * (len(widths) - left)
    return [
        "  ".join(side(cell, width) for side, cell, width in zip(sides, row, widths, strict=True))
        for row in (header, *rows)
    ]


def three_digits(value: float | None) -> str:
    """Returns a number in three digits, or with all of those before the point; a dash for None."""
    return "-" if value is None else f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def _size(size: Sequence[int] | None) -> str:
    """A size, without the ones at its end."""
    return re.sub("(×1)+$", "", "×".join(map(str, size))) if size else "-"


# The function that writes each format, by file extension; longer extensions come first, as x.trace.json also
# ends with .json.
FORMATS: dict[str, Callable[[Report], str]] = {
    ".trace.json": lambda report: json_text(to_trace(report), 1) + "\n",
    ".json": lambda report: json_text(to_json(report), 1) + "\n",
    ".csv": to_csv,
}


def check_path(path: str | os.PathLike[str]) -> str:
    """The extension of :data:`FORMATS` that ``path`` has; ParameterError, before any work, if it has none."""
    name = os.fspath(path)
    known = next((extension for extension in FORMATS if name.lower().endswith(extension)), None)
    if known is None:
        raise ParameterError(
            f"{name}: a timing file is named {', '.join(sorted(FORMATS))}; use one of these extensions"
        )
    return known


def write(report: Report, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Writes the report in the format that the extension names, whole or not at all.

    Raises ParameterError for an unknown extension, FileError where the file exists or cannot be written.
    """
    from ..files.output import write_text

    write_text(path, FORMATS[check_path(path)](report), overwrite=overwrite)
