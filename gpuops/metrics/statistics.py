"""Reductions: the statistics of an image's luminance, of each channel, or of all of these, in one reading pass."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError
from ..image import Image
from ..operands import on_device
from ..pixels import coding as pixels
from ..pixels.coding import Decoding
from ..pixels.pointwise import Stage
from ..pixels.primaries import REC709_LUMINANCE
from .reduction import BINS, BINS_PER_STOP, LOWEST_STOP, Reduction, ReductionOptions, prepared

if TYPE_CHECKING:
    from ..gpu import Gpu

METHODS = ("auto", "tiles", "direct")


# Channels that one reading can measure, at most.
_CHANNELS = 4


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

    def percentile(self, percent: float) -> float:
        """Returns the value below which ``percent`` % of the positive values lie, to the histogram's accuracy and
        within the extremes; NaN where there are no positive values."""
        if not self.histogram.sum():
            return math.nan
        edges = np.arange(BINS + 1) / BINS_PER_STOP + LOWEST_STOP
        below = np.concatenate(([0], np.cumsum(self.histogram, dtype=np.float64)))
        value = _exp2(float(np.interp(percent / 100 * below[-1], below, edges)))
        # A minimum that is not positive says nothing about the positive values.
        return min(max(value, self.minimum), self.maximum)

    def trimmed_log_mean(self, low: float, high: float) -> float:
        """Returns the geometric mean of the positive values between two percentiles, to the histogram's accuracy."""
        total = float(self.histogram.sum())
        if not total:
            return math.nan
        below = np.concatenate(([0], np.cumsum(self.histogram, dtype=np.float64)))
        inside = np.diff(np.clip(below, low / 100 * total, high / 100 * total))
        centres = (np.arange(BINS) + 0.5) / BINS_PER_STOP + LOWEST_STOP
        return _exp2(float(inside @ centres / inside.sum()))


def _exp2(v: float) -> float:
    return float(2.0**v)


def statistics(
    gpu: Gpu,
    image: Image | npt.ArrayLike,
    *,
    decoding: Decoding | None = None,
    stages: Sequence[Stage] = (),
    weights: tuple[float, float, float] = REC709_LUMINANCE,
    histogram: bool = True,
    centre: bool = False,
    method: str = "auto",
) -> Statistics:
    """Returns statistics of the luminance of a gray or RGB image; alpha has no part in it.

    On one device every run gives the same bits. Between devices sums agree to about 1e-7; counts and the histogram
    agree exactly where the luminance does.

    Parameters
    ----------
    image : Image or array ([planes,] height, width)
        One colour plane, or three that ``weights`` join: Rec. 709's by default.
    decoding
        ``image`` is pixels (height, width, channels) as a file has them, whose light is measured.
    stages
        What light goes through before it is measured.
    histogram, centre
        Also count the histogram; also weigh for ``centre_mean``, about the centre of the whole picture if the Image is
        a part of one.
    method
        ``tiles``: tiles of 16 × 16 in local memory, then groups of 128 of their values until one is left (the
        Direct3D sample's method). ``direct``: long stretches in registers; the host adds up their values, some for
        each compute unit. ``auto``: direct.

    Raises
    ------
    ParameterError
        An image with neither one nor three colours or of more than 2³¹ − 1 pixels, or an unknown method.
    """
    _check_method(method)
    operand = _operand(gpu, image, decoding)
    how = ReductionOptions((*weights,), histogram, centre, tiled=method == "tiles", stages=(*stages,))
    return _found(prepared(gpu, operand, decoding, how), operand)[0]


