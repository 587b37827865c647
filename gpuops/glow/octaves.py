"""The Gaussians that make the glow, and the levels of a mip chain that stand for them."""

from __future__ import annotations

import math

from ..params.bloom import BloomParams

# The number of Gaussians in the glow; each is half as wide as the one before.
OCTAVES = 8


def octaves(params: BloomParams, height: int) -> list[tuple[float, float]]:
    """(σ in pixels, share of the light) of each Gaussian, the widest first."""
    return [(params.radius * height * 0.5**octave, 1.0 / OCTAVES) for octave in range(OCTAVES)]


def levels(params: BloomParams, height: int) -> list[float]:
    """Share of each level of the mip chain, level 0 (the image itself) first; two levels or more.

    A level's way down and up has the variance :func:`variance` along each axis; a Gaussian is shared out
    between the two levels around it such that its variance comes out exactly.
    """
    shares = [0.0, 0.0]
    for sigma, share in octaves(params, height):
        level = int(math.log(sigma * sigma / 1.5 + 1.0, 4.0))
        below, above = variance(level), variance(level + 1)
        part = min(max((sigma * sigma - below) / (above - below), 0.0), 1.0)
        shares.extend([0.0] * (level + 2 - len(shares)))
        shares[level] += share * (1.0 - part)
        shares[level + 1] += share * part
    while len(shares) > 2 and shares[-1] == 0.0:
        shares.pop()
    return shares


def columns(params: BloomParams, height: int, width: int) -> int:
    """Returns the number of columns of the mip chain's level 0, for an image of this size.

    Rows that wrap around must be halved without a remainder, level after level: their number of samples is a
    multiple of 2 to the number of halvings, or a smaller power of two, as one sample stays one. Other numbers
    become the nearest of these, which makes the glow slightly wider or narrower along rows.
    """
    cell = 1 << (len(levels(params, height)) - 1)
    if params.border != "wrap-x":
        return width
    return max(1, round(width / cell)) * cell if width >= cell else 1 << round(math.log2(width))


def variance(level: int) -> float:
    """Returns σ² in pixels² that ``level`` halvings and doublings give an impulse, along each axis.

    A halving adds 1.75 of its input's pixels² (a box of 4 adds 1.25, moving half of it by ±1 adds 0.5), a doubling 2.75
    of its output's (interpolation 0.75, the tent 2), and a pixel grows fourfold in area from level to level:
    Σ 4.5·4^i = 1.5·(4^level − 1).
    """
    return 1.5 * (4.0**level - 1.0)
