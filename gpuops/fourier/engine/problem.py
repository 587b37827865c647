"""The description of a transform: its input and its result."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from ...image import COMPLEX_HALF
from ...params.fft import FftParams
from ..image_ends import Pixels, Surroundings
from .planner import Four


@dataclass(frozen=True)
class Problem:
    """A transform: ``axes`` 1 (the last) or 2 (the last two) of (planes, rows, columns).

    ``kind``: ``c2c``, ``r2c`` (half a spectrum, or all of it: as many columns as ``out_shape`` has), ``c2r``, or
    ``convolve``: images are convolved with a kernel, given by its half spectrum. ``around``: the surroundings of the
    image, instead of zeros. ``n``: (rows, columns) of the transform. Input beyond them is not read, and output beyond
    them is not made. ``pixels``: the image, which is the input or the output of an inverse, consists of pixels.
    ``half``: complex numbers in memory are two half floats. For ``c2c`` alone, ``reals``: the image is real; imaginary
    parts, which are 0, are not read, or not written by an inverse; ``interleaved``: input and output are (rows,
    columns, planes). ``down``, of a ``c2c`` over one axis: that is the columns, of ``n[0]`` points.
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
    down: bool = False

    @property
    def real_in(self) -> bool:
        """Whether the input is an image of real numbers."""
        return self.kind in ("r2c", "convolve") or (self.reals and not self.inverse)

    @property
    def real_out(self) -> bool:
        """Whether the result is an image of real numbers."""
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
        """The steps of the input's rows, in elements."""
        return self.read.steps(self.in_shape[2]) if self.read else row_steps(self.in_shape)

    @property
    def out_steps(self) -> Four:
        """The steps of the result's rows, in elements."""
        return self.written.steps(self.out_shape[2]) if self.written else row_steps(self.out_shape)

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
        """The type of tables, and of intermediates and complex results unless these are stored in halves."""
        return np.dtype(np.complex128 if self.double else np.complex64)

    @property
    def stored(self) -> np.dtype[np.generic]:
        return COMPLEX_HALF if self.half else self.complex

    @property
    def size(self) -> int:
        """The points of the transform."""
        return prod(self.n) if self.axes == 2 else self.n[0 if self.down else 1]


def row_steps(shape: tuple[int, int, int]) -> Four:
    """Gives the steps of the rows of (planes, rows, columns), in elements: see
    :class:`gpuops.fourier.engine.planner.Sequences`.
    """
    return shape[1] * shape[2], 0, shape[2], 1
