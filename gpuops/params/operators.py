"""The tone mapping operators and meters there are, with their parameters and the names of the other choices."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Parameter:
    """A number that an operator depends on. Without a ``default`` the image decides it."""

    default: float | None
    least: float
    most: float
    about: str


@dataclass(frozen=True)
class Operator:
    """An operator's description, its parameters by name, and whether it is local: pixels' results depend on others.

    Functions and origins: clkernels/tone/tonemap_operators.cl; gpuops/tone/local.py.
    """

    about: str
    parameters: dict[str, Parameter] = field(default_factory=dict)
    local: bool = False


def _white(default: float | None) -> dict[str, Parameter]:
    return {"white": Parameter(default, 1e-3, 2.0**60, "luminance after exposure that becomes white")}


OPERATORS = {
    "linear": Operator("exposure alone"),
    "reinhard": Operator("L/(1+L) of luminance"),
    "reinhard-channels": Operator("the same of each channel"),
    "reinhard-extended": Operator("Reinhard with a white point", _white(None)),
    "reinhard-extended-channels": Operator("the same of each channel", _white(None)),
    "reinhard-devlin": Operator(
        "photoreceptors, adapting to the image and to each pixel",
        {
            "intensity": Parameter(0.0, -8.0, 8.0, "brighter with more"),
            "contrast": Parameter(None, 0.1, 1.0, "the power m"),
            "adaptation": Parameter(1.0, 0.0, 1.0, "of 0 the image, of 1 each pixel"),
            "chroma": Parameter(0.0, 0.0, 1.0, "of 0 all channels together, of 1 each by itself"),
            "mean": Parameter(None, 0.0, 2.0**60, "luminance after exposure that the image's part adapts to"),
        },
    ),
    "aces-narkowicz": Operator("ACES look, Narkowicz's curve"),
    "aces-hill": Operator("ACES RRT and ODT, Hill's fit"),
    "agx": Operator("AgX base"),
    "agx-punchy": Operator("AgX with its punchy look"),
    "agx-golden": Operator("AgX with its golden look"),
    "khronos-neutral": Operator("Khronos PBR Neutral"),
    "hable": Operator("Hable's filmic curve", _white(11.2)),
    "drago": Operator(
        "adaptive logarithm",
        {**_white(None), "bias": Parameter(0.85, 0.5, 1.0, "darker and more contrast with less")},
    ),
    "sigmoid": Operator(
        "log-logistic of each channel", {"contrast": Parameter(1.5, 0.1, 10.0, "slope at middle grey")}
    ),
    "reinhard-local": Operator(
        "Reinhard with dodging and burning",
        {
            "phi": Parameter(8.0, 0.0, 20.0, "less contrast is taken for an edge with more"),
            "threshold": Parameter(0.05, 1e-4, 1.0, "contrast that is taken for an edge"),
        },
        local=True,
    ),
    "durand": Operator(
        "less contrast in large, detail as it is",
        {
            "base_contrast": Parameter(50.0, 1.0, 1e6, "the brightest over the darkest base"),
            "shadows": Parameter(1.0, 0.0, 49.0, "percent of the base that are left out as dark"),
            "highlights": Parameter(0.1, 0.0, 49.0, "percent of the base that are left out as bright"),
            "sigma_spatial": Parameter(0.02, 0.005, 1.0, "of the base, of the longer side"),
            "sigma_color": Parameter(0.4, 0.03, 2.0, "of the base, in decades"),
        },
        local=True,
    ),
}
LOCAL = frozenset(name for name, operator in OPERATORS.items() if operator.local)
# Operators with a white point, and its default; None is the image's brightest pixel, but 1 at least.
WHITE = {
    name: operator.parameters["white"].default
    for name, operator in OPERATORS.items()
    if "white" in operator.parameters
}
# Names that mean several operators.
AMBIGUOUS = {"aces": ("aces-narkowicz", "aces-hill")}

METERS = {
    "mean": "arithmetic mean",
    "log-mean": "geometric mean",
    "histogram": "geometric mean between two percentiles",
    "center": "geometric mean weighted to the centre",
}
# The percentiles of the lit pixels between which the histogram meter reads.
PERCENTILES = (10.0, 90.0)
METHODS = ("auto", "local", "direct")
TRANSFERS = ("auto", "srgb", "gamma", "pq", "linear")
NOISES = {"triangular": "white noise", "blue": "noise without low frequencies, which is seen less"}
GAMUTS = {
    "clip": "colours beyond 1 are left to whoever stores the result, who cuts them",
    "hue": "they are mixed with gray of their luminance, until they fit",
}
DEFAULT_OPERATOR = "agx"
MAX_STOPS = 60.0
LEAST_SHARE = 1e-3  # percent: a share that numbers can tell
