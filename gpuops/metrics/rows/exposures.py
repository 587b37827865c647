"""HDR-FLIP's exposures of pictures that come by rows: the largest and the median luminance of all pixels, exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..flip import exposures_of, luminance_of
from .parts import FigurePart

if TYPE_CHECKING:
    from ...files.picture import Picture
    from ..both import Both
    from .band import Band

# Bits of a luminance by which the first look counts, without the sign, and by which the second one does.
_HIGH, _LOW = 15, 16


class Luminances(FigurePart):
    """The luminances of the reference, whose median is found in two looks at all rows.

    Floats of at least 0 have the order of their bits. The first look counts luminances by their upper bits. The second
    one counts those with the upper bits of the median by their lower bits.
    """

    wants = "light"

    def __init__(self, picture: Picture) -> None:
        self.floats = 1.0 / (picture.channels - picture.alpha)
        self._rank = picture.width * picture.height // 2  # as the whole has it
        self._counts = np.zeros(1 << _HIGH, np.int64)
        self._upper: int | None = None
        self._most = 0

    def take(self, both: Both, band: Band) -> None:
        light = luminance_of(both.gpu, both.light[0]).numpy()[0][band.place.counted]
        bits = light.view(np.uint32).ravel() & np.uint32(0x7FFFFFFF)
        upper = bits >> np.uint32(_LOW)
        if self._upper is None:
            self._most = max(self._most, int(bits.max()))
            self._counts += np.bincount(upper, minlength=1 << _HIGH)
        else:
            lower = bits[upper == self._upper] & np.uint32((1 << _LOW) - 1)
            self._counts += np.bincount(lower, minlength=1 << _LOW)

    def look_closer(self) -> None:
        """Ends the first look."""
        self._upper = self._place()
        self._rank -= int(self._counts[: self._upper].sum())
        self._counts = np.zeros(1 << _LOW, np.int64)

    def _place(self) -> int:
        """Returns the number that has the median among those that were counted."""
        return int(np.searchsorted(np.cumsum(self._counts), self._rank, side="right"))

    @property
    def exposures(self) -> tuple[float, float]:
        """The first and the last exposure in stops, after the second look."""
        assert self._upper is not None
        bits = np.array([self._most, self._upper << _LOW | self._place()], np.uint32)
        most, median = bits.view(np.float32).tolist()
        return exposures_of(most, median)

    @property
    def figure(self) -> float:
        """The first exposure."""
        return self.exposures[0]
