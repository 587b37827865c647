"""What a point becomes when a picture is out of focus, or moves: weights of two-dimensional blurs, of sum 1."""

from __future__ import annotations

from math import ceil, cos, radians, sin

import numpy as np
import numpy.typing as npt

from .params.blur import BlurParams

Weights = npt.NDArray[np.float64]

_FINE = 64  # columns, or rows, in a pixel: shares of pixels are exact to about a thousandth of one


def weights(params: BlurParams) -> Weights:
    """(2·radius y + 1, 2·radius x + 1) of any kind of blur."""
    if params.kind == "disc":
        return disc(*params.radius)
    if params.kind == "motion":
        return line(params.length, params.angle, params.radii)
    return np.outer(params.weights(0), params.weights(1))


def disc(y: float, x: float) -> Weights:
    """The share of each pixel that an ellipse with these half-axes (pixels) covers; a point where one is 0."""
    high, wide = _reach(y), _reach(x)
    if not y or not x:
        return np.ones((1, 1))
    fine = (np.arange((2 * wide + 1) * _FINE) + 0.5) / _FINE - wide - 0.5
    half = y * np.sqrt(np.maximum(0.0, 1 - (fine / x) ** 2))  # height of the ellipse there
    rows = np.arange(-high, high + 1)[:, None]
    covered = np.clip(half, rows - 0.5, rows + 0.5) - np.clip(-half, rows - 0.5, rows + 0.5)
    shares: Weights = covered.reshape(2 * high + 1, 2 * wide + 1, _FINE).sum(2)
    shares /= shares.sum()
    return shares


def line(length: float, angle: float, radii: tuple[int, int]) -> Weights:
    """The share of each pixel that a line covers: ``length`` pixels, one wide, at ``angle`` degrees, counted
    counter-clockwise from a row's direction."""
    result = np.zeros((2 * radii[0] + 1, 2 * radii[1] + 1))
    count = max(1, round(length * _FINE))
    along = ((np.arange(count) + 0.5) / count - 0.5) * length
    across = ((np.arange(_FINE) + 0.5) / _FINE - 0.5)[:, None]
    c, s = cos(radians(angle)), sin(radians(angle))
    y, x = -(along * s + across * c), along * c - across * s
    index = [np.floor(v + r + 0.5).astype(int).clip(0, 2 * r) for v, r in zip((y, x), radii, strict=True)]
    np.add.at(result, (index[0], index[1]), 1.0)
    result += result[::-1, ::-1]  # a line has no direction, whatever rounding makes of its ends
    result /= result.sum()
    return result


def _reach(radius: float) -> int:
    return max(0, ceil(radius - 0.5))
