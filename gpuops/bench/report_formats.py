"""A Report as text table, JSON, CSV or Chrome trace; docs/timing.md has the schema."""

from __future__ import annotations

import csv
import io
import json
import os
import platform
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from importlib import metadata
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError
from ..profile import KernelTime, Report, peak_host_bytes

if TYPE_CHECKING:
    from ..device import DeviceInfo

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
        "peak_host_bytes": peak_host_bytes(),
        "peak_device_bytes": report.peak_device_bytes,
        "builds": dict(report.builds),
    }


def _share(report: Report, kernel: KernelTime) -> float | None:
    """The kernel's GB/s as a fraction of the measured copy bandwidth."""
    copy = report.context.get("copy_gbps")
    return kernel.gbps / copy if copy and kernel.gbps is not None else None


def to_json(report: Report) -> dict[str, Any]:
    """The whole report as plain values, for :func:`json.dumps`."""
    sums = totals(report)  # before the report is made, which it does not report
    return {
        "schema_version": SCHEMA_VERSION,
        "context": {**versions(), **report.context},
        "phases": [{"name": name, "ms": seconds * 1e3} for name, seconds in report.phases.items()],
        "kernels": [
            {
                "name": kernel.label,
                "global_size": list(kernel.global_size),
                "local_size": list(kernel.local_size) if kernel.local_size else None,
                "count": len(kernel.ms),
                "min_ms": min(kernel.ms),
                "median_ms": kernel.median_ms,
                "max_ms": max(kernel.ms),
                "all_ms": list(kernel.ms),
                "bytes": kernel.traffic,
                "gbps": kernel.gbps,
                "share_of_copy": _share(report, kernel),
            }
            for kernel in report.kernels()
        ],
        "totals": sums,
        **({"results": report.results} if report.results else {}),
    }


# The columns of the CSV report.
COLUMNS = (
    "kind", "name", "count", "total_ms", "min_ms", "median_ms", "max_ms", "global_size", "local_size",
    "bytes", "gbps", "share_of_copy",
)  # fmt: skip


def to_csv(report: Report) -> str:
    """A row for each phase, each kernel, and the totals; a cell that does not apply is empty."""
    sums = totals(report)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for name, seconds in report.phases.items():
        writer.writerow(["phase", name, "", seconds * 1e3, *[""] * 8])
    for kernel in report.kernels():
        times = (sum(kernel.ms), min(kernel.ms), kernel.median_ms, max(kernel.ms))
        sizes = (_size(kernel.global_size), _size(kernel.local_size))
        rates = (kernel.traffic, kernel.gbps, _share(report, kernel))
        writer.writerow(["kernel", kernel.label, len(kernel.ms), *times, *sizes, *rates])
    for name in ("unaccounted", "wall"):
        writer.writerow(["total", name, "", sums[f"{name}_ms"], *[""] * 8])
    return text.getvalue()


def to_trace(report: Report) -> dict[str, Any]:
    """Chrome trace events (opens in Perfetto): the host's phases on one track, the kernels on another.

    Times are microseconds from the report's start; :meth:`Report.trace_events` tells how clocks are aligned.
    """
    process = 1
    host, device = 1, 2
    events: list[dict[str, Any]] = [
        {"ph": "M", "name": "process_name", "pid": process, "tid": host, "args": {"name": "clpix"}},
        {"ph": "M", "name": "thread_name", "pid": process, "tid": host, "args": {"name": "host"}},
        {"ph": "M", "name": "thread_name", "pid": process, "tid": device,
         "args": {"name": f"device: {report.context.get('device', 'OpenCL')}"}},
    ]  # fmt: skip
    tracks = ((host, "phase", report.intervals), (device, "kernel", report.trace_events()))
    for track, category, stretches in tracks:
        for name, start, end in stretches:
            events.append(
                {"ph": "X", "cat": category, "name": name, "pid": process, "tid": track,
                 "ts": (start - report.started) * 1e6, "dur": (end - start) * 1e6}
            )  # fmt: skip
    return {"traceEvents": events, "displayTimeUnit": "ms", "otherData": {**versions(), **report.context}}


