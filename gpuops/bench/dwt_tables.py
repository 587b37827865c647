"""The tables of ``clpix bench dwt``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import groupby

from ..errors import byte_count
from ..gpu import Gpu
from .copies import Row, heading, ratio
from .dwt import IN_TURN, OVERLAPPED, WHOLE
from .report_formats import cell, columns


def table(gpu: Gpu, rows: Sequence[Row]) -> str:
    """Returns the rows as text for a person: memory, efficiency, times. A last size that lacks variants is left out."""
    sizes = [list(of) for _, of in groupby(rows, _size)]
    if len(sizes[-1]) < len(sizes[0]):
        sizes.pop()
        rows = [row for of in sizes for row in of]
    first = rows[0]
    split = any(row.split for row in rows)
    levels = f"{first.levels} level{'s' if first.levels > 1 else ''}"
    cells = [
        f"{heading(gpu)}  ·  {first.wavelet}, {levels}, one plane of float32",
        "",
        *_memory_table(sizes),
        _largest(gpu, sizes[-1]),
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
    return "\n".join(cells)


def _size(row: Row) -> str:
    return f"{row.width}×{row.height}"


def _memory_table(sizes: Sequence[Sequence[Row]]) -> list[str]:
    """Returns the table of figures 4 and 5, with a line for the rows of each size."""
    cells = [
        (
            _size(of[0]),
            f"{of[0].image_bytes / 1e6:.2f}",
            *(f"{row.peak_bytes / row.image_bytes:.4f}" for row in of),
            str(max(row.table_bytes for row in of)),
        )
        for of in sizes
    ]
    names = (row.variant for row in sizes[0])
    return columns(("memory, × image", "image MB", *names, "table B"), cells)


def _largest(gpu: Gpu, of: Sequence[Row]) -> str:
    """Returns a line on the largest square that fits in the given memory, by the ratio of one measured image."""
    room = {row.variant: row.room_bytes * row.image_bytes / row.peak_bytes for row in of}
    sizes = (f"{name} {math.isqrt(int(min(n, gpu.limits.max_alloc_bytes)) // 4)}" for name, n in room.items())
    given = byte_count(of[0].room_bytes)
    return f"At most, in {given} with one buffer for an image: {'; '.join(sizes)} squared."


# The cells of table 2, by its headings, for a row and one of its parts.
_EFFICIENCY: dict[str, Callable[[Row, Row], str]] = {
    "efficiency": lambda row, part: f"{row.variant}, {part.step}",
    "size": lambda row, _: _size(row),
    "launches": lambda _, part: str(part.launches),
    "min ms": lambda _, part: f"{min(part.ms):.4f}",
    "T ms": lambda _, part: f"{part.median_ms:.4f}",
    "model ms": lambda row, part: cell(ratio(part.model_bytes / 1e6, row.copy_gbps), 4),
    "M MB": lambda _, part: cell(part.model_bytes, 2, per=1e6),
    "table 3 MB": lambda _, part: cell(part.predicted_bytes, 2, per=1e6),
    "M/T GB/s": lambda _, part: cell(part.gbps),
    "P GB/s": lambda row, _: cell(row.copy_gbps),
    "E %": lambda _, part: cell(part.efficiency, per=0.01),
    "useful %": lambda row, part: cell(
        row.useful_efficiency if part.step == WHOLE or _is_one_step(row) else None, per=0.01
    ),
}


def _efficiency_table(rows: Sequence[Row]) -> list[str]:
    """Returns the table of table 2, with a line for each step; the line of an only step says that of the whole."""
    cells = [
        [one(row, part) for one in _EFFICIENCY.values()]
        for row in rows
        for part in (row.parts[:1] if _is_one_step(row) else row.parts)
    ]
    return columns(tuple(_EFFICIENCY), cells)


def _is_one_step(row: Row) -> bool:
    """Says whether the transform has a single step."""
    return len(row.parts) == 2


def _wall_table(rows: Sequence[Row]) -> list[str]:
    """Returns the table of figure 6, with a line for each variant."""
    cells = []
    for row in rows:
        ms = (f"{ms:.3f}" for ms in (row.parts[-1].median_ms, *row.wall_median_ms.values()))
        cells.append((f"{row.variant}{', split' if row.split else ''}", _size(row), *ms))
    return columns(("ms", "size", "kernels", *rows[0].wall_ms), cells)


def _slabs_table(rows: Sequence[Row]) -> list[str]:
    """Returns the table of figure 7, with a line for each variant at each size that is large enough."""
    cells = []
    for row in rows:
        if row.slabs_ms:
            in_turn, overlapped = (row.slabs_median_ms[way] for way in (IN_TURN, OVERLAPPED))
            rates = (f"{row.width * row.height / ms / 1e6:.3f}" for ms in (in_turn, overlapped))
            cells.append((row.variant, _size(row), *rates, f"{in_turn / overlapped:.2f}"))
    if not cells:
        return []
    return [
        "",
        *columns(("Gpixel/s in slabs", "size", IN_TURN, OVERLAPPED, "gain"), cells),
        "From host memory to new arrays there, by way of staging memory, on the host's clock.",
    ]
