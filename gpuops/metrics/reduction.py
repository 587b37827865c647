"""Reductions: a reading pass over an image that leaves a few sums of its values, and their joining on the host."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..enqueue import set_argument
from ..errors import ParameterError
from ..gpu import LATER, BoundLaunch, Gpu, Local
from ..image import Image
from ..operands import check_colours
from ..pixels.coding import Decoding
from ..pixels.pointwise import Stage, reading
from ..pixels.primaries import REC709_LUMINANCE
from ..tiles.memory import MOST_PIXELS

# The histogram of log2: BINS bins of 1/BINS_PER_STOP, the first from LOWEST_STOP on (as in reduce.cl). What lies
# below or above counts in the first or last bin.
BINS = 256
BINS_PER_STOP = 4
LOWEST_STOP = -32
# The ends of the bins.
_EDGES = np.arange(BINS + 1) / BINS_PER_STOP + LOWEST_STOP

# Groups of a compute unit: as many as run at once; if a few were left over, all would wait for them, which takes a
# fifth more time on an H200. There registers suffice for 5 to 8 groups, with a mip for 4 (taken nearly four times
# over), and for 3 or 2 where all channels are measured at once.
_GROUPS, _GROUPS_OF_MIP, _GROUPS_OF_ALL = 5, 15, 6
# Rounds of a work-item, at most: its sums then fit into integers of 32 bits, and llvmpipe ends longer loops.
_ROUNDS = 1 << 15
# Values that a work-item reads at once: FOUR in reduce.cl.
_VECTORS = 4
# The place of the argument `whole` of the kernels.
_WHOLE = 6
# Records that one group joins into one.
_JOINED = 128
# Records of "direct" that the host adds up, at most: a launch would take longer.
_ON_HOST = 2048

_RECORD = np.dtype(
    [
        ("exponents", np.int64),
        *((name, np.float32) for name in ("sum", "sum_low", "mantissas", "mantissas_low")),
        *((name, np.float32) for name in ("weights", "weights_low", "weighted", "weighted_low")),
        *((name, np.float32) for name in ("minimum", "maximum")),
        *((name, np.uint32) for name in ("finite", "positive", "nan", "infinite", "negative", "padding")),
    ]
)
# The sums among a record's words of 32 bits, and the counts.
_FLOATS, _COUNTS = slice(2, 10), slice(12, 17)


@dataclass(frozen=True)
class Statistics:
    """Statistics of a set of values, from one reading pass. NaN and infinities are counted, and count nowhere else.

    Attributes
    ----------
    count, finite, positive, negative, nan, infinite : int
        How many values there are, and of which kind; positive means 2⁻¹²⁶ or more (those have a logarithm).
    sum, log2_sum : float
        The sum of the finite values (those below 2⁻¹²⁶ times their number lose digits, so that no sum overflows), and
        that of the positive values' binary logarithms (so the product is 2**log2_sum).
    minimum, maximum : float
        The extremes of the finite values; NaN where there are none.
    centre_log2 : float
        Mean binary logarithm weighted by a Gaussian about the image's centre whose σ is a quarter of the width and
        of the height; NaN unless it was asked for and there are positive values.
    centre_weight : float
        The sum of those weights.
    histogram : uint32 array
        Positive values in quarters of a stop: bin i counts 2**((i − 128)/4) ≤ v < 2**((i − 127)/4).
    """

    count: int
    finite: int
    positive: int
    negative: int
    nan: int
    infinite: int
    sum: float
    log2_sum: float
    minimum: float
    maximum: float
    centre_log2: float = math.nan
    centre_weight: float = field(default=0.0, compare=False)
    histogram: npt.NDArray[np.integer[Any]] = field(
        default_factory=lambda: np.zeros(0, np.uint32), compare=False
    )

    def __add__(self, other: Statistics) -> Statistics:
        """Returns the statistics of both sets of values together; the weights are those of one image's parts."""
        weight = self.centre_weight + other.centre_weight
        weighted = sum(one.centre_log2 * one.centre_weight for one in (self, other) if one.centre_weight)
        names = ("count", "finite", "positive", "negative", "nan", "infinite", "sum", "log2_sum")
        sums = {name: getattr(self, name) + getattr(other, name) for name in names}
        return Statistics(
            **sums,
            minimum=float(np.fmin(self.minimum, other.minimum)),
            maximum=float(np.fmax(self.maximum, other.maximum)),
            centre_log2=weighted / weight if weight else math.nan,
            centre_weight=weight,
            histogram=np.add(self.histogram, other.histogram, dtype=np.uint64),
        )

    @property
    def mean(self) -> float:
        """Arithmetic mean of the finite values (NaN where there are none)."""
        return self.sum / self.finite if self.finite else math.nan

    @property
    def log_mean(self) -> float:
        """Geometric mean of the positive values (NaN where there are none)."""
        return _exp2(self.log2_sum / self.positive) if self.positive else math.nan

    @property
    def centre_mean(self) -> float:
        """Centre-weighted geometric mean of the positive values (NaN where there are none, or not asked for)."""
        return _exp2(self.centre_log2)

    @cached_property
    def _below(self) -> npt.NDArray[np.float64]:
        """How many values lie below each bin, and below the end of the last one."""
        return np.concatenate(([0], np.cumsum(self.histogram, dtype=np.float64)))

    def percentile(self, percent: float) -> float:
        """Returns the value below which ``percent`` % of the positive values lie, to the histogram's accuracy and
        within the extremes; NaN where there are no positive values."""
        below = self._below
        if not below[-1]:
            return math.nan
        value = _exp2(float(np.interp(percent / 100 * below[-1], below, _EDGES)))
        # A minimum that is not positive says nothing about the positive values.
        return min(max(value, self.minimum), self.maximum)

    def trimmed_log_mean(self, low: float, high: float) -> float:
        """Returns the geometric mean of the positive values between two percentiles, to the histogram's accuracy."""
        below = self._below
        if not below[-1]:
            return math.nan
        inside = np.diff(np.clip(below, low / 100 * below[-1], high / 100 * below[-1]))
        centres = (np.arange(BINS) + 0.5) / BINS_PER_STOP + LOWEST_STOP
        return _exp2(float(inside @ centres / inside.sum()))


