"""Linear Rec. 709 light → the values of any colour space: the inverse of :mod:`gpuops.pixels.light`."""

from __future__ import annotations

import numpy as np

from . import curves
from .colour import Colour
from .pointwise import Stage
from .primaries import IDENTITY
from .spaces import check


def stage(colour: Colour) -> Stage:
    """Returns the function of a pixel that makes values of a space of linear Rec. 709 light. Raises ColourError."""
    check(colour)
    parts = []
    numbers: tuple[float, ...] = IDENTITY
    if not colour.is_rec709:
        parts.append("TO_PRIMARIES")
        numbers = tuple(float(v) for v in np.linalg.inv(np.reshape(colour.matrix, (3, 3))).flat)
    if len(colour.curves) > 1:
        parts.append("THREE_CURVES")
    for curve in colour.curves:
        numbers += (float({curves.Pq: 1, curves.Hlg: 2}.get(type(curve), 0)), *_inverse(curve))
    if colour.scene:
        parts.append("TO_SCENE")
        *shares, gamma = colour.scene
        numbers += (*shares, (1 - gamma) / gamma)
    if colour.curves != (curves.LINEAR_CURVE,):
        parts.append("TO_SIGNAL")
    return Stage("signal", "signalled", numbers, tuple(parts), exact=True)


def _inverse(curve: curves.Curve) -> tuple[float, ...]:
    """Returns the seven numbers of a curve's inverse, as signal.cl takes them."""
    if isinstance(curve, curves.Pq):
        return curves.REFERENCE_WHITE / curves.PQ_PEAK, *[0.0] * 6
    if isinstance(curve, curves.Hlg):
        return float(1 / curves.Hlg().light(np.ones(1))[0]), *[0.0] * 6
    assert isinstance(curve, curves.Parametric)
    g, a, b, c, d, e, f = curve.numbers
    lowest = max(a * d + b, 0.0) ** g + e  # the light at which the power begins
    return 1 / g, 1 / a, b / a, e, lowest, 1 / c if c else 0.0, f
