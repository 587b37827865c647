"""What is metered of an image, once, for any operator at any exposure."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from . import tonemap
from .params.tonemap import WHITE, TonemapParams
from .reduce import statistics

if TYPE_CHECKING:
    from .gpu import Gpu
    from .image import Image


@dataclass(frozen=True)
class Metered:
    """Parameters of tone mapping, and what they leave to the image.

    Attributes
    ----------
    params : TonemapParams
        What holds for all operators.
    exposure : float
        In stops.
    brightest : float, optional
        The largest luminance before exposure, if an operator asks for it.
    """

    params: TonemapParams
    exposure: float
    brightest: float | None = None

    def look(self, operator: str, stops: float = 0.0) -> TonemapParams:
        """Parameters that leave nothing to be metered. Raises ParameterError for too many stops."""
        exposure, white = self.exposure + stops, None
        if operator in WHITE:
            white = self.params.white if self.params.white is not None else WHITE[operator]
            if white is None:
                assert self.brightest is not None
                white = tonemap.white_point(self.brightest * 2.0**exposure)
        return replace(self.params, operator=operator, exposure=exposure, white=white)


def metered(gpu: Gpu, image: Image, params: TonemapParams, operators: Iterable[str]) -> Metered:
    """Reads the image for what ``params`` and ``operators`` need: the exposure, the brightest luminance, or nothing."""
    exposure, brightest = params.exposure, None
    if exposure is None:
        exposure = math.log2(tonemap.exposure(gpu, image, params.meter, params.key, params.method))
    if params.white is None and any(WHITE.get(operator, 1.0) is None for operator in operators):
        method = "tiles" if params.method == "local" else params.method
        brightest = statistics(gpu, image, histogram=False, method=method).maximum
    return Metered(params, exposure, brightest)
