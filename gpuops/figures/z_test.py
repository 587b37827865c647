"""The percentage of pixels that the noise of a Monte Carlo render explains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ParameterError
from ..figure import Figure, count

if TYPE_CHECKING:
    from ..metrics.band import Band


def _beyond_noise(band: Band) -> int:
    """Returns how many pixels the reference's variance does not explain; all pixels are tested together."""
    import numpy as np

    from ..metrics.variance import SUFFIX
    from ..metrics.z_test import z_test

    reference, result = band.stored
    if (variance := band.variance) is None:
        raise ParameterError(
            f"a variance is needed beside the reference, NAME{SUFFIX}: clpix regress calibrate --variance writes it"
        )
    if not band.pair.scale.as_stored:
        raise ParameterError("a variance is of values as they are stored, and these are converted")
    values = variance.picture.pixels
    if variance.picture.alpha and not band.how.alpha:
        values = values[..., :-1]
    planes = np.ascontiguousarray(np.moveaxis(values, -1, 0), dtype=np.float32)
    if planes.shape != reference.shape:
        raise ParameterError("the variance has another size or other channels than the reference")
    scale, pixels = band.pair.data_range, band.pair.pixels
    return z_test(band.gpu, reference, result, planes, runs=variance.runs, pixels=pixels, scale=scale)


FIGURES = (
    Figure(
        "z-test",
        "the percentage of pixels that the noise of a Monte Carlo render explains, by the "
        "[variance](regress.md#noise-of-monte-carlo-renders) beside A",
        count,
        _beyond_noise,
        lambda failing, pair: 100 * (1 - failing / pair.pixels),
        higher=True,
        best=100,
        worst=0,
        floats=1.0,
    ),
)
