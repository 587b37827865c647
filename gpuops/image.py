"""Image: an array on the device, and the conversions between it and a file's interleaved pixels.

On the device an image is planar float32 (channel, row, column). Integer pixels become [0, 1]; half and float
ones stay as they are. Conversion happens on the device: the host moves bytes in the file's own depth only.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .errors import ParameterError
from .pixels.colour import LINEAR, SRGB
from .space import LIGHT, Space

if TYPE_CHECKING:
    import pyopencl as cl

    from .gpu import Gpu

Array = npt.NDArray[np.generic]

# numpy dtype of a file's pixels -> OpenCL C type (half floats travel as bits)
PIXEL_TYPES: dict[np.dtype[Any], str] = {
    np.dtype(np.uint8): "uchar",
    np.dtype(np.uint16): "ushort",
    np.dtype(np.float16): "ushort",
    np.dtype(np.float32): "float",
}
#: The names of these types, as messages have them.
PIXEL_TYPE_NAMES = tuple(dtype.name for dtype in PIXEL_TYPES)


class Part(NamedTuple):
    """The rows that an Image has of a taller picture: from ``first`` on, of ``height``.

    Of a picture whose first and last rows are neighbours, there may be rows beyond these.
    """

    first: int
    height: int


# A complex number of two half floats, a type that numpy does not have.
COMPLEX_HALF = np.dtype([("real", np.float16), ("imag", np.float16)])


@dataclass(eq=False, repr=False, slots=True)
class Image:
    """An array in device memory.

    Attributes
    ----------
    shape, dtype
        As numpy's. An image proper is (channels, height, width) float32.
    alpha : bool
        The last plane is coverage (alpha).
    space : Space
        What the values are: light or a signal, with which primaries, multiplied by alpha or not.
    owned : bool
        Nobody else needs the values: an operation may put its result into their memory.
    orientation : int, optional
        EXIF's, 1 (upright) to 8, by which the picture is to be turned when it is shown. None: it is not known, or that
        of the picture that the Image was made from.
    part : Part, optional
        Which rows of a picture these are, for operations to which it matters where a pixel is. None: all.
    """

    gpu: Gpu
    buffer: cl.Buffer
    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]
    _: KW_ONLY
    alpha: bool = False
    space: Space = LIGHT
    owned: bool = field(default=False, init=False)
    orientation: int | None = field(default=None, init=False)
    part: Part | None = field(default=None, init=False)

    def __repr__(self) -> str:
        extra = f"{', alpha' if self.alpha else ''}{'' if self.linear else ', encoded'}"
        return f"Image({self.shape}, {self.dtype}{extra}, on {self.gpu.info.name})"

    @property
    def linear(self) -> bool:
        """Whether values are light; to set it says that they are linear Rec. 709 light, or its sRGB signal."""
        return self.space.linear

    @linear.setter
    def linear(self, linear: bool) -> None:
        colour = LINEAR if linear else SRGB
        if self.space.colour is not colour:
            self.space = replace(self.space, colour=colour)

    @property
    def nbytes(self) -> int:
        """Bytes on the device."""
        return prod(self.shape) * self.dtype.itemsize

    @property
    def colours(self) -> int:
        """Planes that are not alpha."""
        return self.shape[0] - self.alpha

    @property
    def of_whole(self) -> tuple[int, int, int]:
        """The shape (planes, height, width) of the whole picture of planes that may be a part of it."""
        planes, height, width = self.shape
        return planes, height if self.part is None else self.part.height, width

    def check_planar(self, dtype: npt.DTypeLike = np.float32) -> None:
        """Raises ParameterError unless it is (planes, height, width) of ``dtype``, and has elements."""
        if len(self.shape) != 3 or 0 in self.shape or self.dtype != dtype:
            raise ParameterError(
                f"an Image (planes, height, width) of {np.dtype(dtype)} is needed, not {self.shape} of {self.dtype}"
            )

    def like(self, shape: tuple[int, ...] | None = None, dtype: npt.DTypeLike | None = None) -> Image:
        """Returns a new, uninitialised Image with this one's attributes, and its shape and dtype by default."""
        image = self.gpu.new(
            self.shape if shape is None else shape, self.dtype if dtype is None else np.dtype(dtype)
        )
        image.alpha = self.alpha
        image.space = self.space
        image.orientation = self.orientation
        return image

    def numpy(self, out: Array | None = None) -> Array:
        """Copies the array to the host as it is, to ``out`` where that is given (contiguous, as many bytes)."""
        host = np.empty(self.shape, self.dtype) if out is None else out
        self.gpu.read([self], [host])
        return host

    def pixel(self, row: int, column: int) -> Array:
        """Copies the channels of one pixel to the host."""
        channels, rows, columns = self.shape
        size = self.dtype.itemsize
        values = np.empty(channels, self.dtype)
        self.gpu.copy(
            values, self.buffer, buffer_origin=(column * size, row, 0), host_origin=(0, 0, 0),
            region=(size, 1, channels), buffer_pitches=(columns * size, rows * columns * size),
            host_pitches=(size, size),
        )  # fmt: skip
        return values

    def without_alpha(self) -> Image:
        """Returns the colour planes, which share this Image's memory: alpha is the last plane."""
        shape = (self.colours, *self.shape[1:])
        return Image(self.gpu, self.buffer, shape, self.dtype, space=self.space)

    def planes(self, at: slice) -> Image:
        """Returns planes ``at.start`` … ``at.stop``: the Image itself if these are all of them, else a copy."""
        count = at.stop - at.start
        if count == self.shape[0]:
            return self
        part = self.gpu.empty((count, *self.shape[1:]), self.dtype)
        part.alpha, part.space = self.alpha and at.stop == self.shape[0], self.space
        part.orientation = self.orientation
        offset = self.nbytes // self.shape[0] * at.start
        if part.nbytes:
            self.gpu.copy(part.buffer, self.buffer, src_offset=offset, byte_count=part.nbytes)
        return part

    def put(self, at: slice, part: Image) -> None:
        """Overwrites planes ``at.start`` … ``at.stop`` by those of ``part``, of the same size and dtype."""
        offset = self.nbytes // self.shape[0] * at.start
        if part.nbytes:
            self.gpu.copy(self.buffer, part.buffer, dst_offset=offset, byte_count=part.nbytes)
