"""What differs between two pictures, counted by idiff's rules in one reading: errors, bad pixels, the worst one.

OpenImageIO's ``idiff`` lets a pixel pass that is NaN or infinite in one picture only. Here it never does: it is bad for
every threshold. The figures tell the two apart, so that idiff's own verdict follows as well: see
:meth:`Counts.as_idiff`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError
from ..gpu import Gpu, Local
from ..image import Image
from ..operands import Operand
from .pairs import bytes_on_device, operands, spans, worst_of

#: The first column and row, and those after the last.
Rectangle = tuple[int, int, int, int]

#: Pairs of thresholds that are counted together, as in counts.cl.
MOST_THRESHOLDS = 4
# Numbers of a group's results, and their places, as in counts.cl.
_RESULTS, _WORST, _PLACE, _CHANNEL, _VALUES, _FINITE, _COUNTS = 32, 4, 5, 6, 7, 9, 10
# The least largest error for which float32 holds its square, and the squares of much smaller errors.
_LEAST_SQUARED = 2.0**-40


@dataclass(frozen=True)
class Threshold:
    """A value is bad if |a − b| > ``absolute`` and |a − b| / mean(|a|, |b|) > ``relative``."""

    absolute: float
    relative: float = 0.0

    def __post_init__(self) -> None:
        if not (self.absolute >= 0 and self.relative >= 0):
            raise ParameterError(f"thresholds must be 0 or more, not {self.absolute} and {self.relative}")


@dataclass(frozen=True)
class WorstValue:
    """The value with the largest error, the first in reading order of equal ones, in both pictures."""

    row: int
    column: int
    channel: int
    true: float
    test: float


@dataclass(frozen=True)
class Counts:
    """The figures of one pair of pictures, over the pixels that are compared.

    Attributes
    ----------
    pixels, values : int
        Those that were compared.
    differing : int
        Values that differ; NaN equals NaN.
    worst : WorstValue or None
        The largest |a − b|; None if nothing differs.
    bad : tuple of int
        For each threshold the number of pixels that are bad: by a finite value, or one that is not finite in one
        picture and another value in the other.
    finite_bad : tuple of int
        The same, by finite values alone.
    infinity_bad : tuple of int
        Pixels that are not bad by finite values, but have an infinity against a number.
    finite_max, finite_mean, finite_rms : float
        The largest and the mean |a − b|, and the root of the mean (a − b)², without the values that are not finite.
    max, mean, rms : float
        The same; infinite if ``infinite_values`` is not 0.
    infinite_pixels, infinite_values : int
        Pixels and values that are not finite in one picture and another value in the other.
    opposite_infinities : int
        Those of these values that are +∞ and −∞.
    """

    pixels: int
    values: int
    differing: int
    worst: WorstValue | None
    bad: tuple[int, ...]
    finite_bad: tuple[int, ...]
    infinity_bad: tuple[int, ...]
    finite_max: float
    finite_mean: float
    finite_rms: float
    infinite_pixels: int
    infinite_values: int
    opposite_infinities: int

    @classmethod
    def of_equal(cls, pixels: int, channels: int, thresholds: int) -> Counts:
        """Returns the figures of pixels that do not differ, for so many thresholds."""
        none = (0,) * thresholds
        return cls(pixels, pixels * channels, 0, None, none, none, none, 0.0, 0.0, 0.0, 0, 0, 0)

    @property
    def max(self) -> float:
        return math.inf if self.infinite_values else self.finite_max

    @property
    def mean(self) -> float:
        return math.inf if self.infinite_values else self.finite_mean

    @property
    def rms(self) -> float:
        return math.inf if self.infinite_values else self.finite_rms

    def __add__(self, other: Counts) -> Counts:
        """Returns the figures of both sets of pixels together. Of equal errors the first set's is the worst."""
        sets = self, other
        names = "pixels", "values", "differing", "infinite_pixels", "infinite_values", "opposite_infinities"
        sums = {name: getattr(self, name) + getattr(other, name) for name in names}
        bad: dict[str, Any] = {
            name: tuple(map(sum, zip(getattr(self, name), getattr(other, name), strict=True)))
            for name in ("bad", "finite_bad", "infinity_bad")
        }
        values = max(sums["values"], 1)
        return Counts(
            **sums,
            **bad,
            worst=other.worst if other.max > self.max else self.worst,
            finite_max=max(self.finite_max, other.finite_max),
            finite_mean=sum(of.finite_mean * of.values for of in sets) / values,
            finite_rms=math.sqrt(sum(of.finite_rms**2 * of.values for of in sets) / values),
        )

    def as_idiff(self) -> tuple[tuple[int, ...], float]:
        """Returns the numbers of bad pixels by the rule of idiff (OpenImageIO 3.2), and its largest error.

        idiff takes +∞ and −∞ for equal, and counts no NaN nor the first infinity. What it does with further ones
        depends on their order: here all others count, which is at most one pixel more. A single value that is not
        finite passes, as it does there, unless the largest error is limited.
        """
        unlike = self.infinite_values - self.opposite_infinities
        infinity = self.infinity_bad if unlike > 1 else (0,) * len(self.bad)
        bad = tuple(finite + more for finite, more in zip(self.finite_bad, infinity, strict=True))
        return bad, math.inf if unlike else self.finite_max


