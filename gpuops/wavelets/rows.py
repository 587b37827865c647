"""Images by their rows: on the host or on the device, as samples or as a file's pixels, to be read or to be written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from ..image import Image
from ..pixels.coding import Decoding, Encoding, Losses, losses, on_device, pack, unpack
from ..tiles.transfers import Inlet, Outlet, Transfers
from . import bands, blocked

if TYPE_CHECKING:
    from ..gpu import Gpu

Array = npt.NDArray[Any]
Planes = tuple[int, int, int]


class Source(Protocol):
    """An image of ``shape`` (planes, height, width) to read. ``row_bytes``: bytes of a row on its way to the device."""

    @property
    def shape(self) -> Planes: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def row_bytes(self) -> int: ...

    def begin(self, transfers: Transfers, rows: int) -> None:
        """Prepares for :meth:`slab`, which will be asked for ``rows`` rows at most."""

    def slab(self, pieces: Sequence[slice]) -> AbstractContextManager[Image]:
        """A context with an Image of the rows ``pieces``, one piece below the other."""

    def whole(self, gpu: Gpu) -> Image:
        """The whole image on the device."""


class Sink(Protocol):
    """A receiver of an image of ``shape``. ``row_bytes``: bytes of a row on its way from the device."""

    @property
    def shape(self) -> Planes: ...
    @property
    def row_bytes(self) -> int: ...

    def begin(self, transfers: Transfers, rows: int) -> None:
        """Prepares for :meth:`put`, which will give ``rows`` rows at most."""

    def put(self, image: Image, first: int, at: slice) -> None:
        """Receives the rows ``at``: those of ``image`` from its row ``first`` on."""


class HostPlanes:
    """An array (planes, height, width) of samples: a source, and a sink."""

    def __init__(self, array: Array) -> None:
        self.array = array
        self.dtype = array.dtype
        planes, height, width = array.shape
        self.shape = planes, height, width
        self.row_bytes = planes * width * array.itemsize

    def begin(self, transfers: Transfers, rows: int) -> None:
        self._transfers, self._nbytes = transfers, rows * self.row_bytes
        self._inlet: Inlet | None = None
        self._outlet: Outlet | None = None

    @contextmanager
    def slab(self, pieces: Sequence[slice]) -> Iterator[Image]:
        self._inlet = self._inlet or self._transfers.inlet(self._nbytes)
        yield self._inlet.send([self.array[:, piece] for piece in pieces], 1)
        self._inlet.release()

    def whole(self, gpu: Gpu) -> Image:
        return gpu.array(self.array)

    def put(self, image: Image, first: int, at: slice) -> None:
        self._outlet = self._outlet or self._transfers.outlet(self._nbytes)
        self._outlet.receive(image, first, self.array[:, at])


class DevicePlanes:
    """An Image: a source, and a sink."""

    row_bytes = 0

    def __init__(self, image: Image) -> None:
        self.image = image
        self.dtype = image.dtype
        planes, height, width = image.shape
        self.shape = planes, height, width

    def begin(self, transfers: Transfers, rows: int) -> None: ...

    @contextmanager
    def slab(self, pieces: Sequence[slice]) -> Iterator[Image]:
        planes, _, width = self.shape
        slab = self.image.like((planes, sum(piece.stop - piece.start for piece in pieces), width))
        at = 0
        for piece in pieces:
            rows = piece.stop - piece.start
            blocked.copy(self.image, (piece.start, 0), slab, (at, 0), (planes, rows, width))
            at += rows
        yield slab

    def whole(self, gpu: Gpu) -> Image:
        return self.image

    def put(self, image: Image, first: int, at: slice) -> None:
        planes, _, width = self.shape
        blocked.copy(image, (first, 0), self.image, (at.start, 0), (planes, at.stop - at.start, width))


class Zeros:
    """A source of zeros."""

    row_bytes = 0

    def __init__(self, gpu: Gpu, shape: Planes, dtype: np.dtype[Any]) -> None:
        self.gpu, self.shape, self.dtype = gpu, shape, dtype

    def begin(self, transfers: Transfers, rows: int) -> None: ...

    @contextmanager
    def slab(self, pieces: Sequence[slice]) -> Iterator[Image]:
        planes, _, width = self.shape
        rows = sum(piece.stop - piece.start for piece in pieces)
        yield self.gpu.zeros((planes, rows, width), self.dtype)

    def whole(self, gpu: Gpu) -> Image:
        return gpu.zeros(self.shape, self.dtype)


class PixelSource:
    """A file's pixels (height, width, channels) on the host; ``white``: they are read as whole levels 0 … white."""

    def __init__(self, pixels: Array, decoding: Decoding, white: int | None = None) -> None:
        self._pixels, self._decoding, self._white = pixels, decoding, white
        self.dtype = np.dtype(np.float32 if white is None else np.int32)
        height, width, channels = pixels.shape
        self.shape = channels, height, width
        self.row_bytes = width * channels * pixels.itemsize

    def begin(self, transfers: Transfers, rows: int) -> None:
        self._inlet = transfers.inlet(rows * self.row_bytes)

    @contextmanager
    def slab(self, pieces: Sequence[slice]) -> Iterator[Image]:
        image = self._samples(self._inlet.send([self._pixels[piece] for piece in pieces], 0))
        self._inlet.release()
        yield image

    def whole(self, gpu: Gpu) -> Image:
        return self._samples(on_device(gpu, self._pixels))

    def _samples(self, pixels: Image) -> Image:
        image = unpack(pixels, self._decoding)
        return image if self._white is None else bands.to_levels(image, self._white)


