"""Tone curves: the results of operators for gray light, and a plot of them."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError
from ..files import charts
from ..gpu import Gpu
from ..params.operators import LOCAL, WHITE
from ..params.tonemap import TonemapParams
from ..records import dataclass
from .operators import needs_scene
from .tonemap import tonemap

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
            raise ParameterError(f"{params.operator} has no curve: pixels depend on those around them")
    whites = [params.value("white") for params in looks if params.operator in WHITE]
    exposures = [params.exposure for params in looks]
    if None in exposures or any(map(needs_scene, looks)):
        raise ParameterError("a tone curve needs an exposure in stops, and a white point if there is one")
    if stops is None:
        white = max((w for w in whites if w is not None), default=1.0)
        below = min((e for e in exposures if e is not None), default=0.0)
        above = max(_RANGE, math.ceil(math.log2(white / MIDDLE_GREY)) + 1)
        stops = np.arange(-_RANGE * _STEPS, above * _STEPS + 1) / _STEPS - below
    at = np.asarray(stops, np.float32)
    scene = gpu.array((MIDDLE_GREY * np.exp2(at.astype(np.float64))).astype(np.float32).reshape(1, 1, -1))

    def mapped(params: TonemapParams, transfer: str) -> Values:
        plain = replace(params, transfer=transfer, dither=None, white_balance=None)
        return np.asarray(tonemap(gpu, scene, plain).numpy().reshape(-1), np.float32)

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
    beside = figure.subplots(1, len(panels), squeeze=False)[0]
    for axes, (title, values) in zip(beside, panels.items(), strict=True):
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


# -- Curves through points that rise and fall only where the points do -------------------------------------------
# Sources: Fritsch and Butland, "A method for constructing local monotone piecewise cubic interpolants", 1984, for the
# slopes at inner points; Moler, "Numerical computing with MATLAB", 2004, section 3.6, for those at the ends.

Point = tuple[float, float]
#: start, low, high, b, c, d: b·t + c·t² + d·t³ with t = x − start, but at least low and at most high.
Cubic = tuple[float, float, float, float, float, float]
_FAR = 3.4028234e38  # float32's largest number


def cubics(points: Sequence[Point]) -> list[Cubic]:
    """Returns cubics whose sum, with the first point's y, is the curve through points of ascending x.

    The first and the last one are straight, for what lies beyond the ends.
    """
    widths = [right[0] - left[0] for left, right in pairwise(points)]
    rises = [(right[1] - left[1]) / h for (left, right), h in zip(pairwise(points), widths, strict=True)]
    slopes = _slopes(widths, rises)
    pieces = [(points[0][0], -_FAR, 0.0, slopes[0], 0.0, 0.0)]
    for (x, _), h, rise, (here, there) in zip(points[:-1], widths, rises, pairwise(slopes), strict=True):
        pieces.append((x, 0.0, h, here, (3 * rise - 2 * here - there) / h, (here + there - 2 * rise) / h**2))
    return [*pieces, (points[-1][0], 0.0, _FAR, slopes[-1], 0.0, 0.0)]


def _slopes(widths: Sequence[float], rises: Sequence[float]) -> list[float]:
    if len(rises) == 1:
        return [rises[0], rises[0]]
    inner = [
        _mean(h, rise, next_h, next_rise)
        for (h, next_h), (rise, next_rise) in zip(pairwise(widths), pairwise(rises), strict=True)
    ]
    first = _end(widths[0], rises[0], widths[1], rises[1])
    return [first, *inner, _end(widths[-1], rises[-1], widths[-2], rises[-2])]


def _mean(h: float, rise: float, next_h: float, next_rise: float) -> float:
    """The slope at an inner point: a harmonic mean, and 0 at a peak, in a valley or at the edge of a plain."""
    if rise * next_rise <= 0:
        return 0.0
    before, after = h + 2 * next_h, 2 * h + next_h
    return (before + after) / (before / rise + after / next_rise)


def _end(h: float, rise: float, next_h: float, next_rise: float) -> float:
    """The slope at an end: a parabola's through three points, but of the first rise's sign and at most thrice that."""
    slope = ((2 * h + next_h) * rise - h * next_rise) / (h + next_h)
    if slope * rise <= 0:
        return 0.0
    return 3 * rise if rise * next_rise <= 0 and abs(slope) > 3 * abs(rise) else slope
