"""Bands that are on the host because the device has no room for them: the device gets them a few rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..image import Image

if TYPE_CHECKING:
    from ..gpu import Gpu

_ENOUGH = 1 << 25  # bytes of a part: larger parts are moved no faster
_SHARE = 8  # a part may have one in so many bytes of the device's memory


class HostBand:
    """An array (planes, height, width) on the host; ``alpha`` and ``linear`` are as in an Image."""

    def __init__(
        self, gpu: Gpu, array: npt.NDArray[Any], *, alpha: bool = False, linear: bool = False
    ) -> None:
        self.gpu = gpu
        self.array = array
        self.alpha = alpha
        self.linear = linear
        self.shape = array.shape
        self.nbytes = array.nbytes

    def astype(self, dtype: npt.DTypeLike) -> HostBand:
        """A copy of another dtype."""
        return HostBand(self.gpu, self.array.astype(dtype), alpha=self.alpha, linear=self.linear)

    def parts(self) -> Iterator[tuple[slice, Image]]:
        """All rows, one part after the other: their slice, and an Image of them. A band without samples has no
        parts."""
        if not self.nbytes:
            return
        planes, height, width = self.shape
        row = planes * width * self.array.itemsize
        count = max(1, min(_ENOUGH, self.gpu.limits.global_bytes // _SHARE) // row)
        for start in range(0, height, count):
            at = slice(start, min(start + count, height))
            part = self.gpu.array(np.ascontiguousarray(self.array[:, at]))
            part.alpha, part.linear = self.alpha, self.linear
            yield at, part


Band = Image | HostBand


def images(band: Band) -> Iterator[Image]:
    """The parts of a band on the device; an Image is its own only part."""
    if isinstance(band, Image):
        yield band
    else:
        for _, part in band.parts():
            yield part
