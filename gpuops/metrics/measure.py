"""All figures of two files' pictures, and the verdict by thresholds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from .. import notes
from ..errors import ParameterError
from ..params.comparing import Comparing, MeasuredPair
from ..params.metrics import METRICS
from ..params.thresholds import NOT_FINITE, Limit, Thresholds
from ..pixels.coding import unpack
from ..pixels.light import readable
from .both import Both, SizeError
from .compare import space_of
from .counted import Counted
from .flip import flip, hdr_flip

if TYPE_CHECKING:
    from ..files.picture import Picture
    from ..gpu import Gpu
    from ..image import Image

__all__ = ["ALWAYS", "Both", "Pair", "SizeError", "flip_map", "measure"]

# Figures that are always measured: verdicts, reports and difference pictures need them.
ALWAYS = ("max", "rmse")


class Pair(Protocol):
    """Two pictures whose figures can be had: as a whole, a :class:`Both`, or by rows.

    The attributes are those of :class:`Both`; of what was ``compared`` only the planes and the space count here.
    """

    how: Comparing
    pixels: int
    bounded: bool
    note: str

    @property
    def data_range(self) -> float:
        """The value that counts as 1."""

    @property
    def compared(self) -> tuple[Image, Image]:
        """The stored values that are compared, the reference first."""

    def counts(self, thresholds: Thresholds) -> Counted:
        """Returns the figures of one pass over the stored values."""

    def figure(self, metric: str) -> float:
        """Returns another figure. Raises ParameterError where it is not defined."""


def wanted(how: Comparing, thresholds: Thresholds) -> tuple[str, ...]:
    """Returns the figures that are measured: those asked for, those of thresholds, and those that all need."""
    named = {*thresholds.limits, *how.metrics, *ALWAYS}
    return tuple(metric for metric in METRICS if metric in named)


@notes.summed()
def measure(both: Pair, thresholds: Thresholds) -> MeasuredPair:
    """Measures the figures that were asked for and those that the thresholds need, and judges.

    Raises ParameterError for thresholds that could not fail these pictures whatever they hold, and where one needs a
    figure that is not defined for them.
    """
    if (
        not both.how.idiff
        and (blind := thresholds.blind(both.pixels, most=1.0 if both.bounded else None)) is not None
    ):
        raise ParameterError(blind)
    how = both.how
    counted = both.counts(thresholds)
    figures: dict[str, float] = {}
    undefined: dict[str, str] = {}
    for metric in wanted(how, thresholds):
        if metric in counted.figures:
            figures[metric] = counted.figures[metric]
        elif counted.differing == 0:
            figures[metric] = METRICS[metric].best
        else:
            try:
                figures[metric] = both.figure(metric)
            except ParameterError as error:
                if metric in thresholds.limits:
                    raise ParameterError(f"{metric}: {error}") from None
                undefined[metric] = str(error)
    if how.idiff:
        missed, warned = thresholds.as_idiff(*counted.idiff, both.pixels)
    else:
        missed = thresholds.missed(figures, counted.bad, both.pixels)
        if counted.not_finite:
            missed = (Limit(NOT_FINITE, counted.not_finite, 0), *missed)
        warned = thresholds.warned(figures, counted.warning, both.pixels)
    return MeasuredPair(
        {metric: figures[metric] for metric in METRICS if metric in figures},
        both.pixels * both.compared[0].shape[0],
        counted.differing,
        both.pixels,
        counted.bad,
        both.data_range,
        missed,
        warned,
        counted.worst,
        space_of(both.compared[0]),
        both.note,
        undefined,
    )


def flip_map(gpu: Gpu, result: Picture, reference: Picture) -> npt.NDArray[np.float32]:
    """Returns the FLIP errors (height, width) of two pictures of one size: of light HDR-FLIP's, else LDR-FLIP's."""
    light = [unpack(*readable(gpu, p, linear=True, alpha=False)) for p in (reference, result)]
    of_light = reference.linear and float(np.nanmax(reference.pixels.astype(np.float32))) > 1
    errors = (hdr_flip if of_light else flip)(gpu, *light, full=True)[1]
    found: npt.NDArray[np.float32] = errors.numpy()[0]
    return found
