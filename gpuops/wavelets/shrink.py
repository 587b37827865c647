"""Shrinking of detail coefficients, which takes noise away and leaves edges."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ..image import Image
from ..operands import check_colours
from ..params.dwt import ShrinkParams
from ..tiles.ends import Anywhere, Somewhere, changed
from . import statistics
from .extension import vectors
from .transform import Details, X, Y
from .wavelets import WAVELETS

Matrix = npt.NDArray[Any]

# pywt.threshold's modes, as dwt_shrink.cl numbers them.
MODES = ("soft", "hard", "garrote", "greater", "less")
_MAD = 0.6744897501960817  # median of |x| for a normal distribution of σ = 1
# Opponent colours as of Dabov, Foi, Katkovnik and Egiazarian, "Color image denoising via sparse 3D collaborative
# filtering with grouping constraint in luminance-chrominance space" (ICIP 2007), here with rows of length 1: the sum,
# red − blue, and red + blue − 2 green.
_OPPONENT = ((1, 1, 1), (1, 0, -1), (1, -2, 1))
# Red's and blue's shares in the luma Y of Rec. ITU-R BT.601; Cb and Cr are B − Y and R − Y, scaled to ±1/2.
_RED, _BLUE = 0.299, 0.114
_LUMA = np.array((_RED, 1 - _RED - _BLUE, _BLUE))

#: The matrix from RGB to each space; its rows are the space's planes.
MATRICES: dict[str, Matrix] = {
    "opponent": np.array([np.divide(row, math.hypot(*row)) for row in _OPPONENT]),
    "ycbcr": np.array(
        [
            _LUMA,
            (np.array((0, 0, 1)) - _LUMA) / (2 * (1 - _BLUE)),
            (np.array((1, 0, 0)) - _LUMA) / (2 * (1 - _RED)),
        ]
    ),
}


def shrink(
    approximation: Somewhere, details: Sequence[Details[Somewhere]], wavelet: str, params: ShrinkParams
) -> list[Details[Somewhere]]:
    """The detail bands, coarsest first, shrunk in the parameters' space by :func:`thresholds`; alpha's stay.

    Bands on the host are overwritten. Raises ParameterError for a space of colours, and planes that are neither gray
    nor RGB.
    """
    colours = approximation.shape[0] - approximation.alpha
    mixed = params.space != "rgb"
    if mixed:
        check_colours(colours, approximation.shape[0], f"denoising in {params.space} colours")
        mixed = colours == 3

    def each(
        change: Callable[[Somewhere], Somewhere], of: Sequence[Details[Somewhere]]
    ) -> list[Details[Somewhere]]:
        return [
            (change(horizontal), change(vertical), change(diagonal)) for horizontal, vertical, diagonal in of
        ]

    if mixed:
        details = each(partial(to_space, space=params.space), details)
    limits = iter(thresholds(approximation, details, wavelet, params))

    def shrunk(band: Somewhere) -> Somewhere:
        band = changed(band, partial(shrink_band, thresholds=next(limits), mode=params.kind))
        return to_rgb(band, params.space) if mixed else band

    return each(shrunk, details)


def thresholds(
    approximation: Anywhere, details: Sequence[Details[Anywhere]], wavelet: str, params: ShrinkParams
) -> npt.NDArray[np.float64]:
    """The threshold of each band, in the order of ``details``, and each plane: (bands, planes). Alpha's are 0."""
    bands = [band for level in details for band in level]
    planes = approximation.shape[0]
    limits: npt.NDArray[np.float64] = np.full(
        (len(bands), planes), 1.0 if params.threshold is None else params.threshold
    )
    if params.estimate is not None and bands:
        sigma = np.outer(noise_levels(details, wavelet), _noise(details[-1], wavelet, params))
        if params.estimate == "visu":
            count = sum(math.prod(band.shape[1:]) for band in (approximation, *bands))
            limits *= sigma * math.sqrt(2.0 * math.log(max(count, 2)))
        else:
            limits *= _bayes(statistics.mean_squares(bands), sigma)
    if approximation.alpha:
        limits[:, -1] = 0.0
    return limits


def _noise(finest: Details[Anywhere], wavelet: str, params: ShrinkParams) -> npt.NDArray[np.float64]:
    """The noise's standard deviation in each plane of the parameters' space."""
    if params.noise is None:
        return noise_of(finest, wavelet)
    planes = finest[0].shape[0]
    sigmas = np.full(planes, params.noise)
    if params.space != "rgb" and planes >= 3:
        sigmas[:3] *= np.linalg.norm(MATRICES[params.space], axis=1)
    return sigmas


