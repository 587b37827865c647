"""The tables of ``clpix bench dwt``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from ..errors import byte_count
from .dwt import IN_TURN, OVERLAPPED, DwtRow, StepTimes
from .report_formats import cell, cells, columns
from .tables import heading

if TYPE_CHECKING:
    from ..gpu import Gpu


def table(gpu: Gpu, rows: Sequence[DwtRow]) -> str:
    """Returns the rows as text for a person: memory, efficiency, times. A last size that lacks variants is left out."""
    *before, last = _by_size(rows).values()
    if before and len(last) < len(before[0]):
        rows = [row for of in before for row in of]
    first = rows[0]
    split = any(row.split for row in rows)
    levels = f"{first.levels} level{'s' if first.levels > 1 else ''}"
    found = [
        f"{heading(gpu)}  ·  {first.wavelet}, {levels}, one plane of float32",
        "",
        *_memory_table(rows),
        _largest(gpu, rows),
        "",
        *_efficiency_table(rows),
        "P: a copy's GB/s at that size, by a kernel; E = M / T / P with the model's M; useful: with 8 bytes a pixel;",
        "model ms: M at the speed P; table 3: the bytes that the source's formulas give.",
        "",
        *_wall_table(rows),
        "Upload, transform and download one after the other, on the host's clock; host memory is pageable.",
        *(["split: more than the given memory; from and to the device by way of the host."] if split else []),
        *_slabs_table(rows),
    ]
    return "\n".join(found)


def _size(row: DwtRow) -> str:
    return f"{row.width}×{row.height}"


def _by_size(rows: Sequence[DwtRow]) -> dict[str, list[DwtRow]]:
    return {size: list(of) for size, of in groupby(rows, _size)}


def _memory_table(rows: Sequence[DwtRow]) -> list[str]:
    """Returns the table of figures 4 and 5, with a line for each size."""
    sizes = [
        (
            size,
            f"{of[0].image_bytes / 1e6:.2f}",
            *(f"{row.peak_bytes / row.image_bytes:.4f}" for row in of),
            str(max(row.table_bytes for row in of)),
        )
        for size, of in _by_size(rows).items()
    ]
    names = [row.variant for row in next(iter(_by_size(rows).values()))]
    return columns(("memory, × image", "image MB", *names, "table B"), sizes)


def _largest(gpu: Gpu, rows: Sequence[DwtRow]) -> str:
    """Returns a line on the largest square that fits in the given memory, by the ratio of the last measured image."""
    of = list(_by_size(rows).values())[-1]
    room = {row.variant: row.room_bytes * row.image_bytes / row.peak_bytes for row in of}
    sizes = (f"{name} {math.isqrt(int(min(n, gpu.limits.max_alloc_bytes)) // 4)}" for name, n in room.items())
    given = byte_count(of[0].room_bytes)
    return f"At most, in {given} with one buffer for an image: {'; '.join(sizes)} squared."


class _TableLine(NamedTuple):
    """A step of a row. ``alone``: the whole of the row is this step."""

    row: DwtRow
    part: StepTimes
    alone: bool


# The cells of table 2, by its headings.
_EFFICIENCY: dict[str, Callable[[_TableLine], str]] = {
    "efficiency": lambda line: f"{line.row.variant}, {line.part.step}",
    "size": lambda line: _size(line.row),
    "launches": lambda line: str(line.part.launches),
    "min ms": lambda line: f"{min(line.part.ms):.4f}",
    "T ms": lambda line: f"{line.part.median_ms:.4f}",
    "model ms": lambda line: cell(
        line.part.model_bytes / line.row.copy_gbps / 1e6 if line.row.copy_gbps else None, 4
    ),
    "M MB": lambda line: cell(line.part.model_bytes, 2, per=1e6),
    "table 3 MB": lambda line: cell(line.part.predicted_bytes, 2, per=1e6),
    "M/T GB/s": lambda line: cell(line.part.gbps),
    "P GB/s": lambda line: cell(line.row.copy_gbps),
    "E %": lambda line: cell(line.row.efficiency(line.part), per=0.01),
    "useful %": lambda line: cell(line.row.useful_efficiency if line.alone else None, per=0.01),
}


def _efficiency_table(rows: Sequence[DwtRow]) -> list[str]:
    """Returns the table of table 2, with a line for each step; the line of an only step says that of the whole."""
    found = []
    for row in rows:
        parts = row.parts[:1] if len(row.parts) == 2 else row.parts
        found += [_TableLine(row, part, part is parts[-1]) for part in parts]
    return cells(_EFFICIENCY, found)


def _wall_table(rows: Sequence[DwtRow]) -> list[str]:
    """Returns the table of figure 6, with a line for each variant."""
    of: dict[str, Callable[[DwtRow], str]] = {
        "ms": lambda row: f"{row.variant}{', split' if row.split else ''}",
        "size": _size,
        "kernels": lambda row: f"{row.whole.median_ms:.3f}",
        **{way: partial(_wall, way) for way in rows[0].wall_ms},
    }
    return cells(of, rows)


def _wall(way: str, row: DwtRow) -> str:
    return f"{median(row.wall_ms[way]):.3f}"


def _slabs_table(rows: Sequence[DwtRow]) -> list[str]:
    """Returns the table of figure 7, with a line for each variant at each size that is large enough."""
    found = []
    for row in rows:
        if row.slabs_ms:
            in_turn, overlapped = (median(row.slabs_ms[way]) for way in (IN_TURN, OVERLAPPED))
            rates = (f"{row.width * row.height / ms / 1e6:.3f}" for ms in (in_turn, overlapped))
            found.append((row.variant, _size(row), *rates, f"{in_turn / overlapped:.2f}"))
    if not found:
        return []
    return [
        "",
        *columns(("Gpixel/s in slabs", "size", IN_TURN, OVERLAPPED, "gain"), found),
        "From host memory to new arrays there, by way of staging memory, on the host's clock.",
    ]
