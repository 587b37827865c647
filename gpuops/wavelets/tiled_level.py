"""The tile of a level that a work-group takes in clkernels/wavelets/dwt_tile.cl."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil, prod
from typing import TYPE_CHECKING

from ..gpu import LATER, BoundLaunch, Define, Gpu
from .extension import TYPES
from .lifting import Lifting

if TYPE_CHECKING:
    from .level import Level

# Bytes of a small image: larger ones take the time that memory takes.
_SMALL, _SMALL_INVERSE = 64 << 20, 40 << 20
_SIDES = (32, 16, 8)  # pairs along a tile's side
_RUN = 4  # pairs that a work-item takes at once, in the smallest tiles
_LOCAL = 24 << 10  # the most bytes of local memory, so that two groups run on a compute unit at once


def pays(nbytes: int, *, inverse: bool, words: bool) -> bool:
    """Whether tiles of an image of ``nbytes`` take less time than bands of rows: as measured on an NVIDIA H200.

    ``words``: rows in bands can be read and written by vectors; other rows go through local memory there, too.
    """
    return nbytes <= (_SMALL_INVERSE if inverse else _SMALL) or not (words or inverse)


def prepared(level: Level) -> BoundLaunch | None:
    """The launch of a level in which each group takes a tile of pairs; None if no tile fits the device.

    Tiles are the largest of which each compute unit gets one, or else the smallest.
    """
    gpu, plan, limits = level.gpu, level.lifting, level.gpu.limits
    defines: dict[str, Define] = {
        "S": TYPES[level.dtype.name], "INVERSE": level.inverse, **level.border
    }  # fmt: skip
    tile = 0
    for side in _SIDES:
        if _bytes(plan, side, level.dtype.itemsize, defines) > min(_LOCAL, limits.local_bytes):
            continue
        tile = side
        if level.planes * prod(ceil(n / side) for n in level.pairs) >= limits.compute_units:
            break
    sources = ("border", "dwt_layout", "dwt_beyond", level.steps, "dwt_tile")
    for items in _groups(gpu, plan, tile) if tile else ():
        kernel = gpu.kernel(sources, "level_tile", **defines, SIDE=tile, RUN=_run(tile), ITEMS=items)
        if kernel.runs(items):
            down, across = (ceil(n / tile) for n in level.pairs)
            return gpu.bind(
                kernel, (down * across * items, level.planes), *[LATER] * 5, level.bands, level.image, level.first,
                across, local=(items, 1), label=level.label("level"), traffic=level.traffic,
            )  # fmt: skip
    return None


def _bytes(plan: Lifting, side: int, itemsize: int, defines: Mapping[str, Define]) -> int:
    """Bytes of local memory: for the samples, and for the places where each row's samples come from."""
    lines = 2 * (plan.left + side + plan.right)
    terms = 3 if defines.get("ANTIREFLECT") or defines.get("SMOOTH") else 1
    return lines * ((lines + 1) * itemsize + -(-terms * (4 + itemsize) // itemsize) * itemsize)


def _groups(gpu: Gpu, plan: Lifting, side: int) -> Iterator[int]:
    """Sizes of groups that the device can run, which lift all rows of a tile: in the fewest rounds first, then in
    more."""
    limits = gpu.limits
    rows, runs = 2 * (plan.left + side + plan.right), side // _run(side)
    at_once = min(rows, min(limits.work_group, *limits.work_item_sizes[:1]) // runs)
    while at_once:
        yield ceil(rows / ceil(rows / at_once)) * runs
        at_once //= 2


def _run(side: int) -> int:
    """The pairs that a work-item takes at once: a quarter of a row or a column, but no fewer than _RUN."""
    return max(_RUN, side // 4)
