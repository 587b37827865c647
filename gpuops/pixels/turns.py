"""Turned images: mirrored and transposed, the eight ways to lay a picture down, and interpolated between pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..image import Image

#: rotate.cl's positions count in parts of a pixel, so many.
_FIXED = 1 << 32


def interpolated(
    image: Image,
    size: tuple[int, int],
    first: tuple[float, float],
    direction: tuple[float, float],
    outside: float,
    *,
    label: str,
) -> Image:
    """Returns planes that are turned and moved, by Catmull-Rom's cubic within the range of the 16 values around.

    Parameters
    ----------
    size : (int, int)
        Rows and columns of the result.
    first, direction : (float, float)
        Where the result's pixel (0, 0) is in the image, (x, y), and the cosine and the sine of the clockwise turn.
    outside : float
        The value beyond the image's edges, without alpha; with alpha it is 0.
    """
    import numpy as np

    gpu, (planes, height, width), (rows, columns) = image.gpu, image.shape, size
    fixed = (np.int64(round(v * _FIXED)) for v in (*first, *direction))
    result = image.like((planes, rows, columns))
    gpu.compute(
        "rotate", "turn", (columns, rows, planes), image, result, height, width, rows, columns, *fixed,
        0.0 if image.alpha else outside, group=(16, 16), label=label,
    )  # fmt: skip
    return result


def upright(image: Image, orientation: int) -> Image:
    """Returns planes turned as an orientation of EXIF asks, 1 to 8, value for value.

    1 and any other number give the Image itself; 6, 3 and 8 are clockwise turns by 90°, 180° and 270°.
    """
    if orientation not in range(2, 9):
        return image
    turn = transposed if orientation >= 5 else mirrored
    return turn(image, across=orientation in (2, 3, 7, 8), down=orientation in (3, 4, 6, 7))


def mirrored(image: Image, *, across: bool, down: bool) -> Image:
    """Returns planes with columns in reverse order (``across``), and rows (``down``)."""
    gpu, (planes, height, width) = image.gpu, image.shape
    result = image.like()
    gpu.compute(
        "flip", "flip", (width, height, planes), image, result, height, width, down, group=64, label="flip",
        ACROSS=across,
    )  # fmt: skip
    return result


def transposed(image: Image, *, across: bool = False, down: bool = False) -> Image:
    """Returns planes whose rows are the columns of ``image``.

    Before that its columns are in reverse order (``across``), or its rows (``down``).
    """
    gpu, (planes, height, width) = image.gpu, image.shape
    result = image.like((planes, width, height))
    wide = gpu.limits.lanes > 1
    tile = 16 if wide else 32
    kernel = gpu.kernel("transpose", "transpose", **({"WIDE": True} if wide else {"TILE": tile}))
    local = (1, 1, 1) if wide else kernel.fit(tile, 8, 1)
    size = -(-width // tile) * local[0], -(-height // tile) * local[1], planes
    gpu.launch(kernel, size, image, result, height, width, across, down, local=local, label="transpose")
    return result
