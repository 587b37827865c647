"""The transform of an image with a border. The transform makes the border itself as it reads, where it can."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import TooLongError
from .api import DEFAULT, rfft2
from .engine.problem import Problem
from .engine.transform import plan
from .image_ends import Surroundings
from .products import surrounded

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..image import Image


def rfft2_bordered(gpu: Gpu, image: Image, border: str) -> Image:
    """Returns half the spectrum, not scaled, of a planar float32 Image that is continued by a ``border``.

    ``wrap``: the image repeats; complex64 (planes, rows, columns // 2 + 1). ``reflect``: it is mirrored, over twice as
    many rows and columns; the image is the first half of both.
    """
    planes, rows, columns = image.shape
    size, around = (rows, columns), None
    if border == "reflect":
        size, around = (2 * rows, 2 * columns), Surroundings("reflect", 0.0, (rows, columns))
    out = planes, size[0], size[1] // 2 + 1
    problem = Problem("r2c", 2, (planes, rows, columns), out, size, False, 1.0, False, DEFAULT, around)
    try:
        return plan(gpu, problem)(image)
    except TooLongError:  # rows that need several passes, such as those with large prime factors
        if around is None:
            raise
        return rfft2(gpu, surrounded(gpu, image, size))
