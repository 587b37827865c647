"""The number of pixels that have no like nearby."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..figure import Figure, count

if TYPE_CHECKING:
    from ..metrics.band import Band
    from ..metrics.pair import Pair


def _fit(figure: Figure, pair: Pair) -> Figure:
    radius = min(pair.how.radius, max(pair.reference.height, pair.reference.width))
    return replace(figure, above=radius, below=radius)


def _alone(band: Band) -> int:
    from ..metrics.tolerant import within_radius

    tolerance = band.how.tolerance * band.pair.data_range
    return within_radius(
        band.gpu, *band.stored, radius=band.how.radius, tolerance=tolerance, rows=band.counted
    )


FIGURES = (
    Figure(
        "within-radius",
        "how many pixels of either picture have no match in the other within `--radius` pixels, as in ITK. It forgives "
        "edges that moved",
        count,
        _alone,
        worst="pixels",
        unit=" pixels",
        digits=0,
        floats=1.0,
        fit=_fit,
    ),
)
