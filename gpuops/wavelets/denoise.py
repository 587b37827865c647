"""Takes noise from an image by shrinking its coefficients, if wanted averaged over shifts of the image."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError
from ..image import Image
from ..operands import on_device, planes_of, shaped_like
from ..params.dwt import MAX_SPINS, DwtParams, ShrinkParams
from ..pixels.coding import Decoding, Encoding
from ..tiles.planes import planewise
from . import bands, shrink, split, stored, transform
from .parts import HostBand
from .rows import HostPlanes, PixelSink, PixelSource, Sink, Source, WithAlpha

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
        Real; computed in float32. An array that the device's memory has no room for is denoised in slabs.
    params, shrinking
        Which coefficients, and how they are shrunk.
    spins
        Cycle spinning (Coifman and Donoho 1995): the mean of the results for the image shifted by 0 … spins − 1
        along both axes, which has no artefacts of the transform's grid. It takes spins² transforms. The rows and
        columns that a shift leaves empty are mirrored: wrapped round, the other side would make an edge that the image
        does not have.

    Raises
    ------
    ParameterError
        ``spins`` is not 1 … 64, ``params`` are of the integer transform, or the data has NaN or infinities.
    """
    if not 1 <= spins <= MAX_SPINS:
        raise ParameterError(f"cycle spins must be a number from 1 to {MAX_SPINS}, not {spins}")
    if params.integer:
        raise ParameterError("the integer transform is lossless: shrink the coefficients of another one")
    image = data if isinstance(data, Image) else planes_of(data)
    if params.levels is None:
        params = replace(params, levels=transform.max_levels(image.shape[1:], params))
    if isinstance(image, Image) or stored.room_for(gpu, image.shape, params, more=True):
        return shaped_like(data, _whole(on_device(gpu, image), shrinking, params, spins))
    host, result = image, np.empty(image.shape, np.float32)

    def source(down: int, right: int) -> Source:
        return HostPlanes(_mirrored(host, (0, down, right)))

    _spun_split(gpu, source, HostPlanes(result), shrinking, params, spins)
    return result.reshape(np.shape(data))


def _whole(image: Image, shrinking: ShrinkParams, params: DwtParams, spins: int) -> Image:
    """As :func:`denoise`; alpha stays as it is."""
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
    return shown


def _spun(image: Image, shrinking: ShrinkParams, params: DwtParams, spins: int) -> Image:
    if spins == 1:
        return _once(image, shrinking, params)
    mean = image.like()
    shifts = _shifts(image.shape[1:], spins)
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


def _shifts(shape: Sequence[int], spins: int) -> list[tuple[int, ...]]:
    """The shifts (down, right); along an axis of n samples there are n at most."""
    return list(product(*(range(min(spins, n)) for n in shape)))


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
    """:func:`denoise` for pixels (height, width, channels) on the host, in slabs that the device has room for."""
    alpha, planes = description.alpha, description.shape[0]
    result = PixelSink(description.shape, encoding, alpha=alpha)
    sink: Sink = WithAlpha(result, PixelSource(pixels, decoding)) if alpha else result
    colours = pixels[..., : planes - alpha]
    decoding = replace(decoding, alpha=False)

    def source(down: int, right: int) -> Source:
        return PixelSource(_mirrored(colours, (down, right, 0)), decoding)

    _spun_split(gpu, source, sink, shrinking, description.params, spins)
    return result


def _mirrored(array: Array, before: tuple[int, int, int]) -> Array:
    """The array with ``before`` mirrored samples before it along each axis, as :func:`_extended`."""
    return np.pad(array, [(n, 0) for n in before], "reflect") if any(before) else array


def _spun_split(
    gpu: Gpu,
    source: Callable[[int, int], Source],
    sink: Sink,
    shrinking: ShrinkParams,
    params: DwtParams,
    spins: int,
) -> None:
    """:func:`_spun` in slabs. ``source`` gives the image with (rows, columns) before it, by mirroring."""
    if spins == 1:
        _once_split(gpu, source(0, 0), sink, shrinking, params)
        return
    planes, height, width = sink.shape
    mean = HostBand(gpu, np.zeros(sink.shape, np.float32))
    shifts = _shifts((height, width), spins)
    for down, right in shifts:
        one = np.empty((planes, height + down, width + right), np.float32)
        _once_split(gpu, source(down, right), HostPlanes(one), shrinking, params)
        for at, part in mean.parts():
            rows = slice(at.start + down, at.stop + down)
            image = gpu.array(np.ascontiguousarray(one[:, rows]))
            _add_cropped(image, part, 0, right, 1 / len(shifts), more=(down, right) != (0, 0))
            mean.array[:, at] = part.numpy()
    split.convert(gpu, HostPlanes(mean.array), sink)


def _once_split(gpu: Gpu, source: Source, sink: Sink, shrinking: ShrinkParams, params: DwtParams) -> None:
    found = stored.coefficients_of(gpu, source, params)
    shrink.shrink_on_host(*transform.nested(found), params.wavelet, shrinking)
    split.recompose(gpu, *transform.nested([band.array for band in found]), params, sink)
