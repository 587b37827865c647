"""The number of pixels that have no like nearby."""

from __future__ import annotations

from dataclasses import replace

from ..figure import Band, Figure, Pair, count


def _fit(figure: Figure, pair: Pair) -> Figure:
    radius = min(pair.how.radius, max(pair.reference.height, pair.reference.width))
    return replace(figure, above=radius, below=radius)


def _alone(band: Band) -> int:
    from ..metrics.tolerant import within_radius

    how, rows, tolerance = band.how, band.counted, band.how.tolerance * band.pair.data_range
    return within_radius(band.gpu, *band.stored, radius=how.radius, tolerance=tolerance, rows=rows)


FIGURES = (
    Figure("within-radius", "how many pixels of either picture have no match in the other within `--radius` pixels, as "
           "in ITK. It forgives edges that moved", _alone, count, worst="pixels", unit=" pixels", digits=0, floats=1.0,
           fit=_fit),
)  # fmt: skip
