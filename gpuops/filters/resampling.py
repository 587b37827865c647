"""Where the samples of a resized axis come from, and with what weights.

Sample j covers the interval j … j + 1. Result i covers i·step … (i + 1)·step, moved so that as much is left over on
both sides. A kernel f gives sample j the weight f((j + ½ − centre) / max(step, 1)): when the image shrinks, the kernel
is stretched. Weights are divided by their sum, at the edges by that of the samples that exist.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, gcd

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

# Axes whose weights are kept for the next picture.
_KEPT = 8


@dataclass(frozen=True)
class ResampledAxis:
    """``size`` samples become ``result`` results, each ``num / den`` samples wide.

    ``start``: where the first result begins, in samples times twice ``den``.
    """

    size: int
    result: int
    num: int
    den: int
    start: int

    @classmethod
    def of(cls, size: int, result: int, num: int = 0, den: int = 0) -> ResampledAxis:
        """The axis with its step in lowest terms, about the same middle; without a step all samples are covered."""
        num, den = (num, den) if den else (size, result)
        common = gcd(num, den)
        num, den = num // common, den // common
        return cls(size, result, num, den, size * den - result * num)

    def part(self, first: int, size: int, start: int, result: int) -> ResampledAxis:
        """Returns ``result`` results from one on, of ``size`` samples from ``first`` on."""
        at = self.start + 2 * (start * self.num - first * self.den)
        return ResampledAxis(size, result, self.num, self.den, at)

    def of_smaller(self, by: int, size: int) -> ResampledAxis:
        """Returns the same results of ``size`` samples that are each as wide as ``by`` of these."""
        return ResampledAxis(size, self.result, self.num, self.den * by, self.start)

    @property
    def stays(self) -> bool:
        """Whether every result is the sample in its place."""
        return self.size == self.result and self.num == self.den and self.start == 0

    @property
    def scale(self) -> float:
        """How many results wide a sample is."""
        return self.den / self.num

    @property
    def first(self) -> float:
        """Where the first sample begins, in results."""
        return -self.start / (2 * self.num)

    def edges(self) -> Integers:
        """Where each result begins, and the last one ends, in samples times twice ``den``: whole numbers."""
        return self.start + 2 * self.num * np.arange(self.result + 1, dtype=np.int64)


@dataclass(frozen=True)
class Weights:
    """Result i is Σ_k ``weights[i, k]`` · sample ``first[i] + k``, k < ``count[i]``; other weights are 0."""

    first: Integers
    count: Integers
    weights: npt.NDArray[np.float32]

    @property
    def most(self) -> int:
        """The most samples of a result."""
        return int(self.weights.shape[1])

    def needs(self, first: int, end: int) -> tuple[int, int]:
        """Returns the first and the end of the samples that some results need."""
        return int(self.first[first]), int(self.first[end - 1] + self.count[end - 1])

    def window(self, results: int) -> int:
        """Returns how many samples so many results need, at most, that begin at a multiple of their number."""
        begins = np.arange(0, len(self.first), results)
        ends = np.minimum(begins + results, len(self.first)) - 1
        return int((self.first[ends] + self.count[ends] - self.first[begins]).max())

    def part(self, first: int, end: int, sample: int) -> Weights:
        """Returns those of some results, for samples from one on."""
        at = slice(first, end)
        return Weights(self.first[at] - sample, self.count[at], self.weights[at])


@dataclass(frozen=True)
class BySample:
    """The weights as samples meet them: sample j counts for results ``ended[j]`` … ``begun[j]`` − 1, the k-th of which
    gives it ``weights[j, k]``; other weights are 0. ``ended`` and ``begun`` never decrease, and have an entry more.
    """

    ended: Integers
    begun: Integers
    weights: npt.NDArray[np.float32]

    @classmethod
    def of(cls, taps: Weights, size: int) -> BySample:
        """Those of an axis of ``size`` samples."""
        j, last = np.arange(size + 1), len(taps.first) - 1
        ended, begun = (np.searchsorted(at, j, "right") for at in (taps.first + taps.count, taps.first))
        results = ended[:-1, None] + np.arange(max(1, (begun - ended).max()))
        there = np.minimum(results, last)
        tap = np.clip(j[:-1, None] - taps.first[there], 0, taps.most - 1)
        return cls(
            ended, begun, np.where(results < begun[:-1, None], taps.weights[there, tap], np.float32(0))
        )

    @property
    def most(self) -> int:
        """The most results of a sample."""
        return int(self.weights.shape[1])


def lanczos3(x: Array) -> Array:
    """sinc(x) · sinc(x/3) (Duchon, "Lanczos filtering in one and two dimensions", J. Appl. Meteorology 18, 1979)."""
    return np.where(abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0)


def cubic(b: float, c: float) -> Callable[[Array], Array]:
    """The cubic of parameters B and C (Mitchell, Netravali, "Reconstruction filters in computer graphics", 1988)."""

    def kernel(x: Array) -> Array:
        x = abs(x)
        near = ((12 - 9 * b - 6 * c) * x + (12 * b + 6 * c - 18)) * x**2 + (6 - 2 * b)
        far = (((-b - 6 * c) * x + (6 * b + 30 * c)) * x + (-12 * b - 48 * c)) * x + (8 * b + 24 * c)
        return np.where(x < 1, near, np.where(x < 2, far, 0)) / 6

    return kernel


#: The kernels by name, and their radii.
KERNELS: dict[str, tuple[Callable[[Array], Array], int]] = {
    "lanczos3": (lanczos3, 3),
    "mitchell": (cubic(1 / 3, 1 / 3), 2),
    "catmull-rom": (cubic(0, 1 / 2), 2),
}
FILTERS = (*KERNELS, "area", "nearest")


@lru_cache(_KEPT)
def weights(axis: ResampledAxis, filter: str) -> Weights:
    """The weights of an axis by one of :data:`FILTERS`.

    ``area``: a result is the mean of the input over what it covers. ``nearest``: the sample that its centre is in.
    """
    unit = 2 * axis.den
    edges = axis.edges()
    # A result that is partly outside is made of what there is.
    centres = np.clip((edges[:-1] + edges[1:]) // 2, 0, axis.size * unit)
    edges = np.clip(edges, 0, axis.size * unit)
    if axis.stays or filter == "nearest":
        nearest = np.minimum(centres // unit, axis.size - 1)
        return Weights(nearest, np.ones_like(centres), np.ones((axis.result, 1), np.float32))
    if filter == "area":
        first, end = edges[:-1] // unit, -(-edges[1:] // unit)
    else:
        kernel, radius = KERNELS[filter]
        stretch = max(axis.num, axis.den)  # of the kernel, times den
        reach = 2 * stretch * radius
        first = np.maximum((centres - reach - axis.den) // unit + 1, 0)
        end = np.minimum(-(-(centres + reach - axis.den) // unit), axis.size)
    count = end - first
    j = first[:, None] + np.arange(count.max())
    if filter == "area":
        lower, upper = np.maximum(edges[:-1, None], j * unit), np.minimum(edges[1:, None], (j + 1) * unit)
        values = np.maximum(upper - lower, 0).astype(float)
    else:
        values = kernel(((2 * j + 1) * axis.den - centres[:, None]) / (2.0 * stretch))
        values[j >= end[:, None]] = 0
    return Weights(first, count, _rounded(values / values.sum(1, keepdims=True)))


def _rounded(exact: Array) -> npt.NDArray[np.float32]:
    """The weights in float32; each result's largest takes up the rounding error, so that their sum stays 1."""
    rounded = exact.astype(np.float32)
    largest = (np.arange(len(exact)), exact.argmax(1))
    rounded[largest] += (1 - rounded.sum(1, dtype=float)).astype(np.float32)
    return rounded


def reach(axis: ResampledAxis, filter: str) -> int:
    """How many samples away a sample has an effect, at most, counted in samples."""
    if axis.stays or filter == "nearest":
        return 0
    radius = max(axis.num, axis.den) * KERNELS[filter][1] if filter in KERNELS else axis.num / 2
    return ceil(radius / axis.den)
