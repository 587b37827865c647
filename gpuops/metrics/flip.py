"""FLIP for LDR and HDR pictures: the errors that people notice when two pictures are shown in turn, on the device."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, overload

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError, check_name
from ..figures import FIGURES, Figure
from ..files.picture import Picture
from ..gpu import Gpu
from ..image import Image
from ..operands import Operand
from ..params.comparing import Comparing
from ..tiles.memory import MOST_PIXELS
from ..wavelets.statistics import largest as largest_values
from .band import Band
from .flip_tiles import Blocks, Tone, error_map, filters_of, scratch_of, tile_of
from .pair import Pair
from .pairs import operands


def pixels_per_degree(distance: float, pixels: float, width: float) -> float:
    """Returns the pixels of a degree of the visual angle, as the authors count them.

    ``distance`` is that of the eye, ``width`` the display's, in the same unit; ``pixels`` is the number of the
    display's columns.
    """
    for name, value in (("distance", distance), ("pixels", pixels), ("width", width)):
        if not (math.isfinite(value) and value > 0):
            raise ParameterError(f"{name} must be a positive number, not {value}")
    return distance * (pixels / width) * math.pi / 180


#: A display 0.7 m wide of 3840 pixels, 0.7 m away.
PPD = pixels_per_degree(0.7, 3840, 0.7)
# Pixels per degree that can be computed; filters have 3 · 0.045 · ppd pixels on each side.
_LEAST_PPD, _MOST_PPD = 1.0, 1000.0
# The largest exposure up or down, in stops: 2^126 is finite in float32.
_MOST_STOPS = 126.0
# The most exposures.
_MOST_EXPOSURES = 1000
# Luminances of the reference count as at least this for automatic exposures, so that a black one has an exposure.
_LEAST_LUMINANCE = 2.0**-23
# The share of white at which automatic exposures begin for the highlights and end for the median.
_SHARE = 0.85
# Bits of a luminance by which the first look counts, without the sign, and by which the second one does.
_UPPER, _LOWER = 15, 16

Bits = npt.NDArray[np.uint32]

# (k0 x² + k1 x + k2) / (k3 x² + k4 x + k5); Reinhard's divisor has the luminance.
TONE_MAPS = {
    "aces": Tone((0.36 * 2.51, 0.6 * 0.03, 0.0, 0.36 * 2.43, 0.6 * 0.59, 0.14)),
    "hable": Tone((0.231683, 0.013791, 0.0, 0.18, 0.3, 0.018)),
    "reinhard": Tone((0.0, 1.0, 0.0, 0.0, 1.0, 1.0), by_luminance=True),
}


@dataclass(frozen=True)
class Flip:
    """The figures of an error map. Errors are 0 … 1.

    Attributes
    ----------
    mean : float
        The mean error, by which the authors advise to judge.
    maximum : float
        The largest error.
    place : tuple of int
        The row and the column of the largest error; of equal ones, the first in reading order.
    exposures : tuple of float
        The exposures in stops, for HDR.

    Where a value is NaN or infinite and its counterpart is not the same, mean and maximum are NaN, and the place is the
    first such pixel: no threshold is met.
    """

    mean: float
    maximum: float
    place: tuple[int, int]
    exposures: tuple[float, ...] = ()


@overload
def flip(
    gpu: Gpu, image_true: Operand, image_test: Operand, *, ppd: float = ..., blocks: Blocks | None = ...,
    full: Literal[False] = ...,
) -> Flip: ...  # fmt: skip
@overload
def flip(
    gpu: Gpu, image_true: Operand, image_test: Operand, *, ppd: float = ..., blocks: Blocks | None = ...,
    full: Literal[True],
) -> tuple[Flip, Image]: ...  # fmt: skip
def flip(
    gpu: Gpu,
    image_true: Operand,
    image_test: Operand,
    *,
    ppd: float = PPD,
    blocks: Blocks | None = None,
    full: bool = False,
) -> Flip | tuple[Flip, Image]:
    """Measures the errors that people notice when a picture and its reference are shown in turn.

    Parameters
    ----------
    image_true, image_test : Image or array ([planes,] height, width)
        The reference and the picture to judge: three planes of linear Rec. 709 light, or one of gray, without alpha.
        Values are clamped to 0 … 1.
    ppd : float
        Pixels per degree of the visual angle, 1 … 1000; see :func:`pixels_per_degree`.
    blocks : array (⌈height / 16⌉, ⌈width / 16⌉) of bool, optional
        The blocks of 16 × 16 pixels that may differ, if it is known that all others are equal.
    full : bool
        Also return the error map, an Image (1, height, width).

    Returns
    -------
    Flip, or Flip and the error map. Equal NaN, or infinities, at one place are equal; where only one value is not
    finite, the map is NaN there.

    Raises
    ------
    ParameterError
        Different shapes, neither one nor three planes, or ppd out of range.

    Notes
    -----
    P. Andersson et al., "FLIP: A Difference Evaluator for Alternating Images", HPG 2020. The same bits in every run.
    """
    reference, test = _operands(gpu, image_true, image_test, ppd)
    figures, errors, _ = error_map(gpu, reference, test, ppd, None, (0.0,), blocks, full=full)
    result = _figures(figures, reference)
    return (result, errors) if full else result


@overload
def hdr_flip(
    gpu: Gpu, image_true: Operand, image_test: Operand, *, ppd: float = ..., tone_map: str = ...,
    exposures: tuple[float, float] | None = ..., count: int | None = ..., blocks: Blocks | None = ...,
    full: Literal[False] = ...,
) -> Flip: ...  # fmt: skip
@overload
def hdr_flip(
    gpu: Gpu, image_true: Operand, image_test: Operand, *, ppd: float = ..., tone_map: str = ...,
    exposures: tuple[float, float] | None = ..., count: int | None = ..., blocks: Blocks | None = ...,
    full: Literal[True],
) -> tuple[Flip, Image, Image]: ...  # fmt: skip
def hdr_flip(
    gpu: Gpu,
    image_true: Operand,
    image_test: Operand,
    *,
    ppd: float = PPD,
    tone_map: str = "aces",
    exposures: tuple[float, float] | None = None,
    count: int | None = None,
    blocks: Blocks | None = None,
    full: bool = False,
) -> Flip | tuple[Flip, Image, Image]:
    """Measures the same as :func:`flip` for HDR pictures: the largest error over a range of exposures.

    Parameters
    ----------
    image_true, image_test : Image or array ([planes,] height, width)
        As for :func:`flip`, but of any brightness; negative values count as 0.
    ppd : float
        As for :func:`flip`.
    tone_map : str
        ``aces``, ``hable`` or ``reinhard``: the curve by which each exposure is shown.
    exposures : tuple of float, optional
        The first and the last exposure in stops. By default they suit the reference: its brightest pixel, and then its
        median, come to 0.85 of white. Figures of several pictures can only be compared if exposures are given.
    count : int, optional
        The number of exposures; by default one a stop, at least two.
    blocks : array, optional
        As for :func:`flip`.
    full : bool
        Also return the error map and the exposure map, Images (1, height, width). The latter tells at which exposure a
        pixel's error is largest: 0 for the first … 1 for the last; 0 where there is no error.

    Returns
    -------
    Flip, or Flip and both maps. NaN and infinities are as for :func:`flip`.

    Raises
    ------
    ParameterError
        As for :func:`flip`; also an unknown tone map, exposures that go down or beyond 126 stops, or a count that is
        not 1 … 1000.

    Notes
    -----
    P. Andersson et al., "Visualizing Errors in Rendered High Dynamic Range Images", Eurographics 2021. Exposures come
    from the reference, so that the figures change when the pictures are swapped.
    """
    check_name("tone map", tone_map, tuple(TONE_MAPS))
    reference, test = _operands(gpu, image_true, image_test, ppd)
    tone = TONE_MAPS[tone_map]
    start, stop = automatic(gpu, reference, tone) if exposures is None else exposures
    steps = _steps(start, stop, count)
    figures, errors, best = error_map(gpu, reference, test, ppd, tone, steps, blocks, full=full)
    result = replace(_figures(figures, reference), exposures=steps)
    return (result, errors, best) if full else result


def fit(figure: Figure, pair: Pair) -> Figure:
    """Returns the record of a figure for these pictures: whole rows of tiles count, and those within reach of them."""
    picture, ppd, (_, down) = pair.reference, pair.how.ppd or PPD, tile_of(pair.gpu)
    beside = -(-filters_of(ppd).reach // down) * down
    fixed = 4 * math.prod(scratch_of(pair.gpu, ppd, (picture.height, picture.width)))
    maps = 2.0 / picture.colours
    return replace(figure, above=beside, below=beside, multiple=down, floats=maps, fixed=fixed)


def sum_of_band(band: Band, *, hdr: bool) -> float:
    """Returns the sum of the errors in the rows that count, as :func:`flip` or :func:`hdr_flip` have them."""
    gpu, ppd, rows = band.gpu, band.how.ppd or PPD, band.counted
    reference, test = _operands(gpu, *band.light, ppd)
    steps = _steps(*(band.how.exposures or automatic(gpu, reference)), None) if hdr else (0.0,)
    blocks = band.changed.blocks if band.changed else None
    records, _, _ = error_map(gpu, reference, test, ppd, TONE_MAPS["aces"] if hdr else None, steps, blocks)
    across, down = tile_of(gpu)
    tiles = -(-reference.shape[2] // across)
    part = records[rows.start // down * tiles : -(-rows.stop // down) * tiles]
    return float(part.astype(np.float64)[:, 0].sum())


def flip_map(gpu: Gpu, result: Picture, reference: Picture) -> npt.NDArray[np.float32]:
    """Returns the FLIP errors (height, width) of two pictures of one size: of light HDR-FLIP's, else LDR-FLIP's."""
    of_light = reference.linear and float(np.nanmax(reference.pixels.astype(np.float32))) > 1
    band = next(Pair.of(gpu, result, reference, Comparing()).bands(()))
    errors = (hdr_flip if of_light else flip)(gpu, *band.light, full=True)[1]
    return np.asarray(errors.numpy()[0], np.float32)


def exposures_of_pair(pair: Pair) -> tuple[float, float]:
    """Returns the exposures of pictures that come by rows: of the largest and the median luminance, exactly.

    Floats of at least 0 have the order of their bits. A first look at all rows counts luminances by their upper bits,
    and a second one those with the median's upper bits by their lower bits.
    """
    looked_at = replace(FIGURES["hdr-flip"], floats=1.0 / pair.reference.colours)

    def counted(bits: int, pick: Callable[[Bits], Bits]) -> npt.NDArray[np.int64]:
        counts = np.zeros(1 << bits, np.int64)
        for band in pair.bands([looked_at]):
            light = luminance_of(band.gpu, band.cut(0, 0).light[0]).numpy().view(np.uint32).ravel()
            counts += np.bincount(pick(light & np.uint32(0x7FFFFFFF)), minlength=1 << bits)
        return counts

    def place(counts: npt.NDArray[np.int64], rank: int) -> int:
        return int(np.searchsorted(np.cumsum(counts), rank, side="right"))

    largest = []

    def upper_bits(words: Bits) -> Bits:
        largest.append(words.max())
        return words >> np.uint32(_LOWER)

    counts, rank = counted(_UPPER, upper_bits), pair.reference.width * pair.reference.height // 2
    upper, mask = place(counts, rank), np.uint32((1 << _LOWER) - 1)
    counts_lower = counted(_LOWER, lambda words: words[words >> np.uint32(_LOWER) == upper] & mask)
    median = upper << _LOWER | place(counts_lower, rank - int(counts[:upper].sum()))
    return exposures_of(*np.array([max(largest), median], np.uint32).view(np.float32).tolist())


def _steps(start: float, stop: float, count: int | None) -> tuple[float, ...]:
    """Returns the exposures from the first to the last; one a stop, at least two, if there is no count."""
    if not -_MOST_STOPS <= start <= stop <= _MOST_STOPS:
        raise ParameterError(
            f"exposures must go up, within −{_MOST_STOPS:g} … {_MOST_STOPS:g} stops, not from {start:g} to {stop:g}"
        )
    number = max(2, math.ceil(stop - start)) if count is None else count
    if not 1 <= number <= _MOST_EXPOSURES:
        raise ParameterError(f"count must be 1 … {_MOST_EXPOSURES} exposures, not {number}")
    return tuple(float(v) for v in np.linspace(start, stop, number))


def weighted_percentiles(
    errors: Image | npt.ArrayLike, percents: Sequence[float] = (25.0, 50.0, 75.0)
) -> tuple[float, ...]:
    """Returns the errors of a map below which given shares of all errors' sum lie; computed on the host.

    Parameters
    ----------
    errors : Image or array
        An error map, as :func:`flip` returns it.
    percents : floats
        The shares, 0 … 100; 50 gives the weighted median.

    Returns
    -------
    The first of the sorted errors at which the running sum exceeds each share; NaN if the map has NaN, and 0 if all
    errors are 0.
    """
    if any(not 0 <= percent <= 100 for percent in percents):
        raise ParameterError(f"percents must be 0 … 100, not {', '.join(map(str, percents))}")
    host = errors.numpy() if isinstance(errors, Image) else errors
    values = np.sort(np.asarray(host, np.float64), axis=None)
    if np.isnan(values).any():
        return (math.nan,) * len(percents)
    sums = np.cumsum(values)
    places = np.searchsorted(sums, np.array(percents) / 100 * sums[-1], side="right")
    return tuple(float(values[min(place, values.size - 1)]) for place in places)


def _operands(gpu: Gpu, image_true: Operand, image_test: Operand, ppd: float) -> tuple[Image, Image]:
    if not _LEAST_PPD <= ppd <= _MOST_PPD:
        raise ParameterError(f"ppd must be {_LEAST_PPD:g} … {_MOST_PPD:g} pixels per degree, not {ppd}")
    reference, test = operands(gpu, image_true, image_test)
    planes, height, width = reference.shape
    if planes not in (1, 3):
        raise ParameterError(f"FLIP needs three planes of RGB or one of gray, without alpha, not {planes}")
    if height * width > MOST_PIXELS:
        raise ParameterError(f"FLIP is of {MOST_PIXELS} pixels at most, not of {width} × {height}")
    return reference, test


def automatic(gpu: Gpu, reference: Image, tone: Tone = TONE_MAPS["aces"]) -> tuple[float, float]:
    """Returns the exposures that suit the reference."""
    luminance, size = luminance_of(gpu, reference), reference.shape[1] * reference.shape[2]
    # The element of number size // 2 in rising order, as the authors' code takes it.
    most, median = (largest_values([luminance], 1, rank)[0] for rank in (1, size - size // 2))
    return exposures_of(most, median, tone)


def luminance_of(gpu: Gpu, reference: Image) -> Image:
    """Returns the luminance (1, height, width) of a picture's light, at least 0, of which exposures depend."""
    planes, height, width = reference.shape
    size = height * width
    luminance = gpu.empty((1, height, width))
    kernel = gpu.kernel("flip_picture", "flip_luminance")
    gpu.launch(
        kernel, (size,), reference, luminance, size, np.uint64(size if planes > 1 else 0), local=kernel.fit(256),
        traffic=reference.nbytes + luminance.nbytes,
    )  # fmt: skip
    return luminance


def exposures_of(most: float, median: float, tone: Tone = TONE_MAPS["aces"]) -> tuple[float, float]:
    """Returns the exposures that bring the largest and the median luminance to 0.85 of white."""
    k0, k1, k2, k3, k4, k5 = tone.k
    white = float(np.roots([k0 - _SHARE * k3, k1 - _SHARE * k4, k2 - _SHARE * k5]).real.max())
    start, stop = (max(math.log2(white / max(v, _LEAST_LUMINANCE)), -_MOST_STOPS) for v in (most, median))
    return start, stop


def _figures(records: npt.NDArray[np.float32], image: Image) -> Flip:
    """Joins the tiles' records: sum, largest error, and the bits of its place."""
    _, height, width = image.shape
    values, places = records.astype(np.float64), records.view(np.int32)[:, 2]
    most = float(values[:, 1].max())
    place = int(places[values[:, 1] == most].min()) if most > 0 else 0
    mean = float(values[:, 0].sum()) / (height * width)
    return Flip(mean, most if math.isfinite(most) else math.nan, divmod(place, width))
