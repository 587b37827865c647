"""Options of tone mapping that have no effect beside others, which are refused rather than ignored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..params.lut import LutParams
from ..params.operators import WHITE, WRAPPING
from ..params.white_balance import GRAY_WORLD

if TYPE_CHECKING:
    from ..operation import Given
    from ..ops.tonemap import TonemapParams


def check(params: TonemapParams, given: Given, shown: tuple[str | LutParams, ...]) -> None:
    """Raises ParameterError for what :meth:`gpuops.ops.tonemap.TonemapParams.check_all` says."""
    others = tuple(name for name in given if name not in ("preset", "method", "bloom", "blur"))
    if params.preset:
        given.refuse("--preset fixes everything but --method, --bloom and --blur", *others)
    else:
        given.refuse("these are effects of --preset d3d11", "bloom", "blur")
    if "lut" not in given:
        given.refuse("there is no --lut", "lut_input", "lut_output")
    if params.meter != "histogram":
        given.refuse("--percentiles belong to --meter histogram", "percentiles")
    if params.exposure is not None:
        given.refuse("--meter and --key belong to --exposure auto", "meter", "key")
        if params.white_balance != GRAY_WORLD:
            given.refuse("with this --exposure no region is metered", "meter_region")
            operators = (params.operator, *shown)
            takes_white = any(isinstance(o, str) and WHITE.get(o, 1.0) is None for o in operators)
            if params.white is not None or not takes_white:
                given.refuse("with this --exposure nothing is metered", "method")
    if not any(operator in WRAPPING for operator in (params.operator, *shown)):
        given.refuse(f"what is beyond the edges matters to {', '.join(WRAPPING)} alone", "border")
    if not params.dither:
        given.refuse("there is no --dither", "seed", "noise")
