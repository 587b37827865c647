"""Convolution with weights of their own along y and x: launches of separable.cl and both.cl."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .gpu import Local
from .image import Image
from .planes import in_turn

if TYPE_CHECKING:
    from .gpu import Gpu

Weights = npt.NDArray[np.float64]  # of −radius … radius

_STRIP, _BAND, _REACH = 512, 64, 48  # both axes on a CPU: columns and rows of a work-item; the largest radius
_ITEMS, _COLUMNS, _ROWS, NEAR = 128, 4, 4, 19  # both axes elsewhere: see both.cl; the largest radius
_GROUPS, _LEAST_BAND = 3, 8  # groups of a compute unit, which run at once; rows of a group, at least


@dataclass(frozen=True)
class Taps:
    """What to convolve with, along (y, x): symmetric float64 weights; and what stands outside the image."""

    weights: tuple[Weights, Weights]
    border: str = "reflect"
    cval: float = 0.0
    method: str = "auto"  # direct or local; auto is direct on CPUs
    name: str = "taps"  # in reports

    @property
    def radii(self) -> tuple[int, int]:
        """Half-widths along y and x."""
        y, x = (len(weights) // 2 for weights in self.weights)
        return y, x


def convolve_axes(gpu: Gpu, image: Image, taps: Taps, *, overwrite_input: bool = False) -> Image:
    """The planar float32 Image convolved along both axes; weights of one tap (1) leave an axis as it is.

    Where no axis has more, the input itself is the result. With ``overwrite_input`` the result may take the input's
    memory.
    """
    axes = [axis for axis in (1, 0) if taps.radii[axis]]  # x first: rows are read in memory order
    if not axes:
        return image
    weights = {axis: _on_device(gpu, taps.weights[axis]) for axis in (0, 1)}
    direct = taps.method == "direct" or (taps.method == "auto" and gpu.limits.is_cpu)
    if direct and len(axes) == 2 and max(taps.radii) <= _REACH:
        return _both_direct(gpu, image, taps, weights, overwrite_input=overwrite_input)
    if not direct and max(taps.radii) <= NEAR:
        return _both_local(gpu, image, taps, weights, overwrite_input=overwrite_input)
    result = image if overwrite_input and len(axes) == 2 else image.like()
    turns = in_turn(image.shape[0], image.nbytes)
    batch = turns[0].stop
    between = gpu.empty((batch, *image.shape[1:])) if len(axes) == 2 else None
    for at in turns:
        here, source = (image, at.start), (image, at.start)
        for axis in axes:
            here = (result, at.start) if axis == axes[-1] or between is None else (between, 0)
            _axis(gpu, source, here, batch, taps, axis, weights[axis], direct=direct)
            source = here
    return result


def _on_device(gpu: Gpu, weights: Weights) -> Image:
    rounded = _rounded(weights)
    return gpu.kept(("weights", rounded.tobytes()), lambda: gpu.array(rounded))


def _rounded(weights: Weights) -> npt.NDArray[np.float32]:
    """The weights in float32; what rounding took from their sum goes to the middle one, so that it stays as it is."""
    rounded = weights.astype(np.float32)
    rounded[len(rounded) // 2] += np.float32(math.fsum(weights) - math.fsum(rounded.tolist()))
    return rounded


def _both_direct(
    gpu: Gpu, image: Image, taps: Taps, weights: dict[int, Image], *, overwrite_input: bool
) -> Image:
    _, height, width = image.shape
    defines = {f"BORDER_{taps.border.upper()}": True, "STRIP": _STRIP, "BAND": _BAND, "REACH": _REACH}
    kernel = gpu.kernel(("border", "both"), "both_direct", **defines)

    def launch(part: Image, first: int) -> None:
        gpu.launch(
            kernel, (-(-width // _STRIP), -(-height // _BAND), part.shape[0]), image, weights[0], weights[1], part,
            np.uint64(first * height * width), height, width, *taps.radii, float(taps.cval),
            local=(1, 1, 1), label=f"{taps.name} xy direct", traffic=2 * part.nbytes,
        )  # fmt: skip

    return _to_part(image, launch, overwrite_input=overwrite_input)


def _both_local(
    gpu: Gpu, image: Image, taps: Taps, weights: dict[int, Image], *, overwrite_input: bool
) -> Image:
    _, height, width = image.shape
    (radius_y, radius_x), items = taps.radii, _ITEMS
    while True:
        defines = {
            f"BORDER_{taps.border.upper()}": True,
            "RADIUS_Y": radius_y,
            "RADIUS_X": radius_x,
            "ITEMS": items,
            "ROWS": _ROWS,
        }
        kernel = gpu.kernel(("border", "both"), "both_local", **defines)
        if kernel.fit(items) == (items,) or items == 1:
            break
        items //= 2
    tiles = -(-width // (items * _COLUMNS))
    bands = max(1, _GROUPS * gpu.limits.compute_units // (tiles * image.shape[0]))
    band = max(_LEAST_BAND, -(-height // bands))

    def launch(part: Image, first: int) -> None:
        gpu.launch(
            kernel, (tiles * items, -(-height // band), part.shape[0]), image, weights[0], weights[1], part,
            np.uint64(first * height * width), height, width, band, float(taps.cval),
            local=(items, 1, 1), label=f"{taps.name} xy local", traffic=2 * part.nbytes,
        )  # fmt: skip

    return _to_part(image, launch, overwrite_input=overwrite_input)


def _to_part(image: Image, launch: Callable[[Image, int], None], *, overwrite_input: bool) -> Image:
    """What ``launch`` makes of the input's planes from a number on, plane by plane where it is to take its memory."""
    if not overwrite_input:
        result = image.like()
        launch(result, 0)
        return result
    for at in in_turn(image.shape[0], image.nbytes):
        part = image.like((at.stop - at.start, *image.shape[1:]))
        launch(part, at.start)
        image.put(at, part)
    return image


