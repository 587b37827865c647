"""Reductions: the statistics of an image's luminance, or of each channel, in one reading pass."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .errors import ParameterError
from .gpu import Local
from .image import Image
from .operands import on_device
from .pixels import Decoding
from .pixelwise import Reading, reading

if TYPE_CHECKING:
    from .gpu import Gpu

REC709 = (0.2126, 0.7152, 0.0722)
REC601 = (0.299, 0.587, 0.114)
METHODS = ("auto", "tiles", "direct")

# The histogram of log2: BINS bins of 1/BINS_PER_STOP, the first from LOWEST_STOP on (as in reduce.cl). What lies
# below or above counts in the first or last bin.
BINS = 256
BINS_PER_STOP = 4
LOWEST_STOP = -32

_GROUPS = 6  # of a compute unit, as many as run at once
_VECTORS = 4  # FOUR in reduce.cl
_ON_HOST = 2048  # records that the host adds up: a launch takes longer

_RECORD = np.dtype(
    [
        ("exponents", np.int64),
        *((name, np.float32) for name in ("sum", "sum_low", "mantissas", "mantissas_low")),
        *((name, np.float32) for name in ("weights", "weights_low", "weighted", "weighted_low")),
        *((name, np.float32) for name in ("minimum", "maximum")),
        *((name, np.uint32) for name in ("finite", "positive", "nan", "infinite", "negative", "padding")),
    ]
)


@dataclass(frozen=True)
class Statistics:
    """What one reading pass tells of a set of values. NaN and infinities are counted and left out of all the rest.

    Attributes
    ----------
    count, finite, positive, negative, nan, infinite : int
        How many values there are, and of which kind; positive means 2⁻¹²⁶ or more (those have a logarithm).
    sum, log2_sum : float
        Of the finite values; of the positive ones' binary logarithms (so the product is 2**log2_sum).
    minimum, maximum : float
        Of the finite values; NaN where there are none.
    centre_log2 : float
        Mean binary logarithm weighted by a Gaussian about the image's centre whose σ is a quarter of the width and
        of the height; NaN unless it was asked for and there are positive values.
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
    histogram: npt.NDArray[np.uint32] = field(default_factory=lambda: np.zeros(0, np.uint32), compare=False)

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
        """The value below which ``percent`` % of the positive values lie, to the histogram's accuracy."""
        if not self.histogram.sum():
            return math.nan
        edges = np.arange(BINS + 1) / BINS_PER_STOP + LOWEST_STOP
        below = np.concatenate(([0], np.cumsum(self.histogram, dtype=np.float64)))
        return _exp2(float(np.interp(percent / 100 * below[-1], below, edges)))

    def trimmed_log_mean(self, low: float, high: float) -> float:
        """Geometric mean of the positive values between two percentiles, to the histogram's accuracy."""
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
    weights: tuple[float, float, float] = REC709,
    histogram: bool = True,
    centre: bool = False,
    method: str = "auto",
) -> Statistics:
    """Statistics of the luminance of a gray or RGB image; alpha has no part in it.

    The same bits on every run on a device; between devices sums agree to about 1e-7, the counts and the
    histogram's exactly where the luminance does.

    Parameters
    ----------
    image : Image or array ([planes,] height, width)
        One colour plane, or three that ``weights`` join: Rec. 709's by default.
    decoding
        ``image`` is pixels (height, width, channels) as a file has them, whose light is measured.
    histogram, centre
        Also count the histogram; also weigh for ``centre_mean``.
    method
        ``tiles``: tiles of 16 × 16 in local memory, then groups of 128 (the Direct3D sample's). ``direct``: long
        stretches in registers, then the same groups. ``auto``: direct.

    Raises
    ------
    ParameterError
        An image with neither one nor three colours, or an unknown method.
    """
    operand = on_device(gpu, image)
    ways = reading(gpu, operand, decoding, colours_only=True, lanes=1 if method == "tiles" else None)
    colours, channels = ways.defines["COLOURS"], operand.shape[2 if decoding else 0]
    assert isinstance(colours, int)
    check_colours(colours, channels, "luminance")
    size = operand.shape[:2] if decoding else operand.shape[1:]
    return _reduced(gpu, operand, ways, (size[0], size[1]), 0, weights, histogram, centre, method)


