"""Figures that are joined from those of rows; each is made of what rows, and some above and below them, give."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from ..compare import mean_squared_error, psnr
from ..figures import FUNCTIONS, beyond_noise, pu_values
from ..pixelmatch import check_pixels, pixelmatch
from ..pu21 import PEAK
from ..tolerant import densest_window, within_radius

if TYPE_CHECKING:
    from ...files.picture import Picture
    from ...params.comparing import Comparing
    from ..both import Both
    from .band import Band

# The number of pixelmatch for pixels that are different.
_DIFFERENT = 1


class FigurePart(ABC):
    """A figure that is joined from those of rows.

    Attributes
    ----------
    above, below : int
        The rows beside those that count which it looks at.
    unit : int
        Rows come in multiples of it.
    wants : str
        The values that it looks at: ``stored``, ``light`` or ``codes``.
    floats : float
        Numbers of 32 bits for each value of one picture that it needs on the device beside these.
    fixed : float
        Bytes of the device's memory beside that, whatever the number of rows.
    """

    above = 0
    below = 0
    unit = 1
    wants = "stored"
    floats = 0.0
    fixed = 0.0

    @abstractmethod
    def take(self, both: Both, band: Band) -> None:
        """Takes the next rows."""

    def take_equal(self, band: Band) -> None:  # noqa: B027
        """Takes rows that are the same in both pictures."""

    @property
    @abstractmethod
    def figure(self) -> float:
        """The figure, when all rows have been taken."""


class Largest(FigurePart):
    """The largest value that a figure of light has for any rows."""

    wants = "light"

    def __init__(self, metric: str) -> None:
        self._of = FUNCTIONS[metric]
        self._most = 0.0

    def take(self, both: Both, band: Band) -> None:
        self._most = max(self._most, self._of(both))

    @property
    def figure(self) -> float:
        return self._most


class PuPsnr(FigurePart):
    """The PSNR of PU21 values."""

    wants = "light"
    floats = 2.0

    def __init__(self) -> None:
        self._squares, self._values = 0.0, 0

    def take(self, both: Both, band: Band) -> None:
        light = pu_values(both)
        values = light[0].nbytes // light[0].dtype.itemsize
        self._squares += mean_squared_error(both.gpu, *light) * values
        self._values += values

    def take_equal(self, band: Band) -> None:
        picture = band.reference
        self._values += picture.width * picture.height * (picture.channels - picture.alpha)

    @property
    def figure(self) -> float:
        return psnr(self._squares / self._values, PEAK)


class Noise(FigurePart):
    """The percentage of pixels, of ``pixels``, that a variance explains."""

    floats = 1.0

    def __init__(self, pixels: int) -> None:
        self._pixels, self._failing = pixels, 0

    def take(self, both: Both, band: Band) -> None:
        self._failing += beyond_noise(both, self._pixels)

    @property
    def figure(self) -> float:
        return 100 * (1 - self._failing / self._pixels)


class PixelmatchCount(FigurePart):
    """The number of pixels that pixelmatch finds different: it looks at neighbours, and at their neighbours."""

    above = below = 2
    wants = "codes"
    floats = 0.5

    def __init__(self, pictures: tuple[Picture, Picture]) -> None:
        if any(picture.alpha for picture in pictures):  # only then the checkerboard shows
            check_pixels(pictures[0].width * pictures[0].height)
        self._count = 0

    def take(self, both: Both, band: Band) -> None:
        _, kinds = pixelmatch(both.gpu, *both.codes, first=band.place.first, full=True)
        self._count += int((kinds.numpy()[band.place.counted] == _DIFFERENT).sum())

    @property
    def figure(self) -> float:
        return float(self._count)


class DensestWindow(FigurePart):
    """The most different pixels in a window that begins in the rows that count."""

    wants = "codes"
    floats = 2.0

    def __init__(self, pictures: tuple[Picture, Picture], how: Comparing) -> None:
        PixelmatchCount(pictures)
        height, width = pictures[0].height, pictures[0].width
        self._size = min(how.window, height, width)
        self.above, self.below = PixelmatchCount.above, self._size - 1 + PixelmatchCount.below
        self._most = 0

    def take(self, both: Both, band: Band) -> None:
        _, kinds = pixelmatch(both.gpu, *both.codes, first=band.place.first, full=True)
        begin = band.place.start - band.place.first
        rows = kinds.numpy()[begin : band.place.stop - band.place.first + self._size - 1]
        if len(rows) >= self._size:
            self._most = max(self._most, densest_window(both.gpu, rows, self._size).count)

    @property
    def figure(self) -> float:
        return float(self._most)


class Unlike(FigurePart):
    """The number of pixels that have no like within a radius."""

    floats = 1.0

    def __init__(self, picture: Picture, how: Comparing) -> None:
        self.above = self.below = min(how.radius, max(picture.height, picture.width))
        self._tolerance, self._count = how.tolerance, 0

    def take(self, both: Both, band: Band) -> None:
        tolerance = self._tolerance * both.data_range
        _, alone = within_radius(both.gpu, *both.stored, radius=self.above, tolerance=tolerance, full=True)
        self._count += int(alone.numpy()[band.place.counted].sum(dtype="int64"))

    @property
    def figure(self) -> float:
        return float(self._count)
