"""Passes over a picture whose rows come from the first to the last: what looks at rows above and below."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..passes import Pass
from .window import Needs, rows_of

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..image import Image

Shape = tuple[int, int, int]


def with_halo(
    shape: Shape, halo: int, function: Callable[[Gpu, Image], Image], bytes_per_value: float, align: int = 1
) -> Pass:
    """Returns a pass that looks at rows above and below, and keeps the picture's height.

    Parameters
    ----------
    shape : (planes, height, width)
        The shape of the whole result.
    halo : int
        How many rows above and below a row depends on.
    function : callable
        ``(gpu, image)`` → the result's rows where the Image has rows of the input.
    bytes_per_value : float
        As for :class:`gpuops.operation.Pass`.
    align : int
        The first row of such an Image is a multiple of this.
    """
    height = shape[1]
    needs = beside(height, halo, align)

    def make(gpu: Gpu, image: Image, first: int, end: int) -> Image:
        assert image.part is not None
        start = needs(first, end)[0] if align > 1 else image.part.first
        image = rows_of(image, slice(start - image.part.first, image.shape[1]))
        result = function(gpu, image)
        result.part = image.part
        return rows_of(result, slice(first - start, end - start))

    return Pass(shape, needs, make, min(2 * halo + align, height), bytes_per_value=bytes_per_value)


def beside(height: int, halo: int, align: int = 1) -> Needs:
    """Returns a function that tells which rows of the input rows of a result need: ``halo`` more above and below."""
    return lambda first, end: (max(first - halo, 0) // align * align, min(end + halo, height))
