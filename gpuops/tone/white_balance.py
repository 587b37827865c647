"""White balance: a matrix on linear Rec. 709 light, after which the light of the scene is the display's white, D65.

For an illuminant the matrix is a chromatic adaptation in Bradford's cone responses (Lam, *Metamerism and Colour
Constancy*, Bradford 1985; as in ICC.1 and CIECAM97s); for gains it is diagonal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..errors import ParameterError
from ..gpu import Gpu
from ..image import Image
from ..metrics.statistics import all_statistics
from ..params.tonemap import TonemapParams
from ..params.white_balance import GAIN, GRAY_WORLD, Illuminant, WhiteBalance
from ..pixels import primaries
from ..pixels.coding import Decoding
from ..pixels.pointwise import Stage
from ..pixels.primaries import D65, REC709_LUMINANCE, Chromaticity, ColourError, Matrix, xyz
from ..pixels.regions import cut

Gains = tuple[float, float, float]

# The temperature (K) at which daylight's locus begins; below it light is that of a black body.
_DAYLIGHT_FROM = 4000.0
# Kim et al., *Design of Advanced Color Temperature Control System for HDTV Applications*, J. Korean Phys. Soc. 41(6),
# 2002: x in powers of 1000 K / T and y in powers of x, from the constant on, to a largest temperature.
_PLANCKIAN_X = (
    (4000.0, (0.179910, 0.8776956, -0.2343589, -0.2661239)),
    (math.inf, (0.240390, 0.2226347, 2.1070379, -3.0258469)),
)
_PLANCKIAN_Y = (
    (2222.0, (-0.20219683, 2.18555832, -1.34811020, -1.1063814)),
    (4000.0, (-0.16748867, 2.09137015, -1.37418593, -0.9549476)),
    (math.inf, (-0.37001483, 3.75112997, -5.87338670, 3.0817580)),
)
# CIE 15:2018, 4.1.2: x of daylight in the same form; its y is −3x² + 2.870x − 0.275.
_DAYLIGHT_X = (
    (7000.0, (0.244063, 0.09911, 2.9678, -4.6070)),
    (math.inf, (0.237040, 0.24748, 1.9018, -2.0064)),
)


def daylight(temperature: float) -> Chromaticity:
    """Returns the CIE 1931 (x, y) of daylight of 4000 … 25000 K: the CIE's D illuminants."""
    x, _ = _cubic(_DAYLIGHT_X, temperature, 1000 / temperature)
    return x, (-3 * x + 2.870) * x - 0.275


def planckian(temperature: float) -> Chromaticity:
    """Returns the CIE 1931 (x, y) of a black body of 1667 … 25000 K."""
    x, _ = _cubic(_PLANCKIAN_X, temperature, 1000 / temperature)
    return x, _cubic(_PLANCKIAN_Y, temperature, x)[0]


def chromaticity(light: Illuminant) -> Chromaticity:
    """Returns the CIE 1931 (x, y) of light: on a locus, and from there along the isotherm.

    An isotherm is perpendicular to the locus of black bodies in CIE 1960 (u, v).
    """
    x, y = (daylight if light.temperature >= _DAYLIGHT_FROM else planckian)(light.temperature)
    if not light.tint:
        return x, y
    u, v = 4 * x / (12 * y - 2 * x + 3), 6 * y / (12 * y - 2 * x + 3)
    du, dv = _towards_cooler(light.temperature)
    length = math.hypot(du, dv)
    u, v = u + light.tint * dv / length, v - light.tint * du / length  # a quarter turn: positive is green
    return 3 * u / (2 * u - 8 * v + 4), 2 * v / (2 * u - 8 * v + 4)


def _towards_cooler(temperature: float) -> tuple[float, float]:
    """The direction of the locus of black bodies in (u, v), with rising temperature."""
    x, dx = _cubic(_PLANCKIAN_X, temperature, 1000 / temperature)
    y, dy = _cubic(_PLANCKIAN_Y, temperature, x)
    dx, dy = -dx, -dx * dy  # the derivative by the temperature, up to a positive factor
    # (u, v) are (4x, 6y) / w, w = 12y − 2x + 3.
    w, dw = 12 * y - 2 * x + 3, 12 * dy - 2 * dx
    return 4 * (dx * w - x * dw), 6 * (dy * w - y * dw)


