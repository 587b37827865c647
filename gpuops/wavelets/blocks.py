"""The blocked layout: all bands in one image, as ``pywt.coeffs_to_array`` puts them.

cA is at the top left. From the coarsest level to the finest, cH is below, cV to the right and cD at the bottom right of
the bands that are there already. That needs as many coefficients as samples: the mode ``mirror``, or ``periodization``
of even lengths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import ParameterError
from ..image import Image
from ..params.dwt import DwtParams
from ..tiles.rectangles import cut, paste

Shape = tuple[int, ...]


def regions(shape: Shape, params: DwtParams, levels: int) -> list[Shape]:
    """(height, width) of the region at an image's top left that each level transforms, the finest first.

    Raises ParameterError for an odd length under periodization, which has more coefficients than samples.
    """
    found: list[Shape] = []
    for _ in range(levels):
        if params.mode != "mirror" and any(n % 2 for n in shape):
            raise ParameterError(
                f"in one image mode periodization needs even lengths at each level, not {shape[0]}×{shape[1]}: "
                "use mode mirror, or fewer levels"
            )
        found.append(shape)
        shape = tuple((n + 1) // 2 for n in shape)
    return found


@dataclass(frozen=True)
class BandInBlock:
    """The place of a band: the (row, column) of its first coefficient, and its (height, width)."""

    at: Shape
    size: Shape

    def copy(self, image: Image, rows: slice) -> Image:
        """Rows of the band."""
        return cut(image, (self.at[0] + rows.start, self.at[1]), (rows.stop - rows.start, self.size[1]))


def places(shape: Shape, shapes: Sequence[Shape]) -> list[BandInBlock]:
    """The places of cA, the coarsest cH, cV, cD, … in an image of (height, width) ``shape``; ``shapes`` are
    :func:`regions`."""
    height, width = shapes[-1] if shapes else (2 * n - 1 for n in shape)
    found = [BandInBlock((0, 0), ((height + 1) // 2, (width + 1) // 2))]
    for height, width in reversed(shapes):
        low, left = (height + 1) // 2, (width + 1) // 2
        found += [
            BandInBlock((low, 0), (height - low, left)),
            BandInBlock((0, left), (low, width - left)),
            BandInBlock((low, left), (height - low, width - left)),
        ]
    return found


def joined(bands: Sequence[Image], shape: Shape) -> Image:
    """The image of (height, width) ``shape`` that holds the bands; the inverse of :func:`places`."""
    approximation, *details = bands
    image = approximation.like((approximation.shape[0], *shape))
    paste(image, approximation, (0, 0))
    for horizontal, vertical, diagonal in zip(details[::3], details[1::3], details[2::3], strict=True):
        low, left = vertical.shape[1], horizontal.shape[2]
        paste(image, horizontal, (low, 0))
        paste(image, vertical, (0, left))
        paste(image, diagonal, (low, left))
    return image
