"""Rectangular parts of images, on the device."""

from __future__ import annotations

from copy import copy

from ..image import Image, Part
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
    return rectangle(image, region.within(rows_in, columns_in), interleaved=interleaved, alpha=alpha)


def cut_of_part(image: Image, region: Region | None) -> Image | None:
    """Returns the colour planes of what an Image has of a region of the whole picture; None if that is nothing.

    They are a part of the region.
    """
    if region is None or image.part is None:
        return cut(image, region, interleaved=False)
    first, height = image.part
    x, y, columns, rows = region.within(height, image.shape[2])
    top, bottom = max(y, first), min(y + rows, first + image.shape[1])
    if top >= bottom:
        return None
    found = rectangle(image, (x, top - first, columns, bottom - top), interleaved=False, alpha=False)
    found = copy(found)  # which may be the Image itself
    found.part = Part(top - y, rows)
    return found


def rectangle(image: Image, place: tuple[int, int, int, int], *, interleaved: bool, alpha: bool) -> Image:
    """Returns the pixels at a place: x, y, columns, rows. It is the Image itself if these are all of them."""
    x, y, columns, rows = place
    rows_in, columns_in = image.shape[:2] if interleaved else image.shape[1:]
    if (rows, columns) == (rows_in, columns_in):
        return image
    gpu, dtype = image.gpu, image.dtype
    planes = 1 if interleaved else image.shape[0] if alpha else image.colours
    size = dtype.itemsize * (
        image.shape[2] if interleaved else 1
    )  # bytes of a pixel, of a plane or of all channels
    part = gpu.empty((rows, columns, image.shape[2]) if interleaved else (planes, rows, columns), dtype)
    part.space, part.alpha = image.space, alpha and image.alpha
    part.orientation = image.orientation
    gpu.copy(
        part.buffer, image.buffer,
        region=(columns * size, rows, planes),
        src_origin=(x * size, y, 0), src_pitches=(columns_in * size, rows_in * columns_in * size),
        dst_origin=(0, 0, 0), dst_pitches=(columns * size, rows * columns * size),
    )  # fmt: skip
    return part