def _cubic(
    pieces: Sequence[tuple[float, tuple[float, ...]]], temperature: float, at: float
) -> tuple[float, float]:
    """Returns the value of the polynomial for this temperature, and its derivative."""
    a, b, c, d = next(powers for most, powers in pieces if temperature <= most)
    return a + at * (b + at * (c + at * d)), b + at * (2 * c + at * 3 * d)


def adaptation(source: Chromaticity, target: Chromaticity = D65) -> Matrix:
    """Returns Bradford's matrix on CIE XYZ (3, 3): what is white under ``source`` becomes white under ``target``.

    Raises
    ------
    ParameterError
        ``source`` is so far from white that a cone has no response to it.
    """
    try:
        return primaries.adaptation(xyz(source), xyz(target))
    except ColourError:
        raise ParameterError(
            f"light of the chromaticity {source[0]:.4f}, {source[1]:.4f} is too coloured to be made white: "
            "use a tint nearer to 0"
        ) from None


def matrix(balance: Illuminant | Gains) -> Matrix:
    """Returns the matrix (3, 3) on columns of linear Rec. 709 light; light that becomes white keeps its luminance."""
    if not isinstance(balance, Illuminant):
        return np.diag(np.asarray(balance, np.float64))
    to_xyz = primaries.REC709.to_xyz()
    return np.asarray(np.linalg.solve(to_xyz, adaptation(chromaticity(balance)) @ to_xyz))


def gray_world(means: Sequence[float]) -> Gains:
    """Returns gains that make these means of R, G and B equal and keep their luminance; 1 for black.

    After Buchsbaum, *A Spatial Processor Model for Object Colour Perception*, J. Franklin Inst. 310(1), 1980.

    Raises
    ------
    ParameterError
        There is light, but not in all channels.
    """
    if not any(mean > 0 for mean in means):
        return 1.0, 1.0, 1.0
    luminance = sum(weight * mean for weight, mean in zip(REC709_LUMINANCE, means, strict=True))
    r, g, b = (luminance / mean if mean > 0 else 0.0 for mean in means)
    if not (min(r, g, b) >= GAIN.low and max(r, g, b) <= GAIN.high):
        told = ", ".join(f"{name} {mean:.3g}" for name, mean in zip("RGB", means, strict=True))
        raise ParameterError(f"{GRAY_WORLD} needs light in every channel, and the means are {told}")
    return r, g, b


def check_coloured(colours: int) -> None:
    """Refuses an image of one colour."""
    if colours == 1:
        raise ParameterError("a gray image has no colour to balance: leave the white balance out")


def resolved(
    gpu: Gpu, source: Image, params: TonemapParams, decoding: Decoding | None, stages: Sequence[Stage] = ()
) -> TonemapParams:
    """Returns ``params`` with gains in place of a balance left to the image: planes, or pixels with a ``decoding``.

    The image goes through the ``stages`` first.
    Reads the meter's region where it has to; memory is as for :func:`gpuops.pixels.regions.cut`.

    Raises
    ------
    ParameterError
        The image is gray; or as of :func:`gray_world`.
    """
    if params.white_balance is None:
        return params
    check_coloured(source.colours if decoding is None else source.shape[2] - decoding.alpha)
    if params.white_balance != GRAY_WORLD:
        return params
    part = cut(source, params.meter_region, interleaved=decoding is not None, alpha=bool(stages))
    _, channels = all_statistics(gpu, part, decoding=decoding, stages=stages, histogram=False)
    return replace(params, white_balance=gray_world([one.mean for one in channels[:3]]))


def known(balance: WhiteBalance | None) -> Matrix | None:
    """Returns :func:`matrix` of a balance that leaves nothing to the image; None where there is none."""
    assert not isinstance(balance, str)
    return None if balance is None else matrix(balance)


def rows(mix: Matrix | None) -> tuple[float, ...]:
    """Returns :func:`known` as tonemap.cl takes it: nine of sixteen numbers, row by row."""
    nine = [0.0] * 9 if mix is None else [float(v) for v in mix.flat]
    return *nine, *[0.0] * 7


def weights(balance: WhiteBalance | None, luminance: Gains = REC709_LUMINANCE) -> Gains:
    """Returns the weights on light before the balance that give the ``luminance`` after it."""
    mix = known(balance)
    if mix is None:
        return luminance
    r, g, b = (float(w) for w in np.asarray(luminance) @ mix)
    return r, g, b
