"""Means over all pixels that are joined from those of rows: structural similarity, SSIMULACRA 2 and FLIP."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .. import ssimulacra2
from ..figures import blocks_of, ppd_of, pu_values
from ..flip import sum_of_rows
from ..flip_tiles import reach, scratch_bytes, tile_of
from ..pu21 import PEAK
from ..ssim import SCALES, WINDOWS, check_scales, check_size, means, of_scales, scale_means, windows_of_scales
from .parts import FigurePart

if TYPE_CHECKING:
    from ...files.picture import Picture
    from ...gpu import Gpu
    from ...image import Image
    from ...params.comparing import Comparing
    from ..both import Both
    from .band import Band

#: Two pictures' planes and their data range.
Values = Callable[["Both"], tuple["Image", "Image", float]]


def stored(both: Both) -> tuple[Image, Image, float]:
    """Returns the stored values."""
    return *both.stored, both.data_range


def luminance(both: Both) -> tuple[Image, Image, float]:
    """Returns PU21 values of the luminance."""
    return *pu_values(both, luminance=True), PEAK


class Similarity(FigurePart):
    """The mean structural similarity: of windows that begin in the rows that count."""

    def __init__(self, picture: Picture, convention: str, values: Values = stored) -> None:
        self._window = WINDOWS[convention]
        check_size(picture.height, picture.width, self._window)
        self.below = self._window.size - 1
        if values is not stored:
            self.wants, self.floats = "light", 2.0
        self._values = values
        self._sum, self._count = 0.0, 0

    def take(self, both: Both, band: Band) -> None:
        if count := self._windows(band):
            of_planes = means(both.gpu, *self._values(both), self._window)[:, 0]
            self._sum += float(of_planes.mean()) * count
            self._count += count

    def take_equal(self, band: Band) -> None:
        self._sum += self._windows(band)
        self._count += self._windows(band)

    def _windows(self, band: Band) -> int:
        """Returns how many windows a plane has."""
        rows, columns, size = band.reference.height, band.reference.width, self._window.size
        return max(0, rows - size + 1) * (columns - size + 1)

    @property
    def figure(self) -> float:
        return self._sum / self._count


class Scales(FigurePart):
    """MS-SSIM: at each scale, the means of windows that begin in the rows that count."""

    unit = 1 << (SCALES - 1)  # a row of the coarsest scale
    below = (WINDOWS["wang"].size - 1) * unit
    floats = 0.7  # the coarser scales of both

    def __init__(self, picture: Picture) -> None:
        check_scales(picture.height, picture.width)
        self._windows = np.array(windows_of_scales(picture.height, picture.width))
        self._sums = np.zeros((SCALES, 1, 2))

    def take(self, both: Both, band: Band) -> None:
        counts = self._rows(band)
        if counts.any():
            found = scale_means(both.gpu, *both.stored, both.data_range, counts.tolist())
            sums = np.zeros((SCALES, *found.shape[1:]))
            sums[counts > 0] = found * counts[counts > 0, None, None]
            self._sums = self._sums + sums

    def take_equal(self, band: Band) -> None:
        self._sums = self._sums + self._rows(band)[:, None, None]

    def _rows(self, band: Band) -> npt.NDArray[np.int64]:
        """Returns how many rows of windows begin in the rows that count, at each scale."""
        first, end = (
            [-(-row // 2**level) for level in range(SCALES)] for row in (band.place.start, band.place.stop)
        )
        found: npt.NDArray[np.int64] = np.maximum(np.minimum(end, self._windows[:, 0]) - first, 0)
        return found

    @property
    def figure(self) -> float:
        return of_scales(self._sums / self._windows[:, 0, None, None])


class Ssimulacra2(FigurePart):
    """The score of SSIMULACRA 2.1: sums of errors at each scale, of the rows that count."""

    unit = ssimulacra2.UNIT
    above = below = ssimulacra2.BESIDE
    wants = "light"

    def __init__(self, picture: Picture) -> None:
        colours = picture.channels - picture.alpha
        ssimulacra2.check(colours, picture.height, picture.width)
        self.floats = ssimulacra2.FLOATS / colours
        self._size = picture.height, picture.width
        self._sums: npt.NDArray[np.float64] | None = None

    def take(self, both: Both, band: Band) -> None:
        sums = ssimulacra2.sums_of_rows(both.gpu, *both.light, band.place.counted, self._size)
        self._sums = sums if self._sums is None else self._sums + sums

    @property
    def figure(self) -> float:
        assert self._sums is not None  # equal pictures have no figure to be asked for
        return ssimulacra2.score(self._sums, self._size)


class FlipMean(FigurePart):
    """The mean of FLIP's errors, with ``exposures`` those of HDR-FLIP."""

    wants = "light"

    def __init__(
        self, gpu: Gpu, picture: Picture, how: Comparing, exposures: tuple[float, float] | None = None
    ) -> None:
        self.exposures = exposures
        self._pixels, self._sum = picture.width * picture.height, 0.0
        self.floats = 2.0 / (picture.channels - picture.alpha)  # two maps
        self.fixed = scratch_bytes(gpu, ppd_of(how), (picture.height, picture.width))
        _, down = tile_of(gpu)
        self.unit = down
        self.above = self.below = -(-reach(ppd_of(how)) // down) * down

    def take(self, both: Both, band: Band) -> None:
        self._sum += sum_of_rows(
            both.gpu,
            *both.light,
            band.place.counted,
            ppd=ppd_of(both.how),
            exposures=self.exposures,
            blocks=blocks_of(both),
        )

    @property
    def figure(self) -> float:
        return self._sum / self._pixels
