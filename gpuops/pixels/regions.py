"""Rectangular parts of images, on the device."""

from __future__ import annotations

import pyopencl as cl

from ..image import Image
from ..params.region import Region


def cut(image: Image, region: Region | None, *, interleaved: bool, alpha: bool = False) -> Image:
    """Returns the colour planes of a region, with ``alpha`` all planes; or its pixels (height, width, channels).

    It is a copy on the device, or the Image itself where there is no region or the region is the whole image.

    Raises
    ------
    ParameterError
        The region is not inside the image.
    """
    if region is None:
        return image
    rows_in, columns_in = image.shape[:2] if interleaved else image.shape[1:]
    x, y, columns, rows = region.within(rows_in, columns_in)
    if (rows, columns) == (rows_in, columns_in):
        return image
    gpu, dtype = image.gpu, image.dtype
    planes = 1 if interleaved else image.shape[0] if alpha else image.colours
    size = dtype.itemsize * (
        image.shape[2] if interleaved else 1
    )  # bytes of a pixel, of a plane or of all channels
    part = gpu.empty((rows, columns, image.shape[2]) if interleaved else (planes, rows, columns), dtype)
    part.linear, part.alpha = image.linear, alpha and image.alpha
    cl.enqueue_copy(
        gpu.queue, part.buffer, image.buffer,
        region=(columns * size, rows, planes),
        src_origin=(x * size, y, 0), src_pitches=(columns_in * size, rows_in * columns_in * size),
        dst_origin=(0, 0, 0), dst_pitches=(columns * size, rows * columns * size),
    )  # fmt: skip
    return part


def paste(image: Image, into: Image, at: tuple[int, int]) -> None:
    """Overwrites the rectangle of ``into`` that begins at row and column ``at`` by a planar image of the same type."""
    planes, rows, columns = image.shape
    _, high, wide = into.shape
    size = image.dtype.itemsize
    cl.enqueue_copy(
        image.gpu.queue, into.buffer, image.buffer,
        region=(columns * size, rows, planes),
        src_origin=(0, 0, 0), src_pitches=(columns * size, rows * columns * size),
        dst_origin=(at[1] * size, at[0], 0), dst_pitches=(wide * size, high * wide * size),
    )  # fmt: skip
