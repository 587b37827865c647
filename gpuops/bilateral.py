"""Bilateral filter: a blur that keeps edges, exact (no grid, no bins), at a cost that grows with the window's area."""

from __future__ import annotations

from dataclasses import dataclass
from math import e, log2
from typing import TYPE_CHECKING, overload

import numpy as np
import numpy.typing as npt

from .errors import ParameterError
from .gpu import Local
from .image import Image
from .operands import on_device, shaped_like
from .params.bilateral import BilateralParams

if TYPE_CHECKING:
    from .gpu import Gpu, Kernel

_SOURCE = ("border", "bilateral")
_ROWS_CPU, _STRIP, _BAND = 2, 128, 32  # rows at a time; columns and rows of a tile
_ROWS, _GROUP = 4, (32, 8)
_MOST_LOCAL = 32768  # bytes of a group elsewhere, so that several run at once
_DIRECT_PITCH = 1 << 16
_LEAST, _NEVER = 1e-30, -1e30  # of sigma_spatial; an exponent, as float32 holds it


def bilateral(gpu: Gpu, image: Image, params: BilateralParams) -> Image:
    """The bilateral filter of a planar float32 Image.

    The colour planes have one weight together, by the Euclidean distance of the colours; alpha, where there is one, is
    averaged by the same weights but is no part of the distance. Colours are expected premultiplied by alpha, so that
    the distance is between what pixels show, and colours and alpha stay in step. A pixel with a value that is not
    finite weighs nothing elsewhere, and its own result is itself. Where the window is one pixel or a sigma is 0, the
    input itself is the result.

    Within 2e-6 of the range of values in the window. Source: Tomasi & Manduchi, "Bilateral filtering for gray and color
    images", ICCV 1998.
    """
    if not (params.radius and params.sigma_color and params.sigma_spatial):
        return image
    planes, height, width = image.shape
    cpu = gpu.limits.is_cpu
    defines = {f"BORDER_{params.border.upper()}": True, "COLOURS": image.colours, "ALPHA": image.alpha}
    kernel = gpu.kernel(_SOURCE, "bilateral", ROWS=_ROWS_CPU if cpu else _ROWS, WIDE=cpu, **defines)
    tile = _tile_on_cpu(gpu, planes, params.radius) if cpu else _tile(kernel, planes, params.radius)
    taps, exponents = _taps(params, _DIRECT_PITCH if tile is None else tile.pitch)
    tables, result = (gpu.array(taps), gpu.array(exponents)), image.like()
    scale, cval = (log2(e) / 2) ** 0.5 / params.sigma_color, float(params.cval)
    options = {"label": "bilateral", "traffic": 2 * image.nbytes}
    if tile is None:
        kernel = gpu.kernel(_SOURCE, "bilateral_direct", ROWS=1, **defines)
        gpu.launch(
            kernel, (width, height), image, *tables, result, height, width, params.radius, len(taps), scale, cval,
            local=kernel.fit(*_GROUP), **options,
        )  # fmt: skip
        return result
    local = (1, 1) if cpu else (tile.columns, tile.rows // _ROWS)
    groups = -(-width // tile.columns), -(-height // tile.rows)
    gpu.launch(
        kernel, (groups[0] * local[0], groups[1] * local[1]), image, *tables, result, height, width, params.radius,
        len(taps), tile.columns, tile.rows, tile.pitch, scale, cval, Local(tile.nbytes), local=local, **options,
    )  # fmt: skip
    return result


@dataclass(frozen=True)
class _Tile:
    """Results of a group; in local memory they are with a margin of ``radius``."""

    planes: int
    radius: int
    columns: int
    rows: int

    @property
    def pitch(self) -> int:
        return self.columns + 2 * self.radius

    @property
    def nbytes(self) -> int:
        return self.planes * (self.rows + 2 * self.radius) * self.pitch * 4


def _tile_on_cpu(gpu: Gpu, planes: int, radius: int) -> _Tile | None:
    columns, rows = _STRIP, _BAND
    while (tile := _Tile(planes, radius, columns, rows)).nbytes > gpu.limits.local_bytes:
        if rows > _ROWS_CPU:
            rows //= 2
        elif columns > 16:
            columns //= 2
        else:
            return None
    return tile


def _tile(kernel: Kernel, planes: int, radius: int) -> _Tile | None:
    columns, items = kernel.fit(*_GROUP)
    while (tile := _Tile(planes, radius, columns, items * _ROWS)).nbytes > min(
        _MOST_LOCAL, kernel.gpu.limits.local_bytes
    ):
        if items == 1:
            return None
        items //= 2
    return tile


def _taps(params: BilateralParams, pitch: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """The window's samples but for the middle one: where they are, and their weights' logarithms (base 2)."""
    radius = params.radius
    y, x = (np.arange(-radius, radius + 1)[at] for at in (np.s_[:, None], np.s_[None, :]))
    inside = (abs(x) <= np.array(params.reaches)[:, None]) & ((y != 0) | (x != 0))
    offsets, squares = (y + radius) * pitch + x + radius, y * y + x * x
    exponents = np.maximum(-log2(e) / 2 * squares[inside] / max(params.sigma_spatial, _LEAST) ** 2, _NEVER)
    return offsets[inside].astype(np.int32), exponents.astype(np.float32)
