"""The numbers that tone mapping operators are computed with: the vector p of clkernels/tone/tonemap_operators.cl."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import cast

from ..metrics.statistics import Statistics
from ..params.lut import LutParams
from ..params.operators import LOCAL
from ..params.tonemap import TonemapParams
from ..records import dataclass
from ..space import Space

# The operators whose results are clipped to 1.
CLIPPED = {
    "aces-narkowicz", "aces-hill", "agx", "agx-punchy", "agx-golden", "khronos-neutral", "reinhard-channels",
    "reinhard-devlin", "sigmoid",
}  # fmt: skip

# The operators whose matrices are for Rec. 709's primaries.
_REC709 = frozenset({"aces-hill", "agx", "agx-punchy", "agx-golden"})

Vector = tuple[float, float, float, float, float, float, float, float]
Values = Mapping[str, float]
# The vector of parameters of an operator that has none.
NO_PARAMETERS: Vector = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Scene:
    """The figures of an image that operators may depend on.

    Attributes
    ----------
    brightest, mean : float
        Luminance, before exposure: the largest, and the arithmetic mean.
    key : float
        The place of the geometric mean's logarithm between those of the largest (0) and the least luminance (1).
    """

    brightest: float
    mean: float
    key: float

    @classmethod
    def of(cls, measured: Statistics) -> Scene:
        """Makes the scene from statistics with a histogram, from which the key is computed."""
        low, high = measured.percentile(0), measured.percentile(100)
        key = math.log(high / measured.log_mean) / math.log(high / low) if low < high else 0.0
        mean = measured.mean if measured.mean > 0 else 0.0
        return cls(measured.maximum, mean, min(max(key, 0.0), 1.0))


def function_of(operator: str | LutParams) -> str:
    """Returns the operator's function in tonemap_operators.cl or lut.cl; a local one's takes light times its gain."""
    if isinstance(operator, LutParams):
        return "op_lut"
    return "op_linear" if operator in LOCAL else f"op_{operator.replace('-', '_')}"


def is_rec709(params: TonemapParams) -> bool:
    """Says whether the operator, or what goes with it, has numbers that are for Rec. 709's primaries."""
    name = params.operator
    made_for = isinstance(name, LutParams) or name in _REC709 or name in LOCAL
    return made_for or params.preset is not None or params.white_balance is not None


def luminance_of(space: Space) -> str | None:
    """Returns tonemap_operators.cl's define for light of other primaries than Rec. 709's."""
    if space.colour.is_rec709:
        return None
    return f"({','.join(f'{share:.9g}f' for share in space.colour.luminance)})"


def needs_scene(params: TonemapParams) -> bool:
    """Says whether a parameter that has an effect is left to the image."""
    names = set(params.known)
    if params.operator == "reinhard-devlin" and params.value("adaptation") == 1:
        names.remove("mean")
    return any(params.value(name) is None for name in names)


def needs_image(params: TonemapParams) -> bool:
    """Says whether a pixel's result depends on other pixels."""
    return params.operator in LOCAL or needs_scene(params)


def resolved(params: TonemapParams, scene: Scene, exposure: float) -> TonemapParams:
    """Returns ``params`` with values for all that was left to the image, whose light is multiplied by ``exposure``."""
    left = [name for name in params.known if params.value(name) is None]
    values = {name: _METERED[name](scene, exposure) for name in left}
    return replace(params, parameters={**params.parameters, **values})


def vector(params: TonemapParams) -> Vector:
    """Returns p for parameters of which none that has an effect is left to the image."""
    values = {name: params.value(name) or 0.0 for name in params.known}
    prepare = None if isinstance(params.operator, LutParams) else _PREPARED.get(params.operator)
    made = prepare(values) if prepare else ()
    return cast("Vector", (*made, *NO_PARAMETERS[len(made) :]))


def _white(scene: Scene, exposure: float) -> float:
    """Returns the brightest light, as Reinhard does, but not below 1, or a dim even picture would become white."""
    brightest = scene.brightest * exposure
    return min(max(brightest, 1.0), 2.0**60) if math.isfinite(brightest) else 1.0


# Parameters that the image decides, from its scene and its exposure.
_METERED: dict[str, Callable[[Scene, float], float]] = {
    "white": _white,
    "mean": lambda scene, exposure: min(scene.mean * exposure, 2.0**60),
    # Reinhard and Devlin 2005, eq. 5.
    "contrast": lambda scene, _: 0.3 + 0.7 * scene.key**1.4,
}


def _hable(x: float) -> float:
    return x * (0.042 * x + 0.005) / (0.3 * (x * (0.15 * x + 0.5) + 0.06))


def _drago(values: Values) -> tuple[float, ...]:
    white, bias = values["white"], values["bias"]
    scale = 0.18 * math.log(2) * math.log10(1 + white / 0.18)
    return 1 / white, math.log(bias) / math.log(0.5), 1 / scale


def _devlin(values: Values) -> tuple[float, ...]:
    local, chroma = values["adaptation"], values["chroma"]
    whole = max((1 - local) * values["mean"], 1e-30)
    f = math.exp(-values["intensity"])
    return values["contrast"], f * local * chroma, f * local * (1 - chroma), f * whole


def _sigmoid(values: Values) -> tuple[float, ...]:
    contrast = values["contrast"]
    return contrast, contrast * math.log2(0.18) + math.log2(0.82 / 0.18)


# The numbers that a kernel takes, from the operator's parameters by name.
_PREPARED: dict[str, Callable[[Values], tuple[float, ...]]] = {
    "reinhard-extended": lambda values: (values["white"] ** -2,),
    "reinhard-extended-channels": lambda values: (values["white"] ** -2,),
    "reinhard-devlin": _devlin,
    "hable": lambda values: (1 / _hable(values["white"]),),
    "drago": _drago,
    "sigmoid": _sigmoid,
}
