"""All levels of an image of any size: on the device as a whole, or level by level in slabs.

The bands of an image on the device are on the device, too; bands of an image on the host are on the host. An
approximation goes to the host and back, until it and everything that is made of it fit on the device: then it stays
there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any, TypeVar

import numpy as np

from ..image import Image
from ..params.dwt import DwtParams
from ..tiles import memory as plan
from ..tiles.ends import Anywhere, DeviceImage, HostImage, Sink, Source, end_of
from ..tiles.planes import planewise
from ..tiles.slabs import Slab, divided, move, stream
from . import axis, bands, transform
from .wavelets import WAVELETS

Shape = tuple[int, ...]
Given = TypeVar("Given", bound=Source)
# ``(shape, dtype)`` → where a band is kept on the host.
Made = Callable[[Shape, np.dtype[Any]], HostImage]

# The most memory that a transform takes, in copies of its image: the image, its bands, and the methods' intermediates.
COPIES = 5


def resident(
    source: Given, params: DwtParams, *, copies: float = COPIES, memory: int | None = None
) -> Given | DeviceImage:
    """The source's image on the device, if there is room for so many copies of it; else the source itself."""
    dtype = transform.working(source.gpu, source.dtype, params)
    fits = plan.fits(source.gpu, source.shape, dtype, copies, memory)
    return DeviceImage(source.whole()) if fits else source