def _bayes(squares: npt.NDArray[np.float64], sigma: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The threshold σ² / σ_x, with σ_x² the band's variance less the noise's; where only noise is seen, the threshold
    removes everything."""
    signal = np.sqrt(np.maximum(squares - sigma**2, 0.0))
    everything = np.full(squares.shape, float(np.finfo(np.float32).max))
    np.divide(sigma**2, signal, out=everything, where=signal > 0.0)
    return everything


def shrink_band(
    band: Image,
    thresholds: Sequence[float] | npt.NDArray[np.float64],
    mode: str = "soft",
    *,
    substitute: float = 0.0,
) -> Image:
    """One band shrunk by a threshold for each plane, in one of :data:`MODES`."""
    result = band.like()
    planes, size = band.shape[0], math.prod(band.shape[1:])
    if size:
        real, how = np.float64 if band.dtype == np.float64 else np.float32, MODES.index(mode)
        most = float(np.finfo(real).max)
        limits = band.gpu.array(np.clip(thresholds, -most, most).astype(real))
        lanes = band.gpu.limits.lanes
        band.gpu.compute(
            ("border", "dwt_extension", "dwt_shrink"), "shrink", (-(-size // lanes), planes), band, limits, result,
            planes, size, how, np.array([substitute], real), group=128, label="dwt shrink", traffic=None,
            **vectors(band.dtype, lanes),
        )  # fmt: skip
    return result


# -- the noise in each band -------------------------------------------------------------------------------------------


def noise_of(finest: Details[Anywhere], wavelet: str) -> npt.NDArray[np.float64]:
    """The noise's standard deviation in each plane of the image: the median of |finest cD| over 0.6745 (Donoho and
    Johnstone 1994), over the σ that noise of σ = 1 has in that band.

    An image of one row or column has no cD: its only detail is taken instead.
    """
    horizontal, vertical, diagonal = finest
    sigmas = noise_levels([finest], wavelet)[0]
    pairs = zip((diagonal, vertical, horizontal), reversed(sigmas), strict=True)
    band, sigma = next(((band, sigma) for band, sigma in pairs if band.nbytes), (diagonal, 1.0))
    return statistics.medians(band) / (_MAD * sigma)


def noise_levels(details: Sequence[Details[Anywhere]], wavelet: str) -> list[tuple[float, float, float]]:
    """The σ that white noise of σ = 1 has in cH, cV and cD of each level, coarsest first; far from the border."""
    if not details:
        return []
    lines = noise_variances(wavelet, len(details))
    # Across a single row or column there is no high half, and the low half is the sample itself, √2 times as large.
    alone = [(2.0**level, 0.0) for level in range(1, len(details) + 1)]
    y, x = (lines if details[-1][2].shape[axis] else alone for axis in (Y, X))
    sigmas = [
        (math.sqrt(high_y * low_x), math.sqrt(low_y * high_x), math.sqrt(high_y * high_x))
        for (low_y, high_y), (low_x, high_x) in zip(y, x, strict=True)
    ]
    return sigmas[::-1]


@cache
def noise_variances(wavelet: str, count: int) -> Sequence[tuple[float, float]]:
    """Variances of white noise of σ = 1 in the low and the high half of a line, of ``count`` levels, finest first.

    They are 1 everywhere for orthogonal wavelets. For others noise is white in no level but the first: its covariance c
    with the sample k further on becomes Σ_m a[m] c[2k − m] in the low half, a being the filter's own autocorrelation.
    """
    low, high = (np.correlate(taps, taps, "full") for taps in map(np.array, WAVELETS[wavelet].decompose))
    covariance = np.zeros(len(low))
    covariance[len(low) // 2] = 1.0
    variances = []
    for _ in range(count):
        in_high = float(high @ covariance)
        covariance = np.convolve(low, covariance)[::2]
        variances.append((float(covariance[len(low) // 2]), in_high))
    return tuple(variances)


# -- the colour spaces: they and the transform are linear, so that coefficients are converted in place of pixels ------


def to_space(band: Somewhere, space: str) -> Somewhere:
    """RGB coefficients (3 or more planes, height, width) in a space of :data:`MATRICES`; further planes stay.

    A band on the host is overwritten.
    """
    return changed(band, partial(_changed, matrix=MATRICES[space]))


def to_rgb(band: Somewhere, space: str) -> Somewhere:
    """The inverse of :func:`to_space`."""
    return changed(band, partial(_changed, matrix=np.linalg.inv(MATRICES[space])))


def _changed(band: Image, matrix: Matrix) -> Image:
    gpu, result, size = band.gpu, band.like(), math.prod(band.shape[1:])
    if size:
        numbers = gpu.array(matrix.astype(np.float32))
        lanes = gpu.limits.lanes
        gpu.compute(
            ("lanes", "dwt_colours"), "change_colours", (-(-size // lanes),), band, numbers, result, band.shape[0],
            size, group=128, label="dwt colours", WIDTH=lanes,
        )  # fmt: skip
    return result
