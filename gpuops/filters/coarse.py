"""Coarse grids of :mod:`gpuops.filters.multirate`: along each axis, where their samples stand and what they are made
of.

The way down and the way up use the same short window φ of TAPS coarse samples. The filter between them is not the
Gaussian itself: its spectrum is divided by φ's twice, as in Fourier transforms of samples at arbitrary places. So the
window leaves nothing but aliases, of which a Kaiser-Bessel window lets the fewest through.

Steps are real numbers, such that the coarse grid has the fine one's symmetry about the edges, and a border mode means
the same on it. Where values are constant beyond a
border (nearest, constant), the coarse image has MARGIN more samples at each end, beyond which it is constant as well.
Where values repeat beyond a border (wrap), so do the bases and the weights.

Sources: the window and its spectrum, Kaiser & Schafer, "On the use of the I0-sinh window for spectrum analysis", 1980;
the division, Jackson et al., "Selection of a convolution function for Fourier inversion using gridding", 1991.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from math import ceil, floor

import numpy as np
import numpy.typing as npt

from ..params.blur import ENOUGH, gaussian
from ..params.border import by_axis
from ..records import dataclass

Two = tuple[float, float]

# Coarse samples that the window spans.
TAPS = 6
# The window's shape parameter: at LEAST it gives the least error of all shapes, 8e-6 of the peak (measured).
BETA = 14.2
# The least σ on the coarse grid, in its steps: a smaller one lets more aliases through.
LEAST = 2.0
# The largest coarse step: with a larger one, more samples lie beyond a group's edges than inside.
LARGEST = 8.0
# Coarse samples beyond each end.
MARGIN = TAPS // 2 + 1
# Border modes with a constant value beyond the edge.
_STANDS = ("nearest", "constant")
# The sum of the weights that are left out, as a share of the largest weight.
_CUT = 1e-5


@dataclass(frozen=True)
class Left:
    """The part of a Gaussian still to be done on a grid: its σ and the steps of past windows, in the grid's samples."""

    sigma: float
    windows: tuple[float, ...] = ()

    def on(self, step: float) -> Left:
        """Returns the same on a grid that is coarser by ``step``, to which one more window leads."""
        return Left(self.sigma / step, (*(w / step for w in self.windows), 1.0))

    @lru_cache(64)  # noqa: B019 - a few small ones, for good
    def weights(self) -> npt.NDArray[np.float64]:
        """Weights −r … r, normalised: the inverse transform of the Gaussian's spectrum over those of the windows."""
        # Without windows σ may be so small that the spectrum does not end at the grid's highest frequency.
        if not self.windows:
            return np.array(gaussian(self.sigma, ENOUGH))
        samples = 1 << ceil(16 * self.sigma + 64).bit_length()  # half of them reach 8 σ at least
        frequency = 2 * np.pi * np.fft.rfftfreq(samples)
        spectrum = np.exp(-0.5 * (self.sigma * frequency) ** 2)
        for step in self.windows:
            spectrum /= (_spectrum(frequency * step) / _spectrum(np.zeros(1))) ** 2
        half = np.fft.irfft(spectrum)[: samples // 2]
        beyond = np.cumsum(np.abs(half[::-1]))[::-1]  # the sum of each weight and all after it
        radius = int(np.flatnonzero(beyond <= _CUT * half[0])[0]) - 1
        weights = np.concatenate([half[radius:0:-1], half[: radius + 1]])
        return np.asarray(weights / weights.sum(), np.float64)


@dataclass(frozen=True, eq=False)  # the cache below returns the same object for the same axis
class Axis:
    """One axis of a coarse grid, and its relation to the fine one: see decimate.cl.

    Attributes
    ----------
    taps
        1: the axis stays as it is.
    fine, coarse
        The numbers of fine and of coarse samples, with margins.
    left
        The filter that is still to be done on the coarse axis.
    low
        The first fine sample that coarse ones are made of: negative beyond the edge.
    bases
        The first coarse sample within the window of each fine one, from ``low`` on.
    starts
        See decimate.cl.
    down, up
        Weights (fine, taps): ``down`` of fine samples, from ``low`` on, in coarse ones; ``up`` of coarse samples in the
        fine ones of the image. The weights of each resulting sample sum to 1.
    most
        The largest number of fine samples that one base has.
    repeated
        ``(times)`` → the axis of as many images one behind the other, where values repeat beyond the edges.
    """

    taps: int
    fine: int
    coarse: int
    left: Left
    low: int
    bases: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int32]
    down: npt.NDArray[np.float32]
    up: npt.NDArray[np.float32]
    most: int
    repeated: Callable[[int], Axis] | None = None

    @property
    def inside(self) -> slice:
        """The slice of the fine samples that are in the image."""
        return slice(-self.low, self.fine - self.low)

    def part(self, first: int, count: int) -> tuple[Axis, int]:
        """Returns the axis of ``count`` fine samples from ``first`` on, and its first coarse one.

        Its coarse samples are those from which these fine ones are made. Where values repeat beyond the edges, there
        may be fine ones beyond these; the first coarse sample may be negative then.
        """
        if self.repeated is not None and not 0 <= first <= first + count <= self.fine:
            before, after = -min(first, 0), max(first + count, self.fine)
            above = ceil(before / self.fine)
            times = above + ceil(after / self.fine)
            part, start = self.repeated(times).part(first + above * self.fine, count)
            return part, start - above * self.coarse
        bases = self.bases[first - self.low : first + count - self.low]
        start, stop = max(0, int(bases[0])), min(self.coarse, int(bases[-1]) + self.taps)
        origin = int(self.starts[start])
        made = slice(origin, int(self.starts[stop - 1 + self.taps]))
        part = replace(
            self, fine=count, coarse=stop - start, low=self.low + origin - first, bases=self.bases[made] - start,
            starts=self.starts[start : stop + self.taps] - origin, down=self.down[made],
            up=self.up[first : first + count],
        )  # fmt: skip
        return part, start

    def by_base(self, weights: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Returns ``down``, or ``up`` for all fine samples, as (bases, most, taps): 0 where a base has fewer."""
        f = self.starts[:-1, None] + np.arange(self.most)
        there = f < self.starts[1:, None]
        return np.where(there[..., None], weights[np.where(there, f, 0)], np.float32(0))

    @cached_property
    def gathered(self) -> npt.NDArray[np.float32]:
        """The weights (q, coarse) of the q-th fine sample that each coarse one is made of; 0 where it has fewer."""
        first, last = self.starts[: self.coarse], self.starts[self.taps : self.taps + self.coarse]
        result = np.zeros((int((last - first).max()), self.coarse), np.float32)
        f, k = np.indices(self.down.shape)
        i = self.bases[:, None] + k
        there = (i >= 0) & (i < self.coarse)
        result[(f - first[np.clip(i, 0, self.coarse - 1)])[there], i[there]] = self.down[there]
        return result


def step(n: int, sigma: float, border: str) -> float:
    """Returns the distance between coarse samples, in fine ones; 1 where the axis had better stay as it is."""
    wanted = min(LARGEST, sigma / LEAST)
    if n < 2 or wanted < 1.5:
        return 1.0
    if border == "mirror":
        return (n - 1) / max(1, ceil((n - 1) / wanted))
    return n / ceil(n / wanted)


def is_coarser(shape: tuple[int, ...], sigma: Two, border: str) -> bool:
    """Says whether at least one axis of (planes, height, width) gets a coarse grid."""
    axes = zip(shape[1:], sigma, by_axis(border), strict=True)
    return any(step(*axis) > 1 for axis in axes)


@lru_cache(64)
def axis(n: int, left: Left, border: str, m: float, times: int = 1) -> Axis:
    """Returns the axis with steps of ``m``, for ``n`` samples on which ``left`` (in samples) is to be done.

    With ``times`` the samples repeat, one after the other, as they do beyond the border ``wrap``.
    """
    repeated = partial(axis, n, left, border, m) if border == "wrap" and times == 1 else None
    if m == 1:
        rest = np.arange(times * n, dtype=np.int32)
        one = np.ones((times * n, 1), np.float32)
        starts = np.arange(times * n + 1, dtype=np.int32)
        return Axis(1, len(rest), len(rest), left, 0, rest, starts, one, one, 1, repeated)
    margin = MARGIN if border in _STANDS else 0
    # The coarse position of fine sample 0.
    origin = margin + (0.0 if border == "mirror" else 0.5 / m - 0.5)
    coarse = round((n - 1) / m) + 1 if border == "mirror" else round(n / m) + 2 * margin
    low = floor((-TAPS / 2 - origin) * m)
    high = ceil((times * coarse - 1 + TAPS / 2 - origin) * m)
    fine = np.arange(low, high + 1)
    turn, at = np.divmod(fine, n) if border == "wrap" else (np.zeros_like(fine), fine)
    position = at / m + origin
    bases = np.floor(position).astype(np.int64) - (TAPS // 2 - 1)
    index = bases[:, None] + np.arange(TAPS)
    weights = _window(position[:, None] - index)
    bases, index = bases + turn * coarse, index + turn[:, None] * coarse
    there = (index >= 0) & (index < coarse)
    sums = np.bincount(index[there], weights[there], coarse)
    there = (index >= 0) & (index < times * coarse)
    down = np.where(there, weights / sums[index % coarse], 0.0)
    up = weights / weights.sum(1, keepdims=True)
    starts = np.searchsorted(bases, np.arange(1 - TAPS, times * coarse + 1)).astype(np.int32)
    return Axis(
        TAPS, times * n, times * coarse, left.on(m), low, bases.astype(np.int32), starts.astype(np.int32),
        down.astype(np.float32), up[-low : times * n - low].astype(np.float32), int(np.diff(starts).max()), repeated,
    )  # fmt: skip


def _window(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The Kaiser-Bessel window at ``x`` coarse steps from its middle."""
    inside = np.maximum(0.0, 1 - (2 * x / TAPS) ** 2)
    return np.where(inside > 0, np.i0(BETA * np.sqrt(inside)), 0.0)


def _spectrum(frequency: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """The window's Fourier transform at ``frequency`` radians a step, but for a factor."""
    z = np.sqrt((BETA**2 - (TAPS / 2 * frequency) ** 2).astype(complex))
    return np.real(np.sinh(z) / z)  # z is not 0 at a grid's frequencies: they end before its zero
