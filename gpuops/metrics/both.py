"""Two files' pictures on the device, in the values that figures want."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ParameterError
from ..params.comparing import Comparing, WorstPixel
from ..params.thresholds import Thresholds
from ..pixels.coding import Encoding, on_device, pack, unpack
from ..pixels.light import readable
from .changed import Changed, changed
from .compare import check_same, pair
from .counted import Counted
from .counts import Counts, Threshold, counts
from .figures import FUNCTIONS
from .left_out import Mask, left_out
from .left_out import without as made_equal

if TYPE_CHECKING:
    from ..files.picture import Picture
    from ..gpu import Gpu
    from ..image import Image
    from .variance import Variance

# The difference of values that idiff allows without an option.
_IDIFF_FAIL = 1e-6


class SizeError(ParameterError):
    """Two pictures have different sizes or channels."""


class Both:
    """The two pictures on the device, in the values that figures want; each is made when it is first asked for.

    Attributes
    ----------
    pixels : int
        How many are compared.
    bounded : bool
        Whether values have a largest one, as integers do.
    note : str
        What is left out, in words.

    Raises
    ------
    SizeError
        The pictures' sizes or channels differ.
    ParameterError
        A mask of another size, or nothing left to compare.

    ``without``: where nothing is compared, if that is known already.
    """

    def __init__(
        self,
        gpu: Gpu,
        result: Picture,
        reference: Picture,
        how: Comparing,
        variance: Variance | None = None,
        *,
        without: Mask | None = None,
    ) -> None:
        same_size(reference, result, how.alpha)
        self.pixels = reference.width * reference.height
        missing = 0
        mask = left_out(reference, how) if without is None else without
        if mask is not None and mask.any():
            result, reference = made_equal(result, reference, mask)
            missing = int(mask.sum())
        self.note = note_of(how, result, reference, missing, self.pixels)
        self.pixels -= missing
        self.gpu: Gpu = gpu
        self.how: Comparing = how
        self.variance: Variance | None = variance
        self.result: Picture = result
        self.reference: Picture = reference
        self.bounded = all(picture.pixels.dtype.kind == "u" for picture in (result, reference))
        self.changed: Changed | None = changed(reference, result)

    @cached_property
    def _compared(self) -> tuple[Image, Image, float]:
        if self.changed is None:
            return self._pair(self.reference, self.result, self._uploaded)
        return self._pair(*self.changed.pictures)

    @property
    def compared(self) -> tuple[Image, Image]:
        """The stored values of the pixels that may differ, the reference first, as ``pair`` gives them.

        These are all, or those that :func:`gpuops.metrics.changed.changed` finds, as one row.
        """
        return self._compared[:2]

    @property
    def data_range(self) -> float:
        """The value that counts as 1."""
        return self._compared[2]

    def _pair(
        self, reference: Picture, result: Picture, uploaded: tuple[Image, Image] | None = None
    ) -> tuple[Image, Image, float]:
        how = self.how
        return pair(self.gpu, reference, result, space=how.space, alpha=how.alpha, uploaded=uploaded)

    @cached_property
    def _uploaded(self) -> tuple[Image, Image] | None:
        """Both pictures' pixels if they have no alpha: light never has it, so that all figures read the same pixels."""
        if self.reference.alpha or self.result.alpha:
            return None
        return on_device(self.gpu, self.reference.pixels), on_device(self.gpu, self.result.pixels)

    @cached_property
    def stored(self) -> tuple[Image, Image]:
        """The stored values of all pixels, as :func:`gpuops.metrics.compare.pair` gives them, the reference first."""
        if self.changed is None:
            return self.compared
        return self._pair(self.reference, self.result, self._uploaded)[:2]

    @cached_property
    def codes(self) -> tuple[Image, Image]:
        """Encoded RGB and straight alpha, (rows, columns, 4) of uint8, the reference first."""
        first, second = (_codes(self.gpu, picture) for picture in (self.reference, self.result))
        return first, second

    @cached_property
    def light(self) -> tuple[Image, Image]:
        """Linear Rec. 709 light without alpha, the reference first."""
        first, second = (
            unpack(*readable(self.gpu, picture, linear=True, alpha=False, pixels=pixels))
            for picture, pixels in zip(
                (self.reference, self.result), self._uploaded or (None, None), strict=True
            )
        )
        return first, second

    def figure(self, metric: str) -> float:
        """Returns a figure that is no sum over the stored values. Raises ParameterError where it is not defined."""
        return FUNCTIONS[metric](self)

    def counts(self, thresholds: Thresholds) -> Counted:
        """Returns the figures of one pass over the stored values."""
        found = self.counted(thresholds)
        return Counted.of(found, self.worst(found), self.data_range)

    def counted(self, thresholds: Thresholds) -> Counts:
        """Returns what one pass over the stored values counts, for ``fail`` and ``warn``, in these values' unit."""
        default = _IDIFF_FAIL if self.how.idiff else 0.0
        limits = [
            Threshold((default if absolute is None else absolute) * self.data_range, relative or 0.0)
            for absolute, relative in (
                (thresholds.fail, thresholds.failrelative),
                (thresholds.warn, thresholds.warnrelative),
            )
        ]
        # What is left out was made equal before, and counts as nothing.
        return counts(self.gpu, *self.compared, limits, among=self.pixels)

    def worst(self, found: Counts) -> WorstPixel | None:
        """Returns the pixel with the largest error in both pictures."""
        if (at := found.worst) is None:
            return None
        reference, result = self.compared
        pixel = (tuple(map(float, image.pixel(at.row, at.column))) for image in (result, reference))
        place = at.row * reference.shape[2] + at.column
        row, column = divmod(
            place if self.changed is None else int(self.changed.places[place]), self.reference.width
        )
        return WorstPixel(column, row, *pixel)


def _codes(gpu: Gpu, picture: Picture) -> Image:
    """Returns a picture as (rows, columns, 4) of uint8: sRGB and straight alpha, 255 where it has none."""
    pixels = picture.pixels
    if pixels.dtype != np.uint8 or picture.metadata.colour is not None or picture.linear:
        values, decoding = readable(gpu, picture, linear=False)
        pixels = pack(unpack(values, decoding), Encoding(np.dtype(np.uint8)))[0].numpy()
    height, width, channels = pixels.shape
    colours = channels - picture.alpha
    codes = np.full((height, width, 4), 255, np.uint8)
    codes[..., :3] = pixels[..., :colours]
    if picture.alpha:
        codes[..., 3] = pixels[..., -1]
    return gpu.array(codes)


def same_size(reference: Picture, result: Picture, alpha: bool) -> None:
    """Raises SizeError for pictures of different sizes or channels; ``alpha``: whether it is compared."""
    try:
        check_same(reference, result, alpha)
    except ParameterError as error:
        raise SizeError(str(error)) from None


def note_of(how: Comparing, result: Picture, reference: Picture, missing: int, pixels: int) -> str:
    """Returns what is left out, in words: so many of all pixels, and alpha."""
    notes = [f"{missing} of {pixels} pixels are not compared"] if missing else []
    if not how.alpha and (reference.alpha or result.alpha):
        notes.append("alpha is not compared")
    return "; ".join(notes)
