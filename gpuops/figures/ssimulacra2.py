"""SSIMULACRA 2.1, whose errors are added up at each scale."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..figure import Band, Figure, Pair


def _fit(figure: Figure, pair: Pair) -> Figure:
    from ..metrics.ssimulacra2 import BESIDE, FLOATS, UNIT, check

    picture = pair.reference
    check(picture.colours, picture.height, picture.width)
    return replace(figure, above=BESIDE, below=BESIDE, multiple=UNIT, floats=FLOATS / picture.colours)


def _sums(band: Band) -> Any:
    from ..metrics.ssimulacra2 import sums_of_rows

    return sums_of_rows(band.gpu, *band.light, band.counted, (band.place.height, band.reference.width))


def _score(sums: Any, pair: Pair) -> float:
    from ..metrics.ssimulacra2 import score

    return score(sums, (pair.reference.height, pair.reference.width))


FIGURES = (
    Figure("ssimulacra2", "SSIMULACRA 2.1: 90 is visually lossless, 70 high quality", _sums, value=_score, higher=True,
           best=100, wants="light", fit=_fit),
)  # fmt: skip
