"""Image: an array on the device, and the conversions between it and a file's interleaved pixels.

On the device an image is planar float32 (channel, row, column). Integer pixels become [0, 1]; half and float
ones stay as they are. Conversion happens on the device: the host moves bytes in the file's own depth only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyopencl as cl

from .errors import ParameterError

if TYPE_CHECKING:
    from .gpu import Gpu

Array = npt.NDArray[np.generic]

# numpy dtype of a file's pixels -> OpenCL C type (half floats travel as bits)
PIXEL_TYPES = {"uint8": "uchar", "uint16": "ushort", "float16": "ushort", "float32": "float"}


# A complex number of two half floats, which numpy has not.
COMPLEX_HALF = np.dtype([("real", np.float16), ("imag", np.float16)])


class Image:
    """An array in device memory.

    Attributes
    ----------
    shape, dtype
        As numpy's. An image proper is (channels, height, width) float32.
    alpha : bool
        The last plane is coverage (alpha).
    linear : bool
        Values are linear light rather than sRGB-encoded.
    """

    __slots__ = ("alpha", "buffer", "dtype", "gpu", "linear", "shape")

    def __init__(
        self,
        gpu: Gpu,
        buffer: cl.Buffer,
        shape: tuple[int, ...],
        dtype: np.dtype[np.generic],
        *,
        alpha: bool = False,
        linear: bool = True,
    ) -> None:
        self.gpu = gpu
        self.buffer = buffer
        self.shape = shape
        self.dtype = dtype
        self.alpha = alpha
        self.linear = linear

    def __repr__(self) -> str:
        extra = f"{', alpha' if self.alpha else ''}{'' if self.linear else ', encoded'}"
        return f"Image({self.shape}, {self.dtype}{extra}, on {self.gpu.info.name})"

    @property
    def nbytes(self) -> int:
        """Bytes on the device."""
        return prod(self.shape) * self.dtype.itemsize

    @property
    def colours(self) -> int:
        """Planes that are not alpha."""
        return self.shape[0] - self.alpha

    def like(self, shape: Sequence[int] | None = None, dtype: npt.DTypeLike | None = None) -> Image:
        """A new, uninitialised Image with this one's attributes (and shape and dtype, where not given)."""
        image = self.gpu.empty(self.shape if shape is None else shape, self.dtype if dtype is None else dtype)
        image.alpha = self.alpha
        image.linear = self.linear
        return image

    def numpy(self, out: Array | None = None) -> Array:
        """Copies the array to the host as it is, to ``out`` where that is given (contiguous, as many bytes)."""
        host = np.empty(self.shape, self.dtype) if out is None else out
        if host.size:
            with self.gpu.phase("download"):
                cl.enqueue_copy(self.gpu.queue, host, self.buffer)
        return host

    def pixel(self, row: int, column: int) -> Array:
        """The channels of one pixel, on the host."""
        channels, rows, columns = self.shape
        size = self.dtype.itemsize
        values = np.empty(channels, self.dtype)
        for k in range(channels):
            offset = ((k * rows + row) * columns + column) * size
            cl.enqueue_copy(self.gpu.queue, values[k : k + 1], self.buffer, src_offset=offset)
        return values

    def without_alpha(self) -> Image:
        """The colour planes, sharing this Image's memory: alpha is the last plane."""
        shape = (self.colours, *self.shape[1:])
        return Image(self.gpu, self.buffer, shape, self.dtype, linear=self.linear)

    def planes(self, at: slice) -> Image:
        """Planes ``at.start`` … ``at.stop``: the Image itself where these are all, else a copy."""
        count = at.stop - at.start
        if count == self.shape[0]:
            return self
        part = self.gpu.empty((count, *self.shape[1:]), self.dtype)
        part.alpha, part.linear = self.alpha and at.stop == self.shape[0], self.linear
        offset = self.nbytes // self.shape[0] * at.start
        if part.nbytes:
            cl.enqueue_copy(
                self.gpu.queue, part.buffer, self.buffer, src_offset=offset, byte_count=part.nbytes
            )
        return part

    def put(self, at: slice, part: Image) -> None:
        """Overwrites planes ``at.start`` … ``at.stop`` by those of ``part``, of the same size and dtype."""
        offset = self.nbytes // self.shape[0] * at.start
        if part.nbytes:
            cl.enqueue_copy(
                self.gpu.queue, self.buffer, part.buffer, dst_offset=offset, byte_count=part.nbytes
            )


@dataclass(frozen=True)
class Losses:
    """How many values a conversion to a narrower type could not keep."""

    clipped: int = 0
    not_finite: int = 0


