"""A file's pixels (height, width, channels) on the host, as the source or the sink of an image."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..image import Image
from ..pixels.coding import Decoding, Encoding, Losses, losses, on_device, pack, unpack
from ..records import dataclass
from .ends import Shape, Sink, Source
from .memory import parts
from .rectangles import cut, paste, rows_of
from .transfers import Inlet, Outlet, Transfers

if TYPE_CHECKING:
    from ..gpu import Gpu

Array = npt.NDArray[Any]
Conversion = Callable[[Image], Image]


@dataclass(eq=False)
class PixelSource(Source):
    """Pixels to read as ``decoding`` says, and then converted, to samples of ``dtype``; ``linear`` is what they are.

    The whole image comes in ``turns``, some rows in each, which saves the memory of all its pixels.
    """

    gpu: Gpu
    pixels: Array
    decoding: Decoding
    linear: bool
    convert: Conversion | None
    dtype: np.dtype[Any]
    turns: int

    def __post_init__(self) -> None:
        height, width, channels = self.pixels.shape
        self.alpha, self.shape = self.decoding.alpha, (channels, height, width)
        self.row_bytes = width * channels * self.pixels.itemsize

    def reading(self, transfers: Transfers, rows: int) -> None:
        self._inlet = Inlet(transfers, rows * self.row_bytes)

    @contextmanager
    def slab(self, pieces: Sequence[slice]) -> Iterator[Image]:
        image = self._samples(self._inlet.send([self.pixels[piece] for piece in pieces], 0))
        self._inlet.release()
        yield image

    def whole(self) -> Image:
        if self.turns == 1:
            return self._samples(on_device(self.gpu, self.pixels))
        image = self.gpu.empty(self.shape, self.dtype)
        image.alpha, image.linear = self.alpha, self.linear
        height = self.shape[1]
        for rows in parts(height, image.nbytes // height, image.nbytes // self.turns):
            paste(image, self._samples(on_device(self.gpu, self.pixels[rows])), (rows.start, 0))
        return image

    def _samples(self, pixels: Image) -> Image:
        image = unpack(pixels, self.decoding)
        image.linear = self.linear
        return self.convert(image) if self.convert else image


class RowsOfPixels:
    """Pixels (height, width, channels) that come from the top: slices of them, as an array gives them.

    Rows above those that were asked for last are read again from the top. ``begin`` starts to give all rows.
    """

    def __init__(self, shape: Shape, dtype: np.dtype[Any], begin: Callable[[], Iterator[Array]]) -> None:
        self.shape, self.dtype, self.itemsize = shape, dtype, dtype.itemsize
        self._begin = begin
        self._start()

    def _start(self) -> None:
        self._coming, self._first = self._begin(), 0
        self._held: list[Array] = []

    def __getitem__(self, at: slice) -> Array:
        if at.start < self._first:
            self._start()
        held = self._held
        end = self._first + sum(map(len, held))
        while end < at.stop:
            held.append(next(self._coming))
            end += len(held[-1])
            while held and self._first + len(held[0]) <= at.start:
                self._first += len(held.pop(0))
        rows = (held[0] if len(held) == 1 else np.concatenate(held))[at.start - self._first :]
        self._first, self._held = at.start, [rows]
        return rows[: at.stop - at.start]


@dataclass(eq=False)
class PixelSink(Sink):
    """Pixels of an image of ``shape`` (planes, height, width), which is first converted, and then encoded."""

    shape: Shape
    encoding: Encoding
    alpha: bool = False
    convert: Conversion | None = None
    _lost: list[Image] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.row_bytes = self.shape[2] * self.shape[0] * self.encoding.dtype.itemsize

    @cached_property
    def pixels(self) -> Array:
        """The pixels (height, width, channels)."""
        planes, height, width = self.shape
        return np.empty((height, width, planes), self.encoding.dtype)

    def writing(self, transfers: Transfers, rows: int) -> None:
        self._outlet = Outlet(transfers, rows * self.row_bytes)

    def put(self, image: Image, first: int, at: slice) -> None:
        pixels = self._packed(rows_of(image, first, at.stop - at.start))
        self._outlet.receive(pixels, 0, self.pixels[None, at])

    def fill(self, image: Image) -> None:
        self._packed(image).numpy(self.pixels)

    def _packed(self, image: Image) -> Image:
        """Returns an image's pixels, and keeps the counters of values that do not fit."""
        image = self.convert(image) if self.convert else image
        image.alpha = self.alpha
        pixels, lost = pack(image, self.encoding)
        self._lost.append(lost)
        return pixels

    @property
    def result(self) -> tuple[Array, Losses]:
        """The pixels, and the values that did not fit."""
        counts = [losses(lost) for lost in self._lost]
        return self.pixels, Losses(sum(one.clipped for one in counts), sum(one.not_finite for one in counts))


@dataclass(eq=False)
class PixelRows(PixelSink):
    """The same, of which rows go on to ``give`` as they come, with what they have lost."""

    give: Callable[[Array, Losses], None] = field(kw_only=True)

    def __post_init__(self) -> None: ...  # rows need no room on their way from the device
    def writing(self, transfers: Transfers, rows: int) -> None: ...

    def put(self, image: Image, first: int, at: slice) -> None:
        pixels = self._packed(rows_of(image, first, at.stop - at.start))
        self.give(pixels.numpy(), losses(self._lost.pop()))

    def fill(self, image: Image) -> None:
        self.put(image, 0, slice(0, self.shape[1]))


class WithAlpha(Sink):
    """A sink for colours, which go on to ``sink``; their alpha is the last plane of ``source``, the same image."""

    def __init__(self, sink: Sink, source: Source) -> None:
        planes, height, width = sink.shape
        self.shape = planes - 1, height, width
        self.row_bytes = sink.row_bytes + source.row_bytes
        self._sink, self._source = sink, source

    def writing(self, transfers: Transfers, rows: int) -> None:
        self._sink.writing(transfers, rows)
        self._source.reading(transfers, rows)

    def put(self, image: Image, first: int, at: slice) -> None:
        colours = cut(image, (first, 0), (at.stop - at.start, self.shape[2]))
        with self._source.slab([at]) as original:
            self._sink.put(self._joined(colours, original), 0, at)

    def fill(self, image: Image) -> None:
        self._sink.fill(self._joined(image, self._source.whole()))

    def _joined(self, colours: Image, original: Image) -> Image:
        image, last = original.like(), slice(self.shape[0], self.shape[0] + 1)
        image.put(slice(0, self.shape[0]), colours)
        image.put(last, original.planes(last))
        return image
