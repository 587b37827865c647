"""Images whose rows a spool keeps, and images that come and go as rows of a file: sources and sinks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..files.picture import unread
from ..image import Image
from ..pixels.coding import Encoding, Losses, losses
from .ends import HostImage, Shape, Sink
from .pixels import Conversion, packed
from .rectangles import cut
from .transfers import Transfers

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..rows.spool import Spool

Array = npt.NDArray[Any]


class SpooledImage(HostImage):
    """An image (planes, height, width) in a spool of one panel: all of its planes, or the first ``count``."""

    def __init__(
        self, gpu: Gpu, spool: Spool, *, alpha: bool = False, linear: bool = True, count: int | None = None
    ) -> None:
        planes, *size = spool.shape
        super().__init__(gpu, unread((count or planes, *size), spool.dtype), alpha=alpha, linear=linear)
        self.spool = spool

    def without_alpha(self) -> SpooledImage:
        return SpooledImage(self.gpu, self.spool, linear=self.linear, count=self.shape[0] - self.alpha)

    def reading(self, transfers: Transfers, rows: int) -> None: ...
    def writing(self, transfers: Transfers, rows: int) -> None: ...

    @contextmanager
    def slab(self, pieces: Sequence[slice]) -> Iterator[Image]:
        yield self._image([self._rows(piece) for piece in pieces])

    def planes(self, at: slice) -> Image:
        image = self._image([self._rows(slice(0, self.shape[1]), at)])
        image.alpha = self.alpha and at.stop == self.shape[0]
        return image

    def rows(self, at: slice) -> Image:
        return self._image([self._rows(at)])

    def numpy(self) -> Array:
        return self._rows(slice(0, self.shape[1]))

    def overwrite(self, at: slice, rows: Image) -> None:
        self.put(rows, 0, at)

    def _rows(self, rows: slice, planes: slice = slice(None)) -> Array:
        return self.spool.block(rows, slice(*planes.indices(self.shape[0])))

    def _image(self, pieces: Sequence[Array]) -> Image:
        image = self.gpu.array(pieces[0] if len(pieces) == 1 else np.concatenate(pieces, 1))
        image.alpha, image.linear, image.owned = self.alpha, self.linear, True
        return image

    def put(self, image: Image, first: int, at: slice) -> None:
        count = at.stop - at.start
        rows = image if count == image.shape[1] else cut(image, (first, 0), (count, image.shape[2]))
        self.spool.put_block(at.start, rows.numpy())

    def fill(self, image: Image) -> None:
        self.put(image, 0, slice(0, self.shape[1]))

    def blocks(self, count: int) -> Iterator[Array]:
        """Gives the rows of one plane behind the other, ``count`` at most at a time."""
        for plane in range(self.shape[0]):
            for first in range(0, self.shape[1], count):
                yield self.spool.rows(plane, slice(first, min(first + count, self.shape[1])))


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


class PixelRows(Sink):
    """An image of ``shape`` whose rows are encoded as they come, and go on to ``give`` with what is lost."""

    def __init__(
        self,
        shape: Shape,
        encoding: Encoding,
        give: Callable[[Array, Losses], None],
        *,
        alpha: bool = False,
        convert: Conversion | None = None,
    ) -> None:
        self.shape, self._give = shape, give
        self._encoding, self._alpha, self._convert = encoding, alpha, convert

    def writing(self, transfers: Transfers, rows: int) -> None: ...

    def put(self, image: Image, first: int, at: slice) -> None:
        count = at.stop - at.start
        rows = image if count == image.shape[1] else cut(image, (first, 0), (count, image.shape[2]))
        pixels, lost = packed(rows, self._encoding, self._convert, alpha=self._alpha)
        self._give(pixels.numpy(), losses(lost))

    def fill(self, image: Image) -> None:
        self.put(image, 0, slice(0, self.shape[1]))
