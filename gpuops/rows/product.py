"""Rows of a picture that was filtered as a product of spectra, which a spool keeps between the sweeps.

The first sweep transforms rows as they come. The second one takes panels of columns, transforms them, multiplies them,
and transforms them back. Then rows are transformed back as they leave.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ..fourier import products
from ..image import Image
from ..passes import Spectral
from ..records import dataclass
from ..space import Stored
from .source import Barrier
from .threads import Writing, in_panels, read_ahead

Array = npt.NDArray[Any]


@dataclass
class Filtered(Barrier):
    """The rows of a picture that was filtered as a product of spectra.

    Attributes
    ----------
    spool : Spool
        The spectra, and planes of the picture as they are: see :meth:`gpuops.passes.Spectral.spooled`.
    spectral : Spectral
        The filter.
    rows : int
        How many rows are transformed at a time before the picture takes its place.

    The rest is as for :class:`Barrier`.
    """

    spectral: Spectral = field(kw_only=True)
    rows: int = field(kw_only=True)

    @property
    def _count(self) -> int:
        """The planes that are filtered."""
        return self.shape[0] - (self._alpha and not self.spectral.alpha)

    def fill(self, images: Iterable[Image | Stored]) -> None:
        """Transforms planes, each Image with its ``part``, and filters the spectra."""
        writing = Writing(self.pool)
        for image in map(self._prepared, images):
            self._transform(writing, image)
            del image  # whose memory is free while the next are made
        writing.wait()
        for number in range(len(self.spectral.products)):
            if number:
                self._replace()
            self._multiply(number)

    def _transform(self, writing: Writing, image: Image) -> None:
        """Keeps the transform of rows, and the rows themselves where these are needed."""
        assert image.part is not None
        self._note(image)
        first, planes, count = image.part.first, self.shape[0], self._count
        spectra = products.rows_of(self.gpu, image.planes(slice(0, count)), self.spectral).numpy()
        kept = [(plane, values) for plane, values in enumerate(spectra)]
        if count < planes or self.spectral.place is not None:
            rows = image.numpy()
            kept += [(plane, self._in_pairs(rows[plane])) for plane in range(count, planes)]
            if self.spectral.place is not None:
                kept += [(planes + plane, self._in_pairs(rows[plane])) for plane in range(count)]

        def put() -> None:
            for plane, values in kept:
                self.spool.put_rows(plane, first, values)

        writing.put(put)

    def _multiply(self, number: int) -> None:
        """Filters columns of all spectra."""
        gpu, height = self.gpu, self.shape[1]

        def work(panel: Image, _plane: int, first: int) -> Array:
            return products.columns_of(gpu, panel, first, self.spectral, number, height).numpy()

        in_panels(gpu, self.spool, self.pool, self._count, self.spool.shape[1] if number else height, work)

    def _replace(self) -> None:
        """Puts the picture into its place."""
        height, total, writing = self.shape[1], self.spool.shape[1], Writing(self.pool)
        places = [slice(at, min(at + self.rows, total)) for at in range(0, total, self.rows)]
        assert self.spectral.place is not None
        top = self.spectral.place[0]

        def read(at: slice) -> tuple[Array, Array]:
            there = slice(max(at.start - top, 0), max(0, min(at.stop - top, height)))
            return self._spectra(at), self._rows(there, self.shape[0], self._count)

        with closing(read_ahead(self.gpu, self.pool, map(read, places))) as ahead:
            for at, (spectra, rows) in zip(places, ahead, strict=True):
                made = self._replaced(spectra, rows, max(top - at.start, 0))
                writing.put(partial(self.spool.put_block, at.start, made))
        writing.wait()

    def _replaced(self, spectra: Array, rows: Array, at: int) -> Array:
        """Returns the transform of rows with those of the picture in their place, from row ``at`` on."""
        picture = self.gpu.array(rows) if rows.size else None
        return products.rows_replaced(self.gpu, self.gpu.array(spectra), picture, at, self.spectral).numpy()

    def _read(self, at: slice) -> tuple[Array, Array]:
        """Returns rows of the spectra, and those of planes that stay as they are."""
        return self._spectra(at), self._rows(at, self._count, self.shape[0] - self._count)

    def _made(self, read: tuple[Array, Array], _count: int) -> Iterator[Image]:
        yield self._image(*read)

    def _image(self, spectra: Array, rows: Array) -> Image:
        """Returns rows of the result; ``rows`` are those of planes that stay as they are."""
        gpu, count, (planes, _, width) = self.gpu, self._count, self.shape
        image = products.rows_back(gpu, gpu.array(spectra), width, self.spectral)
        if count < planes:
            colours, image = image, gpu.empty((planes, *image.shape[1:]))
            image.put(slice(0, count), colours)
            image.put(slice(count, planes), gpu.array(rows))
        return self.spectral.finished(gpu, self._labelled(image))

    def _spectra(self, at: slice) -> Array:
        """Returns rows of all spectra."""
        return self.spool.block(at, slice(self._count))

    def _rows(self, at: slice, first: int, count: int) -> Array:
        """Returns rows of ``count`` planes, from ``first`` on, that the spool has as they are."""
        width = self.shape[2]
        rows = np.empty((count, max(0, at.stop - at.start), width), np.float32)
        if rows.size:
            for plane in range(count):
                rows[plane] = self.spool.rows(first + plane, at).view(np.float32)[:, :width]
        return rows

    def _in_pairs(self, rows: Array) -> Array:
        """Returns rows of real numbers as rows of the spool, two in each complex number."""
        pairs = np.zeros((len(rows), self.spool.shape[2]), self.spool.dtype)
        pairs.view(np.float32)[:, : rows.shape[1]] = rows
        return pairs
