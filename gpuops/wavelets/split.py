"""Transforms of images that the device's memory has no room for: level by level, in slabs of whole rows.

A slab comes to the device with the further rows that its coefficients depend on, and is transformed there as an image
of its own. The coefficients that depend on no edge but the image's own go back: they are the same, bit for bit, as
without splitting. Meanwhile the next slab is on its way. As soon as an approximation, and all that is made of it, fit
on the device, the approximation stays there; until then it goes to the host and comes again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import DeviceError
from ..image import Image
from ..params.dwt import DwtParams
from ..tiles.transfers import TURNS, Transfers
from . import axis, bands, blocked, transform
from .rows import DevicePlanes, HostPlanes, Sink, Source, Zeros
from .transform import Details
from .wavelets import WAVELETS

if TYPE_CHECKING:
    from ..gpu import Gpu

Array = npt.NDArray[Any]

# The most memory that a transform takes, in copies of its image: the image, its bands, and the methods' intermediates.
COPIES = 5
_ENOUGH = 1 << 25  # bytes of a slab: larger slabs are moved no faster
# Bytes of an array on the host from which on a GPU gets it in slabs, though it has room for all of it. That is 1.2 to
# 1.8 times as fast: transfers overlap with computing, and several threads get new pages (docs/benchmarks).
_LARGE = 1 << 27
_NAMES = ("cH", "cV", "cD")


@dataclass(frozen=True)
class Slab:
    """Part of a level: pairs ``start`` … ``stop`` − 1 to make, ``first`` … ``last`` − 1 to read, maybe beyond the ends.

    A pair is a low and a high coefficient, or two rows.
    """

    start: int
    stop: int
    first: int
    last: int


def fits(
    gpu: Gpu,
    shape: Sequence[int],
    dtype: np.dtype[Any],
    memory: int | None = None,
    *,
    copies: float = COPIES,
) -> bool:
    """Whether memory has room for an image (planes, height, width) and all that a transform needs beside it."""
    nbytes, limits = prod(shape) * dtype.itemsize, gpu.limits
    return copies * nbytes <= (memory or limits.global_bytes) and nbytes <= limits.max_alloc_bytes


def least(nbytes: int) -> int:
    """Bytes of memory in which an image of ``nbytes`` just does not fit, so that it is split."""
    return COPIES * nbytes - 1


def room(gpu: Gpu, nbytes: int) -> int:
    """The bytes of the device's memory to use for an array of ``nbytes`` on the host."""
    memory = gpu.limits.global_bytes
    return memory if gpu.limits.is_cpu or nbytes < _LARGE else min(memory, least(nbytes))


def decompose(
    gpu: Gpu,
    source: Source,
    params: DwtParams,
    levels: int,
    *,
    memory: int | None = None,
    overlap: bool = True,
) -> dict[str, Array]:
    """All bands on the host, (planes, rows, columns), by their names: see :func:`transform.band_shapes`.

    Parameters
    ----------
    memory
        Bytes of the device's memory to use; None for all of them.
    overlap
        Move a slab while another is computed.

    Raises
    ------
    DeviceError
        There is no room for a slab.
    """
    memory = memory or gpu.limits.global_bytes
    planes, dtype = source.shape[0], source.dtype
    wide = transform.working(gpu, dtype, params)
    shapes = transform.band_shapes(params, source.shape[1:], levels)
    arrays = {name: np.empty((planes, *shape), dtype) for name, shape in shapes}
    coarsest = arrays[f"cA{levels}"]
    number = 1
    while number <= levels and not fits(gpu, source.shape, wide, memory):
        low = (planes, *transform.band_shapes(params, source.shape[1:], 1)[0][1])
        approximation: HostPlanes | DevicePlanes
        resident = 0
        if number == levels:
            approximation = HostPlanes(coarsest)
        elif fits(gpu, low, wide, memory):
            approximation = DevicePlanes(gpu.empty(low, wide))
            resident = approximation.image.nbytes
        else:
            approximation = HostPlanes(np.empty(low, wide))
        details = [HostPlanes(arrays[f"{name}{number}"]) for name in _NAMES]
        with Transfers(gpu, overlap=overlap) as transfers:
            _forward(transfers, source, [approximation, *details], params, memory - resident)
        source = approximation
        number += 1
    if number <= levels:
        rest = transform.decompose(source.whole(gpu), replace(params, levels=levels - number + 1))
        with Transfers(gpu, overlap=overlap) as transfers:
            for (name, _), band in zip(shapes, transform.flat(*rest), strict=False):
                _fetch(transfers, bands.in_precision(band, dtype), arrays[name])
    elif not levels:
        with Transfers(gpu, overlap=overlap) as transfers:
            _convert(transfers, source, HostPlanes(coarsest), memory)
    return arrays


