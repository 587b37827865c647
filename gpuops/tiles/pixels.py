"""A file's pixels (height, width, channels) on the host, as the source or the sink of an image."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..image import Image
from ..pixels.coding import Decoding, Encoding, Losses, losses, on_device, pack, unpack
from .ends import Shape, Sink, Source
from .memory import parts
from .rectangles import cut, paste
from .transfers import Transfers

if TYPE_CHECKING:
    from ..gpu import Gpu

Array = npt.NDArray[Any]
Conversion = Callable[[Image], Image]


class PixelSource(Source):
    """Pixels to read as ``decoding`` says, and then converted, to samples of ``dtype``; ``linear`` is what they are.

    The whole image comes in ``turns``, some rows in each, which saves the memory of all its pixels.
    """

    def __init__(
        self,
        gpu: Gpu,
        pixels: Array,
        decoding: Decoding,
        linear: bool = True,
        convert: Conversion | None = None,
        dtype: npt.DTypeLike = np.float32,
        turns: int = 1,
    ) -> None:
        self._turns = turns
        self.gpu, self.pixels, self.linear = gpu, pixels, linear
        self._decoding, self._convert = decoding, convert
        self.alpha, self.dtype = decoding.alpha, np.dtype(dtype)
        height, width, channels = pixels.shape
        self.shape = channels, height, width
        self.row_bytes = width * channels * pixels.itemsize

    def reading(self, transfers: Transfers, rows: int) -> None:
        self._inlet = transfers.inlet(rows * self.row_bytes)

    @contextmanager
    def slab(self, pieces: Sequence[slice]) -> Iterator[Image]:
        image = self._samples(self._inlet.send([self.pixels[piece] for piece in pieces], 0))
        self._inlet.release()
        yield image

    def whole(self) -> Image:
        if self._turns == 1:
            return self._samples(on_device(self.gpu, self.pixels))
        image = self.gpu.empty(self.shape, self.dtype)
        image.alpha, image.linear = self.alpha, self.linear
        height = self.shape[1]
        for rows in parts(height, image.nbytes // height, image.nbytes // self._turns):
            paste(image, self._samples(on_device(self.gpu, self.pixels[rows])), (rows.start, 0))
        return image

    def _samples(self, pixels: Image) -> Image:
        image = unpack(pixels, self._decoding)
        image.linear = self.linear
        return self._convert(image) if self._convert else image


class PixelSink(Sink):
    """Pixels of an image of ``shape`` (planes, height, width), which is first converted, and then encoded."""

    def __init__(
        self, shape: Shape, encoding: Encoding, *, alpha: bool = False, convert: Conversion | None = None
    ) -> None:
        self.shape = planes, height, width = shape
        self.pixels = np.empty((height, width, planes), encoding.dtype)
        self._encoding, self._alpha, self._convert = encoding, alpha, convert
        self.row_bytes = width * planes * self.pixels.itemsize
        self._lost: list[Image] = []

    def writing(self, transfers: Transfers, rows: int) -> None:
        self._outlet = transfers.outlet(rows * self.row_bytes)

    def put(self, image: Image, first: int, at: slice) -> None:
        rows = at.stop - at.start
        part = image if rows == image.shape[1] else cut(image, (first, 0), (rows, image.shape[2]))
        self._outlet.receive(self._packed(part), 0, self.pixels[None, at])

    def fill(self, image: Image) -> None:
        self._packed(image).numpy(self.pixels)

    def _packed(self, image: Image) -> Image:
        pixels, lost = packed(image, self._encoding, self._convert, alpha=self._alpha)
        self._lost.append(lost)
        return pixels

    @property
    def result(self) -> tuple[Array, Losses]:
        """The pixels, and the values that did not fit."""
        found = [losses(lost) for lost in self._lost]
        return self.pixels, Losses(sum(one.clipped for one in found), sum(one.not_finite for one in found))


def packed(
    image: Image, encoding: Encoding, convert: Conversion | None, *, alpha: bool
) -> tuple[Image, Image]:
    """Returns an image's pixels, and the counters of values that do not fit."""
    image = convert(image) if convert else image
    image.alpha = alpha
    return pack(image, encoding)


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
