"""Bloom's mip chain with direct reads from global memory, whose work-items make several pixels: for CPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..image import Image
from ..params.border import define
from .mip_ends import Ends, finest, knee

if TYPE_CHECKING:
    from ..gpu import Define, Gpu
    from ..ops.bloom import BloomParams


def down(
    gpu: Gpu, ends: Ends, params: BloomParams, levels: list[Image], count: int, *, first: bool = True
) -> None:
    """Adds levels until there are so many. ``first``: the first of them is the image itself."""
    while len(levels) < count:
        levels.append(_down_wide(gpu, levels[-1], ends, params, first=first and len(levels) == 1))


def total(
    gpu: Gpu, ends: Ends, params: BloomParams, levels: list[Image], shares: list[float], *, first: bool = True
) -> float:
    """Adds levels, of which the last is a total: of it, and of all that are coarser. Returns its factor."""
    down(gpu, ends, params, levels, len(shares), first=first)
    return shares[-1]


def climb(
    gpu: Gpu,
    ends: Ends,
    params: BloomParams,
    levels: list[Image],
    shares: list[float],
    factor: float,
    count: int,
) -> float:
    """Makes totals of levels until there are so many: sum = share · level + tent(sum below it). Returns the factor."""
    while len(levels) > count:
        coarse, fine = levels.pop(), levels[-1]
        _up_wide(gpu, coarse, fine, fine, ends, params, own=shares[len(levels) - 1], scale=factor)
        factor = 1.0
    return factor


def over(
    gpu: Gpu, ends: Ends, params: BloomParams, levels: list[Image], shares: list[float], factor: float
) -> None:
    """Makes the result of the levels, of which the last is a total."""
    scale = climb(gpu, ends, params, levels, shares, factor, 2)
    if ends.not_finite is None:
        _up_wide(gpu, levels[1], ends.source, ends.result, ends, params, own=0.0, scale=scale)
        return
    own, scale = finest(params, shares), params.strength * scale
    _up_wide(gpu, levels[1], ends.source, ends.result, ends, params, own=own, scale=scale, final=True)


def _down_wide(gpu: Gpu, fine: Image, ends: Ends, params: BloomParams, *, first: bool) -> Image:
    planes, height, width = fine.shape
    coarse = fine.like((planes, (height + 1) // 2, (width + 1) // 2))
    _, rows, columns = coarse.shape
    defines = _wide_defines(ends, params.border, whole=first)
    kernel = gpu.kernel(("border", "bloom", "bloom_boxes", "bloom_wide"), "down_wide", FIRST=first, **defines)
    size, local = (-(-columns // 8), rows, 1 if first else planes), kernel.fit(64, 1, 1)
    gpu.launch(
        kernel, size, fine, coarse, height, width, knee(params), params.karis * params.scale, local=local,
        label="bloom down direct",
    )  # fmt: skip
    return coarse


def _up_wide(
    gpu: Gpu,
    coarse: Image,
    fine: Image,
    out: Image,
    ends: Ends,
    params: BloomParams,
    *,
    own: float,
    scale: float,
    final: bool = False,
) -> None:
    planes, height, width = fine.shape
    defines = _wide_defines(ends, params.border, whole=final)
    kernel = gpu.kernel(("border", "bloom", "bloom_boxes", "bloom_wide"), "up_wide", FINAL=final, **defines)
    size, local = (-(-width // 16), -(-height // 2), 1 if final else planes), kernel.fit(64, 1, 1)
    gpu.launch(
        kernel, size, coarse, fine, out, ends.not_finite, height, width, knee(params), float(own), float(scale),
        local=local, label=f"bloom {'over' if final else 'up'} direct",
    )  # fmt: skip


def _wide_defines(ends: Ends, border: str, *, whole: bool) -> dict[str, Define]:
    """The defines of a kernel that takes pixels with all their channels (``whole``), or each plane by itself."""
    defines = (ends.channels, ends.colours) if whole else (1, 1)
    return {**define(border), "WIDE": True, "CHANNELS": defines[0], "COLOURS": defines[1]}
