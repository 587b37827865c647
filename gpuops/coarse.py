"""Coarse grids of :mod:`gpuops.multirate`: along each axis, where their samples stand and what they are made of.

Steps are real numbers, such that the coarse grid has the fine one's symmetry about the edges, and a border mode means
the same there. Where a border stands still (nearest, constant), the coarse image has MARGIN more samples at each end,
beyond which it stands still as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import ceil, erf, exp, floor, pi, sqrt

import numpy as np
import numpy.typing as npt

Two = tuple[float, float]

TAPS = 8  # of the short Gaussian, which ends 4 coarse steps from its middle
SHORT = 0.85  # its σ in coarse steps: shorter lets aliases through, longer is cut too soon (measured: both errors 1e-5)
LEAST = 3.0  # σ in coarse steps: less lets more aliases through
LARGEST = 8.0  # coarse step: more needs more samples beyond a group's edges than inside
MARGIN = 5
_STANDS = ("nearest", "constant")

_A = TAPS / 2 / SHORT
# The short Gaussian's variance in coarse steps, cut as it is.
_VARIANCE = SHORT**2 * (1 - 2 * _A * exp(-(_A**2) / 2) / sqrt(2 * pi) / erf(_A / sqrt(2)))


@dataclass(frozen=True, eq=False)  # the cache below gives the same one again
class Axis:
    """One axis of a coarse grid, and what it is to the fine one: see decimate.cl.

    Attributes
    ----------
    taps
        1: the axis stays as it is.
    fine, coarse
        Samples of both; margins count.
    sigma
        Of the Gaussian that is left to do, in coarse steps.
    low
        The first fine sample that coarse ones are made of: negative beyond the edge.
    bases
        First coarse sample that each fine one meets, from ``low`` on.
    starts
        See decimate.cl.
    down, up
        Weights (fine, taps) of fine samples in coarse ones, from ``low`` on, and of coarse samples in those fine ones
        that are in the image; they sum to 1 over each sample that is made.
    """

    taps: int
    fine: int
    coarse: int
    sigma: float
    low: int
    bases: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int32]
    down: npt.NDArray[np.float32]
    up: npt.NDArray[np.float32]

    @property
    def inside(self) -> slice:
        """Those of the fine samples that are in the image."""
        return slice(-self.low, self.fine - self.low)

    def gathered(self) -> npt.NDArray[np.float32]:
        """Weights (fine samples at most, coarse): of the q-th fine sample that each coarse one is made of."""
        first, last = self.starts[: self.coarse], self.starts[self.taps : self.taps + self.coarse]
        result = np.zeros((int((last - first).max()), self.coarse), np.float32)
        f, k = np.indices(self.down.shape)
        i = self.bases[:, None] + k
        there = (i >= 0) & (i < self.coarse)
        result[(f - first[np.clip(i, 0, self.coarse - 1)])[there], i[there]] = self.down[there]
        return result


def step(n: int, sigma: float, border: str) -> float:
    """From one coarse sample to the next, in fine samples; 1 where the axis had better stay as it is."""
    wanted = min(LARGEST, sigma / LEAST)
    if n < 2 or wanted < 1.5:
        return 1.0
    if border == "mirror":
        return (n - 1) / max(1, ceil((n - 1) / wanted))
    return n / ceil(n / wanted)


def is_coarser(shape: tuple[int, ...], sigma: Two, border: str) -> bool:
    """Whether one axis at least of (planes, height, width) gets a coarse grid."""
    return any(step(n, s, border) > 1 for n, s in zip(shape[1:], sigma, strict=True))


@lru_cache(64)
def axis(n: int, sigma: float, border: str) -> Axis:
    """The axis for a Gaussian of ``sigma`` (samples) over ``n`` samples."""
    m = step(n, sigma, border)
    if m == 1:
        rest = np.arange(n, dtype=np.int32)
        one = np.ones((n, 1), np.float32)
        return Axis(1, n, n, sigma, 0, rest, np.arange(n + 1, dtype=np.int32), one, one)
    margin = MARGIN if border in _STANDS else 0
    origin = margin + (
        0.0 if border in ("mirror", "wrap") else 0.5 / m - 0.5
    )  # coarse position of fine sample 0
    coarse = round((n - 1) / m) + 1 if border == "mirror" else round(n / m) + 2 * margin
    low = floor((-TAPS / 2 - origin) * m)
    high = ceil((coarse - 1 + TAPS / 2 - origin) * m)
    position = np.arange(low, high + 1) / m + origin
    bases = np.floor(position).astype(np.int64) - (TAPS // 2 - 1)
    distance = position[:, None] - (bases[:, None] + np.arange(TAPS))
    weights = np.exp(-0.5 * (distance / SHORT) ** 2)
    index = bases[:, None] + np.arange(TAPS)
    there = (index >= 0) & (index < coarse)
    sums = np.bincount(index[there], weights[there], coarse)
    down = np.where(there, weights / sums[np.clip(index, 0, coarse - 1)], 0.0)
    up = weights / weights.sum(1, keepdims=True)
    starts = np.searchsorted(bases, np.arange(1 - TAPS, coarse + 1)).astype(np.int32)
    left = sqrt(max(0.0, (sigma / m) ** 2 - 2 * _VARIANCE))
    return Axis(
        TAPS, n, coarse, left, low, bases.astype(np.int32), starts.astype(np.int32),
        down.astype(np.float32), up[-low : n - low].astype(np.float32),
    )  # fmt: skip
