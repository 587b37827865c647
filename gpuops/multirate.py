"""A Gaussian of large σ at about one read and one write: on a coarse grid, between two short Gaussians.

Along each axis: a Gaussian of SHORT coarse steps and decimation to steps of σ/LEAST or less; the Gaussian whose
variance is what is left; interpolation by the short Gaussian again. All three dampen aliases, of which less than 2e-5
of the response's peak is left.

Steps are real numbers, such that the coarse grid has the fine one's symmetry about the edges, and a border mode means
the same there. Where a border stands still (nearest, constant), the coarse image has MARGIN more samples at each end,
beyond which it stands still as well.
Source: multirate filtering as in Crochiere & Rabiner, Multirate Digital Signal Processing, 1983; decimation before a
recursive Gaussian in Deriche, "Recursively implementing the Gaussian and its derivatives", INRIA 1893, 1993.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, erf, exp, floor, pi, sqrt
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .image import Image

if TYPE_CHECKING:
    from .gpu import Gpu, Kernel

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


# Of a group: fine columns; coarse rows in local memory, and in all. On CPUs, of interpolation: columns, coarse rows.
_TILE, _ROWS, _BAND, _WIDE_TILE, _WIDE_LINES = 256, 16, 64, 128, 32


def gaussian(
    gpu: Gpu,
    image: Image,
    sigma: Two,
    border: str,
    cval: float,
    rest: Callable[[Image, Two], Image],
    into: Image | None = None,
) -> Image:
    """Gaussian blur of a planar float32 Image, of ``sigma`` (y, x) of which one at least has a coarse grid.

    ``rest`` blurs the coarse image by what is left. ``into``: the result's memory, which may be the input's.
    """
    y, x = (axis(n, s, border) for n, s in zip(image.shape[1:], sigma, strict=True))
    coarse = rest(_decimated(gpu, image, y, x, border, cval), (y.sigma, x.sigma))
    return _interpolated(gpu, coarse, image.like() if into is None else into, y, x, border)


def _decimated(gpu: Gpu, image: Image, y: Axis, x: Axis, border: str, cval: float) -> Image:
    planes, height, width = image.shape
    coarse = image.like((planes, y.coarse, x.coarse))

    def build(wide: bool) -> Kernel:
        more = {"WIDE": True} if wide else {"MOST": int(np.diff(y.starts).max())}
        return _kernel(gpu, "decimate", y, x, border, TILE=_TILE, BAND=_BAND, ROWS=_ROWS, **more)

    wide = gpu.limits.is_cpu
    kernel = build(wide)
    if not wide and kernel.fit(_TILE) != (_TILE,):
        wide, kernel = True, build(True)
    columns, items = _columns(x, _TILE), 1 if wide else _TILE
    gpu.launch(
        kernel, (-(-x.coarse // columns) * items, -(-y.coarse // _BAND), planes), image, coarse,
        *_tables(gpu, "down", y, x), height, width, y.low, x.low, y.coarse, x.coarse, columns, float(cval),
        local=(items, 1, 1), label="gaussian decimate", traffic=image.nbytes + coarse.nbytes,
    )  # fmt: skip
    return coarse


def _interpolated(gpu: Gpu, coarse: Image, result: Image, y: Axis, x: Axis, border: str) -> Image:
    planes, height, width = result.shape
    wide = gpu.limits.is_cpu
    tile, band = (_WIDE_TILE, _WIDE_LINES - y.taps + 1) if wide else (1, _BAND)
    kernel = _kernel(gpu, "interpolate", y, x, border, TILE=tile, BAND=band, WIDE=wide)
    size = -(-width // tile), -(-(y.coarse + y.taps - 1) // band), planes
    gpu.launch(
        kernel, size, coarse, result, *_tables(gpu, "up", y, x), height, width, y.low, y.coarse, x.coarse,
        local=(1, 1, 1) if wide else kernel.fit(_TILE, 1, 1), label="gaussian interpolate",
        traffic=coarse.nbytes + result.nbytes,
    )  # fmt: skip
    return result


def _kernel(gpu: Gpu, name: str, y: Axis, x: Axis, border: str, **defines: int) -> Kernel:
    defines |= {f"BORDER_{border.upper()}": True, "TAPS_Y": y.taps, "TAPS_X": x.taps}
    return gpu.kernel(("border", name), name, **defines)


@lru_cache(64)
def _columns(x: Axis, tile: int) -> int:
    """Coarse columns whose fine ones are never more than ``tile``."""
    for columns in range(min(tile, x.coarse), 1, -1):
        first = np.arange(0, x.coarse, columns)
        last = np.minimum(first + columns, x.coarse) - 1 + x.taps
        if (x.starts[last] - x.starts[first]).max() <= tile:
            return columns
    return 1


def _tables(gpu: Gpu, way: str, y: Axis, x: Axis) -> list[Image]:
    """Of ``down`` or ``up``, on the device."""

    def make() -> list[Image]:
        across = (x.starts, x.gathered()) if way == "down" else (x.bases[x.inside], x.up)
        return [gpu.array(table) for table in (y.starts, y.down if way == "down" else y.up, *across)]

    return gpu.kept((way, y, x), make)
