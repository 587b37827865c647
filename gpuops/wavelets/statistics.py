"""Statistics of bands, on the device: mean squares, and magnitudes of a given rank."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..gpu import Kernel, Local
from ..image import Image
from ..tiles.ends import Anywhere, end_of

Doubles = npt.NDArray[np.float64]

_GROUPS = 8  # groups of a compute unit
_ROUNDS = 1 << 15  # the most rounds of a work-item: llvmpipe ends longer loops
# The digits of a magnitude's 31 bits: the lowest bit, the number of bits.
_DIGITS = ((20, 11), (10, 10), (0, 10))
_BINS = 2048  # bins of a histogram, as in dwt_statistics.cl


def mean_squares(bands: Sequence[Anywhere]) -> Doubles:
    """Mean of the squares of each plane of each band, to 1e-11: (bands, planes).

    A mean is inf if squares are too large for float32.
    """
    # All sums are launched before the first is waited for.
    sums = [[_sums_of_squares(part) for _, part in end_of(band).parts()] for band in bands]
    with np.errstate(invalid="ignore"):
        totals = [
            sum(
                (pairs.numpy().astype(np.float64).sum(axis=(1, 2)) for pairs in parts),
                np.zeros(band.shape[0]),
            )
            for parts, band in zip(sums, bands, strict=True)
        ]
    means = np.array([total / max(1, _size(band)) for total, band in zip(totals, bands, strict=True)])
    return np.where(np.isfinite(means), means, np.inf)


def medians(band: Anywhere) -> Doubles:
    """The median of each plane's magnitudes, exact: for an even number the mean of the two in the middle.

    It is 0 for a band without coefficients.
    """
    size = _size(band)
    if size == 0:
        return np.zeros(band.shape[0])
    values, _, following = _ranked([band], band.shape[0], (size - 1) // 2, jointly=False)
    return values if size % 2 else (values + following) / 2


def largest(bands: Sequence[Anywhere], planes: int, count: int) -> tuple[float, int]:
    """The ``count``-th largest magnitude in the first ``planes`` planes of all bands, exact, and how many reach it.

    ``count`` is 1 … the number of coefficients.
    """
    total = sum(planes * _size(band) for band in bands)
    values, below, _ = _ranked(bands, planes, total - count, jointly=True)
    return float(values[0]), total - int(below[0])


def _ranked(
    bands: Sequence[Anywhere], planes: int, rank: int, *, jointly: bool
) -> tuple[Doubles, npt.NDArray[np.int64], Doubles]:
    """The magnitude of ``rank`` (from 0 on, upwards) in each plane of each band, or in all of them jointly; the number
    of smaller ones; and the magnitude of the next rank."""
    rows = len(bands) * planes
    sets = 1 if jointly else rows
    prefix, below = np.zeros(sets, np.uint32), np.zeros(sets, np.int64)
    for shift, bits in _DIGITS:
        counts, beyond = _count(bands, planes, np.broadcast_to(prefix, rows), shift, bits)
        if jointly:
            counts, beyond = counts.sum(axis=0, keepdims=True), beyond.min(keepdims=True)
        up_to = below[:, None] + counts.cumsum(axis=1)
        chosen = (up_to <= rank).sum(axis=1)
        below = np.take_along_axis(up_to - counts, chosen[:, None], 1)[:, 0]
        prefix = prefix << np.uint32(bits) | chosen.astype(np.uint32)
    # The last digit's counts tell whether the value occurs again, or which other value follows it.
    in_reach = up_to > rank + 1
    next_digit = in_reach.argmax(axis=1).astype(np.uint32)
    following = np.where(in_reach[:, -1], prefix - chosen.astype(np.uint32) + next_digit, beyond)
    values, after = (digits.astype(np.uint32).view(np.float32) for digits in (prefix, following))
    return values.astype(np.float64), below, after.astype(np.float64)


def _count(
    bands: Sequence[Anywhere], planes: int, prefixes: npt.NDArray[np.uint32], shift: int, bits: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint32]]:
    """Histograms of the digits of magnitudes that begin with a row's prefix, and the least magnitude beyond those."""
    gpu = bands[0].gpu
    histograms = gpu.zeros((len(prefixes), _BINS), np.uint32)
    beyond = gpu.array(np.full(len(prefixes), 0xFFFFFFFF, np.uint32))
    heads = gpu.array(prefixes)
    for index, part in (
        (index, part) for index, band in enumerate(bands) for _, part in end_of(band).parts()
    ):
        kernel, items, groups, stretch = _plan(part, "magnitudes")
        if part.nbytes:
            gpu.launch(
                kernel, (groups * items, planes), part, heads, histograms, beyond, index * planes, _size(part), stretch,
                shift, bits, local=(items, 1), label="dwt magnitudes", traffic=4 * planes * _size(part),
            )  # fmt: skip
    return histograms.numpy().astype(np.int64), beyond.numpy().astype(np.uint32)


def _sums_of_squares(band: Image) -> Image:
    """(planes, groups, 2): the sum of each group of work-items, and the rounding error that the sum lost."""
    if not band.nbytes:
        return band.gpu.zeros((band.shape[0], 1, 2))
    kernel, items, groups, stretch = _plan(band, "squares")
    sums = band.gpu.empty((band.shape[0], groups, 2))
    band.gpu.launch(
        kernel, (groups * items, band.shape[0]), band, sums, _size(band), stretch, Local(8 * items), local=(items, 1),
        label="dwt squares", traffic=band.nbytes,
    )  # fmt: skip
    return sums


def _plan(band: Image, name: str) -> tuple[Kernel, int, int, int]:
    """A kernel, the number of work-items of a group, of groups that share a plane, and of elements of each group."""
    limits = band.gpu.limits
    kernel = band.gpu.kernel(("lanes", "dwt_statistics"), name, WIDTH=limits.lanes, ALONE=limits.is_cpu)
    (items,) = (1,) if limits.is_cpu else kernel.fit(256)  # a CPU's core reads alone
    step = items * limits.lanes
    rounds = -(-_size(band) // (limits.compute_units * _GROUPS * step))
    stretch = max(1, min(rounds, _ROUNDS)) * step
    return kernel, items, -(-_size(band) // stretch), stretch


def _size(band: Anywhere) -> int:
    return math.prod(band.shape[1:])
