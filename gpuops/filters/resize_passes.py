"""Images in another size by rows, as they come: each row of the result is made as in the whole picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..operation import Pass
from ..tiles.window import rows_of
from .resampling import ResampledAxis, weights
from .resize import across_first, aligned, resized

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..image import Image

    Shape = tuple[int, int, int]

# The share of the device's memory, and the bytes, that rows of the input may take for one row of the result. More of
# them are made narrower first, as it takes long to keep and to join them.
_SHARE, _MOST = 1 / 64, 1 << 23


def passes(
    gpu: Gpu, shape: Shape, axes: tuple[ResampledAxis, ResampledAxis], filter: str
) -> tuple[Pass, ...]:
    """Returns the passes that resample both axes (y, x) of a picture of this shape (planes, height, width).

    Sums are taken in the order of :func:`gpuops.filters.resize.resized`, unless a row of the result needs many rows of
    the input.
    """
    y, x = axes
    if y.stays:
        return () if x.stays else (_across(shape, x, filter),)
    if x.stays:
        return (_down(gpu, shape, axes, filter),)
    both = _down(gpu, shape, axes, filter)
    window = 4 * shape[0] * shape[2] * both.window
    crowded = x.result < x.size and window > min(_SHARE * gpu.limits.global_bytes, _MOST)
    if not crowded and not across_first(gpu, axes, filter):
        return (both,)
    across = _across(shape, x, filter)
    return across, _down(gpu, across.shape, (y, ResampledAxis.of(x.result, x.result)), filter)


def _across(shape: Shape, x: ResampledAxis, filter: str) -> Pass:
    """Resamples each row."""
    planes, height, _ = shape

    def make(gpu: Gpu, image: Image, first: int, end: int) -> Image:
        assert image.part is not None
        rows = rows_of(image, slice(first - image.part.first, end - image.part.first))
        return resized(gpu, rows, (ResampledAxis.of(end - first, end - first), x), filter)

    return Pass((planes, height, x.result), lambda first, end: (first, end), make, bytes_per_value=8.0)


def _down(gpu: Gpu, shape: Shape, axes: tuple[ResampledAxis, ResampledAxis], filter: str) -> Pass:
    """Resamples columns, and then rows if they do not stay."""
    y, x = axes
    found, align = weights(y, filter), aligned(gpu)

    def make(gpu: Gpu, image: Image, first: int, end: int) -> Image:
        return resized(gpu, image, axes, filter, (first, end))

    each = 4.0 if x.stays else 12.0
    return Pass((shape[0], y.result, x.result), found.needs, make, found.window(align), align, each)
