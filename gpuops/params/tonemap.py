"""Parameters of tone mapping."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ..errors import ParameterError
from .lut import LutParams
from .region import Region
from .white_balance import WhiteBalance, check


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
# Operators with a white point, and its default; None is the image's brightest pixel, but 1 at least.
WHITE = {
    name: operator.parameters["white"].default
    for name, operator in OPERATORS.items()
    if "white" in operator.parameters
}
# Names that mean several operators.
AMBIGUOUS = {"aces": ("aces-narkowicz", "aces-hill")}

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
TRANSFERS = ("srgb", "gamma", "pq", "linear")
# The kinds of noise for dithering.
NOISES = {"triangular": "white noise", "blue": "noise without low frequencies, which is seen less"}
# What happens to colours that the operator leaves beyond 1.
GAMUTS = {
    "clip": "colours beyond 1 stay until the result is stored, which cuts them",
    "hue": "colours beyond 1 are mixed with gray of their luminance until they fit",
}
# The operator unless another is chosen.
DEFAULT_OPERATOR = "agx"
# The largest exposure in stops, of either sign.
MAX_STOPS = 60.0
# The least difference of percentiles, in percent, that numbers can tell.
_LEAST_SHARE = 1e-3


@dataclass(frozen=True)
class TonemapParams:
    """The tone mapping from linear light to a display's signal.

    Attributes
    ----------
    operator : str or LutParams
        A name of :data:`OPERATORS`, or a colour table.
    exposure : float, optional
        The exposure in stops (EV): light is multiplied by 2**exposure. None meters the image: the luminance that
        ``meter`` reads becomes ``key``.
    meter, key : str, float
        A name of :data:`METERS`, and the luminance that it is brought to.
    percentiles : (float, float)
        The percentiles of the lit pixels between which the meter ``histogram`` reads.
    meter_region : Region, optional
        The region that the meter and the white balance ``gray-world`` read; None is all of the image. An operator's
        parameters that the image decides, such as a white point, depend on all of it.
    white_balance : str, tuple or Illuminant, optional
        ``gray-world``, gains (R, G, B), or the light of the scene: see :mod:`gpuops.tone.white_balance`. It comes
        before metering. None leaves colours as they are.
    parameters : mapping
        Values of the operator's parameters that replace its defaults.
    white : float, optional
        The parameter ``white``, for operators that have one (:data:`WHITE`).
    transfer, gamma : str, float
        The signal: ``srgb``, ``gamma`` (v = light**(1/gamma)), ``pq`` (SMPTE ST 2084 with 1 at 203 cd/m²),
        ``linear`` (none).
    gamut : str
        The treatment of colours that the operator leaves beyond 1: a name of :data:`GAMUTS`.
    dither : int, optional
        The largest code of the integer format that the result is meant for (255, 65535): noise of ±1 code with a
        triangular distribution is added. None adds no noise.
    noise, seed : str, int
        The kind of dither, a name of :data:`NOISES`, and a number: each seed gives another noise.
    method : str
        How the metering reduces: ``local`` in tiles in local memory, ``direct`` from global memory, ``auto`` the faster
        way.
    """

    operator: str | LutParams = DEFAULT_OPERATOR
    exposure: float | None = None
    meter: str = "log-mean"
    key: float = 0.18
    percentiles: tuple[float, float] = PERCENTILES
    meter_region: Region | None = None
    white_balance: WhiteBalance | None = None
    white: float | None = None
    parameters: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    transfer: str = "srgb"
    gamma: float = 2.2
    gamut: str = "clip"
    dither: int | None = None
    noise: str = "triangular"
    seed: int = 0
    method: str = "auto"

    def __post_init__(self) -> None:
        if isinstance(self.operator, str) and self.operator in AMBIGUOUS:
            names = " or ".join(AMBIGUOUS[self.operator])
            raise ParameterError(f"{self.operator!r} is the name of several operators: use {names}")
        for name, value, choices in (
            ("operator", self.operator, OPERATORS),
            ("meter", self.meter, METERS),
            ("transfer", self.transfer, TRANSFERS),
            ("gamut", self.gamut, GAMUTS),
            ("noise", self.noise, NOISES),
            ("method", self.method, METHODS),
        ):
            if value not in choices and not isinstance(value, LutParams):
                raise ParameterError(f"unknown {name} {value!r}: use one of {', '.join(choices)}")
        if self.exposure is not None and not abs(self.exposure) <= MAX_STOPS:
            raise ParameterError(f"the exposure must be within ±{MAX_STOPS:g} stops, not {self.exposure}")
        if not (math.isfinite(self.key) and 1e-6 <= self.key <= 1e6):
            raise ParameterError(f"the key must be a luminance such as 0.18, not {self.key}")
        low, high = self.percentiles
        if not 0 <= low <= high - _LEAST_SHARE or not high <= 100:
            raise ParameterError(f"percentiles are two of 0 … 100, the lower one first, not {low:g},{high:g}")
        if self.white_balance is not None:
            check(self.white_balance)
        if self.white is not None:
            if self.operator not in WHITE:
                raise ParameterError(
                    f"{self.operator} has no white point: white belongs to {', '.join(WHITE)}"
                )
            if "white" in self.parameters:
                raise ParameterError("white is given twice, once as a parameter")
        self._check_parameters()
        if not 0.1 <= self.gamma <= 10:
            raise ParameterError(f"gamma must be between 0.1 and 10, not {self.gamma}")
        if self.dither is not None and self.dither < 1:
            raise ParameterError(f"dither is the largest code of the output, such as 255, not {self.dither}")
        if not 0 <= self.seed < 2**32:
            raise ParameterError(f"the seed must be between 0 and 2³²−1, not {self.seed}")

    def _check_parameters(self) -> None:
        given = {**self.parameters, **({} if self.white is None else {"white": self.white})}
        for name, value in given.items():
            if name not in self.known:
                raise ParameterError(
                    f"{self.operator} has no parameter {name!r}: it has {', '.join(self.known) or 'none'}"
                )
            least, most = self.known[name].least, self.known[name].most
            if not least <= value <= most:
                raise ParameterError(f"{name} of {self.operator} is of {least:g} … {most:g}, not {value}")

    @property
    def known(self) -> dict[str, Parameter]:
        """The operator's parameters."""
        return {} if isinstance(self.operator, LutParams) else OPERATORS[self.operator].parameters

    def value(self, name: str) -> float | None:
        """A parameter of the operator: what was given, or the default; None if the image decides it."""
        if name == "white" and self.white is not None:
            return self.white
        return self.parameters.get(name, self.known[name].default)


def parameter_option(text: str) -> tuple[str, float]:
    """``NAME=VALUE``. Raises ParameterError."""
    name, equals, value = text.partition("=")
    try:
        if equals:
            return name.strip(), float(value)
    except ValueError:
        pass
    raise ParameterError(f"a parameter is NAME=NUMBER, such as contrast=1.5, not {text!r}")


def transfer_option(text: str) -> tuple[str, float]:
    """``NAME`` or ``gamma:G`` as transfer and gamma. Raises ParameterError."""
    name, colon, value = text.partition(":")
    if not colon:
        return name, 2.2
    try:
        if name == "gamma":
            return name, float(value)
    except ValueError:
        pass
    raise ParameterError(f"unknown transfer {text!r}: use srgb, gamma:2.2, pq or linear")


def exposure_option(text: str) -> float | None:
    """``auto`` (None) or stops. Raises ParameterError."""
    if text == "auto":
        return None
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"the exposure is 'auto' or a number of stops, not {text!r}") from None


def percentiles_option(text: str) -> tuple[float, float]:
    """``LOW,HIGH``. Raises ParameterError."""
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        raise ParameterError(f"percentiles are two numbers such as 10,90, not {text!r}") from None
    return low, high