def table(report: Report) -> str:
    """The report as text for a person."""
    sums = totals(report)
    known = {**versions(), **report.context}
    copy = known.get("copy_gbps")
    context = [
        f"clpix {known['clpix'] or '(not installed)'}",
        f"{known['device']} ({known.get('platform')}, driver {known.get('driver')})"
        if "device" in known
        else "no device",
        f"copies {copy:.0f} GB/s" if copy else "copy bandwidth not measured",
    ]
    wall, unaccounted = sums["wall_ms"], sums["unaccounted_ms"]
    spent = [(name, seconds * 1e3) for name, seconds in report.phases.items()]
    phases = [
        (name, f"{ms:.2f}", f"{100 * ms / wall:.1f}" if wall > 0 else "")
        for name, ms in [*spent, ("unaccounted", unaccounted), ("wall", wall)]
    ]
    kernels = [_table_row(report, kernel) for kernel in report.kernels()]
    blocks = ["  ·  ".join(context), *columns(("phase", "ms", "%"), phases)]
    if kernels:
        header = ("kernel", "runs", "min ms", "median", "max", "global", "local", "MB", "GB/s", "% of copy")
        blocks += ["", *columns(header, kernels)]
    builds = sums["builds"]
    host, device = sums["peak_host_bytes"] / 1e6, sums["peak_device_bytes"] / 1e6
    last = (
        f"{sums['kernels_ms']:.3f} ms in kernels",
        f"peak memory: host {host:.0f} MB, device {device:.0f} MB",
        f"programs: {builds['miss']} built, {builds['hit']} from the cache",
    )
    blocks += ["", "  ·  ".join(last)]
    return "\n".join(blocks)


def _table_row(report: Report, kernel: KernelTime) -> tuple[str, ...]:
    share = _share(report, kernel)
    return (
        kernel.label,
        str(len(kernel.ms)),
        f"{min(kernel.ms):.4f}",
        f"{kernel.median_ms:.4f}",
        f"{max(kernel.ms):.4f}",
        _size(kernel.global_size),
        _size(kernel.local_size),
        f"{kernel.traffic / 1e6:.2f}" if kernel.traffic else "-",
        f"{kernel.gbps:.1f}" if kernel.gbps is not None else "-",
        f"{100 * share:.1f}" if share is not None else "-",
    )


def columns(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a text table: the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    return [
        "  ".join(
            [
                row[0].ljust(widths[0]),
                *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)),
            ]
        )
        for row in (header, *rows)
    ]


def _size(size: Sequence[int] | None) -> str:
    return "×".join(map(str, size)) if size else "-"


def _text(convert: Callable[[Report], dict[str, Any]]) -> Callable[[Report], str]:
    return lambda report: json.dumps(convert(report), indent=1, ensure_ascii=False) + "\n"


# The function that writes each format, by file extension; longer extensions come first, as x.trace.json also
# ends with .json.
FORMATS: dict[str, Callable[[Report], str]] = {
    ".trace.json": _text(to_trace),
    ".json": _text(to_json),
    ".csv": to_csv,
}


def check_path(path: str | os.PathLike[str]) -> str:
    """The extension of :data:`FORMATS` that ``path`` has; ParameterError, before any work, if it has none."""
    name = os.fspath(path)
    for extension in FORMATS:
        if name.lower().endswith(extension):
            return extension
    raise ParameterError(
        f"{name}: a timing file is named {', '.join(sorted(FORMATS))}; use one of these extensions"
    )


def write(report: Report, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Writes the report in the format that the extension names, whole or not at all.

    Raises ParameterError for an unknown extension, FileError where the file exists or cannot be written.
    """
    convert = FORMATS[check_path(path)]
    from ..files.output import atomic

    text = convert(report)
    with atomic(path, overwrite=overwrite) as temporary, open(temporary, "w", encoding="utf-8") as file:
        file.write(text)