def _axis(
    gpu: Gpu,
    source: tuple[Image, int],
    target: tuple[Image, int],
    planes: int,
    taps: Taps,
    axis: int,
    weights: Image,
    *,
    direct: bool,
) -> None:
    """Convolves ``planes`` planes along one axis, from and to an image's planes that begin at a number."""
    (image, first_in), (result, first_out) = source, target
    height, width = image.shape[1:]
    radius = taps.radii[axis]
    defines = {f"BORDER_{taps.border.upper()}": True, "ROWS": axis == 1}
    label = f"{taps.name} {'x' if axis else 'y'} {'direct' if direct else 'local'}"
    traffic = 2 * planes * height * width * 4
    size: tuple[int, ...]
    dims: tuple[int, ...]
    local: tuple[int, ...]
    offsets = (np.uint64(first_in * height * width), np.uint64(first_out * height * width))
    if direct:
        if axis:
            kernel = gpu.kernel(("border", "separable"), "rows_direct", **defines)
            size, dims = (-(-width // 32), planes * height), (planes * height, width)
            local = kernel.fit(16, 1)
        else:
            kernel = gpu.kernel(("border", "separable"), "columns_direct", **defines)
            size, dims = (-(-width // 16), -(-height // 4), planes), (planes, height, width)
            # A group is a narrow band, so that its rows stay in the first-level cache from result to result.
            local = kernel.fit(4, 32, 1)
        gpu.launch(
            kernel, size, image, weights, result, *offsets, *dims, radius, float(taps.cval), local=local, label=label,
            traffic=traffic,
        )  # fmt: skip
        return
    # 256 work-items; results of one, along, across
    per, items, columns = (1, 256, 1) if axis else (4, 16, 16)
    outer, n, inner = (planes * height, width, 1) if axis else (planes, height, width)
    while True:
        kernel = gpu.kernel(("border", "separable"), "separable_local", TILE=per * items, PER=per, **defines)
        if items * columns <= min(kernel.work_group, gpu.limits.work_group) or items == 1:
            break
        items //= 2
    tiles = -(-n // (per * items))
    local = (items, 1) if axis else (columns, items, 1)
    size = (tiles * items, outer) if axis else (inner, tiles * items, outer)
    gpu.launch(
        kernel, size, image, weights, result, *offsets, outer, n, inner, radius, float(taps.cval),
        Local(2 * per * items * columns * 4), local=local, label=label, traffic=traffic,
    )  # fmt: skip
