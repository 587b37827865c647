"""What is to be transformed, and how what stands around it is to be taken."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, prod

import numpy as np

from ..image import COMPLEX_HALF
from ..params.fft import FftParams
from ..pixels import Encoding
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
class Pixels:
    """Interleaved pixels that a transform reads, or writes, itself: its planes are channels ``first``, … of them.

    ``dtype`` is a name of :data:`gpuops.image.PIXEL_TYPES`, ``channels`` how many values a pixel has. Pixels that are
    written are as ``encoding`` says; the last channel is then alpha, or not.
    """

    dtype: str
    channels: int
    first: int = 0
    encoding: Encoding | None = None
    alpha: bool = False


@dataclass(frozen=True)
class Problem:
    """A transform: ``axes`` 1 (the last) or 2 (the last two) of (planes, rows, columns).

    ``kind``: ``c2c``, ``r2c`` (half a spectrum, or all of it: as many columns as ``out_shape`` has), ``c2r``, or
    ``convolve``: images by a kernel's half spectrum. ``around``: what stands around the image, instead of zeros.
    ``n``: the transform's lengths along rows and columns. Input beyond them is not read, output beyond not made.
    ``pixels``: the image is one of pixels: the input, of an inverse the output. ``half``: complex numbers in memory are
    two half floats. Of a ``c2c`` also, ``reals``: the image is real: imaginary parts, which are 0, are not read, and of
    an inverse not written; ``interleaved``: input and output are (rows, columns, planes).
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
    pixels: Pixels | None = None
    half: bool = False
    reals: bool = False
    interleaved: bool = False

    @property
    def real_in(self) -> bool:
        """The input is an image of real numbers."""
        return self.kind in ("r2c", "convolve") or (self.reals and not self.inverse)

    @property
    def real_out(self) -> bool:
        """The result is an image of real numbers."""
        return self.kind in ("c2r", "convolve") or (self.reals and self.inverse)

    @property
    def read(self) -> Pixels | None:
        """The pixels that are the input."""
        return None if self.inverse else self.pixels

    @property
    def written(self) -> Pixels | None:
        """The pixels that are the result."""
        return self.pixels if self.inverse else None

    @property
    def in_steps(self) -> Four:
        """Of the rows of the input, in elements."""
        return _pixel_steps(self.in_shape, self.read) if self.read else row_steps(self.in_shape)

    @property
    def out_steps(self) -> Four:
        """The length of the result's rows, in elements."""
        return _pixel_steps(self.out_shape, self.written) if self.written else row_steps(self.out_shape)

    @property
    def result(self) -> tuple[tuple[int, ...], np.dtype[np.generic]]:
        """Shape and type of the result."""
        if self.written:
            return (*self.out_shape[1:], self.written.channels), np.dtype(self.written.dtype)
        planes, rows, columns = self.out_shape
        shape = (rows, columns, planes) if self.interleaved else self.out_shape
        return shape, self.real if self.real_out else self.stored

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


def _pixel_steps(shape: tuple[int, int, int], pixels: Pixels) -> Four:
    """:func:`row_steps` of planes that are channels of pixels."""
    return 1, 0, shape[2] * pixels.channels, pixels.channels


def row_steps(shape: tuple[int, int, int]) -> Four:
    """Of the rows of (planes, rows, columns), in elements: see :class:`gpuops.fft.planner.Sequences`."""
    return shape[1] * shape[2], 0, shape[2], 1
