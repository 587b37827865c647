"""The exposure of the images of a sequence, which depends on what all of them are metered for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..operation import Params, Together
from ..params.tonemap import TonemapParams
from ..params.white_balance import GRAY_WORLD
from . import operators


def _exposed(params: TonemapParams, stops: float) -> TonemapParams:
    """Returns parameters with this exposure, and without what no longer has an effect."""
    usual = {name: getattr(TonemapParams, name) for name in ("meter", "key", "percentiles")}
    if params.white_balance != GRAY_WORLD:
        usual["meter_region"] = None
    exposed = replace(params, exposure=stops, **usual)
    needless = params.white_balance != GRAY_WORLD and not operators.needs_scene(exposed)
    return replace(exposed, method="auto") if needless else exposed


def together(params: TonemapParams) -> Together | None:
    """Says how the images of a sequence are exposed together; None where each is exposed alone."""
    sequence = params.sequence
    if sequence is None:
        return None

    def settled(measured: Sequence[Any]) -> list[Params]:
        metered = [None if one is None else one.exposure for one in measured]
        return [_exposed(params, stops) for stops in sequence.means(metered)]

    return Together(
        replace(params, sequence=None),
        lambda measured: measured.exposure is not None,
        settled,
        "exposure",
        "stops",
    )
