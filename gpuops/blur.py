"""Blurs: Gaussian and box, following scipy.ndimage; disc and motion."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, overload

import numpy as np
import numpy.typing as npt

from . import coarse, footprints, multirate
from .convolve import convolve
from .errors import ParameterError
from .gpu import Local
from .image import Image
from .operands import on_device, shaped_like
from .params.blur import LEAST_MULTIRATE, BlurParams
from .planes import in_turn

if TYPE_CHECKING:
    from .gpu import Gpu

_STRIP, _BAND, _REACH = 512, 64, 48  # both axes at once: columns and rows of a work-item; the largest radius
_LEAST_CPU = 7.0  # sigma from which coarse grids are faster there (measured: PoCL)
_LEAST_AGAIN = 12.0  # sigma on a coarse grid from which a still coarser one is worth its launches


def blur(gpu: Gpu, image: Image, params: BlurParams, *, overwrite_input: bool = False) -> Image:
    """Blurs every plane of a planar float32 Image; alpha is blurred like any other plane.

    Colours are expected premultiplied by alpha where there is one. Where no axis has any width, the input
    itself is the result. With ``overwrite_input`` the result takes the input's memory, and of a large image no more
    than a plane is needed besides; but for an image blurred along one axis by sums, for disc, motion and
    ``method="fft"``, whose result is a new image.
    Source of the weights: exp(−x²/2σ²), normalised as in scipy.ndimage.gaussian_filter, and cut so with ``truncate``.
    """
    if not any(params.radii):
        return image
    if params.by_both_axes:
        kernel = footprints.weights(params)
        return convolve(gpu, image, kernel, mode=params.border, cval=params.cval, method=params.method)
    whole = params.kind == "gaussian" and params.truncate is None
    least = _LEAST_CPU if gpu.limits.is_cpu and params.method == "auto" else LEAST_MULTIRATE
    wide = params.method in ("auto", "multirate") and max(params.sigma) >= least
    if whole and wide and coarse.is_coarser(image.shape, params.sigma, params.border):
        return _on_coarse_grids(gpu, image, params, image if overwrite_input else None)
    return _by_taps(gpu, image, params, overwrite_input=overwrite_input)


def _on_coarse_grids(gpu: Gpu, image: Image, params: BlurParams, into: Image | None) -> Image:
    def rest(small: Image, sigma: tuple[float, float]) -> Image:
        if max(sigma) >= _LEAST_AGAIN and coarse.is_coarser(small.shape, sigma, params.border):
            return _on_coarse_grids(gpu, small, replace(params, sigma=sigma), small)
        return _by_taps(gpu, small, replace(params, sigma=sigma, method="auto"), overwrite_input=True)

    return multirate.gaussian(gpu, image, params.sigma, params.border, params.cval, rest, into)


def _by_taps(gpu: Gpu, image: Image, params: BlurParams, *, overwrite_input: bool) -> Image:
    axes = [axis for axis in (1, 0) if params.radii[axis]]  # x first: rows are read in memory order
    if not axes:
        return image
    weights = {axis: gpu.array(_rounded(params.weights(axis))) for axis in axes}
    if params.method not in ("direct", "local"):
        params = replace(params, method="direct" if gpu.limits.is_cpu else "local")
    if params.method == "direct" and len(axes) == 2 and max(params.radii) <= _REACH:
        return _both(gpu, image, params, weights, overwrite_input=overwrite_input)
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


def _both(
    gpu: Gpu, image: Image, params: BlurParams, weights: dict[int, Image], *, overwrite_input: bool
) -> Image:
    """Convolves both axes at once, on a CPU."""
    _, height, width = image.shape
    result = image if overwrite_input else image.like()
    defines = {f"BORDER_{params.border.upper()}": True, "STRIP": _STRIP, "BAND": _BAND, "REACH": _REACH}
    kernel = gpu.kernel(("border", "separable"), "both_direct", **defines)
    for at in in_turn(image.shape[0], image.nbytes) if overwrite_input else [slice(0, image.shape[0])]:
        planes = at.stop - at.start
        part = image.like((planes, height, width)) if overwrite_input else result
        gpu.launch(
            kernel, (-(-width // _STRIP), -(-height // _BAND), planes), image, weights[0], weights[1], part,
            np.uint64(at.start * height * width), height, width, *params.radii, float(params.cval),
            local=(1, 1, 1), label=f"{params.kind} xy direct", traffic=2 * part.nbytes,
        )  # fmt: skip
        if overwrite_input:
            result.put(at, part)
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
    label = f"{params.kind} {'x' if axis else 'y'} {params.method}"
    traffic = 2 * planes * height * width * 4
    size: tuple[int, ...]
    dims: tuple[int, ...]
    local: tuple[int, ...]
    offsets = (np.uint64(first_in * height * width), np.uint64(first_out * height * width))
    if params.method == "direct":
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
    truncate: float | None = ...,
) -> Image: ...
@overload
def gaussian_filter(
    gpu: Gpu,
    input: npt.ArrayLike,
    sigma: float | Sequence[float],
    *,
    mode: str = ...,
    cval: float = ...,
    truncate: float | None = ...,
) -> npt.NDArray[np.generic]: ...
def gaussian_filter(
    gpu: Gpu,
    input: Image | npt.ArrayLike,
    sigma: float | Sequence[float],
    *,
    mode: str = "reflect",
    cval: float = 0.0,
    truncate: float | None = None,
) -> Image | npt.NDArray[np.generic]:
    """Gaussian blur over the last two axes, as scipy.ndimage.gaussian_filter of order 0.

    Parameters
    ----------
    input : array (..., height, width) or Image
        Real; computed in float32.
    sigma : float or (y, x)
        Standard deviation in pixels.
    mode, cval
        As in scipy.ndimage: reflect, mirror, nearest, wrap, constant.
    truncate : float, optional
        Where to cut the Gaussian, in sigmas: 4 is scipy's default, whose error is 1e-4. None: nowhere that matters,
        within 5e-5 of the peak, and of the same speed for any sigma.

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