def statistics_and_mip(
    gpu: Gpu,
    image: Image | npt.ArrayLike,
    *,
    decoding: Decoding | None = None,
    weights: tuple[float, float, float] = REC709_LUMINANCE,
    histogram: bool = True,
    centre: bool = False,
) -> tuple[Statistics, Image]:
    """Returns :func:`statistics`, and from the same reading the first level of a mip chain.

    That level is a planar float32 Image (colours, ⌈height / 2⌉, ⌈width / 2⌉): the means of 2 × 2 pixels' colours. At
    the end of an odd size they are means of the two pixels, or the one, that exist. NaN and infinities spread as in
    any sum.
    """
    operand = _operand(gpu, image, decoding)
    reduction = prepared(gpu, operand, decoding, ReductionOptions((*weights,), histogram, centre, mip=True))
    height, width = reduction.shape
    mip = gpu.empty((reduction.colours, (height + 1) // 2, (width + 1) // 2))
    mip.linear = operand.linear if decoding is None else decoding.linearise  # as pixels.unpack has it
    return _found(reduction, operand, mip=mip)[0], mip


def all_statistics(
    gpu: Gpu,
    image: Image | npt.ArrayLike,
    *,
    decoding: Decoding | None = None,
    stages: Sequence[Stage] = (),
    weights: tuple[float, float, float] = REC709_LUMINANCE,
    histogram: bool = True,
) -> tuple[Statistics | None, tuple[Statistics, ...]]:
    """Returns statistics of luminance and of each channel, alpha included; up to four channels are read only once.

    Luminance is None for an image with neither one nor three colours; for gray it is that of its channel. The rest is
    as for :func:`statistics`.
    """
    operand = _operand(gpu, image, decoding)
    if decoding is not None and operand.shape[2] > _CHANNELS:
        operand, decoding = pixels.unpack(operand, decoding), None
    if decoding is None and operand.shape[0] > _CHANNELS:
        return None, channel_statistics(gpu, operand, histogram=histogram)
    reduction = prepared(
        gpu, operand, decoding, ReductionOptions((*weights,), histogram, every=True, stages=(*stages,))
    )
    found, channels, colours = _found(reduction, operand), reduction.channels, reduction.colours
    luminance = found[-1] if colours == 3 else found[0] if colours == 1 else None
    return luminance, found[:channels]


def channel_statistics(
    gpu: Gpu, image: Image | npt.ArrayLike, *, histogram: bool = True, method: str = "auto"
) -> tuple[Statistics, ...]:
    """Returns statistics of each plane by itself, alpha included. The rest is as for :func:`statistics`."""
    _check_method(method)
    operand = on_device(gpu, image)
    planes, height, width = operand.shape
    first = Image(gpu, operand.buffer, (1, height, width), operand.dtype)
    reduction = prepared(
        gpu, first, None, ReductionOptions(histogram=histogram, every=True, tiled=method == "tiles")
    )
    return tuple(_found(reduction, operand, plane=plane)[0] for plane in range(planes))


def _check_method(method: str) -> None:
    if method not in METHODS:
        raise ParameterError(f"unknown method {method!r}: use one of {', '.join(METHODS)}")


def _operand(gpu: Gpu, image: Image | npt.ArrayLike, decoding: Decoding | None) -> Image:
    """Returns planes, or with ``decoding`` pixels, on the device."""
    if decoding is None:
        return on_device(gpu, image)
    if isinstance(image, Image):
        gpu.check_own(image)
        return image
    return pixels.on_device(gpu, np.asarray(image))


def _found(
    reduction: Reduction, image: Image, *, plane: int = 0, mip: Image | None = None
) -> tuple[Statistics, ...]:
    """Returns the statistics of each set of values that a reading pass measures; ``plane`` and ``mip`` as there."""
    return tuple(
        Statistics(
            count=reduction.size,
            finite=sums.finite,
            positive=sums.positive,
            negative=sums.negative,
            nan=sums.nan,
            infinite=sums.infinite,
            sum=sums.total,
            log2_sum=sums.log2,
            minimum=sums.minimum if sums.finite else math.nan,
            maximum=sums.maximum if sums.finite else math.nan,
            centre_log2=sums.weighted / sums.weights if sums.weights else math.nan,
            centre_weight=sums.weights,
            histogram=sums.histogram,
        )
        for sums in reduction(image, plane=plane, mip=mip)
    )