def upload(
    gpu: Gpu,
    pixels: Array,
    *,
    alpha: bool = False,
    linearise: bool = False,
    encode: bool = False,
    premultiply: bool = False,
    scale: float | None = None,
) -> Image:
    """Pixels (height, width, channels) of uint8, uint16, float16 or float32 → planar float32 Image.

    Parameters
    ----------
    alpha : bool
        The last channel is straight (unassociated) alpha.
    linearise, encode : bool
        Decode colours from sRGB (IEC 61966-2-1) to linear light, or encode them; alpha stays.
    premultiply : bool
        Multiply colours by alpha, after decoding.
    scale : float, optional
        What values are multiplied by first: for integers 1 / their largest value, else 1.
    """
    if pixels.ndim != 3 or pixels.dtype.name not in PIXEL_TYPES:
        raise ParameterError(
            f"pixels must be (height, width, channels) of {', '.join(PIXEL_TYPES)}, "
            f"not {pixels.shape} {pixels.dtype}"
        )
    height, width, channels = pixels.shape
    raw = gpu.array(pixels)
    image = gpu.empty((channels, height, width))
    image.alpha, image.linear = alpha, linearise
    largest = np.iinfo(pixels.dtype.name).max if pixels.dtype.kind == "u" else 1
    by_table = linearise and largest > 1 and scale is None
    kernel = gpu.kernel(
        ("lanes", "colour", "unpack"),
        "unpack",
        WIDTH=1,
        PIXEL=PIXEL_TYPES[pixels.dtype.name],
        CHANNELS=channels,
        COLOURS=channels - alpha,
        HALF=pixels.dtype == np.float16,
        TABLE=by_table,
        LINEARISE=linearise and not by_table,
        ENCODE=encode,
        PREMULTIPLY=alpha and premultiply,
    )
    factor = 1.0 / largest if scale is None else scale
    table = gpu.array(_srgb_to_linear_table(pixels.dtype.name)) if by_table else None
    size = height * width
    local = kernel.fit(256)
    gpu.launch(
        kernel, (size,), raw, table, image, size, float(factor), local=local, label=f"unpack {pixels.dtype}",
        traffic=raw.nbytes + image.nbytes,
    )  # fmt: skip
    return image


def download(
    image: Image,
    dtype: npt.DTypeLike,
    *,
    encode: bool = False,
    linearise: bool = False,
    unpremultiply: bool = False,
) -> tuple[Array, Losses]:
    """Planar float32 Image → pixels (height, width, channels) of ``dtype``, and what did not fit.

    Integers are rounded to nearest and clipped to [0, 1] × their maximum; NaN becomes 0. Half clips finite values
    to ±65504; float keeps everything. ``encode`` applies the sRGB curve to the colours first,
    ``linearise`` its inverse; ``unpremultiply`` divides them by alpha before either (where alpha is 0 the
    premultiplied colour stands).
    """
    gpu = image.gpu
    dtype = np.dtype(dtype)
    channels, height, width = image.shape
    size = height * width
    maximum = np.iinfo(dtype).max if dtype.kind == "u" else 0
    by_table = encode and dtype == np.uint8
    kernel = gpu.kernel(
        ("lanes", "colour", "pack"),
        "pack",
        WIDTH=gpu.limits.lanes,
        PIXEL=PIXEL_TYPES[dtype.name],
        MAXIMUM=maximum or None,
        CHANNELS=channels,
        COLOURS=image.colours,
        HALF=dtype == np.float16,
        TABLE=by_table,
        ENCODE=encode and not by_table,
        LINEARISE=linearise,
        UNPREMULTIPLY=image.alpha and unpremultiply,
    )
    raw = gpu.empty((height, width, channels), dtype)
    lost = gpu.zeros((2,), np.uint32)
    table = gpu.array(_srgb_code_bins()) if by_table else None
    # Every work-item converts a few pixels and reports its losses once: no storm of atomics on an HDR image.
    items = min(-(-size // gpu.limits.lanes), max(1 << 14, gpu.limits.compute_units << 11))
    gpu.launch(
        kernel, (items,), image, table, raw, lost, size, local=kernel.fit(256), label=f"pack {dtype}",
        traffic=image.nbytes + raw.nbytes,
    )  # fmt: skip
    pixels = raw.numpy()
    clipped, not_finite = (int(n) for n in lost.numpy())
    return pixels, Losses(clipped, not_finite)


@cache
def _srgb_to_linear_table(dtype: str) -> npt.NDArray[np.float32]:
    """Linear light of every code, computed in float64 (IEC 61966-2-1)."""
    maximum = np.iinfo(dtype).max
    v = np.arange(maximum + 1, dtype=np.float64) / maximum
    return np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4).astype(np.float32)


@cache
def _srgb_code_bins() -> npt.NDArray[np.float32]:
    """For bins of 1/4096 of linear light: the value inside at which the 8-bit sRGB code steps up, and the code below.

    So encoding is a comparison with exact thresholds rather than a power of limited accuracy.
    """
    v = (np.arange(1, 256, dtype=np.float64) - 0.5) / 255
    edges = np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)
    bins = np.stack([np.full(4096, np.inf), np.searchsorted(edges, np.arange(4096) / 4096, "right")], axis=1)
    bins[(edges * 4096).astype(int), 0] = edges
    return bins.astype(np.float32)
