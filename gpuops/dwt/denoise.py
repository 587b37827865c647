"""Noise taken from an image by shrinking its coefficients, averaged over shifts of it where that is wanted."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError
from ..image import Image
from ..operands import on_device, shaped_like
from ..params.dwt import MAX_SPINS, DwtParams, ShrinkParams
from ..pixels import Decoding, Encoding
from ..planes import planewise
from . import bands, shrink, split, stored, transform
from .parts import HostBand
from .rows import HostPlanes, PixelSink, PixelSource, Sink, WithAlpha

if TYPE_CHECKING:
    from ..gpu import Gpu

Array = npt.NDArray[Any]


@overload
def denoise(
    gpu: Gpu, data: Image, params: DwtParams, shrinking: ShrinkParams, *, spins: int = ...
) -> Image: ...
@overload
def denoise(
    gpu: Gpu, data: npt.ArrayLike, params: DwtParams, shrinking: ShrinkParams, *, spins: int = ...
) -> npt.NDArray[np.generic]: ...
def denoise(
    gpu: Gpu, data: Image | npt.ArrayLike, params: DwtParams, shrinking: ShrinkParams, *, spins: int = 1
) -> Any:
    """The image with its details shrunk, each plane by itself; alpha stays as it is.

    Parameters
    ----------
    data : array (..., height, width) or Image
        Real; computed in float32.
    params, shrinking
        Which coefficients, and how they are shrunk.
    spins
        Cycle spinning (Coifman and Donoho 1995): the mean of the results for the image shifted by 0 … spins − 1
        along both axes, which has no artefacts of the transform's grid. It takes spins² transforms. What a shift
        leaves is filled by mirroring: the other side, wrapped round, would be an edge that the image has not.

    Raises
    ------
    ParameterError
        ``spins`` is not 1 … 64, ``params`` are of the integer transform, or the data has NaN or infinities.
    """
    if not 1 <= spins <= MAX_SPINS:
        raise ParameterError(f"cycle spins must be a number from 1 to {MAX_SPINS}, not {spins}")
    if params.integer:
        raise ParameterError("the integer transform is lossless: shrink the coefficients of another one")
    image = on_device(gpu, data)
    if params.levels is None:
        params = replace(params, levels=transform.max_levels(image.shape[1:], params))
    colours = image.without_alpha() if image.alpha else image
    shown = planewise(
        colours.shape[0], colours.nbytes, lambda at: _spun(colours.planes(at), shrinking, params, spins)
    )
    if image.alpha:
        result = image.like()
        result.put(slice(0, shown.shape[0]), shown)
        last = slice(shown.shape[0], image.shape[0])
        result.put(last, image.planes(last))
        return result
    shown.linear = image.linear
    return shaped_like(data, shown)


def _spun(image: Image, shrinking: ShrinkParams, params: DwtParams, spins: int) -> Image:
    if spins == 1:
        return _once(image, shrinking, params)
    mean = image.like()
    # A line across itself has nothing to be shifted by.
    shifts = list(product(*(range(min(spins, n)) for n in image.shape[1:])))
    for down, right in shifts:
        result = _once(_extended(image, down, right), shrinking, params)
        _add_cropped(result, mean, down, right, 1 / len(shifts), more=(down, right) != (0, 0))
    return mean


def _once(image: Image, shrinking: ShrinkParams, params: DwtParams) -> Image:
    approximation, details = stored.coefficients(image, params)
    return transform.recompose(
        approximation,
        shrink.shrink(approximation, details, params.wavelet, shrinking),
        params,
        image.shape[1:],
    )


def _extended(image: Image, down: int, right: int) -> Image:
    planes, height, width = image.shape
    result = image.like((planes, height + down, width + right))
    kernel = bands.kernel(image.gpu, "extend")
    image.gpu.launch(
        kernel, (width + right, height + down, planes), image, result, planes, height, width, down, right,
        local=(*kernel.fit(64), 1, 1), label="dwt extend", traffic=image.nbytes + result.nbytes,
    )  # fmt: skip
    return result


def _add_cropped(image: Image, mean: Image, down: int, right: int, weight: float, *, more: bool) -> None:
    planes, height, width = mean.shape
    kernel = bands.kernel(image.gpu, "add_cropped")
    image.gpu.launch(
        kernel, (width, height, planes), image, mean, planes, height, width, down, right, weight, int(more),
        local=(*kernel.fit(64), 1, 1), label="dwt mean", traffic=(2 + more) * mean.nbytes,
    )  # fmt: skip


def denoise_split(
    gpu: Gpu,
    pixels: Array,
    decoding: Decoding,
    description: stored.Stored,
    shrinking: ShrinkParams,
    encoding: Encoding,
    spins: int = 1,
) -> PixelSink:
    """As :func:`denoise`, of pixels (height, width, channels) on the host, in slabs that the device has room for."""
    alpha, planes = description.alpha, description.shape[0]
    result = PixelSink(description.shape, encoding, alpha=alpha)
    sink: Sink = WithAlpha(result, PixelSource(pixels, decoding)) if alpha else result
    colours = pixels[..., : planes - alpha]
    decoding = replace(decoding, alpha=False)
    if spins == 1:
        _once_split(gpu, colours, decoding, description.params, shrinking, sink)
        return result
    mean = HostBand(gpu, np.zeros(sink.shape, np.float32))
    shifts = list(product(*(range(min(spins, n)) for n in description.shape[1:])))
    for down, right in shifts:
        extended = np.pad(colours, ((down, 0), (right, 0), (0, 0)), "reflect")
        height, width = extended.shape[:2]
        one = np.empty((sink.shape[0], height, width), np.float32)
        _once_split(gpu, extended, decoding, description.params, shrinking, HostPlanes(one))
        for at, part in mean.parts():
            rows = slice(at.start + down, at.stop + down)
            image = gpu.array(np.ascontiguousarray(one[:, rows]))
            _add_cropped(image, part, 0, right, 1 / len(shifts), more=(down, right) != (0, 0))
            mean.array[:, at] = part.numpy()
    split.convert(gpu, HostPlanes(mean.array), sink)
    return result


def _once_split(
    gpu: Gpu, pixels: Array, decoding: Decoding, params: DwtParams, shrinking: ShrinkParams, sink: Sink
) -> None:
    height, width, planes = pixels.shape
    about = stored.Stored(params, (planes, height, width), pixels.dtype.name, alpha=False, linear=False)
    found = stored.coefficients_split(gpu, pixels, decoding, about)
    shrink.shrink_on_host(*transform.nested(found), params.wavelet, shrinking)
    split.recompose(gpu, *transform.nested([band.array for band in found]), params, sink)
