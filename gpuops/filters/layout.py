"""The order of an image's values in memory, as kernels that read or write several at a time need to know it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..image import Image

if TYPE_CHECKING:
    from ..gpu import Define

# Values of a work-item (fours.cl).
FOUR = 4
# Values that CPUs read and write together (load_sixteen.cl).
LANES = 16
# Values that CPUs encode together.
WIDTH = 8


class Layout(NamedTuple):
    """The order of values in memory: ``planes``, each with groups of its own, or pixels of ``channels`` channels."""

    planes: int
    channels: int
    alpha: bool
    pixels: bool

    @classmethod
    def of(cls, image: Image, alpha: bool, *, pixels: bool) -> Layout:
        """The layout of a planar ``image``, or of ``pixels`` (height, width, channels)."""
        planes, channels = (1, image.shape[2]) if pixels else (image.shape[0], 1)
        return cls(planes, channels, alpha, pixels)

    def defines(self, dtype: np.dtype[np.generic], lanes: int) -> dict[str, Define]:
        """The defines of decode.cl and encode.cl that differ for a work-item that owns ``lanes`` values."""
        together = self.channels if self.alpha else lanes
        return {
            "WIDTH": 1, "BYTES": dtype.itemsize, "INTERLEAVED": self.channels, "CHANNELS": together,
            "COLOURS": together - self.alpha,
        }  # fmt: skip
