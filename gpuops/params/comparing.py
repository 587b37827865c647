"""How two pictures are compared, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import NamedTuple

from ..errors import ParameterError, check_name
from ..figures import FIGURES
from .thresholds import Limit

#: The figures that are measured if nobody says which.
MEASURED = ("max", "mean", "rmse", "psnr", "flip")
#: The values that figures of stored values compare.
SPACES = ("auto", "linear", "encoded")

Rectangle = tuple[int, int, int, int]


@dataclass(frozen=True)
class Comparing:
    """How pictures are compared.

    Attributes
    ----------
    metrics : tuple of str
        The figures to measure beside those that thresholds need, where they are defined.
    space : str
        ``auto``, ``linear`` or ``encoded``: the values that ``max``, ``rmse`` and others of stored values compare.
    alpha : bool
        Whether alpha is compared, too. Figures of light never have it.
    layer : str, optional
        The layer of files that have several.
    mask : str, optional
        The file of a picture of the same size. Where it is black, nothing is compared.
    ignore : tuple of (x, y, width, height)
        Rectangles in pixels in which nothing is compared.
    ppd : float, optional
        Pixels a degree of the eye, for FLIP. Without it 67.02: 0.7 m before a display of 0.7 m and 3840 pixels.
    exposures : (start, stop), optional
        The exposures of HDR-FLIP in stops. Without them they suit the reference, and figures of different pictures
        cannot be compared.
    white : float
        The luminance of light 1 in cd/m², for PU21 and ΔE ITP.
    window : int
        The side of ``pixelmatch-window``'s window in pixels.
    radius : int
        How many pixels away ``within-radius`` looks for a like.
    tolerance : float
        The largest error of any value of a like, as a fraction of the full range.
    idiff : bool
        The verdict is that of OpenImageIO's idiff by its thresholds, holes included.
    """

    metrics: tuple[str, ...] = MEASURED
    space: str = "auto"
    alpha: bool = True
    layer: str | None = None
    mask: str | None = None
    ignore: tuple[Rectangle, ...] = ()
    ppd: float | None = None
    exposures: tuple[float, float] | None = None
    white: float = 203.0
    window: int = 64
    radius: int = 1
    tolerance: float = 0.0
    idiff: bool = False

    def __post_init__(self) -> None:
        for metric in self.metrics:
            check_name("metric", metric, FIGURES)
        check_name("space", self.space, SPACES)
        for x, y, width, height in self.ignore:
            if min(x, y) < 0 or min(width, height) < 1 or max(x, y, width, height) >= 1_000_000_000:
                raise ParameterError(f"a rectangle to ignore is X,Y,W,H, not {x},{y},{width},{height}")
        if self.ppd is not None and not 0 < self.ppd < 10_000:
            raise ParameterError(f"pixels a degree must be above 0 and below 10000, not {self.ppd:g}")
        if not 0 <= self.tolerance < 1:
            raise ParameterError(f"the tolerance must be 0 or more and below 1, not {self.tolerance:g}")
        if self.exposures is not None and not -126 <= self.exposures[0] <= self.exposures[1] <= 126:
            start, stop = self.exposures
            raise ParameterError(f"exposures must go up within ±126 stops, not from {start:g} to {stop:g}")
        if not 0 < self.white <= 10_000:
            raise ParameterError(f"white must be above 0 and at most 10000 cd/m², not {self.white:g}")


class WorstPixel(NamedTuple):
    """The pixel with the largest error: its place, and the values of both pictures there."""

    x: int
    y: int
    result: tuple[float, ...]
    reference: tuple[float, ...]


@dataclass(frozen=True)
class MeasuredPair:
    """The result of comparing two pictures.

    Attributes
    ----------
    figures : dict
        By metric.
    undefined : dict
        By metric that is not defined for these pictures, why.
    values, differing : int
        How many values were compared, alpha's included, and how many of them differ.
    pixels, bad : int
        How many pixels were compared, and are above ``fail``.
    data_range : float
        The value that counts as 1: 255 where levels of 8 bits are compared.
    missed, warned : tuple of Limit
        The thresholds that fail these pictures, and those that warn.
    worst : WorstPixel, optional
        None if nothing differs. Its values are those that were compared.
    space : str
        ``linear`` or ``encoded``: the values of ``max``, ``rmse`` …
    note : str
        What was left out of the comparison, in one line.
    """

    figures: dict[str, float]
    values: int
    differing: int
    pixels: int
    bad: int
    data_range: float
    missed: tuple[Limit, ...]
    warned: tuple[Limit, ...]
    worst: WorstPixel | None
    space: str
    note: str = ""
    undefined: dict[str, str] = field(default_factory=dict)

    @property
    def equal(self) -> bool:
        """Whether every value is the same; NaN equals NaN."""
        return self.differing == 0

    @property
    def gain(self) -> float:
        """The gain at which the root mean square error shows as a quarter of white."""
        rmse = self.figures["rmse"]
        return 0.25 / (rmse * self.data_range) if isfinite(rmse) and rmse > 0 else 1 / self.data_range
