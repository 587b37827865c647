"""Some rows of two pictures, on the host and, in the values that figures want, on the device."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..params.comparing import Comparing, WorstPixel
from ..pixels.coding import Encoding, on_device, pack, unpack
from ..pixels.light import readable
from .changes import Changed, changed
from .compare import pair
from .counts import Counts, Threshold, counts

if TYPE_CHECKING:
    from ..files.picture import Picture
    from ..gpu import Gpu
    from ..image import Image
    from ..params.thresholds import Thresholds
    from ..rows.bands import RowPlace
    from .pair import Pair
    from .variance import Variance

# The difference of values that idiff allows without an option.
_IDIFF_FAIL = 1e-6


@dataclass
class Band:
    """Rows of two pictures that count, and neighbours above and below them. Images are made when they are asked for.

    Attributes
    ----------
    pair : Pair
        The pictures whose rows these are.
    place : RowPlace
        Where they are, and which of them count.
    reference, result : Picture
        The rows. Where nothing is compared they are equal.
    pixels : int
        How many of those that count are compared.
    variance : Variance, optional
        That of these rows, if it has the pictures' size.
    """

    pair: Pair
    place: RowPlace
    reference: Picture
    result: Picture
    pixels: int
    variance: Variance | None = None

    @property
    def gpu(self) -> Gpu:
        return self.pair.gpu

    @property
    def how(self) -> Comparing:
        return self.pair.how

    @property
    def counted(self) -> slice:
        """Where the rows that count are among these."""
        return self.place.counted

    @cached_property
    def changed(self) -> Changed | None:
        """Where the rows may differ, if these are few pixels."""
        return changed(self.reference, self.result)

    @property
    def equal(self) -> bool:
        """Whether all pixels have the same bits, in pictures of one kind."""
        return self.changed is not None and self.changed.none

    def cut(self, above: int, below: int) -> Band:
        """Returns the rows that count, and so many above and below, with Images of their own; itself if it is all."""
        if self.pair.whole:
            return self
        first, end = self.place.span(above, below)

        def rows(picture: Picture) -> Picture:
            return replace(picture, pixels=picture.pixels[first - self.place.first : end - self.place.first])

        variance = self.variance and replace(self.variance, picture=rows(self.variance.picture))
        place = self.place._replace(first=first)
        return Band(self.pair, place, rows(self.reference), rows(self.result), self.pixels, variance)

    @cached_property
    def _uploaded(self) -> tuple[Image | None, Image | None]:
        """Both pictures' pixels if they have no alpha: light never has it, so that all figures read the same pixels."""
        if self.reference.alpha or self.result.alpha:
            return None, None
        return on_device(self.gpu, self.reference.pixels), on_device(self.gpu, self.result.pixels)

    @cached_property
    def stored(self) -> tuple[Image, Image]:
        """The stored values, as :func:`gpuops.metrics.compare.pair` gives them, the reference first."""
        how, pictures = self.how, (self.reference, self.result)
        return pair(self.gpu, *pictures, space=how.space, alpha=how.alpha, uploaded=self._uploaded)[:2]

    @cached_property
    def compared(self) -> tuple[Image, Image]:
        """The stored values of the pixels that may differ: of all, or of those that :attr:`changed` has, as one row."""
        if self.changed is None:
            return self.stored
        return pair(self.gpu, *self.changed.pictures, space=self.how.space, alpha=self.how.alpha)[:2]

    @cached_property
    def codes(self) -> tuple[Image, Image]:
        """Encoded RGB and straight alpha, (rows, columns, 4) of uint8, the reference first."""
        return _codes(self.gpu, self.reference), _codes(self.gpu, self.result)

    @cached_property
    def light(self) -> tuple[Image, Image]:
        """Linear Rec. 709 light without alpha, the reference first."""
        pictures = zip((self.reference, self.result), self._uploaded, strict=True)
        first, second = (
            unpack(*readable(self.gpu, picture, linear=True, alpha=False, pixels=pixels))
            for picture, pixels in pictures
        )
        return first, second

    def counts(self, thresholds: Thresholds) -> Counts:
        """Returns what one pass over the stored values counts, for ``fail`` and ``warn``, in these values' unit."""
        default, scale = _IDIFF_FAIL if self.how.idiff else 0.0, self.pair.data_range
        limits = [
            Threshold((default if absolute is None else absolute) * scale, relative or 0.0)
            for absolute, relative in (
                (thresholds.fail, thresholds.failrelative),
                (thresholds.warn, thresholds.warnrelative),
            )
        ]
        return counts(self.gpu, *self.compared, limits, among=self.pixels)

    def worst(self, found: Counts) -> WorstPixel | None:
        """Returns the pixel with the largest error in both pictures."""
        if (at := found.worst) is None:
            return None
        reference, result = self.compared
        pixel = (tuple(map(float, image.pixel(at.row, at.column))) for image in (result, reference))
        number = at.row * reference.shape[2] + at.column
        number = number if self.changed is None else int(self.changed.places[number])
        row, column = divmod(number, self.reference.width)
        return WorstPixel(column, self.place.first + row, *pixel)


def _codes(gpu: Gpu, picture: Picture) -> Image:
    """Returns a picture as (rows, columns, 4) of uint8: sRGB and straight alpha, 255 where it has none."""
    pixels = picture.pixels
    if pixels.dtype != np.uint8 or picture.metadata.colour is not None or picture.linear:
        values, decoding = readable(gpu, picture, linear=False)
        pixels = pack(unpack(values, decoding), Encoding(np.dtype(np.uint8)))[0].numpy()
    height, width, channels = pixels.shape
    codes = np.full((height, width, 4), 255, np.uint8)
    codes[..., :3] = pixels[..., : channels - picture.alpha]
    if picture.alpha:
        codes[..., 3] = pixels[..., -1]
    return gpu.array(codes)
