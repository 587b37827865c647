"""Rectangular parts of images, on the device."""

from __future__ import annotations

from copy import copy

import numpy as np

from ..image import Image, Part
from ..params.region import Region
from ..tiles import rectangles


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
    piece = rectangle(image, (x, top - first, columns, bottom - top), interleaved=False, alpha=False)
    piece = copy(piece)  # which may be the Image itself
    piece.part = Part(top - y, rows)
    return piece


def rectangle(image: Image, place: tuple[int, int, int, int], *, interleaved: bool, alpha: bool) -> Image:
    """Returns the pixels at a place: x, y, columns, rows. It is the Image itself if these are all of them."""
    x, y, columns, rows = place
    rows_in, columns_in = image.shape[:2] if interleaved else image.shape[1:]
    if (rows, columns) == (rows_in, columns_in):
        return image
    if not interleaved:
        piece = rectangles.cut(image if alpha else image.without_alpha(), (y, x), (rows, columns))
        piece.orientation = image.orientation
        return piece
    channels = image.shape[2]
    pixel = np.dtype((np.void, channels * image.dtype.itemsize))
    plane = Image(image.gpu, image.buffer, (1, rows_in, columns_in), pixel)
    part = rectangles.cut(plane, (y, x), (rows, columns))
    piece = Image(image.gpu, part.buffer, (rows, columns, channels), image.dtype, space=image.space)
    piece.orientation = image.orientation
    return piece
