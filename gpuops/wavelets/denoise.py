"""Takes noise from an image by shrinking its coefficients; results for shifts of the image can be averaged."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError
from ..gpu import Gpu
from ..image import Image
from ..operands import on_device, planes_of, two_ended
from ..params.dwt import MAX_SPINS, DwtParams, ShrinkParams
from ..tiles.ends import DeviceImage, HostImage, Sink, Source
from ..tiles.pixels import WithAlpha
from ..tiles.rectangles import cut
from ..tiles.slabs import move
from . import multilevel, shrink, stored, transform

# The inputs that can be denoised: images on the device or on the host.
Original = DeviceImage | HostImage


@two_ended
def denoise(
    gpu: Gpu, data: Image | npt.ArrayLike, params: DwtParams, shrinking: ShrinkParams, *, spins: int = 1
) -> Any:
    """Returns the image with its details shrunk, each plane of ``shrinking.space`` by itself; alpha stays as it is.

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
        ``spins`` is not 1 … 64, ``params`` are of the integer transform, the data has NaN or infinities, or a space of
        colours is asked for and its planes are neither gray nor RGB.
    """
    if not 1 <= spins <= MAX_SPINS:
        raise ParameterError(f"cycle spins must be a number from 1 to {MAX_SPINS}, not {spins}")
    if params.integer:
        raise ParameterError("the integer transform is lossless: shrink the coefficients of another one")
    if isinstance(data, Image):
        made = DeviceImage(on_device(gpu, data))
        denoised(DeviceImage(data), made, params, shrinking, spins)
        return made.image
    array = planes_of(data)
    result = HostImage(gpu, np.empty(array.shape, np.float32))
    source = multilevel.resident(HostImage(gpu, array), params, copies=2 * multilevel.COPIES)
    denoised(source, result, params, shrinking, spins)
    return result.array.reshape(np.shape(data))


def denoised(
    source: Original,
    sink: Sink,
    params: DwtParams,
    shrinking: ShrinkParams,
    spins: int = 1,
    *,
    memory: int | None = None,
    made: multilevel.Made | None = None,
) -> None:
    """Does what :func:`denoise` does, from a source to a sink, which may be the source.

    ``memory`` and ``made`` are as for :func:`gpuops.wavelets.multilevel.decompose`.
    """
    gpu = source.gpu
    made = made or (lambda shape, dtype: HostImage(gpu, np.empty(shape, dtype)))
    if params.levels is None:
        params = replace(params, levels=transform.max_levels(source.shape[1:], params))
    if source.alpha:
        sink, source = WithAlpha(sink, source), source.without_alpha()
    if spins == 1:
        _once(source, sink, params, shrinking, memory, made)
        return
    if isinstance(source, DeviceImage):
        mean: Original = DeviceImage(source.image.like())
    else:
        mean = made(source.shape, np.dtype(np.float32))
    # Along an axis of n samples there are n shifts at most.
    shifts = list(product(*(range(min(spins, n)) for n in source.shape[1:])))
    for number, (down, right) in enumerate(shifts):
        one = _shifted(source, down, right, made)
        _once(one, one, params, shrinking, memory, made)
        for at, part in mean.parts():
            shown = one.rows(slice(at.start, at.stop + down))
            _add_cropped(shown, part, down, right, 1 / len(shifts), more=number > 0)
            mean.overwrite(at, part)
    if isinstance(mean, DeviceImage):
        sink.fill(mean.image)
    else:
        move([(mean, sink)], (memory or gpu.limits.global_bytes) // 2, copies=multilevel.COPIES)


def spool_bytes(shape: tuple[int, int, int], params: DwtParams, spins: int = 1) -> int:
    """Returns the bytes of all that is made on the way for an image (planes, height, width), if it is on the host."""
    planes, height, width = shape
    size, of_mean = (height, width), 0
    if spins > 1:  # a shifted image, and the mean
        size, of_mean = (height + spins - 1, width + spins - 1), height * width
    names = transform.band_shapes(params, size, params.levels or 0)
    bands = sum(prod(of_band) for _, of_band in names)
    # Each level but the last makes an approximation on the way, of a quarter of the one before.
    return 4 * planes * (bands + bands // 3 + of_mean + (prod(size) if spins > 1 else 0))


def _once(
    source: Source,
    sink: Sink,
    params: DwtParams,
    shrinking: ShrinkParams,
    memory: int | None,
    made: multilevel.Made,
) -> None:
    bands = stored.coefficients(source, params, memory=memory, made=made)
    approximation, details = transform.nested(bands)
    details = shrink.shrink(approximation, details, params.wavelet, shrinking)
    multilevel.recompose(transform.flat(approximation, details), params, sink, memory=memory, made=made)


def _shifted(source: Original, down: int, right: int, made: multilevel.Made) -> Original:
    """The image with ``down`` mirrored rows above it and ``right`` mirrored columns to its left."""
    if isinstance(source, DeviceImage):
        return DeviceImage(_extended(source.image, down, right))
    planes, height, width = source.shape
    result = made((planes, height + down, width + right), source.dtype)
    for at, rows in source.parts():
        result.overwrite(slice(at.start + down, at.stop + down), _extended(rows, 0, right))
    if down:
        above = _extended(source.rows(slice(0, down + 1)), down, right)
        result.overwrite(slice(0, down), cut(above, (0, 0), (down, width + right)))
    return result


def _extended(image: Image, down: int, right: int) -> Image:
    planes, height, width = image.shape
    result = image.like((planes, height + down, width + right))
    image.gpu.compute(
        "dwt_bands", "extend", (width + right, height + down, planes), image, result, planes, height, width, down,
        right, group=64, label="dwt extend",
    )  # fmt: skip
    return result


def _add_cropped(image: Image, mean: Image, down: int, right: int, weight: float, *, more: bool) -> None:
    planes, height, width = mean.shape
    image.gpu.compute(
        "dwt_bands", "add_cropped", (width, height, planes), image, mean, planes, height, width, down, right, weight,
        int(more), group=64, label="dwt mean", traffic=(2 + more) * mean.nbytes,
    )  # fmt: skip