def _exp2(v: float) -> float:
    return float(2.0**v)


class ReductionOptions(NamedTuple):
    """The options of a reading pass. ``every``: of each channel, and of luminance beside them if there are colours;
    ``mip``: the pass also makes the first level of a mip chain; ``tiled``: it goes by tiles; ``stages``: what light
    goes through first."""

    weights: tuple[float, float, float] = REC709_LUMINANCE
    histogram: bool = True
    centre: bool = False
    every: bool = False
    mip: bool = False
    tiled: bool = False
    stages: tuple[Stage, ...] = ()


def prepared(gpu: Gpu, like: Image, decoding: Decoding | None, how: ReductionOptions) -> Reduction:
    """The prepared pass for Images like this one, which is kept."""
    key = ("reduction", like.shape, like.dtype, like.alpha, decoding, how)
    return gpu.kept(key, lambda: Reduction(gpu, like, decoding, how))


class Reduction:
    """A reading pass over Images of one shape, prepared: a call takes a few microseconds until the device begins."""

    def __init__(self, gpu: Gpu, like: Image, decoding: Decoding | None, how: ReductionOptions) -> None:
        lanes = 1 if how.tiled else None
        ways = reading(
            gpu, like, decoding, stages=how.stages, colours_only=not how.every, lanes=lanes, rows=how.mip
        )
        channels, colours = ways.channels, ways.colours
        if not how.every:
            check_colours(colours, like.shape[2 if decoding else 0], "luminance")
        height, width = self.shape = like.shape[:2] if decoding else like.shape[1:]
        self.size = height * width
        if self.size > MOST_PIXELS:
            raise ParameterError(f"statistics are of {MOST_PIXELS} pixels at most, not of {width} × {height}")
        self.gpu, self.channels, self.colours = gpu, channels, colours
        self._centre = how.centre
        self._histogram, self._bits = how.histogram, (self.size - 1).bit_length()
        # Of 8 bits channels' codes are counted beside luminance: by their values the host has the rest.
        counts_codes = (
            how.every and how.histogram and colours == 3 and decoding is not None and not how.stages
        )
        values = decoding.of_codes(like) if decoding is not None and counts_codes else None
        self._codes = () if values is None else tuple(map(_Codes.of, values))
        self._sets = channels + (colours == 3) if how.every and not self._codes else 1
        # A CPU's work-item reads a stretch alone; elsewhere neighbours read neighbours.
        alone = ways.lanes > 1
        name = "tiles" if how.tiled else "mip" if how.mip else "direct"
        sources = (*ways.sources, "reduce", *(("reduce_mip",) if how.mip else ()))
        kernel = gpu.kernel(
            sources, f"reduce_{name}", ALL=self._sets > 1, ALONE=alone, HISTOGRAM=how.histogram, CENTRE=how.centre,
            CODES=bool(self._codes), **ways.defines,
        )  # fmt: skip
        at_once = _VECTORS * ways.lanes
        span: list[int] = []
        if how.tiled:
            local = kernel.fit(16, 16)
            global_size: tuple[int, ...] = (width, height)
            groups = -(-width // local[0]) * -(-height // local[1])
        else:
            local = (1,) if alone else kernel.fit(256)
            if how.mip:  # cells of two rows
                cells = -(-width // at_once) * -(-height // 2)
                groups, stretch = _stretches(gpu, cells, local[0], _GROUPS_OF_MIP)
            else:
                most = _GROUPS if self._sets == 1 else _GROUPS_OF_ALL
                groups, stretch = _stretches(gpu, self.size, local[0] * at_once, most)
            span = [stretch]
            global_size = (groups * local[0],)
        self._groups = groups
        weight = (*(float(w) for w in how.weights), 0.0)
        mip_bytes = 4 * colours * -(-height // 2) * -(-width // 2) if how.mip else 0
        second = LATER if how.mip else np.uint64(0)  # the mip level, or the first element
        self._step = gpu.bind(
            kernel, global_size, LATER, second, LATER, LATER, width, height, (0, height), *span, weight,
            2.0**-self._bits, *ways.arguments, Local(math.prod(local) * _RECORD.itemsize), local=local,
            label=f"reduce {name}", traffic=ways.nbytes + mip_bytes,
        )  # fmt: skip
        # Launches that join records, and how many there are then.
        self._joins: list[tuple[BoundLaunch, int]] = []
        while groups > (1 if how.tiled else _ON_HOST):
            kernel = gpu.kernel((*ways.sources, "reduce"), "reduce_groups", **ways.defines)
            (items,) = kernel.fit(_JOINED)
            count, groups = groups, -(-groups // _JOINED)
            join = gpu.bind(
                kernel, (groups * items, self._sets), LATER, LATER, count, _JOINED, Local(items * _RECORD.itemsize),
                local=(items, 1), label="reduce groups", traffic=self._sets * (count + groups) * _RECORD.itemsize,
            )  # fmt: skip
            self._joins.append((join, groups))

    def __call__(self, image: Image, *, plane: int = 0, mip: Image | None = None) -> tuple[Statistics, ...]:
        """Returns the statistics of each set of values, of one plane where the pass is of one; also fills ``mip``."""
        gpu, sets, groups = self.gpu, self._sets, self._groups
        bins = gpu.zeros((sets + len(self._codes), BINS), np.uint32)
        partial = _records(gpu, sets * groups)
        if mip is not None:
            self._step(image, mip, partial, bins)
        else:
            with gpu.lock:  # all threads share the kernel's arguments
                set_argument(self._step.kernel, 1, np.uint64(plane * self.size))
                if self._centre:
                    set_argument(self._step.kernel, _WHOLE, image.part or (0, self.shape[0]))
                self._step(image, partial, bins)
        for join, groups in self._joins:
            joined = _records(gpu, sets * groups)
            join(partial, joined)
            partial = joined
        records, counts = np.empty((sets, groups), _RECORD), np.empty(bins.shape, np.uint32)
        gpu.read((partial, bins), (records, counts))
        results = (
            self._statistics(of, of_bins if self._histogram else counts[0, :0])
            for of, of_bins in zip(records, counts[:sets], strict=True)
        )
        return (*map(_Codes.statistics, self._codes, counts[sets:]), *results)

    def _statistics(self, records: npt.NDArray[np.void], histogram: npt.NDArray[np.uint32]) -> Statistics:
        # Sums of all records' fields at once: each by itself would take ten times as long as all of them.
        words = records.view(np.uint32).reshape(len(records), -1)
        floats = np.add.reduce(words.view(np.float32)[:, _FLOATS], 0, np.float64).tolist()
        counts = np.add.reduce(words[:, _COUNTS], 0, np.int64).tolist()
        total, mantissas, weights, weighted = (a + b for a, b in zip(floats[::2], floats[1::2], strict=True))
        numbers = dict(zip(("finite", "positive", "nan", "infinite", "negative"), counts, strict=True))
        finite = numbers["finite"]
        return Statistics(
            **numbers,
            count=self.size,
            sum=math.ldexp(total, self._bits),
            log2_sum=int(np.add.reduce(records["exponents"])) + mantissas,
            minimum=float(records["minimum"].min()) if finite else math.nan,
            maximum=float(records["maximum"].max()) if finite else math.nan,
            centre_log2=weighted / weights if weights else math.nan,
            centre_weight=weights,
            histogram=histogram,
        )


class _Codes(NamedTuple):
    """The values of codes, all finite and 0 or more; their binary logarithms, 0 for what is not positive; and their
    bins, BINS for that."""

    values: npt.NDArray[np.float64]
    logs: npt.NDArray[np.float64]
    bins: npt.NDArray[np.int64]

    @classmethod
    def of(cls, values: npt.NDArray[np.float32]) -> _Codes:
        exact = values.astype(np.float64)
        positive = values >= np.finfo(np.float32).tiny
        logs = np.log2(exact, where=positive, out=np.zeros_like(exact))
        bins = np.floor(logs * BINS_PER_STOP).astype(np.int64) - BINS_PER_STOP * LOWEST_STOP
        return cls(exact, logs, np.where(positive, bins.clip(0, BINS - 1), BINS))

    def statistics(self, counts: npt.NDArray[np.uint32]) -> Statistics:
        """Returns the statistics of codes that occur so often."""
        there = self.values[np.flatnonzero(counts)]
        histogram = np.bincount(self.bins, counts, BINS + 1)[:BINS].astype(np.uint32)
        count, positive = (int(numbers.sum(dtype=np.int64)) for numbers in (counts, histogram))
        return Statistics(
            count, count, positive, 0, 0, 0, float(self.values @ counts), float(self.logs @ counts),
            float(there.min()), float(there.max()), histogram=histogram,
        )  # fmt: skip


def _stretches(gpu: Gpu, count: int, step: int, groups: int) -> tuple[int, int]:
    """Returns how many groups share ``count`` elements, and how many elements each gets: a multiple of ``step``.

    ``groups`` is the number of groups of a compute unit to aim at.
    """
    rounds = -(-count // (gpu.limits.compute_units * groups * step))
    stretch = min(rounds, _ROUNDS) * step
    return -(-count // stretch), stretch


def _records(gpu: Gpu, count: int) -> Image:
    return gpu.empty((count * _RECORD.itemsize,), np.uint8)
