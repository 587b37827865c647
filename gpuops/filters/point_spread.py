"""Point spread functions, such as of defocus and of motion: the weights of two-dimensional blurs, with the sum 1."""

from __future__ import annotations

from math import ceil, cos, radians, sin

import numpy as np
import numpy.typing as npt

from ..params.blur import BlurParams

Weights = npt.NDArray[np.float64]


def weights(params: BlurParams) -> Weights:
    """Returns the weights (2·radius y + 1, 2·radius x + 1) of any kind of blur."""
    if params.kind == "disc":
        return disc(*params.radius)
    if params.kind == "motion":
        return line(params.length, params.angle, params.radii)
    return np.outer(params.weights(0), params.weights(1))


def disc(y: float, x: float) -> Weights:
    """Returns the share of each pixel that an ellipse with these half-axes (pixels) covers; a point if one is 0."""
    if not y or not x:
        return np.ones((1, 1))
    high, wide = (max(0, ceil(radius - 0.5)) for radius in (y, x))
    rows, columns = np.arange(-high, high + 1)[:, None], np.arange(-wide, wide + 1)
    shares = np.zeros((2 * high + 1, 2 * wide + 1))
    for part in _parts(max(x, y)):
        half = y * np.sqrt(np.maximum(0.0, 1 - ((columns + part) / x) ** 2))  # height of the ellipse there
        shares += np.clip(half, rows - 0.5, rows + 0.5) - np.clip(-half, rows - 0.5, rows + 0.5)
    return _normalised(shares)


def line(length: float, angle: float, radii: tuple[int, int]) -> Weights:
    """Returns the share of each pixel that a line covers: ``length`` pixels long, one wide, at ``angle`` degrees,
    counted counter-clockwise from a row's direction."""
    across = _parts(length / 2)[:, None]
    count = max(1, round(length * len(across)))
    along = ((np.arange(count) + 0.5) / count - 0.5) * length
    c, s = cos(radians(angle)), sin(radians(angle))
    points = zip((-(along * s + across * c), along * c - across * s), radii, strict=True)
    i, j = (np.floor(v + r + 0.5).astype(int).clip(0, 2 * r) for v, r in points)
    shape = (2 * radii[0] + 1, 2 * radii[1] + 1)
    shares = np.bincount(np.ravel_multi_index((i.ravel(), j.ravel()), shape), minlength=shape[0] * shape[1])
    shares = shares.reshape(shape)
    # Both directions of the line count alike, though rounding may treat its ends differently.
    return _normalised(shares + shares[::-1, ::-1])


def _parts(radius: float) -> Weights:
    """Returns places in a pixel, from −½ to ½, at which shares are summed: fewer where there are many pixels."""
    count = max(8, min(64, round(4096 / max(radius, 1.0))))
    return np.asarray((np.arange(count) + 0.5) / count - 0.5)


def _normalised(shares: npt.NDArray[np.generic]) -> Weights:
    return np.asarray(shares / shares.sum())
