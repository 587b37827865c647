"""What tone mapping operators are computed with: the vector p of clkernels/tonemap_operators.cl."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .params.tonemap import OPERATORS, TonemapParams
from .reduce import Statistics

# Operators whose results are cut at 1.
CLIPPED = frozenset(
    {
        "aces-narkowicz",
        "aces-hill",
        "agx",
        "agx-punchy",
        "agx-golden",
        "khronos-neutral",
        "reinhard-channels",
        "reinhard-devlin",
        "sigmoid",
    }
)

Vector = tuple[float, float, float, float, float, float, float, float]
Values = Mapping[str, float]
NO_PARAMETERS: Vector = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Scene:
    """What of an image operators may depend on, after exposure.

    Attributes
    ----------
    brightest : float
        The largest luminance.
    key : float
        Where the geometric mean of luminance lies between the largest (0) and the least (1), by logarithms.
    mean : float
        The arithmetic mean of luminance.
    """

    brightest: float
    key: float
    mean: float

    @classmethod
    def of(cls, measured: Statistics, exposure: float) -> Scene:
        """What was measured before exposure, which is a factor."""
        mean = measured.mean * exposure if measured.mean > 0 else 0.0
        low, high = measured.percentile(0), measured.percentile(100)
        key = math.log(high / measured.log_mean) / math.log(high / low) if low < high else 0.0
        return cls(measured.maximum * exposure, min(max(key, 0.0), 1.0), mean)


def function_of(operator: str) -> str:
    """The operator's name in tonemap_operators.cl."""
    return f"op_{operator.replace('-', '_')}"


def needs_scene(params: TonemapParams) -> bool:
    """Whether p cannot be told without the image."""
    if params.operator == "reinhard-devlin" and params.value("adaptation") != 1:
        return True
    return any(params.value(name) is None for name in OPERATORS[params.operator].parameters)


def vector(params: TonemapParams, scene: Scene | None) -> Vector:
    """p; ``scene`` only where the image decides."""
    values: dict[str, float] = {}
    for name in OPERATORS[params.operator].parameters:
        value = params.value(name)
        if value is None:
            assert scene is not None
            value = _METERED[name](scene)
        values[name] = value
    made = _PREPARED[params.operator](values, scene) if params.operator in _PREPARED else ()
    a, b, c, d, e, f, g, h = (*made, *NO_PARAMETERS[len(made) :])
    return a, b, c, d, e, f, g, h


def _brightest(scene: Scene) -> float:
    """Not below 1, or a dim even picture would become white."""
    return min(max(scene.brightest, 1.0), 2.0**60) if math.isfinite(scene.brightest) else 1.0


_METERED: dict[str, Callable[[Scene], float]] = {
    "white": _brightest,
    # Reinhard and Devlin 2005, eq. 5.
    "contrast": lambda scene: 0.3 + 0.7 * scene.key**1.4,
}


def _hable(x: float) -> float:
    return x * (0.042 * x + 0.005) / (0.3 * (x * (0.15 * x + 0.5) + 0.06))


def _drago(values: Values, _: Scene | None) -> tuple[float, ...]:
    white, bias = values["white"], values["bias"]
    scale = 0.18 * math.log(2) * math.log10(1 + white / 0.18)
    return 1 / white, math.log(bias) / math.log(0.5), 1 / scale


def _devlin(values: Values, scene: Scene | None) -> tuple[float, ...]:
    adaptation, chroma = values["adaptation"], values["chroma"]
    whole = (1 - adaptation) * scene.mean if scene else 0.0
    return (
        math.exp(-values["intensity"]),
        values["contrast"],
        adaptation * chroma,
        adaptation * (1 - chroma),
        whole,
    )


def _sigmoid(values: Values, _: Scene | None) -> tuple[float, ...]:
    contrast = values["contrast"]
    return contrast, math.log2(0.18) + math.log2(0.82 / 0.18) / contrast


_PREPARED: dict[str, Callable[[Values, Scene | None], tuple[float, ...]]] = {
    "reinhard-extended": lambda values, _: (values["white"] ** -2,),
    "reinhard-extended-channels": lambda values, _: (values["white"] ** -2,),
    "reinhard-devlin": _devlin,
    "hable": lambda values, _: (1 / _hable(values["white"]),),
    "drago": _drago,
    "sigmoid": _sigmoid,
}
