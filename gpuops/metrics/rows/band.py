"""Some rows of two pictures, as figures take them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ...files.abreast import RowPlace
from ..both import Both
from ..left_out import Mask
from ..variance import Variance

if TYPE_CHECKING:
    from ...files.picture import Picture, Pixels
    from ...gpu import Gpu
    from ...params.comparing import Comparing


@dataclass(frozen=True)
class Band:
    """Some rows of two pictures.

    Attributes
    ----------
    place : RowPlace
        Where they are.
    reference, result : Picture
        Their pixels.
    without : array (rows, width) of bool, optional
        Where nothing is compared.
    variance : Variance, optional
        The variance of these rows.
    """

    place: RowPlace
    reference: Picture
    result: Picture
    without: Mask | None = None
    variance: Variance | None = None

    @property
    def equal(self) -> bool:
        """Whether all pixels have the same bits, in pictures of one kind."""
        a, b = self.reference, self.result
        same = a.pixels.dtype == b.pixels.dtype and a.pixels.shape == b.pixels.shape and a.colour == b.colour
        return same and bool(np.array_equal(_bits(a.pixels), _bits(b.pixels)))

    @property
    def missing(self) -> int:
        """How many of the pixels that count are left out."""
        return 0 if self.without is None else int(self.without[self.place.counted].sum())

    def cut(self, above: int, below: int) -> Band:
        """Returns the band with no more than so many rows above and below those that count."""
        first, end = self.place.span(above, below)
        at = slice(first - self.place.first, end - self.place.first)
        of, mask = self.variance, self.without
        return Band(
            self.place._replace(first=first),
            _rows(self.reference, at),
            _rows(self.result, at),
            None if mask is None else mask[at],
            None if of is None else replace(of, picture=_rows(of.picture, at)),
        )

    def both(self, gpu: Gpu, how: Comparing) -> Both:
        """Returns the rows on the device."""
        nowhere: Mask = np.zeros(self.reference.pixels.shape[:2], bool)
        mask = nowhere if self.without is None else self.without
        return Both(gpu, self.result, self.reference, how, self.variance, without=mask)


def _rows(picture: Picture, at: slice) -> Picture:
    return replace(picture, pixels=picture.pixels[at])


def _bits(pixels: Pixels) -> Pixels:
    """Returns numbers that are equal where all bits of the pixels are."""
    return pixels.view(np.dtype(f"u{pixels.dtype.itemsize}"))
