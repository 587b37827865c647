"""Curves through points that rise and fall only where the points do.

Sources: Fritsch and Butland, "A method for constructing local monotone piecewise cubic interpolants", 1984, for the
slopes at inner points; Moler, "Numerical computing with MATLAB", 2004, section 3.6, for those at the ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

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
    found = [(points[0][0], -_FAR, 0.0, slopes[0], 0.0, 0.0)]
    for (x, _), h, rise, (here, there) in zip(points[:-1], widths, rises, pairwise(slopes), strict=True):
        found.append((x, 0.0, h, here, (3 * rise - 2 * here - there) / h, (here + there - 2 * rise) / h**2))
    return [*found, (points[-1][0], 0.0, _FAR, slopes[-1], 0.0, 0.0)]


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
