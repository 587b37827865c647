"""What is to be transformed, and how what stands around it is to be taken."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, prod

import numpy as np

from ..image import COMPLEX_HALF
from ..params.fft import FftParams
from .planner import Four


@dataclass(frozen=True)
class Surroundings:
    """What stands around an image: ``border`` and ``cval`` of border.cl.

    ``after``: so many rows and columns of it behind the image; the others of the transform's length are before it.
    ``origin``: the pixel at index (0, 0). ``kernels``: of a convolution, 1 for all planes, or as many.
    """

    border: str
    cval: float
    after: tuple[int, int]
    origin: tuple[int, int] = (0, 0)
    kernels: int = 1


@dataclass(frozen=True)
class Problem:
    """A transform: ``axes`` 1 (the last) or 2 (the last two) of (planes, rows, columns).

    ``kind``: ``c2c``, ``r2c`` (half a spectrum, or all of it: as many columns as ``out_shape`` has), ``c2r``, or
    ``convolve``: images by a kernel's half spectrum. ``around``: what stands around the image, instead of zeros.
    ``n``: the transform's lengths along rows and columns. Input beyond them is not read, output beyond not made.
    ``pixels``: the input's type where it is (rows, columns, planes) of pixels, else "". ``half``: complex numbers in
    memory are two half floats.
    """

    kind: str
    axes: int
    in_shape: tuple[int, int, int]
    out_shape: tuple[int, int, int]
    n: tuple[int, int]
    inverse: bool
    scale: float
    double: bool
    params: FftParams
    around: Surroundings | None = None
    pixels: str = ""
    half: bool = False

    @property
    def in_steps(self) -> Four:
        """Of the rows of the input, in elements."""
        planes, _, columns = self.in_shape
        return (1, 0, columns * planes, planes) if self.pixels else row_steps(self.in_shape)

    @property
    def real(self) -> np.dtype[np.generic]:
        return np.dtype(np.float64 if self.double else np.float32)

    @property
    def complex(self) -> np.dtype[np.generic]:
        """Of tables, and of what is stored in between and in the end, unless in halves."""
        return np.dtype(np.complex128 if self.double else np.complex64)

    @property
    def stored(self) -> np.dtype[np.generic]:
        return COMPLEX_HALF if self.half else self.complex

    def scale_of(self, points: int) -> float:
        """The part of the scale that a pass over ``points`` takes, so that halves neither overflow nor vanish; in
        other precisions the last pass takes all of it."""
        size = prod(self.n) if self.axes == 2 else self.n[1]
        return float(self.scale ** (log(points) / log(size))) if self.half and size > 1 else 1.0


def row_steps(shape: tuple[int, int, int]) -> Four:
    """Of the rows of (planes, rows, columns), in elements: see :class:`gpuops.fft.planner.Sequences`."""
    return shape[1] * shape[2], 0, shape[2], 1
