"""Shrinking of detail coefficients, which takes noise away and leaves edges."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from ..image import Image
from ..operands import check_colours
from ..params.dwt import ShrinkParams
from ..tiles.ends import Anywhere, Somewhere, changed
from . import noise, statistics
from .colours import MATRICES, to_rgb, to_space
from .extension import vectors
from .transform import Details

# pywt.threshold's modes, as dwt_shrink.cl numbers them.
MODES = ("soft", "hard", "garrote", "greater", "less")


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
    found = [band for level in details for band in level]
    planes = approximation.shape[0]
    limits: npt.NDArray[np.float64] = np.full(
        (len(found), planes), 1.0 if params.threshold is None else params.threshold
    )
    if params.estimate is not None and found:
        sigma = np.outer(noise.levels(details, wavelet), _noise(details[-1], wavelet, params))
        if params.estimate == "visu":
            count = sum(math.prod(band.shape[1:]) for band in (approximation, *found))
            limits *= sigma * math.sqrt(2.0 * math.log(max(count, 2)))
        else:
            limits *= _bayes(statistics.mean_squares(found), sigma)
    if approximation.alpha:
        limits[:, -1] = 0.0
    return limits


def _noise(finest: Details[Anywhere], wavelet: str, params: ShrinkParams) -> npt.NDArray[np.float64]:
    """The noise's standard deviation in each plane of the parameters' space."""
    if params.noise is None:
        return noise.estimate(finest, wavelet)
    planes = finest[0].shape[0]
    found = np.full(planes, params.noise)
    if params.space != "rgb" and planes >= 3:
        found[:3] *= np.linalg.norm(MATRICES[params.space], axis=1)
    return found


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
