"""Bloom's ways to take a picture's rows in parts, by its parameters: what :mod:`gpuops.ops.bloom` says of itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..operation import Measure, Reach
from ..tone.tonemap import stops_by_rows
from .by_rows import Coarse, Shape, shown

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..params.bloom import BloomParams


def reach(gpu: Gpu, shape: Shape, params: BloomParams) -> Reach:
    """Returns how many rows above and below a row of the result depends on, beside a coarse image of all rows."""
    if _has_no_glow(params):
        return Reach(0)
    way = _way(gpu, shape, params)
    return Reach(way.halo) if way else Reach()


def fixed_bytes(gpu: Gpu, shape: Shape, params: BloomParams) -> float:
    """Returns the bytes that stay taken on the device, or that transforms take beside the traits'."""
    if params.method == "fft" and params.kernel is None and params.preset is None:
        from . import starburst

        return starburst.nbytes(shape, params.radius)
    way = _way(gpu, shape, params)
    return way.fixed_bytes if way else 0.0


def measure(gpu: Gpu, shape: Shape, params: BloomParams) -> Measure | None:
    """Returns what is to be known of a whole picture next, if there is something."""
    if params.exposure is None:
        return stops_by_rows(lambda exposure: replace(params, exposure=exposure))
    if _has_no_glow(params):
        return Measure(None, lambda _: shown(params))
    way = _way(gpu, shape, params)
    return way.measure() if way else None


def _has_no_glow(params: BloomParams) -> bool:
    """Says whether all that is done is tone mapping."""
    return params.strength == 0 and params.preset is None


def _way(gpu: Gpu, shape: Shape, params: BloomParams) -> Coarse | None:
    """Returns the way to make the glow of rows in parts, if there is one."""
    if params.preset is not None or params.strength == 0:
        return None
    if params.method == "mip":
        from .mip_rows import MipLevels

        return MipLevels(gpu, shape, params)
    if params.method == "gaussians":
        from .gaussians_rows import Sum

        return Sum(gpu, shape, params)
    if params.kernel is not None:
        from .kernel_rows import KernelGlow

        return KernelGlow(gpu, shape, params)
    return None
