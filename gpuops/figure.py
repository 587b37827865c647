"""What a figure is: one record, from which ``--metric``, its threshold, JSON, reports, docs and tests follow.

A figure is measured on bands of rows, whose parts are joined. Pictures as a whole are one band.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .metrics.band import Band
    from .metrics.pair import Pair
    from .params.comparing import Comparing
else:  # what needs numpy is imported where a figure is computed: a command's help must not wait for it
    Band = Pair = Any

__all__ = ["Band", "Figure", "Pair", "count", "largest", "mean", "total"]


def largest(parts: Sequence[float]) -> float:
    """Joins the largest values of bands."""
    return max(parts, default=0)


def count(parts: Sequence[int]) -> int:
    """Joins numbers of pixels."""
    return sum(parts)


def total(parts: Sequence[Any]) -> Any:
    """Joins sums of floats, or of arrays of them, one after the other."""
    return reduce(add, parts)


def mean(parts: Sequence[tuple[Any, Any]]) -> Any:
    """Joins means and their weights; a single mean stays as it is."""
    if len(parts) == 1:
        return parts[0][0]
    return total([value * weight for value, weight in parts]) / total([weight for _, weight in parts])


@dataclass(frozen=True)
class Figure:
    """One figure of two pictures, the reference and the result.

    Attributes
    ----------
    name, about : str
        The name of ``--metric``, and what the documentation says of it.
    band : callable, optional
        The part of a :class:`~gpuops.metrics.band.Band`: a value of the rows that count, which may look at those above
        and below; None if nothing begins there. Raises ParameterError where it is not defined. A figure without it
        follows from the :class:`~gpuops.metrics.counts.Counts` of all stored values.
    join : callable
        :func:`largest`, :func:`count`, :func:`total` or :func:`mean`: how the parts of bands become one.
    value : callable
        ``(joined, pair)`` → the figure.
    weight : callable, optional
        For :func:`mean`, how much a band's part counts. ``alike`` is the part of equal rows.
    higher : bool
        More is better, and the threshold is the least that passes; else it is the most that passes.
    best : float
        The figure of equal pictures.
    worst : float or str, optional
        The worst that there is: a number, ``pixels``, their number, or ``range``, the largest error of stored values.
    unit, digits : str, int
        What stands behind the figure, and its digits behind the point, where they are not those of ``%g``.
    threshold : str
        The name of its threshold, if that is another one than ``max-NAME`` or ``min-NAME``.
    wants : str
        What is compared. ``stored``: values of the files; ``light``: linear Rec. 709 light; ``codes``: encoded by sRGB.
    above, below, multiple : int
        How many rows beside those that count it looks at, and of what rows have to be a multiple.
    floats, fixed : float
        Numbers of 32 bits that it needs on the device for each value of one picture, and bytes for all of them.
    fit : callable, optional
        ``(figure, pair)`` → the same record with the last five for these pictures. Raises ParameterError where the
        figure is not defined for them.
    beforehand : (name, callable), optional
        An option of ``Comparing`` that follows from all rows if it is not given: ``(pair)`` → its value.
    map : callable, optional
        ``(band)`` → an Image (1, rows, columns) of the errors of pixels.
    """

    name: str
    about: str
    band: Callable[[Band], Any] | None = None
    join: Callable[[Sequence[Any]], Any] = total
    value: Callable[[Any, Pair], float] = lambda joined, _pair: float(joined)
    weight: Callable[[Band], Any] | None = None
    alike: float = 0.0
    higher: bool = False
    best: float = 0.0
    worst: float | str | None = None
    unit: str = ""
    digits: int | None = None
    threshold: str = ""
    wants: str = "stored"
    above: int = 0
    below: int = 0
    multiple: int = 1
    floats: float = 0.0
    fixed: float = 0.0
    fit: Callable[[Figure, Pair], Figure] = lambda figure, _pair: figure
    beforehand: tuple[str, Callable[[Pair], Any]] | None = None
    map: Callable[[Band], Any] | None = None

    def unknown(self, how: Comparing) -> bool:
        """Says whether it has to know of all rows before."""
        return self.beforehand is not None and getattr(how, self.beforehand[0]) is None

    def known(self, pair: Pair) -> dict[str, Any]:
        """Returns the option that follows from all rows."""
        return {} if self.beforehand is None else {self.beforehand[0]: self.beforehand[1](pair)}

    def parts(self, band: Band, *, equal: bool) -> list[Any]:
        """Returns the part of a band, if it has any; ``equal``: its rows are the same in both pictures."""
        if self.weight is None:
            part = None if equal or self.band is None else self.band(band)
            return [] if part is None else [part]
        weight = self.weight(band)
        some = weight if isinstance(weight, int) else weight.any()
        return [(self.alike if equal or self.band is None else self.band(band), weight)] if some else []

    @property
    def option(self) -> str:
        """The name of its threshold: ``max-flip`` is the most, ``min-ssim`` the least that passes."""
        return self.threshold or f"{'min' if self.higher else 'max'}-{self.name}"

    @property
    def exact(self) -> bool:
        """Whether bands of any heights give the same number: no sums of floats are joined."""
        return self.band is not None and self.join in (largest, count)

    def passes(self, value: float, limit: float) -> bool:
        """Says whether a value keeps a limit. NaN keeps none."""
        return value >= limit if self.higher else value <= limit

    def allows_any(self, limit: float, pixels: int, error: float | None) -> bool:
        """Says whether every picture of so many pixels keeps a limit; ``error``: the largest one, if there is one."""
        worst = pixels if self.worst == "pixels" else error if self.worst == "range" else self.worst
        none = -math.inf if self.higher else math.inf
        return limit == none or (worst is not None and self.passes(float(worst), limit))

    def worse(self, value: float, than: float) -> bool:
        """Says whether a value is worse than another one. NaN is the worst."""
        return math.isnan(value) or (value < than if self.higher else value > than)

    def text(self, value: float) -> str:
        """Returns the figure in words."""
        return f"{value:.6g}{self.unit}" if self.digits is None else f"{value:.{self.digits}f}{self.unit}"
