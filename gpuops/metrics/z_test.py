"""The Z-test of Monte Carlo renders: whether a picture differs from its reference by more than noise explains.

Each value has a variance of its own, and the reference may be the mean of a few runs, which have given it. The test is
that of Mitsuba 3 (src/render/tests/test_renders.py), for the noise of a whole run.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ParameterError
from ..operands import Operand
from .pairs import operands
from .spans import spans

if TYPE_CHECKING:
    from ..gpu import Gpu

#: The probability that noise alone makes one pixel or more fail, if values are independent and normally distributed.
SIGNIFICANCE = 0.01
# Halvings of an interval, after which it is as small as float64 tells apart.
_HALVINGS = 64


def z_test(
    gpu: Gpu,
    image_true: Operand,
    image_test: Operand,
    variance: Operand,
    *,
    runs: int | None = None,
    pixels: int | None = None,
    scale: float = 1.0,
) -> int:
    """Counts the pixels that differ from the reference by more than their noise explains, in any channel.

    Parameters
    ----------
    image_true, image_test, variance : Image or array (channels, rows, columns)
        The reference, the picture, and the variance of each value of a picture. Where it is 0, or no number, only equal
        values pass.
    runs : int, optional
        How many runs the reference is the mean of, and the variance that of. None: both are known exactly.
    pixels : int, optional
        How many tests are made together; all pixels if it is not given.
    scale : float
        The unit of the variance's root: 255 for levels of 8 bits and a variance of values of 0 … 1.

    Raises
    ------
    ParameterError
        Different shapes, or fewer than two runs.

    Notes
    -----
    NaN equals NaN, and an infinity itself. Any other error that is not finite fails.
    """
    a, b = operands(gpu, image_true, image_test)
    _, noise = operands(gpu, a, variance)
    channels, height, width = a.shape
    limit = critical(height * width if pixels is None else pixels, runs) * scale
    lanes = gpu.limits.lanes
    kernel = gpu.kernel(("lanes", "z_test"), "z_test", WIDTH=lanes, CHANNELS=channels)
    items, groups, span = spans(kernel, height * width, lanes)
    partial = gpu.empty((groups,), np.uint32)
    gpu.launch(
        kernel, (groups * items,), a, b, noise, partial, np.uint32(height * width), np.uint32(span), limit,
        local=(items,), traffic=3 * a.nbytes,
    )  # fmt: skip
    return int(partial.numpy().sum(dtype=np.int64))


def critical(tests: int, runs: int | None = None, significance: float = SIGNIFICANCE) -> float:
    """Returns how many standard deviations a value may be from the reference in one of so many tests.

    The significance of one test is α = 1 − (1 − significance)^(1/tests), after Šidák. With known variance the bound is
    the normal distribution's for α, on both sides. If reference and variance come from n runs, it is Student's with
    n − 1 degrees of freedom, times √(1 + 1/n): the mean has a variance of 1/n itself.
    """
    alpha = -math.expm1(math.log1p(-significance) / tests)
    if runs is None:
        return -NormalDist().inv_cdf(alpha / 2)
    if runs < 2:
        raise ParameterError(f"a variance needs two runs or more, not {runs}")
    return _student(alpha, runs - 1) * math.sqrt(1 + 1 / runs)


def _student(alpha: float, freedom: int) -> float:
    """Returns the t that Student's distribution exceeds in magnitude with probability ``alpha``.

    The angle of t/√freedom is halved in, by the sums of Abramowitz and Stegun, 26.7.3 and 26.7.4.
    """
    low, high = 0.0, math.pi / 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if 1 - _within(middle, freedom) > alpha else (low, middle)
    return math.tan(low) * math.sqrt(freedom)


def _within(angle: float, freedom: int) -> float:
    """Returns the probability that |t| is at most √freedom · tan(angle)."""
    odd = freedom % 2
    term = math.cos(angle) if odd else 1.0
    total = 0.0
    for k in range(odd + 1, freedom, 2):
        total += term
        term *= k / (k + 1) * math.cos(angle) ** 2
    return 2 / math.pi * (angle + math.sin(angle) * total) if odd else math.sin(angle) * total
