"""The figures by which pictures are compared: a record each, and nothing else names them.

From the record follow ``--metric``, its threshold, JSON, reports, docs and tests. A figure is measured on bands of
rows, whose parts are joined. Pictures as a whole are one band.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial, reduce
from importlib import import_module
from operator import add
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .metrics.band import Band
    from .metrics.counts import Counts
    from .metrics.pair import Pair
    from .params.comparing import Comparing


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


def _of(place: str, **options: Any) -> Callable[..., Any]:
    """Returns ``module.function`` of :mod:`gpuops.metrics` with these options.

    It is imported when it is called: it needs numpy, and a command's help must not wait for it.
    """

    def function(*args: Any) -> Any:
        return _at(place)(*args, **options)

    return function


@cache
def _at(place: str) -> Callable[..., Any]:
    module, _, name = place.partition(".")
    of: Callable[..., Any] = getattr(import_module(f".metrics.{module}", __package__), name)
    return of


def _psnr(counts: Counts, pair: Pair) -> float:
    rmse = counts.rms / pair.data_range
    return math.inf if rmse == 0 else -20 * math.log10(rmse) if math.isfinite(rmse) else -math.inf


# The errors of stored values, which are counted for every verdict.
_ERRORS = (
    Figure("max", "the largest absolute difference, as a fraction of the full range", worst="range",
           value=lambda counts, pair: counts.max / pair.data_range, threshold="max-error"),
    Figure("mean", "the mean absolute difference, as a fraction of the full range", worst="range",
           value=lambda counts, pair: counts.mean / pair.data_range),
    Figure("rmse", "the root of the mean squared difference, as a fraction of the full range", worst="range",
           value=lambda counts, pair: counts.rms / pair.data_range),
    Figure("psnr", "the peak signal-to-noise ratio: −20 log₁₀ rmse", value=_psnr, higher=True, best=math.inf,
           unit=" dB", digits=2),
)  # fmt: skip

# Structural similarity: the means over windows that begin in the rows that count.
_SIMILARITY = partial(Figure, join=mean, alike=1.0, higher=True, best=1, digits=6)
_WINDOWS = partial(_SIMILARITY, worst=-1)
_SSIM = (
    _WINDOWS("ssim", "the mean structural similarity of Wang et al. (2004), with a Gaussian window of σ 1.5 and "
             "11 × 11 pixels, K1 = 0.01, K2 = 0.03, and population covariances. Only places where the window lies "
             "inside the image count. It is the mean over channels, and needs 11 × 11 pixels",
             _of("ssim.of_band"), weight=_of("ssim.windows"), fit=_of("ssim.fit")),
    _WINDOWS("ssim-skimage", "the same with skimage's defaults: a uniform window of 7 × 7, sample covariances",
             _of("ssim.of_band", convention="skimage"), weight=_of("ssim.windows", convention="skimage"),
             fit=_of("ssim.fit", convention="skimage")),
    _SIMILARITY("ms-ssim", "SSIM at five scales, Wang et al. (2003); it needs 176 pixels each way",
                _of("ssim.scales_of_band"), weight=_of("ssim.windows_of_band"), value=_of("ssim.of_scales"), worst=0,
                floats=0.7, fit=_of("ssim.fit_scales")),
)  # fmt: skip

# The means of FLIP, whose errors are added up by whole rows of tiles.
_FLIP = partial(Figure, value=lambda errors, pair: errors / (pair.reference.width * pair.reference.height), worst=1,
                wants="light", fit=_of("flip.fit"))  # fmt: skip
_FLIPS = (
    _FLIP("flip", "the mean of LDR-FLIP (Andersson et al., 2020): the differences that people see when the pictures "
          "are shown in turn. Light beyond 1 counts as 1", _of("flip.sum_of_band", hdr=False)),
    _FLIP("hdr-flip", "the mean of HDR-FLIP (2021), which is the largest FLIP of each pixel over several exposures",
          _of("flip.sum_of_band", hdr=True), beforehand=("exposures", _of("flip.exposures_of_pair"))),
)  # fmt: skip

# Colour differences, as the eye judges them.
_LARGEST = partial(Figure, join=largest, wants="light")
_DELTA_E = (
    _LARGEST("de76", "the largest ΔE of CIE 1976; 2.3 is just noticeable", _of("delta_e.largest_of_band", method="76")),
    _LARGEST("de2000", "the largest ΔE of CIEDE2000; 1 is just noticeable",
             _of("delta_e.largest_of_band", method="2000")),
    Figure("mean-de2000", "the mean ΔE of CIEDE2000, as colour charts are judged", _of("delta_e.mean_of_band"), mean,
           weight=lambda band: band.pixels, wants="light"),
    _LARGEST("de-itp", "the largest ΔE ITP of ITU-R BT.2124; 1 is just noticeable",
             _of("delta_e.largest_of_band", method="itp")),
)  # fmt: skip

_SSIMULACRA2 = Figure(
    "ssimulacra2", "SSIMULACRA 2.1: 90 is visually lossless, 70 high quality", _of("ssimulacra2.sums_of_band"),
    value=_of("ssimulacra2.score_of_pair"), higher=True, best=100, wants="light", fit=_of("ssimulacra2.fit"),
)  # fmt: skip

# Numbers of pixels, and the most in a window that begins in rows that count.
_PIXELS = partial(Figure, worst="pixels", unit=" pixels", digits=0)
_MATCHED = partial(_PIXELS, wants="codes")
_COUNTED = (
    _MATCHED("pixelmatch", "how many pixels pixelmatch 7.2 counts, with its anti-aliasing rule and threshold 0.1",
             _of("pixelmatch.different"), count, floats=0.5, fit=_of("pixelmatch.fit")),
    _MATCHED("pixelmatch-window", "the largest number of these pixels in any window of `--window` pixels a side. It "
             "tells a change from scattered noise", _of("pixelmatch.densest"), largest, floats=2.0,
             fit=_of("pixelmatch.fit", windows=True)),
    _PIXELS("within-radius", "how many pixels of either picture have no match in the other within `--radius` pixels, "
            "as in ITK. It forgives edges that moved", _of("tolerant.alone"), count, floats=1.0,
            fit=_of("tolerant.fit")),
    Figure("z-test", "the percentage of pixels that the noise of a Monte Carlo render explains, by the "
           "[variance](regress.md#noise-of-monte-carlo-renders) beside A", _of("variance.beyond_noise"), count,
           lambda beyond, pair: 100 * (1 - beyond / pair.pixels), higher=True, best=100, worst=0, floats=1.0),
)  # fmt: skip

_PU21 = (
    Figure("pu-psnr", "for HDR: PSNR of PU21 values (Mantiuk and Azimi, 2021)", _of("pu21.squared_error"), mean,
           _of("pu21.psnr_of"), lambda band: band.reference.height * band.reference.width * band.reference.colours,
           higher=True, best=math.inf, unit=" dB", digits=2, wants="light", floats=2.0),
    _WINDOWS("pu-ssim", "for HDR: SSIM of PU21 values' luminance", _of("pu21.similarity"), weight=_of("ssim.windows"),
             wants="light", floats=2.0, fit=_of("ssim.fit")),
)  # fmt: skip

# In the order in which they are told.
_ALL = *_ERRORS, *_SSIM, *_FLIPS, *_DELTA_E, _SSIMULACRA2, *_COUNTED, *_PU21
#: Every figure by its name.
FIGURES = {figure.name: figure for figure in _ALL}
#: Figures by the names of their thresholds.
LIMITS = {figure.option: figure for figure in FIGURES.values()}


def worst_of(measured: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Returns the worst value of each figure in several comparisons. NaN is the worst."""
    worst: dict[str, float] = {}
    for figures in measured:
        for name, value in figures.items():
            if name not in worst or FIGURES[name].worse(value, worst[name]):
                worst[name] = value
    return worst
