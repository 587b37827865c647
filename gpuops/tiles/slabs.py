"""Work on images in slabs of whole rows, one after the other, so that the device needs room for one alone.

A slab comes to the device with the further rows that its results depend on, and is worked on there as an image of its
own. The results that depend on no edge but the image's own go back: they are the same, bit for bit, as those of the
whole. Meanwhile the next slab is on its way. An image that needs no slabs is one slab.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, TypeVar

from ..image import Image
from ..records import dataclass
from . import memory
from .ends import Sink, Source
from .rectangles import cut
from .transfers import Transfers

if TYPE_CHECKING:
    from ..gpu import Gpu

End = TypeVar("End")
Ends = Sequence[tuple[End, int]]  # sources or sinks, each with the rows of a unit
Work = Callable[["Slab", Sequence[Image]], Iterable[Image]]


@dataclass(frozen=True)
class Slab:
    """Units ``start`` … ``stop`` − 1 to make, ``first`` … ``last`` − 1 to read, maybe beyond the ends.

    A unit is one row or several, of each of the images that are read or written.
    """

    start: int
    stop: int
    first: int
    last: int


def divided(make: int, read: int, most: int, margin: int = 0, *, wraps: bool = False) -> Iterator[Slab]:
    """Slabs that make ``make`` units from ``read`` units, ``most`` at a time; the last may have a little more.

    Results depend on ``margin`` units before and after; ``wraps``: beyond one end is the other.
    """
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


def stream(
    gpu: Gpu,
    sources: Ends[Source],
    sinks: Ends[Sink],
    slabs: Iterable[Slab],
    work: Work,
    *,
    period: int | None = None,
    overlap: bool = True,
) -> None:
    """Does ``work`` on rows of the sources, slab by slab; the images that it makes of them go to the sinks.

    Parameters
    ----------
    sources, sinks
        Each with the rows of a unit. A result's first row is that of the slab's first unit to read.
    work
        Gets Images of rows that are there until it returns; none of its results may be one of these.
    period
        The rows after which the sources repeat, if they do; a row that is missing at the end of a period is the last.
    overlap
        Move a slab while another is worked on.
    """
    slabs = list(slabs)
    if len(slabs) == 1 and period is None:
        made = work(slabs[0], [source.whole() for source, _ in sources])
        for (sink, _), image in zip(sinks, made, strict=True):
            sink.fill(image)
        return
    with Transfers(gpu, overlap=overlap) as transfers:
        _stream(transfers, sources, sinks, slabs, work, period)


def _stream(
    transfers: Transfers,
    sources: Ends[Source],
    sinks: Ends[Sink],
    slabs: Sequence[Slab],
    work: Work,
    period: int | None,
) -> None:
    for source, rows in sources:
        source.reading(transfers, rows * max(slab.last - slab.first for slab in slabs))
    for sink, rows in sinks:
        sink.writing(transfers, rows * max(slab.stop - slab.start for slab in slabs))
    for slab in slabs:
        with ExitStack() as stack:
            images = [
                stack.enter_context(
                    source.slab(pieces(rows * slab.first, rows * slab.last, source.shape[1], period))
                )
                for source, rows in sources
            ]
            made = work(slab, images)
            del images
        for (sink, rows), image in zip(sinks, made, strict=True):
            at = slice(rows * slab.start, min(rows * slab.stop, sink.shape[1]))
            sink.put(image, rows * (slab.start - slab.first), at)


def move(ends: Sequence[tuple[Source, Sink]], room: int, *, copies: int = 1, overlap: bool = True) -> None:
    """Moves samples from each source to its sink. ``copies``: the copies of a slab that the ends take beside it."""

    def copied(_: Slab, images: Sequence[Image]) -> list[Image]:
        # The sink gets a copy, which stays while the inlet's memory is filled anew.
        return [cut(images[0], (0, 0), images[0].shape[1:])]

    gpu = ends[0][0].gpu
    with Transfers(gpu, overlap=overlap) as transfers:
        for source, sink in ends:
            planes, height, width = source.shape
            row, moved = planes * width * source.dtype.itemsize, source.row_bytes + sink.row_bytes
            most = memory.units(gpu, room, row=row, moved=moved, copies=copies)
            slabs = list(divided(height, height, most))
            _stream(transfers, [(source, 1)], [(sink, 1)], slabs, copied, None)


def pieces(start: int, stop: int, n: int, period: int | None = None) -> list[slice]:
    """The rows, of ``n``, that stand at start … stop − 1, where all repeat after a ``period``; see :func:`stream`."""
    if period is None:
        return [slice(start, min(stop, n))]
    slices = []
    while start < stop:
        at = start % period
        slices.append(slice(at, min(n, at + stop - start)) if at < n else slice(n - 1, n))
        start += slices[-1].stop - slices[-1].start
    return slices
