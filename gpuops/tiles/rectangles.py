"""Copies of rectangles from one device image to another."""

from __future__ import annotations

from copy import copy as copied

from ..image import Image

Shape = tuple[int, ...]


def cut(image: Image, at: Shape, shape: Shape) -> Image:
    """A copy of the rectangle of (height, width) ``shape`` at (row, column) ``at``."""
    part = image.like((image.shape[0], *shape))
    copy(image, at, part, (0, 0), part.shape)
    return part


def rows_of(image: Image, first: int, count: int) -> Image:
    """Some rows of an image from ``first`` on: the Image itself if these are all of them, else a copy."""
    return image if count == image.shape[1] else cut(image, (first, 0), (count, image.shape[2]))


def rows_of_pixels(pixels: Image, first: int, count: int) -> Image:
    """The same of pixels (rows, columns, channels)."""
    return as_pixels(rows_of(as_lines(pixels), first, count), pixels.shape[2])


def as_lines(pixels: Image) -> Image:
    """Pixels (rows, columns, channels) as one plane, whose rows hold all values of a row; it has the same memory."""
    rows, columns, channels = pixels.shape
    return _shaped(pixels, (1, rows, columns * channels))


def as_pixels(lines: Image, channels: int) -> Image:
    """The pixels, of so many channels, that :func:`as_lines` has made a plane of; they have the same memory."""
    _, rows, values = lines.shape
    return _shaped(lines, (rows, values // channels, channels))


def _shaped(image: Image, shape: Shape) -> Image:
    made = copied(image)
    made.shape = shape
    return made


def paste(image: Image, part: Image, at: Shape) -> None:
    """Overwrites the rectangle at (row, column) ``at``."""
    copy(part, (0, 0), image, at, part.shape)


def copy(source: Image, origin: Shape, target: Image, at: Shape, shape: Shape) -> None:
    """Copies a block of ``shape`` (planes, rows, columns), from (row, column) ``origin`` of each plane to ``at``."""
    planes, height, width = shape
    if planes * height * width == 0:
        return

    def place(image: Image, where: Shape) -> tuple[tuple[int, int, int], tuple[int, int]]:
        item, (_, rows, columns) = image.dtype.itemsize, image.shape
        return (where[1] * item, where[0], 0), (columns * item, rows * columns * item)

    (source_origin, source_pitches), (target_origin, target_pitches) = (
        place(source, origin),
        place(target, at),
    )
    source.gpu.copy(
        target.buffer, source.buffer, src_origin=source_origin, dst_origin=target_origin,
        region=(width * source.dtype.itemsize, height, planes), src_pitches=source_pitches, dst_pitches=target_pitches,
    )  # fmt: skip
