"""Some rows of two pictures, on the host and, in the values that figures want, on the device."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..gpu import Gpu
from ..image import Image
from ..params.comparing import Comparing, WorstPixel
from ..params.thresholds import Thresholds
from ..pixels.coding import Encoding, on_device, pack, unpack
from ..pixels.light import readable
from ..records import dataclass
from .compare import pair
from .counts import Counts, Threshold, counts
from .flip_tiles import BLOCK

if TYPE_CHECKING:
    from ..files.picture import Picture
    from ..rows.window import RowPlace
    from .pair import Pair
    from .variance import Variance

# The difference of values that idiff allows without an option.
_IDIFF_FAIL = 1e-6
# Neighbours that are taken together, in reading order: they fill whole words, whatever a pixel is.
_RUN = 8
# The largest share of a picture that is taken apart: of more, the whole is measured as fast.
_MOST = 0.25


@dataclass(frozen=True)
class Changed:
    """The pixels that differ between two pictures, with some neighbours; all others have the same bits.

    Attributes
    ----------
    places : array of int
        Their numbers in reading order, at least one.
    pictures : tuple of Picture
        Both pictures of these pixels alone, as one row.
    blocks : array of bool
        Which blocks of BLOCK × BLOCK pixels have one of them.
    none : bool
        Whether these pixels have the same bits, too.
    """

    places: npt.NDArray[np.intp]
    pictures: tuple[Picture, Picture]
    blocks: npt.NDArray[np.bool_]
    none: bool


def changed(a: Picture, b: Picture) -> Changed | None:
    """Returns where two pictures of one size differ; None if they are of different kinds, or differ in many places."""
    if a.pixels.dtype != b.pixels.dtype or a.pixels.shape != b.pixels.shape or a.colour != b.colour:
        return None
    pixels = [_in_a_row(picture.pixels) for picture in (a, b)]
    size, channels = pixels[0].shape
    whole = (size - 1) // _RUN * _RUN  # the last run may be shorter, and is always taken
    first, second = (p[:whole].reshape(-1).view(np.uint64) for p in pixels)
    words = np.flatnonzero(first != second)
    runs = np.zeros(whole // _RUN, bool)
    runs[words // (channels * a.pixels.itemsize)] = True
    if np.count_nonzero(runs) > _MOST * len(runs):
        return None
    places = (np.flatnonzero(runs)[:, None] * _RUN + np.arange(_RUN)).ravel()
    places = np.concatenate([places, np.arange(whole, size)])
    blocks = np.zeros((-(-a.height // BLOCK), -(-a.width // BLOCK)), bool)
    blocks[places // a.width // BLOCK, places % a.width // BLOCK] = True
    parts = (replace(picture, pixels=p[places][None]) for picture, p in zip((a, b), pixels, strict=True))
    last = [p[whole:].view(f"u{a.pixels.itemsize}") for p in pixels]
    none = words.size == 0 and np.array_equal(last[0], last[1])
    return Changed(places, (next(parts), next(parts)), blocks, none)


def _in_a_row(pixels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.ascontiguousarray(pixels).reshape(-1, pixels.shape[2])


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
        given = (thresholds.fail, thresholds.failrelative), (thresholds.warn, thresholds.warnrelative)
        limits = [
            Threshold((default if absolute is None else absolute) * scale, relative or 0.0)
            for absolute, relative in given
        ]
        return counts(self.gpu, *self.compared, limits, among=self.pixels)

    def worst(self, tally: Counts) -> WorstPixel | None:
        """Returns the pixel with the largest error in both pictures."""
        if (at := tally.worst) is None:
            return None
        reference, result = self.compared
        pixel = (tuple(map(float, image.pixel(at.row, at.column))) for image in (result, reference))
        number = at.row * reference.shape[2] + at.column
        number = number if self.changed is None else int(self.changed.places[number])
        row, column = divmod(number, self.reference.width)
        left, top = self.pair.reference.frame.data[:2]
        return WorstPixel(left + column, top + self.place.first + row, *pixel)


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
