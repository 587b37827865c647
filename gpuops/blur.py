"""Separable blurs: Gaussian and box, following scipy.ndimage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

import numpy as np
import numpy.typing as npt

from .errors import ParameterError
from .gpu import Local
from .image import Image
from .operands import on_device, shaped_like
from .params.blur import BlurParams

if TYPE_CHECKING:
    from .gpu import Gpu


def blur(gpu: Gpu, image: Image, params: BlurParams) -> Image:
    """Blurs every plane of a planar float32 Image; alpha is blurred like any other plane.

    Colours are expected premultiplied by alpha where there is one. Where no axis has any width, the input itself
    is the result. Source of the kernel: exp(−x²/2σ²), cut and normalised as in scipy.ndimage.gaussian_filter.
    """
    for axis in (1, 0):  # x first: rows are read in memory order
        if params.radii[axis]:
            image = _axis(gpu, image, params, axis)
    return image


def _axis(gpu: Gpu, image: Image, params: BlurParams, axis: int) -> Image:
    weights = gpu.array(np.array(params.weights(axis), np.float32))
    radius = params.radii[axis]
    defines = {f"BORDER_{params.border.upper()}": True, "ROWS": axis == 1}
    method = params.method if params.method != "auto" else ("direct" if gpu.limits.is_cpu else "local")
    result = image.like()
    planes, height, width = image.shape
    label = f"{params.kind} {'x' if axis else 'y'} {method}"
    traffic = image.nbytes + result.nbytes
    if method == "direct":
        vectors = -(-width // 8)
        if axis:
            kernel = gpu.kernel(("border", "separable"), "rows_direct", **defines)
            size, dims, local = (vectors, planes * height), (planes * height, width), kernel.fit(64, 1)
        else:
            kernel = gpu.kernel(("border", "separable"), "columns_direct", **defines)
            # A group is a narrow band, so that its rows stay in the first-level cache from result to result.
            size, dims, local = (vectors, -(-height // 4), planes), (planes, height, width), kernel.fit(8, 32, 1)
        gpu.launch(
            kernel, size, image, weights, result, *dims, radius, params.cval, local=local, label=label,
            traffic=traffic,
        )  # fmt: skip
        return result
    per, items, columns = (1, 256, 1) if axis else (4, 16, 16)  # 256 work-items; results of one, along, across
    outer, inner = (planes * height, 1) if axis else (planes, width)
    while True:
        kernel = gpu.kernel(("border", "separable"), "separable_local", TILE=per * items, PER=per, **defines)
        if items * columns <= min(kernel.work_group, gpu.limits.work_group) or items == 1:
            break
        items //= 2
    tiles = -(-(width if axis else height) // (per * items))
    local = (items, 1) if axis else (columns, items, 1)
    size = (tiles * items, outer) if axis else (inner, tiles * items, outer)
    gpu.launch(
        kernel, size, image, weights, result, outer, width if axis else height, inner, radius, params.cval,
        Local(2 * per * items * columns * 4), local=local, label=label, traffic=traffic,
    )  # fmt: skip
    return result


@overload
def gaussian_filter(
    gpu: Gpu, input: Image, sigma: float | Sequence[float], *, mode: str = ..., cval: float = ..., truncate: float = ...
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
    y, x = (sigma, sigma) if isinstance(sigma, int | float) else sigma
    params = BlurParams(sigma=(float(y), float(x)), border=mode, cval=cval, truncate=truncate)
    return shaped_like(input, blur(gpu, on_device(gpu, input), params))


@overload
def uniform_filter(gpu: Gpu, input: Image, size: int, *, mode: str = ..., cval: float = ...) -> Image: ...
@overload
def uniform_filter(
    gpu: Gpu, input: npt.ArrayLike, size: int, *, mode: str = ..., cval: float = ...
) -> npt.NDArray[np.generic]: ...
def uniform_filter(
    gpu: Gpu, input: Image | npt.ArrayLike, size: int = 3, *, mode: str = "reflect", cval: float = 0.0
) -> Image | npt.NDArray[np.generic]:
    """Mean over an odd ``size`` × ``size`` box over the last two axes, as scipy.ndimage.uniform_filter.

    Raises ParameterError for an even or negative size; otherwise as :func:`gaussian_filter`.
    """
    if size < 1 or size % 2 == 0:
        raise ParameterError(f"the box must have an odd size of 1 or more, not {size}")
    params = BlurParams(kind="box", radius=(size // 2, size // 2), border=mode, cval=cval)
    return shaped_like(input, blur(gpu, on_device(gpu, input), params))
