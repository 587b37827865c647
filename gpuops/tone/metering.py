"""Metering of an image, once, for any operator at any exposure."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from ..gpu import Gpu
from ..image import Image
from ..metrics.statistics import statistics
from ..params.lut import LutParams
from ..params.operators import WHITE
from ..params.tonemap import TonemapParams
from ..records import dataclass
from . import operators, tonemap, white_balance


@dataclass(frozen=True)
class Metered:
    """Parameters of tone mapping, and the values that an image was metered for.

    Attributes
    ----------
    params : TonemapParams
        The parameters for all operators; gains take the place of a white balance that depends on the image.
    exposure : float
        In stops.
    scene : Scene, optional
        The other values that operators take from the image, if one of them takes any.
    """

    params: TonemapParams
    exposure: float
    scene: operators.Scene | None = None

    def look(self, operator: str | LutParams, stops: float = 0.0) -> TonemapParams:
        """Returns parameters that leave nothing to be metered. Raises ParameterError for too many stops."""
        params = _of(self.params, operator, self.exposure + stops)
        if not operators.needs_scene(params):
            return params
        assert self.scene is not None
        return operators.resolved(params, self.scene, 2.0 ** (self.exposure + stops))


def metered(gpu: Gpu, image: Image, params: TonemapParams, names: Iterable[str | LutParams]) -> Metered:
    """Meters the image for ``params`` and for the operators of these names; it is read only where they need it."""
    params = white_balance.resolved(gpu, image, params, None)
    exposure, scene = params.exposure, None
    if exposure is None:
        exposure = math.log2(tonemap.exposure(gpu, image, params))
    if any(operators.needs_scene(_of(params, name, exposure)) for name in names):
        method = "tiles" if params.method == "local" else params.method
        weights = white_balance.weights(params.white_balance)
        scene = operators.Scene.of(statistics(gpu, image, weights=weights, method=method))
    return Metered(params, exposure, scene)


def _of(params: TonemapParams, operator: str | LutParams, exposure: float) -> TonemapParams:
    """Returns the parameters for another operator, with those of the given operator parameters that it has."""
    white = params.white if operator in WHITE else None
    known = TonemapParams(operator).known
    given = {name: value for name, value in params.parameters.items() if name in known}
    return replace(params, operator=operator, exposure=exposure, white=white, parameters=given)
