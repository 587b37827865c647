"""The tables of ``clpix bench dwt``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from typing import TYPE_CHECKING

from ..errors import byte_count
from .dwt import IN_TURN, OVERLAPPED, DwtRow
from .report_formats import columns
from .tables import cell, heading, lines

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
    found: dict[str, list[DwtRow]] = {}
    for row in rows:
        found.setdefault(_size(row), []).append(row)
    return found


def _memory_table(rows: Sequence[DwtRow]) -> list[str]:
    """Returns the table of figures 4 and 5, with a line for each size."""
    cells = [
        (
            size,
            f"{of[0].image_bytes / 1e6:.2f}",
            *(f"{row.peak_bytes / row.image_bytes:.4f}" for row in of),
            str(max(row.table_bytes for row in of)),
        )
        for size, of in _by_size(rows).items()
    ]
    names = [row.variant for row in next(iter(_by_size(rows).values()))]
    return columns(("memory, × image", "image MB", *names, "table B"), cells)


def _largest(gpu: Gpu, rows: Sequence[DwtRow]) -> str:
    """Returns a line on the largest square that fits in the given memory, by the ratio of the last measured image."""
    of = list(_by_size(rows).values())[-1]
    room = {row.variant: row.room_bytes * row.image_bytes / row.peak_bytes for row in of}
    sizes = (f"{name} {math.isqrt(int(min(n, gpu.limits.max_alloc_bytes)) // 4)}" for name, n in room.items())
    given = byte_count(of[0].room_bytes)
    return f"At most, in {given} with one buffer for an image: {'; '.join(sizes)} squared."


def _efficiency_table(rows: Sequence[DwtRow]) -> list[str]:
    """Returns the table of table 2, with a line for each step."""
    cells = []
    for row in rows:
        for part in row.parts:
            whole = part is row.whole
            if whole and len(row.parts) == 2:
                continue  # the line of the only step already says it
            efficiency = row.efficiency(part)
            useful = row.useful_efficiency if whole or len(row.parts) == 2 else None
            cells.append(
                (
                    f"{row.variant}, {part.step}",
                    _size(row),
                    str(part.launches),
                    f"{min(part.ms):.4f}",
                    f"{part.median_ms:.4f}",
                    cell(part.model_bytes / row.copy_gbps / 1e6 if row.copy_gbps else None, 4),
                    f"{part.model_bytes / 1e6:.2f}",
                    cell(part.predicted_bytes, 2, per=1e6),
                    cell(part.gbps),
                    f"{row.copy_gbps:.1f}",
                    cell(efficiency, per=0.01),
                    cell(useful, per=0.01),
                )
            )
    header = (
        "efficiency", "size", "launches", "min ms", "T ms", "model ms", "M MB", "table 3 MB", "M/T GB/s", "P GB/s",
        "E %", "useful %",
    )  # fmt: skip
    return columns(header, cells)


def _wall_table(rows: Sequence[DwtRow]) -> list[str]:
    """Returns the table of figure 6, with a line for each variant."""
    cells: dict[str, Callable[[DwtRow], str]] = {
        "ms": lambda row: f"{row.variant}{', split' if row.split else ''}",
        "size": _size,
        "kernels": lambda row: f"{row.whole.median_ms:.3f}",
        **{way: partial(_wall, way) for way in rows[0].wall_ms},
    }
    return lines(cells, rows)


def _wall(way: str, row: DwtRow) -> str:
    return f"{median(row.wall_ms[way]):.3f}"


def _slabs_table(rows: Sequence[DwtRow]) -> list[str]:
    """Returns the table of figure 7, with a line for each variant at each size that is large enough."""
    cells = []
    for row in rows:
        if row.slabs_ms:
            in_turn, overlapped = (median(row.slabs_ms[way]) for way in (IN_TURN, OVERLAPPED))
            rates = (f"{row.width * row.height / ms / 1e6:.3f}" for ms in (in_turn, overlapped))
            cells.append((row.variant, _size(row), *rates, f"{in_turn / overlapped:.2f}"))
    if not cells:
        return []
    return [
        "",
        *columns(("Gpixel/s in slabs", "size", IN_TURN, OVERLAPPED, "gain"), cells),
        "From host memory to new arrays there, by way of staging memory, on the host's clock.",
    ]
