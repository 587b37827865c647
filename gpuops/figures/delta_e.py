"""The largest colour differences, as the eye judges them."""

from __future__ import annotations

from functools import partial

from ..figure import Band, Figure, largest


def _largest(band: Band, method: str) -> float:
    from ..metrics.delta_e import delta_e

    return delta_e(band.gpu, *band.light, method=method, white=band.how.white).max


FIGURES = tuple(
    Figure(name, about, partial(_largest, method=method), largest, wants="light")
    for name, about, method in (
        ("de76", "the largest ΔE of CIE 1976; 2.3 is just noticeable", "76"),
        ("de2000", "the largest ΔE of CIEDE2000; 1 is just noticeable", "2000"),
        ("de-itp", "the largest ΔE ITP of ITU-R BT.2124; 1 is just noticeable", "itp"),
    )
)
