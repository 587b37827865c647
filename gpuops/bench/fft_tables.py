"""The results of ``clpix bench fft`` as JSON, as a table and as a chart."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ..files import charts
from . import copies as bench
from .fft import FftRow
from .report_formats import columns

if TYPE_CHECKING:
    from ..gpu import Gpu


def to_json(gpu: Gpu, rows: Sequence[FftRow]) -> dict[str, Any]:
    """Returns the rows, with the device and versions of the measurement, as plain values."""
    more = ("median_ms", "floors", "predicted_ms", "channel_ms", "gbps")
    return bench.document(
        gpu, [{**asdict(row), **{name: getattr(row, name) for name in more}} for row in rows]
    )


def table(gpu: Gpu, rows: Sequence[FftRow]) -> str:
    """Returns the rows as text for a person."""
    header = (
        "forward and inverse", "size", "radices", "launches", "min ms", "median", "formula ms", "µs/channel",
        "× read-write", "formula MB", "half MB", "model MB", "GB/s",
    )  # fmt: skip
    cells = [
        (
            row.variant,
            f"{row.width}×{row.height}×{row.channels}",
            row.plan or "-",
            str(row.launches),
            f"{min(row.ms):.4f}",
            f"{row.median_ms:.4f}",
            bench.cell(row.predicted_ms, 4),
            f"{1e3 * row.channel_ms:.2f}",
            bench.cell(row.floors, 2),
            *(f"{n / 1e6:.2f}" for n in (row.predicted_bytes, row.predicted_half_bytes, row.model_bytes)),
            bench.cell(row.gbps),
        )
        for row in rows
    ]
    lines = [
        bench.heading(gpu),
        *columns(header, cells),
        "R4*: butterflies subdivided into smaller ones, R4: as sums. All kernels of both directions. formula MB: the",
        "documents'; half MB: theirs for half storage; formula ms: what formula MB take at read-write only's speed;",
        "µs/channel: of one direction; model MB: what the launches read and write; GB/s: of the model's at the median.",
    ]
    return "\n".join(lines)


def chart(gpu: Gpu, rows: Sequence[FftRow], path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Writes the rows as bars, a panel for each size, to a PNG or SVG; errors as :func:`gpuops.files.charts.check`."""
    charts.check(path, overwrite=overwrite)
    from matplotlib.figure import Figure

    sizes = list(dict.fromkeys((row.width, row.height) for row in rows))
    figure = Figure(figsize=(8, 0.6 + len(sizes) + 0.24 * len(rows)), layout="constrained")
    figure.suptitle(bench.heading(gpu), fontsize="small", wrap=True)
    panels = figure.subplots(len(sizes), squeeze=False)[:, 0]
    for panel, size in zip(panels, sizes, strict=True):
        shown = [row for row in rows if (row.width, row.height) == size]
        names = [f"{row.variant}   {row.plan}".strip() for row in shown]
        bars = panel.barh(names, [row.median_ms for row in shown])
        panel.bar_label(bars, [f"{row.median_ms:.3g}" for row in shown], padding=3)
        foretold = [
            (row.predicted_ms, name) for row, name in zip(shown, names, strict=True) if row.predicted_ms
        ]
        panel.plot(*zip(*foretold, strict=True), "k|", markersize=10, markeredgewidth=2)
        panel.axvline(shown[0].floor_ms, linestyle="--", color="gray")
        panel.set_xscale("log")
        panel.invert_yaxis()
        panel.margins(x=0.15)
        panel.set_title(f"{size[0]}×{size[1]}, {shown[0].channels} channels")
        panel.set_xlabel("ms, forward and inverse; mark: by the documents' bytes; dashed: read-write only")
    charts.save(figure, path, overwrite=overwrite)
