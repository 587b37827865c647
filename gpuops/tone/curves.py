"""Tone curves: the results of operators for gray light, and a plot of them."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError
from ..files import charts
from ..params.operators import LOCAL, WHITE
from ..params.tonemap import TonemapParams
from .operators import needs_scene
from .tonemap import tonemap

if TYPE_CHECKING:
    from ..gpu import Gpu

Values = npt.NDArray[np.float32]

# The luminance of middle grey.
MIDDLE_GREY = 0.18
# Stops from the light that becomes middle grey, to either side.
_RANGE = 10.0
# Samples of a stop.
_STEPS = 64
# The names of transfers that have one, as legends write them.
_SIGNALS = {"srgb": "sRGB", "gamma": "gamma {gamma:g}", "pq": "PQ"}


@dataclass(frozen=True)
class Curve:
    """The curve of an operator at an exposure, for gray light.

    Attributes
    ----------
    params : TonemapParams
        The operator's parameters, with nothing left to meter.
    stops : array (n,)
        The scene's light before exposure, in stops around middle grey, 0.18.
    light, signal : array (n,)
        A display's light, and the signal that ``params`` make of it.
    """

    params: TonemapParams
    stops: Values
    light: Values
    signal: Values


def curves(gpu: Gpu, looks: Sequence[TonemapParams], stops: npt.ArrayLike | None = None) -> list[Curve]:
    """Returns the curves of operators, by tone mapping gray pixels on the device.

    The light is gray after a white balance. Without ``stops`` the curves go from 10 stops below the light that becomes
    middle grey to 10 above, or to beyond the brightest white point.

    Raises
    ------
    ParameterError
        One of ``looks`` leaves the exposure or the white point to an image; :mod:`gpuops.tone.metering` gives those of
        one. Or its operator is local, and has no curve.
    """
    for params in looks:
        if params.operator in LOCAL:
            raise ParameterError(
                f"{params.operator} has no curve: what it makes of a pixel depends on those around it"
            )
    whites = [params.value("white") for params in looks if params.operator in WHITE]
    exposures = [params.exposure for params in looks]
    if None in exposures or any(map(needs_scene, looks)):
        raise ParameterError(
            "a tone curve needs an exposure in stops, and a white point where the operator has one"
        )
    if stops is None:
        white = max((w for w in whites if w is not None), default=1.0)
        below = min((e for e in exposures if e is not None), default=0.0)
        above = max(_RANGE, math.ceil(math.log2(white / MIDDLE_GREY)) + 1)
        stops = np.arange(-_RANGE * _STEPS, above * _STEPS + 1) / _STEPS - below
    at = np.asarray(stops, np.float32)
    scene = gpu.array((MIDDLE_GREY * np.exp2(at.astype(np.float64))).astype(np.float32).reshape(1, 1, -1))

    def mapped(params: TonemapParams, transfer: str) -> Values:
        values = tonemap(
            gpu, scene, replace(params, transfer=transfer, dither=None, white_balance=None)
        ).numpy()
        return np.asarray(values.reshape(-1), np.float32)

    return [Curve(params, at, mapped(params, "linear"), mapped(params, params.transfer)) for params in looks]


def plot(drawn: Sequence[Curve], path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Draws curves at one exposure, as light and as signal, to a PNG or SVG; errors as
    :func:`gpuops.files.charts.check`.
    """
    charts.check(path, overwrite=overwrite)
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    params = drawn[0].params
    assert params.exposure is not None
    panels = {"display light": [curve.light for curve in drawn]}
    if params.transfer != "linear":
        signal = _SIGNALS[params.transfer if params.transfer != "auto" else "srgb"].format(gamma=params.gamma)
        panels[f"signal ({signal})"] = [curve.signal for curve in drawn]
    figure = Figure(figsize=(1.5 + 5 * len(panels), 5), layout="constrained")
    for axes, (title, values) in zip(
        figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True
    ):
        for i, (curve, v) in enumerate(zip(drawn, values, strict=True)):
            label = str(curve.params.operator) if axes.get_subplotspec().is_first_col() else None
            # There are ten colours; further lines are dashed.
            axes.plot(curve.stops, v, "-" if i < 10 else "--", label=label)
        axes.axvline(-params.exposure, color="gray", linewidth=0.8, linestyle=":")
        axes.axhline(1, color="gray", linewidth=0.8, linestyle=":")
        axes.set_title(title)
        axes.set_xlabel("scene light, stops around 0.18")
        axes.xaxis.set_major_locator(MaxNLocator(12, integer=True))
        axes.set_ylim(0, 1.05)  # values beyond 1 are cut off
        axes.margins(x=0)
        axes.grid(alpha=0.3)
    figure.suptitle(f"exposure {params.exposure:+.2f} stops (dotted: 0.18 after exposure)", fontsize="medium")
    figure.legend(loc="outside right upper")
    charts.save(figure, path, overwrite=overwrite)
