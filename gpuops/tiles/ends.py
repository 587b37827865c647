"""Sources that an image's rows come from, and sinks that they go to, on the host or on the device."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from ..files.picture import unread
from ..image import Image
from . import memory
from .rectangles import copy, paste, rows_of
from .transfers import Inlet, Outlet, Transfers

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..rows.spool import Spool

Array = npt.NDArray[Any]
Shape = tuple[int, int, int]


class Source(ABC):
    """An image of ``shape`` (planes, height, width) to read, with an Image's ``alpha`` and ``linear``.

    ``row_bytes``: bytes of a row on its way to the device.
    """

    gpu: Gpu
    shape: Shape
    dtype: np.dtype[Any]
    alpha: bool
    linear: bool
    row_bytes = 0

    def reading(self, transfers: Transfers, rows: int) -> None:  # noqa: B027
        """Prepares for :meth:`slab`, which will be asked for ``rows`` rows at most."""

    @abstractmethod
    def slab(self, pieces: Sequence[slice]) -> AbstractContextManager[Image]:
        """A context with an Image of the rows ``pieces``, one piece below the other."""

    @abstractmethod
    def whole(self) -> Image:
        """The whole image on the device."""


class Sink(ABC):
    """A receiver of an image of ``shape``. ``row_bytes``: bytes of a row on its way from the device."""

    shape: Shape
    row_bytes = 0

    def writing(self, transfers: Transfers, rows: int) -> None:  # noqa: B027
        """Prepares for :meth:`put`, which will give ``rows`` rows at most."""

    @abstractmethod
    def put(self, image: Image, first: int, at: slice) -> None:
        """Receives the rows ``at``: those of ``image`` from its row ``first`` on."""

    def fill(self, image: Image) -> None:
        """Receives the whole image."""
        self.put(image, 0, slice(0, self.shape[1]))


class HostImage(Source, Sink):
    """An array (planes, height, width) on the host."""

    def __init__(self, gpu: Gpu, array: Array, *, alpha: bool = False, linear: bool = True) -> None:
        self.gpu, self.array, self.alpha, self.linear = gpu, array, alpha, linear
        self.dtype, self.nbytes = array.dtype, array.nbytes
        planes, height, width = array.shape
        self.shape = planes, height, width
        self.row_bytes = planes * width * array.itemsize

    def reading(self, transfers: Transfers, rows: int) -> None:
        self._inlet = Inlet(transfers, rows * self.row_bytes)

    def writing(self, transfers: Transfers, rows: int) -> None:
        self._outlet = Outlet(transfers, rows * self.row_bytes)

    @contextmanager
    def slab(self, pieces: Sequence[slice]) -> Iterator[Image]:
        yield self._inlet.send([self.array[:, piece] for piece in pieces], 1)
        self._inlet.release()

    def whole(self) -> Image:
        return self.planes(slice(0, self.shape[0]))

    def planes(self, at: slice) -> Image:
        """Planes ``at`` on the device."""
        values = self._values(slice(0, self.shape[1]), at)
        return self._labelled(values, alpha=self.alpha and at.stop == self.shape[0])

    def rows(self, at: slice) -> Image:
        """Rows ``at`` on the device."""
        return self._labelled(self._values(at), alpha=self.alpha)

    def _values(self, rows: slice, planes: slice = slice(None)) -> Array:
        return self.array[planes, rows]

    def _labelled(self, array: Array, *, alpha: bool) -> Image:
        image = self.gpu.array(array)
        image.alpha, image.linear = alpha, self.linear
        return image

    def numpy(self) -> Array:
        """The array."""
        return self.array

    def parts(self) -> Iterator[tuple[slice, Image]]:
        """All rows, one part after the other: their slice, and an Image of them."""
        if self.nbytes:
            for at in memory.turns(self.gpu, self.shape[1], self.row_bytes):
                yield at, self.rows(at)

    def overwrite(self, at: slice, rows: Image) -> None:
        """Overwrites rows ``at``."""
        self.array[:, at] = rows.numpy()

    def without_alpha(self) -> HostImage:
        """The colours alone."""
        return HostImage(self.gpu, self.array[: self.shape[0] - self.alpha], linear=self.linear)

    def put(self, image: Image, first: int, at: slice) -> None:
        self._outlet.receive(image, first, self.array[:, at])

    def fill(self, image: Image) -> None:
        image.numpy(self.array)


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
        values = [self._values(piece) for piece in pieces]
        yield self._labelled(values[0] if len(values) == 1 else np.concatenate(values, 1), alpha=self.alpha)

    def numpy(self) -> Array:
        return self._values(slice(0, self.shape[1]))

    def overwrite(self, at: slice, rows: Image) -> None:
        self.put(rows, 0, at)

    def _values(self, rows: slice, planes: slice = slice(None)) -> Array:
        return self.spool.block(rows, slice(*planes.indices(self.shape[0])))

    def _labelled(self, array: Array, *, alpha: bool) -> Image:
        image = super()._labelled(array, alpha=alpha)
        image.owned = True
        return image

    def put(self, image: Image, first: int, at: slice) -> None:
        self.spool.put_block(at.start, rows_of(image, first, at.stop - at.start).numpy())

    def fill(self, image: Image) -> None:
        self.put(image, 0, slice(0, self.shape[1]))

    def blocks(self, count: int) -> Iterator[Array]:
        """Gives the rows of one plane behind the other, ``count`` at most at a time."""
        for plane in range(self.shape[0]):
            for first in range(0, self.shape[1], count):
                yield self.spool.rows(plane, slice(first, min(first + count, self.shape[1])))


class DeviceImage(Source, Sink):
    """An Image."""

    def __init__(self, image: Image) -> None:
        self.gpu, self.image = image.gpu, image
        self.dtype, self.alpha, self.linear = image.dtype, image.alpha, image.linear
        planes, height, width = image.shape
        self.shape = planes, height, width

    @contextmanager
    def slab(self, pieces: Sequence[slice]) -> Iterator[Image]:
        planes, _, width = self.shape
        slab = self.image.like((planes, sum(piece.stop - piece.start for piece in pieces), width))
        at = 0
        for piece in pieces:
            rows = piece.stop - piece.start
            copy(self.image, (piece.start, 0), slab, (at, 0), (planes, rows, width))
            at += rows
        yield slab

    def whole(self) -> Image:
        return self.image

    def rows(self, at: slice) -> Image:
        """Rows ``at``: the Image itself if these are all of them, else a copy."""
        return rows_of(self.image, at.start, at.stop - at.start)

    def parts(self) -> Iterator[tuple[slice, Image]]:
        """All rows: the Image is its only part."""
        yield slice(0, self.shape[1]), self.image

    def overwrite(self, at: slice, rows: Image) -> None:
        """Overwrites rows ``at``."""
        if rows is not self.image:
            paste(self.image, rows, (at.start, 0))

    def without_alpha(self) -> DeviceImage:
        """The colours alone, which share the Image's memory."""
        return DeviceImage(self.image.without_alpha())

    def put(self, image: Image, first: int, at: slice) -> None:
        planes, _, width = self.shape
        copy(image, (first, 0), self.image, (at.start, 0), (planes, at.stop - at.start, width))

    def fill(self, image: Image) -> None:
        """Takes the image in place of its own."""
        self.image = image


# An image where it is: on the device, or on the host because the device has no room for it.
Anywhere = Image | HostImage
Somewhere = TypeVar("Somewhere", Image, HostImage, Anywhere)


def end_of(image: Anywhere) -> DeviceImage | HostImage:
    """The image as a source and a sink."""
    return DeviceImage(image) if isinstance(image, Image) else image


def changed(image: Somewhere, change: Callable[[Image], Image]) -> Somewhere:
    """The image with each of its parts changed; one on the host is overwritten."""
    if isinstance(image, Image):
        return change(image)
    for at, part in image.parts():
        image.overwrite(at, change(part))
    return image
