"""Convolution with weights of their own along y and x: launches of separable.cl; both at once by both_axes.py."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..gpu import LATER, BoundLaunch, Gpu, Local
from ..image import Image
from ..params.border import by_axis, define
from ..pixels.coding import Decoding, Encoding, pack, unpack
from ..tiles.planes import Planes, by_axes
from ..tiles.rectangles import rows_of
from . import both_axes

# The radius along rows alone from which a CPU's kernel for both axes is faster (measured).
_LONG = 12

# The kernels' source files.
_SOURCE = ("border", "separable")

# Weights for the offsets −radius … radius.
Weights = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Taps:
    """Symmetric float64 weights along (y, x), and the border mode and value outside the image."""

    weights: tuple[Weights, Weights]
    border: str = "reflect"
    cval: float = 0.0
    method: str = "auto"  # direct or local; auto is direct on CPUs
    name: str = "taps"  # the kernel's name in reports

    @property
    def radii(self) -> tuple[int, int]:
        """Half-widths along y and x."""
        y, x = (len(weights) // 2 for weights in self.weights)
        return y, x

    @cached_property
    def rounded(self) -> tuple[npt.NDArray[np.float32], ...]:
        """The weights in float32."""
        return tuple(map(_rounded, self.weights))


def convolve_axes(gpu: Gpu, image: Image, taps: Taps, *, overwrite_input: bool = False) -> Image:
    """Convolves a planar float32 Image along both axes; weights of one tap (1) leave an axis as it is.

    If both have one tap, the input itself is the result. With ``overwrite_input`` the result may take the input's
    memory.
    """
    axes = [axis for axis in (1, 0) if taps.radii[axis]]  # x first: rows are read in memory order
    if not axes:
        return image
    at_once = _at_once(gpu, image, taps)
    if at_once:
        return both_axes.convolved(image, at_once, overwrite_input=overwrite_input)
    result = image if overwrite_input and len(axes) == 2 else image.like()

    def along(source: Planes, target: Planes, planes: int, axis: int) -> None:
        _axis(gpu, source, target, planes, taps, axis)

    by_axes(image, result, axes, image.shape[1:], along)
    return result


def prepared(gpu: Gpu, like: Image, taps: Taps) -> BoundLaunch | None:
    """Returns the launch that convolves an Image like ``like``, for the Image and its result; None if it takes more."""
    at_once = _at_once(gpu, like, taps)
    return at_once(gpu.bind, LATER, LATER, like.shape[0], 0) if at_once else None


def _at_once(gpu: Gpu, image: Image, taps: Taps) -> both_axes.Launch | None:
    """Returns the launch of one kernel for both axes, where that is worth while."""
    direct = _is_direct(gpu, taps)
    short = direct and not taps.radii[0] and taps.radii[1] < _LONG
    if short or not (any(taps.radii) and both_axes.takes(gpu, taps, direct=direct)):
        return None
    return both_axes.of_planes(gpu, image, taps, _on_device(gpu, taps), direct=direct)


def convolve_pixels(
    gpu: Gpu, pixels: Image, taps: Taps, decoding: Decoding, encoding: Encoding, rows: tuple[int, int]
) -> tuple[Image, Image]:
    """Convolves a file's pixels (height, width, channels) along both axes as light, to such pixels.

    ``rows`` are the first and the end of the pixels' rows that the result is to have.

    Also returns the counters of values that did not fit: see :func:`gpuops.pixels.coding.losses`. On CPUs one kernel
    reads and writes pixels itself, where it can; else they become planes in between.
    """
    at_once = any(taps.radii) and _is_direct(gpu, taps) and both_axes.takes(gpu, taps, direct=True)
    if at_once and pixels.shape[2] <= both_axes.CHANNELS and pixels.dtype == encoding.dtype:
        made = both_axes.convolved_pixels(gpu, pixels, taps, _on_device(gpu, taps), decoding, encoding, rows)
        if made:
            return made
    planes = convolve_axes(gpu, unpack(pixels, decoding), taps, overwrite_input=True)
    return pack(rows_of(planes, rows[0], rows[1] - rows[0]), encoding)


def _is_direct(gpu: Gpu, taps: Taps) -> bool:
    return taps.method == "direct" or (taps.method == "auto" and gpu.limits.is_cpu)


def _on_device(gpu: Gpu, taps: Taps) -> dict[int, Image]:
    """Returns the weights of each axis, on the device."""

    def kept(rounded: npt.NDArray[np.float32]) -> Image:
        return gpu.kept(("weights", rounded.tobytes()), lambda: gpu.array(rounded))

    return dict(enumerate(map(kept, taps.rounded)))


def _rounded(weights: Weights) -> npt.NDArray[np.float32]:
    """Returns the weights in float32; the middle one takes up the rounding error, so that their sum stays the same."""
    rounded = weights.astype(np.float32)
    rounded[len(rounded) // 2] += np.float32(math.fsum(weights) - math.fsum(rounded.tolist()))
    return rounded


def _axis(gpu: Gpu, source: Planes, target: Planes, planes: int, taps: Taps, axis: int) -> None:
    """Convolves ``planes`` planes along one axis."""
    (image, first_in), (result, first_out) = source, target
    weights, direct = _on_device(gpu, taps)[axis], _is_direct(gpu, taps)
    height, width = image.shape[1:]
    defines = {**define(by_axis(taps.border)[axis]), "ROWS": axis == 1}
    outer, n, inner = (planes * height, width, 1) if axis else (planes, height, width)
    local_memory: tuple[Local, ...] = ()
    size: tuple[int, ...]
    dims: tuple[int, ...]
    local: tuple[int, ...]
    if direct and axis:
        kernel = gpu.kernel(_SOURCE, "rows_direct", **defines)
        size, dims, local = (-(-width // 32), outer), (outer, width), kernel.fit(16, 1)
    elif direct:
        kernel = gpu.kernel(_SOURCE, "columns_direct", **defines)
        size, dims = (-(-width // 16), -(-height // 4), planes), (planes, height, width)
        # A group is a narrow band, so that its rows stay in the first-level cache from result to result.
        local = kernel.fit(4, 32, 1)
    else:
        # 256 work-items of a group: results of each, work-items along the axis, and across it.
        per, items, columns = (1, 256, 1) if axis else (4, 16, 16)
        while True:
            kernel = gpu.kernel(_SOURCE, "separable_local", TILE=per * items, PER=per, **defines)
            if items * columns <= min(kernel.work_group, gpu.limits.work_group) or items == 1:
                break
            items //= 2
        along, dims = -(-n // (per * items)) * items, (outer, n, inner)
        size, local = ((along, outer), (items, 1)) if axis else ((inner, along, outer), (columns, items, 1))
        local_memory = (Local(2 * per * items * columns * 4),)
    gpu.launch(
        kernel, size, image, weights, result, *(np.uint64(first * height * width) for first in (first_in, first_out)),
        *dims, taps.radii[axis], float(taps.cval), *local_memory, local=local,
        label=f"{taps.name} {'x' if axis else 'y'} {'direct' if direct else 'local'}",
        traffic=8 * planes * height * width,
    )  # fmt: skip
