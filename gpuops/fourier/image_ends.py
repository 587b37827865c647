"""The image that a transform reads or writes: its surroundings, or its interleaved pixels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..gpu import Define
from ..image import PIXEL_TYPES
from ..params.border import define
from ..pixels.coding import Encoding


@dataclass(frozen=True)
class Surroundings:
    """The surroundings of an image: ``border`` and ``cval`` are those of border.cl.

    ``after``: how many of their rows and columns are behind the image; the rest of the transform's length is before it.
    ``origin``: the pixel at index (0, 0). ``kernels``: the number of a convolution's kernels, 1 for all planes or one
    for each.
    """

    border: str
    cval: float
    after: tuple[int, int]
    origin: tuple[int, int] = (0, 0)
    kernels: int = 1

    def defines(self) -> dict[str, Define]:
        """Returns the definitions with which fft.cl reads the image."""
        return {**define(self.border), "CVAL": f"{float(self.cval)!r}f"}


@dataclass(frozen=True)
class Pixels:
    """Interleaved pixels that a transform reads, or writes, itself: its planes are channels ``first``, … of them.

    ``dtype`` is one of :data:`gpuops.image.PIXEL_TYPE_NAMES`, ``channels`` the number of values of a pixel. For pixels
    that are written, ``encoding`` says how, and ``alpha`` whether the last channel is alpha.
    """

    dtype: str
    channels: int
    first: int = 0
    encoding: Encoding | None = None
    alpha: bool = False

    def steps(self, columns: int) -> tuple[int, int, int, int]:
        """The steps of the rows of pixels, in values, as :class:`gpuops.fourier.engine.planner.Sequences` has them."""
        return 1, 0, columns * self.channels, self.channels

    def defines(self) -> dict[str, Define]:
        """Returns the definitions with which fft.cl reads them."""
        dtype = np.dtype(self.dtype)
        gain = 1 / np.iinfo(dtype.name).max if dtype.kind == "u" else 1.0
        return {"SAMPLE": PIXEL_TYPES[dtype], "GAIN": f"{gain!r}f", "HALF": dtype == np.float16}

    def written(self, lanes: int) -> dict[str, Define]:
        """Returns the definitions with which fft.cl writes them."""
        encoded = self.encoding.defines(self.channels, alpha=self.alpha) if self.encoding else {}
        return {"STORE_PIXELS": True, "WIDTH": lanes if lanes == 8 else 1, **encoded}