def counts(
    gpu: Gpu,
    image_true: Operand,
    image_test: Operand,
    thresholds: Sequence[Threshold] = (),
    *,
    mask: Operand | None = None,
    ignored: Sequence[Rectangle] = (),
    among: int | None = None,
) -> Counts:
    """Compares two pictures value by value; channels of a pixel count together where pixels are counted.

    Parameters
    ----------
    image_true, image_test : Image or array (channels, rows, columns)
        Values of any kind; every channel counts alike.
    thresholds : sequence of Threshold
        Up to four.
    mask : Image or array (rows, columns) of uint8 or bool, optional
        Pixels count where it is not 0.
    ignored : sequence of (left, top, right, bottom)
        Rectangles of pixels that do not count, without the column ``right`` and the row ``bottom``.
    among : int, optional
        The number of pixels that are compared altogether, if those beyond the given ones are known to be equal, or
        some given ones were made equal so that they do not count.

    Raises
    ------
    ParameterError
        Different shapes, too many thresholds, or a rectangle that is not inside the picture.
    """
    if len(thresholds) > MOST_THRESHOLDS:
        raise ParameterError(
            f"{MOST_THRESHOLDS} thresholds at most can be counted together, not {len(thresholds)}"
        )
    a, b = operands(gpu, image_true, image_test)
    shown = _mask(gpu, mask, ignored, a.shape[1:])
    bits = _partial(gpu, a, b, shown, thresholds, 1.0)
    sums = bits[:, _COUNTS:].sum(0, dtype=np.int64)
    largest, place = worst_of(bits, value=_WORST, place=_PLACE)
    finite_max = float(bits[:, _FINITE].view(np.float32).max())
    total, squares = _sums(bits)
    if finite_max > 0 and not (finite_max >= _LEAST_SQUARED and math.isfinite(squares)):
        # float32 does not hold the squares: errors are scaled, and read again.
        exponent = min(max(math.frexp(finite_max)[1], -126), 126) if math.isfinite(finite_max) else 126
        total, squares = _sums(_partial(gpu, a, b, shown, thresholds, 2.0**-exponent))
        total, squares = math.ldexp(total, exponent), math.ldexp(squares, 2 * exponent)
    pixels, differing, rest = int(sums[0]) if among is None else among, int(sums[1]), sums[14:17]
    bad, infinity, unlike = (sums[k : k + len(thresholds)] for k in (2, 6, 10))
    values = pixels * a.shape[0]
    worst = _worst(bits, largest, place, a.shape[2]) if largest > 0 else None
    mean, rms = total / max(values, 1), math.sqrt(squares / max(values, 1))
    bad, finite_bad, infinity_bad = (tuple(numbers.tolist()) for numbers in (bad + infinity, bad, unlike))
    return Counts(
        pixels, values, differing, worst, bad, finite_bad, infinity_bad, finite_max, mean, rms, *rest.tolist()
    )


def _partial(
    gpu: Gpu, a: Image, b: Image, mask: Image | None, thresholds: Sequence[Threshold], scale: float
) -> npt.NDArray[Any]:
    """Returns the results of all groups."""
    channels, height, width = a.shape
    lanes = gpu.limits.lanes
    kernel = gpu.kernel(
        ("lanes", "sums", "worst", "counts"), "count_differences", WIDTH=lanes, CHANNELS=channels,
        MASK=mask is not None, FINITE=lanes > 1,
    )  # fmt: skip
    items, groups, span = spans(kernel, height * width, lanes)
    rest = MOST_THRESHOLDS - len(thresholds)
    absolute = np.array([t.absolute for t in thresholds] + [math.inf] * rest, np.float32)
    relative = np.array([t.relative for t in thresholds] + [0.0] * rest, np.float32)
    partial = gpu.empty((groups, _RESULTS), np.uint32)
    gpu.launch(
        kernel, (groups * items,), a, b, mask, partial, np.uint32(height * width), np.uint32(span), scale, absolute,
        relative, Local(8 * items), Local(4 * items), Local(4 * items), local=(items,), label="counts",
        traffic=a.nbytes + b.nbytes + (mask.nbytes if mask else 0),
    )  # fmt: skip
    return partial.numpy()


def _sums(bits: npt.NDArray[Any]) -> tuple[float, float]:
    """Returns the sum of errors and that of their squares; infinite where they overflow."""
    sums = bits[:, :4].view(np.float32).astype(np.float64)
    total, squares = (float(sums[:, k : k + 2].sum()) for k in (0, 2))
    return total if math.isfinite(total) else math.inf, squares if math.isfinite(squares) else math.inf


def _worst(bits: npt.NDArray[Any], largest: float, place: int, width: int) -> WorstValue:
    """Returns the worst value, as the group that found it wrote it down."""
    of = bits[(bits[:, _WORST].view(np.float32) == largest) & (bits[:, _PLACE] == place)][0]
    true, test = (float(v) for v in of[_VALUES : _VALUES + 2].view(np.float32))
    return WorstValue(place // width, place % width, int(of[_CHANNEL]), true, test)


def _mask(
    gpu: Gpu, mask: Operand | None, ignored: Sequence[Rectangle], shape: tuple[int, ...]
) -> Image | None:
    """Returns the pixels that count, an Image (rows, columns) of uint8; None if all do."""
    if mask is None and not ignored:
        return None
    image = None if mask is None else bytes_on_device(gpu, mask, f"a mask {shape}", shape)
    if not ignored:
        return image
    host = np.ones(shape, np.uint8) if image is None else image.numpy()
    height, width = shape
    for rectangle in ignored:
        left, top, right, bottom = rectangle
        if not (0 <= left < right <= width and 0 <= top < bottom <= height):
            raise ParameterError(f"the rectangle {rectangle} is not inside {width}×{height} pixels")
        host[top:bottom, left:right] = 0
    return gpu.array(host)
