"""The means of LDR-FLIP and HDR-FLIP, whose errors are added up by whole rows of tiles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ..figure import Figure, total

if TYPE_CHECKING:
    from ..image import Image
    from ..metrics.band import Band
    from ..metrics.pair import Pair

# Bits of a luminance by which the first look counts, without the sign, and by which the second one does.
_UPPER, _LOWER = 15, 16


def _fit(figure: Figure, pair: Pair) -> Figure:
    from ..metrics.flip import PPD
    from ..metrics.flip_tiles import reach, scratch_bytes, tile_of

    picture, ppd, (_, down) = pair.reference, pair.how.ppd or PPD, tile_of(pair.gpu)
    beside = -(-reach(ppd) // down) * down
    fixed = scratch_bytes(pair.gpu, ppd, (picture.height, picture.width))
    return replace(
        figure, above=beside, below=beside, multiple=down, floats=2.0 / picture.colours, fixed=fixed
    )


def _sum(band: Band, *, hdr: bool) -> float:
    from ..metrics.flip import PPD, automatic, sum_of_rows

    exposures = band.how.exposures or automatic(band.gpu, band.light[0]) if hdr else None
    return sum_of_rows(
        band.gpu,
        *band.light,
        band.counted,
        ppd=band.how.ppd or PPD,
        exposures=exposures,
        blocks=None if band.changed is None else band.changed.blocks,
    )


def _map(band: Band, *, hdr: bool) -> Image:
    from ..metrics.flip import flip, hdr_flip

    return (hdr_flip if hdr else flip)(band.gpu, *band.light, full=True)[1]


def _exposures(pair: Pair) -> tuple[float, float]:
    """Returns the exposures of pictures that come by rows: of the largest and the median luminance, exactly.

    Floats of at least 0 have the order of their bits. A first look at all rows counts luminances by their upper bits,
    and a second one those with the median's upper bits by their lower bits.
    """
    import numpy as np

    from ..metrics.flip import exposures_of, luminance_of

    picture = pair.reference
    looked_at = replace(FIGURES[1], floats=1.0 / picture.colours)

    def bits(band: Band) -> Any:
        light = luminance_of(band.gpu, band.light[0]).numpy()
        return light.view(np.uint32).ravel() & np.uint32(0x7FFFFFFF)

    def counted(pick: Callable[[Any], Any], bins: int) -> Any:
        return sum(
            np.bincount(pick(bits(band.cut(0, 0))), minlength=1 << bins) for band in pair.bands([looked_at])
        )

    def place(counts: Any, rank: int) -> int:
        return int(np.searchsorted(np.cumsum(counts), rank, side="right"))

    most = 0

    def upper_bits(found: Any) -> Any:
        nonlocal most
        most = max(most, int(found.max()))
        return found >> np.uint32(_LOWER)

    counts, rank = counted(upper_bits, _UPPER), picture.width * picture.height // 2
    upper = place(counts, rank)
    lower = counted(
        lambda found: found[found >> np.uint32(_LOWER) == upper] & np.uint32((1 << _LOWER) - 1), _LOWER
    )
    median = upper << _LOWER | place(lower, rank - int(counts[:upper].sum()))
    return exposures_of(*np.array([most, median], np.uint32).view(np.float32).tolist())


_FLIP = partial(
    Figure,
    join=total,
    value=lambda errors, pair: errors / (pair.reference.width * pair.reference.height),
    worst=1,
    wants="light",
    fit=_fit,
)
FIGURES = (
    _FLIP(
        "flip",
        "the mean of LDR-FLIP (Andersson et al., 2020): the differences that people see when the pictures are shown in "
        "turn. Light beyond 1 counts as 1",
        band=partial(_sum, hdr=False),
        map=partial(_map, hdr=False),
    ),
    _FLIP(
        "hdr-flip",
        "the mean of HDR-FLIP (2021), which is the largest FLIP of each pixel over several exposures",
        band=partial(_sum, hdr=True),
        map=partial(_map, hdr=True),
        beforehand=("exposures", _exposures),
    ),
)
