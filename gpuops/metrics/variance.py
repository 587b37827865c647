"""The variance of each value of a render, as a picture beside its reference: ``a.exr`` and ``a.exr.variance.exr``.

By it the Z-test of Monte Carlo renders says whether a picture differs from its reference by more than noise explains.
The reference may be the mean of a few runs, which have given the variance. The test is that of Mitsuba 3
(src/render/tests/test_renders.py), for the noise of a whole run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .. import files
from ..errors import FileError, ParameterError
from ..notes import note, values_were
from ..operands import Operand
from ..records import dataclass
from .pairs import operands, spans

if TYPE_CHECKING:
    from ..gpu import Gpu
    from .band import Band

#: What the name of a reference ends with that is the variance of another one.
SUFFIX = ".variance.exr"
# Header attributes: of how many runs it is the variance, and the digest of the reference that is the mean of them.
_RUNS, _OF = "varianceRuns", "varianceOf"
#: The probability that noise alone makes one pixel or more fail, if values are independent and normally distributed.
SIGNIFICANCE = 0.01
# Halvings of an interval, after which it is as small as float64 tells apart.
_HALVINGS = 64


@dataclass(frozen=True)
class Variance:
    """The variance of a single run, in the reference's channels; alpha is stored as straight alpha is.

    ``runs``: how many runs the reference is the mean of, None if its own noise counts as nothing. ``of``: the SHA-256
    of the reference's file, empty if it is not said.
    """

    picture: files.Picture
    runs: int | None = None
    of: str = ""


def is_variance(name: str) -> bool:
    """Says whether a reference's name is that of a variance."""
    return name.endswith(SUFFIX)


def read(path: str, layer: str | None = None) -> Variance:
    """Reads a variance. One without clpix's header attributes is known exactly, and so is its reference."""
    return of_picture(path, files.read(path, layer=layer))


def digest_in(path: str) -> str:
    """Returns the :attr:`Variance.of` of a file, without reading its pixels if they come by rows."""
    try:
        rows = files.open_rows(path, None, 0)
    except files.NeedsWholeFile:
        rows = None
    return of_picture(path, files.read(path) if rows is None else rows.picture).of


def of_picture(path: str, picture: files.Picture) -> Variance:
    """Returns the variance that a file's picture is, as :func:`read` does."""
    attributes = picture.metadata.attributes
    runs, of = (attributes.get(name, (None, None))[1] for name in (_RUNS, _OF))
    if runs is not None and not (isinstance(runs, int) and runs >= 2):
        raise FileError(f"{path}: its attribute {_RUNS} must be 2 or more, not {runs!r}")
    return Variance(picture, runs, of or "")


def write(path: str, variance: Variance) -> None:
    """Writes a variance, in place of an older one."""
    attributes: dict[str, Any] = {_OF: ("string", variance.of)}
    if variance.runs is not None:
        attributes[_RUNS] = ("int", variance.runs)
    metadata = files.Metadata(attributes=attributes)
    files.write(path, replace(variance.picture, metadata=metadata), overwrite=True)


def mean_and_variance(paths: Sequence[str]) -> tuple[files.Picture, Variance]:
    """Returns the mean of the pictures that several runs made, as float32, and the variance of a single run.

    The variance is that of a sample, with n − 1 below; its sums are Welford's (Technometrics 4, 1962), in float64.

    Raises ParameterError for pictures with layers, of integers, or of different shapes.
    """
    first = files.read(paths[0])
    if first.layers:
        raise ParameterError(f"{paths[0]}: has layers, and a mean is written of a picture without any")
    if first.pixels.dtype.kind != "f":
        raise ParameterError(
            f"{paths[0]}: holds {first.pixels.dtype.name}, which a mean of runs does not fit; let the case write .exr"
        )
    mean: npt.NDArray[np.float64] = np.zeros(first.pixels.shape)
    squares = np.zeros_like(mean)
    with np.errstate(invalid="ignore", over="ignore"):
        for count, path in enumerate(paths, 1):
            picture = first if count == 1 else files.read(path)
            kinds = [(one.pixels.shape, one.alpha, one.frame) for one in (picture, first)]
            if kinds[0] != kinds[1]:
                raise ParameterError(f"{path}: has another size, place or other channels than {paths[0]}")
            values = picture.pixels.astype(np.float64)
            step = values - mean
            mean += step / count
            squares += step * (values - mean)
        variance = (squares / (len(paths) - 1)).astype(np.float32)
        middle = replace(first, pixels=mean.astype(np.float32))
    if unlike := int((~np.isfinite(variance)).sum()):
        note(f"{paths[0]}: {values_were(unlike)} not finite in every run; no error passes there")
    spread = files.Picture(variance, alpha=first.alpha, linear=True, associated=True)
    return middle, Variance(spread, len(paths))


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


def beyond_noise(band: Band) -> int:
    """Returns how many pixels the reference's variance does not explain; all pixels are tested together."""
    reference, result = band.stored
    if band.pair.variance is None:
        raise ParameterError(
            f"a variance is needed beside the reference, NAME{SUFFIX}: clpix regress calibrate --variance writes it"
        )
    if not band.pair.scale.as_stored:
        raise ParameterError("a variance is of values as they are stored, and these are converted")
    if (variance := band.variance) is not None:
        values = variance.picture.pixels.transpose(2, 0, 1)
        planes = values[:-1] if variance.picture.alpha and not band.how.alpha else values
    if variance is None or planes.shape != reference.shape:
        raise ParameterError("the variance has another size or other channels than the reference")
    scale, pixels = band.pair.data_range, band.pair.pixels
    return z_test(band.gpu, reference, result, planes, runs=variance.runs, pixels=pixels, scale=scale)
