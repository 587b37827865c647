"""The parameters of tone mapping."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, replace
from typing import Any

from ..errors import ParameterError, check_name
from ..records import dataclass
from . import operators
from .dither import NOISE, SEED
from .exposure import OF_SEQUENCE, Neighbours
from .kinds import Choice, Flag, Given, Kind, Number, Params, d3d11
from .lut import LutParams
from .moves import Frame
from .notations import Rectangle, Written
from .region import Region
from .white_balance import GRAY_WORLD, WHITE_BALANCE, WhiteBalance, check


@dataclass(eq=False)
class _Dither(Flag):
    """The kind: on or off, or the largest code of the output."""

    def checked(self, name: str, value: Any) -> Any:
        if isinstance(value, bool):
            return value
        if not value >= 1:
            raise ParameterError(f"dither is the largest code of the output, such as 255, not {value}")
        return int(value)


class FrozenMapping(dict[str, float]):
    """Numbers by name, which nobody changes, so that parameters can be hashed."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))


@dataclass(eq=False)
class _NamedNumbers(Kind):
    """The kind: an option ``--OPTION NAME=NUMBER`` that may be repeated; in a recipe a table of numbers."""

    values, metavar, multiple = "`NAME=V`", "NAME=V", True

    def checked(self, name: str, value: Any) -> FrozenMapping:
        return FrozenMapping(value)

    def collected(self, name: str, given: Given) -> Any:
        value = given.get(self.option, MISSING)
        if value is MISSING or isinstance(value, Mapping):
            return value
        numbers: dict[str, float] = {}
        for text in value:
            key, number = _named(str(text).lower())
            if key in numbers:
                raise ParameterError(f"{given.spelled(self.option)} {key} is given twice: give it once")
            numbers[key] = number
        return numbers

    def written(self, name: str, value: Any, params: Params) -> dict[str, Any]:
        return {self.option: dict(value)}


def _named(text: str) -> tuple[str, float]:
    name, equals, value = text.partition("=")
    try:
        if equals:
            return name.strip(), float(value)
    except ValueError:
        pass
    raise ParameterError(f"a parameter is NAME=NUMBER, such as contrast=1.5, not {text!r}")


def transfer_option(text: str) -> tuple[str, float | None]:
    """``NAME`` or ``gamma:G`` as transfer and gamma, which is None where it is not said. Raises ParameterError."""
    name, colon, value = text.partition(":")
    if not colon and not re.match(r"[\d.]", name):
        return name, None
    try:
        if name == "gamma":
            return name, float(value)
    except ValueError:
        pass
    raise ParameterError(f"unknown transfer {text!r}: use srgb, gamma:2.2, pq or linear")


def percentiles_option(text: str) -> tuple[float, float]:
    """``LOW,HIGH``. Raises ValueError."""
    low, high = map(float, text.split(","))
    return low, high


