"""Tone mapping: high dynamic range to a display."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError, check_name
from ..operation import (
    Choice,
    Flag,
    Given,
    Measure,
    Number,
    Operation,
    Params,
    Rectangle,
    Together,
    Traits,
    Whole,
    Written,
    parameter,
)  # fmt: skip
from ..params.dither import NOISES
from ..params.exposure import OF_SEQUENCE, Neighbours
from ..params.lut import LutParams
from ..params.mapping import FrozenMapping, NamedNumbers
from ..params.operator import OPERATOR_OR_LUT
from ..params.operators import (
    DEFAULT_OPERATOR,
    GAMUTS,
    LEAST_SHARE,
    LOCAL,
    MAX_STOPS,
    METERS,
    METHODS,
    OPERATORS,
    PERCENTILES,
    TRANSFERS,
    WHITE,
    Parameter,
    check_operator,
    check_parameters,
    described_parameters,
)  # fmt: skip
from ..params.region import Region
from ..params.signal import percentiles_option, transfer_option
from ..params.white_balance import (
    GRAY_WORLD,
    Illuminant,
    WhiteBalance,
    check,
    white_balance_option,
    white_balance_text,
)  # fmt: skip

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..image import Image
    from ..pixels.coding import Decoding
    from ..pixels.pointwise import Stage
    from ..space import Stored, Target

# The parameters that are as their kinds say, whatever the others are.
_CHECKED = (
    "meter", "key", "meter_region", "gamut", "border", "noise", "seed", "method", "preset", "bloom", "blur",
)  # fmt: skip


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
        The kind of dither, a name of :data:`NOISES`, and a number: each seed gives another noise.
    method : str
        How the metering reduces: ``local`` in tiles in local memory, ``direct`` from global memory, ``auto`` the faster
        way.
    preset : str, optional
        ``d3d11``: the picture of the Direct3D 11 HDR sample, with its ``bloom`` and its ``blur`` if they are on.
    """

    operator: str | LutParams = parameter(DEFAULT_OPERATOR, OPERATOR_OR_LUT)
    exposure: float | None = parameter(None, OF_SEQUENCE)
    sequence: Neighbours | None = parameter(None, None)
    meter: str = parameter(
        "log-mean", Choice("What auto exposure measures.  [default: log-mean]", tuple(METERS), hidden=True)
    )
    key: float = parameter(
        0.18,
        Number(
            "The luminance that auto exposure gives to what it measures.  [default: 0.18]",
            1e-6,
            1e6,
            hidden=True,
        ),
    )
    percentiles: tuple[float, float] = parameter(
        PERCENTILES,
        Written(
            "The percentiles of lit pixels between which --meter histogram measures.  [default: 10,90]",
            "LOW,HIGH",
            percentiles_option,
            lambda pair: f"{pair[0]!r},{pair[1]!r}",
            hidden=True,
        ),
    )
    meter_region: Region | None = parameter(
        None,
        Rectangle(
            "Meter only this rectangle, in pixels as they are stored (before any rotation by EXIF), or all four "
            "numbers with %.",
            optional=True,
        ),
    )
    white_balance: WhiteBalance | None = parameter(
        None,
        Written(
            "White balance before metering. Give it equal means of channels, gains, or the scene's light in kelvin "
            "(1667 … 25000), with its distance from the locus in Duv (positive: greener).  [default: none]",
            "none|gray-world|R,G,B|T[K][,TINT]",
            white_balance_option,
            white_balance_text,
        ),
    )
    white: float | None = parameter(
        None,
        Number(
            "Luminance after exposure that becomes white, for reinhard-extended and drago (default: the brightest "
            "pixel's, 1 at least) and hable (default: 11.2).",
            1e-3,
            2.0**60,
            optional=True,
        ),
    )
    parameters: Mapping[str, float] = parameter(
        FrozenMapping(),
        NamedNumbers(
            f"A parameter, such as contrast=1.6 for sigmoid. May be repeated. {described_parameters()}.",
            "parameter",
        ),
    )
    transfer: str = parameter(
        "auto",
        Written(
            "The transfer curve of the signal. pq puts 1 at 203 cd/m².  [default: srgb, or linear in files of floats]",
            "srgb|gamma:G|pq|linear",
            str,
            hidden=True,
        ),
    )
    gamma: float = parameter(2.2, None)
    gamut: str = parameter(
        "clip",
        Choice(
            "What to do with colours brighter than white: clip cuts each channel, hue mixes them with gray.",
            tuple(GAMUTS),
        ),
    )
    border: str = parameter(
        "reflect",
        Choice(
            "What is beyond the edges, for reinhard-local: the mirrored image, or with wrap-x (for panoramas) the "
            "opposite side.",
            ("reflect", "wrap-x"),
        ),
    )
    dither: bool | int | None = parameter(None, Flag("Add noise of ±1 code before rounding.", optional=True))
    noise: str = parameter(
        "triangular",
        Choice(
            "The noise of --dither: white, or blue, which is seen less. Both are triangularly distributed.",
            tuple(NOISES),
        ),
    )
    seed: int = parameter(0, Whole("Another seed gives another noise.", 0, 2**32 - 1))
    method: str = parameter("auto", Choice("The kernels that meter, and those of --preset.", METHODS))
    preset: str | None = parameter(
        None, Choice("Make exactly the picture of the Direct3D 11 HDR sample.", ("d3d11",), optional=True)
    )
    bloom: bool = parameter(True, Flag("With --preset: apply the sample's bloom, or not."))
    blur: bool = parameter(
        False, Flag("With --preset: apply the sample's blur, after metering and bloom, or not.")
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", FrozenMapping(self.parameters))
        transfer, gamma = transfer_option(self.transfer)
        object.__setattr__(self, "transfer", transfer)
        object.__setattr__(self, "gamma", gamma if gamma is not None else self.gamma)
        given = OF_SEQUENCE.check("exposure", self.exposure)
        if given is not None:
            object.__setattr__(self, "sequence", given if isinstance(given, Neighbours) else None)
        object.__setattr__(self, "exposure", None if isinstance(given, Neighbours) else given)
        if not isinstance(self.operator, LutParams):
            check_operator(self.operator)
        check_name("transfer", self.transfer, TRANSFERS)
        self.check_kinds(*_CHECKED)
        if self.exposure is not None and not abs(self.exposure) <= MAX_STOPS:
            raise ParameterError(f"the exposure must be within ±{MAX_STOPS:g} stops, not {self.exposure}")
        low, high = self.percentiles
        if not 0 <= low <= high - LEAST_SHARE or not high <= 100:
            raise ParameterError(f"percentiles are two of 0 … 100, the lower one first, not {low:g},{high:g}")
        if self.white_balance is not None:
            check(self.white_balance)
        if self.white is not None:
            if self.operator not in WHITE:
                raise ParameterError(f"{self.operator} has no white point, as {', '.join(WHITE)} have")
            if "white" in self.parameters:
                raise ParameterError("white is given twice, once as a parameter")
        white = {} if self.white is None else {"white": self.white}
        check_parameters(str(self.operator), self.known, {**self.parameters, **white})
        if not 0.1 <= self.gamma <= 10:
            raise ParameterError(f"gamma must be between 0.1 and 10, not {self.gamma}")
        if self.dither is not None and not isinstance(self.dither, bool) and self.dither < 1:
            raise ParameterError(f"dither is the largest code of the output, such as 255, not {self.dither}")

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
        from ..tone.options import check

        check(self, given, shown)

    def written(self) -> dict[str, Any]:
        found = super().written()
        if self.transfer == "gamma":
            found["transfer"] = f"gamma:{self.gamma!r}"
        if self.sequence is not None:
            found["exposure"] = str(self.sequence)
        elif isinstance(self.operator, LutParams) and self.exposure is None:
            found["exposure"] = "auto"
        return found

    @property
    def known(self) -> dict[str, Parameter]:
        """The operator's parameters."""
        return {} if isinstance(self.operator, LutParams) else OPERATORS[self.operator].parameters

    def value(self, name: str) -> float | None:
        """A parameter of the operator: what was given, or the default; None if the image decides it."""
        if name == "white" and self.white is not None:
            return self.white
        return self.parameters.get(name, self.known[name].default)


def _tonemap(gpu: Gpu, image: Image, params: TonemapParams, stages: Sequence[Stage] = ()) -> Image:
    from ..tone.steps import shown

    return shown(gpu, image, params, stages)


def _ends(
    gpu: Gpu,
    source: Image,
    params: TonemapParams,
    decoding: Decoding | None,
    target: Target,
    stages: Sequence[Stage] = (),
) -> Stored:
    from ..tone.steps import stored

    return stored(gpu, source, params, decoding, target, stages)


def _prepare(_gpu: Gpu, params: TonemapParams, target: Target | None) -> None:
    from ..tone.steps import check_target

    check_target(params, target)


def _check(params: TonemapParams) -> None:
    from ..tone import white_balance

    if isinstance(params.operator, LutParams):
        _ = params.operator.table
    if isinstance(params.white_balance, Illuminant):
        white_balance.matrix(params.white_balance)  # there may be none


def _traits(params: TonemapParams) -> Traits:
    from ..tone import operators  # which needs numpy: kinds are asked for when there is work

    statistics = (params.meter,) * (params.exposure is None)
    statistics += ("means of channels",) * (params.white_balance == GRAY_WORLD)
    statistics += ("scene",) * operators.needs_scene(params)
    opaque = params.preset is not None or params.operator in LOCAL
    kind = "opaque" if opaque else "measured" if statistics else "pointwise"
    return Traits(
        rec709=operators.is_rec709(params),
        premultiplied=params.preset is not None,
        display=True,
        kind=kind,
        statistics=statistics,
        bytes_per_value=24.0 if opaque else 4.0,
    )


def _measure(_gpu: Gpu, _shape: tuple[int, int, int], params: TonemapParams) -> Measure | None:
    from ..tone.tonemap import measure

    return measure(params)


def _together(params: TonemapParams) -> Together | None:
    from ..tone.sequence import together

    return together(params)


OPERATION = Operation(
    "tonemap",
    TonemapParams,
    _tonemap,
    traits=_traits,
    halo=lambda _gpu, _shape, params: math.inf if params.preset is not None else 0.0,
    whole={"preset": ("d3d11",)},
    measure=_measure,
    together=_together,
    ends=_ends,
    joins=lambda params: params.preset is None,
    check=_check,
    prepare=_prepare,
    cases=(
        TonemapParams(exposure=0.5),
        TonemapParams("reinhard-extended"),
        TonemapParams("sigmoid", parameters={"contrast": 1.6}, white_balance=(1.2, 1.0, 0.8)),
        TonemapParams("hable", 1.0, transfer="gamma:2.4", gamut="hue"),
        TonemapParams("khronos-neutral", transfer="pq", meter="histogram"),
        TonemapParams("reinhard-local"),
        TonemapParams(preset="d3d11"),
    ),
    examples=(
        "clpix tonemap light.exr -o picture.png",
        "clpix tonemap light.exr -o picture.jpg --operator aces-hill --exposure 0.5",
        "clpix tonemap frames/*.exr -o 'out/{stem}.png' --exposure smooth:9",
        "clpix tonemap light.exr -o sheet.png --contact-sheet --operators agx,hable",
    ),
    groups={
        "Operator": ("operator", "parameter", "white", "exposure", "gamut", "transfer", "border"),
        "White balance": ("white_balance",),
        "Metering": ("meter", "key", "percentiles", "meter_region"),
        "Dither": ("dither", "noise", "seed"),
        "Colour table": ("lut", "lut_input", "lut_output"),
        "Kernels, presets": ("method", "preset", "bloom", "blur"),
    },
)
