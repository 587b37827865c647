"""The tone mapping operators and meters there are, with their parameters and the names of the other choices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, field
from typing import Any

from ..errors import ParameterError, check_name
from ..records import dataclass
from .files import FileOperand
from .kinds import Given, Kind, Number, Option, Params, interval
from .lut import OUTPUTS, LutParams, lut_input_option, lut_input_text


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


# The operators by name.
OPERATORS = {
    "linear": Operator("exposure alone"),
    "reinhard": Operator("L/(1+L) of luminance"),
    "reinhard-channels": Operator("the same of each channel"),
    "reinhard-extended": Operator("Reinhard with a white point", _white(None)),
    "reinhard-extended-channels": Operator("the same of each channel", _white(None)),
    "reinhard-devlin": Operator(
        "photoreceptors, adapting to the image and to each pixel",
        {
            "intensity": Parameter(0.0, -8.0, 8.0, "a larger one makes the image brighter"),
            "contrast": Parameter(None, 0.1, 1.0, "the power m of the response"),
            "adaptation": Parameter(1.0, 0.0, 1.0, "0 adapts to the whole image, 1 to each pixel"),
            "chroma": Parameter(0.0, 0.0, 1.0, "0 adapts all channels together, 1 each channel by itself"),
            "mean": Parameter(None, 0.0, 2.0**60, "luminance after exposure to which the whole image adapts"),
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
        {
            **_white(None),
            "bias": Parameter(0.85, 0.5, 1.0, "a smaller one makes the image darker, with more contrast"),
        },
    ),
    "sigmoid": Operator(
        "log-logistic of each channel", {"contrast": Parameter(1.5, 0.1, 10.0, "slope at middle grey")}
    ),
    "reinhard-local": Operator(
        "Reinhard with dodging and burning",
        {
            "phi": Parameter(8.0, 0.0, 20.0, "with a larger one, less contrast counts as an edge"),
            "threshold": Parameter(0.05, 1e-4, 1.0, "the contrast that counts as an edge"),
        },
        local=True,
    ),
    "durand": Operator(
        "less contrast of large areas, unchanged detail",
        {
            "base_contrast": Parameter(50.0, 1.0, 1e6, "the brightest over the darkest base"),
            "shadows": Parameter(1.0, 0.0, 49.0, "percent of the base that is left out as too dark"),
            "highlights": Parameter(0.1, 0.0, 49.0, "percent of the base that is left out as too bright"),
            "sigma_spatial": Parameter(
                0.02, 0.005, 1.0, "width of the base's blur, as a share of the longer side"
            ),
            "sigma_color": Parameter(0.4, 0.03, 2.0, "width of the base's blur in luminance, in decades"),
        },
        local=True,
    ),
}
# The names of the local operators.
LOCAL = frozenset(name for name, operator in OPERATORS.items() if operator.local)
# Local operators for which a panorama's edges can be neighbours.
WRAPPING = ("reinhard-local",)
# Operators with a white point, and its default; None is the image's brightest pixel, but 1 at least.
WHITE = {
    name: operator.parameters["white"].default
    for name, operator in OPERATORS.items()
    if "white" in operator.parameters
}
# Names that mean several operators.
AMBIGUOUS = {"aces": ("aces-narkowicz", "aces-hill")}


def described_parameters() -> str:
    """Returns the parameters of all operators, each with its default and range, but for white, which has an option."""
    texts = {
        operator: "; ".join(
            f"{name}{'' if one.default is None else f'={one.default:g}'} ({interval(one.least, one.most)})"
            for name, one in about.parameters.items()
            if name != "white"
        )
        for operator, about in OPERATORS.items()
    }
    return ". ".join(f"{operator} has {text}" for operator, text in texts.items() if text)


def check_operator(name: str) -> None:
    """Raises ParameterError unless ``name`` is that of one operator."""
    if name in AMBIGUOUS:
        raise ParameterError(f"{name!r} is the name of several operators: use {' or '.join(AMBIGUOUS[name])}")
    check_name("operator", name, OPERATORS)


def check_parameters(operator: str, known: Mapping[str, Parameter], given: Mapping[str, float]) -> None:
    """Raises ParameterError for a parameter that the operator does not have, or a value beyond its range."""
    for name, value in given.items():
        if name not in known:
            raise ParameterError(f"{operator} has no parameter {name!r}: it has {', '.join(known) or 'none'}")
        one = known[name]
        Number(one.about, one.least, one.most).check(f"{name} of {operator}", value)


# The ways to meter, and what each measures.
METERS = {
    "mean": "arithmetic mean",
    "log-mean": "geometric mean",
    "histogram": "geometric mean between two percentiles",
    "center": "geometric mean weighted to the centre",
}
# The percentiles of the lit pixels between which the histogram meter reads.
PERCENTILES = (10.0, 90.0)
# The ways to reduce an image for metering.
METHODS = ("auto", "local", "direct")
# The signals that light may be encoded to.
TRANSFERS = ("auto", "srgb", "gamma", "pq", "linear")
# The treatments of colours that the operator leaves beyond 1.
GAMUTS = {
    "clip": "colours beyond 1 stay until the result is stored, which cuts them",
    "hue": "colours beyond 1 are mixed with gray of their luminance until they fit",
}
# The operator unless another is chosen.
DEFAULT_OPERATOR = "agx"
# The least difference of percentiles, in percent, that numbers can tell.
LEAST_SHARE = 1e-3


@dataclass(eq=False)
class _OperatorOrLut(Kind):
    """The kind: ``--operator NAME``, or ``--lut FILE`` with ``--lut-input`` and ``--lut-output``."""

    help: str = "The operator's name."
    values, metavar = "a name", "NAME"

    def checked(self, name: str, value: Any) -> Any:
        if not isinstance(value, LutParams):
            check_operator(value)
        return value

    def options(self, name: str, default: Any) -> list[Option]:
        return [
            Option("operator", f"One of {', '.join(OPERATORS)}.", "NAME", default=default),
            Option("lut", "A colour table, .cube or .spi3d, in place of an operator.", "FILE"),
            Option(
                "lut_input",
                "What the table takes for light c: its sRGB signal, c, c/(1+c), or (log2 c − LOW)/(HIGH − LOW).",
                "srgb|linear|reinhard|log2:LOW:HIGH",
                default="srgb",
            ),
            Option("lut_output", "What the table gives: the sRGB signal, or light.", "", OUTPUTS, "srgb"),
        ]

    def collected(self, name: str, given: Given) -> Any:
        if "lut" not in given:
            return str(given["operator"]).lower() if "operator" in given else MISSING
        taken, limits = lut_input_option(str(given.get("lut_input", "srgb")).lower())
        return LutParams(FileOperand.of(given["lut"]), taken, given.get("lut_output", "srgb"), limits)

    def written(self, name: str, value: Any, params: Params) -> dict[str, Any]:
        if not isinstance(value, LutParams):
            return {"operator": value}
        if not isinstance(value.lut, FileOperand):
            raise TypeError("a colour table that is no file has no place in a recipe")
        return {"lut": value.lut.written(), "lut_input": lut_input_text(value), "lut_output": value.output}


OPERATOR_OR_LUT = _OperatorOrLut()