@dataclass(frozen=True)
class TonemapParams(Params):
    """Map high dynamic range to a display.

    Light, balanced if asked for, times exposure goes through the operator, or a table, and then the transfer
    curve. The result has 8 bits unless --dtype says otherwise; EXR, HDR, PFM and NPZ stay float. Pixels that
    are NaN, infinite or negative are repaired, and counted in a warning.

    Attributes
    ----------
    operator : str or LutParams
        A name of :data:`OPERATORS`, or a colour table.
    exposure : float, optional
        The exposure in stops (EV): light is multiplied by 2**exposure. None meters the image: the luminance that
        ``meter`` reads becomes ``key``. ``shared`` and ``smooth:N`` give ``sequence``.
    sequence : Neighbours, optional
        The inputs of a command that have a part in an image's exposure: it is the mean of their metered ones. An image
        alone is its own sequence: the exposure is None.
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
        The signal: ``srgb``, ``gamma`` (v = light**(1/gamma)), ``pq`` (SMPTE ST 2084 with 1 at 203 cd/m²), ``linear``
        (none), or ``auto``, which is ``srgb``, but ``linear`` in files of floats.
    gamut : str
        The treatment of colours that the operator leaves beyond 1: a name of :data:`GAMUTS`.
    border : str
        The light beyond the edges, for operators of :data:`WRAPPING`: ``reflect``, or ``wrap-x`` for panoramas.
    dither : bool or int, optional
        The largest code of the integer format that the result is meant for (255, 65535): noise of ±1 code with a
        triangular distribution is added. None and False add none; True stands for the depth of the output's file.
    noise, seed : str, int
        The kind of dither, a name of :data:`gpuops.params.dither.NOISES`, and a number: each seed gives another noise.
    method : str
        How the metering reduces: ``local`` in tiles in local memory, ``direct`` from global memory, ``auto`` the faster
        way.
    gained : bool
        Whether the gains of a local operator are the plane behind the light, as :mod:`gpuops.tone.local` makes them.
    preset : str, optional
        ``d3d11``: the picture of the Direct3D 11 HDR sample, with its ``bloom`` and its ``blur`` if they are on.
    """

    operator: str | LutParams = operators.OPERATOR_OR_LUT.field(operators.DEFAULT_OPERATOR)
    exposure: float | None = OF_SEQUENCE.field(None)
    sequence: Neighbours | None = None
    meter: str = Choice(
        "What auto exposure measures.  [default: log-mean]", tuple(operators.METERS), hidden=True
    ).field("log-mean")
    key: float = Number(
        "The luminance that auto exposure gives to what it measures.  [default: 0.18]", 1e-6, 1e6, hidden=True
    ).field(0.18)
    percentiles: tuple[float, float] = Written(
        "The percentiles of lit pixels between which --meter histogram measures.  [default: 10,90]",
        "LOW,HIGH",
        percentiles_option,
        lambda pair: f"{pair[0]!r},{pair[1]!r}",
    ).field(operators.PERCENTILES)
    meter_region: Region | None = Rectangle(
        "Meter only this rectangle, in pixels as they are stored (before any rotation by EXIF), or all four "
        "numbers with %."
    ).field(None)
    white_balance: WhiteBalance | None = WHITE_BALANCE.field(None)
    white: float | None = Number(
        "Luminance after exposure that becomes white, for reinhard-extended and drago (default: the brightest "
        "pixel's, 1 at least) and hable (default: 11.2).",
        1e-3,
        2.0**60,
    ).field(None)
    parameters: Mapping[str, float] = _NamedNumbers(
        f"A parameter, such as contrast=1.6 for sigmoid. May be repeated. {operators.described_parameters()}.",
        option="parameter",
    ).field(FrozenMapping())
    transfer: str = Written(
        "The transfer curve of the signal. pq puts 1 at 203 cd/m².  [default: srgb, or linear in files of floats]",
        "srgb|gamma:G|pq|linear",
        str,
    ).field("auto")
    gamma: float = 2.2
    gamut: str = Choice(
        "What to do with colours brighter than white: clip cuts each channel, hue mixes them with gray.",
        tuple(operators.GAMUTS),
    ).field("clip")
    border: str = Choice(
        "What is beyond the edges, for reinhard-local: the mirrored image, or with wrap-x (for panoramas) the "
        "opposite side.",
        ("reflect", "wrap-x"),
    ).field("reflect")
    dither: bool | int | None = _Dither("Add noise of ±1 code before rounding.").field(None)
    noise: str = NOISE.field("triangular")
    seed: int = SEED.field(0)
    gained: bool = False
    method: str = Choice("The kernels that meter, and those of --preset.", operators.METHODS).field("auto")
    preset: str | None = d3d11("picture").field(None)
    bloom: bool = Flag("With --preset: apply the sample's bloom, or not.").field(True)
    blur: bool = Flag("With --preset: apply the sample's blur after metering and bloom, or not.").field(False)

    def __post_init__(self) -> None:
        super().__post_init__()
        transfer, gamma = transfer_option(self.transfer)
        object.__setattr__(self, "transfer", transfer)
        object.__setattr__(self, "gamma", gamma if gamma is not None else self.gamma)
        if self.exposure is not None:
            alike = self.exposure if isinstance(self.exposure, Neighbours) else None
            object.__setattr__(self, "sequence", alike)
            object.__setattr__(self, "exposure", None if alike else self.exposure)
        check_name("transfer", self.transfer, operators.TRANSFERS)
        low, high = self.percentiles
        if not 0 <= low <= high - operators.LEAST_SHARE or not high <= 100:
            raise ParameterError(f"percentiles are two of 0 … 100, the lower one first, not {low:g},{high:g}")
        if self.white_balance is not None:
            check(self.white_balance)
        if self.white is not None:
            if self.operator not in operators.WHITE:
                raise ParameterError(f"{self.operator} has no white point: {', '.join(operators.WHITE)} have")
            if "white" in self.parameters:
                raise ParameterError("white is given twice, once as a parameter")
        white = {} if self.white is None else {"white": self.white}
        operators.check_parameters(str(self.operator), self.known, {**self.parameters, **white})
        if not 0.1 <= self.gamma <= 10:
            raise ParameterError(f"gamma must be between 0.1 and 10, not {self.gamma}")

    @classmethod
    def of_options(cls, given: Given, shown: tuple[str | LutParams, ...] = ()) -> TonemapParams:
        if "lut" in given:
            given.refuse("--lut stands in place of operators", "operator", "white", "parameter")
        # A look is for a picture as it is.
        look = {"exposure": "0"} if "lut" in given and "exposure" not in given else {}
        params = super().of_options(given.with_usual(look))
        params.check_all(given, shown)
        return params

    def check_all(self, given: Given, shown: tuple[str | LutParams, ...] = ()) -> None:
        """Raises ParameterError where an option that somebody wrote can have no effect beside the others.

        ``shown``: further operators that the options are for, as on a contact sheet.
        """
        names = (self.operator, *shown)
        others = tuple(name for name in given if name not in ("preset", "method", "bloom", "blur"))
        if self.preset:
            given.refuse("--preset fixes everything but --method, --bloom and --blur", *others)
        else:
            given.refuse("these are effects of --preset d3d11", "bloom", "blur")
        if "lut" not in given:
            given.refuse("there is no --lut", "lut_input", "lut_output")
        if self.meter != "histogram":
            given.refuse("--percentiles belong to --meter histogram", "percentiles")
        if self.exposure is not None:
            given.refuse("--meter and --key belong to --exposure auto", "meter", "key")
            if self.white_balance != GRAY_WORLD:
                given.refuse("with this --exposure no region is metered", "meter_region")
                takes_white = any(operators.WHITE.get(o, 1.0) is None for o in names if isinstance(o, str))
                if self.white is not None or not takes_white:
                    given.refuse("with this --exposure nothing is metered", "method")
        if not any(name in operators.WRAPPING for name in names):
            given.refuse(f"the edges matter to {', '.join(operators.WRAPPING)} alone", "border")
        if not self.dither:
            given.refuse("there is no --dither", "seed", "noise")

    def written(self) -> dict[str, Any]:
        options = super().written()
        if self.transfer == "gamma":
            options["transfer"] = f"gamma:{self.gamma!r}"
        if self.sequence is not None:
            options["exposure"] = str(self.sequence)
        elif isinstance(self.operator, LutParams) and self.exposure is None:
            options["exposure"] = "auto"
        return options

    def framed(self, frame: Frame) -> TonemapParams:
        params = super().framed(frame)
        if params is self or self.meter_region is None:
            return params
        return replace(params, meter_region=self.meter_region.on(frame))

    @property
    def known(self) -> dict[str, operators.Parameter]:
        """The operator's parameters."""
        return {} if isinstance(self.operator, LutParams) else operators.OPERATORS[self.operator].parameters

    def value(self, name: str) -> float | None:
        """A parameter of the operator: what was given, or the default; None if the image decides it."""
        if name == "white" and self.white is not None:
            return self.white
        return self.parameters.get(name, self.known[name].default)
