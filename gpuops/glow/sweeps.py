"""Bloom's ways to take a picture's rows in parts, by its parameters: what :mod:`gpuops.ops.bloom` says of itself."""

from __future__ import annotations

import math
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING

from ..operation import Measure
from ..tone.tonemap import stops_by_rows
from .by_rows import Shape, shown

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..ops.bloom import BloomParams


def halo(gpu: Gpu, shape: Shape, params: BloomParams) -> float:
    """Returns how many rows above and below a row of the result depends on, beside a coarse image of all rows."""
    if _has_no_glow(params):
        return 0.0
    way = _way(params)
    return way.halo(gpu, shape, params) if way else math.inf


def fixed_bytes(gpu: Gpu, shape: Shape, params: BloomParams) -> float:
    """Returns the bytes that stay taken on the device, or that transforms take beside the traits'."""
    if params.method == "fft" and params.kernel is None and params.preset is None:
        from . import starburst

        return starburst.nbytes(shape, params.radius)
    way = _way(params)
    return way.fixed_bytes(gpu, shape, params) if way else 0.0


def measure(gpu: Gpu, shape: Shape, params: BloomParams) -> Measure | None:
    """Returns what is to be known of a whole picture next, if there is something."""
    if params.exposure is None:
        return stops_by_rows(lambda exposure: replace(params, exposure=exposure))
    if _has_no_glow(params):
        return Measure(None, lambda _: shown(params))
    way = _way(params)
    return way.coarse_of(gpu, shape, params).measure() if way else None


def _has_no_glow(params: BloomParams) -> bool:
    """Says whether all that is done is tone mapping."""
    return params.strength == 0 and params.preset is None


def _way(params: BloomParams) -> ModuleType | None:
    """Returns the module that makes the glow of rows in parts, if there is one."""
    if params.preset is not None or params.strength == 0:
        return None
    if params.method == "mip":
        from . import mip_rows

        return mip_rows
    if params.method == "gaussians":
        from . import gaussians_rows

        return gaussians_rows
    if params.kernel is not None:
        from . import kernel_rows

        return kernel_rows
    return None