class PixelSink:
    """A file's pixels (height, width, channels), on the host in the end; ``white``: made of whole levels 0 … white."""

    def __init__(self, shape: Planes, encoding: Encoding, *, alpha: bool, white: int | None = None) -> None:
        self.shape = planes, height, width = shape
        self.pixels = np.empty((height, width, planes), encoding.dtype)
        self._encoding, self._alpha, self._white = encoding, alpha, white
        self.row_bytes = width * planes * self.pixels.itemsize
        self._lost: list[Image] = []

    def begin(self, transfers: Transfers, rows: int) -> None:
        self._outlet = transfers.outlet(rows * self.row_bytes)

    def put(self, image: Image, first: int, at: slice) -> None:
        rows = at.stop - at.start
        part = image if rows == image.shape[1] else blocked.cut(image, (first, 0), (rows, image.shape[2]))
        part = part if self._white is None else bands.from_levels(part, self._white)
        part.alpha = self._alpha
        pixels, lost = pack(part, self._encoding)
        self._lost.append(lost)
        self._outlet.receive(pixels, 0, self.pixels[None, at])

    @property
    def losses(self) -> Losses:
        """The losses of all pixels: the values that did not fit."""
        found = [losses(lost) for lost in self._lost]
        return Losses(sum(one.clipped for one in found), sum(one.not_finite for one in found))


class WithAlpha:
    """A sink for colours, which go on to ``sink``; their alpha is the last plane of ``source``, the same image."""

    def __init__(self, sink: PixelSink, source: PixelSource) -> None:
        planes, height, width = sink.shape
        self.shape = planes - 1, height, width
        self.row_bytes = sink.row_bytes + source.row_bytes
        self._sink, self._source = sink, source

    def begin(self, transfers: Transfers, rows: int) -> None:
        self._sink.begin(transfers, rows)
        self._source.begin(transfers, rows)

    def put(self, image: Image, first: int, at: slice) -> None:
        colours, _, width = self.shape
        rows = at.stop - at.start
        with self._source.slab([at]) as whole:
            whole.put(slice(0, colours), blocked.cut(image, (first, 0), (rows, width)))
            self._sink.put(whole, 0, at)