def recompose(
    gpu: Gpu,
    approximation: Array | None,
    details: Sequence[Details[Array | None]],
    params: DwtParams,
    sink: Sink,
    *,
    memory: int | None = None,
    overlap: bool = True,
) -> None:
    """The inverse of :func:`decompose`: the image goes to ``sink``, whose size says whether a length is odd.

    None stands for a band of zeros. Raises ParameterError for bands that fit neither together nor the sink.
    """
    memory = memory or gpu.limits.global_bytes
    given = next(band for band in (approximation, *transform.flat(None, details)) if band is not None)
    planes, dtype = given.shape[0], given.dtype

    def source(band: Array | None, size: tuple[int, ...]) -> Source:
        return HostPlanes(band) if band is not None else Zeros(gpu, (planes, *size), dtype)

    sizes = transform.sizes(approximation, details, params, sink.shape[1:])
    image: Source = source(approximation, sizes[0].bands[0] if sizes else given.shape[1:])
    for size, three in zip(sizes, details, strict=True):
        four = [image, *map(source, three, size.bands[1:])]
        whole = (planes, *size.image)
        if fits(gpu, whole, dtype, memory):
            image = _inverse_whole(gpu, four, params, size.image)
            continue
        resident = image.image.nbytes if isinstance(image, DevicePlanes) else 0
        target = sink if size is sizes[-1] else HostPlanes(np.empty(whole, dtype))
        with Transfers(gpu, overlap=overlap) as transfers:
            _inverse(transfers, four, target, params, size.image, memory - resident)
        if target is sink:
            return
        assert isinstance(target, HostPlanes)
        image = target
    with Transfers(gpu, overlap=overlap) as transfers:
        _convert(transfers, image, sink, memory // 2)


def convert(gpu: Gpu, source: Source, sink: Sink) -> None:
    """Moves the samples of ``source`` to ``sink``, untransformed."""
    with Transfers(gpu) as transfers:
        _convert(transfers, source, sink, gpu.limits.global_bytes // 2)


def _forward(
    transfers: Transfers,
    source: Source,
    sinks: Sequence[HostPlanes | DevicePlanes],
    params: DwtParams,
    room: int,
) -> None:
    """Transforms one level in slabs; ``sinks`` are for cA, cH, cV, cD."""
    _, n, width = source.shape
    dtype = transform.working(transfers.gpu, source.dtype, params)
    (lows, highs), across = axis.lengths(params, n), 2 * axis.lengths(params, width)[0]
    row = source.shape[0] * max(width, across) * dtype.itemsize
    most = _pairs(transfers.gpu, row, room, source.row_bytes, params)
    wraps = params.mode in ("periodic", "periodization")
    slabs = list(_slabs(lows, (n + 1) // 2, most, _margin(params), wraps=wraps))
    source.begin(transfers, 2 * max(slab.last - slab.first for slab in slabs))
    for sink in sinks:
        sink.begin(transfers, max(slab.stop - slab.start for slab in slabs))
    for slab in slabs:
        pieces = _pieces(2 * slab.first, 2 * slab.last, n, wraps=wraps, even=params.mode == "periodization")
        with source.slab(pieces) as image:
            low, (horizontal, vertical, diagonal) = transform.forward(
                bands.in_precision(image, dtype), params
            )
        del image
        made = (low, lows), (horizontal, highs), (vertical, lows), (diagonal, highs)
        for sink, (band, count) in zip(sinks, made, strict=True):
            at = slice(slab.start, min(slab.stop, count))
            sink.put(bands.in_precision(band, sink.dtype), slab.start - slab.first, at)


def _inverse(
    transfers: Transfers,
    sources: Sequence[Source],
    sink: Sink,
    params: DwtParams,
    shape: tuple[int, ...],
    room: int,
) -> None:
    """Makes the image of (height, width) ``shape`` from cA, cH, cV, cD, in slabs."""
    (height, width), (planes, lows, left), highs = shape, sources[0].shape, sources[1].shape[1]
    moved = sink.row_bytes + sum(source.row_bytes for source in sources) // 2
    row = planes * max(width, 2 * left) * sources[0].dtype.itemsize
    most = _pairs(transfers.gpu, row, room, moved, params)
    wraps = params.mode == "periodization"
    slabs = list(_slabs((height + 1) // 2, lows, most, _margin(params), wraps=wraps))
    for source in sources:
        source.begin(transfers, max(slab.last - slab.first for slab in slabs))
    sink.begin(transfers, 2 * max(slab.stop - slab.start for slab in slabs))
    for slab in slabs:
        with ExitStack() as stack:
            low, horizontal, vertical, diagonal = (
                stack.enter_context(source.slab(_pieces(slab.first, slab.last, count, wraps=wraps)))
                for source, count in zip(sources, (lows, highs, lows, highs), strict=True)
            )
            rows = axis.samples(params, low.shape[1], horizontal.shape[1])
            if not wraps:
                rows = min(rows, height - 2 * slab.first)
            image = transform.inverse(low, (horizontal, vertical, diagonal), params, (rows, width))
        sink.put(image, 2 * (slab.start - slab.first), slice(2 * slab.start, min(2 * slab.stop, height)))


def _fetch(transfers: Transfers, image: Image, array: Array) -> None:
    """Copies an Image (planes, height, width) to the host, some rows at a time."""
    sink = HostPlanes(array)
    rows = max(1, _ENOUGH // max(1, sink.row_bytes))
    sink.begin(transfers, min(rows, image.shape[1]))
    for start in range(0, image.shape[1], rows):
        sink.put(image, start, slice(start, min(start + rows, image.shape[1])))


def _inverse_whole(
    gpu: Gpu, sources: Sequence[Source], params: DwtParams, shape: tuple[int, ...]
) -> DevicePlanes:
    """:func:`_inverse` on the device, without slabs."""
    low, horizontal, vertical, diagonal = (source.whole(gpu) for source in sources)
    return DevicePlanes(transform.inverse(low, (horizontal, vertical, diagonal), params, shape))


def _convert(transfers: Transfers, source: Source, sink: Sink, room: int) -> None:
    """Moves samples from a source to a sink, some rows at a time."""
    planes, height, width = source.shape
    cost = TURNS * (source.row_bytes + sink.row_bytes) + COPIES * planes * width * source.dtype.itemsize
    rows = max(1, min(room, COPIES * _ENOUGH) // cost)
    source.begin(transfers, rows)
    sink.begin(transfers, rows)
    for start in range(0, height, rows):
        at = slice(start, min(start + rows, height))
        with source.slab([at]) as image:
            # The sink gets a copy, which stays while the inlet's memory is filled anew.
            sink.put(blocked.cut(image, (0, 0), image.shape[1:]), 0, at)


def _margin(params: DwtParams) -> int:
    """The most pairs before and after its own that a coefficient, or a sample, depends on."""
    return WAVELETS[params.wavelet].length // 2 + 1


def _pairs(gpu: Gpu, row: int, room: int, moved: int, params: DwtParams) -> int:
    """The most pairs of rows of ``row`` bytes that a slab may make. ``moved``: bytes of a row that come and go."""
    margin = _margin(params)
    cost = TURNS * (moved + row) + COPIES * row
    rows = min(room // cost, gpu.limits.max_alloc_bytes // row, max(_ENOUGH // row, 32 * margin))
    pairs = rows // 2 - 3 * margin  # less the pairs before and after, and those that the last slab has more
    if pairs < 1:
        raise DeviceError(
            f"not even {6 * margin + 2} rows of {row / 1e3:.3g} kB fit into {room / 1e6:.3g} MB of device memory: "
            f"{(6 * margin + 2) * cost / 1e6:.3g} MB are needed: raise the limit, or use another device"
        )
    return pairs


def _slabs(make: int, read: int, most: int, margin: int, *, wraps: bool) -> Iterator[Slab]:
    """Slabs that make ``make`` pairs from ``read`` pairs, ``most`` at a time; the last may have a little more."""
    start = 0
    while start < make:
        first, stop = start - margin, min(start + most, make)
        last = stop + margin
        if not wraps:
            first = max(0, first)
            if last >= read:
                stop, last = make, read
        yield Slab(start, stop, first, last)
        start = stop


def _pieces(start: int, stop: int, n: int, *, wraps: bool, even: bool = False) -> list[slice]:
    """The rows, of ``n``, that stand at start … stop − 1; ``even``: an odd ``n`` is made even by repeating the last
    row."""
    if not wraps:
        return [slice(start, min(stop, n))]
    period = n + (n % 2 if even else 0)
    pieces = []
    while start < stop:
        at = start % period
        if at == n:
            pieces.append(slice(n - 1, n))
        else:
            pieces.append(slice(at, min(n, at + stop - start)))
        start += pieces[-1].stop - pieces[-1].start
    return pieces
