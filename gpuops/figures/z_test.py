"""The percentage of pixels that the noise of a Monte Carlo render explains."""

from __future__ import annotations

from ..errors import ParameterError
from ..figure import Band, Figure, Pair, count


def _beyond_noise(band: Band) -> int:
    """Returns how many pixels the reference's variance does not explain; all pixels are tested together."""
    from ..metrics.variance import SUFFIX
    from ..metrics.z_test import z_test

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


def _percentage(beyond: int, pair: Pair) -> float:
    return 100 * (1 - beyond / pair.pixels)


FIGURES = (
    Figure("z-test", "the percentage of pixels that the noise of a Monte Carlo render explains, by the "
           "[variance](regress.md#noise-of-monte-carlo-renders) beside A", _beyond_noise, count, _percentage,
           higher=True, best=100, worst=0, floats=1.0),
)  # fmt: skip