def channel_statistics(
    gpu: Gpu, image: Image | npt.ArrayLike, *, histogram: bool = True, method: str = "auto"
) -> tuple[Statistics, ...]:
    """Statistics of each plane by itself, alpha included. Otherwise as :func:`statistics`."""
    operand = on_device(gpu, image)
    planes, height, width = operand.shape
    first = Image(gpu, operand.buffer, (1, height, width), operand.dtype)
    ways = reading(gpu, first, None, lanes=1 if method == "tiles" else None)
    return tuple(
        _reduced(gpu, operand, ways, (height, width), plane, REC709, histogram, False, method)
        for plane in range(planes)
    )


def check_colours(colours: int, channels: int, what: str) -> None:
    """Raises ParameterError unless the image is gray or RGB, with or without alpha."""
    if colours not in (1, 3):
        raise ParameterError(
            f"{what} needs a gray or RGB image, with or without alpha, not one of {channels} channels"
        )


def _reduced(
    gpu: Gpu,
    image: Image,
    ways: Reading,
    shape: tuple[int, int],
    plane: int,
    weights: tuple[float, float, float],
    histogram: bool,
    centre: bool,
    method: str,
) -> Statistics:
    """Of the image's light, or of a plane of it."""
    if method not in METHODS:
        raise ParameterError(f"unknown method {method!r}: use one of {', '.join(METHODS)}")
    height, width = shape
    size = height * width
    bits = (size - 1).bit_length()
    bins = gpu.zeros((BINS,), np.uint32)
    tiled = method == "tiles"
    alone = ways.lanes > 1  # a CPU's core reads alone; elsewhere neighbours read neighbours
    kernel = gpu.kernel(
        (*ways.sources, "reduce"),
        "reduce_tiles" if tiled else "reduce_direct",
        ALONE=alone,
        HISTOGRAM=histogram,
        CENTRE=centre,
        **ways.defines,
    )
    if tiled:
        local = kernel.fit(16, 16)
        global_size: tuple[int, ...] = (width, height)
        groups = -(-width // local[0]) * -(-height // local[1])
        span = []
    else:
        local = (1,) if alone else kernel.fit(256)
        step = local[0] * _VECTORS * ways.lanes
        span = [max(1, -(-size // (gpu.limits.compute_units * _GROUPS * step))) * step]
        groups = -(-size // span[0])
        global_size = (groups * local[0],)
    partial = _records(gpu, groups)
    weight = (*(float(w) for w in weights), 0.0)
    gpu.launch(
        kernel, global_size, image, np.uint64(plane * size), partial, bins, width, height, *span, weight, 2.0**-bits,
        *ways.arguments, Local(math.prod(local) * _RECORD.itemsize), local=local,
        label=f"reduce {'tiles' if tiled else 'direct'}", traffic=ways.nbytes,
    )  # fmt: skip
    while groups > _ON_HOST:
        kernel = gpu.kernel((*ways.sources, "reduce"), "reduce_groups", **ways.defines)
        (items,) = kernel.fit(128)
        count, groups = groups, -(-groups // items)
        joined = _records(gpu, groups)
        gpu.launch(
            kernel, (count,), partial, joined, count, Local(items * _RECORD.itemsize), local=(items,),
            label="reduce groups", traffic=(count + groups) * _RECORD.itemsize,
        )  # fmt: skip
        partial = joined
    return _statistics(partial.numpy().view(_RECORD), size, bits, bins.numpy() if histogram else None)


def _records(gpu: Gpu, count: int) -> Image:
    return gpu.empty((count * _RECORD.itemsize,), np.uint8)


def _statistics(
    records: npt.NDArray[np.void], count: int, bits: int, histogram: npt.NDArray[np.generic] | None
) -> Statistics:
    def pair(name: str) -> float:
        return float((records[name].astype(np.float64) + records[f"{name}_low"]).sum())

    def total(name: str) -> int:
        return int(records[name].sum(dtype=np.int64))

    finite = total("finite")
    weights = pair("weights")
    return Statistics(
        count=count,
        finite=finite,
        positive=total("positive"),
        negative=total("negative"),
        nan=total("nan"),
        infinite=total("infinite"),
        sum=math.ldexp(pair("sum"), bits),
        log2_sum=total("exponents") + pair("mantissas"),
        minimum=float(records["minimum"].min()) if finite else math.nan,
        maximum=float(records["maximum"].max()) if finite else math.nan,
        centre_log2=pair("weighted") / weights if weights else math.nan,
        histogram=np.zeros(0, np.uint32) if histogram is None else histogram.astype(np.uint32),
    )
