"""The description of a transform: its input and its result, with an image's surroundings or its interleaved pixels."""

from __future__ import annotations

from math import prod

import numpy as np

from ...gpu import Define
from ...image import COMPLEX_HALF, PIXEL_TYPES
from ...params.border import define
from ...params.fft import FftParams
from ...pixels.coding import Encoding
from ...records import dataclass
from .planner import Four


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
    """Interleaved pixels that a transform reads, or writes, itself: its planes are their channels, all of them colours.

    ``dtype`` is one of :data:`gpuops.image.PIXEL_TYPE_NAMES`. For pixels that are written, ``encoding`` says how.
    """

    dtype: str
    channels: int
    encoding: Encoding | None = None

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
        encoded = self.encoding.defines(self.channels, alpha=False) if self.encoding else {}
        return {"STORE_PIXELS": True, "WIDTH": lanes if lanes == 8 else 1, **encoded}


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