def decompose(
    source: Source,
    params: DwtParams,
    *,
    memory: int | None = None,
    overlap: bool = True,
    made: Made | None = None,
) -> list[Anywhere]:
    """All bands (planes, rows, columns), in the order of :func:`transform.band_shapes`.

    Parameters
    ----------
    memory
        Bytes of the device's memory to use; None for all of them.
    overlap
        Move a slab while another is computed.
    made
        ``(shape, dtype)`` → where a band, or an approximation on the way, is kept. The default are arrays.

    Raises
    ------
    DeviceError
        There is no room for a slab.
    """
    if isinstance(source, DeviceImage):
        return [*transform.flat(*transform.decompose(source.image, params))]
    gpu = source.gpu
    memory = memory or gpu.limits.global_bytes
    (planes, *shape), dtype = source.shape, source.dtype
    levels = params.levels if params.levels is not None else transform.max_levels(tuple(shape), params)
    wide = transform.working(gpu, dtype, params)
    made = made or partial(_in_array, source)
    sinks = [made((planes, *size), dtype) for _, size in transform.band_shapes(params, tuple(shape), levels)]
    left = levels
    while left and not plan.fits(gpu, source.shape, wide, COPIES, memory):
        low = (planes, *transform.band_shapes(params, source.shape[1:], 1)[0][1])
        approximation: HostImage | DeviceImage = sinks[0]
        room = memory
        if left > 1 and plan.fits(gpu, low, wide, COPIES, memory):
            approximation = DeviceImage(gpu.empty(low, wide))
            room -= approximation.image.nbytes
        elif left > 1:
            approximation = made(low, wide)
        first = 3 * (levels - left)
        details = sinks[len(sinks) - first - 3 : len(sinks) - first]
        _forward(source, [approximation, *details], params, room, overlap)
        source, left = approximation, left - 1
    if left:
        rest = transform.decompose(source.whole(), replace(params, levels=left))
        ends: list[tuple[Source, Sink]] = [
            (DeviceImage(bands.in_precision(band, dtype)), sink)
            for sink, band in zip(sinks, transform.flat(*rest), strict=False)
            if band.nbytes
        ]
        move(ends, memory // 2, copies=COPIES, overlap=overlap)
    elif not levels:
        move([(source, sinks[0])], memory // 2, copies=COPIES, overlap=overlap)
    return [*sinks]


def recompose(
    coefficients: Sequence[Anywhere | None],
    params: DwtParams,
    sink: Sink,
    *,
    memory: int | None = None,
    overlap: bool = True,
    made: Made | None = None,
) -> None:
    """The inverse of :func:`decompose`: the image goes to ``sink``, whose size says whether a length is odd.

    None stands for a band of zeros; the rest is as there. Raises ParameterError for bands that fit neither together nor
    the sink.
    """
    given = next(band for band in coefficients if band is not None)
    gpu, planes, dtype = given.gpu, given.shape[0], given.dtype
    memory = memory or gpu.limits.global_bytes
    sizes = transform.sizes(*transform.nested(coefficients), params, sink.shape[1:])

    def fits(shape: Sequence[int]) -> bool:
        return isinstance(given, Image) or plan.fits(gpu, (planes, *shape), dtype, COPIES, memory)

    def end(band: Anywhere | None, size: tuple[int, ...]) -> Source:
        if band is None:
            return HostImage(gpu, np.broadcast_to(np.zeros((), dtype), (planes, *size)))  # it takes no memory
        return end_of(band)

    whole = sum(fits(size.image) for size in sizes)  # the coarsest levels, which go together
    image = end(coefficients[0], sizes[0].bands[0] if sizes else given.shape[1:])
    if whole:
        shape = sizes[whole - 1].image
        some = coefficients[: 3 * whole + 1]

        def of_planes(at: slice) -> Image:
            parts = [None if band is None else band.planes(at) for band in some]
            return transform.recompose(*transform.nested(parts), params, shape)

        image = DeviceImage(planewise(planes, planes * prod(shape) * dtype.itemsize, of_planes))
    for number, size in enumerate(sizes[whole:], whole):
        three = zip(coefficients[3 * number + 1 : 3 * number + 4], size.bands[1:], strict=True)
        room = memory - (image.image.nbytes if isinstance(image, DeviceImage) else 0)
        four = [image, *(end(*band) for band in three)]
        if number + 1 == len(sizes):
            _inverse(four, sink, params, size.image, room, overlap)
            return
        image = kept = (made or partial(_in_array, image))((planes, *size.image), dtype)
        _inverse(four, kept, params, size.image, room, overlap)
    if fits(image.shape[1:]):
        sink.fill(image.whole())
    else:
        move([(image, sink)], memory // 2, copies=COPIES, overlap=overlap)


def _forward(
    source: Source, sinks: Sequence[HostImage | DeviceImage], params: DwtParams, room: int, overlap: bool
) -> None:
    """Transforms one level in slabs of pairs of rows; ``sinks`` are for cA, cH, cV, cD."""
    gpu, (planes, n, width) = source.gpu, source.shape
    dtype = transform.working(gpu, source.dtype, params)
    lows, across = axis.lengths(params, n)[0], 2 * axis.lengths(params, width)[0]
    row, margin = planes * max(width, across) * dtype.itemsize, _margin(params)
    most = plan.units(gpu, room, row=row, moved=source.row_bytes, copies=COPIES, margin=margin, rows=2)
    # Under periodization an odd length is made even by repeating the last row.
    period = {"periodic": n, "periodization": n + n % 2}.get(params.mode)

    def level(_: Slab, images: Sequence[Image]) -> Iterator[Image]:
        parts = transform.forward(bands.in_precision(images[0], dtype), params)
        made = zip(sinks, transform.flat(parts[0], [parts[1]]), strict=True)
        return (bands.in_precision(band, sink.dtype) for sink, band in made)

    slabs = divided(lows, (n + 1) // 2, most, margin, wraps=period is not None)
    ends = [(sink, 1) for sink in sinks]
    stream(gpu, [(source, 2)], ends, slabs, level, period=period, overlap=overlap)


def _inverse(
    sources: Sequence[Source], sink: Sink, params: DwtParams, shape: Shape, room: int, overlap: bool
) -> None:
    """Makes the image of (height, width) ``shape`` from cA, cH, cV, cD, in slabs of pairs of rows."""
    gpu, (height, width), (planes, lows, left) = sources[0].gpu, shape, sources[0].shape
    moved = sink.row_bytes + sum(source.row_bytes for source in sources) // 2
    row, margin = planes * max(width, 2 * left) * sources[0].dtype.itemsize, _margin(params)
    most = plan.units(gpu, room, row=row, moved=moved, copies=COPIES, margin=margin, rows=2)
    period = lows if params.mode == "periodization" else None

    def level(slab: Slab, images: Sequence[Image]) -> list[Image]:
        low, horizontal, vertical, diagonal = images
        rows = axis.samples(params, low.shape[1], horizontal.shape[1])
        if period is None:
            rows = min(rows, height - 2 * slab.first)
        return [transform.inverse(low, (horizontal, vertical, diagonal), params, (rows, width))]

    slabs = divided((height + 1) // 2, lows, most, margin, wraps=period is not None)
    ends = [(source, 1) for source in sources]
    stream(gpu, ends, [(sink, 2)], slabs, level, period=period, overlap=overlap)


def _in_array(source: Source, shape: Shape, dtype: np.dtype[Any]) -> HostImage:
    """Returns an array for a band of a source's image."""
    return HostImage(source.gpu, np.empty(shape, dtype), alpha=source.alpha, linear=source.linear)


def least(planes: int, shape: Shape, moved: int, params: DwtParams) -> int:
    """Returns bytes of the device's memory that suffice for slabs of an image of (height, width) ``shape``, of which a
    row moves as so many bytes, or as float32."""
    across = max(shape[1], 2 * axis.lengths(params, shape[1])[0])
    row = 8 * planes * across  # in double where a method is
    return plan.cost(row, 2 * max(moved, row // 2), COPIES) * 2 * (3 * _margin(params) + 1)


def _margin(params: DwtParams) -> int:
    """The most pairs before and after its own that a coefficient, or a sample, depends on."""
    return WAVELETS[params.wavelet].length // 2 + 1
