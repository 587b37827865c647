"""The blocked layout: all bands in one image, as ``pywt.coeffs_to_array`` puts them.

cA is at the top left. From the coarsest level to the finest, cH is below, cV to the right and cD at the bottom right of
the bands that are there already. That needs as many coefficients as samples: the mode ``mirror``, or ``periodization``
of even lengths.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ParameterError
from ..image import Image
from ..params.dwt import DwtParams
from ..records import dataclass
from ..tiles.rectangles import cut, paste

Shape = tuple[int, ...]


def regions(shape: Shape, params: DwtParams, levels: int) -> list[tuple[int, int]]:
    """(height, width) of the region at an image's top left that each level transforms, the finest first.

    Raises ParameterError for an odd length under periodization, which has more coefficients than samples.
    """
    shapes = []
    height, width = shape
    for _ in range(levels):
        if params.mode != "mirror" and (height % 2 or width % 2):
            raise ParameterError(
                f"in one image mode periodization needs even lengths at each level, not {height}×{width}: "
                "use mode mirror, fewer levels, or the method lifting"
            )
        shapes.append((height, width))
        height, width = (height + 1) // 2, (width + 1) // 2
    return shapes


@dataclass(frozen=True)
class BandInBlock:
    """The place of a band: the (row, column) of its first coefficient, and its (height, width)."""

    at: Shape
    size: Shape

    def copy(self, image: Image, rows: slice) -> Image:
        """Rows of the band."""
        return cut(image, (self.at[0] + rows.start, self.at[1]), (rows.stop - rows.start, self.size[1]))

    def put(self, image: Image, band: Image) -> None:
        """Overwrites the band."""
        paste(image, band, self.at)


def places(shape: Shape, shapes: Sequence[Shape]) -> list[BandInBlock]:
    """The places of cA, the coarsest cH, cV, cD, … in an image of (height, width) ``shape``; ``shapes`` are
    :func:`regions`."""
    height, width = shapes[-1] if shapes else (2 * n - 1 for n in shape)
    bands = [BandInBlock((0, 0), ((height + 1) // 2, (width + 1) // 2))]
    for height, width in reversed(shapes):
        low, left = (height + 1) // 2, (width + 1) // 2
        bands += [
            BandInBlock((low, 0), (height - low, left)),
            BandInBlock((0, left), (low, width - left)),
            BandInBlock((low, left), (height - low, width - left)),
        ]
    return bands


def joined(bands: Sequence[Image], params: DwtParams, shape: Shape) -> Image:
    """The image of (height, width) ``shape`` that holds the bands."""
    image = bands[0].like((bands[0].shape[0], *shape))
    for place, band in zip(places(shape, regions(shape, params, len(bands) // 3)), bands, strict=True):
        place.put(image, band)
    return image
