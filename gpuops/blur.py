"""Separable blurs: Gaussian and box, following scipy.ndimage."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

import numpy as np
import numpy.typing as npt

from .errors import ParameterError
from .gpu import Local
from .image import Image
from .operands import on_device, shaped_like
from .params.blur import BlurParams
from .planes import in_turn

if TYPE_CHECKING:
    from .gpu import Gpu


def blur(gpu: Gpu, image: Image, params: BlurParams, *, overwrite_input: bool = False) -> Image:
    """Blurs every plane of a planar float32 Image; alpha is blurred like any other plane.

    Colours are expected premultiplied by alpha where there is one. Where no axis has any width, the input
    itself is the result. With ``overwrite_input`` the result takes the input's memory: an image and one plane
    in all.
    Source of the weights: exp(−x²/2σ²), cut and normalised as in scipy.ndimage.gaussian_filter.
    """
    axes = [axis for axis in (1, 0) if params.radii[axis]]  # x first: rows are read in memory order
    if not axes:
        return image
    weights = {axis: gpu.array(_rounded(params.weights(axis))) for axis in axes}
    result = image if overwrite_input and len(axes) == 2 else image.like()
    turns = in_turn(image.shape[0], image.nbytes)
    batch = turns[0].stop
    between = gpu.empty((batch, *image.shape[1:])) if len(axes) == 2 else None
    for at in turns:
        here, source = (image, at.start), (image, at.start)
        for axis in axes:
            here = (result, at.start) if axis == axes[-1] or between is None else (between, 0)
            _axis(gpu, source, here, batch, params, axis, weights[axis])
            source = here
    return result


def _rounded(weights: list[float]) -> npt.NDArray[np.float32]:
    """The weights in float32; what rounding took from their sum goes to the middle one, so that it stays 1."""
    rounded = np.array(weights, np.float32)
    rounded[len(rounded) // 2] += np.float32(1.0 - math.fsum(rounded.tolist()))
    return rounded


def _axis(
    gpu: Gpu,
    source: tuple[Image, int],
    target: tuple[Image, int],
    planes: int,
    params: BlurParams,
    axis: int,
    weights: Image,
) -> None:
    """Convolves ``planes`` planes along one axis, from and to an image's planes that begin at a number."""
    (image, first_in), (result, first_out) = source, target
    height, width = image.shape[1:]
    radius = params.radii[axis]
    defines = {f"BORDER_{params.border.upper()}": True, "ROWS": axis == 1}
    method = params.method if params.method != "auto" else ("direct" if gpu.limits.is_cpu else "local")
    label = f"{params.kind} {'x' if axis else 'y'} {method}"
    traffic = 2 * planes * height * width * 4
    size: tuple[int, ...]
    dims: tuple[int, ...]
    local: tuple[int, ...]
    offsets = (np.uint64(first_in * height * width), np.uint64(first_out * height * width))
    if method == "direct":
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
            kernel, size, image, weights, result, *offsets, *dims, radius, float(params.cval), local=local, label=label,
            traffic=traffic,
        )  # fmt: skip
        return
    per, items, columns = (
        (1, 256, 1) if axis else (4, 16, 16)
    )  # 256 work-items; results of one, along, across
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
        kernel, size, image, weights, result, *offsets, outer, n, inner, radius, float(params.cval),
        Local(2 * per * items * columns * 4), local=local, label=label, traffic=traffic,
    )  # fmt: skip


@overload
def gaussian_filter(
    gpu: Gpu,
    input: Image,
    sigma: float | Sequence[float],
    *,
    mode: str = ...,
    cval: float = ...,
    truncate: float = ...,
) -> Image: ...
@overload
def gaussian_filter(
    gpu: Gpu,
    input: npt.ArrayLike,
    sigma: float | Sequence[float],
    *,
    mode: str = ...,
    cval: float = ...,
    truncate: float = ...,
) -> npt.NDArray[np.generic]: ...
def gaussian_filter(
    gpu: Gpu,
    input: Image | npt.ArrayLike,
    sigma: float | Sequence[float],
    *,
    mode: str = "reflect",
    cval: float = 0.0,
    truncate: float = 4.0,
) -> Image | npt.NDArray[np.generic]:
    """Gaussian blur over the last two axes, as scipy.ndimage.gaussian_filter of order 0.

    Parameters
    ----------
    input : array (..., height, width) or Image
        Real; computed in float32.
    sigma : float or (y, x)
        Standard deviation in pixels.
    mode, cval, truncate
        As in scipy.ndimage: reflect, mirror, nearest, wrap, constant.

    Returns
    -------
    float32 array of the input's shape, or an Image for an Image.

    Raises
    ------
    ParameterError
        A negative or non-finite sigma, an unknown mode, an array without elements.
    """
    params = BlurParams(sigma=_pair(sigma, "sigma"), border=mode, cval=cval, truncate=truncate)
    return shaped_like(input, blur(gpu, on_device(gpu, input), params))


@overload
def uniform_filter(
    gpu: Gpu, input: Image, size: int | Sequence[int], *, mode: str = ..., cval: float = ...
) -> Image: ...
@overload
def uniform_filter(
    gpu: Gpu, input: npt.ArrayLike, size: int | Sequence[int], *, mode: str = ..., cval: float = ...
) -> npt.NDArray[np.generic]: ...
def uniform_filter(
    gpu: Gpu,
    input: Image | npt.ArrayLike,
    size: int | Sequence[int] = 3,
    *,
    mode: str = "reflect",
    cval: float = 0.0,
) -> Image | npt.NDArray[np.generic]:
    """Mean over an odd ``size`` × ``size`` (or (y, x)) box over the last two axes, as scipy.ndimage.uniform_filter.

    Raises ParameterError for a size that is even, negative or no whole number; otherwise as :func:`gaussian_filter`.
    """
    y, x = _pair(size, "size")
    if not all(n >= 1 and n % 2 == 1 for n in (y, x)):
        raise ParameterError(f"the box must have an odd size of 1 or more, not {size}")
    params = BlurParams(kind="box", radius=(int(y) // 2, int(x) // 2), border=mode, cval=cval)
    return shaped_like(input, blur(gpu, on_device(gpu, input), params))


def _pair(value: object, name: str) -> tuple[float, float]:
    """One number for both axes, or (y, x)."""
    numbers = np.asarray(value)
    if numbers.dtype.kind not in "uif" or numbers.shape not in ((), (1,), (2,)):
        raise ParameterError(f"{name} must be a number or two, (y, x), not {value!r}")
    y, x = np.broadcast_to(numbers, 2).tolist()
    return float(y), float(x)
