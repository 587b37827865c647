"""Bloom's mip chain with direct reads from global memory, whose work-items make several pixels: for CPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..image import Image
from ..params.border import define
from .mip_ends import Ends, finest, knee

if TYPE_CHECKING:
    from ..gpu import Define, Gpu
    from ..ops.bloom import BloomParams


def wide(gpu: Gpu, ends: Ends, params: BloomParams) -> None:
    """Goes down the chain and up again."""
    shares = params.levels(ends.size[0])
    chain = [ends.source]
    while len(chain) < len(shares):
        chain.append(_down_wide(gpu, chain[-1], ends, params, first=len(chain) == 1))
    # From the coarsest up: sum = share·level + tent(sum below it).
    scale = shares[-1]
    total = chain.pop()
    while len(chain) > 1:
        level = chain.pop()
        _up_wide(gpu, total, level, level, ends, params, own=shares[len(chain)], scale=scale)
        total, scale = level, 1.0
    if ends.not_finite is None:
        _up_wide(gpu, total, ends.source, ends.result, ends, params, own=0.0, scale=scale)
        return
    own, scale = finest(params, shares), params.strength * scale
    _up_wide(gpu, total, ends.source, ends.result, ends, params, own=own, scale=scale, final=True)


def _down_wide(gpu: Gpu, fine: Image, ends: Ends, params: BloomParams, *, first: bool) -> Image:
    planes, height, width = fine.shape
    coarse = fine.like((planes, (height + 1) // 2, (width + 1) // 2))
    _, rows, columns = coarse.shape
    defines = _wide_defines(ends, params.border, whole=first)
    kernel = gpu.kernel(("border", "bloom", "bloom_boxes", "bloom_wide"), "down_wide", FIRST=first, **defines)
    size, local = (-(-columns // 8), rows, 1 if first else planes), kernel.fit(64, 1, 1)
    gpu.launch(
        kernel, size, fine, coarse, height, width, knee(params), params.karis * params.scale, local=local,
        label="bloom down direct", traffic=fine.nbytes + coarse.nbytes,
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
        traffic=coarse.nbytes + fine.nbytes + out.nbytes,
    )  # fmt: skip


def _wide_defines(ends: Ends, border: str, *, whole: bool) -> dict[str, Define]:
    """The defines of a kernel that takes pixels with all their channels (``whole``), or each plane by itself."""
    defines = (ends.channels, ends.colours) if whole else (1, 1)
    return {**define(border), "WIDE": True, "CHANNELS": defines[0], "COLOURS": defines[1]}
